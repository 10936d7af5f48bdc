"""KataGo's network files, versions 8 to 12: read into `model.Network`, and written from it as version 12.

Version 9 brought two numbers more, the short-term errors, version 10 their present meaning, version 11 names of the
activations (here only ReLU), version 12 a second policy. A network of an older version gets errors to be learnt, and its
policy twice. `teacher.py` reads newer files, to ask them.

A gzip stream of words separated by white space; `@BIN@` is followed by little-endian f32s (and, in files of our own that
only `gpu.py` makes, `@F16@` by f16s). Convolutions are stored as [y][x][in][out], matrices as [in][out].
"""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import nn

from model import GLOBAL_FEATURES, SPATIAL_FEATURES, NestedBlock, Network, Norm, PoolingBlock, Shape

VERSION = 12
RELU = "ACTIVATION_RELU"


class FormatError(Exception):
    """The file is not a network of this kind."""


class Words:
    """A file's words, and the arrays between them."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0
        # From version 11 on activations have a kind behind their name.
        self.has_kinds = False
        # Where the arrays read so far begin, with their mark, and their numbers of elements.
        self.arrays: list[tuple[int, int]] = []

    @staticmethod
    def unpacked(path: str | Path) -> bytes:
        """The bytes of a file, which may be packed by gzip or xz, or not at all."""
        data = Path(path).read_bytes()
        try:
            if data[:2] == b"\x1f\x8b":
                return gzip.decompress(data)
            return lzma.decompress(data) if data[:6] == b"\xfd7zXZ\0" else data
        except (EOFError, zlib.error, lzma.LZMAError) as error:
            raise FormatError(f"the packed file is broken: {error}") from error

    def word(self) -> str:
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
        return int(self.word())

    def floats(self, count: int) -> np.ndarray:
        data, at = self.data, self.at
        while at < len(data) and data[at] <= 32:
            at += 1
        kind = {b"@BIN@": "<f4", b"@F16@": "<f2"}.get(data[at : at + 5])
        if kind is None:
            self.at = at
            return np.array([float(self.word()) for _ in range(count)], np.float32)
        self.arrays.append((at, count))
        self.at = at + 5 + np.dtype(kind).itemsize * count
        if count < 0 or self.at > len(data):
            raise FormatError("the file ends within its numbers")
        return np.frombuffer(data, kind, count, at + 5).astype(np.float32)

    def conv(self) -> np.ndarray:
        """Weights as PyTorch has them: [out][in][y][x]."""
        self.word()
        height, width, inputs, outputs, dilation_y, dilation_x = (self.number() for _ in range(6))
        if (dilation_y, dilation_x) != (1, 1):
            raise FormatError("dilated convolutions are not supported")
        weights = self.floats(height * width * inputs * outputs)
        return weights.reshape(height, width, inputs, outputs).transpose(3, 2, 0, 1).copy()

    def matrix(self) -> np.ndarray:
        """Weights as PyTorch has them: [out][in]."""
        self.word()
        inputs, outputs = self.number(), self.number()
        return self.floats(inputs * outputs).reshape(inputs, outputs).T.copy()

    def bias(self) -> np.ndarray:
        self.word()
        return self.floats(self.number())

    def scale_bias(self) -> tuple[np.ndarray, np.ndarray]:
        """Scale and bias that the normalisation comes to. The activation follows in the file."""
        self.word()
        channels, epsilon, has_scale, has_bias = self.number(), float(self.word()), self.number(), self.number()
        mean, variance = self.floats(channels), self.floats(channels)
        scale = self.floats(channels) if has_scale else np.ones(channels, np.float32)
        bias = self.floats(channels) if has_bias else np.zeros(channels, np.float32)
        scale = scale / np.sqrt(variance + epsilon)
        return scale.astype(np.float32), (bias - mean * scale).astype(np.float32)

    def norm(self) -> tuple[np.ndarray, np.ndarray]:
        """`scale_bias`, with the activation behind it."""
        found = self.scale_bias()
        self.relu()
        return found

    def relu(self) -> None:
        """An activation's name and kind."""
        self.word()
        if self.has_kinds and (kind := self.word()) != RELU:
            raise FormatError(f"activation {kind}; only {RELU} can be learnt")


def _set(target: nn.Parameter, values: np.ndarray) -> None:
    if tuple(target.shape) != values.shape:
        raise FormatError(f"{values.shape} numbers where {tuple(target.shape)} belong")
    target.data.copy_(torch.from_numpy(values))


