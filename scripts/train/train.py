#!/usr/bin/env python3
"""Trains a network from shards, on a GPU if there is one, and goes on where it was stopped.

    train.py --data SHARDS --out RUN [--shape b4c64] [--start PACKED]

RUN holds the state (`state.pt`, replaced in one step every few minutes), the log (`log.jsonl`), the curves
(`curves.png`) and the network so far (`network.bin.gz`). Started again with the same RUN, the training continues as if
it had never stopped. README.md beside this file says more.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

# Threads that wait must sleep: this program runs beside others on a few cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch

import fast
import katago_file
import optimiser
from data import Batch, Stream, all_batches, shard_files
from losses import Weights, losses, measures
from model import GLOBAL_FEATURES, SPATIAL_FEATURES, Network, Shape

def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of shards: training*.npz, validation*.npz")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--shape", default="b4c64", help="blocks and channels of a new network [%(default)s]")
    parser.add_argument("--start", type=Path, help="begin with this packed network (see pack.py)")
    parser.add_argument("--name", default="kosumi", help="name within the network's file [%(default)s]")
    parser.add_argument("--optimiser", default="muon", help="muon, adamw or nesterov [%(default)s]")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate [%(default)s]")
    parser.add_argument("--decay", type=float, default=0.05, help="weight decay [%(default)s]")
    parser.add_argument("--batch", type=int, default=64, help="positions a step [%(default)s]")
    parser.add_argument("--warm-up", type=int, default=20_000, help="positions of rising rate [%(default)s]")
    parser.add_argument("--positions", type=int, help="stop after so many in all")
    parser.add_argument("--cool-down", type=int, default=0, help="the last so many of --positions or --minutes at a falling rate")
    parser.add_argument("--minutes", type=float, help="stop after so many of this run")
    parser.add_argument("--average", type=int, default=100_000, help="positions over which weights are averaged")
    parser.add_argument("--policy", type=float, default=Weights.policy, help="weight of the teacher's moves [%(default)s]")
    parser.add_argument("--played", type=float, default=Weights.played, help="weight of the played move beside a teacher")
    parser.add_argument("--value", type=float, default=Weights.value, help="weight of the value [%(default)s]")
    parser.add_argument("--score", type=float, default=Weights.score, help="weight of the score [%(default)s]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--window", type=int, default=4, help="shards in memory [%(default)s]")
    parser.add_argument("--labelled", action="store_true", help="take only shards that a teacher labelled (label.py)")
    parser.add_argument("--weak", default="", help="of shards whose names begin so only the teacher's words count")
    parser.add_argument(
        "--regretted", type=int, default=1, help="take positions so often where the player chose what the teacher would not"
    )
    parser.add_argument("--open-games", type=int, default=1, help="take positions so often where the teacher thinks the game is open")
    parser.add_argument("--checkpoint-minutes", type=float, default=5, help="[%(default)s]")
    parser.add_argument("--validate", type=int, default=50_000, help="positions between validations [%(default)s]")
    parser.add_argument("--validation-positions", type=int, default=4096, help="the first so many of each size [%(default)s]")
    parser.add_argument("--threads", type=int, help="CPU threads [all]")
    parser.add_argument("--nice", type=int, default=0, help="lower the priority by this much")
    parser.add_argument("--busy", type=float, default=1.0, help="share of the time to compute; sleeps for the rest")
    parser.add_argument("--precision", choices=["auto", "f32", "bf16"], default="auto")
    return parser.parse_args()


def write_whole(path: Path, write) -> None:
    """Replaces a file in one step: a kill leaves the old one or the new one."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


class Average:
    """Moving average of the weights: it plays better than they do, as the noise of the steps cancels out."""

    def __init__(self, network: Network, steps: float):
        self.network = network
        self.keep = 1 - 1 / max(1.0, steps)
        self.steps = 0
        self.weights = {name: value.detach().clone() for name, value in network.state_dict().items()}

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        # At first the average forgets faster: the early weights are no use.
        keep = min(self.keep, self.steps / (self.steps + 10))
        for name, value in self.network.state_dict().items():
            self.weights[name].lerp_(value, 1 - keep)


