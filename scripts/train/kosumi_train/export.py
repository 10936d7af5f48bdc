"""Writes a network file from a run, or from another network file.

SOURCE is a network file, a folder of a run (`train`, `distil`), or a folder of `gpu train` (whose state is in pieces).
On the way, the network may be

    mixed     with other networks of the same training (--mix): a weighted mean of their weights, which may combine the
              strengths of each. CITE: Wortsman et al., "Robust fine-tuning of zero-shot models" (2022)
    balanced  so that 8 bits lose less (--balance, transformers only; the outputs stay the same)
    rounded   to fewer mantissa bits (--bits: a smaller file), or to four to five bits for each weight (--compact: a
              compact file, which Kosumi reads and KataGo does not)

--balance and --compact need shards (--data).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import nn

from . import balance, compact, katago_file, runs
from . import options as shared
from .gpu_state import averaged_network, read_state
from .model import Network
from .shards import all_batches


@torch.no_grad()
def mixed(parts: list[tuple[Network, float]]) -> Network:
    """Returns the weighted mean of networks of one shape. The weights are scaled to a sum of 1."""
    shapes = {network.shape for network, _ in parts}
    total = sum(share for _, share in parts)
    if len(shapes) != 1 or total <= 0:
        raise SystemExit("networks of one shape are needed, and shares with a positive sum")
    result = Network(shapes.pop())
    states = [(network.state_dict(), share / total) for network, share in parts]
    result.load_state_dict({name: sum(state[name] * share for state, share in states) for name in states[0][0]})
    return result


def read(source: Path) -> tuple[str, Network]:
    """Returns the name and network of a source. The state of a GPU run takes precedence over its network file, which
    may be missing or older."""
    if source.is_dir() and (state := read_state(source)):
        return f"kosumi-p{state['positions']}", averaged_network(state)
    return katago_file.read(runs.network_of(source))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="SOURCE", help="network file, or folder of a run")
    parser.add_argument("file", type=Path, metavar="FILE", help="network file to write")
    parser.add_argument("--name", help="name inside the file [that of the source]")
    parser.add_argument("--share", type=float, default=1.0, help="share of the source in a mixture [%(default)s]")
    parser.add_argument(
        "--mix", nargs=2, action="append", default=[], metavar=("SOURCE", "SHARE"), help="another part of a mixture"
    )
    shared.data(parser, required=False)
    parser.add_argument("--balance", action="store_true", help="balances units for 8 bits")
    parser.add_argument("--bits", type=int, default=23, help="mantissa bits of each number [all: %(default)s]")
    parser.add_argument(
        "--compact", type=float, metavar="STEP", help="step as a share of the weights' size, such as 0.22"
    )
    parser.add_argument(
        "--finer-last",
        type=float,
        default=compact.FINER_LAST,
        help="step of the last block, as a share of the others' [%(default)s]",
    )
    parser.add_argument(
        "--positions", type=int, default=512, help="positions on which inputs are measured for --compact [%(default)s]"
    )
    shared.processor(parser)


def run(options: argparse.Namespace) -> None:
    """Writes the network file."""
    if (options.balance or options.compact) and not options.data:
        raise SystemExit("export: --balance and --compact need shards (--data)")
    shared.prepare(options)
    name, network = read(options.source)
    if options.mix:
        parts = [(read(Path(source))[1], float(share)) for source, share in options.mix]
        network = mixed([(network, options.share), *parts])
    if options.balance:
        if not balance.layers(network):
            raise SystemExit(f"{options.source}: not a transformer, which --balance is for")
        batches = all_batches(options.data, "", 16, balance.POSITIONS)
        balance.balance(network, balance.inner_sizes(network, batches))
    steps: dict[nn.Parameter, float] = {}
    if options.compact:
        steps = compact.compacted(network, options.data, options.compact, options.finer_last, options.positions)
    katago_file.write(options.file, options.name or name, network, options.bits, steps)
    print(f"{options.file}: {options.file.stat().st_size:,} bytes")
