#!/usr/bin/env python3
"""Teaches every part of a network by itself, one after the other: parts.py TEACHER.bin.gz --start FOLDER --data SHARDS --out FOLDER

A part is one of the 1×1 convolutions around a nested block, or one of the blocks between them, or the stem. `hints.py` lets all parts learn at once, from a
stream of positions, at one rate. Here the teacher is asked once, about as many positions as fit into memory, and then every part learns from
what the teacher's part in its place reads and writes there, for as long as it is given, at a rate that falls to nothing. Most of the time
goes where most is off: into feed-forward blocks. What a part is off at a rate that stays is mostly the noise of its steps.
Convolutions are not taught by steps at all, see `fit`; units of feed-forward blocks are turned to where steps lead on, see `turn`, and heads of
attention are given rotations that steps do not find, see `rotations.py`.

Several processes may run on one folder: each takes the next part that nobody has. After a stop the same command goes on; what is lost is the
parts that were being taught. The stem is linear, so its weights are solved for: what few positions show, such as rules that are seldom
played by, it knows as soon as one shows it. When the last part is done, whoever taught it writes what `hints.py --start FOLDER --blocks 0` goes on
with, so that the last layers learn what the parts make of a position together.
"""

from __future__ import annotations

import argparse
import copy
import fcntl
import json
import os
import time
from pathlib import Path
from typing import Iterator

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import fast
import katago_file
import optimiser
import rotations
import teacher
from data import Stream, even_komi, odd_komi
from heads import Heads, is_smooth, with_heads_like
from hints import Written, at_most, kinds, off
from model import Area, AttentionBlock, FeedForwardBlock, NestedBlock, Network, by_planes, by_points
from train import write_whole

# Of the positions, one batch in so many is not learnt from: what a part is off is measured on it.
HELD_BACK = 16

# Points at most that the teacher is asked about at a time, and that attention learns from in a step.
TOGETHER = 3072


