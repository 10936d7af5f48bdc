"""Rounds a network's weights to four to five bits, for a compact file.

Every large weight becomes a whole multiple of its matrix's step, which is a share of the root mean square of the
matrix. `gzip` then stores it in four to five bits. Kosumi reads such files, and `kosumi net convert` converts them for
KataGo.

Rounding weights one by one would spoil the network at such steps. So the inputs of every matrix are measured on
positions of the shards. The error from rounding one input's weights is then compensated by the weights of later inputs,
as far as the inputs correlate. Transformers are rounded from the first block to the last, and each layer reads the
outputs of the rounded layers before it. Where a layer adds to the residual, its weights are first solved for by least
squares, to compensate the error so far.

CITE: Frantar et al., "GPTQ: Accurate post-training quantization for generative pre-trained transformers" (2022), for
the order of inputs by activation and the damping. CITE: Gish and Pierce, "Asymptotically efficient quantizing" (1968):
coarse uniform steps with an entropy code are cheapest.

The scales of norms inside transformer blocks are first moved into the weights that follow them, which changes no
output.

Weights that already are multiples of a step stay unchanged. So the heads can be trained again on the outputs of the
rounded blocks (`distil heads`), before the file is written again.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from . import katago_file, teacher
from .model import Area, AttentionBlock, FeedForwardBlock, NestedBlock, Network, Norm, by_points
from .shards import Batch, Stream, at_most

# Step of the heads, as a share of the step inside blocks. An error in the heads reaches the outputs directly.
FINER = 0.25

# Default step of the last block, as a share of the other blocks' step. No later block compensates its error, and the
# value depends on it where one point decides the game.
FINER_LAST = 0.5

# Number of elements of the smallest matrix that is rounded to multiples of a step.
MIN_ELEMENTS = 15_000

# Mantissa bits of weights without a step. No other weight can compensate their error.
BITS = 10

# Share of the mean second moment that is added to all of them: inputs that never occurred must not take over any error.
DAMPING = 0.01

# Share of the mean second moment that damps the correction of weights for the error of earlier layers.
CORRECTION_DAMPING = 1e-3

# Layers in `model.py` that read the same input, and the name of their common layer in `teacher.py`.
SAME_INPUT = {"q": "qkv", "k": "qkv", "v": "qkv", "first": "both", "gate": "both", "score": "scores"}


@torch.no_grad()
def fold_norms(network: Network) -> None:
    """Moves the scales of the norms inside transformer blocks into the weights that follow them."""
    for block in network.modules():
        if isinstance(block, AttentionBlock):
            following = [block.q, block.k, block.v]
        elif isinstance(block, FeedForwardBlock):
            following = [block.first, block.gate]
        else:
            continue
        for layer in following:
            layer.weight.mul_(block.norm.scale)
        block.norm.scale.fill_(1.0)


@torch.no_grad()
def second_moments(network: Network, data: Path, positions: int, points: int) -> dict[str, torch.Tensor]:
    """Returns the mean of x xᵀ over the inputs x of every matrix, by the matrix's name in `teacher.py`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.bin.gz"
        katago_file.write(path, "network", network)
        teacher_network = teacher.read(path)
    sums: dict[str, torch.Tensor] = {}
    counts: dict[str, int] = {}
    for name, layer in teacher_network.named_modules():
        if isinstance(layer, nn.Linear):

            def seen(name: str, _layer: Any, given: tuple[torch.Tensor, ...], _written: Any) -> None:
                rows = given[0].reshape(-1, given[0].shape[-1]).float()
                sums[name] = sums.get(name, 0) + rows.T @ rows
                counts[name] = counts.get(name, 0) + len(rows)

            layer.register_forward_hook(functools.partial(seen, name))
    for batch in some(data, positions, points):
        teacher_network(batch.spatial, batch.globals_)
    return {name: total / counts[name] for name, total in sums.items()}


def step_of(weight: torch.Tensor, wanted: float) -> float:
    """Returns the step of a matrix: the wanted one, or a larger one if the largest weight needs it. A weight is at most
    127 steps, and 12 of them are a margin for corrections."""
    return max(wanted, float(weight.abs().max()) / 115)


def step_in(weight: torch.Tensor) -> float | None:
    """Returns the step of a matrix whose weights already are multiples of one, as in a compact file, or `None`."""
    sizes = weight[weight != 0].abs()
    if not len(sizes):
        return None
    step = sizes.min()
    counts = sizes / step
    return float(step) if bool(((counts - counts.round()).abs() < 0.01).all() and counts.max() < 128) else None