class Precision:
    """bf16 where the processor computes with it faster than with f32, which a short test at the start shows: in the
    products alone where `fast.py` has them, else as PyTorch does it."""

    def __init__(self, device: torch.device, wanted: str, network: Network):
        self.device = device.type
        self.pairs = device.type == "cpu" and fast.has_pairs()
        self.bf16 = wanted == "bf16"
        if wanted != "auto":
            return
        if device.type == "cuda":
            self.bf16 = torch.cuda.is_bf16_supported()
        elif self.pairs or torch.ops.mkldnn._is_mkldnn_bf16_supported():
            seconds = {}
            for self.bf16 in (False, True):
                self.step(network)
                start = time.perf_counter()
                self.step(network)
                seconds[self.bf16] = time.perf_counter() - start
            # Where it hardly is faster, its rounding is not worth it.
            self.bf16 = seconds[True] < 0.8 * seconds[False]

    def step(self, network: Network) -> None:
        spatial = torch.zeros(32, SPATIAL_FEATURES, 19, 19).contiguous(memory_format=torch.channels_last)
        with self.context():
            answer = network(spatial, torch.zeros(32, GLOBAL_FEATURES))
            answer.policy.float().sum().backward()
        network.zero_grad()

    def context(self):
        fast.use_pairs(self.pairs and self.bf16)
        return torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.bf16 and not self.pairs)


