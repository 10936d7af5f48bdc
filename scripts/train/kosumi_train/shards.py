"""Shards of positions as `kosumi features` and `kosumi selfplay` write them: reading, shuffling, turning and batching.

The format is described beside the engine's writer (`shard.rs`). The `label` command writes a file next to a shard,
whose name ends in `.labels.npz`. It has the outputs of a stronger network for the same positions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

SHARD_VERSION = 1
LABELS_VERSION = 2
FEATURES = 22
UNKNOWN_OWNER = -128
NO_MOVE = 65535
POLICY_MOVES = 32
LABELS = ".labels.npz"
# A position is open if the teacher's value (win minus loss) is below this, in absolute terms.
OPEN = 0.9
# A move is regretted if the teacher gives its own first choice more probability than that move, by at least this much.
REGRET = 0.3

# Columns and rows of a board.
Size = tuple[int, int]
# Arrays with the positions of one board size, by name.
Group = dict[str, np.ndarray]


class ShardError(Exception):
    """Raised for a file that is not a shard of a supported version."""


def shard_files(folder: str | Path, prefix: str = "") -> list[Path]:
    """Returns the shards in a folder whose names begin with `prefix`, sorted by name."""
    files = Path(folder).glob(f"{prefix}*.npz")
    return sorted(path for path in files if not path.name.endswith(LABELS))


def labels_of(path: Path) -> Path:
    """Returns the path of the labels of a shard."""
    return path.with_name(path.name.removesuffix(".npz") + LABELS)


def read_groups(path: Path, labels: bool = True) -> dict[Size, Group]:
    """Returns the arrays of a shard, and of its labels if there are any, by board size.

    # Errors

    Raises `ShardError` if the version of a file is not supported, or `OSError`.
    """
    groups: dict[Size, Group] = {}
    for file, version in ((path, SHARD_VERSION), (labels_of(path), LABELS_VERSION)):
        if file == labels_of(path) and not (labels and file.exists()):
            continue
        with np.load(file, allow_pickle=False) as arrays:
            if "version" not in arrays.files or int(arrays["version"][0]) != version:
                raise ShardError(f"{file}: not a file of version {version}")
            for name in arrays.files:
                size, _, array = name.partition("/")
                if array:
                    columns, _, rows = size.partition("x")
                    groups.setdefault((int(columns), int(rows)), {})[array] = arrays[name]
        if file == path:
            for group in groups.values():
                group["chosen"] = chosen_moves(group)
    for group in groups.values():
        # A search lists fewer moves than a teacher, and does not have the share of the other moves.
        for name in ("policy_move", "policy_share"):
            if name in group and group[name].shape[1] < POLICY_MOVES:
                group[name] = np.pad(group[name], ((0, 0), (0, POLICY_MOVES - group[name].shape[1])))
    return groups


@dataclasses.dataclass
class Batch:
    """n positions of one board size with p points, from the perspective of the side to move."""

    size: Size
    # Input features (n, 22, rows, columns), in channels-last memory order.
    spatial: torch.Tensor
    # Global features (n, 19).
    globals_: torch.Tensor
    # Played moves (n): a point, or p for a pass. They have no meaning where `has_played` (n) is false.
    played: torch.Tensor
    has_played: torch.Tensor
    # Results (n, 3): win, loss, no result. All 0 if the result is unknown.
    result: torch.Tensor
    # Score in points (n). NaN where unknown.
    score: torch.Tensor
    # Ownership (n, p) in [-1, 1]. NaN where unknown; `None` if all are unknown.
    ownership: torch.Tensor | None
    # Outputs of the teacher, or `None`: moves and their probabilities (n, 32), and the probability of all other moves
    # (n). Below: short-term errors (n, 2), value (n, 3), score (n, 4: mean, spread and lead in points, and variance
    # time), and ownership (n, p) in [-1, 1].
    policy_move: torch.Tensor | None = None
    policy_share: torch.Tensor | None = None
    policy_rest: torch.Tensor | None = None
    # Probabilities of the same moves in the optimistic policy, and of all other moves.
    optimistic_share: torch.Tensor | None = None
    optimistic_rest: torch.Tensor | None = None
    teacher_error: torch.Tensor | None = None
    teacher_value: torch.Tensor | None = None
    teacher_score: torch.Tensor | None = None
    teacher_ownership: torch.Tensor | None = None
    # Result that a self-play search expected (n), in [-1, 1]. NaN where there was no search.
    expected: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.played)


def first(batch: Batch, count: int) -> Batch:
    """Returns the first `count` positions of a batch."""
    parts = {field.name: getattr(batch, field.name) for field in dataclasses.fields(batch)}
    return Batch(**{name: part[:count] if isinstance(part, torch.Tensor) else part for name, part in parts.items()})


def at_most(batch: Batch, points: int) -> Batch:
    """Returns the first positions of a batch: at most `points` points in total, but at least one position."""
    return first(batch, max(1, points // (batch.size[0] * batch.size[1])))


def turned_points(columns: int, rows: int, symmetry: int) -> np.ndarray:
    """Returns, for each point of the turned board, the point of the original board."""
    points = np.arange(columns * rows).reshape(rows, columns)
    if symmetry & 1:
        points = points[::-1]
    if symmetry & 2:
        points = points[:, ::-1]
    if symmetry & 4:
        points = points.T
    return points.reshape(-1)


def make_batch(size: Size, group: Group, rows: np.ndarray, symmetry: int = 0) -> Batch:
    """Returns a batch of the given rows of a group, turned by a symmetry. Symmetries from 4 on need a square board."""
    columns, height = size
    area = columns * height
    source = turned_points(columns, height, symmetry)
    # Maps a point of the original board to its point on the turned board. A pass stays a pass.
    landed = np.empty(area + 1, np.int64)
    landed[source] = np.arange(area)
    landed[area] = area

    bits = np.unpackbits(group["planes"][rows], axis=2)[:, :, :area]
    # The points come first, for a tensor in channels-last order.
    planes = bits.transpose(0, 2, 1)[:, source, :].astype(np.float32)
    spatial = torch.from_numpy(planes).view(len(rows), height, columns, FEATURES).permute(0, 3, 1, 2)

    def owners(name: str) -> torch.Tensor | None:
        if name not in group:
            return None
        found = group[name][rows][:, source].astype(np.float32)
        found[found == UNKNOWN_OWNER] = np.nan
        return torch.from_numpy(found / 127.0)

    def floats(name: str) -> torch.Tensor:
        return torch.from_numpy(group[name][rows].astype(np.float32))

    def known(name: str) -> torch.Tensor | None:
        return floats(name) if name in group else None

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
        teacher_value=known("teacher_value"),
        teacher_score=known("teacher_score"),
        teacher_error=known("teacher_error"),
        teacher_ownership=owners("teacher_ownership"),
        expected=known("expected"),
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


def chosen_moves(group: Group) -> np.ndarray:
    """Returns the moves (n) that a self-play player preferred, or `NO_MOVE` where there was no search. Labels replace
    the search's policy, so this function must be called before they are read."""
    if "policy_move" not in group:
        return np.full(len(group["played"]), NO_MOVE, np.uint16)
    return np.where(group["policy_share"][:, 0] > 0, group["policy_move"][:, 0], NO_MOVE).astype(np.uint16)


