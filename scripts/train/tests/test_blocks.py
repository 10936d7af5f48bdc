"""The stages `distil blocks` and `distil heads`."""

from __future__ import annotations

import argparse
import json
import tempfile
import unittest
from pathlib import Path

import torch

from kosumi_train import distil, fast, katago_file
from kosumi_train.distil import blocks
from kosumi_train.label import label_batch
from kosumi_train.losses import measures
from kosumi_train.model import Network
from tests.fixtures import network, printed, run, write_shard


class Blocks(unittest.TestCase):
    def training(self, stage: str, folder: Path, model: Network, *more: str) -> blocks.Training:
        """Returns a training run in the folder `run`. If an option occurs twice, the last value counts."""
        katago_file.write(folder / "teacher.bin.gz", "t", model)
        write_shard(folder / "training-0.npz", 7, 7)
        write_shard(folder / "validation-0.npz", 7, 7)
        words = [stage, folder / "teacher.bin.gz", "--data", folder, "--out", folder / "run"]
        words += ["--shape", "b2c32h2tflrs"] if stage == "blocks" else []
        parser = argparse.ArgumentParser()
        distil.add_arguments(parser)
        return blocks.Training(parser.parse_args([str(word) for word in [*words, *more]]))

    def test_equal_networks_have_no_error(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c32h2tflrs")
            # The step has fewer points than the batch, so some points are drawn at random.
            training = self.training("blocks", Path(folder), model, "--points", "20", "--batch", "4")
            training.network.load_state_dict(model.state_dict())
            batch = next(iter(training.stream))
            for stage, step in [("blocks", training.errors_of_blocks), ("heads", training.losses_of_heads)]:
                found, parts = step(batch)
                self.assertEqual(len(found), 5)
                for index, part in enumerate(found):
                    self.assertLess(float(part.detach()), 1e-6, f"{stage}, block {index}")
                self.assertIn("policy", parts)
                # A wrong block does not affect other blocks, which read the teacher's activations.
                with torch.no_grad():
                    training.network.blocks[0].out.weight.add_(0.5)
                found, _ = step(batch)
                with torch.no_grad():
                    training.network.blocks[0].out.weight.sub_(0.5)
                is_wrong = [float(part.detach()) > 1e-3 for part in found]
                self.assertEqual(is_wrong, [False, True, *[stage != "blocks"] * 3])

    def test_every_part_of_a_nested_block_learns_from_its_own_error(self):
        with tempfile.TemporaryDirectory() as folder:
            shape = "b2c64h2nbttflrs-silu"
            model = network(shape)
            training = self.training("blocks", Path(folder), model, "--shape", shape, "--points", "20", "--batch", "4")
            training.network.load_state_dict(model.state_dict())
            batch = next(iter(training.stream))
            block = training.network.blocks[0]
            parts = [block.conv1, block.blocks[1].last, block.blocks[2].out, block.conv2]
            for wrong in [None, *parts]:
                if wrong is not None:
                    with torch.no_grad():
                        wrong.weight.add_(0.5)
                found, _ = training.errors_of_blocks(batch)
                self.assertEqual([float(part.detach()) > 1e-3 for part in found], [False, wrong is not None, False])
                if wrong is None:
                    continue
                # No other part reads the output of this layer.
                for parameter in training.network.parameters():
                    parameter.grad = None
                found[1].backward()
                for part in parts:
                    self.assertEqual(float(part.weight.grad.abs().max()) > 1e-3, part is wrong)
                with torch.no_grad():
                    wrong.weight.sub_(0.5)

    def test_blocks_learn_from_larger_ones(self):
        for precision in ("f32", "bf16"):
            with self.subTest(precision), tempfile.TemporaryDirectory() as folder:
                more = ["--shape", "b2c64h2m16nb1ttflrs-silu", "--minutes", "1000", "--precision", precision]
                training = self.training("blocks", Path(folder), network("b2c64h2nbttflrs-silu"), *more)
                self.addCleanup(fast.use_pairs, False)
                batch = next(iter(training.stream))
                found = [training.step(batch) for _ in range(60)]
                for block in ("off/1", "off/2"):
                    self.assertLess(found[-1][block], 0.7 * found[0][block])

    def test_a_teachers_outputs_are_labels(self):
        with tempfile.TemporaryDirectory() as folder:
            training = self.training("blocks", Path(folder), network("b2c32h2tflrs"))
            batch = next(iter(training.stream))
            answer = training.teacher(batch)[1]
            label_batch(batch, answer)
            sums = measures(answer, batch)
            for name in ("teacher_policy", "teacher_value", "teacher_score", "teacher_ownership"):
                self.assertLess(abs(float(sums[name])), 1e-3, name)
            self.assertEqual(float(sums["teacher_top1"]), len(batch))

    def test_other_blocks_are_refused(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(SystemExit, "other blocks"):
            self.training("blocks", Path(folder), network("b2c16"))

    def test_stages_resume_and_follow_each_other(self):
        with tempfile.TemporaryDirectory() as name:
            folder, model = Path(name), network("b2c32h2tflrs")
            more = ["--log-minutes", "0.005", "--threads", "1"]
            training = self.training("blocks", folder, model, "--minutes", "0.03", *more)
            printed(training.run)
            before = training.steps
            again = self.training("blocks", folder, model, "--minutes", "0.06", *more)
            self.assertEqual(again.steps, before)
            printed(again.run)
            self.assertGreater(again.steps, before)
            # Another run starts from this one, in its own folder.
            start = ["--start", str(folder / "run"), *more]
            other = self.training(
                "blocks", folder, model, *start, "--out", str(folder / "other"), "--shape", "b1c8", "--minutes", "0.03"
            )
            self.assertEqual((other.positions, other.cpu_seconds), (again.positions, again.cpu_seconds))
            for name, value in other.network.state_dict().items():
                torch.testing.assert_close(value, again.average.weights[name], msg=name)
            printed(other.run)
            self.assertGreater(other.steps, again.steps)
            self.assertGreater(other.cpu_seconds, again.cpu_seconds)
            kinds = [json.loads(line)["kind"] for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            self.assertEqual(set(kinds), {"blocks", "validation"})
            # Only the heads are trained, from the first step on.
            heads = self.training("heads", folder, model, *start, "--out", str(folder / "heads"), "--minutes", "0.02")
            printed(heads.run)
            self.assertGreater(heads.steps, again.steps)
            # The run resumes with the state and the log of its own folder.
            log = (folder / "heads" / "log.jsonl").read_text()
            resumed = self.training("heads", folder, model, *start, "--out", str(folder / "heads"), "--minutes", "0.02")
            self.assertEqual(resumed.steps, heads.steps)
            self.assertEqual((folder / "heads" / "log.jsonl").read_text(), log)
            changed = set()
            for name, value in heads.network.state_dict().items():
                if name.startswith(("conv1", "from_global", "blocks")):
                    torch.testing.assert_close(value, again.average.weights[name], msg=name, rtol=0, atol=0)
                elif not torch.equal(value, again.average.weights[name]):
                    changed.add(name)
            self.assertIn("p2.weight", changed)
            run(
                "train", "--data", folder, "--out", folder / "next", "--threads", "1", "--start", folder / "run",
                "--batch", "8", "--positions", again.positions + 16, "--precision", "f32",
            )  # fmt: skip
            state = torch.load(folder / "next" / "state.pt", weights_only=True)
            self.assertGreater(state["positions"], again.positions)
