"""KataGo's network files. Versions 8 to 12 and 15 are read into `model.Network`. Versions 12 and 15 are written.

Networks with transformer blocks have version 15. `teacher.py` reads all versions up to 17 for inference.

Version 9 added short-term errors, version 10 their current meaning, and version 11 names of activations (here ReLU, and
SiLU in the bottlenecks of transformers). Version 12 added a second policy, and version 15 transformers and another
layer for the pass. A network of an older version gets new error outputs, and its policy twice.

A file is a gzip stream of words separated by white space. `@BIN@` precedes an array of little-endian f32s. Kosumi adds
two other forms: `@F16@` precedes f16s (in folders of the `gpu` command), and `@STEP@` precedes a little-endian f32 and
signed bytes, by which this number is multiplied (in compact files, see `compact.py`). KataGo does not read these forms.
Convolutions are stored as [y][x][in][out], matrices as [in][out].
"""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from .model import (
    ERROR_SCALES,
    GLOBAL_FEATURES,
    SCORE_SCALE,
    SMOOTH_ERROR_SCALES,
    SPATIAL_FEATURES,
    TIME_SCALE,
    AttentionBlock,
    FeedForwardBlock,
    NestedBlock,
    Network,
    Norm,
    PoolingBlock,
    RmsNorm,
    Shape,
)

VERSION, TRANSFORMERS = 12, 15
RELU, SILU, IDENTITY = "ACTIVATION_RELU", "ACTIVATION_SILU", "ACTIVATION_IDENTITY"
# Multipliers of the TD score (not used here), of the score's mean and spread, of the lead, and of the variance time.
# Those of the two errors follow in the file.
MULTIPLIERS = (SCORE_SCALE, SCORE_SCALE, SCORE_SCALE, SCORE_SCALE, TIME_SCALE)


class FormatError(Exception):
    """Raised for a file that is not a supported network."""


