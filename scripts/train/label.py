#!/usr/bin/env python3
"""Writes down what a stronger network says of the positions in shards: label.py NETWORK.bin.gz SHARDS

Next to every shard that has no labels yet comes `….labels.npz` with, in the groups of the shard and its order,

    policy_move, policy_share   the 16 likeliest legal-looking moves and their shares of their sum, in 65,535ths
    teacher_value               win, loss, no result
    teacher_score               points: mean and spread of the score, and lead
    teacher_ownership           -127 to 127

all from the view of the player to move. Learning from these takes far fewer positions than learning from single moves
and results (Hinton, Vinyals & Dean 2015, "Distilling the knowledge in a neural network").
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
import torch.nn.functional as F

import fast
import katago_file
from data import POLICY_MOVES, SHARD_VERSION, labels_of, make_batch, read_groups, shard_files
from losses import legal_logits


@torch.inference_mode()
def label(network, path: Path, batch: int) -> int:
    """Labels one shard and returns its number of positions."""
    arrays: dict[str, np.ndarray] = {"version": np.array([SHARD_VERSION], np.uint32)}
    count = 0
    for (columns, rows), group in read_groups(path).items():
        found: dict[str, list[np.ndarray]] = {}
        total = len(group["played"])
        for start in range(0, total, batch):
            positions = make_batch((columns, rows), group, np.arange(start, min(total, start + batch)))
            answer = network(positions.spatial, positions.globals_)
            best = F.softmax(legal_logits(answer, positions), dim=1).topk(min(POLICY_MOVES, columns * rows + 1), dim=1)
            share = best.values / best.values.sum(dim=1, keepdim=True)
            score = torch.stack([answer.score_mean(), answer.score_spread(), answer.lead()], dim=1)
            missing = (0, POLICY_MOVES - share.shape[1])
            for name, values, kind in [
                ("policy_move", F.pad(best.indices, missing), np.uint16),
                ("policy_share", F.pad((share * 65535).round(), missing), np.uint16),
                ("teacher_value", F.softmax(answer.value, dim=1), np.float32),
                ("teacher_score", score, np.float32),
                ("teacher_ownership", (torch.tanh(answer.ownership) * 127).round(), np.int8),
            ]:
                found.setdefault(name, []).append(values.numpy().astype(kind))
        arrays |= {f"{columns}x{rows}/{name}": np.concatenate(parts) for name, parts in found.items()}
        count += total
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        np.savez_compressed(file, **arrays)
    os.replace(part, labels_of(path))
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="the teacher, in KataGo's format, version 8")
    parser.add_argument("shards", type=Path, help="folder of shards")
    parser.add_argument("--only", default="", help="only shards whose names begin so")
    parser.add_argument("--most", type=int, help="stop after so many shards")
    parser.add_argument("--batch", type=int, default=32, help="positions at a time [%(default)s]")
    parser.add_argument("--threads", type=int, help="CPU threads [all]")
    parser.add_argument("--nice", type=int, default=0, help="lower the priority by this much")
    options = parser.parse_args()
    if options.nice:
        os.nice(options.nice)
    fast.prepare(options.threads or os.cpu_count() or 1)
    _, network = katago_file.read(options.network)
    network.eval()
    done, start, cpu = 0, time.monotonic(), time.process_time()
    missing = [path for path in shard_files(options.shards, options.only) if not labels_of(path).exists()]
    for path in missing[: options.most]:
        done += label(network, path, options.batch)
        seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
        print(f"{path.name}: {done} positions, {done / seconds:.0f}/s, {done / cpu_seconds:.0f} per CPU second")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
