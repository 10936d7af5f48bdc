"""Command-line options that several commands share."""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def program(text: str) -> Path:
    """Returns the path of a program. A path such as `./kosumi` becomes absolute. A plain name is left to the search
    path."""
    return Path(text).absolute() if os.sep in text else Path(text)


def kosumi(parser: argparse.ArgumentParser, required: bool = False, purpose: str = "the program kosumi") -> None:
    """Adds the option for the path of the program kosumi."""
    parser.add_argument("--kosumi", type=program, required=required, help=purpose)


def data(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Adds the option for the folder of shards."""
    parser.add_argument(
        "--data",
        type=Path,
        required=required,
        help="folder of shards: training*.npz, and validation*.npz to compare on",
    )


def out(parser: argparse.ArgumentParser, purpose: str = "folder of the run") -> None:
    """Adds the option for the folder of results."""
    parser.add_argument("--out", type=Path, required=True, help=purpose)


def start(parser: argparse.ArgumentParser, required: bool = False) -> None:
    """Adds the option for the run to start from."""
    parser.add_argument(
        "--start", type=Path, required=required, help="folder of a run, or a network file, to start from"
    )


def name(parser: argparse.ArgumentParser) -> None:
    """Adds the option for the network's name."""
    parser.add_argument("--name", default="kosumi", help="name inside the network file [%(default)s]")


def seed(parser: argparse.ArgumentParser, purpose: str = "random seed") -> None:
    """Adds the option for the random seed."""
    parser.add_argument("--seed", type=int, default=1, help=f"{purpose} [%(default)s]")


def window(parser: argparse.ArgumentParser, default: int) -> None:
    """Adds the option for the number of shards in memory."""
    parser.add_argument("--window", type=int, default=default, help="number of shards in memory [%(default)s]")


def vary_komi(parser: argparse.ArgumentParser, default: float = 0.0) -> None:
    """Adds the option for the share of positions that get another komi."""
    parser.add_argument(
        "--vary-komi", type=float, default=default, help="share of positions that get another komi [%(default)s]"
    )


def even_komi(parser: argparse.ArgumentParser) -> None:
    """Adds the option for the share of positions that get an even komi."""
    parser.add_argument(
        "--even-komi",
        type=float,
        default=0.0,
        help="share of positions that get a komi at which one point decides the game [%(default)s]",
    )


def processor(parser: argparse.ArgumentParser, threads: int | None = None) -> None:
    """Adds the options that `prepare` applies."""
    shown = "all" if threads is None else str(threads)
    parser.add_argument("--threads", type=int, default=threads, help=f"number of CPU threads [{shown}]")
    parser.add_argument("--nice", type=int, default=0, help="amount by which the priority is lowered [%(default)s]")


def prepare(options: argparse.Namespace) -> None:
    """Applies the options that `processor` has added."""
    from . import fast

    if options.nice:
        os.nice(options.nice)
    fast.prepare(options.threads or os.cpu_count() or 1)
