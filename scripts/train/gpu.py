#!/usr/bin/env python3
"""Trains a network on a machine with a GPU that knows nothing but one folder: the teacher answers as the training goes.

    gpu.py pack FOLDER --games GAMES.sgf.zst --teacher TEACHER.bin.gz --kosumi KOSUMI --validation SHARD.npz …
    gpu.py train FOLDER --out OUT --shape b10c128 --seconds 560 [--start OUT-OF-BEFORE]
    gpu.py export OUT NETWORK.bin.gz

`pack` makes FOLDER, some 45 MB: games without names, the teacher's weights in 16 bits, the program `kosumi`, shards to
validate with, and if wanted shards to learn from (`--shards`). It needs no GPU.

`train` needs PyTorch and nothing from outside. It lets `kosumi` turn the games into positions and play games on other
boards, on all cores, while the GPU labels and learns; no labels are stored. It ends within `--seconds`. OUT holds, at
most a minute old at any time,

    network.bin.gz      the averaged weights, in KataGo's format: to play with
    state.000, …        what `--start` needs to go on, in pieces of at most 15 MiB
    log.jsonl           every number, of all runs

`export` makes the network's file from the state, where a large one did not come along. README.md beside this file says
how to run it all.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# The time that a run may take counts from here: on a cold machine PyTorch alone takes half a minute to load.
BEGUN = time.monotonic()
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
import torch.nn.functional as F

if torch.cuda.is_available():
    # What is compiled for the CPU would only cost time.
    os.environ.setdefault("KOSUMI_TRAIN_PLAIN", "1")

import fast
import katago_file
import optimiser
import teacher
from data import (
    KOMI,
    KOMI_MARGIN,
    KOMI_WAVE,
    NO_MOVE,
    POLICY_MOVES,
    TERRITORY,
    UNKNOWN_OWNER,
    Batch,
    read_groups,
    shard_files,
    turned_points,
)
from losses import Weights, legal_logits, losses, measures
from model import SPATIAL_FEATURES, Network, Shape

PIECE = 15 << 20
# Rules that games are shown under, as in `session`.
RULES = ["japanese", "chinese", "chinese-kgs", "tromp-taylor", "aga"]
# Boards of games with a search and their shares. What a search asks about differs most from what games come to where boards
# are large.
SEARCHED_SIZES = "7:2,8:2,9:25,10:2,11:2,12:2,13:20,15:2,17:2,19:40,9x13,13x9"
# Boards of self-play and their shares: all sizes, the usual ones more often.
SIZES = "7:6,8:5,9:40,10:5,11:6,12:4,13:20,14:2,15:3,16:2,17:2,18:2,19:2,9x13:2,7x11:2,13x9,19x11"


# ---- the folder -----------------------------------------------------------------------------------------------------

# What says nothing about the moves, and so need not be carried.
_NAMES = re.compile(rb"(?<![A-Za-z])(?:PB|PW|BR|WR|BT|WT|EV|RO|PC|GN|GC|AN|SO|US|CP|CA|AP|C)\[(?:[^\]\\]|\\.)*\]", re.S)


def lean(record: bytes) -> bytes:
    """A game record without names and remarks."""
    return _NAMES.sub(b"", record)


def pack_games(source: Path, target: Path, megabytes: float, before: int) -> int:
    """Games dated before a year, one record a line, as many as fit: evenly from the whole collection."""
    command = ["zstd", "-dc", source] if source.suffix == ".zst" else ["gzip", "-dcf", source]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    games = []
    for line in lines:
        year = re.search(rb"DT\[(\d{4})", line)
        if line.startswith(b"(;") and line.rstrip().endswith(b")") and (not year or int(year[1]) < before):
            games.append(lean(line.strip()))
    if not games:
        raise SystemExit(f"{source}: no games, one a line, before {before}")
    # Packed bytes of a game, from a sample.
    sample = games[:: max(1, len(games) // 2000)]
    each = len(lzma.compress(b"\n".join(sample), preset=6)) / len(sample)
    # The packer does somewhat better on more; what is too much is left out in the end.
    count = min(len(games), int(megabytes * 1e6 / each))
    chosen = [games[i * len(games) // count] for i in range(count)]
    target.write_bytes(lzma.compress(b"\n".join(chosen) + b"\n", preset=6))
    return count


def pack_teacher(source: Path, target: Path) -> None:
    """The same network with its large arrays in 16 bits: a teacher that computes with bf16 does not miss the rest."""
    data = katago_file.Words.unpacked(source)
    parts, at = [], 0
    for start, length in teacher.parse(data)[1]:
        parts.append(data[at:start])
        at = start + 5 + 4 * length
        values = np.frombuffer(data, "<f4", length, start + 5)
        if length >= 4096:
            # What is too small for f16, under 6·10⁻⁸, does not count beside the rest of its row.
            parts += [b"@F16@", values.astype("<f2").tobytes()]
        else:
            parts.append(data[start:at])
    parts.append(data[at:])
    with lzma.open(target, "wb", preset=6) as file:
        file.write(b"".join(parts))


def pack(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    if options.games:
        count = pack_games(options.games, folder / "games.sgf.xz", options.megabytes, options.held_back)
        print(f"{count} games")
    pack_teacher(options.teacher, folder / "teacher.xz")
    kinds = ("validation", options.validation), ("training", options.shards), ("training-selfplay", options.self_play)
    for kind, found in kinds:
        for number, path in enumerate(found):
            shutil.copyfile(path, folder / f"{kind}-{number:05}.npz")
    if options.kosumi:
        with lzma.open(folder / "kosumi.xz", "wb", preset=6) as file:
            file.write(options.kosumi.read_bytes())
    for name in (path.name for path in sorted(Path(__file__).parent.iterdir()) if path.suffix in (".py", ".cpp", ".h")):
        shutil.copyfile(Path(__file__).with_name(name), folder / name)
    if options.start:
        shutil.copytree(options.start, folder / "start", dirs_exist_ok=True)
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".py", ".cpp", ".h") and path.is_file():
            print(f"{path.name:32} {path.stat().st_size / 1e6:6.1f} MB")
    print(f"{total / 1e6:.1f} MB in all")


# ---- positions ------------------------------------------------------------------------------------------------------


class Pool:
    """All positions of one size that are there so far, packed, on the device."""

    # What is kept of a shard, and what stands for it where a shard has none.
    def __init__(self, size: tuple[int, int], device: torch.device):
        self.size, self.device = size, device
        self.area = size[0] * size[1]
        self.waiting: list[dict[str, np.ndarray]] = []
        self.arrays: dict[str, torch.Tensor] = {}
        self.count = 0
        turns = 8 if size[0] == size[1] else 4
        tables = np.stack([turned_points(*size, turn) for turn in range(turns)])
        self.tables = torch.from_numpy(tables).to(device)
        self.back = torch.from_numpy(np.argsort(tables, axis=1)).to(device)

    def add(self, group: dict[str, np.ndarray], weak: bool) -> None:
        """Positions of a shard. Of the games of weak players neither moves nor results are believed."""
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
        """Moves what was added to the device."""
        while self.waiting:
            part = self.waiting.pop()
            for name, values in part.items():
                new = torch.from_numpy(values).to(self.device)
                old = self.arrays.get(name)
                if old is None or self.count + len(new) > len(old):
                    # Room for half as many again, so that growing costs little in all.
                    room = new.new_empty((max(len(new), (self.count + len(new)) * 3 // 2), *new.shape[1:]))
                    if old is not None:
                        room[: self.count] = old[: self.count]
                    self.arrays[name] = old = room
                old[self.count : self.count + len(new)] = new
            self.count += len(part["played"])

    def rows(self, count: int, generator: torch.Generator) -> torch.Tensor:
        return torch.randint(self.count, (count,), generator=generator).to(self.device)

    def batch(self, rows: torch.Tensor, turns: torch.Tensor, globals_: torch.Tensor | None = None) -> Batch:
        """These rows, each turned in its own way; with other features of the position, if given."""
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


def moved_komi(globals_: torch.Tensor, area: int, more: torch.Tensor) -> torch.Tensor:
    """As `data.with_komi`, on the device."""
    globals_ = globals_.clone()
    most = area + KOMI_MARGIN
    komi = ((globals_[:, KOMI] * 80).round() / 4 + more).clamp(-most, most)
    above = (komi - (((komi - area % 2) / 2).floor() * 2 + area % 2)).clamp(0, 2)
    wave = torch.where(above < 0.5, above, torch.where(above < 1.5, 1 - above, above - 2))
    globals_[:, KOMI] = komi / 20
    globals_[:, KOMI_WAVE] = torch.where(globals_[:, TERRITORY] > 0, 0.0, wave)
    return globals_


def starting_point(options: argparse.Namespace) -> Path | None:
    """The folder with what the run goes on from, if there is one."""
    packed = options.folder / "start"
    return options.start or (packed if packed.exists() else None)


class Positions:
    """Positions of all sizes. `kosumi` makes more of them in the background while there is time."""

    def __init__(self, options: argparse.Namespace, device: torch.device):
        self.options, self.device = options, device
        self.pools: dict[tuple[int, int], Pool] = {}
        self.lock = threading.Lock()
        self.work = Path(options.work or tempfile.mkdtemp(prefix="kosumi-gpu-"))
        self.processes: list[subprocess.Popen] = []
        self.seen: set[Path] = set()
        self.stopping = False
        self.failure: str | None = None
        for path in shard_files(options.folder, "training"):
            self.read(path)
        self.start()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def start(self) -> None:
        """Games into positions first, as it is quick, and self-play until the end: by first thoughts and, if there is a network
        to start from, by searches, of whose trees positions are taken."""
        packed = self.options.folder / "kosumi.xz"
        if not packed.exists() or self.options.cores < 1:
            return
        kosumi = self.work / "kosumi"
        kosumi.parent.mkdir(parents=True, exist_ok=True)
        kosumi.write_bytes(lzma.open(packed).read())
        kosumi.chmod(0o755)
        games = self.options.folder / "games.sgf.xz"
        cores, out = self.options.cores, self.work / "shards"
        if games.exists():
            unpacked = self.work / "games.sgf"
            unpacked.write_bytes(lzma.open(games).read())
            command = [kosumi, "features", unpacked, "--out", out, "--shard", "16384", "--rules", "japanese"]
            command += [word for rule in RULES for word in ("--shown", rule)]
            command += ["--per-game", str(self.options.per_game), "--strays", "180", "--split", "all"]
            self.run("features", command + ["--threads", str(cores)])
        player = starting_point(self.options)
        player = player / "network.bin.gz" if player else None
        searching = min(cores, round(cores * self.options.searches)) if player and player.exists() else 0
        if searching:
            command = [kosumi, "selfplay", "--model", player, "--visits", str(self.options.visits), "--tree", "6"]
            command += ["--training-share", "150", "--komi-spread", "1.5", "--handicap", "30", "--shard", "4096"]
            command += ["--games", "1000000", "--sizes", SEARCHED_SIZES, "--out", self.work / "trees"]
            self.run("trees", command + ["--threads", str(searching)])
        if cores > searching:
            command = [kosumi, "selfplay", "--visits", "0", "--strays", "100", "--komi-spread", "2", "--taken", "250"]
            command += ["--shard", "8192", "--games", "1000000", "--sizes", SIZES, "--out", self.work / "selfplay"]
            self.run("selfplay", command + ["--threads", str(cores - searching)])

    def run(self, name: str, command: list) -> None:
        command += ["--seed", str(self.options.seed)]
        log = open(self.work / f"{name}.log", "wb")
        words = ["nice", "-n", "10", *(str(word) for word in command)]
        self.processes.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def watch(self) -> None:
        """Takes in shards as they come. They appear whole, by renaming."""
        while not self.stopping:
            for folder in (self.work / "shards", self.work / "trees", self.work / "selfplay"):
                for path in shard_files(folder) if folder.exists() else []:
                    if path not in self.seen and not self.stopping:
                        try:
                            self.read(path)
                        except Exception as error:  # a broken shard is no reason to stop
                            self.failure = f"{path}: {error}"
                            self.seen.add(path)
            for process in self.processes:
                if process.poll() not in (None, 0) and not self.failure and not self.stopping:
                    self.failure = f"{process.args[3]} {process.args[4]} ended with {process.returncode}; see {self.work}"
            time.sleep(0.5)

    def read(self, path: Path) -> None:
        self.seen.add(path)
        weak = path.name.startswith("training-selfplay")
        for size, group in read_groups(path, labels=False).items():
            with self.lock:
                if size not in self.pools:
                    self.pools[size] = Pool(size, self.device)
                self.pools[size].add(group, weak)

    def take_in(self) -> int:
        """Makes what came available; how many positions there are."""
        with self.lock:
            for pool in self.pools.values():
                pool.take_in()
            return sum(pool.count for pool in self.pools.values())

    def shares(self) -> dict[tuple[int, int], float]:
        """How often each size is drawn: 19×19 as often as was asked for, the others as often as they come."""
        with self.lock:
            counts = {size: pool.count for size, pool in self.pools.items() if pool.count}
        others = sum(count for size, count in counts.items() if size != (19, 19))
        full = self.options.full if (19, 19) in counts and others else float((19, 19) in counts)
        return {size: full if size == (19, 19) else (1 - full) * count / others for size, count in counts.items()}

    def close(self) -> None:
        self.stopping = True
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        self.thread.join(5)
        if not self.options.work:
            shutil.rmtree(self.work, ignore_errors=True)


# ---- training -------------------------------------------------------------------------------------------------------


class Labelled:
    """Rows of a pool with what the teacher says of them, on the board as it was."""

    def __init__(self, pool: Pool, rows, globals_, changed, policy, value, score, ownership, errors, hopes):
        self.pool, self.rows, self.globals_, self.changed = pool, rows, globals_, changed
        self.policy, self.value, self.score, self.ownership = policy, value, score, ownership
        # Short-term errors and optimistic policy, or none.
        self.errors, self.hopes = errors, hopes

    def batch(self, turns: torch.Tensor, chosen: torch.Tensor) -> Batch:
        pool = self.pool
        batch = pool.batch(self.rows[chosen], turns, self.globals_[chosen])
        changed = self.changed[chosen]
        batch.result = torch.where(changed[:, None], 0.0, batch.result)
        batch.score = torch.where(changed, torch.nan, batch.score)
        source = pool.tables[turns]

        def moves(policy: torch.Tensor) -> torch.Tensor:
            return torch.cat([policy[:, :-1].gather(1, source), policy[:, -1:]], dim=1)

        policy = moves(self.policy[chosen])
        best = policy.topk(min(POLICY_MOVES, pool.area + 1), dim=1)
        batch.policy_move, batch.policy_share = best.indices, best.values
        batch.policy_rest = (1 - best.values.sum(dim=1)).clamp(min=0)
        if self.hopes is not None:
            batch.optimistic_share = moves(self.hopes[chosen]).gather(1, best.indices)
            batch.optimistic_rest = (1 - batch.optimistic_share.sum(dim=1)).clamp(min=0)
        batch.teacher_value, batch.teacher_score = self.value[chosen], self.score[chosen]
        batch.teacher_error = None if self.errors is None else self.errors[chosen]
        batch.teacher_ownership = self.ownership[chosen].float().gather(1, source)
        return batch


class Compiled:
    """A network as it is, and, if wanted, compiled for full batches of 19×19, which cost most."""

    def __init__(self, network: torch.nn.Module, wanted: bool):
        self.network = network
        self.compiled = torch.compile(network, dynamic=False) if wanted else None

    def __call__(self, batch: Batch, full: bool):
        if self.compiled is not None and full and batch.size == (19, 19):
            try:
                return self.compiled(batch.spatial, batch.globals_)
            except Exception as error:
                # No compiler, or one that cannot do this: slower is better than nothing.
                print(f"note: not compiled: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
                self.compiled = None
        return self.network(batch.spatial, batch.globals_)


class Training:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.begun = BEGUN if options.from_start else time.monotonic()
        self.stopping = False
        self.device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        if self.device.type == "cuda":
            torch.backends.cuda.matmul.allow_tf32 = True
            torch.backends.cudnn.allow_tf32 = True
            torch.backends.cudnn.benchmark = True
        options.out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(options.seed)
        self.generator = torch.Generator().manual_seed(options.seed)
        # Boards' data are made while the networks are read.
        self.positions = Positions(options, self.device)
        try:
            self.prepare()
        except BaseException:
            self.positions.close()
            raise

    def prepare(self) -> None:
        options, folder = self.options, self.options.folder
        self.teacher = teacher.read(folder / "teacher.xz").to(self.device)
        self.bf16 = self.device.type == "cuda" or options.bf16
        if self.bf16:
            self.teacher.to(torch.bfloat16)
        start = starting_point(options)
        self.done, self.steps, self.seconds_before = 0, 0, 0.0
        state = read_state(start) if start else None
        if state:
            self.network = Network(Shape(**state["shape"]))
            self.network.load_state_dict(state["network"])
            self.done, self.steps, self.seconds_before = state["positions"], state["steps"], state["seconds"]
            if (start / "log.jsonl").exists() and start.resolve() != options.out.resolve():
                shutil.copyfile(start / "log.jsonl", options.out / "log.jsonl")
        elif start and (start / "network.bin.gz").exists():
            _, self.network = katago_file.read(start / "network.bin.gz")
        elif start:
            raise SystemExit(f"{start}: neither state.000 nor network.bin.gz")
        else:
            self.network = Network(Shape.named(options.shape))
        self.network.to(self.device)
        self.optimiser = optimiser.make(self.network, "muon", options.rate, options.decay)
        self.average = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
        if state:
            for name, value in state["average"].items():
                self.average[name] += value.to(self.device).float()
        # Compiled for the size that costs most; every other size runs as it is.
        self.ask = Compiled(self.teacher, options.compile)
        self.answer = Compiled(self.network, options.compile)
        # With a value of 1 it is learnt far more slowly than the policy, and with a policy of 1 that is behind on large boards (README.md).
        self.weights = Weights(policy=2.5, played=options.played, value=2.0, score=0.5)
        self.writing: threading.Thread | None = None

    # -- what the teacher says

    @torch.no_grad()
    def label(self, pool: Pool, count: int) -> Labelled:
        options = self.options
        rows = pool.rows(count, self.generator)
        globals_ = pool.arrays["global"][rows]
        chance = torch.rand(4, count, generator=self.generator).to(self.device)
        changed = chance[0] < options.vary_komi
        near = torch.randn(count, generator=self.generator).to(self.device) * 6
        steps = torch.where(chance[1] < 0.5, near, chance[2] * 60 - 30).round() + (chance[3] < 0.25) * 0.5
        globals_ = torch.where(changed[:, None], moved_komi(globals_, pool.area, steps), globals_)
        found: list[list[torch.Tensor]] = []
        # A fixed number of points at a time, for boards of all sizes.
        at_once = max(1, options.teacher_points // pool.area)
        for start in range(0, count, at_once):
            part = rows[start : start + at_once]
            turns = torch.randint(len(pool.tables), (len(part),), generator=self.generator).to(self.device)
            batch = pool.batch(part, turns, globals_[start : start + at_once])
            answer = self.ask(batch, len(part) == at_once)
            back = pool.back[turns]

            def moves(logits: torch.Tensor) -> torch.Tensor:
                policy = F.softmax(logits, dim=1)
                return torch.cat([policy[:, :-1].gather(1, back), policy[:, -1:]], dim=1)

            score = [answer.score_mean(), answer.score_spread(), answer.lead(), answer.variance_time()]
            errors = answer.expected_errors()
            owners = torch.tanh(answer.ownership).gather(1, back)
            hopes = answer.optimistic
            found.append([
                moves(legal_logits(answer, batch)),
                F.softmax(answer.value, dim=1),
                torch.stack(score, dim=1),
                owners,
                errors,
                None if hopes is None else moves(legal_logits(answer, batch, optimistic=True)),
            ])  # fmt: skip
        said = [None if parts[0] is None else torch.cat(parts) for parts in zip(*found)]
        return Labelled(pool, rows, globals_, changed, *said)

    def window(self) -> list[Labelled]:
        """Positions with labels, some batches of them, of sizes by their shares."""
        shares = self.positions.shares()
        sizes = list(shares)
        weights = torch.tensor([shares[size] for size in sizes])
        drawn = torch.multinomial(weights, self.options.window, replacement=True, generator=self.generator)
        counts = torch.bincount(drawn, minlength=len(sizes)).tolist()
        pools = [(self.positions.pools[size], count) for size, count in zip(sizes, counts) if count]
        return [self.label(pool, count * self.batch_of(pool.size)) for pool, count in pools]

    def batch_of(self, size: tuple[int, int]) -> int:
        """Positions a step: as many points as the batch of 19×19 has, as small boards are cheap."""
        return max(1, self.options.batch * 361 // (size[0] * size[1]))

    def batches(self):
        """Batches without end: each window is gone through as often as wanted, mixed and turned anew each time."""
        options = self.options
        while True:
            self.positions.take_in()
            window = self.window()
            for _ in range(options.reuse):
                pieces = []
                for labelled in window:
                    mixed = torch.randperm(len(labelled.rows), generator=self.generator)
                    pieces += [(labelled, piece.to(self.device)) for piece in mixed.split(self.batch_of(labelled.pool.size))]
                for i in torch.randperm(len(pieces), generator=self.generator).tolist():
                    labelled, chosen = pieces[i]
                    turns = torch.randint(len(labelled.pool.tables), (len(chosen),), generator=self.generator)
                    yield labelled.batch(turns.to(self.device), chosen)

    # -- steps

    def autocast(self):
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16)

    def elapsed(self) -> float:
        return time.monotonic() - self.begun

    def rate(self, steps: int) -> float:
        """Rising at first, as the optimiser's averages are new in every run; falling towards the end, if wanted."""
        options = self.options
        rising = (steps + 1) / max(1, options.warm_up)
        falling = 1.0
        if options.cool_down:
            length = options.cool_down * options.seconds
            falling = (options.seconds - options.reserve - self.elapsed()) / length
        return options.rate * max(0.0, min(1.0, rising, falling))

    def step(self, batch: Batch, steps: int) -> dict[str, torch.Tensor]:
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate(steps)
        with self.autocast():
            answer = self.answer(batch, len(batch) == self.options.batch)
        parts = losses(answer, batch, self.weights)
        total = sum(parts.values())
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), 5.0)
        # A batch without numbers changes nothing.
        for parameter in self.network.parameters():
            if parameter.grad is not None:
                torch.nan_to_num_(parameter.grad, 0.0, 0.0, 0.0)
        self.optimiser.step()
        self.steps += 1
        self.done += len(batch)
        # At first the average forgets faster: the early weights are no use.
        keep = min(1 - len(batch) / self.options.average, self.steps / (self.steps + 10))
        with torch.no_grad():
            own = self.network.state_dict()
            names = list(own)
            torch._foreach_lerp_([self.average[name] for name in names], [own[name] for name in names], 1 - keep)
        return {f"loss/{name}": part.detach() for name, part in parts.items()} | {"loss": total.detach(), "gradient": norm}

    # -- what comes out

    def log(self, kind: str, **facts) -> None:
        line = {"kind": kind, "positions": self.done, "steps": self.steps}
        line |= {"hours": round((self.seconds_before + self.elapsed()) / 3600, 4), "device": self.device.type}
        line |= {name: round(value, 5) if isinstance(value, float) else value for name, value in facts.items()}
        with open(self.options.out / "log.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")
        print(" ".join(f"{name}={value}" for name, value in line.items()), flush=True)

    def checkpoint(self, wait: bool = False) -> None:
        """Writes the files while the training goes on, or, at the end, before this returns."""
        if self.writing:
            self.writing.join()
        own = {name: value.detach().float().cpu().clone() for name, value in self.network.state_dict().items()}
        state = {
            "shape": dict(vars(self.network.shape)),
            "network": own,
            # The average lies near the weights: what it differs by needs few digits.
            "average": {name: (value.cpu() - own[name]).bfloat16() for name, value in self.average.items()},
            "positions": self.done,
            "steps": self.steps,
            "seconds": self.seconds_before + self.elapsed(),
        }
        averaged = {name: value.cpu() for name, value in self.average.items()}
        self.writing = threading.Thread(target=write, args=(self.options, state, averaged))
        self.writing.start()
        if wait:
            self.writing.join()

    @torch.no_grad()
    def validate(self) -> None:
        """How the averaged weights do on positions held back, beside the teacher."""
        own = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.average)
        totals: dict[tuple[int, int], dict[str, float]] = {}
        counts: dict[tuple[int, int], int] = {}
        for path in shard_files(self.options.folder, "validation"):
            for size, group in sorted(read_groups(path, labels=False).items()):
                most = min(len(group["played"]), self.options.validation_positions - counts.get(size, 0))
                if most <= 0:
                    continue
                counts[size] = counts.get(size, 0) + most
                pool = Pool(size, self.device)
                pool.add({name: values[:most] for name, values in group.items()}, weak=False)
                pool.take_in()
                at_once = max(1, self.options.teacher_points // pool.area)
                for rows in torch.arange(most, device=self.device).split(at_once):
                    straight = torch.zeros(len(rows), dtype=torch.long, device=self.device)
                    batch = pool.batch(rows, straight)
                    said = self.teacher(batch.spatial, batch.globals_)
                    best = F.softmax(legal_logits(said, batch), dim=1).topk(min(POLICY_MOVES, pool.area + 1), dim=1)
                    batch.policy_move, batch.policy_share = best.indices, best.values
                    batch.policy_rest = (1 - best.values.sum(dim=1)).clamp(min=0)
                    if said.optimistic is not None:
                        hopes = F.softmax(legal_logits(said, batch, optimistic=True), dim=1)
                        batch.optimistic_share = hopes.gather(1, best.indices)
                        batch.optimistic_rest = (1 - batch.optimistic_share.sum(dim=1)).clamp(min=0)
                    score = [said.score_mean(), said.score_spread(), said.lead(), said.variance_time()]
                    batch.teacher_value = F.softmax(said.value, dim=1)
                    batch.teacher_score, batch.teacher_error = torch.stack(score, dim=1), said.expected_errors()
                    batch.teacher_ownership = torch.tanh(said.ownership)
                    with self.autocast():
                        answer = self.network(batch.spatial, batch.globals_)
                    found = totals.setdefault(size, {})
                    for name, value in measures(answer, batch).items():
                        found[name] = found.get(name, 0.0) + float(value)
                    # The teacher on the same positions, for comparison.
                    for name, value in measures(said, batch).items():
                        if name.removesuffix("/count") in ("top1", "value_error", "value_accuracy"):
                            found[f"teachers_{name}"] = found.get(f"teachers_{name}", 0.0) + float(value)
        for (columns, rows), found in sorted(totals.items()):
            names = [name for name in found if not name.endswith("/count") and found[f"{name}/count"]]
            self.log("validation", size=f"{columns}x{rows}", **{n: found[n] / found[f"{n}/count"] for n in names})
        self.network.load_state_dict(own)

    def run(self) -> None:
        try:
            self.train()
        finally:
            self.positions.close()

    def train(self) -> None:
        options = self.options
        end = options.seconds - options.reserve
        parameters = sum(parameter.numel() for parameter in self.network.parameters())
        print(
            f"{parameters:,} parameters on {self.device}, {'bf16' if self.bf16 else 'f32'};"
            f" teacher {self.teacher.name}; {self.done:,} positions done",
            flush=True,
        )
        # Two kinds of positions are worth waiting for: those of games, and those of other boards.
        waiting = self.elapsed()
        while self.positions.take_in() < options.least and self.elapsed() - waiting < min(60.0, end / 3):
            time.sleep(0.2)
        if not self.positions.shares():
            raise SystemExit(f"no positions: {self.positions.failure or 'nothing to make them of in the folder'}")
        for number in (signal.SIGTERM, signal.SIGINT) if options.from_start else ():
            signal.signal(number, lambda *_: setattr(self, "stopping", True))
        saved = logged = validated = self.elapsed()
        before, count, sums, steps = self.done, 0, {}, 0
        for batch in self.batches():
            for name, value in self.step(batch, steps).items():
                sums[name] = sums[name] + value if name in sums else value
            count, steps = count + 1, steps + 1
            done = self.stopping or self.elapsed() > end
            if steps % 4 and not done:
                continue  # looking at the numbers makes the GPU wait
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
                    raise SystemExit("the loss is no number any more; the state saved last is intact")
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


def write(options: argparse.Namespace, state: dict, averaged: dict[str, torch.Tensor]) -> None:
    """The files of a checkpoint, each in one step."""
    packed = io.BytesIO()
    torch.save(state, packed)
    data = packed.getbuffer()
    for number, at in enumerate(range(0, data.nbytes, PIECE)):
        part = options.out / f"part.{number:03}"
        part.write_bytes(data[at : at + PIECE])
        os.replace(part, options.out / f"state.{number:03}")
    write_network(options.out / "network.bin.gz", options.name, state, averaged)


def write_network(path: Path, name: str, state: dict, averaged: dict[str, torch.Tensor], bits: int = 23) -> None:
    network = Network(Shape(**state["shape"]))
    network.load_state_dict(averaged)
    katago_file.write(path, f"{name}-p{state['positions']}", network, bits)


def export(options: argparse.Namespace) -> None:
    state = read_state(options.folder)
    if state is None:
        raise SystemExit(f"{options.folder}: no state.000")
    averaged = {name: value + state["average"][name].float() for name, value in state["network"].items()}
    write_network(options.file, options.name, state, averaged, options.bits)


def read_state(folder: Path) -> dict | None:
    """The state in pieces in a folder; `None` if there is none."""
    pieces = sorted(path for path in folder.glob("state.*") if path.suffix[1:].isdigit())
    if not pieces:
        return None
    data = b"".join(path.read_bytes() for path in pieces)
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    packing = commands.add_parser("pack", help="make the folder")
    packing.set_defaults(run=pack)
    packing.add_argument("folder", type=Path)
    packing.add_argument("--teacher", type=Path, required=True, help="in KataGo's format, versions 8 to 17")
    packing.add_argument("--games", type=Path, help="records, one a line: .sgf, .sgf.gz or .sgf.zst")
    packing.add_argument("--megabytes", type=float, default=16.0, help="of games [%(default)s]")
    packing.add_argument("--held-back", type=int, default=2016, help="games of this year and later stay out [%(default)s]")
    packing.add_argument("--kosumi", type=Path, help="the program, built for the other machine")
    packing.add_argument("--shards", type=Path, nargs="*", default=[], help="shards to learn from")
    packing.add_argument("--self-play", type=Path, nargs="*", default=[], help="shards of self-play to learn from")
    packing.add_argument("--validation", type=Path, nargs="*", default=[], help="shards to validate with")
    packing.add_argument("--start", type=Path, help="a folder that an earlier run wrote, to go on from")

    exporting = commands.add_parser("export", help="make a network's file of a state")
    exporting.set_defaults(run=export)
    exporting.add_argument("folder", type=Path, help="what `train` wrote")
    exporting.add_argument("file", type=Path)
    exporting.add_argument("--name", default="kosumi", help="name within the network's file [%(default)s]")
    exporting.add_argument("--bits", type=int, default=23, help="of each number, for a smaller file [all: %(default)s]")

    training = commands.add_parser("train", help="train", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    training.set_defaults(run=lambda options: Training(options).run())
    training.add_argument("folder", type=Path, help="what `pack` made")
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--start", type=Path, help="OUT of a run before, or a folder with a network.bin.gz")
    training.add_argument("--shape", default="b10c128", help="of a new network")
    training.add_argument("--seconds", type=float, default=560.0, help="of this run, all in all")
    training.add_argument("--reserve", type=float, default=25.0, help="seconds of these for the end: validation, files")
    training.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    training.add_argument("--decay", type=float, default=0.05, help="weight decay")
    training.add_argument("--warm-up", type=int, default=200, help="steps of rising rate")
    training.add_argument("--cool-down", type=float, default=0.0, help="share of the time at whose end the rate is 0")
    training.add_argument("--batch", type=int, default=512, help="positions of 19x19 a step; more of smaller boards")
    training.add_argument("--window", type=int, default=32, help="batches that are labelled and mixed together")
    training.add_argument("--reuse", type=int, default=2, help="times that each label is learnt from, turned differently")
    training.add_argument("--full", type=float, default=0.45, help="share of the steps on 19x19")
    training.add_argument("--vary-komi", type=float, default=0.4, help="share of positions with another komi")
    training.add_argument("--played", type=float, default=0.15, help="weight of the played move beside the teacher's")
    training.add_argument("--average", type=float, default=800_000.0, help="positions over which weights are averaged")
    training.add_argument("--per-game", type=int, default=24, help="positions of each game")
    training.add_argument("--least", type=int, default=100_000, help="positions to wait for at first, a minute at most")
    training.add_argument("--cores", type=int, default=max(1, (os.cpu_count() or 2) - 2), help="for kosumi")
    training.add_argument("--searches", type=float, default=0.75, help="share of these that play with a search, from --start on")
    training.add_argument("--visits", type=int, default=60, help="of such a search")
    training.add_argument("--teacher-points", type=int, default=361 * 512, help="points that the teacher sees at once")
    training.add_argument("--validation-positions", type=int, default=2048, help="of each size")
    training.add_argument("--checkpoint-seconds", type=float, default=60.0)
    training.add_argument("--validate-seconds", type=float, default=150.0)
    training.add_argument("--log-seconds", type=float, default=10.0)
    training.add_argument("--compile", action="store_true", help="let torch.compile make kernels for 19x19")
    training.add_argument("--bf16", action="store_true", help="also on a CPU")
    training.add_argument("--device", help="cuda or cpu; what there is, if not given")
    training.add_argument("--work", type=Path, help="folder for positions while it runs; a temporary one")
    training.add_argument("--name", default="kosumi", help="name within the network's file")
    training.add_argument("--threads", type=int, help="CPU threads of PyTorch")
    training.add_argument("--seed", type=int, default=1, help="another one in every run brings other positions")
    options = parser.parse_args()
    # As a script; called by another program, time counts from the call.
    options.from_start = __name__ == "__main__"
    if getattr(options, "threads", None):
        fast.prepare(options.threads)
    options.run(options)


if __name__ == "__main__":
    main()
