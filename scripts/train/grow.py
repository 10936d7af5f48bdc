#!/usr/bin/env python3
"""A larger network that computes what a smaller one does: grow.py SMALL.bin.gz LARGE.bin.gz SHAPE

New blocks begin as nothing added; new channels are read with random weights and count for nothing until training says
so. So a training can begin with a small network, which learns most in its first hours, and go on with a larger one.
The shape (b6c96 …) must have at least as much of everything; blocks with pooling stay where they are.

CITE: Chen, Goodfellow & Shlens, "Net2Net: accelerating learning via knowledge transfer" (2016), the idea.
"""

from __future__ import annotations

import math
import sys

import torch

import katago_file
from model import Network, Shape


def _corner(target: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    """The part of `target` as large as `source`, at its beginning."""
    return target[tuple(slice(length) for length in source.shape)]


@torch.no_grad()
def _widen(name: str, target: torch.Tensor, source: torch.Tensor, pieces: int) -> None:
    """Copies weights; what is new is random where it leads to new channels, and 0 where it leads from them to old."""
    if any(new < old for new, old in zip(target.shape, source.shape)):
        raise SystemExit(f"{name} is {tuple(source.shape)}; it does not fit into {tuple(target.shape)}")
    if target.ndim == 1:
        target.fill_(1.0 if name.endswith("scale") else 0.0)
        _corner(target, source).copy_(source)
        return
    target[: len(source)] = 0
    # Pooled channels come as mean, weighted mean and maximum of all: each piece grows on its own.
    for piece in range(pieces):
        new_width, old_width = target.shape[1] // pieces, source.shape[1] // pieces
        part = target[:, piece * new_width : (piece + 1) * new_width]
        _corner(part, source[:, piece * old_width : (piece + 1) * old_width]).copy_(
            source[:, piece * old_width : (piece + 1) * old_width]
        )


def moved(name: str, places: list[int]) -> str:
    """A weight's name where blocks of convolutions stand in these places."""
    kind, *rest = name.split(".")
    return ".".join([kind, str(places[int(rest[0])]), *rest[1:]]) if kind == "blocks" else name


@torch.no_grad()
def grown(small: Network, shape: Shape, seed: int = 1) -> Network:
    torch.manual_seed(seed)
    if small.shape.heads or shape.is_transformer:
        raise SystemExit("transformers cannot be grown, and nothing grows into them")
    large = Network(shape)
    # Layers of transformers among the convolutions are new, and add 0 at first.
    places = [index for index, block in enumerate(large.blocks) if hasattr(block, "conv1")]
    old = {moved(name, places): weights for name, weights in small.state_dict().items()}
    if tuple(small.shape.gpool_blocks) != tuple(b for b in shape.gpool_blocks if b < small.shape.blocks):
        raise SystemExit(f"the blocks that pool are {small.shape.gpool_blocks} and {shape.gpool_blocks}")
    for name, target in large.state_dict().items():
        if name not in old:
            # A scale that a network from a file has and a new one has not, or a new block, whose last convolution
            # is 0 from the start.
            if name.split(".")[0] == "blocks" and int(name.split(".")[1]) in places[: small.shape.blocks]:
                raise SystemExit(f"{name} has no counterpart")
            continue
        pieces = 3 if name.split(".")[-2] in ("from_pool", "from_g1", "policy_pass", "v2") else 1
        _widen(name, target, old[name], pieces)
    return large


def main() -> None:
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    name, small = katago_file.read(sys.argv[1])
    large = grown(small, Shape.named(sys.argv[3]))
    spatial, globals_ = (torch.rand(4, 22, 19, 19) > 0.8).float(), torch.randn(4, 19)
    with torch.inference_mode():
        before, after = small(spatial, globals_), large(spatial, globals_)
    for part in ("policy", "value", "score", "ownership"):
        difference = float((getattr(before, part) - getattr(after, part)).abs().max())
        if not math.isfinite(difference) or difference > 1e-3:
            raise SystemExit(f"the answers differ by {difference} ({part})")
    katago_file.write(sys.argv[2], f"{name}-{sys.argv[3]}", large)


if __name__ == "__main__":
    main()
