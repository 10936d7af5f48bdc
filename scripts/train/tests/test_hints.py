"""Blocks that learn from what a teacher's blocks add."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch

import fast
import hints
import katago_file
from losses import measures
from model import Network
from tests.fixtures import HERE, call, network, write_shard


class Hints(unittest.TestCase):
    """`hints.py`: blocks are told what those of another network write."""

    def training(self, folder: Path, model: Network, *more: str) -> hints.Training:
        """The last of several options of one name counts."""
        katago_file.write(folder / "teacher.bin.gz", "t", model)
        write_shard(folder / "training-0.npz", 7, 7)
        write_shard(folder / "validation-0.npz", 7, 7)
        words = [folder / "teacher.bin.gz", "--data", folder, "--out", folder / "run", "--shape", "b2c32h2tflrs", *more]
        return hints.Training(hints.arguments([str(word) for word in words]))

    def test_who_computes_the_same_is_not_off(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c32h2tflrs")
            # Fewer points than a batch has, so that some are chosen.
            training = self.training(Path(folder), model, "--points", "20", "--batch", "4")
            for name, part in training.network.state_dict().items():
                part.copy_(model.state_dict()[name])
            batch = next(iter(training.stream))
            own = training.from_own_numbers
            steps = {name: functools.partial(own, part=name) for name in ("joined", "whole", "minutes")}
            for name, step in [("blocks", training.blocks_apart), *steps.items()]:
                found, parts = step(batch)
                self.assertEqual(len(found), 5)
                for index, part in enumerate(found):
                    self.assertLess(float(part.detach()), 1e-6, f"{name}, block {index}")
                self.assertIn("policy", parts)
                # One block that writes something else: who reads the teacher's numbers is not harmed by it.
                with torch.no_grad():
                    training.network.blocks[0].out.weight.add_(0.5)
                found, _ = step(batch)
                with torch.no_grad():
                    training.network.blocks[0].out.weight.sub_(0.5)
                harmed = [float(part.detach()) > 1e-3 for part in found]
                self.assertEqual(harmed, [False, True, *[name != "blocks"] * 3])

    def test_every_part_of_a_nested_block_is_told_what_its_own_adds(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c64h2nbttflrs-silu")
            training = self.training(Path(folder), model, "--shape", "b2c64h2nbttflrs-silu", "--points", "20", "--batch", "4")
            for name, part in training.network.state_dict().items():
                part.copy_(model.state_dict()[name])
            batch = next(iter(training.stream))
            block = training.network.blocks[0]
            parts = [block.conv1, block.blocks[1].last, block.blocks[2].out, block.conv2]
            for wrong in [None, *parts]:
                if wrong is not None:
                    with torch.no_grad():
                        wrong.weight.add_(0.5)
                found, _ = training.blocks_apart(batch)
                self.assertEqual([float(part.detach()) > 1e-3 for part in found], [False, wrong is not None, False])
                if wrong is None:
                    continue
                # No other part reads what this one writes.
                for parameter in training.network.parameters():
                    parameter.grad = None
                found[1].backward()
                for part in parts:
                    much = float(part.weight.grad.abs().max()) > 1e-3
                    self.assertEqual(much, part is wrong)
                with torch.no_grad():
                    wrong.weight.sub_(0.5)

    def test_blocks_learn_what_larger_ones_add(self):
        for precision in ("f32", "bf16"):
            with self.subTest(precision), tempfile.TemporaryDirectory() as folder:
                more = ["--shape", "b2c64h2m16nb1ttflrs-silu", "--blocks", "1000", "--precision", precision]
                training = self.training(Path(folder), network("b2c64h2nbttflrs-silu"), *more)
                self.addCleanup(fast.use_pairs, False)
                batch = next(iter(training.stream))
                found = [training.step(batch) for _ in range(60)]
                for block in ("off/1", "off/2"):
                    self.assertLess(found[-1][block], 0.7 * found[0][block])

    def test_who_learns_from_what_a_block_is_off(self):
        for part, learns in [("joined", False), ("whole", True)]:
            with self.subTest(part), tempfile.TemporaryDirectory() as folder:
                training = self.training(Path(folder), network("b2c32h2tflrs"))
                training.network.load_state_dict(network("b2c32h2tflrs", 2).state_dict())
                found, _ = training.from_own_numbers(next(iter(training.stream)), part)
                found[2].backward()
                blocks = training.network.blocks
                self.assertGreater(float(blocks[1].last.weight.grad.abs().max()), 0)
                self.assertEqual(blocks[0].out.weight.grad is not None, learns)

    def test_a_teachers_answer_is_a_label(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c32h2tflrs")
            training = self.training(Path(folder), model)
            batch = next(iter(training.stream))
            answer = training.teacher(batch)[1]
            hints.told(answer, batch)
            sums = measures(answer, batch)
            for name in ("teacher_policy", "teacher_value", "teacher_score", "teacher_ownership"):
                self.assertLess(abs(float(sums[name])), 1e-3, name)
            self.assertEqual(float(sums["teacher_top1"]), len(batch))

    def test_other_blocks_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(SystemExit, "nothing can be told"):
                self.training(Path(folder), network("b2c16"))

    def test_it_goes_on_and_a_training_begins_with_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            more = ["--blocks", "0.02", "--minutes", "0.03", "--log-minutes", "0.005", "--threads", "1"]
            training = self.training(folder, network("b2c32h2tflrs"), *more)
            call(training.run, [])
            before = training.steps
            again = self.training(folder, network("b2c32h2tflrs"), *more[:3], "0.05", *more[4:])
            self.assertEqual(again.steps, before)
            call(again.run, [])
            self.assertGreater(again.steps, before)
            # Another stretch, with another optimiser, in a folder of its own.
            stretch = ["--out", str(folder / "other"), "--start", str(folder / "run"), "--shape", "b1c8", "--whole", "0.03"]
            other = self.training(folder, network("b2c32h2tflrs"), *stretch, "--blocks", "0", "--minutes", "0", "--threads", "1")
            self.assertEqual(other.positions, again.positions)
            for name, value in other.network.state_dict().items():
                torch.testing.assert_close(value, again.average.weights[name], msg=name)
            call(other.run, [])
            self.assertGreater(other.steps, again.steps)
            kinds = [json.loads(line)["kind"] for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            self.assertEqual(set(kinds), {"hints", "validation"})
            # Where only the last layers are to learn, not even the first step is one of the blocks.
            stretch = ["--out", str(folder / "last"), "--start", str(folder / "run"), "--blocks", "0", "--minutes", "0.02"]
            last = self.training(folder, network("b2c32h2tflrs"), *stretch, "--threads", "1")
            call(last.run, [])
            self.assertGreater(last.steps, again.steps)
            for name, value in last.network.state_dict().items():
                if name.startswith(("conv1", "from_global", "blocks")):
                    torch.testing.assert_close(value, again.average.weights[name], msg=name, rtol=0, atol=0)
            command = [sys.executable, HERE / "train.py", "--data", folder, "--out", folder / "next", "--threads", "1"]
            command += ["--start", folder / "run", "--batch", "8", "--positions", again.positions + 16, "--precision", "f32"]
            subprocess.run([str(word) for word in command], check=True, capture_output=True)
            state = torch.load(folder / "next" / "state.pt", weights_only=True)
            self.assertGreater(state["positions"], again.positions)