def regrets(group: Group) -> np.ndarray:
    """Returns the probability that the teacher gives to its first choice, less that of the move which the self-play
    player preferred (n), in [0, 1]. It is 0 where one of the two moves is unknown."""
    moves, shares = group["policy_move"], group["policy_share"].astype(np.float32) / 65535
    given = np.where(moves == group["chosen"][:, None], shares, 0).sum(axis=1)
    known = (group["chosen"] != NO_MOVE) & (shares[:, 0] > 0)
    return np.where(known, np.maximum(0, shares[:, 0] - given), 0)


def add_unknown(group: Group, names: set[str], size: Size) -> None:
    """Adds the optional arrays in `names` that the group lacks, with unknown values. Raises `ShardError` for an array
    that must not be missing."""
    count, area = len(group["played"]), size[0] * size[1]
    for name in names - set(group):
        if name == "ownership":
            group[name] = np.full((count, area), UNKNOWN_OWNER, np.int8)
        elif name in ("policy_move", "policy_share", "optimistic_share"):
            group[name] = np.zeros((count, POLICY_MOVES), np.uint16)
        elif name == "expected":
            group[name] = np.full(count, np.nan, np.float32)
        elif name == "chosen":
            group[name] = np.full(count, NO_MOVE, np.uint16)
        elif name in ("policy_rest", "optimistic_rest"):
            group[name] = np.zeros(count, np.uint16)
        else:
            raise ShardError(f"some shards have the array {name} and others do not")