def _set_norm(norm: Norm, folded: tuple[np.ndarray, np.ndarray]) -> None:
    scale, bias = folded
    if norm.scale is None and not np.allclose(scale, 1.0, atol=1e-6):
        norm.scale = nn.Parameter(torch.ones(len(scale)))
    if norm.scale is not None:
        _set(norm.scale, scale)
    _set(norm.bias, bias)


def _read_block(words: Words, nested: bool = False) -> dict[str, object]:
    """The layers of a block by their names in `model.py`."""
    kind = words.word()
    words.word()
    if kind == "nested_bottleneck_block" and not nested:
        count = words.number()
        if not 0 < count <= 64:
            raise FormatError(f"{count} blocks within a block")
        part: dict[str, object] = {"norm1": words.norm(), "conv1": words.conv()}
        part["blocks"] = [_read_block(words, nested=True) for _ in range(count)]
    else:
        part = {"norm1": words.norm(), "conv1": words.conv()}
        if kind == "gpool_block":
            part |= {"conv_pooled": words.conv(), "norm_pooled": words.norm(), "from_pool": words.matrix()}
        elif kind != "ordinary_block":
            raise FormatError(f"blocks of the kind {kind} are not supported")
    return part | {"norm2": words.norm(), "conv2": words.conv()}


def _fill(owner: nn.Module, found: dict[str, object]) -> None:
    """Gives a module's layers what was read for them."""
    for key, values in found.items():
        layer = getattr(owner, key)
        if key == "blocks":
            if len(layer) != len(values):
                raise FormatError("blocks with different numbers of blocks inside")
            for block, parts in zip(layer, values):
                _fill(block, parts)
        elif isinstance(layer, Norm):
            _set_norm(layer, values)
        else:
            _set(layer.weight, values)


def read(path: str | Path) -> tuple[str, Network]:
    """Name and network of a file. Raises `FormatError` or `OSError`."""
    words = Words(Words.unpacked(path))
    name, version = words.word(), words.number()
    if not 8 <= version <= VERSION:
        raise FormatError(f"version {version}; 8 to {VERSION} are read")
    words.has_kinds = version >= 11
    if (words.number(), words.number()) != (SPATIAL_FEATURES, GLOBAL_FEATURES):
        raise FormatError("the network takes other inputs")
    words.word()
    blocks, channels, middle, _, _, pooled = (words.number() for _ in range(6))
    # The kinds of the blocks are known only as they come: the network is put together from what was read.
    parts: dict[str, object] = {"conv1": words.conv(), "from_global": words.matrix()}
    block_parts = [_read_block(words) for _ in range(blocks)]
    nested = max((len(part.get("blocks", [])) for part in block_parts), default=0)
    if any(len(part.get("blocks", [])) != nested for part in block_parts):
        raise FormatError("blocks with different numbers of blocks inside")
    parts["trunk_norm"] = words.norm()
    words.word()
    parts |= {"p1": words.conv(), "g1": words.conv(), "g1_norm": words.norm(), "from_g1": words.matrix()}
    parts |= {"p1_norm": words.norm(), "p2": words.conv(), "policy_pass": words.matrix()}
    if version < 12:
        for name_ in ("p2", "policy_pass"):
            parts[name_] = np.concatenate([parts[name_], parts[name_]])
    words.word()
    parts |= {"v1": words.conv(), "v1_norm": words.norm()}
    hidden = [words.matrix(), words.bias()]
    words.relu()
    last = [words.matrix(), words.bias(), words.matrix(), words.bias()]
    if version < 10:
        # Near 0.1 for the value, and a point and a half for the score, wherever: a beginning.
        last[2] = np.concatenate([last[2][:4], np.zeros((2, last[2].shape[1]), np.float32)])
        last[3] = np.concatenate([last[3][:4], np.array([-3.0, -2.5], np.float32)])
    parts["ownership"] = words.conv()

    gpool = tuple(i for i, part in enumerate(block_parts) if "conv_pooled" in part.get("blocks", [part])[0])
    first = parts["conv1"].shape[2]
    heads = parts["p1"].shape[0], parts["v1"].shape[0], len(hidden[1])
    shape = Shape(channels, blocks, first, gpool, middle, pooled, *heads, nested)
    network = Network(shape)
    try:
        _fill(network, parts | {"blocks": block_parts})
    except AttributeError as error:
        raise FormatError(f"a network of another kind: {error}") from error
    for layer, weight, bias in [
        (network.v2, *hidden),
        (network.v3, *last[:2]),
        (network.score, *last[2:]),
    ]:
        _set(layer.weight, weight)
        _set(layer.bias, bias)
    return name, network


