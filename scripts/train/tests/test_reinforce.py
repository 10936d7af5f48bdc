"""Training on self-play games."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from kosumi_train import katago_file, reinforce, runs, train
from kosumi_train.shards import read_groups
from tests.fixtures import call, network, write_shard


def write_games(loop: reinforce.Loop, number: int) -> None:
    """Replaces the program: the games of a round have 40 positions."""
    loop.games(number).mkdir(parents=True)
    write_shard(loop.games(number) / "training-selfplay-00000.npz", 5, 5)


def state_of(learning: Path) -> tuple[int, int, int]:
    """Returns the progress of a training: positions, steps, and passes through the shards."""
    state = runs.state_of(learning)
    return state["positions"], state["steps"], state["round"]


class Rounds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        katago_file.write(self.folder / "start.bin.gz", "s", network())

    def words(self, out: str, *more: object) -> list[object]:
        common = ["--out", self.folder / out, "--kosumi", "kosumi", "--start", self.folder / "start.bin.gz"]
        return ["reinforce", *common, "--threads", 1, "--passes", 1, *more]

    def test_every_round_learns_from_the_last_ones(self):
        with mock.patch.object(reinforce.Loop, "play", write_games):
            call(*self.words("run", "--rounds", 3, "--last", 2))
        run = self.folder / "run"
        names = sorted(path.name for path in run.glob("network-*"))
        self.assertEqual(names, [f"network-000{number}.bin.gz" for number in range(4)])
        self.assertEqual(len({(run / name).read_bytes() for name in names}), 4)
        self.assertEqual(
            sorted(path.name for path in (run / "data").iterdir()),
            ["training-round-0001-selfplay-00000.npz", "training-round-0002-selfplay-00000.npz"],
        )
        lines = [json.loads(line) for line in (run / "rounds.jsonl").read_text().splitlines()]
        self.assertEqual([(line["round"], line["positions"]) for line in lines], [(0, 40), (1, 40), (2, 40)])
        self.assertGreater(lines[0]["loss"], 0)

    def test_a_stopped_run_resumes(self):
        def stop(*_: object) -> None:
            raise KeyboardInterrupt

        with mock.patch.object(reinforce.Loop, "play", write_games):
            call(*self.words("whole", "--rounds", 2))
            call(*self.words("parts", "--rounds", 1))
        with mock.patch.object(reinforce.Loop, "play", write_games), mock.patch.object(train, "run", stop):
            with self.assertRaises(KeyboardInterrupt):
                call(*self.words("parts", "--rounds", 2))
        self.assertFalse((self.folder / "parts/network-0002.bin.gz").exists())
        # The games exist already, so the program has nothing to play.
        with mock.patch.object(reinforce.Loop, "play"):
            call(*self.words("parts", "--rounds", 2))
        whole, parts = (self.folder / run for run in ("whole", "parts"))
        self.assertEqual(state_of(whole / "learning"), state_of(parts / "learning"))
        self.assertEqual(len((parts / "rounds.jsonl").read_text().splitlines()), 2)

    def test_a_round_without_positions_is_an_error(self):
        with mock.patch.object(reinforce.Loop, "play"), self.assertRaisesRegex(SystemExit, "no positions"):
            call(*self.words("run"))
        with self.assertRaisesRegex(SystemExit, "--games must be greater than 0"):
            call(*self.words("run", "--games", 0))

    def test_the_program_plays_the_games(self):
        kosumi = os.environ.get("KOSUMI")
        if not kosumi:
            self.skipTest("KOSUMI does not name the program")
        words = self.words("run", "--rounds", 1, "--games", 4, "--visits", 4, "--sizes", 5)
        words[words.index("kosumi")] = kosumi
        call(*words)
        (shard,) = (self.folder / "run/data").iterdir()
        self.assertIn((5, 5), read_groups(shard))
        self.assertTrue((self.folder / "run/network-0001.bin.gz").exists())

    def test_signals_are_handled_as_before_after_a_round(self):
        before = signal.getsignal(signal.SIGTERM)
        with mock.patch.object(reinforce.Loop, "play", write_games):
            call(*self.words("run", "--rounds", 1))
        self.assertIs(signal.getsignal(signal.SIGTERM), before)
