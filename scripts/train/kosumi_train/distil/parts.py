"""The stage `distil parts`: every part of a network is trained separately, one after the other.

A part is one of the 1×1 convolutions around a nested block, one of the blocks between them, the stem, or the heads. In
`distil blocks`, all parts learn at once, at one rate, from a stream. Here the teacher first computes its activations on
a pool of positions, as many as fit into memory. Then every part is trained on the inputs and outputs of the teacher's
corresponding part, for a set time, at a rate that falls to zero: at a constant rate, most of a part's error is the
noise of its steps. Most of the time goes to the parts with the largest errors, the feed-forward blocks.

Convolutions are solved for (`fit`). Units of feed-forward blocks are changed where steps cannot lead to the right ones
(`turn`). Attention heads get rotations that steps do not find (`rotations.py`). The stem and the network's heads are
linear or nearly so, and are solved for as well.

Several processes may run on one folder, and each takes the next free part. After a stop, the same command continues,
and only the parts in progress are lost. When the last part is done, its process writes the network.
"""

from __future__ import annotations

import argparse
import copy
import fcntl
import functools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from .. import fast, katago_file, optimiser, runs
from .. import options as shared
from ..komi import even_komi, odd_komi
from ..model import Area, AttentionBlock, FeedForwardBlock, NestedBlock, Network, by_planes, by_points
from ..shards import Stream, at_most
from ..teacher import Teacher
from ..teacher import read as read_teacher
from . import rotations
from .blocks import Recorder, error_of, kinds
from .heads import Heads, is_smooth, with_heads_like

# One batch in this many is held back. The errors of parts are measured on these batches.
HELD_BACK = 16

# Largest number of points in a batch of the teacher, and in a step of attention.
TOGETHER = 3072

# A batch of a pool: spatial and global features, inputs and outputs of blocks, and inputs and outputs inside each
# block. `None` stands for activations that no chosen part needs.
PoolBatch = tuple[torch.Tensor, torch.Tensor, list[Any], list[list[Any]]]
# A batch of a part: a tensor with the shape of the boards, the part's input, its wanted output, the residual (what the
# output contains without the part), and the weight of every point.
Pair = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


