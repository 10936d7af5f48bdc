"""Helpers that several tests share."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from kosumi_train import compact, katago_file, teacher
from kosumi_train.__main__ import main
from kosumi_train.model import Network, Shape

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parent.parent
# A shape for every kind of network.
SHAPES = (
    "b3c16",
    "b3c32nbt",
    "b2c32h2tflrs",
    "b2c64h2nbttflrs",
    "b2c48h2m32nb1ttflrs-silu",
    "b2c32h2tflrs-smooth",
)
# Folder with other networks, and with KataGo's outputs for them. Only some machines have it.
SHARED = Path(os.environ.get("KOSUMI_SHARED", ROOT.parent / "shared"))


def network(name: str = "b3c16", seed: int = 1) -> Network:
    """Returns a network whose outputs depend on every weight. In a new network they do not, because the last layers of
    blocks are 0."""
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
    """Returns a game record in SGF that contains the position of `row`."""

    def vertex(name: str) -> str:
        if name.lower() == "pass":
            return ""
        column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(name[0].upper())
        return chr(97 + column) + chr(97 + row["rows"] - int(name[1:]))

    # Passes after the position make the game long enough to be accepted.
    moves = [(color, vertex(name)) for color, name in row["moves"]]
    colors = "BW" if row["to_play"] == "B" else "WB"
    moves += [(colors[i % 2], "") for i in range(max(2, 12 - len(moves)))]
    size = f"{row['columns']}:{row['rows']}" if row["columns"] != row["rows"] else row["columns"]
    body = "".join(f";{color}[{at}]" for color, at in moves)
    return f"(;GM[1]FF[4]SZ[{size}]KM[{row['komi']}]RE[B+R]{body})"


def printed(function: Callable[[], None]) -> str:
    """Returns the standard output of a function."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        function()
    return output.getvalue()


def call(*words: object) -> str:
    """Runs a command of the tool in this process. Returns its standard output."""
    return printed(lambda: main([str(word) for word in words]))


def run(*words: object) -> str:
    """Runs a command of the tool in another process. Returns its output. Raises `AssertionError` if the command
    fails."""
    command = [sys.executable, str(HERE / "train"), *(str(word) for word in words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}")
    return done.stdout


def write_shard(path: Path, columns: int, rows: int, count: int = 40) -> None:
    arrays = {f"{columns}x{rows}/{name}": values for name, values in group(count, columns, rows).items()}
    np.savez(path, version=np.array([1], np.uint32), **arrays)


def rounded(made: Network, share: float, least: int = 1000) -> dict[torch.nn.Parameter, float]:
    """Rounds weights to multiples of steps as if all inputs were uncorrelated. Returns the steps."""
    with tempfile.TemporaryDirectory() as folder:
        katago_file.write(Path(folder) / "n.bin.gz", "n", made)
        layers = teacher.read(Path(folder) / "n.bin.gz").named_modules()
    inputs = {name: torch.eye(layer.in_features) for name, layer in layers if isinstance(layer, torch.nn.Linear)}
    with mock.patch.object(compact, "MIN_ELEMENTS", least):
        return compact.compact(made, inputs, share)