def forget_the_game(group: Group) -> None:
    """Sets the played moves, results, scores and ownership to unknown."""
    group["played"] = np.full_like(group["played"], NO_MOVE)
    group["value"] = np.zeros_like(group["value"])
    group["score"] = np.full_like(group["score"], np.nan)
    if "expected" in group:
        group["expected"] = np.full_like(group["expected"], np.nan)
    if "ownership" in group:
        group["ownership"] = np.full_like(group["ownership"], UNKNOWN_OWNER)


class Stream:
    """Endless batches that follow from the seed and the step alone, so that a training resumes exactly where it
    stopped.

    The shards are taken in rounds, each in another order. `window` shards are in memory at a time, and their positions
    are mixed. Shards that appear in the folder join the next round. Iterating raises `ShardError` if there are no
    shards.
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
    ) -> None:
        self.folder, self.batch, self.seed, self.window, self.labelled = Path(folder), batch, seed, window, labelled
        # Prefix of shards with games of weak players. Only the teacher's outputs are used for them.
        self.weak = weak
        # How often a position is used in which the teacher regrets the move of the self-play player.
        self.regretted = regretted
        # How often an open position is used. Searches depend on such positions, and games of weak players have few.
        self.open_games = open_games
        # Position in the stream: round, files of the round, window in the round, and number of batches taken from the
        # window.
        self.round, self.files, self.part, self.taken = 0, self.list_files(), 0, 0
        self.loaded: list[tuple[Size, Group, np.ndarray]] | None = None

    def list_files(self) -> list[str]:
        """Returns the names of the shards for a new round."""
        files = shard_files(self.folder, "training")
        return [path.name for path in files if not self.labelled or labels_of(path).exists()]

    def state(self) -> dict[str, Any]:
        """Returns the position in the stream."""
        return {"round": self.round, "files": self.files, "part": self.part, "taken": self.taken}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a position in the stream."""
        self.round, self.files, self.part, self.taken = (state[key] for key in ("round", "files", "part", "taken"))
        self.loaded = None
        if any(not (self.folder / name).exists() for name in self.files):
            # Some shards of the saved state are missing, so a new round begins with the current ones.
            self.files, self.part, self.taken = self.list_files(), 0, 0
            self.round += 1

    def _load(self) -> list[tuple[Size, Group, np.ndarray]]:
        """Returns the batches of the current window in random order: size, group, and rows."""
        rng = np.random.default_rng((self.seed, self.round, self.part))
        order = np.random.default_rng((self.seed, self.round)).permutation(len(self.files))
        chosen = [self.files[i] for i in order[self.part * self.window : (self.part + 1) * self.window]]
        sizes: dict[Size, list[Group]] = {}
        for name in chosen:
            for size, group in read_groups(self.folder / name).items():
                if self.weak and name.startswith(self.weak):
                    forget_the_game(group)
                sizes.setdefault(size, []).append(group)
        batches = []
        for size, groups in sorted(sizes.items()):
            if any("teacher_value" in group for group in groups):
                # Some shards have no labels yet. Then only labelled shards are used.
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
            # Positions that do not fill a batch are left for another round, which has another order.
            rows = rng.permutation(rows)[: max(1, count // self.batch) * self.batch]
            pieces = np.array_split(rows, max(1, count // self.batch))
            batches += [(size, merged, piece) for piece in pieces]
        mixed = rng.permutation(len(batches))
        return [batches[i] for i in mixed]

    def __iter__(self) -> Iterator[Batch]:
        while True:
            if not self.files:
                self.files = self.list_files()
                if not self.files:
                    kind = "labelled shards" if self.labelled else "shards"
                    raise ShardError(f"no {kind} training*.npz in {self.folder}")
            if self.loaded is None:
                self.loaded = self._load()
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
    """Yields the first `most` positions of each board size in batches, in order and without turning, for validation."""
    taken: dict[Size, int] = {}
    for path in shard_files(folder, prefix):
        for size, group in sorted(read_groups(path).items()):
            count = min(most - taken.get(size, 0), len(group["played"]))
            taken[size] = taken.get(size, 0) + count
            for start in range(0, count, batch):
                yield make_batch(size, group, np.arange(start, min(count, start + batch)))
