"""Shards of positions as `kosumi features` writes them: read, shuffled, turned, and made into batches.

The format is described in `src/tools/training/shard.rs`. A file next to a shard whose name ends in `.labels.npz` (written by
`label.py`) adds what a stronger network says of the same positions.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Iterator

import numpy as np
import torch

SHARD_VERSION = 1
LABELS_VERSION = 2
FEATURES = 22
UNKNOWN_OWNER = -128
NO_MOVE = 65535
POLICY_MOVES = 32
LABELS = ".labels.npz"
# A game is open as long as the teacher's value is no farther than this from even.
OPEN = 0.9
# A move is regretted if the teacher's first move is by so much the likelier one.
REGRET = 0.3


class ShardError(Exception):
    """The file is no shard of a version that is read here."""


def shard_files(folder: str | Path, prefix: str = "") -> list[Path]:
    """All shards in a folder whose names begin so, in order of their names."""
    files = Path(folder).glob(f"{prefix}*.npz")
    return sorted(path for path in files if not path.name.endswith(LABELS))


def labels_of(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".npz") + LABELS)


def read_groups(path: Path, labels: bool = True) -> dict[tuple[int, int], dict[str, np.ndarray]]:
    """The arrays of a shard, and of its labels if there are any, by columns and rows of the board."""
    groups: dict[tuple[int, int], dict[str, np.ndarray]] = {}
    for file, version in ((path, SHARD_VERSION), (labels_of(path), LABELS_VERSION)):
        if file == labels_of(path) and not (labels and file.exists()):
            continue
        with np.load(file, allow_pickle=False) as arrays:
            if "version" not in arrays.files or int(arrays["version"][0]) != version:
                raise ShardError(f"{file}: not of version {version}")
            for name in arrays.files:
                size, _, array = name.partition("/")
                if array:
                    columns, _, rows = size.partition("x")
                    groups.setdefault((int(columns), int(rows)), {})[array] = arrays[name]
        if file == path:
            for group in groups.values():
                group["chosen"] = chosen_moves(group)
    for group in groups.values():
        # A search's moves are fewer, and there is no rest of them.
        for name in ("policy_move", "policy_share"):
            if name in group and group[name].shape[1] < POLICY_MOVES:
                group[name] = np.pad(group[name], ((0, 0), (0, POLICY_MOVES - group[name].shape[1])))
    return groups


# Features of the position, see src/net/features: komi for the player to move in units of 20 points, what it is worth
# beyond that under area scoring, and whether territory is counted.
KOMI, TERRITORY, KOMI_WAVE = 5, 9, 18
KOMI_MARGIN = 20.0


def komi_wave(area: int, komi: np.ndarray) -> np.ndarray:
    """What komi is worth beyond its points under area scoring: as `komi_wave` in src/net/features."""
    parity = area % 2
    above = np.clip(komi - (np.floor((komi - parity) / 2) * 2 + parity), 0, 2)
    return np.where(above < 0.5, above, np.where(above < 1.5, 1 - above, above - 2))


def with_komi(globals_: np.ndarray, area: int, more: np.ndarray) -> np.ndarray:
    """The features of positions (n, 19) with so many points of komi more for the player to move (n)."""
    globals_ = globals_.copy()
    most = area + KOMI_MARGIN
    komi = np.clip(np.round(globals_[:, KOMI] * 80) / 4 + more, -most, most)
    globals_[:, KOMI] = komi / 20
    globals_[:, KOMI_WAVE] = np.where(globals_[:, TERRITORY] > 0, 0, komi_wave(area, komi))
    return globals_


def komi_steps(count: int, rng: np.random.Generator) -> np.ndarray:
    """Points to move komi by: half of them some, half of them anything up to 30 either way; a quarter by half points."""
    near, far = rng.normal(0, 6, count), rng.uniform(-30, 30, count)
    steps = np.round(np.where(rng.random(count) < 0.5, near, far))
    return steps + np.where(rng.random(count) < 0.25, 0.5, 0.0)


def varied_komi(globals_: np.ndarray, area: int, changed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The features of positions with another komi where `changed` (n) says so."""
    moved = with_komi(globals_, area, komi_steps(len(changed), rng))
    return np.where(changed[:, None], moved, globals_).astype(np.float32)


