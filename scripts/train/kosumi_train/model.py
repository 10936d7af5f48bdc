"""The trainable network, with the arithmetic of KataGo's file format.

Networks are written as version 12, or as version 15 if they have transformer blocks (`katago_file.py`).

Tensors are (batch, channels, height, width) in channels-last memory order. Inputs and outputs are from the perspective
of the side to move. A batch has boards of one size. Boards of several sizes can be padded to one size if `mask` is
given (1 on the board, 0 outside).

The format has batch normalisation. Instead, this network has a plain scale (only where it is useful) and a bias, and
its initial weights keep the variance constant ("Fixup", Zhang, Dauphin & Ma 2019, as in KataGo's g170 run). On a CPU,
the passes over memory for batch statistics would cost more than they gain.
"""

from __future__ import annotations

import dataclasses
import math
import re

import torch
import torch.nn.functional as F
from torch import nn

from .fast import (
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

# Factors of the outputs of the last layers, which the format fixes.
SCORE_SCALE = 20.0
TIME_SCALE = 40.0
# Factors of the squared short-term errors of value (in [-1, 1]) and score (in points): with ReLU heads, and with smooth
# heads.
ERROR_SCALES, SMOOTH_ERROR_SCALES = (0.25, 30.0), (0.25, 150.0)


@dataclasses.dataclass(frozen=True)
class Shape:
    """Sizes of a network. `gpool_blocks` are the indices of blocks with global pooling, from 0. In a nested block, the
    first inner block pools."""

    channels: int = 64
    blocks: int = 4
    # Side of the first convolution's kernel, in points.
    first: int = 3
    gpool_blocks: tuple[int, ...] = (2,)
    # Channels between the two convolutions of a block, and how many of them are pooled in a block with global pooling.
    middle: int = 64
    pooled: int = 24
    policy: int = 24
    value: int = 24
    value_hidden: int = 48
    # Number of blocks inside each block, which have `middle` channels and lie between 1×1 convolutions. With 0, blocks
    # are not nested.
    nested: int = 0
    # Number of attention heads, of about 32 channels each. With 0, blocks are convolutional. Otherwise each block (or
    # each inner block of a nested block) is an attention block followed by a feed-forward block with `hidden` units.
    heads: int = 0
    hidden: int = 0
    # Whether the bottlenecks of nested blocks have a scale and SiLU instead of ReLU alone.
    silu: bool = False
    # Whether the heads are those of KataGo's recent transformers: the last norm is over the whole position, the
    # activation is SiLU, and the pass has another layer.
    smooth_heads: bool = False

    @staticmethod
    def named(name: str) -> Shape:
        """Returns the shape with a name such as `b6c96` (blocks and channels).

        Optional parts follow, in this order: `h3` attention heads; `m48` middle channels; `f128` hidden units; `g32`
        pooled channels; `nbt` nested bottlenecks of half the channels, with two inner blocks (`nb1t`: one); `tflrs`
        transformer blocks with learnt rotations and gated feed-forward blocks (KataGo's name); `-silu` SiLU in the
        bottlenecks of nested transformers; `-smooth` the heads of KataGo's recent transformers.

        # Errors

        Raises `ValueError` if the name is not of this form.
        """
        numbers = r"b(\d+)c(\d+)(?:h(\d+))?(?:m(\d+))?(?:f(\d+))?(?:g(\d+))?"
        found = re.fullmatch(numbers + r"(?:nb(\d?)t)?(tflrs)?(-silu)?(-smooth)?", name)
        is_nested = found is not None and found[7] is not None
        if (
            found is None
            or bool(found[3]) != bool(found[8])
            or (found[9] and not (is_nested and found[8]))
            or (found[10] and not found[8])
            or (found[5] and not found[3])
        ):
            raise ValueError(
                f"{name!r} is not a shape such as b6c96, b6c96m64 (middle channels), b6c96g32 (pooled channels),"
                " b5c192nbt (nested), b7c96h3tflrs, b7c96h3f128tflrs (hidden units), or"
                " b5c192h3nbttflrs (transformers with 3 heads)"
            )
        blocks, channels = int(found[1]), int(found[2])
        nested = int(found[7] or 2) if is_nested else 0
        middle = int(found[4] or (channels // 2 if nested else channels))

        def third(width: int) -> int:
            """Returns a third of a width, rounded to a multiple of 8 (the lanes of a vector)."""
            return round(width / 24) * 8

        pooled = int(found[6] or max(8, third(middle)))
        head = max(16, third(channels))
        gpool = tuple(range(2, blocks, 2)) if blocks > 2 else tuple(range(1, blocks))
        heads = int(found[3] or 0)
        if heads and (middle % heads or middle // heads % 2):
            raise ValueError(f"{name!r}: {heads} heads do not divide {middle} channels into even parts")
        # About as many parameters as a feed-forward block without a gate, which has four times the width.
        hidden = int(found[5] or -(-middle * 8 // 384) * 128) if heads else 0
        gpool = () if heads else gpool
        return Shape(
            channels,
            blocks,
            3,
            gpool,
            middle,
            pooled,
            head,
            head,
            2 * head,
            nested,
            heads,
            hidden,
            bool(found[9]),
            bool(found[10]),
        )

    def facts(self) -> dict[str, object]:
        """Returns the fields, for JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    @property
    def is_transformer(self) -> bool:
        """Returns whether all blocks are transformer blocks."""
        return self.heads > 0

    def inside(self) -> Shape:
        """Returns the shape of the blocks inside a nested block."""
        return dataclasses.replace(self, channels=self.middle, nested=0)

    def multiply_adds(self) -> int:
        """Returns the multiply-adds for each point of the board, without the fully connected layers."""
        total = self.first**2 * SPATIAL_FEATURES * self.channels
        # The products of attention, two for every pair of points, are not counted either.
        layer = 4 * self.middle**2 + 3 * self.middle * self.hidden
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
        total += self.channels * (2 * self.policy + self.value) + 2 * self.policy + self.value
        return total


class Norm(nn.Module):
    """Scale and bias of each channel. Without `has_scale` the scale is 1."""

    def __init__(self, channels: int, has_scale: bool) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels)) if has_scale else None
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.scaled(x) + self.bias.view(1, -1, 1, 1)

    # The following functions apply the scale without the bias: to a tensor, to the rows of the weights before the norm
    # (the result is the same, with one pass over memory less), and to the columns of a matrix.

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        """Returns `x` (n, channels, height, width) times the scale."""
        return x if self.scale is None else x * self.scale.view(1, -1, 1, 1)

    def scaled_rows(self, weight: torch.Tensor) -> torch.Tensor:
        """Returns convolution weights times the scale of their outputs."""
        return weight if self.scale is None else weight * self.scale.view(-1, 1, 1, 1)

    def scaled_columns(self, x: torch.Tensor) -> torch.Tensor:
        """Returns `x` (…, channels) times the scale."""
        return x if self.scale is None else x * self.scale


def conv(inputs: int, outputs: int, side: int) -> nn.Conv2d:
    """Returns a convolution without a bias, which keeps the size of the board."""
    return nn.Conv2d(inputs, outputs, side, padding=side // 2, bias=False)


def activate(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Returns the ReLU of `x`, 0 outside the board."""
    x = F.relu(x, inplace=True)
    return x if mask is None else x * mask


@dataclasses.dataclass
class Area:
    """Points on the board, for pooling layers: one number for all boards, or one for each padded board."""

    points: torch.Tensor | float
    mask: torch.Tensor | None

    def mean(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the mean of each channel over the board."""
        if self.mask is None:
            return x.mean(dim=(2, 3))
        return x.sum(dim=(2, 3)) / self.points

    def width(self) -> torch.Tensor | float:
        """Returns (√area − 14) / 10, the board size as the pooling layers use it."""
        root = math.sqrt(self.points) if self.mask is None else torch.sqrt(self.points)
        return (root - 14.0) * 0.1

    def pool(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the mean, the mean times the width, and the maximum of each channel. `x` must be 0 outside the
        board."""
        mean = self.mean(x)
        on_board = x if self.mask is None else x.masked_fill(self.mask == 0, -torch.inf)
        return torch.cat([mean, mean * self.width(), on_board.amax(dim=(2, 3))], dim=1)

    def value_pool(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the mean, the mean times the width, and the mean times (width² − 0.1) of each channel."""
        mean, width = self.mean(x), self.width()
        return torch.cat([mean, mean * width, mean * (width * width - 0.1)], dim=1)


class OrdinaryBlock(nn.Module):
    """x + two 3×3 convolutions, each after a norm and ReLU."""

    def __init__(self, shape: Shape) -> None:
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
    """`OrdinaryBlock` with some channels between the convolutions that are pooled over the board."""

    def __init__(self, shape: Shape) -> None:
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
        # One convolution computes both, because they read the same input.
        weight = torch.cat([self.norm2.scaled_rows(self.conv1.weight), self.conv_pooled.weight])
        both = convolution(self.norm1.scaled(x), self.norm1.bias[None], weight, mask=area.mask)
        regular = len(self.conv1.weight)
        pooled = area.pool(activate(self.norm_pooled(both[:, regular:]), area.mask))
        # The pooled term is the same on all points of a board, so it joins the bias.
        bias = self.norm2.scaled_columns(self.from_pool(pooled)) + self.norm2.bias
        return convolution(both[:, :regular], bias, self.conv2.weight, residual=x, mask=area.mask)


class RmsNorm(nn.Module):
    """Root-mean-square norm over the channels of each point, or over the whole position, with a scale and an optional
    bias."""

    EPSILON = 1e-6

    def __init__(self, channels: int, has_bias: bool = False, is_whole: bool = False) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels)) if has_bias else None
        self.is_whole = is_whole

    def normed(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        """Returns `x` (n, points, channels) divided by the root mean square of each position. `x` must be 0 outside the
        board."""
        square = x.square().sum(dim=(1, 2)) / x.shape[2] / torch.as_tensor(area.points).view(-1)
        return x * torch.rsqrt(square + self.EPSILON)[:, None, None]

    def forward(self, x: torch.Tensor, area: Area | None = None) -> torch.Tensor:
        """Normalises `x` (…, channels). A norm over the whole position takes (n, points, channels) and `area`."""
        if self.is_whole:
            assert area is not None
            x = self.normed(x, area) * self.scale
        elif is_fast_learning(x):
            x = learning_norm(x, self.scale, self.EPSILON)
        else:
            x = F.rms_norm(x, (x.shape[-1],), self.scale.to(x.dtype), self.EPSILON)
        return x if self.bias is None else x + self.bias.to(x.dtype)


def by_points(x: torch.Tensor) -> torch.Tensor:
    """Returns (n, channels, height, width) as (n, points, channels), without a copy."""
    return x.permute(0, 2, 3, 1).flatten(1, 2)


def by_planes(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Returns `x` (n, points, channels) as planes with the height and width of `like`."""
    return x.unflatten(1, like.shape[2:]).permute(0, 3, 1, 2)


class AttentionBlock(nn.Module):
    """x + attention over all points. The two-dimensional rotary position embedding (Su et al. 2021) has learnt
    frequencies for every head."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, width = shape.heads, shape.channels // shape.heads
        self.norm = RmsNorm(shape.channels)
        # The matrices are separate, because the optimiser orthogonalises each matrix. Within a head, the first channels
        # of all rotated pairs precede all second channels. In the file, the channels of a pair are neighbours.
        self.q, self.k, self.v, self.out = (nn.Linear(shape.channels, shape.channels, bias=False) for _ in range(4))
        # Radians for each column and for each row, by head and pair.
        self.frequencies = nn.Parameter(torch.empty(self.heads, width // 2, 2))

    @torch.no_grad()
    def begin(self, generator: torch.Generator | None = None) -> None:
        """Draws new queries, keys and rotations.

        Of every four pairs of channels, one hardly rotates (content without position) and one rotates by up to π for
        each point (it separates neighbours). Training moves a rotation only a little, so a rotation is never found if
        no initial value is near it.
        """
        for layer in (self.q, self.k):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5, generator=generator)
        most = torch.tensor([0.02, 0.5, 1.5, math.pi])[torch.arange(self.frequencies.shape[1]) % 4, None]
        self.frequencies.uniform_(-1, 1, generator=generator).mul_(most)

    def angles(self, rows: int, columns: int) -> torch.Tensor:
        """Returns the rotation of every point, head and pair, in radians."""
        y = torch.arange(rows, device=self.frequencies.device).repeat_interleave(columns)[:, None, None]
        x = torch.arange(columns, device=self.frequencies.device).repeat(rows)[:, None, None]
        with torch.autocast(self.frequencies.device.type, enabled=False):
            return x * self.frequencies[..., 0].float() + y * self.frequencies[..., 1].float()

    def turned(self, found: torch.Tensor, angle: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns rotated queries and keys, and values, each (n, points, heads, channels)."""
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
        """Returns the concatenated outputs of the heads (n, points, channels) for normalised inputs."""
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

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.norm = RmsNorm(shape.channels)
        self.first, self.gate = (nn.Linear(shape.channels, shape.hidden, bias=False) for _ in range(2))
        self.last = nn.Linear(shape.hidden, shape.channels, bias=False)

    def hidden(self, read: torch.Tensor) -> torch.Tensor:
        """Returns the hidden units (n, points, units) for normalised inputs."""
        both = product(read, torch.cat([self.first.weight, self.gate.weight]))
        if is_fast_learning(both):
            return learning_gate(both)
        first, gate = both.chunk(2, dim=2)
        return F.silu(first) * gate

    def forward(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        points = by_points(x)
        return by_planes(points + product(self.hidden(self.norm(points)), self.last.weight), x)


def transformer_blocks(shape: Shape, layers: int) -> list[nn.Module]:
    """Returns `layers` pairs of an attention block and a feed-forward block."""
    return [kind(shape) for _ in range(layers) for kind in (AttentionBlock, FeedForwardBlock)]


class NestedBlock(nn.Module):
    """Inner blocks with fewer channels, between two 1×1 convolutions."""

    def __init__(self, shape: Shape, pools: bool) -> None:
        super().__init__()
        self.silu = shape.silu
        self.norm1 = Norm(shape.channels, has_scale=shape.silu)
        self.conv1 = conv(shape.channels, shape.middle, 1)
        inside = shape.inside()
        self.blocks = nn.ModuleList(
            transformer_blocks(inside, shape.nested)
            if shape.is_transformer
            else [
                PoolingBlock(inside) if pools and index == 0 else OrdinaryBlock(inside) for index in range(shape.nested)
            ]
        )
        self.norm2 = Norm(shape.middle, has_scale=shape.silu)
        self.conv2 = conv(shape.middle, shape.channels, 1)

    def smooth(self, x: torch.Tensor, norm: Norm, layer: nn.Conv2d, area: Area) -> torch.Tensor:
        """Returns a 1×1 convolution of silu(norm(x))."""
        weight = layer.weight.flatten(1)
        if area.mask is None and is_fast_learning(x):
            return by_planes(product(learning_smooth(by_points(x), norm.scale, norm.bias), weight), x)
        activated = F.silu(norm(x))
        return by_planes(product(by_points(activated if area.mask is None else activated * area.mask), weight), x)

    def enter(self, x: torch.Tensor, area: Area) -> torch.Tensor:
        """Returns the input of the first inner block."""
        if self.silu:
            return self.smooth(x, self.norm1, self.conv1, area)
        return convolution(self.norm1.scaled(x), self.norm1.bias[None], self.conv1.weight, mask=area.mask)

    def leave(self, inner: torch.Tensor, area: Area, residual: torch.Tensor | None = None) -> torch.Tensor:
        """Returns the block's output from that of the last inner block, plus the residual if it is given."""
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
    """Outputs of a network for a batch of n positions. p is the number of points, in rows from the top."""

    # Whether the last layer's errors are squared. They are not from version 14 of the file on.
    errors_are_squares = True
    error_scales = ERROR_SCALES

    def __init__(
        self,
        policy: torch.Tensor,
        value: torch.Tensor,
        score: torch.Tensor,
        ownership: torch.Tensor,
        errors: torch.Tensor | None = None,
        optimistic: torch.Tensor | None = None,
    ) -> None:
        # Logits of the p points, then of the pass (n, p + 1).
        self.policy = policy
        # Logits of win, loss and no result (n, 3).
        self.value = value
        # Outputs of the last layer (n, 4): the score's mean and spread, the lead, and the remaining variance time.
        self.score = score
        # Ownership before the tanh (n, p).
        self.ownership = ownership
        # Outputs of the last layer (n, 2): expected changes of value and score within a few moves. Or `None`.
        self.errors = errors
        # Logits of the optimistic policy (n, p + 1), which favours moves that may turn out better than expected. Or
        # `None`.
        self.optimistic = optimistic

    def score_mean(self) -> torch.Tensor:
        """Returns the mean of the final score, in points (n)."""
        return self.score[:, 0] * SCORE_SCALE

    def score_spread(self) -> torch.Tensor:
        """Returns the standard deviation of the final score, in points (n)."""
        return F.softplus(self.score[:, 1]) * SCORE_SCALE

    def lead(self) -> torch.Tensor:
        """Returns the lead, in points (n)."""
        return self.score[:, 2] * SCORE_SCALE

    def variance_time(self) -> torch.Tensor:
        """Returns the remaining variance time, in moves (n)."""
        return F.softplus(self.score[:, 3]) * TIME_SCALE

    def expected_errors(self) -> torch.Tensor | None:
        """Returns the expected errors (n, 2) of the value in [-1, 1] and of the score in points, or `None`."""
        if self.errors is None:
            return None
        scales = torch.tensor(self.error_scales, device=self.errors.device)
        if self.errors_are_squares:
            return (F.softplus(self.errors.float()).clamp(min=1e-6) * scales).sqrt()
        return F.softplus(self.errors.float() * 0.5) * scales.sqrt()


class Network(nn.Module):
    """A trainable network, from input features to outputs."""

    def __init__(self, shape: Shape) -> None:
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
        # Transformer blocks do not bound the size of the trunk's activations, so the last norm must.
        is_whole = shape.smooth_heads
        self.trunk_norm = (
            RmsNorm(shape.channels, True, is_whole) if shape.is_transformer else Norm(shape.channels, has_scale=False)
        )
        self.p1 = conv(shape.channels, shape.policy, 1)
        self.g1 = conv(shape.channels, shape.policy, 1)
        self.g1_norm = Norm(shape.policy, has_scale=False)
        self.from_g1 = nn.Linear(3 * shape.policy, shape.policy, bias=False)
        self.p1_norm = Norm(shape.policy, has_scale=False)
        # There are two policies: plain and optimistic.
        self.p2 = conv(shape.policy, 2, 1)
        self.policy_pass = nn.Linear(
            3 * shape.policy, shape.policy if shape.smooth_heads else 2, bias=shape.smooth_heads
        )
        self.pass_last = nn.Linear(shape.policy, 2, bias=False) if shape.smooth_heads else None
        self.v1 = conv(shape.channels, shape.value, 1)
        self.v1_norm = Norm(shape.value, has_scale=False)
        self.v2 = nn.Linear(3 * shape.value, shape.value_hidden)
        self.v3 = nn.Linear(shape.value_hidden, 3)
        # The first four outputs belong to the score, the last two are the short-term errors.
        self.score = nn.Linear(shape.value_hidden, 6)
        self.ownership = conv(shape.value, 1, 1)
        self.start()
        self.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def start(self) -> None:
        """Initialises the weights (Fixup): blocks add almost nothing at first."""
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
                    # Inputs that follow a norm have a fixed size already.
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
        """Computes the outputs for `spatial` (n, 22, height, width), `globals_` (n, 19), and `mask` (n, 1, height,
        width) or `None`."""
        x, area = self.stem(spatial, globals_, mask)
        for block in self.blocks:
            x = block(x, area)
        return self.answer(x, area)

    def stem(
        self, spatial: torch.Tensor, globals_: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, Area]:
        """Returns the input of the first block (n, channels, height, width), and the area for all blocks."""
        _, _, height, width = spatial.shape
        if mask is None:
            area = Area(float(height * width), None)
        else:
            area = Area(mask.sum(dim=(2, 3)), mask)
        x = self.conv1(spatial)
        x = x + self.from_global(globals_)[:, :, None, None]
        return (x if mask is None else x * mask), area

    def error_scales(self) -> tuple[float, float]:
        """Returns the factors of the squared errors of value and score."""
        return SMOOTH_ERROR_SCALES if self.shape.smooth_heads else ERROR_SCALES

    def answer(self, x: torch.Tensor, area: Area) -> Answer:
        """Returns the outputs, given the output of the last block (n, channels, height, width)."""
        count, mask, is_smooth = len(x), area.mask, self.shape.smooth_heads

        def activated(x: torch.Tensor) -> torch.Tensor:
            if not is_smooth:
                return activate(x, mask)
            return F.silu(x) if mask is None else F.silu(x) * mask

        if self.shape.is_transformer:
            points = by_points(x if mask is None or not is_smooth else x * mask)
            x = by_planes(self.trunk_norm(points, area), x)
        else:
            x = self.trunk_norm(x)
        x = activated(x)

        # One convolution computes policy, pooled channels and value, because they read the same input.
        heads = F.conv2d(x, torch.cat([self.p1.weight, self.g1.weight, self.v1.weight]))
        policy, pooled, value = heads.split([self.shape.policy, self.shape.policy, self.shape.value], dim=1)
        pooled = area.pool(activated(self.g1_norm(pooled)))
        policy = self.p1_norm(policy + self.from_g1(pooled)[:, :, None, None])
        points = self.p2(activated(policy)).reshape(count, 2, -1)
        passing = self.policy_pass(pooled)
        if self.pass_last is not None:
            passing = self.pass_last(F.silu(passing))
        policy = torch.cat([points, passing[:, :, None]], dim=2)

        value = activated(self.v1_norm(value))
        hidden = (F.silu if is_smooth else F.relu)(self.v2(area.value_pool(value)))
        ownership = self.ownership(value).reshape(count, -1)
        score = self.score(hidden)
        answer = Answer(policy[:, 0], self.v3(hidden), score[:, :4], ownership, score[:, 4:], policy[:, 1])
        answer.errors_are_squares = not self.shape.heads
        answer.error_scales = self.error_scales()
        return answer
