"""Trains a network on a machine with a GPU, from one folder alone. Labels are made during the training.

    train gpu pack FOLDER --teacher TEACHER --games GAMES.sgf.zst --kosumi PROGRAM --validation SHARD...
    python3 FOLDER/train gpu train FOLDER --out OUT --shape b10c128 --seconds 560    (on the other machine)

`pack` needs no GPU. It makes a folder of about 45 MB with this tool, game records without names, the teacher's weights
in 16 bits, the program kosumi, shards for validation, and optionally shards for training.

`train` needs only the folder and Python with PyTorch. On all cores, kosumi turns game records into positions and plays
games, while the GPU labels positions and trains. Labels are not stored. The run ends within --seconds of its start. OUT
has these files, which are at most a minute old at any time:

    network.bin.gz      the averaged weights in KataGo's format
    state.000, …        the state for --start, in pieces of at most 15 MiB
    log.jsonl           every number, of all runs

`train export OUT FILE` makes a network file from the state alone.
"""

from __future__ import annotations

import argparse
import lzma
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

from . import katago_file, teacher
from . import options as shared
from .shards import LABELS

GAMES, TEACHER, PROGRAM, START = "games.sgf.xz", "teacher.xz", "kosumi.xz", "start"
HERE = Path(__file__).resolve().parent

# Properties of game records that do not describe the moves.
_NAMES = re.compile(rb"(?<![A-Za-z])(?:PB|PW|BR|WR|BT|WT|EV|RO|PC|GN|GC|AN|SO|US|CP|CA|AP|C)\[(?:[^\]\\]|\\.)*\]", re.S)


def lean(record: bytes) -> bytes:
    """Returns a game record without names and comments."""
    return _NAMES.sub(b"", record)


