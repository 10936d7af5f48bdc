"""Trains a network from shards, on a GPU if there is one, and resumes after a stop.

The folder --out has the state (`state.pt`, replaced in one step every few minutes), the averaged network
(`network.bin.gz`), the counts for a later --start (`state.json`), the log (`log.jsonl`), and the curves (`curves.png`,
if matplotlib is installed). After a stop, the same command with the same folder continues as if the training had never
stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from . import fast, katago_file, optimiser, runs
from . import options as shared
from .losses import Weights, losses, measures
from .model import GLOBAL_FEATURES, SPATIAL_FEATURES, Network, Shape
from .shards import Batch, Stream, all_batches, shard_files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    shared.data(parser)
    shared.out(parser)
    parser.add_argument("--shape", default="b4c64", help="shape of a new network, such as b6c96 [%(default)s]")
    shared.start(parser)
    shared.name(parser)
    parser.add_argument("--optimiser", default="muon", help="muon, adamw or nesterov [%(default)s]")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate [%(default)s]")
    parser.add_argument("--decay", type=float, default=0.05, help="weight decay [%(default)s]")
    parser.add_argument("--batch", type=int, default=64, help="positions of a step [%(default)s]")
    parser.add_argument("--warm-up", type=int, default=20_000, help="positions with a rising rate [%(default)s]")
    parser.add_argument("--positions", type=int, help="total number of positions after which the training ends")
    parser.add_argument("--minutes", type=float, help="minutes of this run after which it ends")
    parser.add_argument(
        "--cool-down", type=int, default=0, help="positions before the end with a falling rate [%(default)s]"
    )
    parser.add_argument(
        "--average", type=int, default=100_000, help="positions over which weights are averaged [%(default)s]"
    )
    parser.add_argument(
        "--policy", type=float, default=Weights.policy, help="weight of the teacher's policy [%(default)s]"
    )
    parser.add_argument(
        "--played", type=float, default=Weights.played, help="weight of the played move beside a teacher [%(default)s]"
    )
    parser.add_argument("--value", type=float, default=Weights.value, help="weight of the value [%(default)s]")
    parser.add_argument(
        "--expected",
        type=float,
        default=Weights.expected,
        help="share of what searches of self-play expected in the results of games [%(default)s]",
    )
    parser.add_argument("--score", type=float, default=Weights.score, help="weight of the score [%(default)s]")
    shared.seed(parser)
    shared.window(parser, 4)
    parser.add_argument("--labelled", action="store_true", help="uses only shards with labels")
    parser.add_argument(
        "--weak", default="", help="prefix of shards from which only the teacher's outputs are learnt, not the games"
    )
    parser.add_argument(
        "--regretted",
        type=int,
        default=1,
        help="number of times that positions are used whose player chose what the teacher would not [%(default)s]",
    )
    parser.add_argument(
        "--open-games", type=int, default=1, help="number of times that positions of open games are used [%(default)s]"
    )
    parser.add_argument("--checkpoint-minutes", type=float, default=5, help="minutes between states [%(default)s]")
    parser.add_argument("--validate", type=int, default=50_000, help="positions between validations [%(default)s]")
    parser.add_argument(
        "--validation-positions", type=int, default=4096, help="positions of each size to validate on [%(default)s]"
    )
    shared.processor(parser)
    parser.add_argument(
        "--busy",
        type=float,
        default=1.0,
        help="share of the time in which it computes; it sleeps the rest [%(default)s]",
    )
    parser.add_argument(
        "--precision", choices=["auto", "f32", "bf16"], default="auto", help="auto takes bf16 if it is faster"
    )


class Precision:
    """Numerical precision of the training. In automatic mode, it is bf16 if a short test shows that this is faster than
    f32, or on a GPU that supports it.

    On a CPU with kernels for bf16, only products are rounded (`fast.py`). Elsewhere PyTorch's autocast is used.
    """

    def __init__(self, device: torch.device, wanted: str, network: Network) -> None:
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
            # A small gain of speed is not worth the rounding.
            self.bf16 = seconds[True] < 0.8 * seconds[False]

    def step(self, network: Network) -> None:
        """Computes the outputs and gradients for a batch of empty boards."""
        spatial = torch.zeros(32, SPATIAL_FEATURES, 19, 19).contiguous(memory_format=torch.channels_last)
        with self.context():
            answer = network(spatial, torch.zeros(32, GLOBAL_FEATURES))
            answer.policy.float().sum().backward()
        network.zero_grad()

    def context(self) -> contextlib.AbstractContextManager[Any]:
        """Returns the context in which the network's outputs are computed."""
        fast.use_pairs(self.pairs and self.bf16)
        return torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.bf16 and not self.pairs)


