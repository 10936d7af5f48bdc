"""Files of all runs: a log of JSON lines, and `state.json`, from which another run can start. All are replaced in one
step."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import torch
from torch import nn

from . import katago_file
from .losses import measures
from .model import Answer, Network
from .shards import Batch, Size

NETWORK, STATE, LOG = "network.bin.gz", "state.json", "log.jsonl"


def write_whole(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Replaces a file in one step: after a kill, the file is either the old or the new one."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def write_bytes(path: Path, content: bytes) -> None:
    """Replaces the content of a file in one step."""

    def write(file: IO[bytes]) -> None:
        file.write(content)

    write_whole(path, write)


def network_of(start: Path) -> Path:
    """Returns the network file of a run's folder, or the file itself."""
    return start / NETWORK if start.is_dir() else start


def state_of(start: Path) -> dict[str, Any]:
    """Returns the content of `state.json` of a run. All counts are 0 for a file, or for a folder without one."""
    path = start / STATE
    state: dict[str, Any] = {"positions": 0, "steps": 0, "cpu_seconds": 0.0, "wall_seconds": 0.0, "round": 0}
    return state | (json.loads(path.read_text()) if start.is_dir() and path.exists() else {})


def copy_log(start: Path, out: Path) -> None:
    """Begins the log of a run with a copy of the log of the run from which it starts."""
    path = start / LOG
    if start.is_dir() and path.exists() and start.resolve() != out.resolve():
        (out / LOG).write_bytes(path.read_bytes())


def write_state(out: Path, state: dict[str, Any]) -> None:
    """Writes `state.json`."""
    write_bytes(out / STATE, json.dumps(state, indent=1).encode() + b"\n")


def append(out: Path, kind: str, facts: dict[str, Any]) -> dict[str, Any]:
    """Appends a line to the log, with rounded floats, and returns it."""
    line = {"kind": kind} | {name: round(it, 5) if isinstance(it, float) else it for name, it in facts.items()}
    with open(out / LOG, "a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def text_of(line: dict[str, Any]) -> str:
    """Returns a line of a log as text for people."""
    return " ".join(f"{name}={value}" for name, value in line.items())


class Average:
    """Moving average of a network's weights. It plays better than the weights themselves, because the noise of the
    steps cancels."""

    def __init__(self, network: nn.Module, steps: float) -> None:
        self.network = network
        self.keep = 1 - 1 / max(1.0, steps)
        self.steps = 0
        self.weights = {name: value.detach().clone() for name, value in network.state_dict().items()}

    @torch.no_grad()
    def update(self) -> None:
        """Adds the network's current weights to the average."""
        self.steps += 1
        # Early weights are of no use, so the average forgets faster at first.
        keep = min(self.keep, self.steps / (self.steps + 10))
        for name, value in self.network.state_dict().items():
            self.weights[name].lerp_(value, 1 - keep)


class Averaged:
    """Context in which a network has other weights, such as its average weights. It gets its own weights back at the
    end."""

    def __init__(self, network: nn.Module, weights: dict[str, torch.Tensor]) -> None:
        self.network, self.weights = network, weights

    def __enter__(self) -> None:
        self.own = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.load_state_dict(self.weights)

    def __exit__(self, *_: object) -> None:
        self.network.load_state_dict(self.own)


def export_average(out: Path, name: str, network: Network, weights: dict[str, torch.Tensor]) -> None:
    """Writes the network file of a run, with the weights `weights`."""
    with Averaged(network, weights):
        katago_file.write(out / NETWORK, name, network)


class Totals:
    """Means of the results of `measures`, by board size."""

    def __init__(self) -> None:
        self.sums: dict[Size, dict[str, float]] = {}

    def add(self, answer: Answer, batch: Batch, prefix: str = "", only: Iterable[str] | None = None) -> None:
        """Adds the measures of a batch, or only those in `only`, with a prefix before their names."""
        found = self.sums.setdefault(batch.size, {})
        for name, value in measures(answer, batch).items():
            if only is None or name.removesuffix("/count") in only:
                found[prefix + name] = found.get(prefix + name, 0.0) + float(value)

    def means(self) -> dict[str, dict[str, float]]:
        """Returns the means by board size (such as `9x9`) and by name. Measures without known values are left out."""
        result = {}
        for (columns, rows), found in sorted(self.sums.items()):
            names = [name for name in found if not name.endswith("/count") and found[f"{name}/count"]]
            result[f"{columns}x{rows}"] = {name: found[name] / found[f"{name}/count"] for name in names}
        return result
