"""Makes shards of positions for training, by `kosumi features` and `kosumi selfplay`.

Kinds of positions:
    games       positions of game records, two of each game; one in six is off its game's path (for labels only)
    openings    positions of the first moves of game records, which teach komi with `label --vary-komi 0.9`
    validation  one position of each game of the held-back years
    policy      positions of games on all boards, which a network plays by its policy without a search
    trees       positions inside the searches of games that a network plays
    distil      positions like `trees`, on boards up to 25x25 and under six rule sets, for distillation

Each kind has its own working folder below OUT, and resumes there after a stop. Its shards are linked into OUT, under
names that begin with `training-` or `validation-`. Names of self-play shards begin with `training-selfplay`, so that
`train --weak training-selfplay` uses only the teacher's outputs for them. Another seed gives new positions.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

from . import options as shared
from .boards import DISTIL_RULES, DISTIL_SIZES, POLICY_SIZES, RECORDED_RULES, SEARCH_SIZES, SHOWN_RULES

# By kind: the default number of positions of game records, or of self-play games, and the prefix of the linked shards.
RECORDS = {"games": (500_000, "training-games"), "openings": (6_000, "training-selfplay-openings")}
RECORDS |= {"validation": (4_096, "validation-games")}
SELF_PLAY = {"policy": (40_000, "training-selfplay-policy"), "trees": (6_000, "training-selfplay-trees")}
SELF_PLAY |= {"distil": (500, "training-selfplay-distil")}


def features_command(
    kosumi: Path, games: Path | str, out: Path, off_policy: int, shard: int, more: list[str]
) -> list[str]:
    """Returns the command that turns game records into positions, under the rules that are most common in practice."""
    command = [str(kosumi), "features", str(games), "--out", str(out), "--shard", str(shard), "--rules", RECORDED_RULES]
    command += [word for rule in SHOWN_RULES for word in ("--shown", rule)]
    return [*command, "--off-policy", str(off_policy), *more]


def policy_command(kosumi: Path, out: Path, games: int, taken: int, shard: int, more: list[str]) -> list[str]:
    """Returns the command that plays games by the policy of a network. `taken` is the number of turns in a thousand
    that become positions. A few positions each from many games are best, because positions of one game are nearly
    alike."""
    command = [str(kosumi), "selfplay", "--out", str(out), "--games", str(games), "--shard", str(shard)]
    command += ["--visits", "0", "--off-policy", "100", "--komi-spread", "2", "--handicap", "60"]
    return [*command, "--training-share", str(taken), "--sizes", POLICY_SIZES, *more]


def search_command(
    kosumi: Path, out: Path, games: int, visits: int, share: int, sizes: str, shard: int, more: list[str]
) -> list[str]:
    """Returns the command that plays games with a search, and takes six positions from the tree of each training
    search."""
    command = [str(kosumi), "selfplay", "--out", str(out), "--games", str(games), "--shard", str(shard)]
    command += ["--visits", str(visits), "--training-share", str(share), "--tree", "6", "--komi-spread", "1.5"]
    return [*command, "--handicap", "30", "--sizes", sizes, *more]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=[*RECORDS, *SELF_PLAY])
    shared.out(parser, "folder for the shards")
    shared.kosumi(parser, required=True)
    parser.add_argument("--games", type=Path, help="game records (.sgf, .sgf.gz, .sgf.zst), for kinds of records")
    parser.add_argument("--player", help="network that plays: a file, or the name of a built-in one [small]")
    parser.add_argument("--count", type=int, help="positions of records, or games of self-play [depends on the kind]")
    parser.add_argument("--taken", type=int, default=120, help="policy: positions of a thousand turns [%(default)s]")
    parser.add_argument("--visits", type=int, default=60, help="trees, distil: visits of a search [%(default)s]")
    parser.add_argument("--validation", action="store_true", help="makes self-play shards for validation")
    parser.add_argument("--threads", type=int, help="number of threads [all]")
    shared.seed(parser)


def command_of(options: argparse.Namespace, work: Path) -> list[str]:
    """Returns the command for a kind, which writes into the folder `work`."""
    kind = options.kind
    more = ["--seed", str(options.seed)]
    if options.threads:
        more += ["--threads", str(options.threads)]
    if kind in RECORDS:
        positions = str(options.count or RECORDS[kind][0])
        more += ["--split", "validation" if kind == "validation" else "training", "--positions", positions]
        more += ["--per-game", "2" if kind == "games" else "1"]
        more += ["--opening", "30"] if kind == "openings" else []
        return features_command(options.kosumi, options.games, work, 180 if kind == "games" else 0, 2048, more)
    player = options.player or "small"
    more += ["--model", player] if Path(player).exists() else ["--network", player]
    more += ["--validation"] if options.validation else []
    count = options.count or SELF_PLAY[kind][0]
    if kind == "policy":
        return policy_command(options.kosumi, work, count, options.taken, 1024, more)
    sizes = DISTIL_SIZES if kind == "distil" else SEARCH_SIZES
    more += ["--rules", DISTIL_RULES] if kind == "distil" else []
    return search_command(options.kosumi, work, count, options.visits, 100, sizes, 512, more)


def run(options: argparse.Namespace) -> None:
    """Makes the shards of a kind, and links them into the output folder."""
    kind, seed = options.kind, options.seed
    if kind in RECORDS and options.games is None:
        raise SystemExit(f"positions {kind}: game records are needed (--games)")
    if kind in RECORDS and options.validation:
        raise SystemExit(f"positions {kind}: --validation is for self-play; records have the kind validation")
    prefix = {**RECORDS, **SELF_PLAY}[kind][1]
    if options.validation:
        prefix = prefix.replace("training", "validation", 1)
    work = options.out / f"{kind}{'-validation' if options.validation else ''}-{seed}"
    work.mkdir(parents=True, exist_ok=True)
    made = sorted(work.glob("*.npz"))
    if not (made and kind in RECORDS):
        # `kosumi selfplay` resumes after a stop. `kosumi features` begins anew, but takes only seconds.
        subprocess.run(command_of(options, work), check=True)
        made = sorted(work.glob("*.npz"))
    for number, shard in enumerate(made):
        target = options.out / f"{prefix}-{seed}-{number:05}.npz"
        if not target.exists():
            os.link(shard, target)
    print(f"{len(made)} shards {prefix}-{seed}-*.npz in {options.out}")
