"""Stores the outputs of a stronger network for the positions of shards.

Next to every shard without labels, it writes the file `….labels.npz`, with these arrays in the groups and the order of
the shard:

    policy_move, policy_share   the 32 most probable moves and their probabilities, in units of 1/65535
    policy_rest                 the probability of all other moves together, in units of 1/65535
    optimistic_share, …_rest    the same for these moves in the optimistic policy, if the teacher has one
    teacher_value               win, loss, no result
    teacher_score               mean and spread of the score, lead (points), and remaining variance time (moves)
    teacher_error               expected changes of value (in [-1, 1]) and score (points) within a few moves
    teacher_ownership           -127 to 127

All of them are from the perspective of the side to move. With --vary-komi and --fair-komi, some positions are evaluated
at another komi than that of their games. In this case, the labels contain the changed global features, and mark the
result and score of the game as unknown.

A network needs far fewer positions with labels than with single moves and results (Hinton, Vinyals & Dean 2015,
"Distilling the knowledge in a neural network"). A file of labels is written in one step. After a stop, the same command
continues with the shards that have no labels. Several processes may run at once. All random choices follow from the
seed and the name of the shard.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from . import options as shared
from . import teacher
from .komi import fair_komi, varied_komi
from .losses import legal_logits
from .model import Answer
from .shards import (
    LABELS_VERSION,
    POLICY_MOVES,
    Batch,
    Group,
    Size,
    labels_of,
    make_batch,
    read_groups,
    shard_files,
    turned_points,
)

# Function from spatial and global features to a network's outputs.
Evaluator = Callable[[torch.Tensor, torch.Tensor], Answer]


def scores(answer: Answer) -> torch.Tensor:
    """Returns the mean and spread of the score, the lead and the variance time (n, 4), in points and moves."""
    return torch.stack([answer.score_mean(), answer.score_spread(), answer.lead(), answer.variance_time()], dim=1)


def label_policies(batch: Batch, policy: torch.Tensor, optimistic: torch.Tensor | None) -> None:
    """Sets a batch's policy labels from probabilities of all moves (n, p + 1)."""
    best = policy.topk(min(POLICY_MOVES, policy.shape[1]), dim=1)
    batch.policy_move, batch.policy_share = best.indices, best.values
    batch.policy_rest = (1 - best.values.sum(dim=1)).clamp(min=0)
    batch.optimistic_share = batch.optimistic_rest = None
    if optimistic is not None:
        batch.optimistic_share = optimistic.gather(1, best.indices)
        batch.optimistic_rest = (1 - batch.optimistic_share.sum(dim=1)).clamp(min=0)


def label_batch(batch: Batch, answer: Answer) -> None:
    """Sets a batch's labels from a teacher's outputs. They are those that this command would have stored."""
    optimistic = None
    if answer.optimistic is not None:
        optimistic = F.softmax(legal_logits(answer, batch, optimistic=True), dim=1)
    label_policies(batch, F.softmax(legal_logits(answer, batch), dim=1), optimistic)
    batch.teacher_value = F.softmax(answer.value, dim=1)
    batch.teacher_score = scores(answer)
    batch.teacher_error = answer.expected_errors()
    batch.teacher_ownership = torch.tanh(answer.ownership)


def evaluate(
    network: Evaluator, size: Size, group: Group, rows: np.ndarray, symmetries: list[int]
) -> list[torch.Tensor | None]:
    """Returns the mean outputs over the symmetries for some rows of a group: probabilities of moves (n, p + 1), value
    (n, 3), score (n, 4), errors (n, 2) or `None`, ownership (n, p), and the optimistic policy (n, p + 1) or `None`."""
    sums: list[torch.Tensor | None] = []
    area = size[0] * size[1]
    for symmetry in symmetries:
        positions = make_batch(size, group, rows, symmetry)
        answer = network(positions.spatial, positions.globals_)
        back = np.append(np.argsort(turned_points(*size, symmetry)), area)
        found: list[torch.Tensor | None] = [
            F.softmax(legal_logits(answer, positions), dim=1)[:, back],
            F.softmax(answer.value, dim=1),
            scores(answer),
            answer.expected_errors(),
            torch.tanh(answer.ownership)[:, back[:-1]],
            None,
        ]
        if answer.optimistic is not None:
            found[-1] = F.softmax(legal_logits(answer, positions, optimistic=True), dim=1)[:, back]
        sums = [new if old is None else old + new for old, new in zip(sums, found)] if sums else found
    return [None if part is None else part / len(symmetries) for part in sums]


