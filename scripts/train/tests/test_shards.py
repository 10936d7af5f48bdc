"""Batches of positions."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import numpy as np

from kosumi_train.shards import Stream, make_batch, read_groups, regrets, turned_points
from tests.fixtures import group


class Batches(unittest.TestCase):
    def test_everything_is_turned_together(self):
        for columns, rows, symmetries in [(5, 5, 8), (4, 3, 4)]:
            shard = group(3, columns, rows)
            # A feature marks the point of the played move.
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

    def test_regretted_moves_and_open_games_are_repeated(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shard = group(6, 5, 5)
            moves, shares = np.zeros((6, 16), np.uint16), np.zeros((6, 16), np.uint16)
            # Moves that the player preferred: the teacher's first choice, its second choice, a move that it does not
            # list, and none (no search).
            moves[:4, 0], shares[:4, 0] = [7, 8, 9, 0], [60000, 60000, 60000, 0]
            shard |= {"policy_move": moves, "policy_share": shares}
            teacher_moves, teacher_shares = np.zeros((6, 32), np.uint16), np.zeros((6, 32), np.uint16)
            teacher_moves[:, :2] = [7, 8]
            teacher_shares[:, :2] = [0.6 * 65535, 0.35 * 65535]
            found_labels = {"policy_move": teacher_moves, "policy_share": teacher_shares}
            found_labels |= {
                "policy_rest": np.full(6, 0.05 * 65535, np.uint16),
                "teacher_value": np.zeros((6, 3), np.float32),
            }
            # The last two positions are decided.
            found_labels["teacher_value"][4:, 1] = 1
            found_labels["teacher_ownership"] = np.zeros((6, 25), np.int8)
            found_labels["teacher_score"] = np.zeros((6, 4), np.float32)
            for kind, arrays, version in [("", shard, 1), (".labels", found_labels, 2)]:
                arrays = {f"5x5/{array}": values for array, values in arrays.items()}
                np.savez(folder / f"training-0{kind}.npz", version=np.array([version], np.uint32), **arrays)
            (found,) = read_groups(folder / "training-0.npz").values()
            np.testing.assert_allclose(regrets(found), [0, 0.25, 0.6, 0, 0, 0], atol=1e-4)
            drawn = {}
            for often in (1, 3):
                stream = iter(Stream(folder, 1, 1, labelled=True, regretted=often))
                batches = [next(stream) for _ in range(6 + (often - 1))]
                drawn[often] = sorted(float(batch.globals_[0, 0]) for batch in batches)
            once = sorted(float(value) for value in shard["global"][:, 0])
            again = sorted(once + [float(shard["global"][2, 0])] * 2)
            np.testing.assert_allclose(drawn[1], once)
            np.testing.assert_allclose(drawn[3], again)
            stream = iter(Stream(folder, 1, 1, labelled=True, open_games=2))
            found = sorted(float(next(stream).globals_[0, 0]) for _ in range(10))
            values = [float(value) for value in shard["global"][:, 0]]
            np.testing.assert_allclose(found, sorted(values + values[:4]))