class Part:
    """One part of a nested block: what learns, and where it stands."""

    def __init__(self, block: int, index: int, within: NestedBlock):
        self.block, self.index, self.within = block, index, within
        self.inner = within.blocks[index - 1] if 0 < index <= len(within.blocks) else None

    def name(self) -> str:
        return f"{self.block}-{self.index}"

    def module(self) -> nn.Module:
        """What learns."""
        if self.inner is not None:
            return self.inner
        names = ("norm1", "conv1") if self.index == 0 else ("norm2", "conv2")
        return nn.ModuleDict({name: getattr(self.within, name) for name in names})

    def seconds(self, options: argparse.Namespace) -> float:
        if self.inner is None:
            return options.convolution
        return options.attention if self.sees_boards() else options.feed_forward

    def rate(self, options: argparse.Namespace) -> float:
        return options.attention_rate if self.sees_boards() else options.rate

    def needs_outside(self, index: int) -> bool:
        """Does it read or write what block `index` reads?"""
        last = len(self.within.blocks) + 1
        return index == self.block and self.index in (0, last) or index == self.block + 1 and self.index == last

    def needs_inside(self, block: int, index: int) -> bool:
        """The same of what is inside a block, in front of its part `index` + 1."""
        return block == self.block and index in (self.index - 1, self.index)

    def sees_boards(self) -> bool:
        """Do points see each other in it?"""
        return self.inner is not None and not isinstance(self.inner, FeedForwardBlock)

    def bent(self, read: torch.Tensor) -> torch.Tensor:
        """Of a convolution: what it multiplies, of the teacher's numbers (…, channels)."""
        norm = self.within.norm1 if self.index == 0 else self.within.norm2
        return (F.silu if self.within.silu else F.relu)(norm.scaled_columns(read) + norm.bias)

    def written(self, read: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        """What it makes of the teacher's numbers (n, points, channels), on boards of this shape (n, ?, rows, columns)."""
        layer = self.inner or (self.within.enter if self.index == 0 else self.within.leave)
        return by_points(layer(by_planes(read, like), Area(float(like.shape[2] * like.shape[3]), None)))


def damped(moments: torch.Tensor, share: float) -> torch.Tensor:
    """Second moments, of which this share of their mean is added to each: least squares then keep weights small."""
    return moments + torch.eye(len(moments), dtype=moments.dtype) * (share * moments.diag().mean())


class Stem:
    """What the first block reads: a window of the board's features, and the features of the whole position."""

    # What of the mean second moment keeps weights where they are; what no position shows stays.
    DAMPING = 1e-7

    def __init__(self, network: Network):
        self.network = network

    def name(self) -> str:
        return "stem"

    def module(self) -> nn.Module:
        return nn.ModuleDict({"conv1": self.network.conv1, "from_global": self.network.from_global})

    def needs_outside(self, index: int) -> bool:
        return index == 0

    def needs_inside(self, block: int, index: int) -> bool:
        return False

    @torch.no_grad()
    def measured(self, batches: list) -> float:
        """How far off it is on average."""
        total = 0.0
        for spatial, globals_, outside, _ in batches:
            written, _ = self.network.stem(spatial, globals_)
            total += float(off(by_points(written), outside[0], torch.zeros_like(outside[0])))
        return total / len(batches)

    @torch.no_grad()
    def solve(self, batches: list) -> None:
        """The weights that come nearest to what the teacher's stem writes: least squares, from the weights that it has."""
        side = self.network.conv1.kernel_size[0]
        moments = missing = 0.0
        for spatial, globals_, outside, _ in batches:
            windows = F.unfold(spatial, side, padding=side // 2).mT
            read = torch.cat([windows, globals_[:, None].expand(-1, windows.shape[1], -1)], dim=2).flatten(0, 1).double()
            written, _ = self.network.stem(spatial, globals_)
            moments = moments + read.T @ read
            missing = missing + read.T @ (outside[0] - by_points(written)).flatten(0, 1).double()
        found = torch.linalg.solve(damped(moments, self.DAMPING), missing).T.float()
        window, global_ = found.split([self.network.conv1.weight[0].numel(), self.network.from_global.in_features], dim=1)
        self.network.conv1.weight.add_(window.reshape(self.network.conv1.weight.shape))
        self.network.from_global.weight.add_(global_)


def parts_of(network: Network) -> list[Part]:
    """All parts of the nested blocks, those that take the longest first: feed-forward blocks, attention, convolutions."""
    found = [
        Part(block, index, within)
        for block, within in enumerate(network.blocks)
        if isinstance(within, NestedBlock)
        for index in range(len(within.blocks) + 2)
    ]
    return sorted(found, key=lambda part: (part.inner is None, part.sees_boards()))


class Pool:
    """What the teacher's parts read and write on some positions; if `only` names some parts, what these need alone."""

    def __init__(
        self,
        network: teacher.Teacher,
        data: Path,
        points: int,
        seed: int,
        window: int,
        vary_komi: float = 0.0,
        even_komi_share: float = 0.0,
        only: list[Part | Stem | Heads] | None = None,
    ):
        written, rng = Written(network), np.random.default_rng(seed)
        # For each batch of boards of one size: its features; what blocks read and write; the same inside blocks.
        self.batches: list[tuple[torch.Tensor, torch.Tensor, list[torch.Tensor], list[list[torch.Tensor]]]] = []
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
                # What stays of a longer piece of memory would hold all of it.
                outside = [it.clone() if any(part.needs_outside(index) for part in only) else None for index, it in enumerate(outside)]
                inside = [
                    [it.clone() if any(part.needs_inside(block, index) for part in only) else None for index, it in enumerate(own)]
                    for block, own in enumerate(inside)
                ]
            self.batches.append((batch.spatial, batch.globals_, outside, inside))
            total += len(batch) * area
            # One batch at least is held back, and one learnt from.
            if total >= points and len(self.batches) > 1:
                return

    def pairs(self, part: Part) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]:
        """For each batch: the shape of its boards, what the part reads, what it is to write, what of that is there without it, and
        what every point counts for."""
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
                # Without the residual, which is not this part's.
                read, wanted = own[-1], outside[part.block + 1] - outside[part.block]
                before = torch.zeros_like(wanted)
            found.append((like, read, wanted, before, counts(wanted, before)))
        return found


def all_points(pairs: list) -> list[torch.Tensor]:
    """What is read, what is to be written, what of that is there, and what it counts for, of the points of all batches."""
    return [torch.cat([pair[index].flatten(0, 1) for pair in pairs]) for index in (1, 2, 3, 4)]


def examples(part: Part, pairs: list, points: int, generator: torch.Generator) -> Iterator[tuple]:
    """Batches without end: whole boards where points see each other, else points of all boards."""
    if part.sees_boards():
        while True:
            yield pairs[int(torch.randint(len(pairs), (), generator=generator))]
    read, *others = all_points(pairs)
    like = read.new_empty(min(points, len(read)), 0, 1, 1)
    while True:
        chosen = torch.randint(len(read), (len(like),), generator=generator)
        yield like, *(numbers[chosen][:, None] for numbers in (read, *others))


def counts(wanted: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """What every point of some positions is to count for in `off_by_position` (n, points): less where the teacher's part adds much to the
    whole position. In `off` the points count by their squares, and at a komi far from fair these are so large that other positions are
    forgotten for them. Within a position the largest numbers do count for most: the answers come from them."""
    added = (wanted - before).square().sum(dim=-1)
    of_position = added.mean(dim=1, keepdim=True)
    return (1 / (of_position + of_position.median()).clamp(min=1e-12)).expand_as(added)


def off_by_position(written: torch.Tensor, wanted: torch.Tensor, before: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """How far off a part is, as a share of what the teacher's part adds (mean squares), every point counting for so much."""
    added = (counts * (wanted - before).square().sum(dim=-1)).sum()
    return (counts * (written - wanted).square().sum(dim=-1)).sum() / added.clamp(min=1e-12)


@torch.no_grad()
def measured(part: Part, pairs: list) -> float:
    """How far off a part is on average (see `off_by_position`)."""
    found = [float(off_by_position(part.written(read, like), wanted, before, count)) for like, read, wanted, before, count in pairs]
    return sum(found) / len(found)


def held_back(numbers: list) -> tuple[list, list]:
    """What is learnt from, and what is not."""
    return [it for index, it in enumerate(numbers) if index % HELD_BACK], numbers[::HELD_BACK]


def solve(part: Stem | Heads, pool: Pool) -> dict:
    """The same as `teach`, of the stem or the last layers."""
    begun = time.process_time()
    learnt, others = held_back(pool.batches)
    facts = {"part": part.name(), "before": round(part.measured(others), 7)}
    part.solve(learnt)
    return facts | {"after": round(part.measured(others), 7), "steps": 1, "cpu_seconds": round(time.process_time() - begun, 1)}


class Enough(Exception):
    """The time is over."""


# Points that a convolution learns from.
FIT_POINTS = 40_000

# Keeps weights small, as a share of the mean second moment of what they multiply. Without it, units that are hardly ever anything but 0 get
# weights a hundred times as large as others: harmless here, but `compact.py` rounds a matrix in steps of one size.
FIT_DAMPING = 1e-6


def fit(part: Part, learnt: list, options: argparse.Namespace) -> int:
    """Teaches a convolution. Its weights are solved for, whatever scales and biases come before them, so that only these few are searched
    for, with exact slopes. That ends a hundred times nearer to the teacher's numbers than steps by samples came, and it has to: attention
    behind the first of these convolutions makes 2 % of the 0.1 % that steps leave, most of it in what all points of a board have in common.

    Returns how often slopes were computed.

    CITE: Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables separate" (1973).
    CITE: Liu and Nocedal, "On the limited memory BFGS method for large scale optimization" (1989).
    """
    generator = torch.Generator().manual_seed(options.seed + 100 * part.block + part.index)
    read, wanted, _, count = all_points(learnt)
    chosen = torch.randperm(len(read), generator=generator)[:FIT_POINTS]
    # Rows times the root of what they count for: least squares then need nothing else.
    root = count[chosen, None].sqrt()
    read, wanted = read[chosen], wanted[chosen] * root
    added = wanted.square().sum().clamp(min=1e-12)
    weight = (part.within.conv1 if part.index == 0 else part.within.conv2).weight
    others = [parameter for parameter in part.module().parameters() if parameter is not weight]
    least, best, slopes = float("inf"), {}, 0
    begun, seconds = time.process_time(), part.seconds(options)
    search = torch.optim.LBFGS(
        others, max_iter=10**9, max_eval=10**9, history_size=30, line_search_fn="strong_wolfe", tolerance_grad=1e-12, tolerance_change=1e-12
    )

    def closure() -> torch.Tensor:
        nonlocal least, best, slopes
        if time.process_time() - begun > seconds and best:
            raise Enough
        bent = part.bent(read) * root
        with torch.no_grad():
            rows = bent.double()
            moments = rows.T @ rows
            found = torch.linalg.solve(damped(moments, FIT_DAMPING), rows.T @ wanted.double())
            weight.copy_(found.T.float().reshape(weight.shape))
        search.zero_grad()
        # At weights that are solved for, the slope of the rest is that of the sum with these weights kept.
        size = float(FIT_DAMPING * moments.diag().mean()) * weight.detach().square().sum()
        loss = ((bent @ weight.detach().flatten(1).T - wanted).square().sum() + size) / added
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


# How both products of a unit of a gated layer may be turned: are they exchanged, and by what is the one in silu multiplied?
TURNS = ((True, 2.0), (True, -2.0), (False, -1.0))

# How much of the time of a feed-forward block goes into steps after each turn; the rest comes at the end.
SHARE_AFTER_TURN = 0.15

# As `FIT_DAMPING`, where units are weighed against what they would be otherwise: these two differ little.
TURN_DAMPING = 1e-7


@torch.no_grad()
def turn(part: Part, learnt: list, is_exchanged: bool, factor: float, generator: torch.Generator) -> int:
    """Turns units of a feed-forward block that lose less by it than they gain.

    Where its first product a stays small, a unit is silu(a) b = a b / 2 + a² b / 4 - …, so it does nearly the same with a and b exchanged, or with
    both signs turned, and if it began there, steps never lead to where it belongs: there are 190 such units among the 512 of a block of b10c384h6nbttflrs, and
    159 of them were learnt the wrong way about, which left the block 1.7 % off for however long it learnt. So all units are put beside what they
    would be otherwise, the last layer is solved for, and of each two that one stays without which more would be off (Hassibi and Stork 1993,
    "Optimal brain surgeon").

    Returns how many were turned.
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
    moments = products = 0.0
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


# How much of its time attention takes for each beginning, and for the steps after it was given rotations; the rest comes at the end.
SHARE_OF_TRY, SHARE_AFTER_GIVING = 0.2, 0.2

# How often attention is given rotations, how many at most for a head, and batches that are looked at for them.
GIVEN, GIVEN_TO_HEAD, LOOKED_AT = 3, 2, 12


@torch.no_grad()
def head_by_head(part: Part, earlier: AttentionBlock, learnt: list) -> int:
    """Puts a head of `earlier` in the place of each that adds less than it did there: as in `turn`, the heads of both blocks stand side by
    side, what is made of their values is solved for, and of each two that one stays without which more would be off.

    Returns how many came from `earlier`.
    """
    block, sides = part.inner, (part.inner, earlier)
    heads, width = block.heads, block.v.out_features // block.heads
    moments = products = 0.0
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
    # The norm's scales belong to no head: those of `earlier` go into what its heads multiply.
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


def boards_of(part: Part, pairs: list) -> Iterator[rotations.Boards]:
    """What attention reads on these boards, and how far off the part is by what its heads see."""
    for like, read, wanted, before, count in pairs:

        def is_off(mixed: torch.Tensor, read=read, wanted=wanted, before=before, count=count) -> torch.Tensor:
            return off_by_position(read + mixed @ part.inner.out.weight.detach().T, wanted, before, count)

        yield rotations.Boards(part.inner.norm(read).detach(), *like.shape[2:], is_off)


def learn_attention(part: Part, learnt: list, options: argparse.Namespace, generator: torch.Generator) -> tuple[int, int]:
    """Teaches attention. Steps move a rotation only a little, so heads are given those that they lack (`rotations.py`), a few times, with steps
    after each. For attention that began with too few there are tries: all queries, keys and rotations begin anew, and each head stays as it
    is in the try in which it adds most (values are kept, so that a head means the same in all of them).

    Returns the number of steps, and of rotations that were given.
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
        # A rotation takes the place of another, and it may be worth less.
        if (found := measured(part, learnt)) < least:
            least, best = found, copy.deepcopy(block.state_dict())
    block.load_state_dict(best)
    return steps + steps_of(part, learnt, options, (1 - SHARE_AFTER_GIVING * GIVEN) * seconds, generator), given


def learn(part: Part, learnt: list, options: argparse.Namespace) -> tuple[int, int]:
    """Teaches attention, or a feed-forward block. Returns the number of steps, and of turned units or of rotations that were given."""
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


def steps_of(part: Part, learnt: list, options: argparse.Namespace, seconds: float, generator: torch.Generator) -> int:
    """Teaches attention, or a feed-forward block, by steps at a rate that falls to nothing. Returns how many."""
    muon = optimiser.make(part.module(), "muon", part.rate(options), 0.0)
    begun, steps = time.process_time(), 0
    for like, read, wanted, without, count in examples(part, learnt, options.points, generator):
        share = (time.process_time() - begun) / max(1e-9, seconds)
        if share >= 1:
            break
        loss = off_by_position(part.written(read, like), wanted, without, count)
        muon.zero_grad(set_to_none=True)
        loss.backward()
        for group in muon.param_groups:
            group["lr"] = part.rate(options) * min(1.0, (steps + 1) / 20) * max(0.005, 1 - share)
        muon.step()
        steps += 1
    return steps


def teach(part: Part, pool: Pool, options: argparse.Namespace) -> dict:
    """Lets one part learn for as long as it is given. Returns what there is to tell."""
    learnt, others = held_back(pool.pairs(part))
    facts = {"part": part.name(), "before": round(measured(part, others), 6)}
    before = {name: value.clone() for name, value in part.module().state_dict().items()}
    begun = time.process_time()
    # Attention is hardly faster with numbers of 16 bits, and comes out better without.
    fast.use_pairs(part.inner is not None and not part.sees_boards())
    steps, turned = (fit(part, learnt, options), 0) if part.inner is None else learn(part, learnt, options)
    fast.use_pairs(False)
    facts |= {"after": round(measured(part, others), 6), "steps": steps, "cpu_seconds": round(time.process_time() - begun, 1)}
    if turned:
        facts["given" if part.sees_boards() else "turned"] = turned
    facts["kept"] = facts["after"] < facts["before"]
    if not facts["kept"]:
        # Too short a time, or too high a rate: as it was is better.
        part.module().load_state_dict(before)
    return facts


class Claims:
    """Which parts are done, and which are being taught, by whichever process."""

    def __init__(self, folder: Path):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def done(self, part: Part | Stem | Heads) -> Path:
        return self.folder / f"{part.name()}.pt"

    def take(self, part: Part | Stem | Heads):
        """A lock that ends with this process; none if the part is done or taken."""
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


def finish(network: Network, parts: list[Part | Stem | Heads], claims: Claims, name: str, options: argparse.Namespace) -> None:
    """Puts the parts together, and writes what a stretch of `hints.py` begins with."""
    spent, log = 0.0, []
    for part in parts:
        saved = torch.load(claims.done(part), map_location="cpu", weights_only=True)
        part.module().load_state_dict(saved["weights"])
        spent += saved["facts"]["cpu_seconds"]
        log.append(json.dumps({"kind": "part"} | saved["facts"]) + "\n")
    katago_file.write(options.out / "network.bin.gz", name, network)
    state = json.loads((options.start / "state.json").read_text())
    state["cpu_seconds"] += spent
    state["shape"] = network.shape.facts()
    (options.out / "state.json").write_text(json.dumps(state, indent=1) + "\n")
    earlier = options.start / "log.jsonl"
    (options.out / "log.jsonl").write_text((earlier.read_text() if earlier.exists() else "") + "".join(log))


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path, help="the network to learn from, in KataGo's format")
    parser.add_argument("--start", type=Path, required=True, help="the folder of a run: the network that learns, with nested blocks like the teacher's")
    parser.add_argument("--data", type=Path, required=True, help="folder of shards: training*.npz")
    parser.add_argument("--out", type=Path, required=True, help="folder of this run")
    parser.add_argument("--only", help="the parts with these names alone, such as 4-2,5-4,stem; others stay as they are")
    parser.add_argument("--pool", type=int, default=120_000, help="points that the teacher is asked about; some 60 kB each, and 1.5 kB for each part of --only [%(default)s]")
    parser.add_argument("--vary-komi", type=float, default=0.0, help="share of the positions that get another komi, any [%(default)s]")
    parser.add_argument("--even-komi", type=float, default=0.0, help="share of the positions that get a komi at which a point decides [%(default)s]")
    parser.add_argument("--feed-forward", type=float, default=90, help="CPU seconds for each feed-forward block [%(default)s]")
    parser.add_argument("--attention", type=float, default=40, help="CPU seconds for each block of attention, or of convolutions [%(default)s]")
    parser.add_argument("--convolution", type=float, default=20, help="CPU seconds for each 1×1 convolution [%(default)s]")
    parser.add_argument("--rate", type=float, default=1e-2, help="learning rate at the beginning of a part [%(default)s]")
    parser.add_argument("--attention-rate", type=float, default=1e-2, help="the same of attention, or of blocks of convolutions [%(default)s]")
    parser.add_argument("--tries", type=int, choices=range(5), default=0, help="how often attention begins anew [%(default)s]")
    parser.add_argument("--points", type=int, default=2048, help="points a step; attention takes whole boards [%(default)s]")
    parser.add_argument("--window", type=int, default=8, help="shards in memory while the teacher is asked [%(default)s]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads [%(default)s]")
    options = parser.parse_args(words)
    fast.prepare(options.threads)
    name, network = katago_file.read(options.start / "network.bin.gz")
    asked = teacher.read(options.teacher)
    own, others = ([kinds(block.blocks) for block in it.blocks if hasattr(block, "blocks")] for it in (network, asked))
    if own != others or not own or kinds(network.blocks) != kinds(asked.blocks):
        raise SystemExit(f"{name} has other nested blocks than {asked.name}: nothing can be told")
    claims = Claims(options.out / "parts")
    chosen = None if options.only is None else set(options.only.split(","))
    heads: list[Heads] = []
    if is_smooth(asked):
        if chosen is None or "heads" in chosen:
            network = with_heads_like(network, asked)
        heads = [Heads(network, asked)]
    parts: list[Part | Stem | Heads] = [*parts_of(network), Stem(network), *heads]
    if chosen is not None:
        if unknown := chosen - {part.name() for part in parts}:
            raise SystemExit(f"{name} has no part {', '.join(sorted(unknown))}: {', '.join(part.name() for part in parts)}")
        parts = [part for part in parts if part.name() in chosen]
    pool = None
    for part in parts:
        lock = claims.take(part)
        if lock is None:
            continue
        pool = pool or Pool(asked, options.data, options.pool, options.seed, options.window, options.vary_komi, options.even_komi, parts if options.only else None)
        facts = solve(part, pool) if isinstance(part, Stem | Heads) else teach(part, pool, options)
        saved = {"weights": part.module().state_dict(), "facts": facts}
        write_whole(claims.done(part), lambda file: torch.save(saved, file))
        print(*(f"{key}={value}" for key, value in facts.items()), flush=True)
        lock.close()
    if all(claims.done(part).exists() for part in parts):
        # Several processes may see at the same time that all is done; each writes the same.
        with open(claims.folder / "finish.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            finish(network, parts, claims, name, options)


if __name__ == "__main__":
    main()
