"""The last layers, solved for: what `parts.py` makes of them where the teacher's are those of today's transformers.

All of them are linear but for SiLU between them, so each is found from what the teacher's layer in its place reads and writes: weights and
biases by least squares, the scale and bias in front of a SiLU channel by channel. They come out so near to the teacher's that what is off is
what goes into them. Taught by answers alone, wider ones with ReLU stayed 0.02 nats off in policy, and 0.2 in value where a point decides.
"""

from __future__ import annotations

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn

import teacher
from model import Area, Network, by_planes

# What of the mean second moment keeps weights small that no position tells anything of.
DAMPING = 1e-9

# Steps of the search for a channel's scale and bias, and rows that it looks at; it converges in a few.
STEPS, ROWS = 20, 20_000

# The layers by their names in `model.py` and in `teacher.py`.
LINEAR = {
    "p1": "p1", "g1": "g1", "from_g1": "from_g1", "p2": "p2", "policy_pass": "policy_pass", "pass_last": "pass_last",
    "v1": "v1", "v2": "v2", "v3": "v3", "score": "scores", "ownership": "ownership",
}  # fmt: skip

# What is bent, and the layers that write it: these take its scale, as norms of these heads have a bias alone.
BENT = {"g1_norm": ("g1",), "p1_norm": ("p1", "from_g1"), "v1_norm": ("v1",)}


def is_smooth(asked: teacher.Teacher) -> bool:
    """Are the last layers of a teacher of the kind that is found here?"""
    if asked.pass_last is None or not getattr(asked.tip, "whole", False):
        return False
    activations = [getattr(asked, name).activation for name in ("tip", *BENT)] + [asked.v2_activation, asked.pass_activation]
    return all(it is F.silu for it in activations)


def with_heads_like(network: Network, asked: teacher.Teacher) -> Network:
    """The network with last layers as wide as the teacher's, which know nothing yet; or itself if it has such."""
    shape = dataclasses.replace(
        network.shape, policy=asked.p1.out_features, value=asked.v1.out_features, value_hidden=asked.v2.out_features, smooth_heads=True
    )
    if shape == network.shape:
        return network
    found = Network(shape)
    found.conv1, found.from_global, found.blocks = network.conv1, network.from_global, network.blocks
    return found


# Where SiLU is least: it falls on the left, and rises on the right.
LEAST_AT = -1.2784645

# What is nearer to 0 than this is not traced back.
CLEAR = 0.02


def inverse_of_silu(written: torch.Tensor, is_right: bool) -> torch.Tensor:
    """Where SiLU is this, on one side of its least value."""
    low = torch.full_like(written, LEAST_AT if is_right else -40.0)
    high = written.abs() + 3.0 if is_right else torch.full_like(written, LEAST_AT)
    for _ in range(50):
        middle = (low + high) / 2
        is_below = (F.silu(middle) < written) == is_right
        low, high = middle.where(is_below, low), high.where(is_below, middle)
    return (low + high) / 2


def lines(read: torch.Tensor, target: torch.Tensor, weight: torch.Tensor, damping: torch.Tensor | float) -> tuple[torch.Tensor, torch.Tensor]:
    """Slope and offset of the weighted least squares of each channel."""
    a, b, c = (weight * read * read).sum(0), (weight * read).sum(0), weight.sum(0)
    a, c = a * (1 + damping) + 1e-12, c * (1 + damping) + 1e-12
    d, e = (weight * read * target).sum(0), (weight * target).sum(0)
    size = a * c - b * b
    return (d * c - e * b) / size, (e * a - d * b) / size


