"""Rotations that attention lacks.

A head of `AttentionBlock` adds up, over pairs of channels, how alike a query and a key are that are turned by so much a column and a row. Steps
move such a rotation by a few hundredths of a radian: what begins far from all that are needed never comes there, and the loss has no slope that says so.
But it has one in the scores. So for every head, and every rotation on a grid, the slope is computed that a new pair of channels with
this rotation would have, over all ways to make its query and its key. Where learning is over, only rotations that are
missing have a large one.

For two points i and j with inputs x, a pair adds Re(a·xᵢ conj(b·xⱼ) exp(i f·(rᵢ - rⱼ))), where a and b are complex weights, f is the rotation and r the
place. With Gᵢⱼ the slope of the loss by the score, the steepest way down is the first singular pair of Σ Gᵢⱼ xᵢ xⱼᵀ exp(i f·(rᵢ - rⱼ)): a discrete
Fourier transform of sums over all points that lie equally far apart.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Callable, Iterable, Iterator

import torch

from model import AttentionBlock

# Directions of the inputs that queries and keys are made of: those of the largest spread, each of spread 1.
DIRECTIONS = 12

# Rotations a half turn, of the grid that is searched.
GRID = 48

# The largest board that is looked at; larger ones are left out.
MOST = 19

# No two of a head are nearer than this: steps do the rest. Radians.
APART = 0.2

# A rotation is missing if its slope is so many times the one in the middle.
LEAST = 4.0

# How large the weights of a new pair are: queries and keys of a typical point have this size.
SIZE = 1.2


@dataclasses.dataclass
class Boards:
    """Boards of one shape: what attention reads behind the norm (n, points, channels), and the loss by what the heads see, side by side."""

    read: torch.Tensor
    rows: int
    columns: int
    loss: Callable[[torch.Tensor], torch.Tensor]


def slopes(block: AttentionBlock, boards: Boards) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The loss's slopes by the scores (n, heads, points, points), the weights that these give, and the queries and keys, turned."""
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
    """Looks for the rotations that the heads of a block lack."""

    @torch.no_grad()
    def __init__(self, block: AttentionBlock, boards: list[Boards]):
        self.block = block
        self.directions = directions(torch.cat([it.read.flatten(0, 1) for it in boards]))
        side, count = 2 * MOST - 1, self.directions.shape[1]
        # By head and distance of two points: rows, then columns.
        self.sums = torch.zeros(block.heads, side, side, count, count)
        # How much the scores of every pair differ between the points that a point looks at.
        self.used = torch.zeros(block.heads, block.frequencies.shape[1])
        for it in boards:
            self.add(it)
        self.columns = torch.linspace(-math.pi, math.pi, 2 * GRID + 1)[:-1]
        # The other half of the plane holds the same rotations, the other way round.
        self.rows = self.columns[GRID:]

    def add(self, boards: Boards) -> None:
        slope, weights, query, key = slopes(self.block, boards)
        points, reduced = boards.rows * boards.columns, boards.read @ self.directions
        row, column = torch.arange(boards.rows).repeat_interleave(boards.columns), torch.arange(boards.columns).repeat(boards.rows)
        apart = [at[:, None] - at + MOST - 1 for at in (row, column)]
        distance = apart[0] * (2 * MOST - 1) + apart[1]
        for point in range(points):
            asking = reduced[:, point, None, :, None] * slope[:, :, point].transpose(1, 2)[..., None, :]
            # (points, asking direction, heads, answering direction)
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
        """exp(i f d) for these frequencies and all distances."""
        return torch.exp(1j * frequencies[:, None] * torch.arange(1 - MOST, MOST))

    def sizes(self, head: int) -> torch.Tensor:
        """How large the slope of every rotation of the grid is (columns, rows)."""
        sums = torch.einsum("fx,yxab->yfab", self.waves(self.columns), self.sums[head].to(torch.complex64))
        return torch.linalg.svdvals(torch.einsum("gy,yfab->fgab", self.waves(self.rows), sums))[..., 0]

    def pair(self, head: int, frequency: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Complex weights of the query and the key of the pair with this rotation that would lessen the loss fastest."""
        wave = self.waves(frequency)
        left, _, right = torch.linalg.svd(torch.einsum("x,y,yxab->ab", wave[0], wave[1], self.sums[head].to(torch.complex64)))
        directions = self.directions.to(torch.complex64)
        return directions @ -left[:, 0].conj(), directions @ right[0]

    def missing(self, head: int, most: int) -> Iterator[torch.Tensor]:
        """Rotations that the head lacks, radians a column and a row, those with the largest slopes first."""
        sizes = self.sizes(head)
        least = LEAST * float(sizes.median())
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
    """The directions of largest spread of these rows, such that each has spread 1 (channels, at most DIRECTIONS)."""
    moments = (rows.T @ rows / len(rows)).double()
    spreads, vectors = torch.linalg.eigh(moments + 0.01 * moments.diag().mean() * torch.eye(len(moments), dtype=torch.float64))
    return (vectors / spreads.sqrt())[:, -DIRECTIONS:].float()


def near(grid: torch.Tensor, frequency: torch.Tensor) -> torch.Tensor:
    """Which rotations of the grid are nearly this one, or this one the other way round?"""
    found = torch.zeros(grid.shape[:2], dtype=torch.bool)
    for one in (frequency, -frequency):
        # Whole turns are none.
        apart = torch.remainder(grid - one + math.pi, 2 * math.pi) - math.pi
        found |= apart.norm(dim=2) < APART
    return found


@torch.no_grad()
def give(block: AttentionBlock, boards: Iterable[Boards], most: int) -> int:
    """Gives every head the rotations that it lacks, at most so many, in the place of those that it uses least. Returns how many there were."""
    if not (boards := [it for it in boards if max(it.rows, it.columns) <= MOST]):
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