class Training:
    """A training run and its state."""

    COUNTS = ("positions", "steps", "cpu_seconds", "wall_seconds")

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.out: Path = options.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.positions, self.steps, self.cpu_seconds, self.wall_seconds = 0, 0, 0.0, 0.0
        # Number of positions at the start of the warm-up.
        self.started_at = 0
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
            policy=options.policy,
            played=options.played,
            value=options.value,
            expected=options.expected,
            score=options.score,
        )
        self.stopping = False

        saved = self.load()
        if saved:
            self.network = Network(Shape(**saved["shape"]))
        elif options.start:
            _, self.network = katago_file.read(runs.network_of(options.start))
            self.take_over(options.start)
        else:
            torch.manual_seed(options.seed)
            self.network = Network(Shape.named(options.shape))
        self.network.to(self.device)
        self.optimiser = optimiser.make(self.network, options.optimiser, options.rate, options.decay)
        self.average = runs.Average(self.network, options.average / options.batch)
        if saved:
            self.network.load_state_dict(saved["network"])
            self.optimiser.load_state_dict(saved["optimiser"])
            self.average.weights, self.average.steps = saved["average"], saved["average_steps"]
            self.stream.restore(saved["stream"])
            for key in (*self.COUNTS, "started_at"):
                setattr(self, key, saved[key])
        # Time, and number of positions, at the start of this run.
        self.begun, self.begun_with = time.monotonic(), self.positions
        wanted = options.precision
        if saved and wanted == "auto":
            # Where both precisions are equally fast, the result of the test depends on chance, so the first result is
            # kept.
            wanted = "bf16" if saved["bf16"] else "f32"
        self.precision = Precision(self.device, wanted, self.network)

    def take_over(self, start: Path) -> None:
        """Continues the counts and the log of another run. The optimiser's averages are not taken over: a new warm-up
        rebuilds them."""
        state = runs.state_of(start)
        for key in self.COUNTS:
            setattr(self, key, state[key])
        self.started_at = self.positions
        # The order must differ from that of the other run, in case the shards are the same.
        self.stream.round = state["round"] + 1
        runs.copy_log(start, self.out)

    def load(self) -> dict[str, Any] | None:
        """Returns the state of an earlier run in this folder, or `None`."""
        path = self.out / "state.pt"
        return torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None

    def checkpoint(self) -> None:
        """Stores the state, the counts and the network."""
        counts = {key: getattr(self, key) for key in self.COUNTS}
        options = {name: it for name, it in vars(self.options).items() if isinstance(it, (int, float, str))}
        state = counts | {
            "shape": dict(vars(self.network.shape)),
            "network": self.network.state_dict(),
            "average": self.average.weights,
            "average_steps": self.average.steps,
            "optimiser": self.optimiser.state_dict(),
            "stream": self.stream.state(),
            "started_at": self.started_at,
            "bf16": self.precision.bf16,
            "options": options,
        }
        runs.write_whole(self.out / "state.pt", lambda file: torch.save(state, file))
        facts = {"round": self.stream.round, "shape": self.network.shape.facts(), "options": options}
        runs.write_state(self.out, counts | facts)
        runs.export_average(self.out, f"{self.options.name}-p{self.positions}", self.network, self.average.weights)

    def log(self, kind: str, **facts: Any) -> None:
        """Appends a line to the log."""
        line: dict[str, Any] = {"positions": self.positions, "steps": self.steps}
        line |= {"cpu_hours": round(self.cpu_seconds / 3600, 4), "hours": round(self.wall_seconds / 3600, 4)}
        line = runs.append(self.out, kind, line | facts)
        if kind != "training" or not sys.stderr.isatty():
            print(runs.text_of(line), flush=True)

    def rate(self) -> float:
        """Returns the learning rate. It rises at first, is then constant, and falls to 0 before the end if there is
        one.

        The constant part has no set length, so a training can be continued for as long as it improves.
        CITE: Hägele et al., "Scaling laws and compute-optimal training beyond fixed training durations" (2024).
        """
        options = self.options
        rising = (self.positions - self.started_at + options.batch) / max(1, options.warm_up)
        ends: list[float] = []
        if options.positions:
            ends.append(options.positions - self.positions)
        if options.minutes:
            ends.append(self.positions_in(60 * options.minutes - (time.monotonic() - self.begun)))
        falling = min(ends) / options.cool_down if ends and options.cool_down else 1.0
        return options.rate * max(0.0, min(1.0, rising, falling))

    def positions_in(self, seconds: float) -> float:
        """Returns the number of positions on which this run trains in some seconds. It is infinite before the speed is
        known."""
        done = self.positions - self.begun_with
        return seconds * done / (time.monotonic() - self.begun) if done else math.inf

    def moved(self, batch: Batch) -> Batch:
        """Moves a batch to the device, and returns it."""
        if self.device.type == "cpu":
            return batch
        for name, value in vars(batch).items():
            if isinstance(value, torch.Tensor):
                setattr(batch, name, value.to(self.device, non_blocking=True))
        return batch

    def step(self, batch: Batch) -> dict[str, float]:
        """Trains on a batch. Returns the loss terms and some measures."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        with self.precision.context():
            answer = self.network(batch.spatial, batch.globals_)
        parts = losses(answer, batch, self.weights)
        total = torch.stack(list(parts.values())).sum()
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        # Clipping limits the effect of a single unusual batch.
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
        """Logs the measures of the averaged weights on held-back positions, by board size."""
        options = self.options
        if not shard_files(options.data, "validation"):
            return
        totals = runs.Totals()
        with runs.Averaged(self.network, self.average.weights):
            for batch in all_batches(options.data, "validation", 128, options.validation_positions):
                batch = self.moved(batch)
                with self.precision.context():
                    answer = self.network(batch.spatial, batch.globals_)
                totals.add(answer, batch)
        for size, facts in totals.means().items():
            self.log("validation", size=size, **facts)

    def draw(self) -> None:
        """Draws the curves, if matplotlib is installed."""
        try:
            from . import plot
        except ImportError:
            # The log has every number, so the curves are optional.
            return
        # On a slow machine, the log may not exist yet.
        if (self.out / runs.LOG).exists():
            plot.draw(self.out / runs.LOG, self.out / "curves.png")

    def stop(self, *_: object) -> None:
        """Ends the training after the current step. Handles a signal."""
        self.stopping = True

    def run(self) -> None:
        """Trains until the end that the options set, or until a signal."""
        handlers = {number: signal.signal(number, self.stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.learn()
        finally:
            # `reinforce` trains many times, and a signal between two trainings must end it.
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def learn(self) -> None:
        """Trains step by step until the end."""
        options = self.options
        print(
            f"{sum(p.numel() for p in self.network.parameters()):,} parameters,"
            f" {self.network.shape.multiply_adds():,} multiply-adds for each point, on {self.device.type}"
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
                raise SystemExit("the loss is not a number any more; the last stored state is intact")
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
        """Shows the progress if standard error is a terminal."""
        if not sys.stderr.isatty():
            return
        end = f" of {self.options.positions:,}" if self.options.positions else ""
        speed = (self.positions - self.begun_with) / max(1e-9, time.monotonic() - begun)
        print(
            f"\r{self.positions:,}{end} positions, loss {facts['loss']:.3f}, {speed:.0f}/s \x1b[K",
            end="",
            file=sys.stderr,
            flush=True,
        )


def run(options: argparse.Namespace) -> None:
    """Trains a network."""
    shared.prepare(options)
    Training(options).run()
