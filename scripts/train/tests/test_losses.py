"""Loss terms."""

from __future__ import annotations

import unittest
from types import SimpleNamespace

import numpy as np
import torch

from kosumi_train.losses import Weights, losses, measures, wanted_errors, wanted_result
from kosumi_train.shards import make_batch
from tests.fixtures import group, network


class Losses(unittest.TestCase):
    def unknown(self) -> dict[str, np.ndarray]:
        """Returns two positions. The second one is off the path of its game, so it has no move, no result and no
        ownership."""
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

    def test_unknown_targets_have_no_loss(self):
        known, both = self.parts(self.unknown(), [0]), self.parts(self.unknown(), [0, 1])
        for name in ("played", "value", "ownership"):
            self.assertGreater(known[name], 0)
            self.assertAlmostEqual(both[name], known[name] / 2, places=5)

    def test_expected_results_are_mixed_with_known_ones(self):
        shard = self.unknown() | {"expected": np.array([0.5, 0.5], np.float32)}
        shard["value"][0] = 0, 1, 0
        batch = make_batch((5, 5), shard, np.array([0, 1]))
        found = wanted_result(batch, Weights(expected=0.4))
        torch.testing.assert_close(found, torch.tensor([[0.3, 0.7, 0], [0, 0, 0]]))
        self.assertIs(wanted_result(batch, Weights()), batch.result)
        shard["expected"][0] = np.nan
        batch = make_batch((5, 5), shard, np.array([0]))
        torch.testing.assert_close(wanted_result(batch, Weights(expected=0.4)), torch.tensor([[0.0, 1, 0]]))

    def test_labels_replace_unknown_results(self):
        shard = self.unknown()
        shard["policy_move"] = np.tile(np.arange(16, dtype=np.uint16), (2, 1))
        shard["policy_share"] = np.full((2, 16), 4000, np.uint16)
        shard["policy_rest"] = np.full(2, 1535, np.uint16)
        shard["optimistic_share"], shard["optimistic_rest"] = shard["policy_share"], shard["policy_rest"]
        shard["teacher_value"] = np.tile(np.array([0.7, 0.3, 0], np.float32), (2, 1))
        shard["teacher_score"] = np.tile(np.array([3, 5, 2, 4], np.float32), (2, 1))
        shard["teacher_error"] = np.tile(np.array([0.1, 1.5], np.float32), (2, 1))
        shard["teacher_ownership"] = np.full((2, 25), 99, np.int8)
        parts = self.parts(shard, [1])
        self.assertEqual(parts["played"], 0)
        for name in ("policy", "optimistic", "value", "score", "error", "ownership"):
            self.assertGreater(parts[name], 0)

    def test_error_targets_include_the_students_errors(self):
        sure = torch.tensor([[10.0, -10, -10], [10.0, -10, -10]])
        answer = SimpleNamespace(value=sure, lead=lambda: torch.tensor([4.0, 7.0]))
        batch = SimpleNamespace(
            teacher_error=torch.tensor([[0.3, 3.0], [0.3, 3.0]]),
            teacher_value=torch.tensor([[1.0, 0, 0], [0.8, 0.2, 0]]),
            teacher_score=torch.tensor([[0, 0, 4.0, 0], [0, 0, 3.0, 0]]),
        )
        # The target is the teacher's error where both networks agree. Otherwise it is the root of the sum of squares,
        # of 0.3 and 0.4, and of 3 and 4.
        wanted = torch.tensor([[0.3, 3.0], [0.5, 5.0]])
        torch.testing.assert_close(wanted_errors(answer, batch), wanted, rtol=1e-3, atol=1e-3)
