"""The stages `distil blocks` and `distil heads`: all blocks, or all heads, are trained on a stream of positions."""

from __future__ import annotations

import argparse
import functools
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from .. import fast, katago_file, optimiser, runs, teacher
from .. import options as shared
from ..komi import even_komi, odd_komi
from ..label import label_batch
from ..losses import Weights, losses
from ..model import Answer, Area, AttentionBlock, FeedForwardBlock, NestedBlock, Network, Shape, by_planes, by_points
from ..shards import Batch, Stream, all_batches, at_most
from ..workers import Workers

# Defaults that differ between the stages: minutes and learning rate.
DEFAULTS = {"blocks": (60.0, 1e-2), "heads": (5.0, 2e-3)}


class Recorder:
    """A teacher that records the inputs and outputs of its blocks."""

    def __init__(self, network: teacher.Teacher) -> None:
        self.network = network
        self.found: list[torch.Tensor] = []
        # For each nested block: the input of the first inner block, and the output of every inner block.
        self.inside: list[list[torch.Tensor]] = [[] for _ in network.blocks]
        self._listen(network.blocks, None)
        for index, block in enumerate(network.blocks):
            self._listen(getattr(block, "blocks", []), index)

    def _listen(self, blocks: Any, index: int | None) -> None:
        for block in blocks[:1]:
            block.register_forward_pre_hook(functools.partial(self._record_input, index))
        for block in blocks:
            block.register_forward_hook(functools.partial(self._record_output, index))

    def _record_input(self, index: int | None, _block: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        (self.found if index is None else self.inside[index]).append(given[0])

    def _record_output(self, index: int | None, _block: nn.Module, _given: object, written: torch.Tensor) -> None:
        (self.found if index is None else self.inside[index]).append(written)

    @torch.no_grad()
    def __call__(self, batch: Batch) -> tuple[list[torch.Tensor], Answer]:
        """Returns the input of the first block and the output of every block, each (n, points, channels), and the
        outputs of the network."""
        self.found, self.inside = [], [[] for _ in self.inside]
        answer = self.network(batch.spatial, batch.globals_)
        self.inside = [[part.float() for part in parts] for parts in self.inside]
        return [part.float() for part in self.found], answer


def kinds(blocks: Iterable[nn.Module]) -> list[tuple[Any, ...]]:
    """Returns what must be equal in two networks so that one can learn the activations of the other: kinds and widths
    of the blocks."""
    found: list[tuple[Any, ...]] = []
    for block in blocks:
        name = type(block).__name__.strip("_").removesuffix("Block")
        if name == "Attention":
            found.append((name, block.heads, block.out.weight.shape[0]))
        elif name == "FeedForward":
            found.append((name, block.last.weight.shape[0]))
        else:
            found.append((name,))
    return found


def error_of(written: torch.Tensor, wanted: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """Returns the squared error of a block's output, as a share of the squared change that the teacher's block
    makes."""
    return (written - wanted).square().sum() / (wanted - before).square().sum().clamp(min=1e-12)


class Training:
    """A run of one of the two stages."""

    COUNTS = ("steps", "positions", "cpu_seconds", "wall_seconds")

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        options.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        network = teacher.read(options.teacher)
        self.teacher = Recorder(network.bfloat16() if options.precision == "bf16" else network)
        if options.start:
            name, self.network = katago_file.read(runs.network_of(options.start))
        else:
            name, self.network = options.shape, Network(Shape.named(options.shape))
        width = self.teacher.network.from_global.out_features
        if kinds(self.network.blocks) != kinds(self.teacher.network.blocks) or self.network.shape.channels != width:
            raise SystemExit(
                f"{name} has other blocks than {self.teacher.network.name}, so it cannot learn its numbers"
            )
        if not options.start:
            self.initialise()
        self.optimiser = optimiser.make(self.network, "muon", options.rate, options.decay)
        self.average = runs.Average(self.network, options.average)
        self.workers = Workers()
        self.stream = Stream(options.data, options.batch, options.seed + 1000 * self.workers.rank, options.window)
        self.weights = Weights(policy=2.5, value=2.5, score=0.5)
        self.steps, self.positions, self.cpu_seconds, self.wall_seconds = 0, 0, 0.0, 0.0
        # Seconds of this run, averaged over all processes; CPU seconds and seconds of earlier runs.
        self.run_seconds, self.earlier_cpu, self.earlier_wall = 0.0, 0.0, 0.0
        # Seconds of this process, and whether it received a signal to stop.
        self.own_seconds, self.own_cpu_seconds, self.was_signalled = 0.0, 0.0, False
        self.stopping = False
        fast.use_pairs(options.precision == "bf16")
        if not self.load() and options.start:
            self.take_over(options.start)
        self.workers.agree(self.network)

    @torch.no_grad()
    def initialise(self) -> None:
        """Initialises the weights of a new network for this stage.

        A block that adds nothing to the residual would learn nothing at first, so blocks begin with small outputs.
        Input weights begin at 0, so that inputs that no position shows, such as rare rules, have no effect.
        """
        nn.init.zeros_(self.network.conv1.weight)
        nn.init.zeros_(self.network.from_global.weight)
        for block, model in zip(self.network.blocks, self.teacher.network.blocks, strict=True):
            if isinstance(block, NestedBlock):
                for inner in block.blocks:
                    nn.init.normal_((inner.out if isinstance(inner, AttentionBlock) else inner.last).weight, std=0.03)
                nn.init.normal_(block.conv2.weight, std=0.03)
                continue
            last = block.out if isinstance(block, AttentionBlock) else block.last
            nn.init.normal_(last.weight, std=0.03)
            if isinstance(block, AttentionBlock) and model.theta is not None:
                # The teacher's rotations follow from a formula, so they are copied.
                block.frequencies.copy_(model.frequencies)

    # State.

    def take_over(self, start: Path) -> None:
        """Continues the counts and the log of another run."""
        state = runs.state_of(start)
        self.steps, self.positions = state["steps"], state["positions"]
        self.earlier_cpu = self.cpu_seconds = state["cpu_seconds"]
        self.earlier_wall = self.wall_seconds = state["wall_seconds"]
        # The order must differ from that of the other run, in case the shards are the same.
        self.stream.round = state["round"] + 1
        if self.workers.is_first():
            runs.copy_log(start, self.options.out)

    def load(self) -> bool:
        """Resumes the run in this folder. Returns whether there was one."""
        path = self.options.out / "state.pt"
        if not path.exists():
            return False
        saved = torch.load(path, map_location="cpu", weights_only=True)
        self.network.load_state_dict(saved["network"])
        self.optimiser.load_state_dict(saved["optimiser"])
        self.average.weights, self.average.steps = saved["average"], saved["average_steps"]
        self.stream.restore(saved["stream"])
        for key in (*self.COUNTS, "run_seconds", "earlier_cpu", "earlier_wall"):
            setattr(self, key, saved[key])
        return True

    def save(self) -> None:
        """Stores the state, the counts and the network."""
        counts = {key: getattr(self, key) for key in self.COUNTS}
        state = counts | {key: getattr(self, key) for key in ("run_seconds", "earlier_cpu", "earlier_wall")}
        state |= {"network": self.network.state_dict(), "optimiser": self.optimiser.state_dict()}
        state |= {"average": self.average.weights, "average_steps": self.average.steps, "stream": self.stream.state()}
        out = self.options.out
        runs.write_whole(out / "state.pt", lambda file: torch.save(state, file))
        runs.export_average(out, f"{self.options.name}-p{self.positions}", self.network, self.average.weights)
        runs.write_state(out, counts | {"round": self.stream.round, "shape": self.network.shape.facts()})

    def log(self, kind: str, **facts: Any) -> None:
        """Appends a line to the log, in the first process only."""
        if not self.workers.is_first():
            return
        line: dict[str, Any] = {"positions": self.positions, "steps": self.steps}
        line |= {"cpu_hours": round(self.cpu_seconds / 3600, 4), "hours": round(self.wall_seconds / 3600, 4)}
        print(runs.text_of(runs.append(self.options.out, kind, line | facts)), flush=True)

    # Steps.

    def errors_of_blocks(self, batch: Batch) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """Returns the errors of stem and blocks with the teacher's activations as input, and the loss terms of the
        heads with the output of the teacher's last block as input."""
        written, answer = self.teacher(batch)
        label_batch(batch, answer)
        x, area = self.network.stem(batch.spatial, batch.globals_)
        found = [error_of(by_points(x), written[0], torch.zeros_like(written[0]))]
        models, inside = self.teacher.network.blocks, self.teacher.inside
        for index, (block, model) in enumerate(zip(self.network.blocks, models, strict=True)):
            before, wanted = written[index], written[index + 1]
            if isinstance(block, NestedBlock) and kinds(block.blocks) == kinds(model.blocks):
                errors = self.errors_of_parts(block, inside[index], before, wanted, batch.spatial, area)
                found.append(torch.stack(errors).sum())
            else:
                found.append(self.error_of_block(block, before, wanted, batch.spatial, area))
        return found, losses(self.network.answer(by_planes(written[-1], batch.spatial), area), batch, self.weights)

    def error_of_block(
        self, block: nn.Module, before: torch.Tensor, wanted: torch.Tensor, like: torch.Tensor, area: Area
    ) -> torch.Tensor:
        """Returns the error of a block with the teacher's activations as input."""
        if isinstance(block, FeedForwardBlock) and before[..., 0].numel() > self.options.points:
            # Points do not interact here, and this number of them suffices for a step.
            chosen = torch.randperm(before[..., 0].numel())[: self.options.points]
            before, wanted = (part.flatten(0, 1)[chosen][:, None] for part in (before, wanted))
            like = before.new_empty(len(before), 1, 1, 1)
        return error_of(by_points(block(by_planes(before, like), area)), wanted, before)

    def errors_of_parts(
        self,
        block: NestedBlock,
        inside: list[torch.Tensor],
        before: torch.Tensor,
        wanted: torch.Tensor,
        like: torch.Tensor,
        area: Area,
    ) -> list[torch.Tensor]:
        """Returns the errors of both 1×1 convolutions and of the inner blocks, for a nested block whose inner blocks
        are like the teacher's."""
        first = by_points(block.enter(by_planes(before, like), area))
        last = before + by_points(block.leave(by_planes(inside[-1], like), area))
        between = zip(block.blocks, inside[:-1], inside[1:], strict=True)
        return [
            error_of(first, inside[0], torch.zeros_like(inside[0])),
            *(self.error_of_block(inner, given, made, like, area) for inner, given, made in between),
            error_of(last, wanted, before),
        ]

    def losses_of_heads(self, batch: Batch) -> tuple[list[torch.Tensor], dict[str, torch.Tensor]]:
        """Returns the errors of stem and blocks with the network's own activations as input, and the loss terms of the
        heads. Only the heads get gradients, because they can compensate part of the accumulated errors of the
        blocks."""
        written, answer = self.teacher(batch)
        label_batch(batch, answer)
        with torch.no_grad():
            x, area = self.network.stem(batch.spatial, batch.globals_)
            found = [error_of(by_points(x), written[0], torch.zeros_like(written[0]))]
            for block, before, wanted in zip(self.network.blocks, written[:-1], written[1:], strict=True):
                x = block(x, area)
                found.append(error_of(by_points(x), wanted, before))
        return found, losses(self.network.answer(x, area), batch, self.weights)

    def rate(self) -> float:
        """Returns the learning rate. It rises at first and falls at the end, to a tenth in `blocks` and to 0 in
        `heads`."""
        options = self.options
        share = self.run_seconds / 60 / max(1e-9, options.minutes)
        falling = 1.4 * (1 - share)
        if options.stage == "blocks":
            return options.rate * min(1.0, (self.steps + 1) / 50) * max(0.1, min(1.0, falling))
        return options.rate * max(0.0, min(1.0, 20 * share + 0.01, falling))

    def step(self, batch: Batch) -> dict[str, float]:
        """Trains on a batch. Returns the errors and loss terms."""
        options = self.options
        batch = at_most(batch, options.most)
        area, rng = batch.size[0] * batch.size[1], np.random.default_rng((options.seed, self.workers.rank, self.steps))
        if options.vary_komi > 0:
            batch.globals_ = torch.from_numpy(odd_komi(batch.globals_.numpy(), area, options.vary_komi, rng))
        if options.even_komi > 0:
            leads = self.teacher(batch)[1].lead().numpy()
            batch.globals_ = torch.from_numpy(even_komi(batch.globals_.numpy(), area, options.even_komi, leads, rng))
        if options.stage == "blocks":
            found, parts = self.errors_of_blocks(batch)
            total = torch.stack([*parts.values(), *found]).sum()
        else:
            found, parts = self.losses_of_heads(batch)
            total = torch.stack(list(parts.values())).sum()
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        # All processes must use the same rate, and stop at the same step.
        own = [self.own_seconds, self.own_cpu_seconds, float(self.was_signalled), float(len(batch))]
        self.run_seconds, cpu_seconds, stopping, positions = self.workers.mean(self.network, own)
        self.wall_seconds = self.earlier_wall + self.run_seconds
        self.cpu_seconds = self.earlier_cpu + cpu_seconds * self.workers.count
        self.stopping = stopping > 0
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
        """Logs the distance of the averaged network from the teacher on held-back positions, by board size."""
        options = self.options
        with runs.Averaged(self.network, self.average.weights):
            for kind in ["validation", "validation at even komi"][: 1 + (options.even_komi > 0)]:
                totals, rng = runs.Totals(), np.random.default_rng(1)
                for batch in all_batches(options.data, "validation", 16, options.validation_positions):
                    answer = self.teacher(batch)[1]
                    if kind != "validation":
                        area, leads = batch.size[0] * batch.size[1], answer.lead().numpy()
                        batch.globals_ = torch.from_numpy(even_komi(batch.globals_.numpy(), area, 1.0, leads, rng))
                        answer = self.teacher(batch)[1]
                    label_batch(batch, answer)
                    totals.add(self.network(batch.spatial, batch.globals_), batch)
                for size, facts in totals.means().items():
                    self.log(kind, size=size, **facts)

    def stop(self, *_: object) -> None:
        """Ends the run after the current step. Handles a signal."""
        self.was_signalled = True

    def run(self) -> None:
        """Trains for the time that the options set, or until a signal."""
        options = self.options
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        begun = time.monotonic() - self.run_seconds
        self.own_seconds = self.run_seconds
        cpu = time.process_time() - (self.cpu_seconds - self.earlier_cpu) / self.workers.count
        self.own_cpu_seconds = time.process_time() - cpu
        sums: dict[str, float] = {}
        count, logged_at = 0, self.run_seconds
        for batch in self.stream:
            for name, value in self.step(batch).items():
                sums[name] = sums.get(name, 0.0) + value
            count += 1
            self.own_seconds, self.own_cpu_seconds = time.monotonic() - begun, time.process_time() - cpu
            done = self.stopping or self.run_seconds > 60 * options.minutes
            if done or self.run_seconds - logged_at > 60 * options.log_minutes:
                self.log(options.stage, rate=self.rate(), **{name: value / count for name, value in sums.items()})
                sums, count, logged_at = {}, 0, self.run_seconds
                if self.workers.is_first():
                    self.save()
                self.workers.agree(self.network)
            if done:
                break
        self.workers.leave()
        if self.workers.is_first():
            self.validate()


def add_arguments(parser: argparse.ArgumentParser, stage: str) -> None:
    minutes, rate = DEFAULTS[stage]
    parser.add_argument("teacher", type=Path, help="network to learn from, in KataGo's format")
    shared.data(parser)
    shared.out(parser)
    shared.start(parser, required=stage == "heads")
    if stage == "blocks":
        parser.add_argument("--shape", default="b7c96h3tflrs", help="shape of a new network [%(default)s]")
    shared.name(parser)
    parser.add_argument("--minutes", type=float, default=minutes, help="minutes of the run [%(default)s]")
    parser.add_argument("--rate", type=float, default=rate, help="learning rate [%(default)s]")
    parser.add_argument("--decay", type=float, default=0.0, help="weight decay [%(default)s]")
    parser.add_argument("--batch", type=int, default=16, help="positions of a step [%(default)s]")
    parser.add_argument(
        "--most", type=int, default=2048, help="points of a step; larger boards come in smaller batches [%(default)s]"
    )
    parser.add_argument(
        "--points", type=int, default=1500, help="points from which a feed-forward block learns in a step [%(default)s]"
    )
    shared.vary_komi(parser)
    shared.even_komi(parser)
    parser.add_argument(
        "--average", type=float, default=300, help="steps over which weights are averaged [%(default)s]"
    )
    shared.window(parser, 4)
    shared.seed(parser)
    parser.add_argument("--log-minutes", type=float, default=2, help="minutes between states [%(default)s]")
    parser.add_argument(
        "--validation-positions", type=int, default=512, help="positions of each size to validate on [%(default)s]"
    )
    shared.processor(parser)
    parser.add_argument(
        "--precision",
        choices=["f32", "bf16"],
        default="f32",
        help="precision of the teacher and of products; bf16 is for processors that have it [%(default)s]",
    )


def run(options: argparse.Namespace) -> None:
    """Runs the stage."""
    shared.prepare(options)
    Training(options).run()
