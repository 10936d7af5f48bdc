"""Optimisers, learning rates, and a training that resumes."""

from __future__ import annotations

import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace

import torch

from kosumi_train import train
from kosumi_train.optimiser import Muon, orthogonal
from tests.fixtures import run, write_shard


class Optimisers(unittest.TestCase):
    def test_steps_are_nearly_orthogonal(self):
        torch.manual_seed(1)
        for shape in [(16, 40), (40, 16), (8, 8)]:
            singular = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
            self.assertGreater(float(singular.min()), 0.3)
            self.assertLess(float(singular.max()), 1.3)

    def test_adam_matches_pytorch(self):
        torch.manual_seed(2)
        ours, theirs = [[torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(2, 2))] for _ in range(2)]
        mine = Muon([dict(params=ours, weight_decay=0.1, muon=False)], lr=0.01)
        right = torch.optim.AdamW(theirs, lr=0.01, betas=(0.9, 0.98), eps=1e-10, weight_decay=0.1)
        for _ in range(5):
            for a, b in zip(ours, theirs):
                a.grad = torch.randn_like(a)
                b.grad = a.grad.clone()
            mine.step()
            right.step()
        for a, b in zip(ours, theirs):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


class Rate(unittest.TestCase):
    def rate(self, minutes: float | None, positions: int | None, seconds: float) -> float:
        """Returns the rate of a training that has used 2,000 positions in `seconds`, and cools down over 1,000."""
        options = SimpleNamespace(batch=64, warm_up=1, minutes=minutes, positions=positions, cool_down=1000, rate=1.0)
        training = train.Training.__new__(train.Training)
        training.options, training.positions, training.started_at = options, 2000, 0
        training.begun, training.begun_with = time.monotonic() - seconds, 0
        return training.rate()

    def test_the_rate_falls_before_a_set_end(self):
        self.assertEqual(self.rate(None, None, 30), 1.0)
        self.assertEqual(self.rate(None, 2300, 30), 0.3)
        self.assertEqual(self.rate(1.0, None, 30), 1.0)
        self.assertAlmostEqual(self.rate(1.0, None, 50), 0.4, places=2)
        self.assertAlmostEqual(self.rate(1.0, 2300, 50), 0.3, places=2)
        self.assertEqual(self.rate(1.0, None, 70), 0.0)


class Resuming(unittest.TestCase):
    def test_a_stopped_training_resumes_exactly(self):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            data.mkdir()
            for name in ("training-0", "training-1", "training-2", "validation-0"):
                write_shard(data / f"{name}.npz", 7, 7)

            def train(name: str, positions: int) -> dict:
                command = ["train", "--data", data, "--out", Path(folder) / name]
                command += ["--shape", "b2c16", "--batch", "8", "--positions", positions, "--validate", "64"]
                command += [
                    "--warm-up",
                    "40",
                    "--average",
                    "80",
                    "--threads",
                    "1",
                    "--window",
                    "2",
                    "--precision",
                    "f32",
                ]
                run(*command)
                return torch.load(Path(folder) / name / "state.pt", weights_only=True)

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