class Words:
    """A reader of a file's words, and of the arrays between them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        # Whether a kind follows the name of an activation, as it does from version 11 on.
        self.has_kinds = False
        # Of each array read so far: the offset of its mark, such as `@BIN@`, and the number of elements.
        self.arrays: list[tuple[int, int]] = []

    @staticmethod
    def unpacked(path: str | Path) -> bytes:
        """Returns the uncompressed bytes of a file, which may be compressed by gzip or xz."""
        data = Path(path).read_bytes()
        try:
            if data[:2] == b"\x1f\x8b":
                return gzip.decompress(data)
            return lzma.decompress(data) if data[:6] == b"\xfd7zXZ\0" else data
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise FormatError(f"the compressed file is damaged: {error}") from error

    def word(self) -> str:
        """Returns the next word."""
        data, at = self.data, self.at
        while at < len(data) and data[at] <= 32:
            at += 1
        end = at
        while end < len(data) and data[end] > 32:
            end += 1
        if end == at:
            raise FormatError("the file ends too early")
        self.at = end
        return data[at:end].decode("ascii", "replace")

    def number(self) -> int:
        """Returns the next word as an integer."""
        return self._parsed(int)

    def real(self) -> float:
        """Returns the next word as a real number."""
        return self._parsed(float)

    def _parsed(self, kind: Callable[[str], Any]) -> Any:
        word = self.word()
        try:
            return kind(word)
        except ValueError as error:
            raise FormatError(f"{word!r} in place of a number") from error

    def floats(self, count: int) -> np.ndarray:
        """Returns the next array, in any of its forms."""
        data, at = self.data, self.at
        while at < len(data) and data[at] <= 32:
            at += 1
        if data[at : at + 6] == b"@STEP@":
            self.at = at + 10 + count
            if count < 0 or self.at > len(data):
                raise FormatError("the file ends inside an array")
            step = np.frombuffer(data, "<f4", 1, at + 6)
            return step * np.frombuffer(data, np.int8, count, at + 10).astype(np.float32)
        kind = {b"@BIN@": "<f4", b"@F16@": "<f2"}.get(data[at : at + 5])
        if kind is None:
            self.at = at
            return np.array([float(self.word()) for _ in range(count)], np.float32)
        self.arrays.append((at, count))
        self.at = at + 5 + np.dtype(kind).itemsize * count
        if count < 0 or self.at > len(data):
            raise FormatError("the file ends inside an array")
        return np.frombuffer(data, kind, count, at + 5).astype(np.float32)

    def conv(self) -> np.ndarray:
        """Returns the weights of a convolution in PyTorch's order [out][in][y][x]."""
        self.word()
        height, width, inputs, outputs, dilation_y, dilation_x = (self.number() for _ in range(6))
        if (dilation_y, dilation_x) != (1, 1):
            raise FormatError("dilated convolutions are not supported")
        weights = self.floats(height * width * inputs * outputs)
        return weights.reshape(height, width, inputs, outputs).transpose(3, 2, 0, 1).copy()

    def matrix(self) -> np.ndarray:
        """Returns the weights of a matrix in PyTorch's order [out][in]."""
        self.word()
        inputs, outputs = self.number(), self.number()
        return self.floats(inputs * outputs).reshape(inputs, outputs).T.copy()

    def bias(self) -> np.ndarray:
        """Returns the biases of a layer."""
        self.word()
        return self.floats(self.number())

    def scale_bias(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the scale and the bias that are equivalent to a batch normalisation. The activation follows in the
        file."""
        self.word()
        channels, epsilon, has_scale, has_bias = self.number(), float(self.word()), self.number(), self.number()
        mean, variance = self.floats(channels), self.floats(channels)
        scale = self.floats(channels) if has_scale else np.ones(channels, np.float32)
        bias = self.floats(channels) if has_bias else np.zeros(channels, np.float32)
        scale = scale / np.sqrt(variance + epsilon)
        return scale.astype(np.float32), (bias - mean * scale).astype(np.float32)

    def norm(self, activation: str = RELU) -> tuple[np.ndarray, np.ndarray]:
        """Returns the result of `scale_bias`, and checks the activation that follows in the file."""
        found = self.scale_bias()
        self.relu(activation)
        return found

    def norm_and_kind(self) -> tuple[np.ndarray, np.ndarray, str]:
        """Returns the result of `scale_bias`, and the activation that follows in the file: ReLU or SiLU."""
        found = self.scale_bias()
        return *found, self.activation(RELU, SILU)

    def relu(self, wanted: str = RELU) -> None:
        """Checks the kind of an activation. It is ReLU unless `wanted` names another one."""
        self.activation(wanted)

    def activation(self, *wanted: str) -> str:
        """Returns the kind of an activation, which must be one of `wanted`."""
        self.word()
        kind = self.word() if self.has_kinds else RELU
        if kind not in wanted:
            raise FormatError(f"activation {kind} cannot be trained here, only {' or '.join(wanted)}")
        return kind

    def expect(self, *wanted: float) -> None:
        """Checks that the next numbers are `wanted`."""
        for number in wanted:
            if (found := self.real()) != number:
                raise FormatError(f"{found} where only {number} can be trained here")

    def rms(self) -> np.ndarray:
        """Returns the scale of a transformer's norm."""
        self.word()
        channels = self.number()
        self.expect(RmsNorm.EPSILON)
        return self.floats(channels)


def _set(target: nn.Parameter, values: np.ndarray) -> None:
    if tuple(target.shape) != values.shape:
        raise FormatError(f"an array of shape {values.shape} in place of {tuple(target.shape)}")
    target.data.copy_(torch.from_numpy(values))


def _set_norm(norm: Norm, folded: tuple[np.ndarray, np.ndarray]) -> None:
    scale, bias = folded
    if norm.scale is None and not np.allclose(scale, 1.0, atol=1e-6):
        norm.scale = nn.Parameter(torch.ones(len(scale)))
    if norm.scale is not None:
        _set(norm.scale, scale)
    _set(norm.bias, bias)


def _pairs_apart(width: int) -> np.ndarray:
    """Returns, for each channel of a head in the order of `model.py`, its position in the file."""
    return np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])