class Part:
    """One part of a nested block."""

    def __init__(self, block: int, index: int, within: NestedBlock) -> None:
        self.block, self.index, self.within = block, index, within
        self.inner: Any = within.blocks[index - 1] if 0 < index <= len(within.blocks) else None

    def name(self) -> str:
        """Returns the name of the part: the numbers of its block and of its place in the block, such as `4-2`."""
        return f"{self.block}-{self.index}"

    def module(self) -> nn.Module:
        """Returns the module that is trained."""
        if self.inner is not None:
            return self.inner
        names = ("norm1", "conv1") if self.index == 0 else ("norm2", "conv2")
        return nn.ModuleDict({name: getattr(self.within, name) for name in names})

    def seconds(self, options: argparse.Namespace) -> float:
        """Returns the CPU seconds for which the part is trained."""
        if self.inner is None:
            return options.convolution
        return options.attention if self.sees_boards() else options.feed_forward

    def rate(self, options: argparse.Namespace) -> float:
        """Returns the learning rate at the beginning of the training."""
        return options.attention_rate if self.sees_boards() else options.rate

    def needs_outside(self, index: int) -> bool:
        """Returns whether the part needs the input of block `index`, which is the output of the block before it."""
        last = len(self.within.blocks) + 1
        return (index == self.block and self.index in (0, last)) or (index == self.block + 1 and self.index == last)

    def needs_inside(self, block: int, index: int) -> bool:
        """Returns whether the part needs activation number `index` inside a block, as its input or output."""
        return block == self.block and index in (self.index - 1, self.index)

    def sees_boards(self) -> bool:
        """Returns whether the points of a board interact in the part."""
        return self.inner is not None and not isinstance(self.inner, FeedForwardBlock)

    def activated(self, read: torch.Tensor) -> torch.Tensor:
        """Returns the activated inputs of a convolution, given the teacher's activations (…, channels)."""
        norm = self.within.norm1 if self.index == 0 else self.within.norm2
        return (F.silu if self.within.silu else F.relu)(norm.scaled_columns(read) + norm.bias)

    def written(self, read: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """Returns the part's output, given the teacher's activations (n, points, channels) on boards with the shape of
        `like`."""
        layer = self.inner or (self.within.enter if self.index == 0 else self.within.leave)
        return by_points(layer(by_planes(read, like), Area(float(like.shape[2] * like.shape[3]), None)))


def damped(moments: torch.Tensor, share: float) -> torch.Tensor:
    """Returns second moments with a share of their mean added to the diagonal, which keeps least-squares weights
    small."""
    return moments + torch.eye(len(moments), dtype=moments.dtype) * (share * moments.diag().mean())


class Stem:
    """The stem, which computes the input of the first block: a convolution of the board's features, and the global
    features."""

    # Share of the mean second moment that damps changes, so that weights of inputs that no position shows stay
    # unchanged.
    DAMPING = 1e-7

    def __init__(self, network: Network) -> None:
        self.network = network

    def name(self) -> str:
        """Returns the name of the part."""
        return "stem"

    def module(self) -> nn.Module:
        """Returns the module that is solved for."""
        return nn.ModuleDict({"conv1": self.network.conv1, "from_global": self.network.from_global})

    def needs_outside(self, index: int) -> bool:
        """Returns whether the part needs the input of block `index`. It needs only that of the first block, which is
        its output."""
        return index == 0

    def needs_inside(self, block: int, index: int) -> bool:
        """Returns whether activations inside a block are needed."""
        return False

    @torch.no_grad()
    def measured(self, batches: list[PoolBatch]) -> float:
        """Returns the mean of `error_of` over batches."""
        total = 0.0
        for spatial, globals_, outside, _ in batches:
            written, _ = self.network.stem(spatial, globals_)
            total += float(error_of(by_points(written), outside[0], torch.zeros_like(outside[0])))
        return total / len(batches)

    @torch.no_grad()
    def solve(self, batches: list[PoolBatch]) -> None:
        """Sets the weights by least squares, starting from the current ones."""
        side = self.network.conv1.kernel_size[0]
        moments: Any = 0.0
        missing: Any = 0.0
        for spatial, globals_, outside, _ in batches:
            windows = F.unfold(spatial, side, padding=side // 2).mT
            read = torch.cat([windows, globals_[:, None].expand(-1, windows.shape[1], -1)], dim=2)
            read = read.flatten(0, 1).double()
            written, _ = self.network.stem(spatial, globals_)
            moments = moments + read.T @ read
            missing = missing + read.T @ (outside[0] - by_points(written)).flatten(0, 1).double()
        found = torch.linalg.solve(damped(moments, self.DAMPING), missing).T.float()
        widths = [self.network.conv1.weight[0].numel(), self.network.from_global.in_features]
        window, global_ = found.split(widths, dim=1)
        self.network.conv1.weight.add_(window.reshape(self.network.conv1.weight.shape))
        self.network.from_global.weight.add_(global_)


# Any part that `run` trains or solves for.
AnyPart = Part | Stem | Heads


def parts_of(network: Network) -> list[Part]:
    """Returns all parts of nested blocks, those with the longest training first: feed-forward blocks, attention,
    convolutions."""
    found = [
        Part(block, index, within)
        for block, within in enumerate(network.blocks)
        if isinstance(within, NestedBlock)
        for index in range(len(within.blocks) + 2)
    ]
    return sorted(found, key=lambda part: (part.inner is None, part.sees_boards()))


class Pool:
    """Inputs and outputs of the teacher's parts on some positions, or only those that the parts in `only` need."""

    def __init__(
        self,
        network: Teacher,
        data: Path,
        points: int,
        seed: int,
        window: int,
        vary_komi: float = 0.0,
        even_komi_share: float = 0.0,
        only: list[AnyPart] | None = None,
    ) -> None:
        written, rng = Recorder(network), np.random.default_rng(seed)
        self.batches: list[PoolBatch] = []
        total = 0
        for batch in Stream(data, 64, seed, window):
            batch = at_most(batch, TOGETHER)
            area = batch.size[0] * batch.size[1]
            batch.globals_ = torch.from_numpy(odd_komi(batch.globals_.numpy(), area, vary_komi, rng))
            if even_komi_share > 0:
                leads = written(batch)[1].lead().numpy()
                batch.globals_ = torch.from_numpy(even_komi(batch.globals_.numpy(), area, even_komi_share, leads, rng))
            outside, _ = written(batch)
            inside = written.inside
            if only is not None:
                # A copy, because a view would keep the whole tensor in memory.
                outside = [
                    it.clone() if any(part.needs_outside(index) for part in only) else None
                    for index, it in enumerate(outside)
                ]
                inside = [
                    [
                        it.clone() if any(part.needs_inside(block, index) for part in only) else None
                        for index, it in enumerate(own)
                    ]
                    for block, own in enumerate(inside)
                ]
            self.batches.append((batch.spatial, batch.globals_, outside, inside))
            total += len(batch) * area
            # At least one batch is held back, and at least one is learnt from.
            if total >= points and len(self.batches) > 1:
                return

    def pairs(self, part: Part) -> list[Pair]:
        """Returns the batches of a part."""
        found = []
        for like, _, outside, inside in self.batches:
            own = inside[part.block]
            if part.index == 0:
                read, wanted = outside[part.block], own[0]
                before = torch.zeros_like(wanted)
            elif part.inner is not None:
                read, wanted = own[part.index - 1], own[part.index]
                before = read
            else:
                # The residual is left out, because it does not belong to the part.
                read, wanted = own[-1], outside[part.block + 1] - outside[part.block]
                before = torch.zeros_like(wanted)
            found.append((like, read, wanted, before, point_weights(wanted, before)))
        return found


def all_points(pairs: list[Pair]) -> list[torch.Tensor]:
    """Returns the inputs, wanted outputs, residuals and weights of the points of all batches."""
    return [torch.cat([pair[index].flatten(0, 1) for pair in pairs]) for index in (1, 2, 3, 4)]


def examples(part: Part, pairs: list[Pair], points: int, generator: torch.Generator) -> Iterator[Pair]:
    """Yields batches without end: whole boards for parts in which points interact, otherwise random points of all
    boards."""
    if part.sees_boards():
        while True:
            yield pairs[int(torch.randint(len(pairs), (), generator=generator))]
    read, *others = all_points(pairs)
    like = read.new_empty(min(points, len(read)), 0, 1, 1)
    while True:
        chosen = torch.randint(len(read), (len(like),), generator=generator)
        yield like, *(numbers[chosen][:, None] for numbers in (read, *others))


def point_weights(wanted: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Returns the weight of every point (n, points) for `weighted_error`.

    Positions to which the teacher's part adds much get less weight. In `error_of`, all points count by their squares.
    At a komi far from fair, these are so large that all other positions would be neglected. Within a position, the
    points with the largest activations still count most, because the outputs follow from them.
    """
    added = (wanted - before).square().sum(dim=-1)
    of_position = added.mean(dim=1, keepdim=True)
    return (1 / (of_position + of_position.median()).clamp(min=1e-12)).expand_as(added)


def weighted_error(
    written: torch.Tensor, wanted: torch.Tensor, before: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """Returns the weighted squared error of a part, as a share of the weighted squared change that the teacher's part
    makes."""
    added = (weights * (wanted - before).square().sum(dim=-1)).sum()
    return (weights * (written - wanted).square().sum(dim=-1)).sum() / added.clamp(min=1e-12)


@torch.no_grad()
def measured(part: Part, pairs: list[Pair]) -> float:
    """Returns the mean of a part's `weighted_error` over batches."""
    found = [float(weighted_error(part.written(read, like), *others)) for like, read, *others in pairs]
    return sum(found) / len(found)


def held_back(numbers: list[Any]) -> tuple[list[Any], list[Any]]:
    """Splits batches into those for training and those that are held back."""
    return [it for index, it in enumerate(numbers) if index % HELD_BACK], numbers[::HELD_BACK]


def solve(part: Stem | Heads, pool: Pool) -> dict[str, Any]:
    """Solves for the stem or the heads. Returns the same facts as `teach`."""
    begun = time.process_time()
    learnt, others = held_back(pool.batches)
    facts: dict[str, Any] = {"part": part.name(), "before": round(part.measured(others), 7)}
    before = {name: value.clone() for name, value in part.module().state_dict().items()}
    part.solve(learnt)
    facts |= {"after": round(part.measured(others), 7), "steps": 1}
    facts |= {"cpu_seconds": round(time.process_time() - begun, 1), "kept": facts["after"] <= facts["before"]}
    if not facts["kept"]:
        # The result is worse, because the pool was too small. The part stays unchanged.
        part.module().load_state_dict(before)
    return facts


class Enough(Exception):
    """Raised when the time of a search is over."""


# Number of points on which a convolution is fitted.
FIT_POINTS = 40_000

# Share of the mean second moment of a convolution's inputs that keeps its weights small. Without it, units that are
# almost always 0 get weights a hundred times as large as others, which `compact.py` cannot round with steps of one
# size.
FIT_DAMPING = 1e-6


def fit(part: Part, learnt: list[Pair], options: argparse.Namespace) -> int:
    """Fits a convolution.

    For given scales and biases before the convolution, its weights are solved for. Only the scales and biases are
    searched for, with exact gradients. The result is a hundred times nearer to the teacher than one by steps on
    samples. This is needed: the attention after the first convolution turns the 0.1 % error that steps leave into 2 %,
    most of it common to all points of a board.

    Returns the number of evaluated gradients.

    CITE: Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
    variables separate" (1973). CITE: Liu and Nocedal, "On the limited memory BFGS method for large scale optimization"
    (1989).
    """
    generator = torch.Generator().manual_seed(options.seed + 100 * part.block + part.index)
    read, wanted, _, count = all_points(learnt)
    chosen = torch.randperm(len(read), generator=generator)[:FIT_POINTS]
    # Multiplying rows by the root of their weight turns weighted least squares into plain least squares.
    root = count[chosen, None].sqrt()
    read, wanted = read[chosen], wanted[chosen] * root
    added = wanted.square().sum().clamp(min=1e-12)
    weight = (part.within.conv1 if part.index == 0 else part.within.conv2).weight
    others = [parameter for parameter in part.module().parameters() if parameter is not weight]
    least, slopes = float("inf"), 0
    best: dict[str, torch.Tensor] = {}
    begun, seconds = time.process_time(), part.seconds(options)
    search = torch.optim.LBFGS(
        others,
        max_iter=10**9,
        max_eval=10**9,
        history_size=30,
        line_search_fn="strong_wolfe",
        tolerance_grad=1e-12,
        tolerance_change=1e-12,
    )

    def closure() -> torch.Tensor:
        nonlocal least, best, slopes
        if time.process_time() - begun > seconds and best:
            raise Enough
        rows_in = part.activated(read) * root
        with torch.no_grad():
            rows = rows_in.double()
            moments = rows.T @ rows
            found = torch.linalg.solve(damped(moments, FIT_DAMPING), rows.T @ wanted.double())
            weight.copy_(found.T.float().reshape(weight.shape))
        search.zero_grad()
        # Where the weights are optimal, the gradient by the other parameters is the same as with constant weights.
        size = float(FIT_DAMPING * moments.diag().mean()) * weight.detach().square().sum()
        loss = ((rows_in @ weight.detach().flatten(1).T - wanted).square().sum() + size) / added
        loss.backward()
        slopes += 1
        if loss.item() < least:
            least = loss.item()
            best = {name: value.clone() for name, value in part.module().state_dict().items()}
        return loss

    try:
        search.step(closure)
    except Enough:
        pass
    if best:
        part.module().load_state_dict(best)
    return slopes


# Changes of a unit of a gated layer: whether its two products are exchanged, and the factor of the product inside SiLU.
TURNS = ((True, 2.0), (True, -2.0), (False, -1.0))

# Share of a feed-forward block's time for the steps after each change. The rest of the time follows all changes.
SHARE_AFTER_TURN = 0.15

# Counterpart of `FIT_DAMPING` where units compete with changed copies of themselves, which hardly differ.
TURN_DAMPING = 1e-7


@torch.no_grad()
def turn(part: Part, learnt: list[Pair], is_exchanged: bool, factor: float, generator: torch.Generator) -> int:
    """Changes those units of a feed-forward block that become better by a change.

    Where the first product a stays small, a unit computes silu(a) b = a b / 2 + a² b / 4 - …, which is nearly the same
    with a and b exchanged, or with both signs changed. A unit that begins in such a state never leaves it by steps. Of
    the 512 units of a block of b10c384h6nbttflrs, 190 are of this kind. Of these, 159 were learnt in a wrong state,
    which left the block with an error of 1.7 %, however long the training. So every unit is put beside its changed
    copy, and the last layer is solved for. Of each two, the one whose removal would increase the error more is kept
    (Hassibi and Stork 1993, "Optimal brain surgeon").

    Returns the number of changed units.
    """
    block = part.inner
    units = block.last.in_features
    first, gate = block.first.weight, block.gate.weight
    sizes = [(weight * block.norm.scale).norm(dim=1, keepdim=True).clamp(min=1e-6) for weight in (first, gate)]
    if is_exchanged:
        other = gate * (sizes[0] / sizes[1] * factor), first * (sizes[1] / sizes[0] / factor)
    else:
        other = first * factor, gate / factor
    both = torch.cat([first, other[0]]), torch.cat([gate, other[1]])
    read, wanted, before, count = all_points(learnt)
    chosen = torch.randperm(len(read), generator=generator)[:FIT_POINTS]
    moments: Any = 0.0
    products: Any = 0.0
    for some in chosen.split(8192):
        root = count[some, None].sqrt()
        normed = block.norm(read[some])
        rows = F.silu(normed @ both[0].T) * (normed @ both[1].T) * root
        moments = moments + (rows.T @ rows).double()
        products = products + (rows.T @ ((wanted - before)[some] * root)).double()
    moments = damped(moments, TURN_DAMPING)
    inverse = torch.linalg.inv(moments)
    lost = (inverse @ products).square().sum(dim=1) / inverse.diag()
    turned = lost[units:] > lost[:units]
    stay = torch.arange(units) + units * turned
    first.copy_(both[0][stay])
    gate.copy_(both[1][stay])
    block.last.weight.copy_(torch.linalg.solve(moments[stay][:, stay], products[stay]).T.float())
    return int(turned.sum())


# Shares of the time of attention for the steps after each new beginning, and for those after new rotations. The rest of
# the time comes at the end.
SHARE_OF_TRY, SHARE_AFTER_GIVING = 0.2, 0.2

# Number of times that attention gets rotations, largest number of new rotations for a head at a time, and number of
# batches that are searched for them.
GIVEN, GIVEN_TO_HEAD, LOOKED_AT = 3, 2, 12


@torch.no_grad()
def head_by_head(part: Part, earlier: AttentionBlock, learnt: list[Pair]) -> int:
    """Replaces each head by the corresponding head of `earlier` if the latter contributes more.

    As in `turn`, the heads of both blocks are put side by side, and the last layer is solved for. Of each two, the one
    whose removal would increase the error more is kept.

    Returns the number of heads that came from `earlier`.
    """
    block, sides = part.inner, (part.inner, earlier)
    heads, width = block.heads, block.v.out_features // block.heads
    moments: Any = 0.0
    products: Any = 0.0
    for like, read, wanted, before, count in learnt:
        root, area = count.sqrt()[..., None], Area(float(like.shape[2] * like.shape[3]), None)
        mixed = torch.cat([side.mixed(side.norm(read), area, *like.shape[2:]) for side in sides], dim=2)
        rows = (mixed * root).flatten(0, 1)
        moments = moments + (rows.T @ rows).double()
        products = products + (rows.T @ ((wanted - before) * root).flatten(0, 1)).double()
    moments = damped(moments, TURN_DAMPING)
    inverse = torch.linalg.inv(moments)
    found = inverse @ products
    lost = []
    for own in torch.arange(2 * heads * width).split(width):
        lost.append(float((found[own] * torch.linalg.solve(inverse[own][:, own], found[own])).sum()))
    # The norm's scales belong to all heads, so the scales of `earlier` are moved into the weights of its heads.
    scale = block.norm.scale.where(block.norm.scale.abs() > 1e-6, 1e-6)
    stay = torch.arange(heads * width)
    changed = 0
    for head in range(heads):
        if lost[heads + head] <= lost[head]:
            continue
        own = slice(head * width, (head + 1) * width)
        for name in ("q", "k", "v"):
            getattr(block, name).weight[own] = getattr(earlier, name).weight[own] * (earlier.norm.scale / scale)
        block.frequencies[head] = earlier.frequencies[head]
        stay[own] += heads * width
        changed += 1
    block.norm.scale.copy_(scale)
    block.out.weight.copy_(torch.linalg.solve(moments[stay][:, stay], products[stay]).T.float())
    return changed


def boards_of(part: Part, pairs: list[Pair]) -> Iterator[rotations.Boards]:
    """Yields the inputs of attention for each batch, with the part's error as a function of the outputs of its
    heads."""
    for like, read, wanted, before, count in pairs:

        def loss(pair: tuple[torch.Tensor, ...], mixed: torch.Tensor) -> torch.Tensor:
            residual, *others = pair
            return weighted_error(residual + mixed @ part.inner.out.weight.detach().T, *others)

        own = functools.partial(loss, (read, wanted, before, count))
        rows, columns = like.shape[2:]
        yield rotations.Boards(part.inner.norm(read).detach(), rows, columns, own)


def learn_attention(
    part: Part, learnt: list[Pair], options: argparse.Namespace, generator: torch.Generator
) -> tuple[int, int]:
    """Trains attention.

    Steps move a rotation only a little, so heads get the rotations that they lack (`rotations.py`) several times, with
    steps after each time. With --tries, all queries, keys and rotations begin anew that many times, and each head is
    kept from the try in which it contributes most. Values are not reset, so a head has the same meaning in all tries.

    Returns the number of steps and the number of new rotations.
    """
    block, seconds, steps, given = part.inner, part.seconds(options), 0, 0
    for _ in range(options.tries):
        earlier = copy.deepcopy(block)
        block.begin(generator)
        steps += steps_of(part, learnt, options, SHARE_OF_TRY * seconds, generator)
        head_by_head(part, earlier, learnt)
    seconds *= 1 - SHARE_OF_TRY * options.tries
    looked_at = learnt[:: -(-len(learnt) // LOOKED_AT)]
    least, best = measured(part, learnt), copy.deepcopy(block.state_dict())
    for _ in range(GIVEN):
        given += rotations.give(block, boards_of(part, looked_at), GIVEN_TO_HEAD)
        steps += steps_of(part, learnt, options, SHARE_AFTER_GIVING * seconds, generator)
        # The new rotations may be worth less than those that they replaced, so the best state is kept.
        if (found := measured(part, learnt)) < least:
            least, best = found, copy.deepcopy(block.state_dict())
    block.load_state_dict(best)
    return steps + steps_of(part, learnt, options, (1 - SHARE_AFTER_GIVING * GIVEN) * seconds, generator), given


def learn(part: Part, learnt: list[Pair], options: argparse.Namespace) -> tuple[int, int]:
    """Trains attention or a feed-forward block. Returns the number of steps, and the number of new rotations or changed
    units."""
    generator = torch.Generator().manual_seed(options.seed + 100 * part.block + part.index)
    if isinstance(part.inner, AttentionBlock):
        return learn_attention(part, learnt, options, generator)
    seconds, steps, turned = part.seconds(options), 0, 0
    if isinstance(part.inner, FeedForwardBlock):
        for way in TURNS:
            turned += turn(part, learnt, *way, generator)
            steps += steps_of(part, learnt, options, SHARE_AFTER_TURN * seconds, generator)
        seconds *= 1 - SHARE_AFTER_TURN * len(TURNS)
    return steps + steps_of(part, learnt, options, seconds, generator), turned


def steps_of(
    part: Part, learnt: list[Pair], options: argparse.Namespace, seconds: float, generator: torch.Generator
) -> int:
    """Trains attention or a feed-forward block by steps, at a rate that falls to zero. Returns the number of steps."""
    muon = optimiser.make(part.module(), "muon", part.rate(options), 0.0)
    begun, steps = time.process_time(), 0
    for like, read, wanted, without, count in examples(part, learnt, options.points, generator):
        share = (time.process_time() - begun) / max(1e-9, seconds)
        if share >= 1:
            break
        loss = weighted_error(part.written(read, like), wanted, without, count)
        muon.zero_grad(set_to_none=True)
        loss.backward()
        for group in muon.param_groups:
            group["lr"] = part.rate(options) * min(1.0, (steps + 1) / 20) * max(0.005, 1 - share)
        muon.step()
        steps += 1
    return steps


def teach(part: Part, pool: Pool, options: argparse.Namespace) -> dict[str, Any]:
    """Trains one part for its time. Returns facts for the log."""
    learnt, others = held_back(pool.pairs(part))
    facts = {"part": part.name(), "before": round(measured(part, others), 6)}
    before = {name: value.clone() for name, value in part.module().state_dict().items()}
    begun = time.process_time()
    # Attention is hardly faster in bf16, and becomes less accurate.
    fast.use_pairs(part.inner is not None and not part.sees_boards())
    steps, turned = (fit(part, learnt, options), 0) if part.inner is None else learn(part, learnt, options)
    fast.use_pairs(False)
    facts |= {"after": round(measured(part, others), 6), "steps": steps}
    facts["cpu_seconds"] = round(time.process_time() - begun, 1)
    if turned:
        facts["given" if part.sees_boards() else "turned"] = turned
    facts["kept"] = facts["after"] < facts["before"]
    if not facts["kept"]:
        # The result is worse, because the time was too short or the rate too high. The part stays unchanged.
        part.module().load_state_dict(before)
    return facts


class Claims:
    """Files of finished parts, and locks of parts in progress, which all processes share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def done(self, part: AnyPart) -> Path:
        """Returns the path of the file that a finished part has."""
        return self.folder / f"{part.name()}.pt"

    def take(self, part: AnyPart) -> IO[str] | None:
        """Returns a lock that ends with this process, or `None` if the part is finished or another process has it."""
        lock = open(self.folder / f"{part.name()}.lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        if self.done(part).exists():
            lock.close()
            return None
        return lock


def finish(network: Network, parts: list[AnyPart], claims: Claims, name: str, options: argparse.Namespace) -> None:
    """Assembles the parts into a network, and writes the folder from which the next stage starts."""
    spent, facts = 0.0, []
    for part in parts:
        saved = torch.load(claims.done(part), map_location="cpu", weights_only=True)
        part.module().load_state_dict(saved["weights"])
        spent += saved["facts"]["cpu_seconds"]
        facts.append(saved["facts"])
    katago_file.write(options.out / runs.NETWORK, name, network)
    state = runs.state_of(options.start)
    state["cpu_seconds"] += spent
    runs.write_state(options.out, state | {"shape": network.shape.facts()})
    (options.out / runs.LOG).unlink(missing_ok=True)
    runs.copy_log(options.start, options.out)
    for one in facts:
        runs.append(options.out, "part", one)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("teacher", type=Path, help="network to learn from, in KataGo's format")
    shared.start(parser, required=True)
    shared.data(parser)
    shared.out(parser)
    parser.add_argument("--only", help="teaches only the parts with these names, such as 4-2,5-4,stem,heads")
    parser.add_argument(
        "--pool",
        type=int,
        default=120_000,
        help="points of the pool: 60 kB of memory each, or 1.5 kB for each part of --only [%(default)s]",
    )
    shared.vary_komi(parser)
    shared.even_komi(parser)
    for name, seconds, what in [
        ("feed-forward", 90, "feed-forward block"),
        ("attention", 40, "block of attention or of 3×3 convolutions"),
        ("convolution", 20, "1×1 convolution"),
    ]:
        parser.add_argument(f"--{name}", type=float, default=seconds, help=f"CPU seconds for each {what} [%(default)s]")
    parser.add_argument(
        "--rate", type=float, default=1e-2, help="learning rate at the beginning of a part [%(default)s]"
    )
    parser.add_argument("--attention-rate", type=float, default=1e-2, help="learning rate of attention [%(default)s]")
    parser.add_argument(
        "--tries",
        type=int,
        choices=range(5),
        default=0,
        help="number of times that attention begins anew [%(default)s]",
    )
    parser.add_argument(
        "--points", type=int, default=2048, help="points of a step; attention takes whole boards [%(default)s]"
    )
    shared.window(parser, 8)
    shared.seed(parser)
    shared.processor(parser, threads=1)


def run(options: argparse.Namespace) -> None:
    """Trains all parts that no other process has taken."""
    shared.prepare(options)
    name, network = katago_file.read(runs.network_of(options.start))
    teacher = read_teacher(options.teacher)
    own, others = (
        [kinds(block.blocks) for block in it.blocks if hasattr(block, "blocks")] for it in (network, teacher)
    )
    if own != others or not own or kinds(network.blocks) != kinds(teacher.blocks):
        raise SystemExit(f"{name} has other nested blocks than {teacher.name}, so it cannot learn its numbers")
    claims = Claims(options.out / "parts")
    chosen = None if options.only is None else set(options.only.split(","))
    heads: list[Heads] = []
    if is_smooth(teacher):
        if chosen is None or "heads" in chosen:
            network = with_heads_like(network, teacher)
        heads = [Heads(network, teacher)]
    parts: list[AnyPart] = [*parts_of(network), Stem(network), *heads]
    if chosen is not None:
        if unknown := chosen - {part.name() for part in parts}:
            names = ", ".join(part.name() for part in parts)
            raise SystemExit(f"{name} has no part {', '.join(sorted(unknown))}, only {names}")
        parts = [part for part in parts if part.name() in chosen]
    pool = None
    for part in parts:
        lock = claims.take(part)
        if lock is None:
            continue
        if pool is None:
            only = parts if options.only else None
            size, komi = (options.pool, options.seed, options.window), (options.vary_komi, options.even_komi)
            pool = Pool(teacher, options.data, *size, *komi, only)
        facts = solve(part, pool) if isinstance(part, Stem | Heads) else teach(part, pool, options)
        saved = {"weights": part.module().state_dict(), "facts": facts}
        runs.write_whole(claims.done(part), functools.partial(torch.save, saved))
        print(runs.text_of(facts), flush=True)
        lock.close()
    if all(claims.done(part).exists() for part in parts):
        # Several processes may notice at the same time that all parts are done. The lock makes them write the same
        # files in turn.
        with open(claims.folder / "finish.lock", "w") as whole:
            fcntl.flock(whole, fcntl.LOCK_EX)
            finish(network, parts, claims, name, options)