class Training:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.out: Path = options.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.positions, self.steps, self.cpu_seconds, self.wall_seconds = 0, 0, 0.0, 0.0
        self.stream = Stream(
            options.data,
            options.batch,
            options.seed,
            options.window,
            options.labelled,
            options.weak,
            options.regretted,
            options.open_games,
        )
        self.weights = Weights(
            policy=options.policy, played=options.played, value=options.value, score=options.score
        )
        self.stopping = False

        saved = self.load()
        if saved:
            self.network = Network(Shape(**saved["shape"]))
        elif options.start:
            _, self.network = katago_file.read(options.start / "network.bin.gz")
            self.take_over(options.start)
        else:
            torch.manual_seed(options.seed)
            self.network = Network(Shape.named(options.shape))
        self.network.to(self.device)
        self.optimiser = optimiser.make(self.network, options.optimiser, options.rate, options.decay)
        self.average = Average(self.network, options.average / options.batch)
        if saved:
            self.network.load_state_dict(saved["network"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.average.weights, self.average.steps = saved["average"], saved["average_steps"]
            self.stream.restore(saved["stream"])
            for key in ("positions", "steps", "cpu_seconds", "wall_seconds", "started_at"):
                setattr(self, key, saved[key])
        elif not hasattr(self, "started_at"):
            # Where the warm-up of this training began.
            self.started_at = self.positions
        # When this run began, and with how many positions.
        self.begun, self.begun_with = time.monotonic(), self.positions
        wanted = options.precision
        if saved and wanted == "auto":
            # The test's outcome is chance where both are about as fast; a training keeps to what it began with.
            wanted = "bf16" if saved["bf16"] else "f32"
        self.precision = Precision(self.device, wanted, self.network)

    def take_over(self, folder: Path) -> None:
        """Counts on from a packed training. Its optimiser's averages are not in the pack; a new warm-up makes them."""
        state = json.loads((folder / "state.json").read_text())
        self.positions, self.steps = state["positions"], state["steps"]
        self.cpu_seconds, self.wall_seconds = state["cpu_seconds"], state["wall_seconds"]
        self.started_at = self.positions
        # Another order than at the start, should the shards be the same.
        self.stream.round = state["round"] + 1
        log = folder / "log.jsonl"
        if log.exists():
            (self.out / "log.jsonl").write_bytes(log.read_bytes())

    def load(self) -> dict | None:
        path = self.out / "state.pt"
        return torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None

    def save(self) -> None:
        state = {
            "shape": dict(vars(self.network.shape)),
            "network": self.network.state_dict(),
            "average": self.average.weights,
            "average_steps": self.average.steps,
            "optimiser": self.optimiser.state_dict(),
            "stream": self.stream.state(),
            "positions": self.positions,
            "steps": self.steps,
            "cpu_seconds": self.cpu_seconds,
            "wall_seconds": self.wall_seconds,
            "started_at": self.started_at,
            "bf16": self.precision.bf16,
            "options": {name: value for name, value in vars(self.options).items() if isinstance(value, (int, float, str))},
        }
        write_whole(self.out / "state.pt", lambda file: torch.save(state, file))

    def log(self, kind: str, **facts) -> None:
        line = {"kind": kind, "positions": self.positions, "steps": self.steps}
        line |= {"cpu_hours": round(self.cpu_seconds / 3600, 4), "hours": round(self.wall_seconds / 3600, 4)}
        line |= {name: round(value, 5) if isinstance(value, float) else value for name, value in facts.items()}
        with open(self.out / "log.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        if kind != "training" or not sys.stderr.isatty():
            print(" ".join(f"{name}={value}" for name, value in line.items()), flush=True)

    def rate(self) -> float:
        """The learning rate now: rising at first, then steady; falling to 0 only at an end that was asked for.

        The steady part has no length, so that a training can be continued for as long as it pays.
        CITE: Hägele et al., "Scaling laws and compute-optimal training beyond fixed training durations" (2024).
        """
        options = self.options
        rising = (self.positions - self.started_at + options.batch) / max(1, options.warm_up)
        ends = []
        if options.positions:
            ends.append(options.positions - self.positions)
        if options.minutes:
            ends.append(self.positions_in(60 * options.minutes - (time.monotonic() - self.begun)))
        falling = min(ends) / options.cool_down if ends and options.cool_down else 1.0
        return options.rate * max(0.0, min(1.0, rising, falling))

    def positions_in(self, seconds: float) -> float:
        """So many positions are learnt in this time, at the speed of this run; no end is near before there is a speed."""
        done = self.positions - self.begun_with
        return seconds * done / (time.monotonic() - self.begun) if done else math.inf

    def moved(self, batch: Batch) -> Batch:
        if self.device.type == "cpu":
            return batch
        for name, value in vars(batch).items():
            if isinstance(value, torch.Tensor):
                setattr(batch, name, value.to(self.device, non_blocking=True))
        return batch

    def step(self, batch: Batch) -> dict[str, float]:
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        with self.precision.context():
            answer = self.network(batch.spatial, batch.globals_)
        parts = losses(answer, batch, self.weights)
        total = sum(parts.values())
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        # One strange batch must not throw the weights about.
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        self.optimiser.step()
        self.average.update()
        self.steps += 1
        self.positions += len(batch)
        sums = measures(answer, batch)
        facts = {f"loss/{name}": float(value.detach()) for name, value in parts.items()}
        facts |= {"loss": float(total.detach()), "gradient": float(norm)}
        facts |= {name: float(sums[name]) / max(1, int(sums[f"{name}/count"])) for name in ("top1", "value_accuracy")}
        return facts

    @torch.no_grad()
    def validate(self) -> None:
        """How the averaged weights do on what was held back, by board size."""
        if not shard_files(self.options.data, "validation"):
            return
        own = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.average.weights)
        totals: dict[tuple[int, int], dict[str, float]] = {}
        for batch in all_batches(self.options.data, "validation", 128, self.options.validation_positions):
            batch = self.moved(batch)
            with self.precision.context():
                answer = self.network(batch.spatial, batch.globals_)
            found = totals.setdefault(batch.size, {})
            for name, value in measures(answer, batch).items():
                found[name] = found.get(name, 0.0) + float(value)
        for (columns, rows), found in sorted(totals.items()):
            names = [name for name in found if not name.endswith("/count") and found[f"{name}/count"]]
            facts = {name: found[name] / found[f"{name}/count"] for name in names}
            self.log("validation", size=f"{columns}x{rows}", **facts)
        self.network.load_state_dict(own)

    def export(self) -> None:
        own = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.average.weights)
        katago_file.write(self.out / "network.bin.gz", f"{self.options.name}-p{self.positions}", self.network)
        self.network.load_state_dict(own)

    def checkpoint(self) -> None:
        self.save()
        self.export()

    def draw(self) -> None:
        try:
            import plot
        except ImportError:
            # Curves are a convenience: without matplotlib the log still has every number.
            return
        # A slow machine comes here before the first line of the log.
        if (self.out / "log.jsonl").exists():
            plot.draw(self.out / "log.jsonl", self.out / "curves.png")

    def run(self) -> None:
        options = self.options
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(self, "stopping", True))
        shape = self.network.shape
        print(
            f"{sum(p.numel() for p in self.network.parameters()):,} parameters,"
            f" {shape.multiply_adds():,} multiply-adds a point, on {self.device.type}"
            f" in {'bf16' if self.precision.bf16 else 'f32'} with {torch.get_num_threads()} threads;"
            f" {self.positions:,} positions done",
            flush=True,
        )
        begun = saved_at = time.monotonic()
        self.begun, self.begun_with = begun, self.positions
        sums: dict[str, float] = {}
        count = 0
        logged_positions, logged_cpu, logged_at = self.positions, time.process_time(), begun
        cpu_before, wall_before = self.cpu_seconds - time.process_time(), self.wall_seconds - begun
        for batch in self.stream:
            start = time.monotonic()
            facts = self.step(self.moved(batch))
            now = time.monotonic()
            self.cpu_seconds, self.wall_seconds = cpu_before + time.process_time(), wall_before + now
            if not np.isfinite(facts["loss"]):
                raise SystemExit("the loss is no number any more; the state saved last is intact")
            for name, value in facts.items():
                sums[name] = sums.get(name, 0.0) + value
            count += 1
            done = self.stopping or bool(options.positions and self.positions >= options.positions)
            done = done or bool(options.minutes and now - begun > 60 * options.minutes)
            validate = self.positions // options.validate != (self.positions - len(batch)) // options.validate
            if done or validate or count * options.batch >= 6_400:
                cpu = time.process_time()
                means = {name: value / count for name, value in sums.items()}
                speed = (self.positions - logged_positions) / max(1e-9, now - logged_at)
                per_cpu = (self.positions - logged_positions) / max(1e-9, cpu - logged_cpu)
                self.log("training", rate=self.rate(), per_second=speed, per_cpu_second=per_cpu, **means)
                logged_positions, logged_cpu, logged_at, sums, count = self.positions, cpu, now, {}, 0
            self.progress(facts, begun)
            if validate or done:
                self.validate()
            if done or now - saved_at > 60 * options.checkpoint_minutes:
                self.checkpoint()
                self.draw()
                saved_at = time.monotonic()
            if done:
                break
            if options.busy < 1:
                time.sleep((now - start) * (1 / options.busy - 1))

    def progress(self, facts: dict[str, float], begun: float) -> None:
        if not sys.stderr.isatty():
            return
        end = f" of {self.options.positions:,}" if self.options.positions else ""
        speed = (self.positions - self.started_at) / max(1e-9, time.monotonic() - begun)
        print(
            f"\r{self.positions:,}{end} positions, loss {facts['loss']:.3f}, {speed:.0f}/s \x1b[K",
            end="",
            file=sys.stderr,
            flush=True,
        )


def main() -> None:
    options = arguments()
    if options.nice:
        os.nice(options.nice)
    fast.prepare(options.threads or os.cpu_count() or 1)
    Training(options).run()


if __name__ == "__main__":
    main()