def pack_games(source: Path, target: Path, megabytes: float, before: int) -> int:
    """Packs as many games as fit, evenly spread over a collection with one record a line. Leaves out games dated
    `before` a year or later.

    Returns the number of games.
    """
    command = ["zstd", "-dc", str(source)] if source.suffix == ".zst" else ["gzip", "-dcf", str(source)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()
    games = []
    for line in lines:
        year = re.search(rb"DT\[(\d{4})", line)
        if line.startswith(b"(;") and line.rstrip().endswith(b")") and (not year or int(year[1]) < before):
            games.append(lean(line.strip()))
    if not games:
        raise SystemExit(f"{source}: no games, one a line, before {before}")
    # Packed bytes of a game, estimated from a sample. All games together compress somewhat better.
    sample = games[:: max(1, len(games) // 2000)]
    each = len(lzma.compress(b"\n".join(sample), preset=6)) / len(sample)
    count = min(len(games), int(megabytes * 1e6 / each))
    chosen = [games[i * len(games) // count] for i in range(count)]
    target.write_bytes(lzma.compress(b"\n".join(chosen) + b"\n", preset=6))
    return count


def pack_teacher(source: Path, target: Path) -> None:
    """Packs a network with its large arrays in 16 bits, which is enough for a teacher that computes in bf16."""
    data = katago_file.Words.unpacked(source)
    parts, at = [], 0
    for start, length in teacher.parse(data)[1]:
        parts.append(data[at:start])
        at = start + 5 + 4 * length
        values = np.frombuffer(data, "<f4", length, start + 5)
        if length >= 4096:
            # Weights below 6·10⁻⁸, which f16 cannot hold, are negligible beside the other weights of their row.
            parts += [b"@F16@", values.astype("<f2").tobytes()]
        else:
            parts.append(data[start:at])
    parts.append(data[at:])
    with lzma.open(target, "wb", preset=6) as file:
        file.write(b"".join(parts))


def pack(options: argparse.Namespace) -> None:
    """Makes the folder for the other machine."""
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    if options.games:
        count = pack_games(options.games, folder / GAMES, options.megabytes, options.held_back)
        print(f"{count} games")
    pack_teacher(options.teacher, folder / TEACHER)
    kinds = ("validation", options.validation), ("training", options.shards), ("training-selfplay", options.self_play)
    for kind, found in kinds:
        # Patterns such as validation-*.npz also match labels, which the other machine makes anew.
        shards = [path for path in found if not path.name.endswith(LABELS)]
        for number, path in enumerate(shards):
            shutil.copyfile(path, folder / f"{kind}-{number:05}.npz")
    if options.kosumi:
        with lzma.open(folder / PROGRAM, "wb", preset=6) as file:
            file.write(options.kosumi.read_bytes())
    shutil.copytree(HERE, folder / HERE.name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    shutil.copy(HERE.parent / "train", folder / "train")
    if options.start:
        shutil.copytree(options.start, folder / START, dirs_exist_ok=True)
    for path in sorted(folder.iterdir()):
        if path.is_file():
            print(f"{path.name:32} {path.stat().st_size / 1e6:6.1f} MB")
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{total / 1e6:.1f} MB in total")


def train(options: argparse.Namespace) -> None:
    """Trains from a folder that `pack` made."""
    import torch

    if torch.cuda.is_available():
        # Kernels for the CPU would cost compile time and bring nothing.
        os.environ.setdefault("KOSUMI_TRAIN_PLAIN", "1")
    from . import gpu_training

    if options.threads:
        shared.prepare(options)
    gpu_training.Training(options).run()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(required=True, metavar="pack|train")
    packing = commands.add_parser("pack", help="makes the folder")
    packing.set_defaults(call=pack)
    packing.add_argument("folder", type=Path)
    packing.add_argument("--teacher", type=Path, required=True, help="network in KataGo's format, versions 8 to 17")
    packing.add_argument("--games", type=Path, help="records, one a line: .sgf, .sgf.gz or .sgf.zst")
    packing.add_argument("--megabytes", type=float, default=16.0, help="size of the packed games [%(default)s]")
    packing.add_argument(
        "--held-back", type=int, default=2016, help="games of this year and later stay out [%(default)s]"
    )
    shared.kosumi(packing, purpose="the program kosumi, built for the other machine")
    packing.add_argument("--shards", type=Path, nargs="*", default=[], help="shards to learn from")
    packing.add_argument("--self-play", type=Path, nargs="*", default=[], help="shards of self-play to learn from")
    packing.add_argument("--validation", type=Path, nargs="*", default=[], help="shards to validate with")
    packing.add_argument("--start", type=Path, help="folder of an earlier run to start from")

    training = commands.add_parser("train", help="trains", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    training.set_defaults(call=train)
    training.add_argument("folder", type=Path, help="what `pack` made")
    training.add_argument("--out", type=Path, required=True, help="folder of the run")
    training.add_argument("--start", type=Path, help="OUT of an earlier run, or a network file")
    training.add_argument("--shape", default="b10c128", help="shape of a new network")
    training.add_argument("--seconds", type=float, default=560.0, help="time limit of the run from its start")
    training.add_argument(
        "--reserve", type=float, default=25.0, help="seconds of these for validation and files at the end"
    )
    training.add_argument("--rate", type=float, default=3e-3, help="learning rate")
    training.add_argument("--decay", type=float, default=0.05, help="weight decay")
    training.add_argument("--warm-up", type=int, default=200, help="steps with a rising rate")
    training.add_argument("--cool-down", type=float, default=0.0, help="last share of the time, with a falling rate")
    training.add_argument("--batch", type=int, default=512, help="positions of 19x19 in a step; more of smaller boards")
    training.add_argument("--window", type=int, default=32, help="batches that are labelled and mixed together")
    training.add_argument(
        "--reuse", type=int, default=2, help="number of times that a label is used, turned differently"
    )
    training.add_argument("--full", type=float, default=0.45, help="share of the steps on 19x19")
    training.add_argument("--vary-komi", type=float, default=0.4, help="share of positions that get another komi")
    training.add_argument(
        "--played", type=float, default=0.15, help="weight of the played move beside the teacher's policy"
    )
    training.add_argument("--average", type=float, default=800_000.0, help="positions over which weights are averaged")
    training.add_argument("--per-game", type=int, default=24, help="positions of each game")
    training.add_argument(
        "--least", type=int, default=100_000, help="positions to wait for at first, for a minute at most"
    )
    training.add_argument("--cores", type=int, default=max(1, (os.cpu_count() or 2) - 2), help="cores for kosumi")
    training.add_argument(
        "--searches", type=float, default=0.75, help="share of the cores that play with a search (--start)"
    )
    training.add_argument("--visits", type=int, default=60, help="visits of such a search")
    training.add_argument("--teacher-points", type=int, default=361 * 512, help="points of a batch of the teacher")
    training.add_argument(
        "--validation-positions", type=int, default=2048, help="positions of each size to validate on"
    )
    training.add_argument("--checkpoint-seconds", type=float, default=60.0, help="time between checkpoints")
    training.add_argument("--validate-seconds", type=float, default=150.0, help="time between validations")
    training.add_argument("--log-seconds", type=float, default=10.0, help="time between lines of the log")
    training.add_argument("--compile", action="store_true", help="compiles kernels for 19x19 by torch.compile")
    training.add_argument("--bf16", action="store_true", help="uses bf16 also on a CPU")
    training.add_argument("--device", help="cuda or cpu; by default the better one that exists")
    training.add_argument("--work", type=Path, help="folder for positions during the run; by default a temporary one")
    shared.name(training)
    shared.seed(training, "seed; another one in every run makes other positions")
    shared.processor(training)


def run(options: argparse.Namespace) -> None:
    """Packs the folder or trains from it."""
    options.call(options)
