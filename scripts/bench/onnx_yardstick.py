#!/usr/bin/env python3
"""Measures how fast ONNX Runtime computes the trunk of a transformer in KataGo's format, on one thread of the CPU.

Usage: onnx_yardstick.py MODEL.bin.gz [SIZE...]        needs numpy, onnx and onnxruntime from PyPI

The trunk is the network without the heads, which are under one percent of the work. Denormal weights become zero, as in
Kosumi. The output is the CPU time of one evaluation of an empty board in milliseconds: the minimum and the median over
half a minute. `kosumi bench --model MODEL.bin.gz` measures the same for Kosumi.

Only the layers of b10c384h6nbttflrs are supported: nested bottlenecks with attention and SwiGLU, learnt rotations, and
an RMS norm at the end.
"""

import gzip
import sys
import time
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Reader:
    """A reader of the words and arrays of a network file."""

    def __init__(self, path: str) -> None:
        self.data = gzip.open(path).read()
        self.at = 0

    def word(self) -> str:
        while self.data[self.at : self.at + 1].isspace():
            self.at += 1
        start = self.at
        while not self.data[self.at : self.at + 1].isspace():
            self.at += 1
        return self.data[start : self.at].decode()

    def integers(self, count: int) -> list[int]:
        return [int(self.word()) for _ in range(count)]

    def array(self, *shape: int) -> Any:
        self.at = self.data.index(b"@BIN@", self.at, self.at + 100) + 5
        count = int(np.prod(shape))
        numbers = np.frombuffer(self.data, "<f4", count, self.at).copy()
        self.at += 4 * count
        numbers[np.abs(numbers) < 1e-30] = 0
        return numbers.reshape(shape)

    def conv(self) -> Any:
        self.word()
        height, width, inputs, outputs, _, _ = self.integers(6)
        return self.array(height, width, inputs, outputs)

    def matmul(self) -> Any:
        self.word()
        return self.array(*self.integers(2))

    def norm(self) -> tuple[Any, Any]:
        """Returns the scale and the bias of each channel."""
        self.word()
        channels = int(self.word())
        epsilon = float(self.word())
        has_scale, has_bias = self.integers(2)
        mean, variance = self.array(channels), self.array(channels)
        scale = (self.array(channels) if has_scale else 1) / np.sqrt(variance + epsilon)
        return scale, (self.array(channels) if has_bias else 0) - scale * mean

    def rms(self) -> tuple[float, Any]:
        self.word()
        channels = int(self.word())
        return float(self.word()), self.array(channels)


