"""Networks for inference: KataGo's files of versions 8 to 17, with every kind of block, including transformers.

`model.Network` can be trained. A `Teacher` only computes outputs, fast, in f32 or bf16, on a CPU or a GPU. Inside it, a
position is a table of points × channels, so that all layers except the 3×3 convolutions are plain matrix products. A
batch has boards of one size, without a mask.

Weights below 10⁻³⁰ are set to zero, which does not change the outputs. The published `b10c384h6nbttflrs` has 444,703
denormal weights, with which a CPU is ten times slower.
"""

from __future__ import annotations

import math
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import fast
from .katago_file import FormatError, Words
from .model import GLOBAL_FEATURES, SPATIAL_FEATURES, Answer

OLDEST, NEWEST = 8, 17
# Multipliers for files that have none: those of the score's mean and spread, the lead, the variance time, and the
# errors of value and score.
_MULTIPLIERS = (20.0, 20.0, 20.0, 40.0, 0.25, 30.0)
_ACTIVATIONS = {
    "ACTIVATION_IDENTITY": lambda x: x,
    "ACTIVATION_RELU": F.relu,
    "ACTIVATION_MISH": F.mish,
    "ACTIVATION_SILU": F.silu,
}
_MAX_BLOCKS, _MAX_DEPTH = 1 << 10, 4


def _tensor(values: np.ndarray) -> torch.Tensor:
    values = np.asarray(values, np.float32)
    if not np.isfinite(values).all():
        raise FormatError("a weight is not finite")
    return torch.from_numpy(np.where(np.abs(values) < 1e-30, 0, values).astype(np.float32))


class _Reader(Words):
    """A reader of the layers of a file."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.version = NEWEST

    def zeros(self, count: int, what: str) -> None:
        for _ in range(count):
            if (found := self.word()) != "0":
                raise FormatError(f"{what} {found} is not supported")

    def activation_function(self) -> Callable[[torch.Tensor], torch.Tensor]:
        self.word()
        if self.version < 11:
            return F.relu
        kind = self.word()
        if kind not in _ACTIVATIONS:
            raise FormatError(f"activation {kind} is not supported")
        return _ACTIVATIONS[kind]

    def norm_act(self) -> _NormAct:
        return _NormAct(*self.scale_bias(), self.activation_function())

    def linear(self) -> nn.Linear:
        weight = _tensor(self.matrix())
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        layer.weight.data = weight
        return layer

    def linear_bias(self) -> nn.Linear:
        layer = self.linear()
        layer.bias = nn.Parameter(_tensor(self.bias()))
        return layer

    def convolution(self) -> nn.Module:
        """Reads a convolution. A 1×1 convolution becomes a matrix product."""
        weight = _tensor(self.conv())
        if weight.shape[2:] == (1, 1):
            layer = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
            layer.weight.data = weight[:, :, 0, 0].contiguous()
            return layer
        return _Conv(weight)

    def rms_weight(self) -> tuple[torch.Tensor, float]:
        self.word()
        channels, epsilon = self.number(), float(self.word())
        return _tensor(self.floats(channels)), epsilon

    def blocks(self, count: int, depth: int) -> nn.ModuleList:
        if not 0 < count <= _MAX_BLOCKS or depth > _MAX_DEPTH:
            raise FormatError("the number or the depth of blocks is out of range")
        return nn.ModuleList(self.block(depth) for _ in range(count))

    def block(self, depth: int) -> nn.Module:
        kind = self.word()
        self.word()
        if kind == "ordinary_block":
            return _Ordinary(self)
        if kind == "gpool_block":
            return _Pooling(self)
        if kind == "nested_bottleneck_block":
            return _Nested(self, depth)
        if kind == "transformer_attention_block":
            return _Attention(self)
        if kind == "transformer_ffn_block":
            return _FeedForward(self)
        raise FormatError(f"blocks of kind {kind} are not supported")


class Board:
    """Board size of a batch, with pooling over the board's points."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.width = (math.sqrt(rows * columns) - 14.0) * 0.1

    @staticmethod
    def of(like: torch.Tensor) -> Board:
        """Returns the board that planes (…, rows, columns) have."""
        return Board(*like.shape[-2:])

    def pool(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the mean, the mean times the width, and the maximum of `x` (n, points, channels) over the points."""
        mean = x.mean(dim=1)
        return torch.cat([mean, mean * self.width, x.amax(dim=1)], dim=1)

    def value_pool(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the mean, the mean times the width, and the mean times (width² − 0.1), over the points."""
        mean = x.mean(dim=1)
        return torch.cat([mean, mean * self.width, mean * (self.width**2 - 0.1)], dim=1)


class _Conv(nn.Module):
    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.contiguous(memory_format=torch.channels_last))

    def forward(self, x: torch.Tensor, board: Board) -> torch.Tensor:
        count, points, channels = x.shape
        planes = x.view(count, board.rows, board.columns, channels).permute(0, 3, 1, 2)
        padding = self.weight.shape[2] // 2, self.weight.shape[3] // 2
        y = F.conv2d(planes, self.weight, padding=padding)
        return y.permute(0, 2, 3, 1).reshape(count, points, -1)


