#!/usr/bin/env python3
"""Teaches a network layer by layer what another one of its shape computes: hints.py TEACHER.bin.gz --data SHARDS --out FOLDER

Answers alone teach a transformer slowly: millions of positions go by before its first layers know what they are for. Here
every block is told what is to come out of it, at every point (Romero et al. 2015, "FitNets: hints for thin deep nets"),
with the teacher's numbers going in, so that all blocks learn at once and none waits for another. In the end the last layers learn the
teacher's answers from what these blocks make of the position together. The student's weights begin at random; what it learns from are the numbers
that the teacher computes for positions. The blocks of both networks must be of the same kinds and widths; what is inside nested
blocks may be smaller than in the teacher's.

    minutes 0 to --blocks       each block by itself: what it adds, from what the teacher's blocks before it wrote
    then --joined more          each block by itself, but from what the network's own blocks before it wrote: it learns to make good
                                what these are off. For blocks that cannot do all that the teacher's do
    then --minutes more         the last layers: the teacher's answers, from what the network's own blocks write

FOLDER holds the state (`state.pt`; the same command goes on from it), the log (`log.jsonl`), and what a training begins with:
`train.py --start FOLDER`, or `hints.py --start FOLDER` for another stretch (`--blocks 0 --whole 120`, say). Shards need no labels: the
teacher is asked about every position that comes by.

On two cores: `OMP_NUM_THREADS=1 torchrun --nproc-per-node 2 -- hints.py TEACHER.bin.gz … --threads 1`. Processes share every step (`together.py`).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import fast
import katago_file
import optimiser
import teacher
from data import POLICY_MOVES, Batch, Stream, all_batches, even_komi, odd_komi
from losses import Weights, legal_logits, losses, measures
from model import AttentionBlock, FeedForwardBlock, NestedBlock, Network, Shape, by_planes, by_points
from together import Workers
from train import Average, write_whole


def first(batch: Batch, count: int) -> Batch:
    """The first so many positions of a batch."""
    parts = {field.name: getattr(batch, field.name) for field in dataclasses.fields(batch)}
    return Batch(**{name: part[:count] if isinstance(part, torch.Tensor) else part for name, part in parts.items()})


def at_most(batch: Batch, points: int) -> Batch:
    """The first positions of a batch, with so many points in all at most, but one position at least."""
    return first(batch, max(1, points // (batch.size[0] * batch.size[1])))


def told(answer, batch: Batch) -> None:
    """Makes a teacher's answer what the batch is labelled with, as `label.py` would have written it."""
    policy = F.softmax(legal_logits(answer, batch), dim=1)
    best = policy.topk(min(POLICY_MOVES, policy.shape[1]), dim=1)
    batch.policy_move, batch.policy_share = best.indices, best.values
    batch.policy_rest = (1 - best.values.sum(dim=1)).clamp(min=0)
    batch.optimistic_share = batch.optimistic_rest = None
    if answer.optimistic is not None:
        hopes = F.softmax(legal_logits(answer, batch, optimistic=True), dim=1)
        batch.optimistic_share = hopes.gather(1, best.indices)
        batch.optimistic_rest = (1 - batch.optimistic_share.sum(dim=1)).clamp(min=0)
    batch.teacher_value = F.softmax(answer.value, dim=1)
    batch.teacher_score = torch.stack(
        [answer.score_mean(), answer.score_spread(), answer.lead(), answer.variance_time()], dim=1
    )
    batch.teacher_error = answer.expected_errors()
    batch.teacher_ownership = torch.tanh(answer.ownership)
    # A shard may have forgotten them, or never known: the teacher's answers are what is learnt.
    batch.has_played = torch.zeros_like(batch.has_played)
    batch.result = torch.zeros_like(batch.result)


class Written:
    """What a teacher writes on the way to its answer."""

    def __init__(self, network: teacher.Teacher):
        self.network = network
        self.found: list[torch.Tensor] = []
        # For each nested block, what the first block inside it reads and what every one writes; nothing for others.
        self.inside: list[list[torch.Tensor]] = [[] for _ in network.blocks]
        self.listen(network.blocks, lambda: self.found)
        for index, block in enumerate(network.blocks):
            self.listen(getattr(block, "blocks", []), lambda index=index: self.inside[index])

    @staticmethod
    def listen(blocks, where) -> None:
        for block in blocks[:1]:
            block.register_forward_pre_hook(lambda _, given: where().append(given[0]))
        for block in blocks:
            block.register_forward_hook(lambda _block, _given, written: where().append(written))

    @torch.no_grad()
    def __call__(self, batch: Batch):
        """What the first block reads and what every block writes, each (n, points, channels); and the answer."""
        self.found, self.inside = [], [[] for _ in self.inside]
        answer = self.network(batch.spatial, batch.globals_)
        self.inside = [[part.float() for part in parts] for parts in self.inside]
        return [part.float() for part in self.found], answer


