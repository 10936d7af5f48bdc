#!/usr/bin/env python3
"""Tests of the parts: python -m unittest in this folder. The whole pipeline is tested by tests/training.rs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import fast
import katago_file
from data import make_batch, turned_points
from grow import grown
from losses import Weights, losses, measures
from mix import mixed
from model import Network, Shape
from optimiser import orthogonal

HERE = Path(__file__).parent


def network(name: str = "b3c16", seed: int = 1) -> Network:
    """One in which every weight matters: a new network's last layers of blocks are 0."""
    torch.manual_seed(seed)
    made = Network(Shape.named(name))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return made


def answers(made: Network, spatial, globals_, mask=None) -> list[torch.Tensor]:
    answer = made(spatial, globals_, mask)
    return [answer.policy, answer.value, answer.score, answer.ownership]


def group(count: int, columns: int, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    area = columns * rows
    return {
        "planes": rng.integers(0, 256, (count, 22, (area + 7) // 8), np.uint8),
        "global": rng.random((count, 19), np.float32),
        "played": rng.integers(0, area + 1, count).astype(np.uint16),
        "value": np.tile(np.array([1, 0, 0], np.float32), (count, 1)),
        "score": np.full(count, np.nan, np.float32),
        "ownership": rng.integers(-127, 128, (count, area)).astype(np.int8),
    }


class Convolutions(unittest.TestCase):
    def test_fast_ones_compute_what_pytorch_computes(self):
        if fast._library_now is None:
            self.skipTest("no C++ compiler")
        for images, inputs, outputs, rows, columns, own_bias in [
            (3, 8, 8, 19, 19, False),
            (7, 16, 24, 9, 9, True),
            (5, 40, 8, 7, 5, False),
            (2, 24, 48, 13, 1, True),
        ]:
            torch.manual_seed(images)
            x = torch.randn(images, inputs, rows, columns).contiguous(memory_format=torch.channels_last)
            bias = torch.randn(images if own_bias else 1, inputs)
            weight = torch.randn(outputs, inputs, 3, 3) * 0.2
            residual = torch.randn(images, outputs, rows, columns).contiguous(memory_format=torch.channels_last)
            inputs_ = [tensor.requires_grad_() for tensor in (x, bias, weight, residual)]
            self.assertTrue(fast.is_fast(x, weight))
            found = fast.convolution(*inputs_)
            expected = F.conv2d(F.relu(x + bias[:, :, None, None]), weight, padding=1) + residual
            towards = torch.randn_like(expected)
            gradients = torch.autograd.grad(found, inputs_, towards)
            right = torch.autograd.grad(expected, inputs_, towards)
            for ours, theirs in zip((found, *gradients), (expected, *right)):
                torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-4)


class Networks(unittest.TestCase):
    def test_a_file_is_read_as_it_was_written(self):
        made = network()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "n.bin.gz"
            katago_file.write(path, "n", made)
            name, again = katago_file.read(path)
            self.assertEqual((name, again.shape), ("n", made.shape))
            for (name, ours), (_, theirs) in zip(made.named_parameters(), again.named_parameters(), strict=True):
                self.assertTrue(torch.equal(ours, theirs), name)
            path.write_bytes(path.read_bytes()[:-200])
            self.assertRaises((EOFError, katago_file.FormatError), katago_file.read, path)

    @torch.no_grad()
    def test_a_padded_board_gets_the_same_answers(self):
        made = network()
        spatial, globals_ = (torch.rand(2, 22, 7, 9) > 0.7).float(), torch.randn(2, 19)
        padded, mask = torch.zeros(2, 22, 10, 11), torch.zeros(2, 1, 10, 11)
        padded[:, :, :7, :9], mask[:, :, :7, :9] = spatial, 1
        plain, masked = answers(made, spatial, globals_), answers(made, padded, globals_, mask)
        masked[0] = torch.cat([masked[0][:, :-1].view(2, 10, 11)[:, :7, :9].flatten(1), masked[0][:, -1:]], dim=1)
        masked[3] = masked[3].view(2, 10, 11)[:, :7, :9].flatten(1)
        for ours, theirs in zip(masked, plain):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


    @torch.no_grad()
    def test_a_grown_network_gives_the_same_answers(self):
        small = network("b3c16")
        spatial, globals_ = (torch.rand(2, 22, 9, 9) > 0.7).float(), torch.randn(2, 19)
        for name in ("b5c16", "b3c24", "b4c48"):
            large = grown(small, Shape.named(name))
            self.assertEqual(large.shape, Shape.named(name))
            for ours, theirs in zip(answers(large, spatial, globals_), answers(small, spatial, globals_)):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


    @torch.no_grad()
    def test_a_mixed_network_lies_between_its_parts(self):
        first, second = network(seed=1), network(seed=2)
        for name, weights in mixed([(first, 3.0), (second, 1.0)]).state_dict().items():
            wanted = 0.75 * first.state_dict()[name] + 0.25 * second.state_dict()[name]
            torch.testing.assert_close(weights, wanted, msg=name)
        with self.assertRaises(SystemExit):
            mixed([(first, 1.0), (network("b3c24"), 1.0)])


class Batches(unittest.TestCase):
    def test_everything_is_turned_together(self):
        for columns, rows, symmetries in [(5, 5, 8), (4, 3, 4)]:
            shard = group(3, columns, rows)
            # The move is where a feature says it is.
            shard["played"] = np.array([0, 2, columns * rows], np.uint16)
            shard["planes"][:, 9] = 0
            shard["planes"][0, 9, 0], shard["planes"][1, 9, 0] = 0x80, 0x20
            seen = set()
            for symmetry in range(symmetries):
                batch = make_batch((columns, rows), shard, np.arange(3), symmetry)
                plane = batch.spatial[:, 9].flatten(1)
                self.assertEqual(plane.argmax(dim=1)[:2].tolist(), batch.played[:2].tolist())
                self.assertEqual(int(batch.played[2]), columns * rows)
                source = turned_points(columns, rows, symmetry)
                expected = shard["ownership"][:, source].astype(np.float32) / 127
                np.testing.assert_allclose(batch.ownership.numpy(), expected, rtol=1e-6)
                seen.add(tuple(source))
            self.assertEqual(len(seen), symmetries)


class Losses(unittest.TestCase):
    def unknown(self) -> dict[str, np.ndarray]:
        """A position off the path of a game: no move, no result, no owners."""
        shard = group(2, 5, 5)
        shard["played"][1], shard["value"][1], shard["ownership"][1] = 65535, 0, -128
        return shard

    def parts(self, shard: dict[str, np.ndarray], rows: list[int]) -> dict[str, float]:
        batch = make_batch((5, 5), shard, np.array(rows))
        with torch.inference_mode():
            answer = network()(batch.spatial, batch.globals_)
            parts = losses(answer, batch, Weights())
            counts = measures(answer, batch)
        self.assertEqual(int(counts["top1/count"]), rows.count(0))
        self.assertEqual(int(counts["value_loss/count"]), rows.count(0))
        return {name: float(part) for name, part in parts.items()}

    def test_what_is_unknown_costs_nothing(self):
        known, both = self.parts(self.unknown(), [0]), self.parts(self.unknown(), [0, 1])
        for name in ("played", "value", "ownership"):
            self.assertGreater(known[name], 0)
            self.assertAlmostEqual(both[name], known[name] / 2, places=5)

    def test_a_teacher_knows_what_no_game_says(self):
        shard = self.unknown()
        shard["policy_move"] = np.tile(np.arange(16, dtype=np.uint16), (2, 1))
        shard["policy_share"] = np.full((2, 16), 4000, np.uint16)
        shard["policy_rest"] = np.full(2, 1535, np.uint16)
        shard["teacher_value"] = np.tile(np.array([0.7, 0.3, 0], np.float32), (2, 1))
        shard["teacher_score"] = np.tile(np.array([3, 5, 2, 4], np.float32), (2, 1))
        shard["teacher_error"] = np.tile(np.array([0.1, 1.5], np.float32), (2, 1))
        shard["teacher_ownership"] = np.full((2, 25), 99, np.int8)
        parts = self.parts(shard, [1])
        self.assertEqual(parts["played"], 0)
        for name in ("policy", "value", "score", "error", "ownership"):
            self.assertGreater(parts[name], 0)


class Optimisers(unittest.TestCase):
    def test_steps_are_nearly_orthogonal(self):
        torch.manual_seed(1)
        for shape in [(16, 40), (40, 16), (8, 8)]:
            singular = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
            self.assertGreater(float(singular.min()), 0.3)
            self.assertLess(float(singular.max()), 1.3)


class Resuming(unittest.TestCase):
    def test_a_training_that_was_stopped_goes_on_as_if_it_had_not(self):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            data.mkdir()
            for number in range(3):
                arrays = {f"7x7/{name}": values for name, values in group(40, 7, 7).items()}
                np.savez(data / f"training-{number}.npz", version=np.array([1], np.uint32), **arrays)
            np.savez(data / "validation-0.npz", version=np.array([1], np.uint32), **arrays)

            def train(run: str, positions: int) -> dict:
                command = [sys.executable, HERE / "train.py", "--data", data, "--out", Path(folder) / run]
                command += ["--shape", "b2c16", "--batch", "8", "--positions", positions, "--validate", "64"]
                command += ["--warm-up", "40", "--average", "80", "--threads", "1", "--window", "2", "--precision", "f32"]
                subprocess.run([str(word) for word in command], check=True, capture_output=True)
                return torch.load(Path(folder) / run / "state.pt", weights_only=True)

            whole = train("whole", 176)
            train("halves", 96)
            halves = train("halves", 176)
            for key in ("positions", "steps", "stream", "average_steps"):
                self.assertEqual(whole[key], halves[key])
            for key in ("network", "average"):
                for name, values in whole[key].items():
                    self.assertTrue(torch.equal(values, halves[key][name]), f"{key} {name}")
            log = (Path(folder) / "halves" / "log.jsonl").read_text()
            self.assertIn('"kind": "validation"', log)


if __name__ == "__main__":
    unittest.main()
