"""Improves a network by self-play, without a teacher, and resumes after any stop.

In every round, the network plays games with a search, and is then trained on the games of the last rounds: the policy
on the search's visits of each move, the value on the search's expectation and the result, and score and ownership on
the end of the game. A search is stronger than the network that it uses, so there is something to learn in every round.
CITE: Silver et al., "Mastering the game of Go without human knowledge" (2017); Wu, "Accelerating self-play learning in
Go" (2019).

The folder --out has these contents:
    network-0000.bin.gz   the network at the start; network-0001.bin.gz is the one after the first round, and so on
    games/round-0000      games and shards of the first round
    data                  links to the shards that the current round uses
    learning              state, log and curves of the training
    rounds.jsonl          one line for each round: games, positions, and measures of the training

The same command with the same folder continues after a stop. It can be given more rounds, and other numbers of games
and visits, which apply from the next round on.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from . import options as shared
from . import runs, train
from .shards import shard_files

ROUNDS = "rounds.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shared.out(parser)
    shared.kosumi(parser, required=True)
    shared.start(parser, required=True)
    shared.name(parser)
    parser.add_argument("--rounds", type=int, default=10, help="rounds, with those of earlier runs [%(default)s]")
    parser.add_argument("--games", type=int, default=1000, help="games of a round [%(default)s]")
    parser.add_argument("--sizes", default="7", help="sizes of boards, as in `kosumi selfplay` [%(default)s]")
    parser.add_argument("--rules", help="rules, as in `kosumi selfplay`")
    parser.add_argument("--visits", type=int, default=64, help="visits of a search [%(default)s]")
    parser.add_argument(
        "--taken", type=int, default=500, help="positions of a thousand turns; others get fewer visits [%(default)s]"
    )
    parser.add_argument("--last", type=int, default=4, help="number of rounds to learn from [%(default)s]")
    parser.add_argument(
        "--passes", type=float, default=2.0, help="mean number of times that a position is learnt [%(default)s]"
    )
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate [%(default)s]")
    parser.add_argument(
        "--average", type=int, default=20_000, help="positions over which weights are averaged [%(default)s]"
    )
    parser.add_argument("--value", type=float, default=1.0, help="weight of the value [%(default)s]")
    parser.add_argument(
        "--expected",
        type=float,
        default=0.7,
        help="share of what the searches expected in the results of games [%(default)s]",
    )
    shared.seed(parser)
    shared.processor(parser)


class Loop:
    """The rounds in a folder. The files of the folder alone determine what has been done."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.out: Path = options.out
        self.learning = self.out / "learning"
        self.out.mkdir(parents=True, exist_ok=True)
        first = self.network(0)
        if not first.exists():
            runs.write_bytes(first, runs.network_of(options.start).read_bytes())

    def network(self, number: int) -> Path:
        """Returns the path of the network that plays in a round. Rounds are counted from 0."""
        return self.out / f"network-{number:04}.bin.gz"

    def games(self, number: int) -> Path:
        """Returns the folder of a round's games."""
        return self.out / "games" / f"round-{number:04}"

    def done(self) -> int:
        """Returns the number of complete rounds."""
        number = 0
        while self.network(number + 1).exists():
            number += 1
        return number

    def play(self, number: int) -> None:
        """Plays the games of a round. `kosumi selfplay` resumes after a stop."""
        options = self.options
        command = [str(options.kosumi), "selfplay", "--out", str(self.games(number)), "--games", str(options.games)]
        command += ["--model", str(self.network(number)), "--visits", str(options.visits), "--sizes", options.sizes]
        command += ["--training-share", str(options.taken), "--seed", str(options.seed * 100_000 + number)]
        command += ["--rules", options.rules] if options.rules else []
        command += ["--threads", str(options.threads)] if options.threads else []
        subprocess.run(command, check=True)

    def collect(self, number: int) -> int:
        """Links the shards of the last rounds, up to this one, into the folder of training data. Returns the number of
        positions from this round."""
        data = self.out / "data"
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir()
        for earlier in range(max(0, number + 1 - self.options.last), number + 1):
            for shard in shard_files(self.games(earlier), "training"):
                os.link(shard, data / shard.name.replace("training", f"training-round-{earlier:04}", 1))
        return sum(positions_of(shard) for shard in shard_files(self.games(number), "training"))

    def learn(self, number: int, positions: int) -> dict[str, Any]:
        """Trains on the games of a round and of those before it. Returns the last measures that were logged."""
        options = self.options
        before = sum(line["positions"] for line in self.lines())
        wanted = int(options.passes * (before + positions))
        words: list[object] = ["--data", self.out / "data", "--out", self.learning, "--start", self.network(0)]
        words += ["--name", options.name]
        words += ["--rate", options.rate, "--decay", 0, "--average", options.average, "--value", options.value]
        words += ["--expected", options.expected]
        words += ["--warm-up", 5_000, "--positions", wanted, "--seed", options.seed, "--checkpoint-minutes", 1]
        words += ["--threads", options.threads] if options.threads else []
        parser = argparse.ArgumentParser()
        train.add_arguments(parser)
        train.run(parser.parse_args([str(word) for word in words]))
        if runs.state_of(self.learning)["positions"] < wanted:
            raise SystemExit("stopped; the same command continues")
        return last_measures(self.learning)

    def lines(self) -> list[dict[str, Any]]:
        """Returns the lines of the log that belong to complete rounds."""
        path = self.out / ROUNDS
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return lines[: self.done()]

    def round(self, number: int) -> None:
        """Plays games and trains on them, and stores the network for the next round."""
        self.play(number)
        positions = self.collect(number)
        if positions == 0:
            raise SystemExit(f"the games of round {number} gave no positions: more --games or --taken are needed")
        line = {"round": number, "games": self.options.games, "positions": positions} | self.learn(number, positions)
        # The line is written before the network, whose existence marks the round as complete.
        text = "".join(json.dumps(it) + "\n" for it in [*self.lines(), line])
        runs.write_bytes(self.out / ROUNDS, text.encode())
        runs.write_bytes(self.network(number + 1), (self.learning / runs.NETWORK).read_bytes())
        print(runs.text_of(line), flush=True)

    def run(self) -> None:
        """Continues until all rounds are complete."""
        for number in range(self.done(), self.options.rounds):
            self.round(number)
        print(f"{self.done()} rounds: {self.network(self.done())}")


def positions_of(shard: Path) -> int:
    """Returns the number of positions of a shard."""
    with np.load(shard, allow_pickle=False) as arrays:
        return sum(len(arrays[name]) for name in arrays.files if name.endswith("/played"))


def last_measures(learning: Path) -> dict[str, Any]:
    """Returns the losses and measures in the last training line of a log."""
    lines = [json.loads(line) for line in (learning / runs.LOG).read_text().splitlines()]
    last: dict[str, Any] = next((line for line in reversed(lines) if line["kind"] == "training"), {})
    return {name: it for name, it in last.items() if name.startswith("loss") or name in ("top1", "value_accuracy")}


def run(options: argparse.Namespace) -> None:
    """Runs the rounds that the options set."""
    for name in ("rounds", "games", "last", "visits", "passes"):
        if getattr(options, name) <= 0:
            raise SystemExit(f"train reinforce: --{name} must be greater than 0")
    Loop(options).run()
