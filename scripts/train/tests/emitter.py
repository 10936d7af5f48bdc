"""A writer of network files that shares no code with the training tool."""

from __future__ import annotations

import numpy as np


class Emitter:
    """A network file in KataGo's format with random weights, which has two nested bottlenecks of transformer blocks."""

    def __init__(self, version: int):
        self.rng = np.random.default_rng(5)
        self.out: list[bytes] = []
        channels, inner = 32, 16
        self.words("tiny", version, 22, 19, 20, 20, 20, 20, 40, 0.25, 150, *[0] * 8)
        self.words("trunk", 2, channels, inner, inner, inner, 16, 1, *[0] * 5)
        self.conv(3, 22, channels)
        self.matrix(19, channels)
        for learnable in (1, 0):
            self.words("nested_bottleneck_block", "nest", 2)
            self.norm_act(channels)
            self.conv(1, channels, inner)
            # Four query heads share two key heads.
            self.words("transformer_attention_block", "attention", 4, 2, 8, 16, 1, learnable)
            self.words("norm", inner, 1e-6)
            self.floats(inner, 1.0)
            for outputs in (32, 16, 32):
                self.matrix(inner, outputs)
            self.matrix(64, inner)
            if learnable:
                self.words("frequencies", 2, 4, 2)
                self.floats(16)
            else:
                self.words("theta", 100.0)
            self.words("transformer_ffn_block", "ffn", inner, 48, 1, "norm", inner, 1e-6)
            self.floats(inner, 1.0)
            self.matrix(inner, 48)
            self.matrix(inner, 48)
            self.matrix(48, inner)
            self.norm_act(inner)
            self.conv(1, inner, channels)
        self.words("tip", channels, 1e-6, 1, 0)
        self.floats(channels, 1.0)
        self.floats(channels)
        self.words("act", "ACTIVATION_SILU", "policy")
        self.words(*([2, 0, 0, 0] if version >= 17 else []))
        self.conv(1, channels, 8)
        self.conv(1, channels, 8)
        self.norm_act(8)
        self.matrix(24, 8)
        self.norm_act(8)
        self.conv(1, 8, 2)
        self.matrix(24, 8)
        self.bias(8)
        self.words("act", "ACTIVATION_SILU")
        self.matrix(8, 2)
        self.words("value")
        self.words(*([0, 0, 0] if version >= 17 else []))
        self.conv(1, channels, 8)
        self.norm_act(8)
        self.matrix(24, 16)
        self.bias(16)
        self.words("act", "ACTIVATION_SILU")
        for outputs in (3, 6):
            self.matrix(16, outputs)
            self.bias(outputs)
        self.conv(1, 8, 1)

    def words(self, *words: object) -> None:
        self.out += [f"{word}\n".encode() for word in words]

    def floats(self, count: int, around: float = 0.0) -> None:
        values = around + self.rng.normal(0, 0.3, count)
        self.out += [b"@BIN@", values.astype("<f4").tobytes(), b"\n"]

    def conv(self, side: int, inputs: int, outputs: int) -> None:
        self.words("conv", side, side, inputs, outputs, 1, 1)
        self.floats(side * side * inputs * outputs)

    def matrix(self, inputs: int, outputs: int) -> None:
        self.words("matrix", inputs, outputs)
        self.floats(inputs * outputs)

    def bias(self, channels: int) -> None:
        self.words("bias", channels)
        self.floats(channels)

    def norm_act(self, channels: int) -> None:
        self.words("norm", channels, 1e-20, 1, 1)
        self.out += [b"@BIN@", bytes(4 * channels), b"\n", b"@BIN@", np.ones(channels, "<f4").tobytes(), b"\n"]
        self.floats(channels, 1.0)
        self.floats(channels)
        self.words("act", "ACTIVATION_SILU")

    def bytes(self) -> bytes:
        return b"".join(self.out)
