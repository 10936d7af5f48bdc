"""Solves for the heads (last layers) of a network, given a teacher with heads of the same kind.

All layers of the heads are linear except for SiLU between them, so each is found from the inputs and outputs of the
teacher's layer: weights and biases by least squares, and the scale and bias before a SiLU channel by channel. The
result is so near to the teacher's heads that only the error of their inputs remains. Heads that were trained on the
teacher's outputs alone (wider, with ReLU) differed by 0.02 nats in policy, and by 0.2 in value where one point decides
the game.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from ..model import Area, Network, by_planes
from ..teacher import Board, Teacher

# Share of the mean second moment that damps the weights of inputs that no position shows.
DAMPING = 1e-9

# Number of steps of the search for a channel's scale and bias, which converges in a few, and number of rows that it
# uses.
STEPS, ROWS = 20, 20_000

# The linear layers: names in `model.py`, with their names in `teacher.py`.
LINEAR = {
    "p1": "p1", "g1": "g1", "from_g1": "from_g1", "p2": "p2", "policy_pass": "policy_pass", "pass_last": "pass_last",
    "v1": "v1", "v2": "v2", "v3": "v3", "score": "scores", "ownership": "ownership",
}  # fmt: skip

# Norms before SiLU, and the layers before them. These layers take the norm's scale, because the norms have only a bias.
NORMS = {"g1_norm": ("g1",), "p1_norm": ("p1", "from_g1"), "v1_norm": ("v1",)}


def is_smooth(teacher: Teacher) -> bool:
    """Returns whether the teacher's heads are of the kind that can be solved for here."""
    if teacher.pass_last is None or not getattr(teacher.tip, "whole", False):
        return False
    activations = [getattr(teacher, name).activation for name in ("tip", *NORMS)]
    activations += [teacher.v2_activation, teacher.pass_activation]
    return all(it is F.silu for it in activations)


def with_heads_like(network: Network, teacher: Teacher) -> Network:
    """Returns the network with new heads as wide as the teacher's, or the network itself if its heads already are."""
    shape = dataclasses.replace(
        network.shape,
        policy=teacher.p1.out_features,
        value=teacher.v1.out_features,
        value_hidden=teacher.v2.out_features,
        smooth_heads=True,
    )
    if shape == network.shape:
        return network
    found = Network(shape)
    found.conv1, found.from_global, found.blocks = network.conv1, network.from_global, network.blocks
    return found


# Argument at which SiLU has its minimum. It falls to the left and rises to the right.
SILU_MINIMUM = -1.2784645

# Outputs of SiLU nearer to 0 than this are not inverted.
CLEAR = 0.02


def inverse_of_silu(written: torch.Tensor, is_right: bool) -> torch.Tensor:
    """Returns the argument at which SiLU has this value, on the chosen side of its minimum, by bisection."""
    low = torch.full_like(written, SILU_MINIMUM if is_right else -40.0)
    high = written.abs() + 3.0 if is_right else torch.full_like(written, SILU_MINIMUM)
    for _ in range(50):
        middle = (low + high) / 2
        is_below = (F.silu(middle) < written) == is_right
        low, high = middle.where(is_below, low), high.where(is_below, middle)
    return (low + high) / 2


