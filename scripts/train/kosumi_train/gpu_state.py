"""State of `gpu train`, stored in pieces that are small enough for repositories and for slow connections."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import torch

from .model import Network, Shape

# Largest size of a piece, in bytes.
PIECE = 15 << 20


def read_state(folder: Path) -> dict[str, Any] | None:
    """Returns the state in a folder, or `None` if there is none."""
    pieces = sorted(path for path in folder.glob("state.*") if path.suffix[1:].isdigit())
    if not pieces:
        return None
    data = b"".join(path.read_bytes() for path in pieces)
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)


def write_state(folder: Path, state: dict[str, Any]) -> None:
    """Writes the state. Each piece is replaced in one step."""
    packed = io.BytesIO()
    torch.save(state, packed)
    data = packed.getbuffer()
    for number, at in enumerate(range(0, data.nbytes, PIECE)):
        part = folder / f"part.{number:03}"
        part.write_bytes(data[at : at + PIECE])
        os.replace(part, folder / f"state.{number:03}")


def averaged_network(state: dict[str, Any]) -> Network:
    """Returns the network of a state, with the average weights."""
    network = Network(Shape(**state["shape"]))
    network.load_state_dict({name: it + state["average"][name].float() for name, it in state["network"].items()})
    return network
