#!/usr/bin/env python3
"""A second implementation of the forward pass of KataGo's networks, with numpy in double precision and another layout
(NCHW, a convolution as one matrix product per window position). `vectors.txt` beside this file was computed with it.

    for each line of networks.txt:  kosumi net random <options> -o NAME.txt
    python3 reference.py FOLDER > vectors.txt

The tests do not run this script.
"""

import math
import pathlib
import sys

import numpy as np


def features(seed, width, height):
    """Returns the same made-up features as `made_up_input` in tests/network.rs."""
    state = seed

    def draw():
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return ((state >> 16) % 17 - 8) / 8

    nhwc = np.array([draw() for _ in range(width * height * 22)]).reshape(height, width, 22)
    globals_ = np.array([draw() for _ in range(19)])
    return nhwc.transpose(2, 0, 1), globals_, np.array([draw() for _ in range(192)])


class File:
    def __init__(self, path):
        self.words = iter(path.read_text().split())

    def word(self):
        return next(self.words)

    def number(self):
        return int(self.word())

    def numbers(self, *shape):
        count = math.prod(shape)
        return np.array([float(np.float32(self.word())) for _ in range(count)]).reshape(shape)


def read_conv(file):
    file.word()
    rows, columns, inputs, outputs = (file.number() for _ in range(4))
    assert (file.number(), file.number()) == (1, 1)
    weights = file.numbers(rows, columns, inputs, outputs)

    def apply(x):
        _, height, width = x.shape
        above, left = rows // 2, columns // 2
        padded = np.zeros((inputs, height + rows - 1, width + columns - 1))
        padded[:, above : above + height, left : left + width] = x
        result = np.zeros((outputs, height * width))
        for dy in range(rows):
            for dx in range(columns):
                shifted = padded[:, dy : dy + height, dx : dx + width].reshape(inputs, -1)
                result += weights[dy, dx].T @ shifted
        return result.reshape(outputs, height, width)

    return apply


def read_matmul(file):
    file.word()
    inputs, outputs = file.number(), file.number()
    weights = file.numbers(inputs, outputs)
    return lambda x: x @ weights


def read_bias(file):
    file.word()
    weights = file.numbers(file.number())
    return lambda x: x + weights


def read_norm(file):
    file.word()
    channels = file.number()
    epsilon = float(file.word())
    has_scale, has_bias = file.number(), file.number()
    mean, variance = file.numbers(channels), file.numbers(channels)
    scale = file.numbers(channels) if has_scale else np.ones(channels)
    bias = file.numbers(channels) if has_bias else np.zeros(channels)

    def per_channel(vector):
        return vector[:, None, None]

    def apply(x):
        normal = (x - per_channel(mean)) / per_channel(np.sqrt(variance + epsilon))
        return normal * per_channel(scale) + per_channel(bias)

    return apply


def silu(x):
    return x / (1 + np.exp(-x))


def read_rms_norm(file):
    file.word()
    channels = file.number()
    epsilon = float(file.word())
    scale = file.numbers(channels)
    return lambda x: x / np.sqrt((x**2).mean(axis=0) + epsilon) * scale[:, None, None]


def read_trunk_rms_norm(file):
    file.word()
    channels = file.number()
    epsilon = float(file.word())
    is_spatial, groups = file.number(), file.number()
    assert groups == 0
    scale, bias = file.numbers(channels), file.numbers(channels)
    axes = (0, 1, 2) if is_spatial else 0

    def apply(x):
        normal = x / np.sqrt((x**2).mean(axis=axes) + epsilon)
        return normal * scale[:, None, None] + bias[:, None, None]

    return apply