class Graph:
    """An ONNX graph that is built node by node."""

    def __init__(self, side: int) -> None:
        self.side = side
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, numbers: Any) -> str:
        name = f"c{len(self.constants)}"
        numbers = np.asarray(numbers)
        if numbers.dtype != np.int64:
            numbers = numbers.astype(np.float32)
        self.constants.append(numpy_helper.from_array(numbers, name))
        return name

    def __call__(self, kind: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        given = [it if isinstance(it, str) else self.constant(it) for it in inputs]
        names = [f"n{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, given, names, **attributes))
        return names[0] if outputs == 1 else names

    def silu(self, x: str) -> Any:
        return self("Mul", x, self("Sigmoid", x))

    def activate(self, kind: str, x: str) -> Any:
        if kind == "ACTIVATION_SILU":
            return self.silu(x)
        if kind == "ACTIVATION_MISH":
            return self("Mul", x, self("Tanh", self("Softplus", x)))
        return self("Relu", x) if kind == "ACTIVATION_RELU" else x

    def rms(self, x: str, epsilon: float) -> Any:
        mean = self("ReduceMean", self("Mul", x, x), np.array([-1]), keepdims=1)
        return self("Div", x, self("Sqrt", self("Add", mean, np.float32(epsilon))))

    def heads(self, x: str, count: int, width: int) -> Any:
        x = self("Reshape", x, np.array([self.side * self.side, count, width]))
        return self("Transpose", x, perm=[1, 0, 2])


def attention(reader: Reader, graph: Graph, x: str) -> Any:
    heads, key_heads, key_width, value_width, rope, learned = reader.integers(6)
    assert rope and learned and heads == key_heads, "this kind of attention is not supported"
    epsilon, scale = reader.rms()
    query, key, value, output = (reader.matmul() for _ in range(4))
    reader.word()
    frequencies = reader.array(*reader.integers(3)).astype(np.float64)
    points = np.arange(graph.side**2)
    column, row = points % graph.side, points // graph.side
    angles = column[None, :, None] * frequencies[:, None, :, 0] + row[None, :, None] * frequencies[:, None, :, 1]
    cosine, sine = np.cos(angles), np.sin(angles)
    # In the file, the channels of a rotated pair are neighbours. Here they are half a head apart.
    order = np.concatenate([np.arange(0, key_width, 2), np.arange(1, key_width, 2)])
    columns = (np.arange(heads)[:, None] * key_width + order[None, :]).reshape(-1)
    query = query[:, columns] / np.sqrt(key_width)
    weights = np.concatenate([query, key[:, columns], value], 1) * scale[:, None]
    split = np.array([heads * key_width, heads * key_width, heads * value_width])
    all_ = graph("MatMul", graph.rms(x, epsilon), weights)
    queries, keys, values = graph("Split", all_, split, outputs=3, axis=1)

    def turned(x: str) -> Any:
        half = key_width // 2
        even, odd = graph("Split", graph.heads(x, heads, key_width), np.array([half, half]), outputs=2, axis=2)
        first = graph("Sub", graph("Mul", even, cosine), graph("Mul", odd, sine))
        second = graph("Add", graph("Mul", even, sine), graph("Mul", odd, cosine))
        return graph("Concat", first, second, axis=2)

    logits = graph("MatMul", turned(queries), graph("Transpose", turned(keys), perm=[0, 2, 1]))
    seen = graph("MatMul", graph("Softmax", logits, axis=-1), graph.heads(values, heads, value_width))
    seen = graph("Reshape", graph("Transpose", seen, perm=[1, 0, 2]), np.array([graph.side**2, heads * value_width]))
    return graph("Add", x, graph("MatMul", seen, output))


def feed_forward(reader: Reader, graph: Graph, x: str) -> Any:
    _, hidden, swiglu = reader.integers(3)
    assert swiglu, "this kind of feed-forward block is not supported"
    epsilon, scale = reader.rms()
    first, gate, last = (reader.matmul() for _ in range(3))
    both = graph("MatMul", graph.rms(x, epsilon), np.concatenate([first, gate], 1) * scale[:, None])
    first, gate = graph("Split", both, np.array([hidden, hidden]), outputs=2, axis=1)
    return graph("Add", x, graph("MatMul", graph("Mul", graph.silu(first), gate), last))


def norm_act_conv(reader: Reader, graph: Graph, x: str) -> Any:
    scale, bias = reader.norm()
    reader.word()
    x = graph.activate(reader.word(), graph("Add", graph("Mul", x, scale), bias))
    weights = reader.conv()
    assert weights.shape[:2] == (1, 1), "this kind of convolution is not supported"
    return graph("MatMul", x, weights[0, 0])


def block(reader: Reader, graph: Graph, x: str) -> Any:
    kind = reader.word()
    reader.word()
    if kind == "transformer_attention_block":
        return attention(reader, graph, x)
    if kind == "transformer_ffn_block":
        return feed_forward(reader, graph, x)
    assert kind == "nested_bottleneck_block", kind
    count = int(reader.word())
    inner = norm_act_conv(reader, graph, x)
    for _ in range(count):
        inner = block(reader, graph, inner)
    return graph("Add", x, norm_act_conv(reader, graph, inner))


def trunk(path: str, side: int) -> Any:
    """Returns the graph of a trunk, from the spatial and global features to the last activation."""
    reader = Reader(path)
    reader.word()
    version, spatial, global_ = reader.integers(3)
    assert version >= 15, "this kind of network is not supported"
    for _ in range(7):
        reader.word()
    assert not any(reader.integers(8)), "this kind of network is not supported"
    reader.word()
    blocks, channels, *_ = reader.integers(6)
    reader.integers(6)
    graph = Graph(side)
    stem = reader.conv().transpose(3, 2, 0, 1)
    x = graph("Conv", "spatial", stem, pads=[1, 1, 1, 1])
    x = graph("Transpose", graph("Reshape", x, np.array([channels, side * side])), perm=[1, 0])
    reader_global = reader.matmul()
    x = graph("Add", x, graph("MatMul", "global", reader_global))
    for _ in range(blocks):
        x = block(reader, graph, x)
    reader.word()
    int(reader.word())
    epsilon = float(reader.word())
    is_spatial, _ = reader.integers(2)
    gamma, beta = reader.array(channels), reader.array(channels)
    axes = np.array([0, 1]) if is_spatial else np.array([-1])
    mean = graph("ReduceMean", graph("Mul", x, x), axes, keepdims=1)
    x = graph("Div", x, graph("Sqrt", graph("Add", mean, np.float32(epsilon))))
    reader.word()
    x = graph.activate(reader.word(), graph("Add", graph("Mul", x, gamma), beta))
    inputs = [
        helper.make_tensor_value_info("spatial", TensorProto.FLOAT, [1, spatial, side, side]),
        helper.make_tensor_value_info("global", TensorProto.FLOAT, [1, global_]),
    ]
    outputs = [helper.make_tensor_value_info(x, TensorProto.FLOAT, [side * side, channels])]
    made = helper.make_graph(graph.nodes, "trunk", inputs, outputs, graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def main() -> None:
    path, sides = sys.argv[1], [int(side) for side in sys.argv[2:]] or [9, 19]
    for side in sides:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        model = trunk(path, side)
        onnx.checker.check_model(model)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        spatial = np.zeros((1, 22, side, side), np.float32)
        spatial[:, 0] = 1
        # Komi 7.5, Black to move, Tromp-Taylor rules.
        rules = np.zeros((1, 19), np.float32)
        rules[0, [5, 6, 7, 8, 18]] = [-0.375, 1, 0.5, 1, -0.5]
        inputs = {"spatial": spatial, "global": rules}
        times: list[float] = []
        end = time.process_time() + 15
        while time.process_time() < end or len(times) < 10:
            start = time.process_time()
            (found,) = session.run(None, inputs)
            times.append(1000 * (time.process_time() - start))
        times.sort()
        print(
            f"{side}x{side}: minimum {times[0]:.2f} ms, median {times[len(times) // 2]:.2f} ms of {len(times)}; "
            f"sum {found.sum():.4f}, of squares {(found * found).sum():.4f}"
        )


if __name__ == "__main__":
    main()
