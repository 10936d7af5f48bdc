"""Entry point of the tool: train COMMAND. Every command describes its options with --help."""

from __future__ import annotations

import argparse
import importlib
import sys

# Module and summary of each command. A module is imported only when its command runs, so that `positions` does not need
# PyTorch.
COMMANDS = {
    "positions": ("positions", "makes shards of positions from game records and self-play"),
    "label": ("label", "stores the outputs of a stronger network for the positions of shards"),
    "train": ("train", "trains a network from shards, and resumes after any stop"),
    "distil": ("distil", "teaches a network the inner numbers of a teacher of its shape, in stages"),
    "export": ("export", "writes a network file from a run: mixed, balanced or compact if wanted"),
    "compare": ("compare", "measures the distance of networks from a teacher, by board size"),
    "answers": ("answers", "prints the outputs of a network for a shard, as JSON"),
    "plot": ("plot", "draws the curves of a run"),
    "reinforce": ("reinforce", "improves a network by its own searched games, without a teacher"),
    "gpu": ("gpu", "packs a folder for a machine with a GPU, and trains there"),
}


def main(words: list[str] | None = None) -> None:
    """Runs the command that `words` name, by default those of the command line."""
    is_program = words is None
    words = sys.argv[1:] if words is None else words
    summary = "\n".join(f"    {name:<12}{text}" for name, (_, text) in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="train",
        description=f"Training of networks for Kosumi.\n\ncommands:\n{summary}",
        epilog="train COMMAND --help describes the options of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
    options = parser.parse_args(words[:1])
    try:
        module = importlib.import_module(f"{__package__}.{COMMANDS[options.command][0]}")
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "numpy", "matplotlib"):
            raise
        raise SystemExit(
            f"train {options.command}: Python has no {error.name}: pip install -r scripts/train/requirements.txt"
        ) from None
    own = argparse.ArgumentParser(
        prog=f"train {options.command}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(own)
    arguments = own.parse_args(words[1:])
    # Whether the tool runs as a program, which may handle signals and counts its time limits from its start. Otherwise
    # another program called `main`.
    arguments.is_program = is_program
    module.run(arguments)


if __name__ == "__main__":
    main()
