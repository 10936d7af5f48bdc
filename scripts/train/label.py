#!/usr/bin/env python3
"""Writes down what a stronger network says of the positions in shards: label.py NETWORK.bin.gz SHARDS

Next to every shard that has no labels yet comes `….labels.npz` with, in the groups of the shard and its order,

    policy_move, policy_share   the 32 likeliest moves and their probabilities, in 65,535ths
    policy_rest                 the probability of all other moves together, in 65,535ths
    optimistic_share, …_rest    the same moves in the optimistic policy, where the teacher has one
    teacher_value               win, loss, no result
    teacher_score               points: mean and spread of the score, lead; and the remaining variance time, in moves
    teacher_error               how far the value (in [-1, 1]) and the score (points) will move within a few moves
    teacher_ownership           -127 to 127

all from the view of the player to move. With `--vary-komi` and `--fair-komi` some positions are shown with another komi than their games
had, and the labels file has their features of the position (`global`) and takes back the results that were told.

Learning from these takes far fewer positions than learning from single moves and results (Hinton, Vinyals & Dean 2015,
"Distilling the knowledge in a neural network"). Labels are written in one step: after a kill the same command goes on
with the shards that are missing, and several may run at once. All choices follow from the seed and the shard's name.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import sys
import time
import zlib
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
import torch.nn.functional as F

import fast
import teacher
from data import (
    LABELS_VERSION,
    POLICY_MOVES,
    fair_komi,
    labels_of,
    make_batch,
    read_groups,
    shard_files,
    turned_points,
    varied_komi,
)
from losses import legal_logits


def ask(network, size: tuple[int, int], group: dict[str, np.ndarray], rows: np.ndarray, symmetries: list[int]):
    """What the network says of these rows, as a mean over the symmetries: probabilities of moves (n, p + 1), value
    (n, 3), score (n, 4), errors (n, 2) or none, ownership (n, p), optimistic policy (n, p + 1) or none."""
    sums: list[torch.Tensor | None] = []
    area = size[0] * size[1]
    for symmetry in symmetries:
        positions = make_batch(size, group, rows, symmetry)
        answer = network(positions.spatial, positions.globals_)
        back = np.append(np.argsort(turned_points(*size, symmetry)), area)
        said = [
            F.softmax(legal_logits(answer, positions), dim=1)[:, back],
            F.softmax(answer.value, dim=1),
            torch.stack([answer.score_mean(), answer.score_spread(), answer.lead(), answer.variance_time()], dim=1),
            answer.expected_errors(),
            torch.tanh(answer.ownership)[:, back[:-1]],
            None,
        ]
        if answer.optimistic is not None:
            said[-1] = F.softmax(legal_logits(answer, positions, optimistic=True), dim=1)[:, back]
        sums = [new if old is None else old + new for old, new in zip(sums, said)] if sums else said
    return [None if part is None else part / len(symmetries) for part in sums]


def leads(judge, size: tuple[int, int], group: dict[str, np.ndarray], batch: int) -> np.ndarray:
    """By how many points the player to move is ahead, as a network says that is quickly asked (n)."""
    batch = max(1, batch * 361 // (size[0] * size[1]))
    rows = np.array_split(np.arange(len(group["played"])), -(-len(group["played"]) // batch))
    positions = (make_batch(size, group, part) for part in rows)
    return np.concatenate([judge(it.spatial, it.globals_).lead().float().numpy() for it in positions])


@torch.inference_mode()
def label(network, judge, path: Path, options: argparse.Namespace) -> int:
    """Labels one shard and returns its number of positions."""
    arrays: dict[str, np.ndarray] = {"version": np.array([LABELS_VERSION], np.uint32)}
    rng = np.random.default_rng((options.seed, zlib.crc32(path.name.encode())))
    count = 0
    for size, group in sorted(read_groups(path, labels=False).items()):
        found: dict[str, list[np.ndarray]] = {}
        total, area = len(group["played"]), size[0] * size[1]
        # A number decides for each: komi anywhere, a fair one, or that of the game.
        lot = rng.random(total)
        changed = lot < options.vary_komi
        evened = ~changed & (lot < options.vary_komi + options.fair_komi)
        if changed.any():
            group["global"] = varied_komi(group["global"], area, changed, rng)
        if evened.any():
            group["global"] = fair_komi(group["global"], area, evened, leads(judge, size, group, options.batch), rng)
            changed |= evened
        if changed.any():
            # Of these nothing is known any more but what the teacher says; moves are mostly the same.
            group["value"] = np.where(changed[:, None], 0, group["value"]).astype(np.float32)
            group["score"] = np.where(changed, np.nan, group["score"]).astype(np.float32)
            arrays |= {f"{size[0]}x{size[1]}/{name}": group[name] for name in ("global", "value", "score")}
        # Boards of one area take about as long each; small ones are better in larger batches.
        batch = max(1, options.batch * 361 // area)
        for start in range(0, total, batch):
            rows = np.arange(start, min(total, start + batch))
            every = 8 if size[0] == size[1] else 4
            turns = rng.permutation(every)[: options.symmetries].tolist()
            policy, value, score, errors, owners, hopes = ask(network, size, group, rows, turns)
            best = policy.topk(min(POLICY_MOVES, area + 1), dim=1)
            rest = (1 - best.values.sum(dim=1)).clamp(min=0)
            missing = (0, POLICY_MOVES - best.values.shape[1])
            hope = hope_rest = None
            if hopes is not None:
                hope = hopes.gather(1, best.indices)
                hope_rest = (1 - hope.sum(dim=1)).clamp(min=0)
                hope, hope_rest = F.pad((hope * 65535).round(), missing), (hope_rest * 65535).round()
            for name, values, kind in [
                ("policy_move", F.pad(best.indices, missing), np.uint16),
                ("policy_share", F.pad((best.values * 65535).round(), missing), np.uint16),
                ("policy_rest", (rest * 65535).round(), np.uint16),
                ("optimistic_share", hope, np.uint16),
                ("optimistic_rest", hope_rest, np.uint16),
                ("teacher_value", value, np.float32),
                ("teacher_score", score, np.float32),
                ("teacher_error", errors, np.float32),
                ("teacher_ownership", (owners * 127).round(), np.int8),
            ]:
                if values is not None:
                    found.setdefault(name, []).append(values.numpy().astype(kind))
        arrays |= {f"{size[0]}x{size[1]}/{name}": np.concatenate(parts) for name, parts in found.items()}
        count += total
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        np.savez_compressed(file, **arrays)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, labels_of(path))
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", type=Path, help="the teacher, in KataGo's format, versions 8 to 17")
    parser.add_argument("shards", type=Path, help="folder of shards")
    parser.add_argument("--only", default="", help="only shards whose names begin so")
    parser.add_argument("--most", type=int, help="stop after so many shards")
    parser.add_argument("--minutes", type=float, help="begin no shard after so many minutes")
    parser.add_argument("--symmetries", type=int, default=1, help="ask about so many of the eight, and average [%(default)s]")
    parser.add_argument("--vary-komi", type=float, default=0.0, help="share of positions with another komi [%(default)s]")
    parser.add_argument("--fair-komi", type=float, default=0.0, help="share of positions with a komi that makes them even [%(default)s]")
    parser.add_argument("--judge", type=Path, help="small network that says which komi that is")
    parser.add_argument("--seed", type=int, default=1, help="decides the order of shards, symmetries and komi [%(default)s]")
    parser.add_argument("--batch", type=int, default=16, help="positions of 19x19 at a time [%(default)s]")
    parser.add_argument("--kosumi", help="ask this program, whose kernels are faster on a CPU, instead of PyTorch")
    parser.add_argument("--precision", choices=["auto", "f32", "bf16", "int8"], default="auto", help="int8: with --kosumi")
    parser.add_argument("--threads", type=int, help="CPU threads [all]")
    parser.add_argument("--nice", type=int, default=0, help="lower the priority by this much")
    options = parser.parse_args()
    if options.nice:
        os.nice(options.nice)
    fast.prepare(options.threads or os.cpu_count() or 1)
    if options.fair_komi and not options.judge:
        parser.error("--fair-komi needs a network that says what is fair: --judge")
    judge = None
    if options.judge:
        judge = teacher.Asked(options.kosumi, options.judge, "f32") if options.kosumi else teacher.read(options.judge)
    if options.kosumi:
        network = teacher.Asked(options.kosumi, options.network, options.precision)
    elif options.precision == "int8":
        parser.error("PyTorch does not compute in int8 here: --kosumi does")
    else:
        network = teacher.read(options.network)
        if options.precision == "bf16" or options.precision == "auto" and torch.ops.mkldnn._is_mkldnn_bf16_supported():
            network.to(torch.bfloat16)
    done, start, cpu = 0, time.monotonic(), time.process_time()
    files = shard_files(options.shards, options.only)
    # A mix of all kinds from the first shard on; the same one with every number of shards labelled before.
    files.sort(key=lambda path: hashlib.sha256(f"{options.seed} {path.name}".encode()).digest())
    missing = [path for path in files if not labels_of(path).exists()]
    for path in missing[: options.most]:
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            break
        with open(path, "rb") as shard:
            try:
                fcntl.flock(shard, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # another process is at it
            if labels_of(path).exists():
                continue
            done += label(network, judge, path, options)
        seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
        if options.kosumi:
            cpu_seconds += sum(asked.cpu_seconds() for asked in (network, judge) if asked)
        print(f"{path.name}: {done} positions, {done / seconds:.0f}/s, {done / cpu_seconds:.0f} per CPU second")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
