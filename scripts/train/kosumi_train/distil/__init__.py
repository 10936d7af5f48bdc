"""Trains a network on the activations of a teacher of its shape, in stages.

Outputs alone teach a transformer slowly: its first layers need millions of positions. Here every layer learns the
output of the corresponding layer of the teacher (Romero et al. 2015, "FitNets: hints for thin deep nets"). Its input is
the teacher's too, so all layers learn at once. Shards need no labels. Stages:

    blocks   all blocks at once, from a stream of positions: from random weights to a good network in an hour of one
             core. The blocks of both networks must be of the same kinds and widths. Nested blocks may be smaller
             inside.
    parts    every part of nested blocks separately, from a pool of positions in memory. The heads are solved for,
             to come nearest to the teacher.
    heads    the heads, which learn the teacher's outputs from the outputs of the network's own blocks

Every stage writes a folder from which the next stage, `train`, `export` and `compare` can start (--start). The usual
order is blocks, parts, heads, and then `export --balance --compact`.

On two cores: OMP_NUM_THREADS=1 torchrun --nproc-per-node 2 -- train distil blocks ... --threads 1 (for blocks and
heads: the processes share every step), or the same command once for each core (for parts).
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
