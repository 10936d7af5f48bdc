"""Prints the outputs of a network for the positions of a shard, as one JSON object a line.

The numbers are the outputs of the last layers (before softmax and tanh), in the order of the shard. They can be
compared with those of other programs that read the network file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from . import katago_file
from . import options as shared
from .shards import make_batch, read_groups


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("network", type=Path, help="network file")
    parser.add_argument("shard", type=Path, help="shard of positions")
    shared.processor(parser, threads=1)


@torch.inference_mode()
def run(options: argparse.Namespace) -> None:
    """Prints the outputs of the network, one line for each position."""
    shared.prepare(options)
    _, network = katago_file.read(options.network)
    for size, group in sorted(read_groups(options.shard).items()):
        batch = make_batch(size, group, np.arange(len(group["played"])))
        answer = network(batch.spatial, batch.globals_)
        for row in range(len(batch)):
            numbers = {name: getattr(answer, name)[row].tolist() for name in ("policy", "value", "score", "ownership")}
            print(json.dumps({"size": size} | numbers))
