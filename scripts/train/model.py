"""A network with the arithmetic of KataGo's file format: version 12, or 15 for shapes with transformer blocks.

Tensors are (batch, channels, height, width), stored channels last. The network is shown a position from the view of
the player to move, and answers from that view. Batches hold boards of one size; for boards of several sizes padded
into one plane, give `mask` (1 on the board, 0 beside it).

Where the file has a batch normalisation, this network has a plain scale (only where it is useful) and a bias, started
so that the variance stays put ("Fixup", Zhang, Dauphin & Ma 2019, as KataGo's own g170 run did): on a CPU the passes over
memory that batch statistics need cost more than they bring.
"""

from __future__ import annotations

import dataclasses
import math

import torch
import torch.nn.functional as F
from torch import nn

from fast import (
    convolution,
    is_fast_attention,
    is_fast_learning,
    learning_attention,
    learning_gate,
    learning_norm,
    learning_smooth,
    product,
    turned,
)

SPATIAL_FEATURES = 22
GLOBAL_FEATURES = 19

# What the last layers' numbers are multiplied with: fixed in the format.
SCORE_SCALE = 20.0
TIME_SCALE = 40.0
# The squares of the short-term errors of value and score are multiplied by these; behind smooth heads by the second ones.
ERROR_SCALES, SMOOTH_ERROR_SCALES = (0.25, 30.0), (0.25, 150.0)


