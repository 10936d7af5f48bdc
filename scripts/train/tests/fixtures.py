"""What tests of several parts need."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import torch

import compact
import katago_file
import teacher
from model import Network, Shape

HERE = Path(__file__).parent.parent
# One of every kind.
SHAPES = ("b3c16", "b3c32nbt", "b2c32h2tflrs", "b2c64h2nbttflrs", "b2c48h2m32nb1ttflrs-silu", "b3c32h2x2", "b2c32h2tflrs-smooth")
# What lies beside the project on some machines: other people's networks, and what KataGo says with them.
SHARED = Path(os.environ.get("KOSUMI_SHARED", HERE.parent.parent.parent / "shared"))


def network(name: str = "b3c16", seed: int = 1) -> Network:
    """One in which every weight matters: a new network's last layers of blocks are 0."""
    torch.manual_seed(seed)
    made = Network(Shape.named(name))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return made


def answers(made: Network, spatial, globals_, mask=None) -> list[torch.Tensor]:
    answer = made(spatial, globals_, mask)
    return [answer.policy, answer.value, answer.score, answer.ownership, answer.errors, answer.optimistic]


def group(count: int, columns: int, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    area = columns * rows
    return {
        "planes": rng.integers(0, 256, (count, 22, (area + 7) // 8), np.uint8),
        "global": rng.random((count, 19), np.float32),
        "played": rng.integers(0, area + 1, count).astype(np.uint16),
        "value": np.tile(np.array([1, 0, 0], np.float32), (count, 1)),
        "score": np.full(count, np.nan, np.float32),
        "ownership": rng.integers(-127, 128, (count, area)).astype(np.int8),
    }


def record(row: dict) -> str:
    """A game record in SGF that comes through a position."""

    def vertex(name: str) -> str:
        if name.lower() == "pass":
            return ""
        column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(name[0].upper())
        return chr(97 + column) + chr(97 + row["rows"] - int(name[1:]))

    # Passes behind the position, so that a game is long enough to be taken.
    moves = [(color, vertex(name)) for color, name in row["moves"]]
    colors = "BW" if row["to_play"] == "B" else "WB"
    moves += [(colors[i % 2], "") for i in range(max(2, 12 - len(moves)))]
    size = f"{row['columns']}:{row['rows']}" if row["columns"] != row["rows"] else row["columns"]
    body = "".join(f";{color}[{at}]" for color, at in moves)
    return f"(;GM[1]FF[4]SZ[{size}]KM[{row['komi']}]RE[B+R]{body})"


def call(main, words: list) -> str:
    """What a script prints with these words on its command line."""
    printed = io.StringIO()
    with mock.patch.object(sys, "argv", [str(word) for word in words]), contextlib.redirect_stdout(printed):
        main()
    return printed.getvalue()


def write_shard(path: Path, columns: int, rows: int, count: int = 40) -> None:
    arrays = {f"{columns}x{rows}/{name}": values for name, values in group(count, columns, rows).items()}
    np.savez(path, version=np.array([1], np.uint32), **arrays)


def rounded(made: Network, share: float, least: int = 1000) -> dict[torch.nn.Parameter, float]:
    """Makes weights multiples of steps as if all inputs had nothing to do with each other; the steps."""
    with tempfile.TemporaryDirectory() as folder:
        katago_file.write(Path(folder) / "n.bin.gz", "n", made)
        layers = teacher.read(Path(folder) / "n.bin.gz").named_modules()
    inputs = {name: torch.eye(layer.in_features) for name, layer in layers if isinstance(layer, torch.nn.Linear)}
    with mock.patch.object(compact, "LEAST", least):
        return compact.compact(made, inputs, share)