def kinds(blocks: nn.ModuleList) -> list[tuple]:
    """What must be the same of two networks for one to be told what the other computes."""
    found = []
    for block in blocks:
        name = type(block).__name__.strip("_").removesuffix("Block")
        widths: tuple = ()
        if name == "Attention":
            widths = (block.heads, block.out.weight.shape[0])
        elif name == "FeedForward":
            widths = (block.last.weight.shape[0],)
        found.append((name, *widths))
    return found


def off(written: torch.Tensor, wanted: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """How far off a block is, as a share of what the teacher's block adds (mean squares)."""
    return (written - wanted).square().sum() / (wanted - before).square().sum().clamp(min=1e-12)


class Training:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        options.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        network = teacher.read(options.teacher)
        self.teacher = Written(network.bfloat16() if options.precision == "bf16" else network)
        name, self.network = options.shape, Network(Shape.named(options.shape))
        if options.start:
            name, self.network = katago_file.read(options.start / "network.bin.gz")
        width = self.teacher.network.from_global.out_features
        if kinds(self.network.blocks) != kinds(self.teacher.network.blocks) or self.network.shape.channels != width:
            raise SystemExit(f"{name} has other blocks than {self.teacher.network.name}: nothing can be told")
        if not options.start:
            self.start()
        self.optimiser = optimiser.make(self.network, "muon", options.rate, options.decay)
        self.average = Average(self.network, options.average)
        self.workers = Workers()
        self.stream = Stream(options.data, options.batch, options.seed + 1000 * self.workers.rank, options.window)
        self.weights = Weights(policy=2.5, value=2.5, score=0.5)
        self.steps, self.positions, self.cpu_seconds, self.wall_seconds = 0, 0, 0.0, 0.0
        # Seconds of this process alone; and has someone told it to stop?
        self.own_seconds, self.own_cpu_seconds, self.told_to_stop = 0.0, 0.0, False
        self.stopping = False
        if options.start:
            self.take_over(options.start)
        # The part of the latest step.
        self.latest = ""
        fast.use_pairs(options.precision == "bf16")
        self.load()
        self.workers.agree(self.network)

    @torch.no_grad()
    def start(self) -> None:
        """A block that adds nothing, as a new network has them, learns nothing here at first: there is no other to learn from.
        And what no position shows, rules for instance, is to count for nothing."""
        nn.init.zeros_(self.network.conv1.weight)
        nn.init.zeros_(self.network.from_global.weight)
        for block, model in zip(self.network.blocks, self.teacher.network.blocks):
            if isinstance(block, NestedBlock):
                for inner in block.blocks:
                    nn.init.normal_((inner.out if isinstance(inner, AttentionBlock) else inner.last).weight, std=0.03)
                nn.init.normal_(block.conv2.weight, std=0.03)
                continue
            last = block.out if isinstance(block, AttentionBlock) else block.last
            nn.init.normal_(last.weight, std=0.03)
            if isinstance(block, AttentionBlock) and model.theta is not None:
                # Nobody learnt these rotations: they are a formula of its shape.
                block.frequencies.copy_(model.frequencies)

    # -- where it stands

    def take_over(self, folder: Path) -> None:
        """Counts on from another run. The minutes of the parts are those of this one."""
        state = json.loads((folder / "state.json").read_text())
        self.steps, self.positions, self.cpu_seconds = state["steps"], state["positions"], state["cpu_seconds"]
        # Another order than at the start, should the shards be the same.
        self.stream.round = state["round"] + 1
        log = folder / "log.jsonl"
        if log.exists() and self.workers.is_first():
            (self.options.out / "log.jsonl").write_bytes(log.read_bytes())

    def load(self) -> None:
        path = self.options.out / "state.pt"
        if not path.exists():
            return
        saved = torch.load(path, map_location="cpu", weights_only=True)
        self.network.load_state_dict(saved["network"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.average.weights, self.average.steps = saved["average"], saved["average_steps"]
        self.stream.restore(saved["stream"])
        for key in ("steps", "positions", "cpu_seconds", "wall_seconds", "latest"):
            setattr(self, key, saved[key])

    def save(self) -> None:
        state = {key: getattr(self, key) for key in ("steps", "positions", "cpu_seconds", "wall_seconds", "latest")}
        state |= {"network": self.network.state_dict(), "optimiser": self.optimiser.state_dict()}
        state |= {"average": self.average.weights, "average_steps": self.average.steps, "stream": self.stream.state()}
        write_whole(self.options.out / "state.pt", lambda file: torch.save(state, file))
        own = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.average.weights)
        katago_file.write(self.options.out / "network.bin.gz", f"{self.options.name}-p{self.positions}", self.network)
        self.network.load_state_dict(own)
        facts = {key: getattr(self, key) for key in ("positions", "steps", "cpu_seconds", "wall_seconds")}
        facts |= {"round": self.stream.round, "shape": self.network.shape.facts()}
        (self.options.out / "state.json").write_text(json.dumps(facts, indent=1) + "\n")

    def log(self, kind: str, **facts) -> None:
        if not self.workers.is_first():
            return
        line = {"kind": kind, "positions": self.positions, "steps": self.steps}
        line |= {"cpu_hours": round(self.cpu_seconds / 3600, 4), "hours": round(self.wall_seconds / 3600, 4)}
        line |= {name: round(value, 5) if isinstance(value, float) else value for name, value in facts.items()}
        with open(self.options.out / "log.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        print(" ".join(f"{name}={value}" for name, value in line.items()), flush=True)

    # -- a step

    def blocks_apart(self, batch: Batch) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """How far off every block is that reads the teacher's numbers, and what the answers from the teacher's last
        numbers cost."""
        written, answer = self.teacher(batch)
        told(answer, batch)
        x, area = self.network.stem(batch.spatial, batch.globals_)
        found = [off(by_points(x), written[0], torch.zeros_like(written[0]))]
        models = self.teacher.network.blocks
        for block, model, inside, *parts in zip(self.network.blocks, models, self.teacher.inside, written, written[1:]):
            if isinstance(block, NestedBlock) and kinds(block.blocks) == kinds(model.blocks):
                found.append(sum(self.parts_apart(block, inside, *parts, batch.spatial, area)))
            else:
                found.append(self.block_apart(block, *parts, batch.spatial, area))
        return found, losses(self.network.answer(by_planes(written[-1], batch.spatial), area), batch, self.weights)

    def block_apart(self, block: nn.Module, before: torch.Tensor, wanted: torch.Tensor, like: torch.Tensor, area) -> torch.Tensor:
        """How far off a block is that reads the teacher's numbers."""
        if isinstance(block, FeedForwardBlock) and before[..., 0].numel() > self.options.points:
            # Points do not see each other here, and as many as these say enough for one step.
            chosen = torch.randperm(before[..., 0].numel())[: self.options.points]
            before, wanted = (part.flatten(0, 1)[chosen][:, None] for part in (before, wanted))
            like = before.new_empty(len(before), 1, 1, 1)
        return off(by_points(block(by_planes(before, like), area)), wanted, before)

    def parts_apart(self, block: NestedBlock, inside, before, wanted, like: torch.Tensor, area) -> list[torch.Tensor]:
        """The same of every part of a nested block that is as wide inside as the teacher's: both 1×1 convolutions, and what is between
        them."""
        first = by_points(block.enter(by_planes(before, like), area))
        last = before + by_points(block.leave(by_planes(inside[-1], like), area))
        between = zip(block.blocks, inside, inside[1:])
        return [
            off(first, inside[0], torch.zeros_like(inside[0])),
            *(self.block_apart(inner, *parts, like, area) for inner, *parts in between),
            off(last, wanted, before),
        ]

    def from_own_numbers(self, batch: Batch, part: str) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """The same of the network's own numbers. In the last part only the last layers learn from them: what the blocks are off adds up
        to something that they can allow for. In the part before it all learn what all would like; of joined blocks none is told what
        its successors would like."""
        written, answer = self.teacher(batch)
        told(answer, batch)
        with torch.set_grad_enabled(part != "minutes"):
            x, area = self.network.stem(batch.spatial, batch.globals_)
            found = [off(by_points(x), written[0], torch.zeros_like(written[0]))]
            for block, before, wanted in zip(self.network.blocks, written, written[1:]):
                x = block(x if part == "whole" else x.detach(), area)
                found.append(off(by_points(x), wanted, before))
        return found, losses(self.network.answer(x if part == "whole" else x.detach(), area), batch, self.weights)

    def part(self) -> tuple[str, float, float]:
        """The part that it is in, as its option is called, the rate at which that begins, and how much of it is over, 0 to 1."""
        options, begun = self.options, 0.0
        parts = ("blocks", options.rate), ("joined", options.joined_rate), ("whole", options.whole_rate), ("minutes", options.last_rate)
        for name, rate in parts:
            share = (self.wall_seconds / 60 - begun) / max(1e-9, getattr(options, name))
            # A part of no minutes has no step either, not even the first.
            if name == "minutes" or share < 1 and getattr(options, name) > 0:
                return name, rate, share
            begun += getattr(options, name)
        raise AssertionError("there is a last part")

    def rate(self) -> float:
        """All parts begin with a rising rate and end with a falling one, the first at a tenth."""
        name, rate, share = self.part()
        falling = 1.4 * (1 - share)
        if name == "blocks":
            return rate * min(1.0, (self.steps + 1) / 50) * max(0.1, min(1.0, falling))
        return rate * max(0.0, min(1.0, 20 * share + 0.01, falling))

    def step(self, batch: Batch) -> dict[str, float]:
        batch = at_most(batch, self.options.most)
        area, rng = batch.size[0] * batch.size[1], np.random.default_rng((self.options.seed, self.workers.rank, self.steps))
        if self.options.vary_komi > 0:
            batch.globals_ = torch.from_numpy(odd_komi(batch.globals_.numpy(), area, self.options.vary_komi, rng))
        if self.options.even_komi > 0:
            leads = self.teacher(batch)[1].lead().numpy()
            batch.globals_ = torch.from_numpy(even_komi(batch.globals_.numpy(), area, self.options.even_komi, leads, rng))
        name, _, share = self.part()
        if self.latest not in ("", name):
            # A part begins with what the one before has come to, averaged.
            self.network.load_state_dict(self.average.weights)
        self.latest = name
        if name == "blocks":
            found, parts = self.blocks_apart(batch)
        else:
            found, parts = self.from_own_numbers(batch, name)
        # The answers are what counts in the end.
        weight = {"blocks": 1.0, "joined": 1.0, "whole": max(0.0, 1 - share), "minutes": 0.0}[name]
        total = sum(parts.values()) + weight * sum(found)
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        # All workers have to agree about rates and parts, and who stops alone would leave the others waiting.
        own = [self.own_seconds, self.own_cpu_seconds, float(self.told_to_stop), float(len(batch))]
        self.wall_seconds, cpu_seconds, stopping, positions = self.workers.mean(self.network, own)
        self.cpu_seconds, self.stopping = cpu_seconds * self.workers.count, stopping > 0
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 20.0)
        self.optimiser.step()
        self.average.update()
        self.steps += 1
        self.positions += round(positions * self.workers.count)
        facts = {f"off/{index}": float(part.detach()) for index, part in enumerate(found)}
        return facts | {f"loss/{name}": float(part.detach()) for name, part in parts.items()}

    @torch.no_grad()
    def validate(self) -> None:
        """How far the network as a whole is from this teacher, on what was held back, by board size."""
        own = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.average.weights)
        for kind in ["validation", "validation at even komi"][: 1 + (self.options.even_komi > 0)]:
            totals: dict[tuple[int, int], dict[str, float]] = {}
            rng = np.random.default_rng(1)
            for batch in all_batches(self.options.data, "validation", 16, self.options.validation_positions):
                answer = self.teacher(batch)[1]
                if kind != "validation":
                    area = batch.size[0] * batch.size[1]
                    batch.globals_ = torch.from_numpy(even_komi(batch.globals_.numpy(), area, 1.0, answer.lead().numpy(), rng))
                    answer = self.teacher(batch)[1]
                told(answer, batch)
                found = totals.setdefault(batch.size, {})
                for name, value in measures(self.network(batch.spatial, batch.globals_), batch).items():
                    found[name] = found.get(name, 0.0) + float(value)
            for (columns, rows), found in sorted(totals.items()):
                names = [name for name in found if not name.endswith("/count") and found[f"{name}/count"]]
                self.log(kind, size=f"{columns}x{rows}", **{name: found[name] / found[f"{name}/count"] for name in names})
        self.network.load_state_dict(own)

    def run(self) -> None:
        options = self.options
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "told_to_stop", True))
        begun = time.monotonic() - self.wall_seconds
        cpu = time.process_time() - self.cpu_seconds / self.workers.count
        self.own_seconds, self.own_cpu_seconds = self.wall_seconds, self.cpu_seconds / self.workers.count
        sums: dict[str, float] = {}
        count, logged_at = 0, self.wall_seconds
        for batch in self.stream:
            for name, value in self.step(batch).items():
                sums[name] = sums.get(name, 0.0) + value
            count += 1
            self.own_seconds, self.own_cpu_seconds = time.monotonic() - begun, time.process_time() - cpu
            done = self.stopping or self.wall_seconds > 60 * (options.blocks + options.joined + options.whole + options.minutes)
            if done or self.wall_seconds - logged_at > 60 * options.log_minutes:
                self.log("hints", rate=self.rate(), **{name: value / count for name, value in sums.items()})
                sums, count, logged_at = {}, 0, self.wall_seconds
                if self.workers.is_first():
                    self.save()
                self.workers.agree(self.network)
            if done:
                break
        self.workers.leave()
        if self.workers.is_first():
            self.validate()


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path, help="the network to learn from, in KataGo's format")
    parser.add_argument("--data", type=Path, required=True, help="folder of shards: training*.npz, validation*.npz")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--shape", default="b7c96h3tflrs", help="of the same blocks as the teacher [%(default)s]")
    parser.add_argument("--start", type=Path, help="begin with the network of this folder, whatever the shape")
    parser.add_argument("--name", default="kosumi", help="name within the network's file [%(default)s]")
    parser.add_argument("--blocks", type=float, default=60, help="minutes for every block by itself [%(default)s]")
    parser.add_argument("--joined", type=float, default=0, help="minutes for blocks that read the network's own numbers [%(default)s]")
    parser.add_argument("--whole", type=float, default=0, help="minutes for all at once, after these [%(default)s]")
    parser.add_argument("--minutes", type=float, default=5, help="minutes for the last layers, after these [%(default)s]")
    parser.add_argument("--rate", type=float, default=1e-2, help="learning rate of the blocks [%(default)s]")
    parser.add_argument("--joined-rate", type=float, default=2e-3, help="learning rate of joined blocks [%(default)s]")
    parser.add_argument("--whole-rate", type=float, default=5e-4, help="learning rate of all at once [%(default)s]")
    parser.add_argument("--last-rate", type=float, default=2e-3, help="learning rate of the last layers then [%(default)s]")
    parser.add_argument("--decay", type=float, default=0.0, help="weight decay [%(default)s]")
    parser.add_argument("--batch", type=int, default=16, help="positions a step [%(default)s]")
    parser.add_argument("--most", type=int, default=2048, help="points a step; boards with more come in smaller batches [%(default)s]")
    parser.add_argument("--points", type=int, default=1500, help="points that a feed-forward block learns from in a step [%(default)s]")
    parser.add_argument("--even-komi", type=float, default=0.0, help="share of the positions that get a komi at which a point decides [%(default)s]")
    parser.add_argument("--vary-komi", type=float, default=0.0, help="share of the positions that get another komi, any [%(default)s]")
    parser.add_argument("--average", type=float, default=300, help="steps over which weights are averaged [%(default)s]")
    parser.add_argument("--window", type=int, default=4, help="shards in memory [%(default)s]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-minutes", type=float, default=2, help="between lines of the log and saved states [%(default)s]")
    parser.add_argument("--validation-positions", type=int, default=512, help="the first so many of each size [%(default)s]")
    parser.add_argument("--threads", type=int, help="CPU threads [all]")
    parser.add_argument(
        "--precision", choices=["f32", "bf16"], default="f32", help="of the teacher; bf16 is for processors that have it [%(default)s]"
    )
    return parser.parse_args(words)


def main() -> None:
    options = arguments()
    fast.prepare(options.threads or os.cpu_count() or 1)
    Training(options).run()


if __name__ == "__main__":
    main()