def leads(judge: Evaluator, size: Size, group: Group, batch: int) -> np.ndarray:
    """Returns the leads (n) of the side to move in points, according to the network `judge`."""
    batch = max(1, batch * 361 // (size[0] * size[1]))
    rows = np.array_split(np.arange(len(group["played"])), -(-len(group["played"]) // batch))
    positions = (make_batch(size, group, part) for part in rows)
    return np.concatenate([judge(it.spatial, it.globals_).lead().float().numpy() for it in positions])


@torch.inference_mode()
def label(network: Evaluator, judge: Evaluator | None, path: Path, options: argparse.Namespace) -> int:
    """Labels one shard. Returns the number of its positions."""
    arrays: dict[str, np.ndarray] = {"version": np.array([LABELS_VERSION], np.uint32)}
    rng = np.random.default_rng((options.seed, zlib.crc32(path.name.encode())))
    count = 0
    for size, group in sorted(read_groups(path, labels=False).items()):
        found: dict[str, list[np.ndarray]] = {}
        total, area = len(group["played"]), size[0] * size[1]
        # One random number for each position decides between a random komi, a fair komi, and the komi of the game.
        lot = rng.random(total)
        changed = lot < options.vary_komi
        evened = ~changed & (lot < options.vary_komi + options.fair_komi)
        if changed.any():
            group["global"] = varied_komi(group["global"], area, changed, rng)
        if evened.any():
            assert judge is not None
            group["global"] = fair_komi(group["global"], area, evened, leads(judge, size, group, options.batch), rng)
            changed |= evened
        if changed.any():
            # The result and the score of the game no longer hold. The played move is still useful in most cases.
            group["value"] = np.where(changed[:, None], 0, group["value"]).astype(np.float32)
            group["score"] = np.where(changed, np.nan, group["score"]).astype(np.float32)
            arrays |= {f"{size[0]}x{size[1]}/{name}": group[name] for name in ("global", "value", "score")}
        # Batches have about the same number of points on every board size.
        batch = max(1, options.batch * 361 // area)
        for start in range(0, total, batch):
            rows = np.arange(start, min(total, start + batch))
            every = 8 if size[0] == size[1] else 4
            turns = rng.permutation(every)[: options.symmetries].tolist()
            policy, value, score, errors, owners, optimistic = evaluate(network, size, group, rows, turns)
            assert policy is not None and owners is not None
            best = policy.topk(min(POLICY_MOVES, area + 1), dim=1)
            rest = (1 - best.values.sum(dim=1)).clamp(min=0)
            missing = (0, POLICY_MOVES - best.values.shape[1])
            optimistic_share = optimistic_rest = None
            if optimistic is not None:
                share = optimistic.gather(1, best.indices)
                optimistic_rest = ((1 - share.sum(dim=1)).clamp(min=0) * 65535).round()
                optimistic_share = F.pad((share * 65535).round(), missing)
            for name, values, kind in [
                ("policy_move", F.pad(best.indices, missing), np.uint16),
                ("policy_share", F.pad((best.values * 65535).round(), missing), np.uint16),
                ("policy_rest", (rest * 65535).round(), np.uint16),
                ("optimistic_share", optimistic_share, np.uint16),
                ("optimistic_rest", optimistic_rest, np.uint16),
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("teacher", type=Path, help="network in KataGo's format, versions 8 to 17")
    shared.data(parser)
    parser.add_argument("--only", default="", help="labels only shards whose names begin with this")
    parser.add_argument("--most", type=int, help="largest number of shards to label")
    parser.add_argument("--minutes", type=float, help="time after which no further shard is begun")
    parser.add_argument("--symmetries", type=int, default=1, help="number of symmetries to average over [%(default)s]")
    shared.vary_komi(parser)
    parser.add_argument(
        "--fair-komi", type=float, default=0.0, help="share of positions that get a fair komi, by --judge [%(default)s]"
    )
    parser.add_argument("--judge", type=Path, help="small network whose lead decides which komi is fair")
    shared.seed(parser, "seed of the order of shards, the symmetries and komi")
    parser.add_argument("--batch", type=int, default=16, help="positions of 19x19 in a batch [%(default)s]")
    shared.kosumi(parser, purpose="program that computes the networks, faster on a CPU than PyTorch")
    parser.add_argument(
        "--precision", choices=["auto", "f32", "bf16", "int8"], default="auto", help="int8 needs --kosumi [%(default)s]"
    )
    parser.add_argument(
        "--card", help="graphics card of the program for the teacher: gpu, gpu:N or auto; needs --kosumi"
    )
    shared.processor(parser)


def run(options: argparse.Namespace) -> None:
    """Labels all shards of the folder that have no labels, within the limits that the options set."""
    shared.prepare(options)
    if options.fair_komi and not options.judge:
        raise SystemExit("label: --fair-komi needs a network that decides which komi is fair (--judge)")
    if options.precision == "int8" and not options.kosumi:
        raise SystemExit("label: PyTorch does not compute in int8, only the program does (--kosumi)")
    if options.card and not options.kosumi:
        raise SystemExit("label: only the program computes on a graphics card this way (--kosumi)")
    programs: list[teacher.ProgramTeacher] = []

    def opened(path: Path, precision: str, device: str = "cpu") -> Evaluator:
        if options.kosumi:
            programs.append(teacher.ProgramTeacher(options.kosumi, path, precision, device))
            return programs[-1]
        network = teacher.read(path)
        is_fast = torch.ops.mkldnn._is_mkldnn_bf16_supported()
        return network.to(torch.bfloat16) if precision == "bf16" or (precision == "auto" and is_fast) else network

    judge = opened(options.judge, "f32") if options.judge else None
    network = opened(options.teacher, options.precision, options.card or "cpu")
    done, start, cpu = 0, time.monotonic(), time.process_time()
    files = shard_files(options.data, options.only)
    # All kinds of shards are mixed from the beginning. The order does not depend on which shards have labels already.
    files.sort(key=lambda path: hashlib.sha256(f"{options.seed} {path.name}".encode()).digest())
    missing = [path for path in files if not labels_of(path).exists()]
    for path in missing[: options.most]:
        if options.minutes and time.monotonic() - start > 60 * options.minutes:
            break
        with open(path, "rb") as shard:
            try:
                fcntl.flock(shard, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # Another process labels this shard.
            if labels_of(path).exists():
                continue
            done += label(network, judge, path, options)
        seconds, cpu_seconds = time.monotonic() - start, time.process_time() - cpu
        cpu_seconds += sum(program.cpu_seconds() for program in programs)
        print(
            f"{path.name}: {done} positions, {done / seconds:.0f}/s, {done / max(1e-9, cpu_seconds):.0f} per CPU second"
        )
        sys.stdout.flush()
    for program in programs:
        program.close()
