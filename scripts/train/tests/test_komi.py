"""Positions at another komi than that of their games."""

from __future__ import annotations

import unittest

import numpy as np
import torch

from kosumi_train.komi import (
    KOMI,
    KOMI_WAVE,
    TERRITORY,
    even_komi,
    komi_wave,
    odd_komi,
    with_komi,
    with_komi_on_device,
)
from tests.fixtures import group


class Komi(unittest.TestCase):
    def test_the_wave(self):
        # From the table of the engine's features: on a board of 81 points, a komi that allows a draw is odd.
        for komi, wave in [(7.0, 0.0), (7.5, 0.5), (8.0, 0.0), (8.5, -0.5), (6.5, -0.5), (7.25, 0.25), (-7.5, -0.5)]:
            for area, more in [(81, 0), (80, 1), (81, 2), (361, -30)]:
                self.assertAlmostEqual(float(komi_wave(area, np.array(komi + more))), wave)

    def test_more_komi(self):
        before = np.zeros((3, 19), np.float32)
        before[:, KOMI], before[:, KOMI_WAVE] = -7.5 / 20, -0.5
        before[2, TERRITORY], before[2, KOMI_WAVE] = 1, 0
        more = np.array([0, 10.5, 500.0])
        after = with_komi(before, 81, more)
        np.testing.assert_allclose(after[:, KOMI] * 20, [-7.5, 3.0, 101.0], rtol=1e-6)
        np.testing.assert_allclose(after[:, KOMI_WAVE], [-0.5, 0, 0])
        unchanged = [i for i in range(19) if i not in (KOMI, KOMI_WAVE)]
        np.testing.assert_array_equal(after[:, unchanged], before[:, unchanged])
        same = with_komi_on_device(torch.from_numpy(before), 81, torch.from_numpy(more).float())
        np.testing.assert_allclose(same.numpy(), after, atol=1e-6)

    def test_any_komi(self):
        before = np.zeros((2000, 19), np.float32)
        before[:, KOMI] = np.repeat([-7.5 / 20, 30 / 20], 1000)
        rng = np.random.default_rng(4)
        np.testing.assert_array_equal(odd_komi(before, 81, 0.0, rng), before)
        after = odd_komi(before, 81, 0.5, rng)
        changed = after[:, KOMI] != before[:, KOMI]
        self.assertTrue(0.44 < changed.mean() < 0.53)
        komi = 20 * after[changed, KOMI]
        self.assertTrue((np.abs(komi) <= 101).all() and komi.min() < -70 and komi.max() > 70)
        np.testing.assert_allclose(2 * komi, np.round(2 * komi), atol=1e-3)
        # Half of the changed positions stay near the given komi.
        self.assertTrue(0.5 < (np.abs(after - before)[changed, KOMI] * 20 <= 30.5).mean() < 0.85)
        np.testing.assert_allclose(after[:, KOMI_WAVE][changed], komi_wave(81, komi), atol=1e-4)


class EvenKomi(unittest.TestCase):
    def test_leads_become_small(self):
        shard, rng = group(400, 7, 7), np.random.default_rng(1)
        shard["global"][:, KOMI] = np.round(shard["global"][:, KOMI] * 40) / 40
        # The lead of the side to move is its lead on the board plus the komi.
        leads = rng.integers(-20, 21, 400) + 20 * shard["global"][:, KOMI]
        found = even_komi(shard["global"], 49, 0.75, leads, rng)
        changed = (found != shard["global"]).any(axis=1)
        self.assertTrue(0.6 < changed.mean() < 0.9)
        after = leads + 20 * (found - shard["global"])[:, KOMI]
        self.assertTrue((np.abs(after[changed]) < 9).all())
        self.assertGreater(np.mean(np.abs(after[changed]) < 1.1), 0.6)
        # Whole and half points must both occur.
        halves = np.round(40 * found[changed, KOMI]) % 2
        self.assertTrue(0.3 < halves.mean() < 0.7)
        np.testing.assert_array_equal(even_komi(shard["global"], 49, 0.0, leads, rng), shard["global"])
