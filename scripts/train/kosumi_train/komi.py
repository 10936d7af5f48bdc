"""Positions at another komi than that of their games.

Komi hardly varies in games, so a network that is trained on them learns little about it. All functions take the global
features of n positions of one board size, (n, 19). Their komi is from the perspective of the side to move.
"""

from __future__ import annotations

import numpy as np
import torch

# Indices of global features (see the features in src/net): komi in units of 20 points, whether territory counts, and
# the parity term of komi under area scoring.
KOMI, TERRITORY, KOMI_WAVE = 5, 9, 18
# Komi is at most the number of points on the board plus this margin, in points.
KOMI_MARGIN = 20.0


def komi_wave(area: int, komi: np.ndarray) -> np.ndarray:
    """Returns the parity term of komi under area scoring, as the engine's features define it."""
    parity = area % 2
    above = np.clip(komi - (np.floor((komi - parity) / 2) * 2 + parity), 0, 2)
    return np.where(above < 0.5, above, np.where(above < 1.5, 1 - above, above - 2))


def with_komi(globals_: np.ndarray, area: int, more: np.ndarray) -> np.ndarray:
    """Returns the features with `more` (n) points of komi added for the side to move, within the limits of komi."""
    globals_ = globals_.copy()
    most = area + KOMI_MARGIN
    komi = np.clip(np.round(globals_[:, KOMI] * 80) / 4 + more, -most, most)
    globals_[:, KOMI] = komi / 20
    globals_[:, KOMI_WAVE] = np.where(globals_[:, TERRITORY] > 0, 0, komi_wave(area, komi))
    return globals_


def with_komi_on_device(globals_: torch.Tensor, area: int, more: torch.Tensor) -> torch.Tensor:
    """Returns the result of `with_komi`. PyTorch computes it on the device of the tensors."""
    globals_ = globals_.clone()
    most = area + KOMI_MARGIN
    komi = ((globals_[:, KOMI] * 80).round() / 4 + more).clamp(-most, most)
    above = (komi - (((komi - area % 2) / 2).floor() * 2 + area % 2)).clamp(0, 2)
    wave = torch.where(above < 0.5, above, torch.where(above < 1.5, 1 - above, above - 2))
    globals_[:, KOMI] = komi / 20
    globals_[:, KOMI_WAVE] = torch.where(globals_[:, TERRITORY] > 0, 0.0, wave)
    return globals_


def komi_steps(count: int, rng: np.random.Generator) -> np.ndarray:
    """Returns random changes of komi in points: half of them near 0 (normal with deviation 6), half of them uniform in
    [-30, 30]. A quarter of all have a half point."""
    near, far = rng.normal(0, 6, count), rng.uniform(-30, 30, count)
    steps = np.round(np.where(rng.random(count) < 0.5, near, far))
    return steps + np.where(rng.random(count) < 0.25, 0.5, 0.0)


def varied_komi(globals_: np.ndarray, area: int, changed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the features with another komi (see `komi_steps`) where `changed` (n) holds."""
    moved = with_komi(globals_, area, komi_steps(len(changed), rng))
    return np.where(changed[:, None], moved, globals_).astype(np.float32)


def fair_komi(
    globals_: np.ndarray, area: int, changed: np.ndarray, leads: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Returns the features with a komi that makes positions about even, where `changed` (n) holds. `leads` (n) are the
    leads of the side to move, in points. A network learns nothing about the value of moves from decided positions."""
    steps = np.round(rng.normal(0, 2, len(changed)) - leads)
    return np.where(changed[:, None], with_komi(globals_, area, steps), globals_).astype(np.float32)


def even_komi(globals_: np.ndarray, area: int, share: float, leads: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns the features with a komi at which neither side leads by more than a few points, for a share of the
    positions. `leads` (n) are the leads of the side to move, in points. At such a komi, a small error in points
    reverses the value, even late in the game. The change of komi is a multiple of half a point."""
    spread = np.where(rng.random(len(leads)) < 0.5, 0.5, 2.0)
    steps = np.round(2 * (rng.normal(0, spread) - leads)) / 2
    changed = rng.random(len(leads)) < share
    return np.where(changed[:, None], with_komi(globals_, area, steps), globals_).astype(np.float32)


def odd_komi(globals_: np.ndarray, area: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Returns the features with a random komi for a share of the positions: half of them near the given komi (see
    `komi_steps`), and half up to the number of points on the board."""
    count = len(globals_)
    far = np.round(rng.uniform(-area, area, count) - 20 * globals_[:, KOMI])
    steps = np.where(rng.random(count) < 0.5, komi_steps(count, rng), far)
    changed = rng.random(count) < share
    return np.where(changed[:, None], with_komi(globals_, area, steps), globals_).astype(np.float32)
