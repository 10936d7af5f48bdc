"""Teaches a network the inner numbers of a teacher of its shape, in stages.

Outputs alone teach a transformer slowly: its first layers need millions of positions. Here every layer learns what the
teacher's layer in its place computes (Romero et al. 2015, "FitNets: hints for thin deep nets"), with the teacher's
numbers as input, so that all layers learn at once. Shards need no labels. Stages:

    blocks   all blocks at once, from a stream of positions: from random weights to a good network in an hour of one
    core.
             The blocks of both networks must be of the same kinds and widths; what is inside nested blocks may be
             smaller
    parts    every part of nested blocks by itself, from a pool of positions in memory, and the heads, which are solved
    for:
             what comes nearest to the teacher
    heads    the heads learn the teacher's outputs from what the network's own blocks compute

Every stage writes a folder that the next one starts from (--start), also `train`, `export` and `compare`. The usual
order is blocks, parts, heads, then `export --balance --compact`.

On two cores: OMP_NUM_THREADS=1 torchrun --nproc-per-node 2 -- train distil blocks ... --threads 1 (blocks, heads: the
processes share every step), or the same command once on each core (parts).
"""

from __future__ import annotations

import argparse

from . import blocks, parts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    stages = parser.add_subparsers(required=True, metavar="blocks|parts|heads")
    for stage in ("blocks", "heads"):
        one = stages.add_parser(stage, help=f"teaches all {stage} at once")
        one.set_defaults(call=blocks.run, stage=stage)
        blocks.add_arguments(one, stage)
    one = stages.add_parser("parts", help="teaches every part of nested blocks by itself")
    one.set_defaults(call=parts.run)
    parts.add_arguments(one)


def run(options: argparse.Namespace) -> None:
    """Runs a stage."""
    options.call(options)