@dataclasses.dataclass(frozen=True)
class Shape:
    """Sizes of a network. `gpool_blocks` are counted from 0; of a nested block the first one inside pools."""

    channels: int = 64
    blocks: int = 4
    # Side of the first convolution.
    first: int = 3
    gpool_blocks: tuple[int, ...] = (2,)
    # Channels between the two convolutions of a block; of these, in a block with pooling, are pooled.
    middle: int = 64
    pooled: int = 24
    policy: int = 24
    value: int = 24
    value_hidden: int = 48
    # Blocks inside each block, of the middle's channels, between 1×1 convolutions; 0 if blocks are not nested.
    nested: int = 0
    # Heads of attention, each of 32 channels or so; 0 if blocks are convolutions. A block, or one inside a nested block, is
    # then two: attention, and a feed-forward block with so many hidden units.
    heads: int = 0
    hidden: int = 0
    # Or blocks are convolutions, and such a layer, attention and feed-forward block, stands behind so many of them.
    layers: tuple[int, ...] = ()
    # Is what a nested block reads scaled and bent by SiLU, not by ReLU alone?
    silu: bool = False
    # Are the last layers those of KataGo's transformers of today: a last norm over the whole position, SiLU, and a layer more for the pass?
    smooth_heads: bool = False

    @staticmethod
    def named(name: str) -> "Shape":
        """The shape that a name such as `b6c96` stands for: blocks and channels; `m48` sets the middle ones, `nbt` stands
        for nested bottlenecks of half the channels with two blocks inside (`nb1t`: one), `h3` and `tflrs`, as KataGo's trainer
        has it, for transformers with three heads, learnt rotations and gated feed-forward blocks (`f128`: of so many hidden units), and `h3x2`
        for two such layers among convolutions. `-silu` behind nested transformers gives their bottlenecks that activation, `-smooth` behind
        transformers the last layers of KataGo's of today."""
        import re

        found = re.fullmatch(r"b(\d+)c(\d+)(?:h(\d+))?(?:x(\d+))?(?:m(\d+))?(?:f(\d+))?(?:g(\d+))?(?:nb(\d?)t)?(tflrs)?(-silu)?(-smooth)?", name)
        among = int(found[4] or 0) if found else 0
        is_nested = bool(found) and found[8] is not None
        if (
            not found
            or bool(found[3]) != bool(found[9] or among)
            or among and (is_nested or found[9] or among > int(found[1]))
            or bool(found[10]) and not (is_nested and found[9])
            or bool(found[11]) and not found[9]
            or found[6] and not found[3]
        ):
            raise ValueError(
                f"{name!r} is no shape like b6c96, b6c96m64 (middle), b6c96g32 (pooled channels), b5c192nbt (nested),"
                " b7c96h3tflrs, b7c96h3f128tflrs (hidden units) or b5c192h3nbttflrs (transformers with so many heads), b6c96h3x2 (two layers of them among"
                " convolutions)"
            )
        blocks, channels = int(found[1]), int(found[2])
        nested = int(found[8] or 2) if is_nested else 0
        middle = int(found[5] or (channels // 2 if nested else channels))

        def third(width: int) -> int:
            """A third, in steps of 8, as vectors of the processor have it."""
            return round(width / 24) * 8

        pooled = int(found[7] or max(8, third(middle)))
        head = max(16, third(channels))
        gpool = tuple(range(2, blocks, 2)) if blocks > 2 else tuple(range(1, blocks))
        heads = int(found[3] or 0)
        layers = tuple(blocks * (layer + 1) // among for layer in range(among))
        width = channels if layers else middle
        if heads and (width % heads or width // heads % 2):
            raise ValueError(f"{name!r}: {heads} heads do not divide {width} channels into even parts")
        # As many parameters as a feed-forward block without a gate of four times the width has, or a few more.
        hidden = int(found[6] or -(-width * 8 // 384) * 128) if heads else 0
        gpool = gpool if layers or not heads else ()
        return Shape(
            channels, blocks, 3, gpool, middle, pooled, head, head, 2 * head, nested, heads, hidden, layers, bool(found[10]), bool(found[11])
        )

    def facts(self) -> dict[str, object]:
        """For JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    @property
    def is_transformer(self) -> bool:
        """Are there no convolutions but the first?"""
        return self.heads > 0 and not self.layers

    def inside(self) -> "Shape":
        """The shape of the blocks inside a nested block."""
        return dataclasses.replace(self, channels=self.middle, nested=0)

    def multiply_adds(self) -> int:
        """Multiplications a point of the board, the fully connected layers left out."""
        total = self.first**2 * SPATIAL_FEATURES * self.channels
        # The products of attention, two more for every pair of points, left out too.
        width = self.channels if self.layers else self.middle
        layer = 4 * width**2 + 3 * width * self.hidden
        total += len(self.layers) * layer
        for block in range(self.blocks):
            if self.is_transformer:
                total += 2 * self.channels * self.middle + self.nested * layer if self.nested else layer
                continue
            inner = self.middle - (self.pooled if block in self.gpool_blocks else 0)
            if self.nested:
                total += 2 * self.channels * self.middle + 9 * self.middle * (self.middle + inner)
                total += (self.nested - 1) * 18 * self.middle**2
            else:
                total += 9 * self.channels * self.middle + 9 * inner * self.channels
        total += self.channels * (2 * self.policy + self.value) + self.policy + self.value
        return total


class Norm(nn.Module):
    """Scale and bias of each channel. Without `has_scale` the scale is 1."""

    def __init__(self, channels: int, has_scale: bool):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels)) if has_scale else None
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scaled(x) + self.bias.view(1, -1, 1, 1)

    # The scale alone, for those who add the bias elsewhere: of a tensor; of the rows of weights that lead here, which
    # comes to the same in one pass over memory less; of a matrix's columns.

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x if self.scale is None else x * self.scale.view(1, -1, 1, 1)

    def scaled_rows(self, weight: torch.Tensor) -> torch.Tensor:
        return weight if self.scale is None else weight * self.scale.view(-1, 1, 1, 1)

    def scaled_columns(self, x: torch.Tensor) -> torch.Tensor:
        return x if self.scale is None else x * self.scale


def conv(inputs: int, outputs: int, side: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, side, padding=side // 2, bias=False)


def activate(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    x = F.relu(x, inplace=True)
    return x if mask is None else x * mask


@dataclasses.dataclass
class Area:
    """Points on the board, for the pooling layers: as it is for one size, or of every board of a padded batch."""

    points: torch.Tensor | float
    mask: torch.Tensor | None

    def mean(self, x: torch.Tensor) -> torch.Tensor:
        if self.mask is None:
            return x.mean(dim=(2, 3))
        return x.sum(dim=(2, 3)) / self.points

    def width(self) -> torch.Tensor | float:
        """(√area − 14) / 10, in which the pooling layers measure the board."""
        root = math.sqrt(self.points) if self.mask is None else torch.sqrt(self.points)
        return (root - 14.0) * 0.1

    def pool(self, x: torch.Tensor) -> torch.Tensor:
        """Mean, mean by width, and maximum of each channel. Off the board `x` is 0."""
        mean = self.mean(x)
        on_board = x if self.mask is None else x.masked_fill(self.mask == 0, -torch.inf)
        return torch.cat([mean, mean * self.width(), on_board.amax(dim=(2, 3))], dim=1)

    def value_pool(self, x: torch.Tensor) -> torch.Tensor:
        """Mean, mean by width, and mean by the square of the width less 0.1."""
        mean, width = self.mean(x), self.width()
        return torch.cat([mean, mean * width, mean * (width * width - 0.1)], dim=1)


class OrdinaryBlock(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.norm1 = Norm(shape.channels, has_scale=False)
        self.conv1 = conv(shape.channels, shape.middle, 3)
        self.norm2 = Norm(shape.middle, has_scale=True)
        self.conv2 = conv(shape.middle, shape.channels, 3)

    def forward(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        inner = self.norm1.scaled(x)
        inner = convolution(inner, self.norm1.bias[None], self.norm2.scaled_rows(self.conv1.weight), mask=area.mask)
        return convolution(inner, self.norm2.bias[None], self.conv2.weight, residual=x, mask=area.mask)


class PoolingBlock(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        regular = shape.middle - shape.pooled
        self.norm1 = Norm(shape.channels, has_scale=False)
        self.conv1 = conv(shape.channels, regular, 3)
        self.conv_pooled = conv(shape.channels, shape.pooled, 3)
        self.norm_pooled = Norm(shape.pooled, has_scale=False)
        self.from_pool = nn.Linear(3 * shape.pooled, regular, bias=False)
        self.norm2 = Norm(regular, has_scale=True)
        self.conv2 = conv(regular, shape.channels, 3)

    def forward(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        # Both convolutions in one, as they read the same input.
        weight = torch.cat([self.norm2.scaled_rows(self.conv1.weight), self.conv_pooled.weight])
        both = convolution(self.norm1.scaled(x), self.norm1.bias[None], weight, mask=area.mask)
        regular = len(self.conv1.weight)
        pooled = area.pool(activate(self.norm_pooled(both[:, regular:]), area.mask))
        # What the pool adds is the same on all points of a board: it joins the bias.
        bias = self.norm2.scaled_columns(self.from_pool(pooled)) + self.norm2.bias
        return convolution(both[:, :regular], bias, self.conv2.weight, residual=x, mask=area.mask)


class RmsNorm(nn.Module):
    """Every point's channels, divided by the root of their mean square, or of that of all points; with a scale, and with a bias if that is
    wanted."""

    EPSILON = 1e-6

    def __init__(self, channels: int, has_bias: bool = False, is_whole: bool = False):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if has_bias else None
        self.is_whole = is_whole

    def normed(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        """`x` (n, points, channels), 0 beside the board, divided by the root of each position's mean square."""
        square = x.square().sum(dim=(1, 2)) / x.shape[2] / torch.as_tensor(area.points).view(-1)
        return x * torch.rsqrt(square + self.EPSILON)[:, None, None]

    def forward(self, x: torch.Tensor, area: Area | None = None) -> torch.Tensor:
        """`x` (…, channels); over the whole position (n, points, channels), and 0 beside the board."""
        if self.is_whole:
            x = self.normed(x, area) * self.scale
        elif is_fast_learning(x):
            x = learning_norm(x, self.scale, self.EPSILON)
        else:
            x = F.rms_norm(x, (x.shape[-1],), self.scale.to(x.dtype), self.EPSILON)
        return x if self.bias is None else x + self.bias.to(x.dtype)


def by_points(x: torch.Tensor) -> torch.Tensor:
    """(n, channels, height, width) as (n, points, channels), which is how it lies in memory."""
    return x.permute(0, 2, 3, 1).flatten(1, 2)


def by_planes(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The way back, to the planes of another tensor's size."""
    return x.unflatten(1, like.shape[2:]).permute(0, 3, 1, 2)


class AttentionBlock(nn.Module):
    """x + attention over all points, with rotary position embedding (Su et al. 2021) in two dimensions, whose frequencies
    are learnt for every head."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads, width = shape.heads, shape.channels // shape.heads
        self.norm = RmsNorm(shape.channels)
        # Each a matrix of its own, as the optimiser makes steps of matrices. Of a head the first channels of all pairs that
        # are rotated come before all second ones; in the file they are side by side.
        self.q, self.k, self.v, self.out = (nn.Linear(shape.channels, shape.channels, bias=False) for _ in range(4))
        # Radians a column and a row.
        self.frequencies = nn.Parameter(torch.empty(self.heads, width // 2, 2))

    @torch.no_grad()
    def begin(self, generator: torch.Generator | None = None) -> None:
        """New queries, keys and rotations. A head's rotations are a mixture: of each four pairs one hardly turns, so that it asks what is at a
        point and not where, and one turns by up to half a turn a point, so that it tells neighbours apart. Steps move a rotation only a
        little, and those that none is near are never found."""
        for layer in (self.q, self.k):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5, generator=generator)
        most = torch.tensor([0.02, 0.5, 1.5, math.pi])[torch.arange(self.frequencies.shape[1]) % 4, None]
        self.frequencies.uniform_(-1, 1, generator=generator).mul_(most)

    def angles(self, rows: int, columns: int) -> torch.Tensor:
        """By how much every point, head and pair is turned, in radians."""
        y = torch.arange(rows, device=self.frequencies.device).repeat_interleave(columns)[:, None, None]
        x = torch.arange(columns, device=self.frequencies.device).repeat(rows)[:, None, None]
        with torch.autocast(self.frequencies.device.type, enabled=False):
            return x * self.frequencies[..., 0].float() + y * self.frequencies[..., 1].float()

    def turned(self, found: torch.Tensor, angle: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Queries, keys and values, each (n, points, heads, channels)."""
        if is_fast_learning(found):
            return turned(found, angle)
        heads, half = angle.shape[1:]
        both, value = found.split([4 * heads * half, 2 * heads * half], dim=2)
        both = both.unflatten(2, (2, heads, 2 * half))
        cosine, sine = angle.cos(), angle.sin()
        cosine, sine = torch.cat([cosine, cosine], dim=2), torch.cat([-sine, sine], dim=2)
        cosine, sine = (part.to(found.dtype)[None, :, None] for part in (cosine, sine))
        swapped = torch.cat([both[..., half:], both[..., :half]], dim=4)
        return *(both * cosine + swapped * sine).unbind(2), value.unflatten(2, (heads, 2 * half))

    def mixed(self, read: torch.Tensor, area: Area, rows: int, columns: int) -> torch.Tensor:
        """What the heads see, side by side, from numbers behind the norm: (n, points, channels)."""
        found = product(read, torch.cat([self.q.weight, self.k.weight, self.v.weight]))
        qkv = self.turned(found, self.angles(rows, columns))
        if area.mask is None and is_fast_attention(qkv[0]):
            return learning_attention(*qkv).flatten(2)
        seen = None if area.mask is None else area.mask.flatten(2)[:, :, None].bool()
        mixed = F.scaled_dot_product_attention(*(part.transpose(1, 2) for part in qkv), attn_mask=seen)
        return mixed.transpose(1, 2).flatten(2)

    def forward(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        points = by_points(x)
        mixed = self.mixed(self.norm(points), area, *x.shape[2:])
        return by_planes(points + product(mixed, self.out.weight), x)


class FeedForwardBlock(nn.Module):
    """x + SwiGLU (Shazeer 2020)."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.norm = RmsNorm(shape.channels)
        self.first, self.gate = (nn.Linear(shape.channels, shape.hidden, bias=False) for _ in range(2))
        self.last = nn.Linear(shape.hidden, shape.channels, bias=False)

    def hidden(self, read: torch.Tensor) -> torch.Tensor:
        """The hidden units, from numbers behind the norm: (n, points, units)."""
        both = product(read, torch.cat([self.first.weight, self.gate.weight]))
        if is_fast_learning(both):
            return learning_gate(both)
        first, gate = both.chunk(2, dim=2)
        return F.silu(first) * gate

    def forward(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        points = by_points(x)
        return by_planes(points + product(self.hidden(self.norm(points)), self.last.weight), x)


def transformer_blocks(shape: Shape, layers: int) -> list[nn.Module]:
    return [kind(shape) for _ in range(layers) for kind in (AttentionBlock, FeedForwardBlock)]


class NestedBlock(nn.Module):
    """Blocks of fewer channels between two 1×1 convolutions."""

    def __init__(self, shape: Shape, pools: bool):
        super().__init__()
        self.silu = shape.silu
        self.norm1 = Norm(shape.channels, has_scale=shape.silu)
        self.conv1 = conv(shape.channels, shape.middle, 1)
        inside = shape.inside()
        self.blocks = nn.ModuleList(
            transformer_blocks(inside, shape.nested)
            if shape.is_transformer
            else [PoolingBlock(inside) if pools and index == 0 else OrdinaryBlock(inside) for index in range(shape.nested)]
        )
        self.norm2 = Norm(shape.middle, has_scale=shape.silu)
        self.conv2 = conv(shape.middle, shape.channels, 1)

    def smooth(self, x: torch.Tensor, norm: Norm, layer: nn.Conv2d, area: Area) -> torch.Tensor:
        """A 1×1 convolution of silu(norm(x))."""
        weight = layer.weight.flatten(1)
        if area.mask is None and is_fast_learning(x):
            return by_planes(product(learning_smooth(by_points(x), norm.scale, norm.bias), weight), x)
        bent = F.silu(norm(x))
        return by_planes(product(by_points(bent if area.mask is None else bent * area.mask), weight), x)

    def enter(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        """What the first block inside reads."""
        if self.silu:
            return self.smooth(x, self.norm1, self.conv1, area)
        return convolution(self.norm1.scaled(x), self.norm1.bias[None], self.conv1.weight, mask=area.mask)

    def leave(self, inner: torch.Tensor, area: Area, residual: torch.Tensor | None = None) -> torch.Tensor:
        """What is made of the last one's numbers, and the residual, if there is one."""
        if self.silu:
            found = self.smooth(inner, self.norm2, self.conv2, area)
            return found if residual is None else residual + found
        bias = self.norm2.bias[None]
        return convolution(self.norm2.scaled(inner), bias, self.conv2.weight, residual=residual, mask=area.mask)

    def forward(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        inner = self.enter(x, area)
        for block in self.blocks:
            inner = block(inner, area)
        return self.leave(inner, area, residual=x)


class Answer:
    """What the network says of a batch. Shapes: n positions, p points in rows from the top."""

    # The last numbers of the errors stand for their squares; from version 14 of the file on for themselves.
    errors_are_squares = True
    error_scales = ERROR_SCALES

    def __init__(self, policy, value, score, ownership, errors=None, optimistic=None):
        # Logits of the p points, then of the pass: (n, p + 1).
        self.policy = policy
        # Logits of win, loss and no result: (n, 3).
        self.value = value
        # As they leave the last layer: mean, spread, lead and remaining variance time (n, 4).
        self.score = score
        # Before the tanh: (n, p).
        self.ownership = ownership
        # As they leave the last layer: how far value and score will be from here within a few moves (n, 2), or none.
        self.errors = errors
        # As `policy`, for a search to look at: moves that may turn out better than they seem count for more. Or none.
        self.optimistic = optimistic

    def score_mean(self):
        return self.score[:, 0] * SCORE_SCALE

    def score_spread(self):
        return F.softplus(self.score[:, 1]) * SCORE_SCALE

    def lead(self):
        return self.score[:, 2] * SCORE_SCALE

    def variance_time(self):
        return F.softplus(self.score[:, 3]) * TIME_SCALE

    def expected_errors(self):
        """Of the value, which lies in [-1, 1], and of the score in points: (n, 2), or none."""
        if self.errors is None:
            return None
        scales = torch.tensor(self.error_scales, device=self.errors.device)
        if self.errors_are_squares:
            return (F.softplus(self.errors.float()).clamp(min=1e-6) * scales).sqrt()
        return F.softplus(self.errors.float() * 0.5) * scales.sqrt()


class Network(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.conv1 = conv(SPATIAL_FEATURES, shape.channels, shape.first)
        self.from_global = nn.Linear(GLOBAL_FEATURES, shape.channels, bias=False)
        self.blocks = nn.ModuleList()
        for index in range(shape.blocks):
            pools = index in shape.gpool_blocks
            if shape.nested:
                self.blocks.append(NestedBlock(shape, pools))
            elif shape.is_transformer:
                self.blocks.extend(transformer_blocks(shape, 1))
            else:
                self.blocks.append((PoolingBlock if pools else OrdinaryBlock)(shape))
            self.blocks.extend(transformer_blocks(shape, shape.layers.count(index + 1)))
        # Behind transformers the numbers are as large as these make them.
        is_whole = shape.smooth_heads
        self.trunk_norm = RmsNorm(shape.channels, True, is_whole) if shape.is_transformer else Norm(shape.channels, has_scale=False)
        self.p1 = conv(shape.channels, shape.policy, 1)
        self.g1 = conv(shape.channels, shape.policy, 1)
        self.g1_norm = Norm(shape.policy, has_scale=False)
        self.from_g1 = nn.Linear(3 * shape.policy, shape.policy, bias=False)
        self.p1_norm = Norm(shape.policy, has_scale=False)
        # Two policies: the plain one and the optimistic one.
        self.p2 = conv(shape.policy, 2, 1)
        self.policy_pass = nn.Linear(3 * shape.policy, shape.policy if shape.smooth_heads else 2, bias=shape.smooth_heads)
        self.pass_last = nn.Linear(shape.policy, 2, bias=False) if shape.smooth_heads else None
        self.v1 = conv(shape.channels, shape.value, 1)
        self.v1_norm = Norm(shape.value, has_scale=False)
        self.v2 = nn.Linear(3 * shape.value, shape.value_hidden)
        self.v3 = nn.Linear(shape.value_hidden, 3)
        # Four numbers of the score, then the two short-term errors.
        self.score = nn.Linear(shape.value_hidden, 6)
        self.ownership = conv(shape.value, 1, 1)
        self.start()
        self.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def start(self):
        """Fixup: a new network computes almost nothing, and its first gradients are as large as later ones."""
        depth = max(1, self.shape.blocks * max(1, self.shape.nested))
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(module.weight, std=math.sqrt(2.0 / module.weight[0].numel()))
                if getattr(module, "bias", None) is not None:
                    nn.init.zeros_(module.bias)
        self.from_global.weight.mul_(0.5)
        for block in self.modules():
            if isinstance(block, (AttentionBlock, FeedForwardBlock)):
                for layer in block.children():
                    # What follows a norm needs no more to keep its size.
                    if isinstance(layer, nn.Linear):
                        layer.weight.mul_(0.5**0.5)
            if isinstance(block, AttentionBlock):
                nn.init.zeros_(block.out.weight)
                block.begin()
            elif isinstance(block, FeedForwardBlock):
                nn.init.zeros_(block.last.weight)
            if not isinstance(block, (OrdinaryBlock, PoolingBlock, NestedBlock)):
                continue
            block.conv1.weight.mul_(depth**-0.5)
            nn.init.zeros_(block.conv2.weight)
            if isinstance(block, PoolingBlock):
                block.from_pool.weight.mul_(0.3)
        self.from_g1.weight.mul_(0.3)
        last_pass = self.pass_last or self.policy_pass
        for last in (self.p2, last_pass, self.v3, self.score, self.ownership):
            last.weight.mul_(0.1)
        for both in (self.p2, last_pass):
            both.weight[1] = both.weight[0]

    def forward(self, spatial: torch.Tensor, globals_: torch.Tensor, mask: torch.Tensor | None = None) -> Answer:
        """`spatial` (n, 22, height, width), `globals_` (n, 19), `mask` (n, 1, height, width) or none."""
        x, area = self.stem(spatial, globals_, mask)
        for block in self.blocks:
            x = block(x, area)
        return self.answer(x, area)

    def stem(self, spatial: torch.Tensor, globals_: torch.Tensor, mask: torch.Tensor | None = None):
        """What the first block reads (n, channels, height, width), and the area that all blocks are told."""
        _, _, height, width = spatial.shape
        if mask is None:
            area = Area(float(height * width), None)
        else:
            area = Area(mask.sum(dim=(2, 3)), mask)
        x = self.conv1(spatial)
        x = x + self.from_global(globals_)[:, :, None, None]
        return (x if mask is None else x * mask), area

    def error_scales(self) -> tuple[float, float]:
        return SMOOTH_ERROR_SCALES if self.shape.smooth_heads else ERROR_SCALES

    def answer(self, x: torch.Tensor, area: Area) -> Answer:
        """The answer to what the last block wrote (n, channels, height, width)."""
        count, mask, is_smooth = len(x), area.mask, self.shape.smooth_heads

        def bent(x: torch.Tensor) -> torch.Tensor:
            if not is_smooth:
                return activate(x, mask)
            return F.silu(x) if mask is None else F.silu(x) * mask

        if self.shape.is_transformer:
            points = by_points(x if mask is None or not is_smooth else x * mask)
            x = by_planes(self.trunk_norm(points, area), x)
        else:
            x = self.trunk_norm(x)
        x = bent(x)

        # The three 1×1 convolutions read the same input.
        heads = F.conv2d(x, torch.cat([self.p1.weight, self.g1.weight, self.v1.weight]))
        policy, pooled, value = heads.split([self.shape.policy, self.shape.policy, self.shape.value], dim=1)
        pooled = area.pool(bent(self.g1_norm(pooled)))
        policy = self.p1_norm(policy + self.from_g1(pooled)[:, :, None, None])
        points = self.p2(bent(policy)).reshape(count, 2, -1)
        passing = self.policy_pass(pooled)
        if is_smooth:
            passing = self.pass_last(F.silu(passing))
        policy = torch.cat([points, passing[:, :, None]], dim=2)

        value = bent(self.v1_norm(value))
        hidden = (F.silu if is_smooth else F.relu)(self.v2(area.value_pool(value)))
        ownership = self.ownership(value).reshape(count, -1)
        score = self.score(hidden)
        answer = Answer(policy[:, 0], self.v3(hidden), score[:, :4], ownership, score[:, 4:], policy[:, 1])
        answer.errors_are_squares = not self.shape.heads
        answer.error_scales = self.error_scales()
        return answer