def fair_komi(
    globals_: np.ndarray, area: int, changed: np.ndarray, leads: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The features of positions with a komi that makes them about even where `changed` (n) says so; the player to move
    is ahead by so many points (n). Where everything is decided, nothing can be learnt of what is worth how much."""
    steps = np.round(rng.normal(0, 2, len(changed)) - leads)
    return np.where(changed[:, None], with_komi(globals_, area, steps), globals_).astype(np.float32)


def even_komi(
    globals_: np.ndarray, area: int, share: float, leads: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The features of positions with a komi, in half points, that leaves nobody ahead by more than a point or so, for this share of them; the
    player to move is ahead by so many points (n). There a point decides, however late in the game: whoever counts them nearly right
    answers entirely wrong."""
    spread = np.where(rng.random(len(leads)) < 0.5, 0.5, 2.0)
    steps = np.round(2 * (rng.normal(0, spread) - leads)) / 2
    changed = rng.random(len(leads)) < share
    return np.where(changed[:, None], with_komi(globals_, area, steps), globals_).astype(np.float32)


def odd_komi(globals_: np.ndarray, area: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """The features of positions with another komi for this share of them: half of these near what they have, half anything up to all
    points of the board. A network does not know what it was never shown, and people play with any komi."""
    count = len(globals_)
    far = np.round(rng.uniform(-area, area, count) - 20 * globals_[:, KOMI])
    steps = np.where(rng.random(count) < 0.5, komi_steps(count, rng), far)
    changed = rng.random(count) < share
    return np.where(changed[:, None], with_komi(globals_, area, steps), globals_).astype(np.float32)


@dataclasses.dataclass
class Batch:
    """n positions of one size, p points. Everything is from the view of the player to move."""

    size: tuple[int, int]
    # (n, 22, rows, columns), channels last.
    spatial: torch.Tensor
    # (n, 19)
    globals_: torch.Tensor
    # (n): the move that was played; p is a pass, or any move where `has_played` (n) says that none was.
    played: torch.Tensor
    has_played: torch.Tensor
    # (n, 3): win, loss, no result, as the game ended; all 0 if that is unknown.
    result: torch.Tensor
    # (n): NaN where unknown.
    score: torch.Tensor
    # (n, p) in [-1, 1], NaN where unknown; none if none is known.
    ownership: torch.Tensor | None
    # What a teacher says, if anything: (n, 32) moves and their shares, (n) the share of all others, (n, 3) value,
    # (n, 4) score mean, spread and lead in points and variance time, (n, 2) short-term errors, (n, p) ownership in
    # [-1, 1].
    policy_move: torch.Tensor | None = None
    policy_share: torch.Tensor | None = None
    policy_rest: torch.Tensor | None = None
    # The same moves' shares in its optimistic policy, and the share of all others.
    optimistic_share: torch.Tensor | None = None
    optimistic_rest: torch.Tensor | None = None
    teacher_error: torch.Tensor | None = None
    teacher_value: torch.Tensor | None = None
    teacher_score: torch.Tensor | None = None
    teacher_ownership: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.played)


def turned_points(columns: int, rows: int, symmetry: int) -> np.ndarray:
    """For each point of the turned board, the point of the original that lands there."""
    points = np.arange(columns * rows).reshape(rows, columns)
    if symmetry & 1:
        points = points[::-1]
    if symmetry & 2:
        points = points[:, ::-1]
    if symmetry & 4:
        points = points.T
    return points.reshape(-1)


def make_batch(
    size: tuple[int, int], group: dict[str, np.ndarray], rows: np.ndarray, symmetry: int = 0
) -> Batch:
    """A batch of these rows of a group, turned. Turning by 4 needs a square board."""
    columns, height = size
    area = columns * height
    source = turned_points(columns, height, symmetry)
    # Where each original point lands; a pass stays a pass.
    landed = np.empty(area + 1, np.int64)
    landed[source] = np.arange(area)
    landed[area] = area

    bits = np.unpackbits(group["planes"][rows], axis=2)[:, :, :area]
    # Points first, so that the tensor lies channels last.
    planes = bits.transpose(0, 2, 1)[:, source, :].astype(np.float32)
    spatial = torch.from_numpy(planes).view(len(rows), height, columns, FEATURES).permute(0, 3, 1, 2)

    def owners(name: str) -> torch.Tensor | None:
        if name not in group:
            return None
        found = group[name][rows][:, source].astype(np.float32)
        found[found == UNKNOWN_OWNER] = np.nan
        return torch.from_numpy(found / 127.0)

    def floats(name: str) -> torch.Tensor | None:
        return torch.from_numpy(group[name][rows].astype(np.float32)) if name in group else None

    played = group["played"][rows].astype(np.int64)
    has_played = played != NO_MOVE
    batch = Batch(
        size,
        spatial,
        floats("global"),
        torch.from_numpy(landed[np.where(has_played, played, area)]),
        torch.from_numpy(has_played),
        floats("value"),
        floats("score"),
        owners("ownership"),
        teacher_value=floats("teacher_value"),
        teacher_score=floats("teacher_score"),
        teacher_error=floats("teacher_error"),
        teacher_ownership=owners("teacher_ownership"),
    )
    if "policy_move" in group:
        batch.policy_move = torch.from_numpy(landed[group["policy_move"][rows].astype(np.int64)])
        batch.policy_share = floats("policy_share") / 65535.0
        if "policy_rest" in group:
            batch.policy_rest = floats("policy_rest") / 65535.0
        if "optimistic_share" in group:
            batch.optimistic_share = floats("optimistic_share") / 65535.0
            batch.optimistic_rest = floats("optimistic_rest") / 65535.0
    return batch


def chosen_moves(group: dict[str, np.ndarray]) -> np.ndarray:
    """What the player of self-play thought best (n), `NO_MOVE` where nobody thought. Labels take the place of its
    policy, so this is to be asked before they are read."""
    if "policy_move" not in group:
        return np.full(len(group["played"]), NO_MOVE, np.uint16)
    return np.where(group["policy_share"][:, 0] > 0, group["policy_move"][:, 0], NO_MOVE).astype(np.uint16)


def regrets(group: dict[str, np.ndarray]) -> np.ndarray:
    """How much likelier the teacher finds its first move than what the player of self-play chose (n), in [0, 1]; 0
    where one of the two says nothing."""
    moves, shares = group["policy_move"], group["policy_share"].astype(np.float32) / 65535
    given = np.where(moves == group["chosen"][:, None], shares, 0).sum(axis=1)
    known = (group["chosen"] != NO_MOVE) & (shares[:, 0] > 0)
    return np.where(known, np.maximum(0, shares[:, 0] - given), 0)


def add_unknown(group: dict[str, np.ndarray], names: set[str], size: tuple[int, int]) -> None:
    """Gives a group the optional arrays that others have, with "unknown" in them."""
    count, area = len(group["played"]), size[0] * size[1]
    for name in names - set(group):
        if name == "ownership":
            group[name] = np.full((count, area), UNKNOWN_OWNER, np.int8)
        elif name in ("policy_move", "policy_share", "optimistic_share"):
            group[name] = np.zeros((count, POLICY_MOVES), np.uint16)
        elif name == "chosen":
            group[name] = np.full(count, NO_MOVE, np.uint16)
        elif name in ("policy_rest", "optimistic_rest"):
            group[name] = np.zeros(count, np.uint16)
        else:
            raise ShardError(f"some shards have {name} and some have not")


def forget_the_game(group: dict[str, np.ndarray]) -> None:
    """Takes back what the games said of their positions: the moves and how they ended."""
    group["played"] = np.full_like(group["played"], NO_MOVE)
    group["value"] = np.zeros_like(group["value"])
    group["score"] = np.full_like(group["score"], np.nan)
    if "ownership" in group:
        group["ownership"] = np.full_like(group["ownership"], UNKNOWN_OWNER)


class Stream:
    """Batches without end, decided by seed and step alone, so that a training can go on exactly where it stopped.

    The shards are gone through in rounds, each in another order, some of them in memory at a time; what is in memory is
    mixed. Shards that appear in the folder are part of the next round.
    """

    def __init__(
        self,
        folder: str | Path,
        batch: int,
        seed: int,
        window: int = 4,
        labelled: bool = False,
        weak: str = "",
        regretted: int = 1,
        open_games: int = 1,
    ):
        self.folder, self.batch, self.seed, self.window, self.labelled = Path(folder), batch, seed, window, labelled
        # Shards whose names begin so show games of weak players: of these only the teacher's words count.
        self.weak = weak
        # Positions come so many times where the player of self-play chose what the teacher would not.
        self.regretted = regretted
        # And so many times where the teacher thinks that the game is open: in a search such positions decide, and games
        # of weak players have few.
        self.open_games = open_games
        # Place in the stream: round, the files of this round, window of the round, batches taken of the window.
        self.round, self.files, self.part, self.taken = 0, self.list_files(), 0, 0
        self.loaded: list[tuple[tuple[int, int], dict[str, np.ndarray], np.ndarray]] | None = None

    def list_files(self) -> list[str]:
        files = shard_files(self.folder, "training")
        return [path.name for path in files if not self.labelled or labels_of(path).exists()]

    def state(self) -> dict:
        return {"round": self.round, "files": self.files, "part": self.part, "taken": self.taken}

    def restore(self, state: dict) -> None:
        self.round, self.files, self.part, self.taken = (
            state[key] for key in ("round", "files", "part", "taken")
        )
        self.loaded = None
        if any(not (self.folder / name).exists() for name in self.files):
            # Other shards than those of that time: begin a round with what is there.
            self.files, self.part, self.taken = self.list_files(), 0, 0
            self.round += 1

    def _load(self) -> None:
        rng = np.random.default_rng((self.seed, self.round, self.part))
        order = np.random.default_rng((self.seed, self.round)).permutation(len(self.files))
        chosen = [self.files[i] for i in order[self.part * self.window : (self.part + 1) * self.window]]
        sizes: dict[tuple[int, int], list[dict[str, np.ndarray]]] = {}
        for name in chosen:
            for size, group in read_groups(self.folder / name).items():
                if self.weak and name.startswith(self.weak):
                    forget_the_game(group)
                sizes.setdefault(size, []).append(group)
        batches = []
        for size, groups in sorted(sizes.items()):
            if any("teacher_value" in group for group in groups):
                # Labels are still being made for some: learn from those that have them.
                groups = [group for group in groups if "teacher_value" in group]
            names = set().union(*groups)
            for group in groups:
                add_unknown(group, names, size)
            merged = {name: np.concatenate([group[name] for group in groups]) for name in sorted(names)}
            rows = np.arange(len(merged["played"]))
            if "teacher_value" in merged:
                values = merged["teacher_value"]
                is_open = np.abs(values[:, 0] - values[:, 1]) < OPEN
                again = [rows[regrets(merged) >= REGRET]] * (self.regretted - 1) if self.regretted > 1 else []
                rows = np.concatenate([rows, *again, *[rows[is_open]] * (self.open_games - 1)])
            count = len(rows)
            # What does not fill a batch is left for another round, whose order is another.
            rows = rng.permutation(rows)[: max(1, count // self.batch) * self.batch]
            pieces = np.array_split(rows, max(1, count // self.batch))
            batches += [(size, merged, piece) for piece in pieces]
        mixed = rng.permutation(len(batches))
        self.loaded = [batches[i] for i in mixed]

    def __iter__(self) -> Iterator[Batch]:
        while True:
            if not self.files:
                self.files = self.list_files()
                if not self.files:
                    kind = "labelled shards" if self.labelled else "shards"
                    raise ShardError(f"no {kind} training*.npz in {self.folder}")
            if self.loaded is None:
                self._load()
            if self.taken >= len(self.loaded):
                self.part, self.taken, self.loaded = self.part + 1, 0, None
                if self.part * self.window >= len(self.files):
                    self.round, self.part, self.files = self.round + 1, 0, self.list_files()
                continue
            size, group, rows = self.loaded[self.taken]
            rng = np.random.default_rng((self.seed, self.round, self.part, self.taken))
            symmetry = int(rng.integers(8 if size[0] == size[1] else 4))
            self.taken += 1
            yield make_batch(size, group, rows, symmetry)


def all_batches(folder: str | Path, prefix: str, batch: int, most: int) -> Iterator[Batch]:
    """The first `most` positions of each size in the shards, unturned, in order: for validation."""
    taken: dict[tuple[int, int], int] = {}
    for path in shard_files(folder, prefix):
        for size, group in sorted(read_groups(path).items()):
            count = min(most - taken.get(size, 0), len(group["played"]))
            taken[size] = taken.get(size, 0) + count
            for start in range(0, count, batch):
                yield make_batch(size, group, np.arange(start, min(count, start + batch)))
