"""Searches for rotations that attention lacks.

A head of `AttentionBlock` sums products of queries and keys over pairs of channels, which are rotated by an angle for
each column and row. Training moves such a rotation by only a few hundredths of a radian. So a rotation that is far from
all useful ones never reaches them, and the gradient of the loss by the rotation does not show which ones are useful.
The gradient by the scores does. For every head and every rotation on a grid, this module computes the slope of the loss
for a new pair of channels with this rotation, over all possible queries and keys. Where training has converged, only
missing rotations have a large slope.

For points i and j with inputs x, a pair adds Re(a·xᵢ conj(b·xⱼ) exp(i f·(rᵢ - rⱼ))) to the score, with complex weights
a and b, the rotation f and the coordinates r. Let Gᵢⱼ be the gradient of the loss by the score. Then the steepest
descent is the first singular pair of Σ Gᵢⱼ xᵢ xⱼᵀ exp(i f·(rᵢ - rⱼ)). This is a discrete Fourier transform of sums over
all pairs of points with the same displacement.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator

import torch

from ..model import AttentionBlock

# Number of input directions from which queries and keys are made: those of the largest variance, scaled to variance 1.
DIRECTIONS = 12

# Number of rotations of the search grid in each half turn.
GRID = 48

# Side of the largest board that is used. Larger boards are left out.
MAX_SIDE = 19

# Smallest distance between two rotations of a head, in radians. Training makes smaller corrections itself.
APART = 0.2

# A rotation counts as missing if its slope is this many times the median slope.
MIN_RELATIVE_SLOPE = 4.0

# Size of the weights of a new pair: the size of the queries and keys of a typical point.
SIZE = 1.2


@dataclasses.dataclass
class Boards:
    """Boards of one shape: the normalised inputs of attention (n, points, channels), and the loss as a function of the
    concatenated outputs of the heads."""

    read: torch.Tensor
    rows: int
    columns: int
    loss: Callable[[torch.Tensor], torch.Tensor]


def slopes(block: AttentionBlock, boards: Boards) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the gradient of the loss by the scores (n, heads, points, points), the attention weights, and the rotated
    queries and keys."""
    with torch.no_grad():
        found = boards.read @ torch.cat([block.q.weight, block.k.weight, block.v.weight]).T
        turned = block.turned(found, block.angles(boards.rows, boards.columns))
        query, key, value = (part.transpose(1, 2) for part in turned)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
    with torch.enable_grad():
        scores.requires_grad_(True)
        weights = scores.softmax(dim=3)
        (slope,) = torch.autograd.grad(boards.loss((weights @ value).transpose(1, 2).flatten(2)), scores)
    return slope, weights.detach(), query, key


