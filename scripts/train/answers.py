#!/usr/bin/env python3
"""What PyTorch computes with a network for the positions of a shard: answers.py NETWORK.bin.gz SHARD.npz

One JSON object a line, in the shard's order, with the numbers as they leave the last layers (before any softmax). For
comparison with other programs that read the file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch

import katago_file
from data import make_batch, read_groups


@torch.inference_mode()
def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    _, network = katago_file.read(sys.argv[1])
    for size, group in sorted(read_groups(Path(sys.argv[2])).items()):
        batch = make_batch(size, group, np.arange(len(group["played"])))
        answer = network(batch.spatial, batch.globals_)
        for row in range(len(batch)):
            numbers = {name: getattr(answer, name)[row].tolist() for name in ("policy", "value", "score", "ownership")}
            print(json.dumps({"size": size} | numbers))


if __name__ == "__main__":
    main()