def read_attention(file):
    """Computes attention with pairs of channels as complex numbers, and with all heads and points in one product."""
    heads, key_heads, key_width, value_width = (file.number() for _ in range(4))
    has_rotary, is_learned = file.number(), file.number()
    norm = read_rms_norm(file)
    query, key, value, output = (read_matmul(file) for _ in range(4))
    pairs = key_width // 2
    if has_rotary:
        file.word()
    if has_rotary and is_learned:
        assert [file.number() for _ in range(3)] == [key_heads, pairs, 2]
        steps = file.numbers(key_heads, pairs, 2)
    elif has_rotary:
        theta = float(file.word())
        half = theta ** -(np.arange(pairs // 2) / (pairs // 2))
        nothing = np.zeros(pairs // 2)
        # The angles of the first half depend on the row.
        steps = np.stack([np.concatenate([nothing, half]), np.concatenate([half, nothing])], axis=1)
        steps = np.broadcast_to(steps, (key_heads, pairs, 2))
    else:
        steps = None

    def apply(x):
        channels, height, width = x.shape
        points = norm(x).reshape(channels, -1).T
        q = query(points).reshape(-1, heads, key_width)
        k = key(points).reshape(-1, key_heads, key_width).repeat(heads // key_heads, axis=1)
        v = value(points).reshape(-1, key_heads, value_width).repeat(heads // key_heads, axis=1)
        if steps is not None:
            rows, columns = np.divmod(np.arange(height * width), width)
            angles = columns[:, None, None] * steps[..., 0] + rows[:, None, None] * steps[..., 1]
            turns = np.exp(1j * angles).repeat(heads // key_heads, axis=1)
            q = (q[..., 0::2] + 1j * q[..., 1::2]) * turns
            k = (k[..., 0::2] + 1j * k[..., 1::2]) * turns
        logits = np.einsum("ihd,jhd->hij", q, k.conj()).real / math.sqrt(key_width)
        weights = np.exp(logits - logits.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        seen = np.einsum("hij,jhd->ihd", weights, v).reshape(height * width, -1)
        return x + output(seen).T.reshape(channels, height, width)

    return apply


def read_feed_forward(file):
    channels, _, is_gated = (file.number() for _ in range(3))
    assert is_gated
    norm = read_rms_norm(file)
    first, gate, last = (read_matmul(file) for _ in range(3))

    def apply(x):
        points = norm(x).reshape(channels, -1).T
        return x + last(silu(first(points)) * gate(points)).T.reshape(x.shape)

    return apply


def read_metadata_encoder(file, version):
    file.word()
    assert file.number() == 192
    layers = []
    for _ in range(2):
        layers += [read_matmul(file), read_bias(file), read_activation(file, version)]
    return chain(*layers, read_matmul(file))


def read_activation(file, version):
    file.word()
    kind = file.word() if version >= 11 else "ACTIVATION_RELU"
    return {
        "ACTIVATION_IDENTITY": lambda x: x,
        "ACTIVATION_RELU": lambda x: np.maximum(x, 0),
        "ACTIVATION_MISH": lambda x: x * np.tanh(np.logaddexp(0, x)),
        "ACTIVATION_SILU": silu,
    }[kind]


def chain(*functions):
    def apply(x):
        for function in functions:
            x = function(x)
        return x

    return apply


def size_term(x):
    return math.sqrt(x.shape[1] * x.shape[2]) - 14


def pool(x):
    mean = x.mean(axis=(1, 2))
    return np.concatenate([mean, mean * size_term(x) * 0.1, x.max(axis=(1, 2))])


def pool_value(x):
    mean, size = x.mean(axis=(1, 2)), size_term(x)
    return np.concatenate([mean, mean * size * 0.1, mean * (size * size * 0.01 - 0.1)])


def read_normed_conv(file, version):
    return chain(read_norm(file), read_activation(file, version), read_conv(file))


def read_block(file, version):
    kind = file.word()
    file.word()
    if kind == "ordinary_block":
        first, second = read_normed_conv(file, version), read_normed_conv(file, version)
        return lambda x: x + second(first(x))
    if kind == "gpool_block":
        before = chain(read_norm(file), read_activation(file, version))
        regular = read_conv(file)
        pooled = chain(read_conv(file), read_norm(file), read_activation(file, version), pool, read_matmul(file))
        after = read_normed_conv(file, version)

        def apply(x):
            inside = before(x)
            return x + after(regular(inside) + pooled(inside)[:, None, None])

        return apply
    if kind == "transformer_attention_block":
        return read_attention(file)
    if kind == "transformer_ffn_block":
        return read_feed_forward(file)
    assert kind == "nested_bottleneck_block", kind
    count = file.number()
    first = read_normed_conv(file, version)
    blocks = [read_block(file, version) for _ in range(count)]
    second = read_normed_conv(file, version)
    inside = chain(first, *blocks, second)
    return lambda x: x + inside(x)


def evaluate(path, spatial, globals_, metadata):
    file = File(path)
    file.word()
    version = file.number()
    assert (file.number(), file.number()) == (22, 19)
    for _ in range(7 if version >= 13 else 0):
        file.word()
    has_encoder = version >= 15 and file.number()
    for _ in range(7 if version >= 15 else 0):
        file.word()
    file.word()
    blocks = file.number()
    for _ in range(5):
        file.word()
    has_rms_norm = version >= 15 and file.number()
    for _ in range(5 if version >= 15 else 0):
        assert file.number() == 0
    conv, matmul = read_conv(file), read_matmul(file)
    x = conv(spatial) + matmul(globals_)[:, None, None]
    if has_encoder:
        x += read_metadata_encoder(file, version)(metadata)[:, None, None]
    for _ in range(blocks):
        x = read_block(file, version)(x)
    norm = read_trunk_rms_norm(file) if has_rms_norm else read_norm(file)
    x = chain(norm, read_activation(file, version))(x)

    file.word()
    if version >= 17:
        assert file.number() in (2, 4)
        assert [file.number() for _ in range(3)] == [0, 0, 0]
    conv = read_conv(file)
    pooled = chain(read_conv(file), read_norm(file), read_activation(file, version), pool)(x)
    p = conv(x) + read_matmul(file)(pooled)[:, None, None]
    policy = chain(read_norm(file), read_activation(file, version), read_conv(file))(p)
    passes = read_matmul(file)(pooled)
    if version >= 15:
        passes = chain(read_bias(file), read_activation(file, version), read_matmul(file))(passes)

    file.word()
    if version >= 17:
        assert [file.number() for _ in range(3)] == [0, 0, 0]
    v = chain(read_conv(file), read_norm(file), read_activation(file, version))(x)
    inside = chain(read_matmul(file), read_bias(file), read_activation(file, version))(pool_value(v))
    value = chain(read_matmul(file), read_bias(file))(inside)
    score = chain(read_matmul(file), read_bias(file))(inside)
    ownership = read_conv(file)(v)
    assert next(file.words, None) is None
    return policy, passes, value, score, ownership[0]


def corners_and_mean(plane):
    """Returns the values at the upper left, upper right and lower left point, and the mean."""
    return [plane[0, 0], plane[0, -1], plane[-1, 0], plane.mean()]


def main():
    here = pathlib.Path(__file__).parent
    for number, line in enumerate((here / "networks.txt").read_text().splitlines()):
        name, options, sizes = (part.strip() for part in line.split("|"))
        for size in sizes.split():
            width, height = map(int, size.split("x"))
            found = evaluate(pathlib.Path(sys.argv[1]) / f"{name}.txt", *features(number + 1, width, height))
            policy, passes, value, score, ownership = found
            numbers = [*passes[:2], *value, *score, *corners_and_mean(policy[0])]
            if len(policy) > 1:
                numbers += corners_and_mean(policy[1])
            numbers += corners_and_mean(ownership)
            print(name, size, *(f"{number:.9g}" for number in numbers))


main()