def lines(
    read: torch.Tensor, target: torch.Tensor, weight: torch.Tensor, damping: torch.Tensor | float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the slope and offset of a line for each channel, by weighted and damped least squares."""
    a, b, c = (weight * read * read).sum(0), (weight * read).sum(0), weight.sum(0)
    a, c = a * (1 + damping) + 1e-12, c * (1 + damping) + 1e-12
    d, e = (weight * read * target).sum(0), (weight * target).sum(0)
    size = a * c - b * b
    return (d * c - e * b) / size, (e * a - d * b) / size


def searched(
    read: torch.Tensor, written: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the scale and bias of each channel after a search from these values, and the squared error that remains.

    CITE: Marquardt, "An algorithm for least-squares estimation of nonlinear parameters" (1963).
    """

    def left(scale: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return (F.silu(read * scale + bias) - written).square().sum(0)

    damping, least = torch.full_like(scale, 1e-3), left(scale, bias)
    for _ in range(STEPS):
        x = read * scale + bias
        gate = torch.sigmoid(x)
        slope = gate * (1 + x * (1 - gate))
        missing = written - x * gate
        more = lines(read, missing / slope.where(slope.abs() > 1e-6, 1e-6), slope.square(), damping)
        tried = scale + more[0], bias + more[1]
        found = left(*tried)
        better = found < least
        scale, bias, least = tried[0].where(better, scale), tried[1].where(better, bias), found.where(better, least)
        damping = torch.where(better, damping * 0.3, damping * 10).clamp(1e-12, 1e9)
    return scale, bias, least


def scale_and_bias(read: torch.Tensor, written: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns, for each channel of `read` (rows, channels), the scale and bias before SiLU whose result is nearest to
    `written`. The search starts twice: from a line through the inverted outputs on each side of the minimum."""
    read, written = read.double(), written.double()
    tried = []
    for is_right in (True, False):
        clear = (written > CLEAR) if is_right else (written < -CLEAR)
        inverted = inverse_of_silu(written.where(clear, CLEAR if is_right else -CLEAR), is_right)
        scale, bias = lines(read, inverted, clear.double(), 1e-9)
        few = (clear.sum(0) < 8) | ~torch.isfinite(scale + bias)
        tried.append(searched(read, written, scale.where(~few, 1.0), bias.where(~few, 0.0)))
    (scale, bias, left), (other_scale, other_bias, other_left) = tried
    better = other_left < left
    return other_scale.where(better, scale).float(), other_bias.where(better, bias).float()


class Sums:
    """Least squares over rows that are added batch by batch."""

    def __init__(self) -> None:
        self.moments: Any = 0.0
        self.products: Any = 0.0

    def add(self, read: torch.Tensor, written: torch.Tensor) -> None:
        """Adds rows of inputs (rows, inputs) and outputs (rows, outputs)."""
        read, written = read.double(), written.double()
        self.moments = self.moments + read.T @ read
        self.products = self.products + read.T @ written

    def solved(self) -> torch.Tensor:
        """Returns the weights (outputs, inputs)."""
        size = self.moments.diag().clamp(min=1e-30).sqrt()
        # Columns are scaled to one size. Otherwise biases would be lost beside pooled values, which are larger.
        moments = self.moments / size / size[:, None] + DAMPING * torch.eye(len(size), dtype=torch.float64)
        return (torch.linalg.solve(moments, self.products / size[:, None]) / size[:, None]).T.float()


class Heads:
    """All layers after the last block, as one part for `parts.py`."""

    def __init__(self, network: Network, teacher: Teacher) -> None:
        self.network, self.teacher = network, teacher

    def name(self) -> str:
        """Returns the name of the part."""
        return "heads"

    def module(self) -> nn.Module:
        """Returns the module that is solved for."""
        return nn.ModuleDict({name: getattr(self.network, name) for name in ("trunk_norm", *LINEAR, *NORMS)})

    def needs_outside(self, index: int) -> bool:
        """Returns whether the part needs the input of block `index`. It needs only the output of the last block, whose
        index is the number of blocks."""
        return index == len(self.network.blocks)

    def needs_inside(self, block: int, index: int) -> bool:
        """Returns whether activations inside a block are needed."""
        return False

    @torch.no_grad()
    def measured(self, batches: list[Any]) -> float:
        """Returns the squared error of the outputs as a share of their variance, averaged over outputs and batches."""
        total = 0.0
        for like, _, outside, _ in batches:
            wanted = self.teacher.answer(outside[-1], Board.of(like))
            found = self.network.answer(by_planes(outside[-1], like), Area(float(like.shape[2] * like.shape[3]), None))
            for name in ("policy", "value", "score", "ownership"):
                one, other = (getattr(it, name) for it in (found, wanted))
                total += float((one - other).square().sum() / (other - other.mean()).square().sum().clamp(min=1e-12))
        return total / (4 * len(batches))

    @torch.no_grad()
    def solve(self, batches: list[Any]) -> None:
        """Solves for all layers, with the teacher's inputs and outputs on these batches."""
        sums: dict[str, Sums] = {name: Sums() for name in LINEAR}
        rows: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {name: [] for name in ("tip", *NORMS)}
        hooks: list[Any] = []

        def listen(name: str, take: Callable[[torch.Tensor, torch.Tensor], None]) -> None:
            module = getattr(self.teacher, name)
            hooks.append(module.register_forward_hook(lambda _, given, written: take(given[0], written)))

        def linear(name: str, read: torch.Tensor, written: torch.Tensor) -> None:
            read = read.flatten(0, -2)
            if getattr(self.network, name).bias is not None:
                read = F.pad(read, (0, 1), value=1.0)
            sums[name].add(read, written.flatten(0, -2))

        def keep(name: str, read: torch.Tensor, written: torch.Tensor) -> None:
            rows[name].append((read.flatten(0, -2), written.flatten(0, -2)))

        for name, other in LINEAR.items():
            listen(other, functools.partial(linear, name))
        for name in NORMS:
            listen(name, functools.partial(keep, name))
        norm: Any = self.network.trunk_norm

        def tip(read: torch.Tensor, written: torch.Tensor) -> None:
            keep("tip", norm.normed(read, Area(float(read.shape[1]), None)), written)

        listen("tip", tip)
        for like, _, outside, _ in batches:
            self.teacher.answer(outside[-1], Board.of(like))
        for hook in hooks:
            hook.remove()

        for name in LINEAR:
            layer, found = getattr(self.network, name), sums[name].solved()
            if layer.bias is not None:
                layer.bias.copy_(found[:, -1])
                found = found[:, :-1]
            layer.weight.copy_(found.reshape(layer.weight.shape))
        for name, pairs in rows.items():
            read, written = (torch.cat(side) for side in zip(*pairs))
            chosen = torch.randperm(len(read), generator=torch.Generator().manual_seed(1))[:ROWS]
            scale, bias = scale_and_bias(read[chosen], written[chosen])
            if name == "tip":
                norm.scale.copy_(scale)
                norm.bias.copy_(bias)
                continue
            getattr(self.network, name).bias.copy_(bias)
            for layer in NORMS[name]:
                weight = getattr(self.network, layer).weight
                weight.mul_(scale.reshape(-1, *[1] * (weight.ndim - 1)))