def _apply(layer: nn.Module, x: torch.Tensor, board: Board) -> torch.Tensor:
    return layer(x, board) if isinstance(layer, _Conv) else layer(x)


class _NormAct(nn.Module):
    def __init__(self, scale: np.ndarray, bias: np.ndarray, activation: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.scale, self.bias, self.activation = nn.Parameter(_tensor(scale)), nn.Parameter(_tensor(bias)), activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.activation is F.silu and fast.is_fast_transformer(x, multiples=(x.shape[-1],)):
            return fast.scaled_silu(x, self.scale, self.bias)
        return self.activation(torch.addcmul(self.bias, x, self.scale))


class _Ordinary(nn.Module):
    def __init__(self, words: _Reader) -> None:
        super().__init__()
        self.norm1, self.conv1 = words.norm_act(), words.convolution()
        self.norm2, self.conv2 = words.norm_act(), words.convolution()

    def forward(self, x: torch.Tensor, board: Board) -> torch.Tensor:
        return x + _apply(self.conv2, self.norm2(_apply(self.conv1, self.norm1(x), board)), board)


class _Pooling(nn.Module):
    def __init__(self, words: _Reader) -> None:
        super().__init__()
        self.norm1, self.conv1, self.conv_pooled = words.norm_act(), words.convolution(), words.convolution()
        self.norm_pooled, self.from_pool = words.norm_act(), words.linear()
        self.norm2, self.conv2 = words.norm_act(), words.convolution()

    def forward(self, x: torch.Tensor, board: Board) -> torch.Tensor:
        inner = self.norm1(x)
        pooled = board.pool(self.norm_pooled(_apply(self.conv_pooled, inner, board)))
        inner = _apply(self.conv1, inner, board) + self.from_pool(pooled)[:, None]
        return x + _apply(self.conv2, self.norm2(inner), board)


class _Nested(nn.Module):
    def __init__(self, words: _Reader, depth: int) -> None:
        super().__init__()
        count = words.number()
        self.norm1, self.conv1 = words.norm_act(), words.convolution()
        self.blocks = words.blocks(count, depth + 1)
        self.norm2, self.conv2 = words.norm_act(), words.convolution()

    def forward(self, x: torch.Tensor, board: Board) -> torch.Tensor:
        inner = _apply(self.conv1, self.norm1(x), board)
        for block in self.blocks:
            inner = block(inner, board)
        return x + _apply(self.conv2, self.norm2(inner), board)


def _rms(x: torch.Tensor, epsilon: float) -> torch.Tensor:
    """Returns `x` divided by its root mean square over the channels. The following weights contain the norm's scale."""
    if fast.is_fast_transformer(x, multiples=(x.shape[-1],)):
        return fast.rms_norm(x, epsilon)
    return F.rms_norm(x, (x.shape[-1],), eps=epsilon)


class _Attention(nn.Module):
    """Multi-head attention over all points, with rotary position embedding (Su et al. 2021) in two dimensions."""

    def __init__(self, words: _Reader) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.key, self.value = (words.number() for _ in range(4))
        rope, learnable = words.number(), words.number()
        scale, self.epsilon = words.rms_weight()
        q, k, v = (_tensor(words.matrix()) * scale for _ in range(3))
        self.out = words.linear()
        if min(self.heads, self.kv_heads, self.key, self.value) < 1 or self.heads % self.kv_heads:
            raise FormatError("the numbers and widths of attention heads do not match")
        widths = len(q), len(k), len(v), self.out.in_features
        heads = self.heads, self.kv_heads, self.kv_heads, self.heads
        if widths != tuple(h * d for h, d in zip(heads, (self.key, self.key, self.value, self.value))):
            raise FormatError("the numbers and widths of attention heads do not match")
        # Radians for each column and for each row, for every pair of channels of every key head. `theta` is set if a
        # formula gives the rotations.
        frequencies = None
        self.theta: float | None = None
        if rope:
            words.word()
            pairs = self.key // 2
            if learnable:
                if (words.number(), words.number(), words.number()) != (self.kv_heads, pairs, 2):
                    raise FormatError("the number of rotations does not match the heads")
                frequencies = _tensor(words.floats(self.kv_heads * pairs * 2)).reshape(self.kv_heads, pairs, 2)
            else:
                # The first half of the pairs rotates with the row, the second half with the column.
                self.theta = float(words.word())
                turns = self.theta ** (-2.0 * torch.arange(pairs // 2, dtype=torch.float64) / pairs)
                zero = torch.zeros_like(turns)
                both = torch.stack([torch.cat([zero, turns]), torch.cat([turns, zero])], dim=1)
                frequencies = both.float().expand(self.kv_heads, pairs, 2).contiguous()
            # In the file, the channels of a pair are neighbours. Here, all first channels precede all second channels.
            # Keys and queries have the same order, so their products do not change.
            order = torch.cat([torch.arange(0, self.key, 2), torch.arange(1, self.key, 2)])
            q = q.view(self.heads, self.key, -1)[:, order].flatten(0, 1)
            k = k.view(self.kv_heads, self.key, -1)[:, order].flatten(0, 1)
        self.qkv = nn.Linear(q.shape[1], len(q) + len(k) + len(v), bias=False)
        self.qkv.weight.data = torch.cat([q, k, v])
        self.frequencies = None if frequencies is None else nn.Parameter(frequencies)
        self.tables: dict[tuple[Any, ...], tuple[torch.Tensor, torch.Tensor]] = {}
        self.turns: dict[tuple[int, int], tuple[torch.Tensor, torch.Tensor]] = {}

    def _table(self, board: Board, device: torch.device, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the cosines and the signed sines of the rotations (points, heads of queries and keys, channels)."""
        at = board.rows, board.columns, device, dtype
        if at not in self.tables:
            assert self.frequencies is not None
            frequencies = self.frequencies.detach().double().cpu()
            y, x = torch.meshgrid(
                torch.arange(board.rows, dtype=torch.float64),
                torch.arange(board.columns, dtype=torch.float64),
                indexing="ij",
            )
            angle = x.reshape(-1, 1, 1) * frequencies[..., 0] + y.reshape(-1, 1, 1) * frequencies[..., 1]
            self.turns[board.rows, board.columns] = angle.cos().float().contiguous(), angle.sin().float().contiguous()
            queries = angle.repeat_interleave(self.heads // self.kv_heads, dim=1)
            angle = torch.cat([queries, angle], dim=1)
            cos = torch.cat([angle.cos(), angle.cos()], dim=-1)
            sin = torch.cat([-angle.sin(), angle.sin()], dim=-1)
            self.tables[at] = tuple(part.to(device, dtype).contiguous() for part in (cos, sin))
        return self.tables[at]

    def forward(self, x: torch.Tensor, board: Board) -> torch.Tensor:
        count, points, _ = x.shape
        qkv = self.qkv(_rms(x, self.epsilon))
        if fast.is_fast_transformer(qkv, multiples=(self.value,)):
            turns = None, None
            if self.frequencies is not None:
                self._table(board, x.device, x.dtype)
                turns = self.turns[board.rows, board.columns]
            return x + self.out(fast.attention(qkv, self.heads, self.kv_heads, self.key, self.value, *turns))
        turning = (self.heads + self.kv_heads) * self.key
        both = qkv[..., :turning].reshape(count, points, self.heads + self.kv_heads, self.key)
        if self.frequencies is not None:
            cos, sin = self._table(board, x.device, x.dtype)
            half = self.key // 2
            swapped = torch.cat([both[..., half:], both[..., :half]], dim=-1)
            both = torch.addcmul(both * cos, swapped, sin)
        both = both.transpose(1, 2)
        value = qkv[..., turning:].reshape(count, points, self.kv_heads, self.value).transpose(1, 2)
        q, k = both[:, : self.heads], both[:, self.heads :]
        if self.heads != self.kv_heads:
            k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
            value = value.repeat_interleave(self.heads // self.kv_heads, dim=1)
        found = F.scaled_dot_product_attention(q, k, value)
        return x + self.out(found.transpose(1, 2).reshape(count, points, -1))


class _FeedForward(nn.Module):
    """SwiGLU (Shazeer 2020), without the units whose output is always 0."""

    def __init__(self, words: _Reader) -> None:
        super().__init__()
        words.number(), words.number()
        if words.number() != 1:
            raise FormatError("a feed-forward layer without a gate is not supported: the file lacks its activation")
        scale, self.epsilon = words.rms_weight()
        first, gate, last = (_tensor(words.matrix()) for _ in range(3))
        alive = (first.abs().amax(1) > 0) & (gate.abs().amax(1) > 0) & (last.abs().amax(0) > 0)
        # Units without effect are kept to fill up to a multiple of 16, the width of a vector.
        order = torch.argsort(alive.int(), descending=True, stable=True)
        keep = order[: max(16, -(-int(alive.sum()) // 16) * 16)].sort().values
        self.both = nn.Linear(first.shape[1], 2 * len(keep), bias=False)
        self.both.weight.data = torch.cat([first[keep], gate[keep]]) * scale
        self.last = nn.Linear(len(keep), len(last), bias=False)
        self.last.weight.data = last[:, keep].contiguous()

    def forward(self, x: torch.Tensor, board: Board) -> torch.Tensor:
        both = self.both(_rms(x, self.epsilon))
        if fast.is_fast_transformer(both, multiples=(both.shape[-1] // 2,)):
            return x + self.last(fast.gate(both))
        inner, gate = both.chunk(2, dim=-1)
        return x + self.last(F.silu(inner) * gate)


class _RmsTip(nn.Module):
    """The norm after the last block, over the channels of a point or over a whole position."""

    def __init__(self, words: _Reader) -> None:
        super().__init__()
        words.word()
        channels, self.epsilon = words.number(), float(words.word())
        self.whole = words.number() == 1
        words.zeros(1, "groups of channels")
        scale, bias = words.floats(channels), words.floats(channels)
        self.scale, self.bias = nn.Parameter(_tensor(scale)), nn.Parameter(_tensor(bias))
        self.activation = words.activation_function()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        mean = wide.square().mean(dim=(1, 2) if self.whole else 2, keepdim=True)
        normed = (wide * torch.rsqrt(mean + self.epsilon)).to(x.dtype)
        return self.activation(torch.addcmul(self.bias, normed, self.scale))


class TeacherAnswer(Answer):
    """`model.Answer` with the version and the multipliers of a network file."""

    def __init__(
        self,
        policy: torch.Tensor,
        optimistic: torch.Tensor | None,
        value: torch.Tensor,
        score: torch.Tensor,
        errors: torch.Tensor | None,
        ownership: torch.Tensor,
        version: int,
        multipliers: tuple[float, ...],
    ) -> None:
        super().__init__(policy, value, score, ownership, errors, optimistic)
        self.version, self.multipliers = version, multipliers

    def score_mean(self) -> torch.Tensor:
        return self.score[:, 0] * self.multipliers[0]

    def score_spread(self) -> torch.Tensor:
        return F.softplus(self.score[:, 1]) * self.multipliers[1]

    def lead(self) -> torch.Tensor:
        return self.score[:, 2] * self.multipliers[2]

    def variance_time(self) -> torch.Tensor:
        return F.softplus(self.score[:, 3]) * self.multipliers[3]

    def expected_errors(self) -> torch.Tensor | None:
        if self.errors is None:
            return None
        scales = torch.tensor(self.multipliers[4:], device=self.errors.device)
        if self.version >= 14:
            return F.softplus(self.errors * 0.5) * scales.sqrt()
        if self.version >= 10:
            return (F.softplus(self.errors) * scales).sqrt()
        return F.softplus(self.errors) * torch.tensor([1.0, 10.0], device=self.errors.device)


class Teacher(nn.Module):
    """Network for inference. `read` returns it."""

    def __init__(self, words: _Reader) -> None:
        super().__init__()
        self.name, self.version = words.word(), words.number()
        words.version = version = self.version
        if not OLDEST <= version <= NEWEST:
            raise FormatError(f"version {version} is not supported, only {OLDEST} to {NEWEST}")
        if (words.number(), words.number()) != (SPATIAL_FEATURES, GLOBAL_FEATURES):
            raise FormatError("the network has other input features")
        self.multipliers: tuple[float, ...] = _MULTIPLIERS
        if version >= 13:
            self.multipliers = tuple(float(words.word()) for _ in range(7))[1:]
        if version >= 15:
            words.zeros(1, "an encoder of player metadata of version")
            words.zeros(7, "an option of the network with value")
        words.word()
        blocks = words.number()
        for _ in range(5):
            words.number()
        tip = words.number() if version >= 15 else 0
        if version >= 15:
            words.zeros(5, "an option of the trunk with value")
        if tip not in (0, 1):
            raise FormatError(f"a last norm of kind {tip} is not supported")
        self.conv1, self.from_global = words.convolution(), words.linear()
        self.blocks = words.blocks(blocks, 1)
        self.tip = _RmsTip(words) if tip else words.norm_act()
        words.word()
        channels = 1 if version < 12 else 4 if version == 16 else 2
        if version >= 17:
            channels = words.number()
            words.zeros(3, "an option of the policy with value")
        self.p1, self.g1, self.g1_norm, self.from_g1 = (
            words.convolution(), words.convolution(), words.norm_act(), words.linear(),
        )  # fmt: skip
        self.p1_norm, self.p2 = words.norm_act(), words.convolution()
        if version >= 15:
            self.policy_pass = words.linear_bias()
            self.pass_activation, self.pass_last = words.activation_function(), words.linear()
        else:
            self.policy_pass, self.pass_last = words.linear(), None
        if self.p2.weight.shape[0] != channels:
            raise FormatError("the number of policies does not match the version")
        words.word()
        if version >= 17:
            words.zeros(3, "an option of the value with value")
        self.v1, self.v1_norm = words.convolution(), words.norm_act()
        self.v2, self.v2_activation = words.linear_bias(), words.activation_function()
        self.v3, self.scores, self.ownership = words.linear_bias(), words.linear_bias(), words.convolution()
        if self.scores.out_features != (4 if version < 9 else 6):
            raise FormatError("the number of score outputs does not match the version")
        if words.data[words.at :].strip():
            raise FormatError("data follows the network in the file")

    @property
    def dtype(self) -> torch.dtype:
        """Returns the precision of the weights."""
        return self.from_global.weight.dtype

    def forward(self, spatial: torch.Tensor, globals_: torch.Tensor) -> TeacherAnswer:
        """Computes the outputs in f32, for `spatial` (n, 22, height, width) and `globals_` (n, 19) on the weights'
        device."""
        count, _, rows, columns = spatial.shape
        board = Board(rows, columns)
        points = spatial.permute(0, 2, 3, 1).reshape(count, rows * columns, -1).to(self.dtype)
        x = _apply(self.conv1, points, board) + self.from_global(globals_.to(self.dtype))[:, None]
        for block in self.blocks:
            x = block(x, board)
        return self.answer(x, board)

    def answer(self, x: torch.Tensor, board: Board) -> TeacherAnswer:
        """Returns the outputs, given the output of the last block (n, points, channels)."""
        x = self.tip(x)
        pooled = board.pool(self.g1_norm(_apply(self.g1, x, board)))
        policy = self.p1_norm(_apply(self.p1, x, board) + self.from_g1(pooled)[:, None])
        policy = _apply(self.p2, policy, board)
        passing = self.policy_pass(pooled)
        if self.pass_last is not None:
            passing = self.pass_last(self.pass_activation(passing))
        policy = torch.cat([policy, passing[:, None]], dim=1).float()
        value = self.v1_norm(_apply(self.v1, x, board))
        hidden = self.v2_activation(self.v2(board.value_pool(value)))
        scores = self.scores(hidden).float()
        return TeacherAnswer(
            policy[..., 0],
            policy[..., 1] if policy.shape[2] > 1 else None,
            self.v3(hidden).float(),
            scores[:, :4],
            scores[:, 4:] if scores.shape[1] > 4 else None,
            _apply(self.ownership, value, board)[..., 0].float(),
            self.version,
            self.multipliers,
        )


class ProgramTeacher:
    """Network that the program `kosumi net answer` computes, faster than PyTorch on a CPU, or on a graphics card. It
    can be called like a `Teacher`."""

    def __init__(self, kosumi: str | Path, path: str | Path, precision: str = "auto", device: str = "cpu") -> None:
        known = read(path)
        self.version, self.multipliers = known.version, known.multipliers
        self.command = [str(kosumi), "net", "answer", str(path), "--precision", precision, "--device", device]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout

    def __call__(self, spatial: torch.Tensor, globals_: torch.Tensor) -> TeacherAnswer:
        """Computes the outputs for `spatial` (n, 22, height, width), whose numbers are 0 or 1, and `globals_` (n, 19).
        Raises `OSError` if the program has ended."""
        count, features, rows, columns = spatial.shape
        area = rows * columns
        planes = np.packbits(spatial.reshape(count, features, area).numpy().astype(np.uint8), axis=2)
        request = np.concatenate([planes.reshape(count, -1), globals_.numpy().astype("<f4").view(np.uint8)], axis=1)
        width = 3 * area + 11
        # The program writes while it reads. A request that does not fit into the pipes must therefore be written in
        # another thread.
        writing = threading.Thread(
            target=self._write, args=(np.array([columns, rows, count], "<u4").tobytes() + request.tobytes(),)
        )
        writing.start()
        answer = self._stdout.read(4 * width * count)
        writing.join()
        if len(answer) < 4 * width * count:
            raise OSError(f"{' '.join(self.command)} ended with exit code {self.process.wait()}")
        numbers = torch.from_numpy(np.frombuffer(answer, "<f4").reshape(count, width).copy())
        policy, optimistic, value, score, errors, ownership = numbers.split([area + 1, area + 1, 3, 4, 2, area], dim=1)
        return TeacherAnswer(
            policy,
            None if optimistic.isnan().any() else optimistic,
            value,
            score,
            None if errors.isnan().any() else errors,
            ownership,
            self.version,
            self.multipliers,
        )

    def _write(self, request: bytes) -> None:
        try:
            self._stdin.write(request)
            self._stdin.flush()
        except BrokenPipeError:
            pass  # The response is then too short, which `__call__` reports.

    def cpu_seconds(self) -> float:
        """Returns the CPU seconds of the program so far, or 0 where the system does not report them."""
        try:
            times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        except OSError:
            return 0.0
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Ends the program."""
        self._stdin.close()
        self._stdout.close()
        self.process.wait()


def parse(data: bytes) -> tuple[Teacher, list[tuple[int, int]]]:
    """Returns the network that uncompressed bytes contain, with the offset and length of each of its arrays. Raises
    `FormatError` if the network is not supported."""
    words = _Reader(data)
    try:
        return Teacher(words).eval().requires_grad_(False), words.arrays
    except (RuntimeError, ValueError, MemoryError) as error:
        raise FormatError(str(error)) from error


def read(path: str | Path) -> Teacher:
    """Returns the network in a file, compressed or not.

    # Errors

    Raises `FormatError` if the file is not a supported network, or `OSError`.
    """
    return parse(Words.unpacked(path))[0]