def searched(
    read: torch.Tensor, written: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scale and bias of each channel that steps come to from here, and what they leave.

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
    """For each channel of `read` (rows, channels) the scale and bias behind which SiLU comes nearest to `written`. The search begins with a line
    through what SiLU can be traced back from, on either side of its least value."""
    read, written = read.double(), written.double()
    tried = []
    for is_right in (True, False):
        clear = (written > CLEAR) if is_right else (written < -CLEAR)
        bent = inverse_of_silu(written.where(clear, CLEAR if is_right else -CLEAR), is_right)
        scale, bias = lines(read, bent, clear.double(), 1e-9)
        few = (clear.sum(0) < 8) | ~torch.isfinite(scale + bias)
        tried.append(searched(read, written, scale.where(~few, 1.0), bias.where(~few, 0.0)))
    (scale, bias, left), (other_scale, other_bias, other_left) = tried
    better = other_left < left
    return other_scale.where(better, scale).float(), other_bias.where(better, bias).float()


class Sums:
    """Least squares over rows that come batch by batch."""

    def __init__(self):
        self.moments = self.products = 0.0

    def add(self, read: torch.Tensor, written: torch.Tensor) -> None:
        read, written = read.double(), written.double()
        self.moments = self.moments + read.T @ read
        self.products = self.products + read.T @ written

    def solved(self) -> torch.Tensor:
        """(outputs, inputs)"""
        size = self.moments.diag().clamp(min=1e-30).sqrt()
        # Columns as large as each other: biases beside pooled numbers would be lost otherwise.
        moments = self.moments / size / size[:, None] + DAMPING * torch.eye(len(size), dtype=torch.float64)
        return (torch.linalg.solve(moments, self.products / size[:, None]) / size[:, None]).T.float()


class Heads:
    """What comes behind the last block."""

    def __init__(self, network: Network, asked: teacher.Teacher):
        self.network, self.asked = network, asked

    def name(self) -> str:
        return "heads"

    def module(self) -> nn.Module:
        return nn.ModuleDict({name: getattr(self.network, name) for name in ("trunk_norm", *LINEAR, *BENT)})

    def needs_outside(self, index: int) -> bool:
        return index == len(self.network.blocks)

    def needs_inside(self, block: int, index: int) -> bool:
        return False

    @torch.no_grad()
    def measured(self, batches: list) -> float:
        """How far off the answers are on average, as a share of what is told apart by them (mean squares)."""
        total = 0.0
        for like, _, outside, _ in batches:
            wanted = self.asked.answer(outside[-1], teacher.Board.of(like))
            found = self.network.answer(by_planes(outside[-1], like), Area(float(like.shape[2] * like.shape[3]), None))
            for name in ("policy", "value", "score", "ownership"):
                one, other = (getattr(it, name) for it in (found, wanted))
                total += float((one - other).square().sum() / (other - other.mean()).square().sum().clamp(min=1e-12))
        return total / (4 * len(batches))

    @torch.no_grad()
    def solve(self, batches: list) -> None:
        """Finds all layers."""
        sums: dict[str, Sums] = {name: Sums() for name in LINEAR}
        rows: dict[str, list[tuple[torch.Tensor, torch.Tensor]]] = {name: [] for name in ("tip", *BENT)}
        hooks = []

        def listen(name: str, take) -> None:
            hooks.append(getattr(self.asked, name).register_forward_hook(lambda _, given, written: take(given[0], written)))

        def linear(name: str, read: torch.Tensor, written: torch.Tensor) -> None:
            read = read.flatten(0, -2)
            if getattr(self.network, name).bias is not None:
                read = F.pad(read, (0, 1), value=1.0)
            sums[name].add(read, written.flatten(0, -2))

        for name, other in LINEAR.items():
            listen(other, lambda read, written, name=name: linear(name, read, written))
        for name in BENT:
            listen(name, lambda read, written, name=name: rows[name].append((read.flatten(0, -2), written.flatten(0, -2))))
        norm = self.network.trunk_norm

        def tip(read: torch.Tensor, written: torch.Tensor) -> None:
            rows["tip"].append((norm.normed(read, Area(float(read.shape[1]), None)).flatten(0, -2), written.flatten(0, -2)))

        listen("tip", tip)
        for like, _, outside, _ in batches:
            self.asked.answer(outside[-1], teacher.Board.of(like))
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
            for layer in BENT[name]:
                weight = getattr(self.network, layer).weight
                weight.mul_(scale.reshape(-1, *[1] * (weight.ndim - 1)))
