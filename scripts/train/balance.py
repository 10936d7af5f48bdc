#!/usr/bin/env python3
"""Makes the units inside a transformer's blocks about as large as each other: balance.py NETWORK.bin.gz SHARDS OUT.bin.gz

In 8 bits all units of a point share one scale, and the largest decides it. A unit of a feed-forward block, and a channel of the
values that attention mixes, may be made smaller if the weights that read it become larger by as much: the network computes the same.
Factors are powers of two, so that in 32 bits not even the last bit changes.

CITE: Xiao et al., "SmoothQuant: accurate and efficient post-training quantization for large language models" (2023), the measure.
"""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F
from torch import nn

import katago_file
from data import all_batches
from model import AttentionBlock, FeedForwardBlock, Network, by_points

# Positions of each size of board that are asked about.
POSITIONS = 48
# No unit is moved further than this.
MOST_DOUBLINGS = 6


def layers(network: Network) -> list[nn.Module]:
    """Attention and feed-forward blocks, those inside nested blocks among them, in their order."""
    return [layer for layer in network.blocks.modules() if isinstance(layer, (AttentionBlock, FeedForwardBlock))]


@torch.no_grad()
def inner_sizes(network: Network, batches) -> list[torch.Tensor]:
    """The root mean square of every unit, block by block (see `layers`)."""
    found: dict[nn.Module, list[torch.Tensor]] = {layer: [] for layer in layers(network)}

    def see(block: nn.Module, given: tuple) -> None:
        normed = block.norm(by_points(given[0]))
        units = block.v(normed) if isinstance(block, AttentionBlock) else F.silu(block.first(normed)) * block.gate(normed)
        found[block].append(units.flatten(0, 1).square().mean(0))

    hooks = [layer.register_forward_pre_hook(see) for layer in found]
    for batch in batches:
        network(batch.spatial, batch.globals_)
    for hook in hooks:
        hook.remove()
    return [torch.stack(sizes).mean(0).sqrt() for sizes in found.values()]


@torch.no_grad()
def balance(network: Network, sizes: list[torch.Tensor]) -> None:
    """Moves what units are larger than others into the weights that read them, and the other way round: half of each."""
    for block, size in zip(layers(network), sizes):
        is_attention = isinstance(block, AttentionBlock)
        makes, reads = (block.v, block.out) if is_attention else (block.gate, block.last)
        wanted = (size.clamp(min=1e-6) / reads.weight.abs().amax(0).clamp(min=1e-6)).log2() / 2
        factors = torch.exp2((wanted - wanted.mean()).round().clamp(-MOST_DOUBLINGS, MOST_DOUBLINGS))
        makes.weight.div_(factors[:, None])
        reads.weight.mul_(factors)


def main() -> None:
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    name, network = katago_file.read(sys.argv[1])
    if not layers(network):
        raise SystemExit(f"{sys.argv[1]}: not a transformer")
    sizes = inner_sizes(network, all_batches(sys.argv[2], "", 16, POSITIONS))
    balance(network, sizes)
    katago_file.write(sys.argv[3], name, network)


if __name__ == "__main__":
    main()
