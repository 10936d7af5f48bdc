"""Measures how far networks are from a teacher on held-back positions, by board size.

For every network and board size, it prints the share of positions in which both prefer the same move, the divergence of
the policy from the teacher's in nats, the mean square of the difference in value (in [-1, 1]), and the mean absolute
differences in the score's mean (points) and in ownership. With --even-komi 1, positions get a komi at which one point
decides the game. Without --teacher, the labels beside the shards are the teacher's outputs, which is many times faster.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from . import export, katago_file, runs, teacher
from . import options as shared
from .komi import even_komi
from .label import Evaluator, label_batch
from .shards import Size, all_batches, first

# More positions than any folder has.
EVERY = 10**9

COLUMNS = {
    "teacher_top1": "first move",
    "teacher_policy": "policy, nats",
    "teacher_value": "value²",
    "teacher_score": "score",
    "teacher_ownership": "ownership",
}


def opened(source: Path) -> Evaluator:
    """Returns a trainable network, or one for inference if it cannot be trained."""
    try:
        return export.read(source)[1]
    except katago_file.FormatError:
        return teacher.read(source)


@torch.no_grad()
def distances(
    network: Evaluator, reference: Evaluator | None, data: Path, positions: int, share_even: float = 0.0
) -> dict[str, dict[str, float]]:
    """Returns the measures of a network's distance from a reference, by board size. Without a reference, the distance
    is that from the labels, and positions without labels are left out."""
    totals, rng = runs.Totals(), np.random.default_rng(1)
    if reference is None:
        taken: dict[Size, int] = {}
        for batch in all_batches(data, "validation", 16, EVERY):
            known = taken.get(batch.size, 0)
            if batch.teacher_value is not None and known < positions:
                some = first(batch, positions - known)
                taken[batch.size] = known + len(some)
                totals.add(network(some.spatial, some.globals_), some)
        return totals.means()
    for batch in all_batches(data, "validation", 16, positions):
        answer = reference(batch.spatial, batch.globals_)
        if share_even > 0:
            area, leads = batch.size[0] * batch.size[1], answer.lead().numpy()
            batch.globals_ = torch.from_numpy(even_komi(batch.globals_.numpy(), area, share_even, leads, rng))
            answer = reference(batch.spatial, batch.globals_)
        label_batch(batch, answer)
        totals.add(network(batch.spatial, batch.globals_), batch)
    return totals.means()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("networks", type=Path, nargs="+", metavar="NETWORK", help="network files, or folders of runs")
    parser.add_argument("--teacher", type=Path, help="network in KataGo's format, versions 8 to 17 [labels of shards]")
    shared.data(parser)
    parser.add_argument("--positions", type=int, default=256, help="positions of each size [%(default)s]")
    shared.even_komi(parser)
    shared.processor(parser)


def run(options: argparse.Namespace) -> None:
    """Prints a table of the networks' distances from the teacher."""
    shared.prepare(options)
    if options.even_komi > 0 and options.teacher is None:
        raise SystemExit("--even-komi needs --teacher: labels hold for one komi only")
    reference = teacher.read(options.teacher) if options.teacher else None
    print(f"| network | board | {' | '.join(COLUMNS.values())} |\n|{'---|' * (2 + len(COLUMNS))}")
    for source in options.networks:
        found = distances(opened(source), reference, options.data, options.positions, options.even_komi)
        if not found:
            kind = "" if options.teacher else " with labels"
            raise SystemExit(f"{options.data}: no shards validation*.npz{kind}")
        for size, facts in found.items():
            numbers = " | ".join(f"{facts[name]:.4f}" for name in COLUMNS)
            print(f"| {source} | {size} | {numbers} |", flush=True)