class Search:
    """Search for the rotations that the heads of a block lack."""

    @torch.no_grad()
    def __init__(self, block: AttentionBlock, boards: list[Boards]) -> None:
        self.block = block
        self.directions = directions(torch.cat([it.read.flatten(0, 1) for it in boards]))
        side, count = 2 * MAX_SIDE - 1, self.directions.shape[1]
        # Indices: head, displacement of two points in rows and in columns, direction of the query, direction of the
        # key.
        self.sums = torch.zeros(block.heads, side, side, count, count)
        # By head and pair of channels: variance of the pair's scores over the points that a point attends to, summed.
        self.used = torch.zeros(block.heads, block.frequencies.shape[1])
        for it in boards:
            self.add(it)
        self.columns = torch.linspace(-math.pi, math.pi, 2 * GRID + 1)[:-1]
        # The other half-plane has the same rotations with the opposite sign.
        self.rows = self.columns[GRID:]

    def add(self, boards: Boards) -> None:
        """Adds the sums of some boards."""
        slope, weights, query, key = slopes(self.block, boards)
        points, reduced = boards.rows * boards.columns, boards.read @ self.directions
        row = torch.arange(boards.rows).repeat_interleave(boards.columns)
        column = torch.arange(boards.columns).repeat(boards.rows)
        apart = [at[:, None] - at + MAX_SIDE - 1 for at in (row, column)]
        distance = apart[0] * (2 * MAX_SIDE - 1) + apart[1]
        for point in range(points):
            asking = reduced[:, point, None, :, None] * slope[:, :, point].transpose(1, 2)[..., None, :]
            # Indices: point, direction of the query, head, direction of the key.
            found = torch.einsum("njah,njb->jahb", asking, reduced)
            for head in range(self.block.heads):
                self.sums[head].flatten(0, 1).index_add_(0, distance[point], found[:, :, head])
        half = self.used.shape[1]
        queries, keys = query.unflatten(3, (2, half)), key.unflatten(3, (2, half))
        for pair in range(half):
            score = queries[..., pair] @ keys[..., pair].mT / math.sqrt(2 * half)
            mean = (weights * score).sum(dim=3, keepdim=True)
            self.used[:, pair] += (weights * (score - mean).square()).sum(dim=3).mean(dim=(0, 2))

    def waves(self, frequencies: torch.Tensor) -> torch.Tensor:
        """Returns exp(i f d) for these frequencies f and all displacements d (frequencies, displacements)."""
        return torch.exp(1j * frequencies[:, None] * torch.arange(1 - MAX_SIDE, MAX_SIDE))

    def sizes(self, head: int) -> torch.Tensor:
        """Returns the slope of every rotation of the grid (columns, rows)."""
        sums = torch.einsum("fx,yxab->yfab", self.waves(self.columns), self.sums[head].to(torch.complex64))
        return torch.linalg.svdvals(torch.einsum("gy,yfab->fgab", self.waves(self.rows), sums))[..., 0]

    def pair(self, head: int, frequency: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the complex weights of query and key for the pair with this rotation that decreases the loss
        fastest."""
        wave = self.waves(frequency)
        sums = torch.einsum("x,y,yxab->ab", wave[0], wave[1], self.sums[head].to(torch.complex64))
        left, _, right = torch.linalg.svd(sums)
        directions = self.directions.to(torch.complex64)
        return directions @ -left[:, 0].conj(), directions @ right[0]

    def missing(self, head: int, most: int) -> Iterator[torch.Tensor]:
        """Yields at most `most` rotations that the head lacks, in radians for each column and row, by descending
        slope."""
        sizes = self.sizes(head)
        least = MIN_RELATIVE_SLOPE * float(sizes.median())
        grid = torch.stack(torch.meshgrid(self.columns, self.rows, indexing="ij"), dim=2)
        for own in self.block.frequencies[head]:
            sizes[near(grid, own)] = 0
        for _ in range(most):
            best = int(sizes.argmax())
            if float(sizes.flatten()[best]) <= least:
                return
            found = grid.flatten(0, 1)[best].clone()
            sizes[near(grid, found)] = 0
            yield found


def directions(rows: torch.Tensor) -> torch.Tensor:
    """Returns the directions of the largest variance of these rows, scaled to variance 1 (channels, at most
    DIRECTIONS)."""
    moments = (rows.T @ rows / len(rows)).double()
    damping = 0.01 * moments.diag().mean() * torch.eye(len(moments), dtype=torch.float64)
    spreads, vectors = torch.linalg.eigh(moments + damping)
    return (vectors / spreads.sqrt())[:, -DIRECTIONS:].float()


def near(grid: torch.Tensor, frequency: torch.Tensor) -> torch.Tensor:
    """Returns which rotations of the grid are near this one or its opposite (columns, rows)."""
    found = torch.zeros(grid.shape[:2], dtype=torch.bool)
    for one in (frequency, -frequency):
        # Angles that differ by whole turns are equal.
        apart = torch.remainder(grid - one + math.pi, 2 * math.pi) - math.pi
        found |= apart.norm(dim=2) < APART
    return found


@torch.no_grad()
def give(block: AttentionBlock, boards: Iterable[Boards], most: int) -> int:
    """Gives every head at most `most` rotations that it lacks, which replace those with the least effect.

    Returns the number of new rotations.
    """
    if not (boards := [it for it in boards if max(it.rows, it.columns) <= MAX_SIDE]):
        return 0
    search, half, given = Search(block, boards), block.frequencies.shape[1], 0
    queries, keys = (layer.weight.view(block.heads, 2, half, -1) for layer in (block.q, block.k))
    for head in range(block.heads):
        for pair, frequency in zip(search.used[head].argsort().tolist(), list(search.missing(head, min(most, half)))):
            block.frequencies[head, pair] = frequency
            for weights, own in zip((queries, keys), search.pair(head, frequency)):
                weights[head, :, pair] = SIZE * torch.stack([own.real, own.imag])
            given += 1
    return given