def multiples(weight: torch.Tensor, moments: torch.Tensor, step: float) -> torch.Tensor:
    """Returns integer multiples of the step for a matrix `weight` (outputs, inputs). They keep the outputs near the
    original ones, for inputs with these second moments (inputs, inputs)."""
    weight, moments = weight.double().clone(), moments.double()
    moments = moments + torch.eye(len(moments), dtype=torch.float64) * (DAMPING * moments.diag().mean() + 1e-12)
    order = torch.argsort(moments.diag(), descending=True)
    weight, moments = weight[:, order], moments[order][:, order]
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(moments))
    passed_on = torch.linalg.cholesky(inverse, upper=True)
    found = torch.zeros_like(weight)
    for at in range(weight.shape[1]):
        found[:, at] = torch.round(weight[:, at] / step).clamp(-127, 127)
        off = (weight[:, at] - found[:, at] * step) / passed_on[at, at]
        weight[:, at + 1 :] -= off[:, None] * passed_on[at, at + 1 :]
    restored = torch.empty_like(found)
    restored[:, order] = found
    return restored.float()


class Inputs:
    """Second moments of the inputs of a matrix, and their correlation with the errors of its outputs."""

    def __init__(self) -> None:
        self.moments: Any = 0.0
        self.missing: Any = 0.0
        self.count = 0

    def add(self, read: torch.Tensor, lacking: torch.Tensor | None = None) -> None:
        """Adds inputs at some points (…, inputs), and the errors of the outputs there (…, outputs)."""
        read = read.flatten(0, -2)
        self.moments = self.moments + (read.T @ read).double()
        self.count += len(read)
        if lacking is not None:
            self.missing = self.missing + (lacking.flatten(0, -2).T @ read).double()

    def mean(self) -> torch.Tensor:
        """Returns the mean second moments."""
        return (self.moments / self.count).float()

    def correction(self) -> torch.Tensor:
        """Returns the change of the weights (outputs, inputs) that minimises the errors of the outputs, by damped least
        squares."""
        damping = CORRECTION_DAMPING * self.moments.diag().mean()
        damped = self.moments + damping * torch.eye(len(self.moments), dtype=torch.float64)
        return torch.linalg.solve(damped, self.missing.T).T.float()


@dataclasses.dataclass
class Boards:
    """Activations on boards of one size, in two networks: the rounded one (`own`) and the original (`meant`)."""

    own: torch.Tensor
    meant: torch.Tensor
    area: Area
    rows: int
    columns: int


class Rounding:
    """Rounds a transformer block by block."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.steps: dict[nn.Parameter, float] = {}

    def round(self, layer: nn.Module, inputs: Inputs, size: float) -> None:
        """Rounds a layer's weights. The step is a share of `size`, the root mean square of the original weights."""
        matrix = layer.weight.flatten(1)
        if matrix.numel() < MIN_ELEMENTS:
            return
        if step := step_in(matrix):
            self.steps[layer.weight] = step
            return
        step = step_of(matrix, self.share * size)
        layer.weight.copy_((multiples(matrix, inputs.mean(), step) * step).view_as(layer.weight))
        self.steps[layer.weight] = step

    def adding(
        self, layer: nn.Module, read: list[torch.Tensor], own: list[torch.Tensor], meant: list[torch.Tensor]
    ) -> list[torch.Tensor]:
        """Rounds a layer that adds its output for `read` to `own`, so that the sum is near `meant`. Returns the
        sums."""
        inputs, size = Inputs(), float(layer.weight.square().mean().sqrt())
        for x, y, wanted in zip(read, own, meant):
            inputs.add(x, wanted - y - x @ layer.weight.flatten(1).T)
        if step_in(layer.weight) is None:
            layer.weight.add_(inputs.correction().view_as(layer.weight))
        self.round(layer, inputs, size)
        return [y + x @ layer.weight.flatten(1).T for x, y in zip(read, own)]

    def nested(self, block: NestedBlock, like: NestedBlock, boards: list[Boards]) -> None:
        """Rounds a nested block. Moves all boards to the outputs of the block and of its original."""

        def activated(x: torch.Tensor, norm: Norm) -> torch.Tensor:
            return (F.silu if block.silu else F.relu)(norm.scaled_columns(x) + norm.bias)

        meant = [activated(it.meant, like.norm1) @ like.conv1.weight.flatten(1).T for it in boards]
        nothing = [torch.zeros_like(it) for it in meant]
        own = self.adding(block.conv1, [activated(it.own, block.norm1) for it in boards], nothing, meant)
        inside = [dataclasses.replace(it, own=x, meant=y) for it, x, y in zip(boards, own, meant)]
        for part, other in zip(block.blocks, like.blocks):
            self.block(part, other, inside)
        for it, part in zip(boards, inside):
            it.meant = it.meant + activated(part.meant, like.norm2) @ like.conv2.weight.flatten(1).T
        read = [activated(part.own, block.norm2) for part in inside]
        sums = self.adding(block.conv2, read, [it.own for it in boards], [it.meant for it in boards])
        for it, x in zip(boards, sums):
            it.own = x

    def block(self, block: nn.Module, like: nn.Module, boards: list[Boards]) -> None:
        """Rounds a block. Moves all boards to the outputs of the block and of its original."""
        if isinstance(block, NestedBlock):
            self.nested(block, like, boards)
            return
        is_attention = isinstance(block, AttentionBlock)

        def inner(of: nn.Module, read: torch.Tensor, it: Boards) -> torch.Tensor:
            return of.mixed(read, it.area, it.rows, it.columns) if is_attention else of.hidden(read)

        read, inputs = [block.norm(it.own) for it in boards], Inputs()
        for x in read:
            inputs.add(x)
        for layer in (block.q, block.k, block.v) if is_attention else (block.first, block.gate):
            self.round(layer, inputs, float(layer.weight.square().mean().sqrt()))
        last, wanted = (block.out, like.out) if is_attention else (block.last, like.last)
        for it in boards:
            it.meant = it.meant + inner(like, like.norm(it.meant), it) @ wanted.weight.T
        read = [inner(block, x, it) for x, it in zip(read, boards)]
        for it, x in zip(boards, self.adding(last, read, [it.own for it in boards], [it.meant for it in boards])):
            it.own = x


