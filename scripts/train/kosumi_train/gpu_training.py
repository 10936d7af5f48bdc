"""Training with labels made during the run, for `gpu train`: pools of positions on the device, a teacher, and a
learner."""

from __future__ import annotations

import argparse
import dataclasses
import lzma
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from . import BEGUN, katago_file, optimiser, runs, teacher
from .boards import FULL_SIZE, SEARCH_SIZES
from .gpu import GAMES, PROGRAM, START, TEACHER
from .gpu_state import averaged_network, read_state, write_state
from .komi import with_komi_on_device
from .label import label_batch, label_policies, scores
from .losses import Weights, legal_logits, losses
from .model import SPATIAL_FEATURES, Answer, Network, Shape
from .positions import features_command, policy_command, search_command
from .shards import NO_MOVE, UNKNOWN_OWNER, Batch, Group, Size, read_groups, shard_files, turned_points

# Number of self-play games to start with, far more than a run can finish.
ENDLESS = 1_000_000


class Pool:
    """All positions of one board size so far, packed, on the device."""

    def __init__(self, size: Size, device: torch.device) -> None:
        self.size, self.device = size, device
        self.area = size[0] * size[1]
        self.waiting: list[Group] = []
        self.arrays: dict[str, torch.Tensor] = {}
        self.count = 0
        turns = 8 if size[0] == size[1] else 4
        tables = np.stack([turned_points(*size, turn) for turn in range(turns)])
        self.tables = torch.from_numpy(tables).to(device)
        self.back = torch.from_numpy(np.argsort(tables, axis=1)).to(device)

    def add(self, group: Group, weak: bool) -> None:
        """Adds the positions of a shard, which `take_in` moves to the device. With `weak`, the moves and results are
        those of weak players, and are not used."""
        count = len(group["played"])
        unknown = np.full((count, self.area), UNKNOWN_OWNER, np.int8)
        part = {
            "planes": group["planes"],
            "global": group["global"],
            "played": np.full(count, NO_MOVE, np.int32) if weak else group["played"].astype(np.int32),
            "value": np.zeros((count, 3), np.float32) if weak else group["value"],
            "score": np.full(count, np.nan, np.float32) if weak else group["score"],
            "ownership": unknown if weak else group.get("ownership", unknown),
        }
        self.waiting.append(part)

    def take_in(self) -> None:
        """Moves added positions to the device."""
        while self.waiting:
            part = self.waiting.pop()
            for name, values in part.items():
                new = torch.from_numpy(values).to(self.device)
                old = self.arrays.get(name)
                if old is None or self.count + len(new) > len(old):
                    # Capacity grows by half, so that the total cost of growing stays small.
                    grown = new.new_empty((max(len(new), (self.count + len(new)) * 3 // 2), *new.shape[1:]))
                    if old is not None:
                        grown[: self.count] = old[: self.count]
                    self.arrays[name] = old = grown
                old[self.count : self.count + len(new)] = new
            self.count += len(part["played"])

    def rows(self, count: int, generator: torch.Generator) -> torch.Tensor:
        """Returns the rows of `count` random positions."""
        return torch.randint(self.count, (count,), generator=generator).to(self.device)

    def batch(self, rows: torch.Tensor, turns: torch.Tensor, globals_: torch.Tensor | None = None) -> Batch:
        """Returns a batch of some rows, each with its own symmetry, and with other global features if they are
        given."""
        columns, height = self.size
        source, landed = self.tables[turns], self.back[turns]
        packed = self.arrays["planes"][rows]
        shift = torch.arange(7, -1, -1, device=self.device, dtype=torch.uint8)
        bits = (packed.unsqueeze(-1) >> shift & 1).flatten(2)[:, :, : self.area]
        planes = bits.transpose(1, 2).gather(1, source[:, :, None].expand(-1, -1, SPATIAL_FEATURES))
        spatial = planes.float().view(len(rows), height, columns, SPATIAL_FEATURES).permute(0, 3, 1, 2)
        played = self.arrays["played"][rows].long()
        has_played = played != NO_MOVE
        passing = ~has_played | (played >= self.area)
        points = landed.gather(1, torch.where(passing, 0, played)[:, None])[:, 0]
        owners = self.arrays["ownership"][rows].gather(1, source)
        return Batch(
            self.size,
            spatial,
            self.arrays["global"][rows] if globals_ is None else globals_,
            torch.where(passing, self.area, points),
            has_played,
            self.arrays["value"][rows],
            self.arrays["score"][rows],
            torch.where(owners == UNKNOWN_OWNER, torch.nan, owners.float() / 127.0),
        )


def starting_point(options: argparse.Namespace) -> Path | None:
    """Returns the folder or file from which the run starts, or `None` for a new network."""
    packed = options.folder / START
    return options.start or (packed if packed.exists() else None)


class Positions:
    """Positions of all board sizes. The program kosumi makes more of them in the background."""

    def __init__(self, options: argparse.Namespace, device: torch.device) -> None:
        self.options, self.device = options, device
        self.pools: dict[Size, Pool] = {}
        self.lock = threading.Lock()
        self.work = Path(options.work or tempfile.mkdtemp(prefix="kosumi-gpu-"))
        # Processes by name, for messages.
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.seen: set[Path] = set()
        self.stopping = False
        self.failure: str | None = None
        for path in shard_files(options.folder, "training"):
            self.read(path)
        self.start()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def start(self) -> None:
        """Starts kosumi in the background. It turns game records into positions, which is quick. Until the end, it also
        plays games by the policy, and, if there is a network to start from, games with searches, from whose trees
        positions are taken."""
        packed, options = self.options.folder / PROGRAM, self.options
        if not packed.exists() or options.cores < 1:
            return
        kosumi = self.work / "kosumi"
        kosumi.parent.mkdir(parents=True, exist_ok=True)
        kosumi.write_bytes(lzma.decompress(packed.read_bytes()))
        kosumi.chmod(0o755)
        games = options.folder / GAMES
        if games.exists():
            unpacked = self.work / "games.sgf"
            unpacked.write_bytes(lzma.decompress(games.read_bytes()))
            more = ["--per-game", str(options.per_game), "--split", "all", "--threads", str(options.cores)]
            self.run("features", features_command(kosumi, unpacked, self.work / "shards", 180, 16384, more))
        start = starting_point(options)
        player = runs.network_of(start) if start else None
        searching = min(options.cores, round(options.cores * options.searches)) if player and player.exists() else 0
        if searching:
            more = ["--model", str(player), "--threads", str(searching)]
            out, visits = self.work / "trees", options.visits
            self.run("trees", search_command(kosumi, out, ENDLESS, visits, 150, SEARCH_SIZES, 4096, more))
        if options.cores > searching:
            more = ["--network", "small", "--threads", str(options.cores - searching)]
            self.run("selfplay", policy_command(kosumi, self.work / "selfplay", ENDLESS, 250, 8192, more))

    def run(self, name: str, command: list[str]) -> None:
        """Starts a command with low priority, and a log in the work folder."""
        with open(self.work / f"{name}.log", "wb") as log:
            words = ["nice", "-n", "10", *command, "--seed", str(self.options.seed)]
            self.processes[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def watch(self) -> None:
        """Reads new shards until the run ends. A shard appears complete, because it is renamed when it is finished."""
        while not self.stopping:
            for folder in (self.work / "shards", self.work / "trees", self.work / "selfplay"):
                for path in shard_files(folder) if folder.exists() else []:
                    if path not in self.seen and not self.stopping:
                        try:
                            self.read(path)
                        except Exception as error:  # A damaged shard does not end the run.
                            self.failure = f"{path}: {error}"
                            self.seen.add(path)
            for name, process in self.processes.items():
                if process.poll() not in (None, 0) and not self.failure and not self.stopping:
                    self.failure = f"{name} ended with exit code {process.returncode}; its log is in {self.work}"
            time.sleep(0.5)

    def read(self, path: Path) -> None:
        """Adds the positions of a shard to the pools."""
        self.seen.add(path)
        weak = path.name.startswith("training-selfplay")
        for size, group in read_groups(path, labels=False).items():
            with self.lock:
                if size not in self.pools:
                    self.pools[size] = Pool(size, self.device)
                self.pools[size].add(group, weak)

    def take_in(self) -> int:
        """Moves new positions to the device. Returns the total number of positions."""
        with self.lock:
            for pool in self.pools.values():
                pool.take_in()
            return sum(pool.count for pool in self.pools.values())

    def shares(self) -> dict[Size, float]:
        """Returns the share of each board size in the steps: that of 19×19 as the options set it, the others by their
        numbers of positions."""
        with self.lock:
            counts = {size: pool.count for size, pool in self.pools.items() if pool.count}
        others = sum(count for size, count in counts.items() if size != FULL_SIZE)
        full = self.options.full if FULL_SIZE in counts and others else float(FULL_SIZE in counts)
        return {size: full if size == FULL_SIZE else (1 - full) * count / others for size, count in counts.items()}

    def is_working(self) -> bool:
        """Returns whether a process may still make positions."""
        return any(process.poll() is None for process in self.processes.values())

    def close(self) -> None:
        """Ends the processes and removes the work folder."""
        self.stopping = True
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        self.thread.join(5)
        if not self.options.work:
            shutil.rmtree(self.work, ignore_errors=True)


@dataclasses.dataclass
class Labelled:
    """Rows of a pool with the teacher's outputs, in the orientation of the pool."""

    pool: Pool
    rows: torch.Tensor
    globals_: torch.Tensor
    # Whether the komi was changed, so that the result and score of the game no longer hold.
    changed: torch.Tensor
    policy: torch.Tensor
    value: torch.Tensor
    score: torch.Tensor
    ownership: torch.Tensor
    errors: torch.Tensor | None
    optimistic: torch.Tensor | None

    def batch(self, turns: torch.Tensor, chosen: torch.Tensor) -> Batch:
        """Returns a labelled batch of some rows, each with its own symmetry."""
        pool = self.pool
        batch = pool.batch(self.rows[chosen], turns, self.globals_[chosen])
        changed = self.changed[chosen]
        batch.result = torch.where(changed[:, None], 0.0, batch.result)
        batch.score = torch.where(changed, torch.nan, batch.score)
        source = pool.tables[turns]

        def moves(policy: torch.Tensor) -> torch.Tensor:
            return torch.cat([policy[:, :-1].gather(1, source), policy[:, -1:]], dim=1)

        optimistic = None if self.optimistic is None else moves(self.optimistic[chosen])
        label_policies(batch, moves(self.policy[chosen]), optimistic)
        batch.teacher_value, batch.teacher_score = self.value[chosen], self.score[chosen]
        batch.teacher_error = None if self.errors is None else self.errors[chosen]
        batch.teacher_ownership = self.ownership[chosen].float().gather(1, source)
        return batch


class Compiled:
    """A network and, if wanted, its compiled form for full batches of 19×19, which take most of the time."""

    def __init__(self, network: torch.nn.Module, wanted: bool) -> None:
        self.network = network
        self.compiled = torch.compile(network, dynamic=False) if wanted else None

    def __call__(self, batch: Batch, full: bool) -> Answer:
        if self.compiled is not None and full and batch.size == FULL_SIZE:
            try:
                return self.compiled(batch.spatial, batch.globals_)
            except Exception as error:
                # The plain network is used if there is no compiler, or if the compiler cannot compile it.
                print(f"note: not compiled: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                self.compiled = None
        return self.network(batch.spatial, batch.globals_)


class Training:
    """A training run with a time limit."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.begun = BEGUN if options.is_program else time.monotonic()
        self.stopping = False
        self.device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if self.device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = True
            torch.backends.cudnn.allow_tf32 = True
            torch.backends.cudnn.benchmark = True
        options.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        self.generator = torch.Generator().manual_seed(options.seed)
        # Positions are made in the background while the networks are read.
        self.positions = Positions(options, self.device)
        try:
            self.prepare()
        except BaseException:
            self.positions.close()
            raise

    def prepare(self) -> None:
        """Reads the networks and the state of an earlier run."""
        options, folder = self.options, self.options.folder
        self.teacher = teacher.read(folder / TEACHER).to(self.device)
        self.bf16 = self.device.type == "cuda" or options.bf16
        if self.bf16:
            self.teacher.to(torch.bfloat16)
        start = starting_point(options)
        self.done, self.steps, self.seconds_before = 0, 0, 0.0
        state = read_state(start) if start and start.is_dir() else None
        if start and state:
            self.network = Network(Shape(**state["shape"]))
            self.network.load_state_dict(state["network"])
            self.done, self.steps, self.seconds_before = state["positions"], state["steps"], state["seconds"]
            runs.copy_log(start, options.out)
        elif start and runs.network_of(start).exists():
            _, self.network = katago_file.read(runs.network_of(start))
        elif start:
            raise SystemExit(f"{start}: neither state.000 nor {runs.NETWORK}")
        else:
            self.network = Network(Shape.named(options.shape))
        self.network.to(self.device)
        self.optimiser = optimiser.make(self.network, "muon", options.rate, options.decay)
        self.average = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
        if state:
            for name, value in state["average"].items():
                self.average[name] += value.to(self.device).float()
        self.teach = Compiled(self.teacher, options.compile)
        self.learn = Compiled(self.network, options.compile)
        # With weight 1, the value learns far more slowly than the policy, and the policy lags behind on large boards.
        self.weights = Weights(policy=2.5, played=options.played, value=2.0, score=0.5)
        self.writing: threading.Thread | None = None

    # Labels.

    @torch.no_grad()
    def label(self, pool: Pool, count: int) -> Labelled:
        """Returns random positions of a pool with labels, some of them at another komi."""
        options = self.options
        rows = pool.rows(count, self.generator)
        globals_ = pool.arrays["global"][rows]
        chance = torch.rand(4, count, generator=self.generator).to(self.device)
        changed = chance[0] < options.vary_komi
        near = torch.randn(count, generator=self.generator).to(self.device) * 6
        steps = torch.where(chance[1] < 0.5, near, chance[2] * 60 - 30).round() + (chance[3] < 0.25) * 0.5
        globals_ = torch.where(changed[:, None], with_komi_on_device(globals_, pool.area, steps), globals_)
        found: list[list[torch.Tensor | None]] = []
        # Batches have the same number of points on boards of all sizes.
        run_concurrently = max(1, options.teacher_points // pool.area)
        for start in range(0, count, run_concurrently):
            part = rows[start : start + run_concurrently]
            turns = torch.randint(len(pool.tables), (len(part),), generator=self.generator).to(self.device)
            batch = pool.batch(part, turns, globals_[start : start + run_concurrently])
            answer = self.teach(batch, len(part) == run_concurrently)
            back = pool.back[turns]
            logits = legal_logits(answer, batch)
            optimistic = None
            if answer.optimistic is not None:
                optimistic = _moves(legal_logits(answer, batch, optimistic=True), back)
            found.append(
                [
                    _moves(logits, back),
                    F.softmax(answer.value, dim=1),
                    scores(answer),
                    torch.tanh(answer.ownership).gather(1, back),
                    answer.expected_errors(),
                    optimistic,
                ]
            )
        columns = [None if parts[0] is None else torch.cat(parts) for parts in zip(*found, strict=True)]
        return Labelled(pool, rows, globals_, changed, *columns)

    def window(self) -> list[Labelled]:
        """Returns labelled positions for some batches, whose board sizes are drawn by `shares`."""
        shares = self.positions.shares()
        sizes = list(shares)
        weights = torch.tensor([shares[size] for size in sizes])
        drawn = torch.multinomial(weights, self.options.window, replacement=True, generator=self.generator)
        counts = torch.bincount(drawn, minlength=len(sizes)).tolist()
        pools = [(self.positions.pools[size], count) for size, count in zip(sizes, counts, strict=True) if count]
        return [self.label(pool, count * self.batch_of(pool.size)) for pool, count in pools]

    def batch_of(self, size: Size) -> int:
        """Returns the number of positions in a batch: they have as many points as a batch of 19×19."""
        return max(1, self.options.batch * 361 // (size[0] * size[1]))

    def batches(self) -> Iterator[Batch]:
        """Yields batches without end. Each window is used several times, in another order and with other symmetries."""
        options = self.options
        while True:
            self.positions.take_in()
            window = self.window()
            for _ in range(options.reuse):
                pieces = []
                for labelled in window:
                    mixed = torch.randperm(len(labelled.rows), generator=self.generator)
                    split = mixed.split(self.batch_of(labelled.pool.size))
                    pieces += [(labelled, piece.to(self.device)) for piece in split]
                for i in torch.randperm(len(pieces), generator=self.generator).tolist():
                    labelled, chosen = pieces[i]
                    turns = torch.randint(len(labelled.pool.tables), (len(chosen),), generator=self.generator)
                    yield labelled.batch(turns.to(self.device), chosen)

    # Steps.

    def autocast(self) -> Any:
        """Returns the context in which the network's outputs are computed."""
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16)

    def elapsed(self) -> float:
        """Returns the seconds since the start of the run."""
        return time.monotonic() - self.begun

    def rate(self, steps: int) -> float:
        """Returns the learning rate. It rises at first, because the optimiser's averages are new in every run, and
        falls towards the end if the options say so."""
        options = self.options
        rising = (steps + 1) / max(1, options.warm_up)
        falling = 1.0
        if options.cool_down:
            length = options.cool_down * options.seconds
            falling = (options.seconds - options.reserve - self.elapsed()) / length
        return options.rate * max(0.0, min(1.0, rising, falling))

    def step(self, batch: Batch, steps: int) -> dict[str, torch.Tensor]:
        """Trains on a batch. Returns the loss terms."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(steps)
        with self.autocast():
            answer = self.learn(batch, len(batch) == self.options.batch)
        parts = losses(answer, batch, self.weights)
        total = torch.stack(list(parts.values())).sum()
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        # A batch whose gradient is not finite must not change the weights.
        for parameter in self.network.parameters():
            if parameter.grad is not None:
                torch.nan_to_num_(parameter.grad, 0.0, 0.0, 0.0)
        self.optimiser.step()
        self.steps += 1
        self.done += len(batch)
        # Early weights are of no use, so the average forgets faster at first.
        keep = min(1 - len(batch) / self.options.average, self.steps / (self.steps + 10))
        with torch.no_grad():
            own = self.network.state_dict()
            names = list(own)
            torch._foreach_lerp_([self.average[name] for name in names], [own[name] for name in names], 1 - keep)
        facts = {f"loss/{name}": part.detach() for name, part in parts.items()}
        return facts | {"loss": total.detach(), "gradient": norm}

    # Output.

    def log(self, kind: str, **facts: Any) -> None:
        """Appends a line to the log."""
        line: dict[str, Any] = {"positions": self.done, "steps": self.steps}
        line |= {"hours": round((self.seconds_before + self.elapsed()) / 3600, 4), "device": self.device.type}
        print(runs.text_of(runs.append(self.options.out, kind, line | facts)), flush=True)

    def checkpoint(self, wait: bool = False) -> None:
        """Writes the files of a checkpoint in another thread. With `wait`, waits until they are written."""
        if self.writing:
            self.writing.join()
        own = {name: value.detach().float().cpu().clone() for name, value in self.network.state_dict().items()}
        state = {
            "shape": dict(vars(self.network.shape)),
            "network": own,
            # The average is near the weights, so few digits suffice for the difference.
            "average": {name: (value.cpu() - own[name]).bfloat16() for name, value in self.average.items()},
            "positions": self.done,
            "steps": self.steps,
            "seconds": self.seconds_before + self.elapsed(),
        }
        self.writing = threading.Thread(target=write, args=(self.options, state))
        self.writing.start()
        if wait:
            self.writing.join()

    @torch.no_grad()
    def validate(self) -> None:
        """Logs the measures of the averaged weights on held-back positions, and some measures of the teacher."""
        totals = runs.Totals()
        counts: dict[Size, int] = {}
        with runs.Averaged(self.network, self.average):
            for path in shard_files(self.options.folder, "validation"):
                for size, group in sorted(read_groups(path, labels=False).items()):
                    most = min(len(group["played"]), self.options.validation_positions - counts.get(size, 0))
                    if most <= 0:
                        continue
                    counts[size] = counts.get(size, 0) + most
                    self.validate_on(size, {name: values[:most] for name, values in group.items()}, totals)
        for board, facts in totals.means().items():
            self.log("validation", size=board, **facts)

    def validate_on(self, size: Size, group: Group, totals: runs.Totals) -> None:
        """Adds the measures on some positions to `totals`."""
        pool = Pool(size, self.device)
        pool.add(group, weak=False)
        pool.take_in()
        run_concurrently = max(1, self.options.teacher_points // pool.area)
        for rows in torch.arange(pool.count, device=self.device).split(run_concurrently):
            batch = pool.batch(rows, torch.zeros(len(rows), dtype=torch.long, device=self.device))
            wanted = self.teacher(batch.spatial, batch.globals_)
            label_batch(batch, wanted)
            with self.autocast():
                answer = self.network(batch.spatial, batch.globals_)
            totals.add(answer, batch)
            totals.add(wanted, batch, "teachers_", ("top1", "value_error", "value_accuracy"))

    def stop(self, *_: object) -> None:
        """Ends the training after the current step. Handles a signal."""
        self.stopping = True

    def run(self) -> None:
        """Trains until the time limit, or a signal."""
        try:
            self.train()
        finally:
            self.positions.close()

    def train(self) -> None:
        """Trains step by step until the end, with checkpoints and validations."""
        options = self.options
        end = options.seconds - options.reserve
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        print(
            f"{parameters:,} parameters on {self.device}, {'bf16' if self.bf16 else 'f32'};"
            f" teacher {self.teacher.name}; {self.done:,} positions done",
            flush=True,
        )
        # Waits for positions of games and of self-play, so that the first steps see both.
        waiting = self.elapsed()
        while (count := self.positions.take_in()) < options.least:
            is_late = self.elapsed() - waiting > min(60.0, end / 3)
            if is_late and (count or not self.positions.is_working() or self.elapsed() > end):
                break
            time.sleep(0.2)
        if not self.positions.shares():
            reason = self.positions.failure or f"nothing in {options.folder} made any in {self.elapsed():.0f} seconds"
            raise SystemExit(f"no positions: {reason}")
        for number in (signal.SIGTERM, signal.SIGINT) if options.is_program else ():
            signal.signal(number, self.stop)
        saved = logged = validated = self.elapsed()
        before, count, steps = self.done, 0, 0
        sums: dict[str, torch.Tensor] = {}
        for batch in self.batches():
            for name, value in self.step(batch, steps).items():
                sums[name] = sums[name] + value if name in sums else value
            count, steps = count + 1, steps + 1
            done = self.stopping or self.elapsed() > end
            if steps % 4 and not done:
                continue  # Reading results makes the CPU wait for the GPU, so only every fourth step does it.
            now = self.elapsed()
            if now - logged > options.log_seconds or done:
                means = {name: float(value) / count for name, value in sums.items()}
                pools = sum(pool.count for pool in list(self.positions.pools.values()))
                speed = (self.done - before) / (now - logged)
                self.log("training", rate=self.rate(steps), per_second=speed, pools=pools, **means)
                if self.positions.failure:
                    print(f"note: {self.positions.failure}", file=sys.stderr, flush=True)
                    self.positions.failure = None
                if not np.isfinite(means["loss"]):
                    raise SystemExit("the loss is not a number any more; the last stored state is intact")
                logged, before, count, sums = now, self.done, 0, {}
            if now - saved > options.checkpoint_seconds:
                self.checkpoint()
                saved = now
            if done:
                break
            if now - validated > options.validate_seconds:
                self.validate()
                validated = now
        self.checkpoint(wait=True)
        self.validate()


def _moves(logits: torch.Tensor, back: torch.Tensor) -> torch.Tensor:
    """Returns the probabilities of all moves, turned back to the orientation of the pool."""
    policy = F.softmax(logits, dim=1)
    return torch.cat([policy[:, :-1].gather(1, back), policy[:, -1:]], dim=1)


def write(options: argparse.Namespace, state: dict[str, Any]) -> None:
    """Writes the files of a checkpoint. Each file is replaced in one step."""
    write_state(options.out, state)
    katago_file.write(options.out / runs.NETWORK, f"{options.name}-p{state['positions']}", averaged_network(state))
