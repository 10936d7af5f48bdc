"""Balances the units inside transformer blocks, for 8-bit inference.

In 8 bits, all units of a point share one scale, which the largest unit determines. A unit of a feed-forward block, or a
value channel of attention, can be made smaller if the weights that read it become larger by the same factor: the
outputs stay the same. The factors are powers of two, so in 32 bits not even the last bit changes.

CITE: Xiao et al., "SmoothQuant: accurate and efficient post-training quantization for large language models" (2023),
for the measure.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import nn

from .model import AttentionBlock, FeedForwardBlock, Network, by_points
from .shards import Batch

# Number of positions of each board size on which the sizes of units are measured.
POSITIONS = 48
# Largest change of a unit, as an exponent of two.
MAX_DOUBLINGS = 6


def layers(network: Network) -> list[nn.Module]:
    """Returns all attention and feed-forward blocks in order, including those inside nested blocks."""
    return [layer for layer in network.blocks.modules() if isinstance(layer, (AttentionBlock, FeedForwardBlock))]


@torch.no_grad()
def inner_sizes(network: Network, batches: Iterable[Batch]) -> list[torch.Tensor]:
    """Returns the root mean square of every unit of each block (see `layers`)."""
    found: dict[nn.Module, list[torch.Tensor]] = {layer: [] for layer in layers(network)}

    def see(block: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        normed = block.norm(by_points(given[0]))
        if isinstance(block, AttentionBlock):
            units = block.v(normed)
        else:
            units = F.silu(block.first(normed)) * block.gate(normed)
        found[block].append(units.flatten(0, 1).square().mean(0))

    hooks = [layer.register_forward_pre_hook(see) for layer in found]
    for batch in batches:
        network(batch.spatial, batch.globals_)
    for hook in hooks:
        hook.remove()
    return [torch.stack(sizes).mean(0).sqrt() for sizes in found.values()]


@torch.no_grad()
def balance(network: Network, sizes: list[torch.Tensor]) -> None:
    """Moves half of the difference in size between units into the weights that read them. `sizes` are those of
    `inner_sizes`."""
    for block, size in zip(layers(network), sizes):
        is_attention = isinstance(block, AttentionBlock)
        makes, reads = (block.v, block.out) if is_attention else (block.gate, block.last)
        wanted = (size.clamp(min=1e-6) / reads.weight.abs().amax(0).clamp(min=1e-6)).log2() / 2
        factors = torch.exp2((wanted - wanted.mean()).round().clamp(-MAX_DOUBLINGS, MAX_DOUBLINGS))
        makes.weight.div_(factors[:, None])
        reads.weight.mul_(factors)