def _read_attention(words: Words) -> dict[str, Any]:
    heads, key_heads, key, value, rotates, learns = (words.number() for _ in range(6))
    if heads != key_heads or key != value or key % 2 or not (rotates and learns) or not 0 < heads * key <= 4096:
        raise FormatError("attention of a kind that cannot be trained here")
    part: dict[str, Any] = {"norm": words.rms(), "q": words.matrix(), "k": words.matrix(), "v": words.matrix()}
    for name in ("q", "k"):
        if len(part[name]) != heads * key:
            raise FormatError("the numbers and widths of attention heads do not match")
        part[name] = part[name].reshape(heads, key, -1)[:, _pairs_apart(key)].reshape(heads * key, -1)
    part["out"] = words.matrix()
    words.word()
    words.expect(heads, key // 2, 2)
    return part | {"frequencies": words.floats(heads * key).reshape(heads, key // 2, 2)}


def _read_block(words: Words, nested: bool = False) -> dict[str, Any]:
    """Returns the layers of a block by their names in `model.py`."""
    kind = words.word()
    words.word()
    if kind == "transformer_attention_block":
        return _read_attention(words)
    if kind == "transformer_ffn_block":
        words.number(), words.number()
        words.expect(1)
        return {"norm": words.rms(), "first": words.matrix(), "gate": words.matrix(), "last": words.matrix()}
    if kind == "nested_bottleneck_block" and not nested:
        count = words.number()
        if not 0 < count <= 64:
            raise FormatError(f"{count} blocks inside a block")
        *norm1, kind = words.norm_and_kind()
        part: dict[str, Any] = {"norm1": tuple(norm1), "conv1": words.conv()}
        part["blocks"] = [_read_block(words, nested=True) for _ in range(count)]
        *norm2, kind2 = words.norm_and_kind()
        if kind != kind2:
            raise FormatError("a bottleneck with two activations cannot be trained here")
        return part | {"silu": kind == SILU, "norm2": tuple(norm2), "conv2": words.conv()}
    else:
        part = {"norm1": words.norm(), "conv1": words.conv()}
        if kind == "gpool_block":
            part |= {"conv_pooled": words.conv(), "norm_pooled": words.norm(), "from_pool": words.matrix()}
        elif kind != "ordinary_block":
            raise FormatError(f"blocks of kind {kind} are not supported")
    return part | {"norm2": words.norm(), "conv2": words.conv()}


def _fill(owner: nn.Module, found: dict[str, Any]) -> None:
    """Copies the arrays of a file into a module's layers."""
    for key, values in found.items():
        layer = getattr(owner, key)
        if key == "silu":
            if layer != values:
                raise FormatError("bottlenecks have different activations")
            continue
        if key == "blocks":
            if len(layer) != len(values):
                raise FormatError("blocks have different numbers of inner blocks")
            for block, parts in zip(layer, values):
                _fill(block, parts)
        elif isinstance(layer, Norm):
            _set_norm(layer, values)
        elif isinstance(layer, RmsNorm):
            scale, *bias = values if isinstance(values, tuple) else (values,)
            _set(layer.scale, scale)
            for numbers in bias:
                _set(layer.bias, numbers)
        elif isinstance(layer, nn.Parameter):
            _set(layer, values)
        else:
            _set(layer.weight, values)


def read(path: str | Path) -> tuple[str, Network]:
    """Returns the name and the network of a file.

    # Errors

    Raises `FormatError` if the file is not a network that can be trained here, or `OSError`.
    """
    words = Words(Words.unpacked(path))
    name, version = words.word(), words.number()
    if not 8 <= version <= VERSION and version != TRANSFORMERS:
        raise FormatError(f"version {version} is not supported, only 8 to {VERSION} and {TRANSFORMERS}")
    words.has_kinds = version >= 11
    if (words.number(), words.number()) != (SPATIAL_FEATURES, GLOBAL_FEATURES):
        raise FormatError("the network has other input features")
    if version == TRANSFORMERS:
        words.expect(*MULTIPLIERS)
        error_scales = words.real(), words.real()
        words.expect(*[0] * 8)
    words.word()
    blocks, channels, middle, _, _, pooled = (words.number() for _ in range(6))
    is_smooth = False
    if version == TRANSFORMERS:
        # The last norm is an RMS norm (kind 1), and five options are off.
        words.expect(1, *[0] * 5)
    # The kinds of the blocks are known only after they are read, so the network is built from the arrays afterwards.
    parts: dict[str, Any] = {"conv1": words.conv(), "from_global": words.matrix()}
    block_parts = [_read_block(words) for _ in range(blocks)]
    nested = max((len(part.get("blocks", [])) for part in block_parts), default=0)
    if any(len(part.get("blocks", [])) != nested for part in block_parts):
        raise FormatError("blocks have different numbers of inner blocks")
    if version == TRANSFORMERS:
        words.word()
        words.expect(channels, RmsNorm.EPSILON)
        is_smooth = words.number() == 1
        words.expect(0)
        parts["trunk_norm"] = words.floats(channels), words.floats(channels)
        activation = SILU if is_smooth else RELU
        words.relu(activation)
    else:
        parts["trunk_norm"] = words.norm()
        activation = RELU
    words.word()
    parts |= {"p1": words.conv(), "g1": words.conv(), "g1_norm": words.norm(activation), "from_g1": words.matrix()}
    parts |= {"p1_norm": words.norm(activation), "p2": words.conv(), "policy_pass": words.matrix()}
    biases: dict[str, np.ndarray] = {}
    if is_smooth:
        biases["policy_pass"] = words.bias()
        words.relu(SILU)
        parts["pass_last"] = words.matrix()
    elif version == TRANSFORMERS:
        if words.bias().any():
            raise FormatError("a pass with a bias cannot be trained here")
        words.relu(IDENTITY)
        parts["policy_pass"] = words.matrix() @ parts["policy_pass"]
    if version < 12:
        for name_ in ("p2", "policy_pass"):
            parts[name_] = np.concatenate([parts[name_], parts[name_]])
    words.word()
    parts |= {"v1": words.conv(), "v1_norm": words.norm(activation)}
    hidden = [words.matrix(), words.bias()]
    words.relu(activation)
    last = [words.matrix(), words.bias(), words.matrix(), words.bias()]
    if version < 10:
        # Initial errors of about 0.1 in value and 1.5 points in score, for all positions.
        last[2] = np.concatenate([last[2][:4], np.zeros((2, last[2].shape[1]), np.float32)])
        last[3] = np.concatenate([last[3][:4], np.array([-3.0, -2.5], np.float32)])
    parts["ownership"] = words.conv()

    first = parts["conv1"].shape[2]
    widths = parts["p1"].shape[0], parts["v1"].shape[0], len(hidden[1])
    layers = [layer for part in block_parts for layer in part.get("blocks", [part])]
    heads = max((len(layer["frequencies"]) for layer in layers if "frequencies" in layer), default=0)
    units = max((len(layer["first"]) for layer in layers if "first" in layer), default=0)
    if (heads > 0) != (version == TRANSFORMERS) or (heads and len(layers) % 2):
        raise FormatError("blocks of a kind that cannot be trained here")
    if version == TRANSFORMERS:
        # Attention and the feed-forward block after it count as one block.
        blocks, nested = (blocks, nested // 2) if nested else (blocks // 2, 0)
    gpool = tuple(
        index
        for index, part in enumerate(part for part in block_parts if "conv1" in part)
        if "conv_pooled" in part.get("blocks", [part])[0]
    )
    silu = any(part.get("silu") for part in block_parts)
    if silu and version != TRANSFORMERS:
        raise FormatError(f"activation {SILU} outside transformers cannot be trained here")
    shape = Shape(channels, blocks, first, gpool, middle, pooled, *widths, nested, heads, units, silu, is_smooth)
    if version == TRANSFORMERS and error_scales != (SMOOTH_ERROR_SCALES if is_smooth else ERROR_SCALES):
        raise FormatError(f"error scales {error_scales} cannot be trained here")
    try:
        network = Network(shape)
        _fill(network, parts | {"blocks": block_parts})
    except (AttributeError, RuntimeError) as error:
        raise FormatError(f"the network does not match its shape: {error}") from error
    for layer, weight, bias in [
        (network.v2, *hidden),
        (network.v3, *last[:2]),
        (network.score, *last[2:]),
    ]:
        _set(layer.weight, weight)
        _set(layer.bias, bias)
    for layer_name, bias in biases.items():
        _set(getattr(network, layer_name).bias, bias)
    return name, network


def rounded(values: np.ndarray, bits: int) -> np.ndarray:
    """Returns f32s rounded to this number of mantissa bits. The other bits are 0, so the result compresses better."""
    drop = 23 - bits
    if drop <= 0:
        return values
    words = np.ascontiguousarray(values, "<f4").view("<u4").astype(np.uint64)
    words = (words + (1 << (drop - 1))) >> np.uint64(drop) << np.uint64(drop)
    return words.astype("<u4").view("<f4")


class _Writer:
    def __init__(self, bits: int = 23, steps: dict[nn.Parameter, float] | None = None) -> None:
        self.parts: list[bytes] = []
        self.bits = bits
        self.steps = steps or {}

    def words(self, *words: object) -> None:
        self.parts.append("".join(f"{word}\n" for word in words).encode("ascii"))

    def floats(self, values: np.ndarray) -> None:
        values = rounded(np.ascontiguousarray(values, "<f4"), self.bits)
        if not np.isfinite(values).all():
            raise FormatError("a weight is not finite")
        self.parts += [b"@BIN@", values.tobytes(), b"\n"]

    def weights(self, values: np.ndarray, weight: nn.Parameter) -> None:
        """Writes a weight in the order of the file: as multiples of its step if it has one, otherwise as f32s."""
        step = self.steps.get(weight)
        if step is None:
            return self.floats(values)
        step = np.float32(step)
        multiples = np.rint(values / step)
        if np.abs(multiples).max() > 127 or not np.allclose(multiples * step, values, rtol=1e-5, atol=1e-5 * step):
            raise FormatError("weights are not multiples of their step, from -127 to 127")
        data = np.ascontiguousarray(multiples, np.int8).tobytes()
        self.parts += [b"@STEP@", step.astype("<f4").tobytes(), data, b"\n"]

    def conv(self, name: str, layer: nn.Conv2d) -> None:
        weight = layer.weight.detach().float().cpu().numpy()
        outputs, inputs, height, width = weight.shape
        self.words(name, height, width, inputs, outputs, 1, 1)
        self.weights(weight.transpose(2, 3, 1, 0), layer.weight)

    def matrix(self, name: str, layer: nn.Linear) -> None:
        weight = layer.weight.detach().float().cpu().numpy()
        self.words(name, weight.shape[1], weight.shape[0])
        self.weights(weight.T, layer.weight)

    def bias(self, name: str, layer: nn.Linear) -> None:
        self.words(name, len(layer.bias))
        self.floats(layer.bias.detach().float().cpu().numpy())

    def norm(self, prefix: str, number: str, norm: Norm, activation: str = RELU) -> None:
        channels = len(norm.bias)
        self.words(f"{prefix}/norm{number}", channels, "1e-20", int(norm.scale is not None), 1)
        self.floats(np.zeros(channels))
        self.floats(np.ones(channels))
        for values in (norm.scale, norm.bias):
            if values is not None:
                self.floats(values.detach().float().cpu().numpy())
        self.words(f"{prefix}/actv{number}", activation)

    def parameter(self, values: torch.Tensor) -> None:
        self.floats(values.detach().float().cpu().numpy())

    def rms(self, name: str, norm: RmsNorm) -> None:
        self.words(name, len(norm.scale), RmsNorm.EPSILON)
        self.parameter(norm.scale)

    def turned(self, name: str, layer: nn.Linear, heads: int) -> None:
        """Writes a matrix whose outputs are rotated in pairs, with the channels of a pair side by side."""
        weight = layer.weight.detach().float().cpu().numpy()
        outputs, inputs = weight.shape
        side_by_side = np.argsort(_pairs_apart(outputs // heads))
        weight = weight.reshape(heads, -1, inputs)[:, side_by_side].reshape(outputs, inputs)
        self.words(name, inputs, outputs)
        self.weights(weight.T, layer.weight)

    def attention(self, own: str, block: AttentionBlock) -> None:
        heads, width = block.heads, len(block.q.weight) // block.heads
        self.words("transformer_attention_block", own, heads, heads, width, width, 1, 1)
        self.rms(f"{own}/norm", block.norm)
        self.turned(f"{own}/q", block.q, heads)
        self.turned(f"{own}/k", block.k, heads)
        self.matrix(f"{own}/v", block.v)
        self.matrix(f"{own}/out", block.out)
        self.words(f"{own}/rope_freqs", *block.frequencies.shape)
        self.parameter(block.frequencies)

    def feed_forward(self, own: str, block: FeedForwardBlock) -> None:
        hidden, channels = block.first.weight.shape
        self.words("transformer_ffn_block", own, channels, hidden, 1)
        self.rms(f"{own}/norm", block.norm)
        self.matrix(f"{own}/first", block.first)
        self.matrix(f"{own}/gate", block.gate)
        self.matrix(f"{own}/last", block.last)

    def block(self, own: str, block: nn.Module) -> None:
        activation = SILU if isinstance(block, NestedBlock) and block.silu else RELU
        if isinstance(block, AttentionBlock):
            return self.attention(own, block)
        if isinstance(block, FeedForwardBlock):
            return self.feed_forward(own, block)
        if isinstance(block, NestedBlock):
            self.words("nested_bottleneck_block", own, len(block.blocks))
            self.norm(own, "1", block.norm1, activation)
            self.conv(f"{own}/w1", block.conv1)
            for index, inner in enumerate(block.blocks):
                self.block(f"{own}/{index + 1}", inner)
        else:
            pools = isinstance(block, PoolingBlock)
            self.words("gpool_block" if pools else "ordinary_block", own)
            self.norm(own, "1", block.norm1)
            self.conv(f"{own}/w1a" if pools else f"{own}/w1", block.conv1)
            if pools:
                self.conv(f"{own}/w1b", block.conv_pooled)
                self.norm(own, "1b", block.norm_pooled)
                self.matrix(f"{own}/w1r", block.from_pool)
        self.norm(own, "2", block.norm2, activation)
        self.conv(f"{own}/w2", block.conv2)


def write(
    path: str | Path, name: str, network: Network, bits: int = 23, steps: dict[nn.Parameter, float] | None = None
) -> None:
    """Writes a network file in one step: readers of `path` see either the old file or the complete new one.

    With fewer `bits`, the numbers are rounded and the file is smaller (by about a third with 11 bits). Weights in
    `steps` must be multiples of their step from -127 to 127. They are written as bytes (a compact file).

    # Errors

    Raises `FormatError` if a weight is not finite or not a multiple of its step, or `OSError`.
    """
    shape = network.shape
    version = TRANSFORMERS if shape.heads else VERSION
    out = _Writer(bits, steps)
    out.words(name, version, SPATIAL_FEATURES, GLOBAL_FEATURES)
    if shape.heads:
        # There is no encoder of player metadata, and seven options are off.
        out.words(*MULTIPLIERS, *network.error_scales(), *[0] * 8)
    out.words("trunk", len(network.blocks), shape.channels)
    out.words(shape.middle, shape.middle - shape.pooled, shape.pooled, shape.pooled)
    if shape.heads:
        # The kind of the last norm. Five options are off.
        out.words(int(shape.is_transformer), *[0] * 5)
    activation = SILU if shape.smooth_heads else RELU
    out.conv("conv1", network.conv1)
    out.matrix("ginputw", network.from_global)
    for index, block in enumerate(network.blocks):
        out.block(f"rconv{index + 1}", block)
    if shape.is_transformer:
        # All channels form one group.
        out.words("trunk/norm", shape.channels, RmsNorm.EPSILON, int(shape.smooth_heads), 0)
        out.parameter(network.trunk_norm.scale)
        out.parameter(network.trunk_norm.bias)
        out.words("trunk/actv", activation)
    else:
        out.norm("trunk", "", network.trunk_norm)
    out.words("policyhead")
    out.conv("p1/w", network.p1)
    out.conv("g1/w", network.g1)
    out.norm("g1", "", network.g1_norm, activation)
    out.matrix("matmulg2w", network.from_g1)
    out.norm("p1", "", network.p1_norm, activation)
    out.conv("p2/w", network.p2)
    if shape.smooth_heads:
        out.matrix("matmulpass", network.policy_pass)
        out.bias("matmulpass/b", network.policy_pass)
        out.words("matmulpass/actv", SILU)
        out.matrix("matmulpass2", network.pass_last)
    elif shape.heads:
        # This format has another layer for the pass, as wide as the policy. An identity matrix passes its first outputs
        # on.
        rows = shape.policy - len(network.policy_pass.weight)
        wide = nn.functional.pad(network.policy_pass.weight.detach().float().cpu(), (0, 0, 0, rows)).numpy()
        out.words("matmulpass", wide.shape[1], wide.shape[0])
        out.floats(wide.T)
        out.words("matmulpass/b", shape.policy)
        out.floats(np.zeros(shape.policy))
        out.words("matmulpass/actv", IDENTITY, "matmulpass2", shape.policy, 2)
        out.floats(np.eye(shape.policy, 2))
    else:
        out.matrix("matmulpass", network.policy_pass)
    out.words("valuehead")
    out.conv("v1/w", network.v1)
    out.norm("v1", "", network.v1_norm, activation)
    out.matrix("v2/w", network.v2)
    out.bias("v2/b", network.v2)
    out.words("v2/actv", activation)
    out.matrix("v3/w", network.v3)
    out.bias("v3/b", network.v3)
    out.matrix("sv3/w", network.score)
    out.bias("sv3/b", network.score)
    out.conv("vownership/w", network.ownership)

    path = Path(path)
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        # The files have no time stamp, so that the same network gives the same bytes.
        if steps:
            # The bytes have a narrow distribution. A search for repetitions would find only chance matches, and make
            # the file larger by a seventh.
            packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS, 9, zlib.Z_HUFFMAN_ONLY)
            file.write(packer.compress(b"".join(out.parts)) + packer.flush())
        else:
            with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
                packed.write(b"".join(out.parts))
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
