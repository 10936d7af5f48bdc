#!/usr/bin/env python3
"""Writes a network as a compact file: compact.py NETWORK.bin.gz --data SHARDS --out FILE.compact.gz

Every large weight becomes a whole multiple of its matrix's step, which is a share of the root of its mean square (`--share`); `gzip` then
finds four to five bits in it. Kosumi reads such files, `kosumi net convert` makes files for KataGo of them.

Rounded one by one, weights would spoil the network at such steps. So the inputs of every matrix are looked at, on positions of the
shards: what the rounding of one input's weights is off is made good by the weights of the inputs after it, as far as inputs
go with each other. And transformers are rounded from the first block to the last: each layer reads what the rounded ones before it
write, and where it adds to the residual, its weights first become those (least squares) that come nearest to what should be there now.
CITE: Frantar et al., "GPTQ: Accurate post-training quantization for generative pre-trained transformers" (2022), its order of inputs
by activation and its damping. That coarse even steps with a code of variable length are the cheapest: Gish and Pierce 1968.

Scales of norms inside transformers' blocks go into the weights behind them first; no answer changes by that.

What is whole multiples of a step already stays as it is: so the last layers may learn once more, from what the rounded blocks write
(`hints.py --start FOLDER --blocks 0`), before the file is written again.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import os
import tempfile
from pathlib import Path
from typing import Iterator

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
import torch.nn.functional as F
from torch import nn

import fast
import katago_file
import teacher
from data import Batch, Stream, all_batches
from hints import at_most, told
from losses import measures
from model import Area, AttentionBlock, FeedForwardBlock, NestedBlock, Network, Norm, by_points

# The steps of the layers that give the answers are finer, this share of those inside blocks: what is off there shows at once.
FINER = 0.25

# The same of the last block, if nothing else is asked for: what it is off nothing makes good, and where a point decides an answer turns on it.
FINER_LAST = 0.5

# Weights with fewer numbers than this are left as they are.
LEAST = 15_000

# Bits behind the leading one of weights that no other can make good, and that have no step.
BITS = 10

# What of the mean second moment is added to all: inputs that were never seen must not take any error.
DAMPING = 0.01

# The same where weights become those that make good what earlier layers are off.
CORRECTION_DAMPING = 1e-3

# The layers that read the same numbers in `teacher.py` and in `model.py`.
SAME_INPUT = {"q": "qkv", "k": "qkv", "v": "qkv", "first": "both", "gate": "both", "score": "scores"}


@torch.no_grad()
def fold_norms(network: Network) -> None:
    """Scales of the norms inside transformers' blocks, into the weights that follow."""
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
    """Of the inputs of every matrix, by the matrix's name in `teacher.py`: the mean of x xᵀ."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.bin.gz"
        katago_file.write(path, "network", network)
        asked = teacher.read(path)
    sums: dict[str, torch.Tensor] = {}
    counts: dict[str, int] = {}
    for name, layer in asked.named_modules():
        if isinstance(layer, nn.Linear):

            def seen(_layer, given, _written, name=name):
                rows = given[0].reshape(-1, given[0].shape[-1]).float()
                sums[name] = sums.get(name, 0) + rows.T @ rows
                counts[name] = counts.get(name, 0) + len(rows)

            layer.register_forward_hook(seen)
    for batch in some(data, positions, points):
        asked(batch.spatial, batch.globals_)
    return {name: total / counts[name] for name, total in sums.items()}


def step_of(weight: torch.Tensor, wanted: float) -> float:
    """The step for a matrix: the one that is wanted, unless a weight would need more than 127 of it. There is some room for what weights make
    good of others."""
    return max(wanted, float(weight.abs().max()) / 115)


def step_in(weight: torch.Tensor) -> float | None:
    """The step of a matrix that is whole multiples of one already, as in a network that came from a compact file."""
    sizes = weight[weight != 0].abs()
    if not len(sizes):
        return None
    step = sizes.min()
    counts = sizes / step
    return float(step) if bool(((counts - counts.round()).abs() < 0.01).all() and counts.max() < 128) else None


def multiples(weight: torch.Tensor, moments: torch.Tensor, step: float) -> torch.Tensor:
    """Whole numbers, so many times the step that the outputs stay near those of `weight` (outputs, inputs) where inputs have
    these second moments (inputs, inputs)."""
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
    """What is known of what a matrix reads, and of what its outputs lack."""

    def __init__(self):
        self.moments = self.missing = 0.0
        self.count = 0

    def add(self, read: torch.Tensor, lacking: torch.Tensor | None = None) -> None:
        """Of points (…, inputs), and (…, outputs)."""
        read = read.flatten(0, -2)
        self.moments = self.moments + (read.T @ read).double()
        self.count += len(read)
        if lacking is not None:
            self.missing = self.missing + (lacking.flatten(0, -2).T @ read).double()

    def mean(self) -> torch.Tensor:
        """The mean second moments."""
        return (self.moments / self.count).float()

    def correction(self) -> torch.Tensor:
        """What weights (outputs, inputs) must be added that outputs lack least: least squares, damped where inputs tell little."""
        damping = CORRECTION_DAMPING * self.moments.diag().mean()
        damped = self.moments + damping * torch.eye(len(self.moments), dtype=torch.float64)
        return torch.linalg.solve(damped, self.missing.T).T.float()


@dataclasses.dataclass
class Boards:
    """Boards of one size on their way through two networks: the one that is rounded, and the one that is meant."""

    own: torch.Tensor
    meant: torch.Tensor
    area: Area
    rows: int
    columns: int


class Rounding:
    """Rounds a transformer block by block."""

    def __init__(self, share: float):
        self.share = share
        self.steps: dict[nn.Parameter, float] = {}

    def round(self, layer: nn.Module, inputs: Inputs, size: float) -> None:
        """Rounds a layer's weights. The step is a share of `size`, the root of the mean square of the weights as they were."""
        matrix = layer.weight.flatten(1)
        if matrix.numel() < LEAST:
            return
        if step := step_in(matrix):
            self.steps[layer.weight] = step
            return
        step = step_of(matrix, self.share * size)
        layer.weight.copy_((multiples(matrix, inputs.mean(), step) * step).view_as(layer.weight))
        self.steps[layer.weight] = step

    def adding(self, layer: nn.Module, read: list[torch.Tensor], own: list[torch.Tensor], meant: list[torch.Tensor]) -> list[torch.Tensor]:
        """Rounds a layer that adds what it makes of `read` to `own`, such that the sum is near `meant`. Returns the sums."""
        inputs, size = Inputs(), float(layer.weight.square().mean().sqrt())
        for x, y, wanted in zip(read, own, meant):
            inputs.add(x, wanted - y - x @ layer.weight.flatten(1).T)
        if step_in(layer.weight) is None:
            layer.weight.add_(inputs.correction().view_as(layer.weight))
        self.round(layer, inputs, size)
        return [y + x @ layer.weight.flatten(1).T for x, y in zip(read, own)]

    def nested(self, block: NestedBlock, like: NestedBlock, boards: list[Boards]) -> None:
        def bent(x: torch.Tensor, norm: Norm) -> torch.Tensor:
            return (F.silu if block.silu else F.relu)(norm.scaled_columns(x) + norm.bias)

        meant = [bent(it.meant, like.norm1) @ like.conv1.weight.flatten(1).T for it in boards]
        nothing = [torch.zeros_like(it) for it in meant]
        own = self.adding(block.conv1, [bent(it.own, block.norm1) for it in boards], nothing, meant)
        inside = [dataclasses.replace(it, own=x, meant=y) for it, x, y in zip(boards, own, meant)]
        for part, other in zip(block.blocks, like.blocks):
            self.block(part, other, inside)
        for it, part in zip(boards, inside):
            it.meant = it.meant + bent(part.meant, like.norm2) @ like.conv2.weight.flatten(1).T
        read = [bent(part.own, block.norm2) for part in inside]
        for it, x in zip(boards, self.adding(block.conv2, read, [it.own for it in boards], [it.meant for it in boards])):
            it.own = x

    def block(self, block: nn.Module, like: nn.Module, boards: list[Boards]) -> None:
        """Takes all boards through a block, which is rounded, and through the same as it was."""
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
    """Batches of so many points at most, of so many positions in all."""
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
    """Rounds the large weights of a transformer's blocks, those of the last one in steps of `finer_last` times the others'. Their steps."""
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
    """Rounds the network's large weights but those that are done. All steps, for `katago_file.write`."""
    steps = dict(done or {})
    for name, weight in network.named_parameters():
        if weight.ndim < 2 or weight.numel() < LEAST or weight in steps:
            continue
        layer = name.removesuffix(".weight")
        *path, last = layer.split(".")
        seen = moments.get(".".join([*path, SAME_INPUT.get(last, last)]))
        if seen is None:
            # A window of several points: not many numbers, of very different sizes.
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