def rounded(values: np.ndarray, bits: int) -> np.ndarray:
    """f32s with so many bits behind the leading one; the others are 0, which packs better."""
    drop = 23 - bits
    if drop <= 0:
        return values
    words = np.ascontiguousarray(values, "<f4").view("<u4").astype(np.uint64)
    words = (words + (1 << (drop - 1))) >> np.uint64(drop) << np.uint64(drop)
    return words.astype("<u4").view("<f4")


class _Writer:
    def __init__(self, bits: int = 23):
        self.parts: list[bytes] = []
        self.bits = bits

    def words(self, *words: object) -> None:
        self.parts.append("".join(f"{word}\n" for word in words).encode("ascii"))

    def floats(self, values: np.ndarray) -> None:
        values = rounded(np.ascontiguousarray(values, "<f4"), self.bits)
        if not np.isfinite(values).all():
            raise FormatError("a weight is not finite")
        self.parts += [b"@BIN@", values.tobytes(), b"\n"]

    def conv(self, name: str, layer: nn.Conv2d) -> None:
        weight = layer.weight.detach().float().cpu().numpy()
        outputs, inputs, height, width = weight.shape
        self.words(name, height, width, inputs, outputs, 1, 1)
        self.floats(weight.transpose(2, 3, 1, 0))

    def matrix(self, name: str, layer: nn.Linear) -> None:
        weight = layer.weight.detach().float().cpu().numpy()
        self.words(name, weight.shape[1], weight.shape[0])
        self.floats(weight.T)

    def bias(self, name: str, layer: nn.Linear) -> None:
        self.words(name, len(layer.bias))
        self.floats(layer.bias.detach().float().cpu().numpy())

    def norm(self, prefix: str, number: str, norm: Norm) -> None:
        channels = len(norm.bias)
        self.words(f"{prefix}/norm{number}", channels, "1e-20", int(norm.scale is not None), 1)
        self.floats(np.zeros(channels))
        self.floats(np.ones(channels))
        for values in (norm.scale, norm.bias):
            if values is not None:
                self.floats(values.detach().float().cpu().numpy())
        self.words(f"{prefix}/actv{number}", RELU)


    def block(self, own: str, block: nn.Module) -> None:
        if isinstance(block, NestedBlock):
            self.words("nested_bottleneck_block", own, len(block.blocks))
            self.norm(own, "1", block.norm1)
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
        self.norm(own, "2", block.norm2)
        self.conv(f"{own}/w2", block.conv2)


def write(path: str | Path, name: str, network: Network, bits: int = 23) -> None:
    """Writes the file in one step: whoever reads `path` sees the old file or the new one, whole. With fewer `bits`
    the numbers are rounded, and the file is smaller (11 bits: by a third or so)."""
    shape = network.shape
    out = _Writer(bits)
    out.words(name, VERSION, SPATIAL_FEATURES, GLOBAL_FEATURES, "trunk", shape.blocks, shape.channels)
    out.words(shape.middle, shape.middle - shape.pooled, shape.pooled, shape.pooled)
    out.conv("conv1", network.conv1)
    out.matrix("ginputw", network.from_global)
    for index, block in enumerate(network.blocks):
        out.block(f"rconv{index + 1}", block)
    out.norm("trunk", "", network.trunk_norm)
    out.words("policyhead")
    out.conv("p1/w", network.p1)
    out.conv("g1/w", network.g1)
    out.norm("g1", "", network.g1_norm)
    out.matrix("matmulg2w", network.from_g1)
    out.norm("p1", "", network.p1_norm)
    out.conv("p2/w", network.p2)
    out.matrix("matmulpass", network.policy_pass)
    out.words("valuehead")
    out.conv("v1/w", network.v1)
    out.norm("v1", "", network.v1_norm)
    out.matrix("v2/w", network.v2)
    out.bias("v2/b", network.v2)
    out.words("v2/actv", RELU)
    out.matrix("v3/w", network.v3)
    out.bias("v3/b", network.v3)
    out.matrix("sv3/w", network.score)
    out.bias("sv3/b", network.score)
    out.conv("vownership/w", network.ownership)

    path = Path(path)
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        # No time of writing: the same network gives the same bytes.
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            packed.write(b"".join(out.parts))
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)