def some(data: Path, positions: int, points: int) -> Iterator[Batch]:
    """Yields batches of at most `points` points each, until they have `positions` positions in total."""
    done = 0
    for batch in Stream(data, 64, 1, 16):
        batch = at_most(batch, points)
        yield batch
        done += len(batch)
        if done >= positions:
            return


@torch.no_grad()
def compact_blocks(
    network: Network, data: Path, positions: int, share: float, finer_last: float = 1.0
) -> dict[nn.Parameter, float]:
    """Rounds the large weights of a transformer's blocks. In the last block, the step is `finer_last` times as large.

    Returns the steps.
    """
    like, rounding = copy.deepcopy(network), Rounding(share)
    boards = []
    for batch in some(data, positions, 2048):
        x, area = network.stem(batch.spatial, batch.globals_)
        points = by_points(x).contiguous()
        boards.append(Boards(points, points, area, *x.shape[2:]))
    for index, (block, other) in enumerate(zip(network.blocks, like.blocks)):
        if index == len(network.blocks) - 1:
            rounding.share = share * finer_last
        rounding.block(block, other, boards)
    return rounding.steps


@torch.no_grad()
def compact(
    network: Network, moments: dict[str, torch.Tensor], share: float, done: dict[nn.Parameter, float] | None = None
) -> dict[nn.Parameter, float]:
    """Rounds the network's large weights except those in `done`. Returns all steps, for `katago_file.write`."""
    steps = dict(done or {})
    for name, weight in network.named_parameters():
        if weight.ndim < 2 or weight.numel() < MIN_ELEMENTS or weight in steps:
            continue
        layer = name.removesuffix(".weight")
        *path, last = layer.split(".")
        seen = moments.get(".".join([*path, SAME_INPUT.get(last, last)]))
        if seen is None:
            # A convolution over several points has few weights, of very different sizes.
            weight.copy_(torch.from_numpy(katago_file.rounded(weight.numpy(), BITS)))
            continue
        own = share if path else share * FINER
        if step := step_in(weight):
            steps[weight] = step
            continue
        step = step_of(weight, own * float(weight.square().mean().sqrt()))
        matrix = weight.flatten(1)
        weight.copy_((multiples(matrix, seen, step) * step).view_as(weight))
        steps[weight] = step
    return steps


def compacted(
    network: Network, data: Path, share: float, finer_last: float, positions: int
) -> dict[nn.Parameter, float]:
    """Rounds all large weights of a network, with inputs measured on `positions` positions. Returns the steps."""
    fold_norms(network)
    done: dict[nn.Parameter, float] = {}
    if network.shape.is_transformer:
        done = compact_blocks(network, data, positions, share, finer_last)
    return compact(network, second_moments(network, data, positions, 2048), share, done)