@torch.no_grad()
def distance(one: Network, other: Network, data: Path, positions: int) -> None:
    """Prints how far two networks' answers are from each other, by board."""
    totals: dict[tuple[int, int], dict[str, float]] = {}
    for batch in all_batches(data, "validation", 16, positions):
        told(other(batch.spatial, batch.globals_), batch)
        found = totals.setdefault(batch.size, {})
        for name, value in measures(one(batch.spatial, batch.globals_), batch).items():
            found[name] = found.get(name, 0.0) + float(value)
    for (columns, rows), found in sorted(totals.items()):
        numbers = {
            name: round(found[f"teacher_{name}"] / found[f"teacher_{name}/count"], 4)
            for name in ("policy", "value", "ownership")
        }
        print(f"{columns}x{rows}", *(f"{name} {value}" for name, value in numbers.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="folder of shards, with positions for training and to compare on")
    parser.add_argument("--out", type=Path, required=True, help="the compact file")
    parser.add_argument("--name", help="name within the file [the network's]")
    parser.add_argument("--share", type=float, default=0.3, help="a step, as a share of the weights' size [%(default)s]")
    parser.add_argument("--finer-last", type=float, default=FINER_LAST, help="steps of the last block, as a share of the others' [%(default)s]")
    parser.add_argument("--positions", type=int, default=512, help="to look at inputs on [%(default)s]")
    parser.add_argument("--compared", type=int, default=64, help="positions of each size to compare on at the end [%(default)s]")
    parser.add_argument("--threads", type=int, help="CPU threads [all]")
    options = parser.parse_args()
    fast.prepare(options.threads or os.cpu_count() or 1)
    name, network = katago_file.read(options.network)
    fold_norms(network)
    done = {}
    if network.shape.is_transformer:
        done = compact_blocks(network, options.data, options.positions, options.share, options.finer_last)
    moments = second_moments(network, options.data, options.positions, 2048)
    steps = compact(network, moments, options.share, done)
    katago_file.write(options.out, options.name or name, network, steps=steps)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes", flush=True)
    _, before = katago_file.read(options.network)
    _, after = katago_file.read(options.out)
    distance(after, before, options.data, options.compared)


if __name__ == "__main__":
    main()
