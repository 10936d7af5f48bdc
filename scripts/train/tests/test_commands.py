"""Commands that need no test file of their own: positions, export, compare and answers."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from kosumi_train import compact, katago_file, positions
from kosumi_train.__main__ import COMMANDS
from kosumi_train.shards import read_groups
from tests.fixtures import call, network, record, write_shard


class Help(unittest.TestCase):
    def test_every_command_describes_itself(self):
        for command in COMMANDS:
            output = io.StringIO()
            with self.subTest(command), contextlib.redirect_stdout(output), self.assertRaises(SystemExit) as end:
                if command == "plot":
                    try:
                        import matplotlib  # noqa: F401
                    except ImportError:
                        self.skipTest("no matplotlib")
                call(command, "--help")
            self.assertEqual(end.exception.code, 0)

    def test_unknown_commands_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as output, self.assertRaises(SystemExit):
            call("hints")
        self.assertIn("invalid choice", output.getvalue())


class Positions(unittest.TestCase):
    def options(self, *words: object) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        positions.add_arguments(parser)
        return parser.parse_args([str(word) for word in words])

    def test_kinds_have_their_commands(self):
        common = ["--out", "shards", "--kosumi", "kosumi"]
        found = {}
        for kind in [*positions.RECORDS, *positions.SELF_PLAY]:
            options = self.options(kind, *common, "--games", "games.sgf", "--seed", 7, "--count", 5)
            found[kind] = positions.command_of(options, Path("work"))
            self.assertEqual(found[kind][0], "kosumi")
            self.assertEqual(found[kind][found[kind].index("--seed") + 1], "7")
        self.assertIn("--opening", found["openings"])
        self.assertIn("--tree", found["trees"])
        self.assertNotIn("--tree", found["policy"])
        self.assertIn("validation", found["validation"])
        self.assertIn("19x11", found["policy"][found["policy"].index("--sizes") + 1])

    def test_records_are_needed_for_kinds_of_records(self):
        with self.assertRaisesRegex(SystemExit, "--games"):
            positions.run(self.options("games", "--out", "shards", "--kosumi", "kosumi"))

    def test_the_program_makes_shards(self):
        kosumi = os.environ.get("KOSUMI")
        if not kosumi:
            self.skipTest("KOSUMI does not name the program")
        with tempfile.TemporaryDirectory() as name:
            folder, row = Path(name), {"columns": 9, "rows": 9, "to_play": "B", "komi": 7, "moves": [("B", "E5")] * 1}
            (folder / "games.sgf").write_text("\n".join(record(row | {"komi": komi}) for komi in range(20)))
            common = ["--kosumi", kosumi, "--out", folder / "shards", "--threads", 1]
            call("positions", "games", *common, "--games", folder / "games.sgf")
            (shard,) = (folder / "shards").glob("training-games-1-*.npz")
            self.assertGreaterEqual(len(read_groups(shard)[9, 9]["played"]), 20)
            katago_file.write(folder / "player.bin.gz", "p", network())
            more = ["--player", folder / "player.bin.gz", "--count", 30, "--taken", 500]
            call("positions", "policy", *common, *more)
            call("positions", "policy", *common, *more, "--validation", "--seed", 2)
            # The command runs again with more games. The earlier shards must stay unchanged.
            before = {path: path.stat().st_mtime_ns for path in (folder / "shards").glob("*selfplay*.npz")}
            names = sorted(path.name[:26] for path in before)
            self.assertIn("training-selfplay-policy-1", names)
            self.assertIn("validation-selfplay-policy", names)
            call("positions", "policy", *common, *more)
            for path, at in before.items():
                self.assertEqual(path.stat().st_mtime_ns, at)


class Export(unittest.TestCase):
    def test_a_run_becomes_a_file(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "run").mkdir()
            first, second = network("b2c64h2nbttflrs-silu", 1), network("b2c64h2nbttflrs-silu", 2)
            katago_file.write(folder / "run" / "network.bin.gz", "first", first)
            katago_file.write(folder / "second.bin.gz", "second", second)
            write_shard(folder / "training-0.npz", 7, 7)
            write_shard(folder / "validation-0.npz", 7, 7)
            mix = ["--share", 3, "--mix", folder / "second.bin.gz", 1, "--threads", 1]
            call("export", folder / "run", folder / "mixed.bin.gz", *mix)
            title, found = katago_file.read(folder / "mixed.bin.gz")
            self.assertEqual(title, "first")
            for (weight, one), other, mean in zip(
                first.named_parameters(), second.parameters(), found.parameters(), strict=True
            ):
                torch.testing.assert_close(mean, 0.75 * one + 0.25 * other, msg=weight)
            call("export", folder / "run", folder / "small.bin.gz", "--bits", 9, "--name", "small", "--threads", 1)
            self.assertEqual(katago_file.read(folder / "small.bin.gz")[0], "small")
            size = (folder / "run" / "network.bin.gz").stat().st_size
            self.assertLess((folder / "small.bin.gz").stat().st_size, 0.7 * size)
            more = ["--balance", "--compact", 0.2, "--positions", 40, "--data", folder, "--threads", 1]
            with mock.patch.object(compact, "MIN_ELEMENTS", 1000):
                call("export", folder / "run", folder / "n.compact.gz", *more)
            # As its own teacher, a network has the distance 0. Its compact form is near, and another network is far
            # away.
            paths = [folder / "run", folder / "n.compact.gz", folder / "second.bin.gz"]
            teacher = folder / "run" / "network.bin.gz"
            output = call("compare", *paths, "--teacher", teacher, "--data", folder, "--positions", 40, "--threads", 1)
            rows = [line.strip("| ").split(" | ") for line in output.splitlines()[2:]]
            self.assertEqual([row[:2] for row in rows], [[str(path), "7x7"] for path in paths])
            own, near, far = (float(row[3]) for row in rows)
            self.assertLess(own, 1e-4)
            self.assertTrue(own < near < far, rows)
            self.assertEqual(rows[0][2], "1.0000")
            # Without a teacher, the labels beside the shards count. They are means over all symmetries, so that a
            # network is not quite its own teacher.
            data = ["--data", folder, "--threads", 1]
            with self.assertRaisesRegex(SystemExit, "with labels"):
                call("compare", *paths, *data)
            call("label", teacher, *data, "--only", "validation", "--symmetries", 8)
            rows = [line.strip("| ").split(" | ") for line in call("compare", *paths, *data).splitlines()[2:]]
            self.assertEqual([row[1] for row in rows], ["7x7"] * 3)
            own, near, far = (float(row[3]) for row in rows)
            self.assertLess(own, 0.5 * far)
            self.assertLess(near, 0.5 * far)

    def test_missing_options_are_reported(self):
        with self.assertRaisesRegex(SystemExit, "--data"):
            call("export", "a", "b", "--compact", 0.2)


class Answers(unittest.TestCase):
    def test_outputs_are_printed_in_the_order_of_the_shard(self):
        with tempfile.TemporaryDirectory() as name:
            folder, made = Path(name), network()
            katago_file.write(folder / "n.bin.gz", "n", made)
            write_shard(folder / "a.npz", 5, 4, 3)
            lines = call("answers", folder / "n.bin.gz", folder / "a.npz").splitlines()
            self.assertEqual(len(lines), 3)
            for line in lines:
                answer = json.loads(line)
                self.assertEqual(
                    [len(answer[key]) for key in ("policy", "value", "score", "ownership")], [21, 3, 4, 20]
                )
                self.assertTrue(np.isfinite(answer["policy"]).all())
