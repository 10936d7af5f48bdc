#!/usr/bin/env python3
"""Tests of the parts: python -m unittest in this folder. The whole pipeline is tested by tests/training.rs."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

# Threads that wait must sleep: tests run beside others on a few cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import torch
import torch.nn.functional as F

import balance
import compact
import fast
import gpu
import hints
import katago_file
import label
import parts
import rotations
import teacher
import train
from data import (
    KOMI,
    KOMI_WAVE,
    TERRITORY,
    Stream,
    all_batches,
    even_komi,
    fair_komi,
    komi_wave,
    make_batch,
    odd_komi,
    read_groups,
    regrets,
    turned_points,
    with_komi,
)
from grow import grown
from heads import Heads, is_smooth, scale_and_bias, with_heads_like
from losses import Weights, losses, measures, wanted_errors
from mix import mixed
from model import Network, Shape
from optimiser import Muon, orthogonal

HERE = Path(__file__).parent
# One of every kind.
SHAPES = ("b3c16", "b3c32nbt", "b2c32h2tflrs", "b2c64h2nbttflrs", "b2c48h2m32nb1ttflrs-silu", "b3c32h2x2", "b2c32h2tflrs-smooth")
# What lies beside the project on some machines: other people's networks, and what KataGo says with them.
SHARED = Path(os.environ.get("KOSUMI_SHARED", HERE.parent.parent.parent / "shared"))


def network(name: str = "b3c16", seed: int = 1) -> Network:
    """One in which every weight matters: a new network's last layers of blocks are 0."""
    torch.manual_seed(seed)
    made = Network(Shape.named(name))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return made


def answers(made: Network, spatial, globals_, mask=None) -> list[torch.Tensor]:
    answer = made(spatial, globals_, mask)
    return [answer.policy, answer.value, answer.score, answer.ownership, answer.errors, answer.optimistic]


def group(count: int, columns: int, rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    area = columns * rows
    return {
        "planes": rng.integers(0, 256, (count, 22, (area + 7) // 8), np.uint8),
        "global": rng.random((count, 19), np.float32),
        "played": rng.integers(0, area + 1, count).astype(np.uint16),
        "value": np.tile(np.array([1, 0, 0], np.float32), (count, 1)),
        "score": np.full(count, np.nan, np.float32),
        "ownership": rng.integers(-127, 128, (count, area)).astype(np.int8),
    }


class Convolutions(unittest.TestCase):
    def test_fast_ones_compute_what_pytorch_computes(self):
        if fast._library_now is None:
            self.skipTest("no C++ compiler")
        for images, inputs, outputs, rows, columns, own_bias in [
            (3, 8, 8, 19, 19, False),
            (7, 16, 24, 9, 9, True),
            (5, 40, 8, 7, 5, False),
            (2, 24, 48, 13, 1, True),
        ]:
            torch.manual_seed(images)
            x = torch.randn(images, inputs, rows, columns).contiguous(memory_format=torch.channels_last)
            bias = torch.randn(images if own_bias else 1, inputs)
            weight = torch.randn(outputs, inputs, 3, 3) * 0.2
            residual = torch.randn(images, outputs, rows, columns).contiguous(memory_format=torch.channels_last)
            inputs_ = [tensor.requires_grad_() for tensor in (x, bias, weight, residual)]
            self.assertTrue(fast.is_fast(x, weight))
            found = fast.convolution(*inputs_)
            expected = F.conv2d(F.relu(x + bias[:, :, None, None]), weight, padding=1) + residual
            towards = torch.randn_like(expected)
            gradients = torch.autograd.grad(found, inputs_, towards)
            right = torch.autograd.grad(expected, inputs_, towards)
            for ours, theirs in zip((found, *gradients), (expected, *right)):
                torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-4)

    def test_products_of_pairs_are_near(self):
        if not fast.has_pairs():
            self.skipTest("no AVX-512 BF16, or no C++ compiler")
        # Odd numbers of tiles, several blocks of images, boards that the tiles do not cover evenly.
        for images, inputs, outputs, rows, columns in [(3, 16, 48, 19, 19), (7, 32, 16, 9, 9), (60, 16, 32, 7, 5)]:
            torch.manual_seed(images)
            x = torch.randn(images, inputs, rows, columns).contiguous(memory_format=torch.channels_last)
            bias, weight = torch.randn(images, inputs), torch.randn(outputs, inputs, 3, 3) * 0.2
            inputs_ = [tensor.requires_grad_() for tensor in (x, bias, weight)]
            towards = torch.randn(images, outputs, rows, columns)
            answers = []
            for pairs in (True, False):
                fast.use_pairs(pairs)
                found = fast.convolution(*inputs_)
                answers.append((found, *torch.autograd.grad(found, inputs_, towards)))
            for ours, theirs in zip(*answers):
                error = float((ours - theirs).norm() / theirs.norm())
                self.assertLess(error, 0.04)
                # They are rounded, so this was not the same computation twice.
                self.assertGreater(error, 1e-4)


class Transformers(unittest.TestCase):
    def test_what_is_beside_products_learns_as_in_pytorch(self):
        if fast._learning is None:
            self.skipTest("no C++ compiler")
        # Heads of odd halves, one pair of channels a head, one point, rectangles.
        for shape, columns, rows in [
            ("b2c24h2tflrs", 5, 7),
            ("b1c20h2tflrs", 9, 9),
            ("b1c6h3tflrs", 1, 1),
            ("b2c128h2nbttflrs", 3, 4),
            ("b1c32h1tflrs", 6, 6),
            ("b1c64h2tflrs", 13, 11),
            ("b2c48h2m64nb1ttflrs-silu", 7, 5),
        ]:
            made = network(shape)
            spatial, globals_ = (torch.rand(3, 22, rows, columns) > 0.7).float(), torch.randn(3, 19)
            both = []
            for library in (fast._learning, None):
                with mock.patch.object(fast, "_learning", library):
                    found = answers(made, spatial, globals_)
                    torch.manual_seed(7)
                    towards = [torch.randn_like(part) for part in found]
                    both.append([*found, *torch.autograd.grad(found, list(made.parameters()), towards)])
            for ours, theirs in zip(*both):
                torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5 + 1e-4 * float(theirs.detach().abs().max()))


    def test_products_of_pairs_are_near(self):
        if not fast.has_pairs() or fast._attention is None:
            self.skipTest("no AVX-512 BF16, or no C++ compiler")
        self.addCleanup(fast.use_pairs, False)
        for shape, columns, rows in [("b2c64h2tflrs", 9, 9), ("b2c48h2m64nb1ttflrs-silu", 7, 5), ("b1c32h1tflrs", 19, 19)]:
            made = network(shape)
            spatial, globals_ = (torch.rand(3, 22, rows, columns) > 0.7).float(), torch.randn(3, 19)
            both = []
            for pairs in (True, False):
                fast.use_pairs(pairs)
                found = answers(made, spatial, globals_)
                torch.manual_seed(7)
                towards = [torch.randn_like(part) for part in found]
                both.append([*found, *torch.autograd.grad(found, list(made.parameters()), towards)])
            errors = [float((ours - theirs).detach().norm() / theirs.detach().norm()) for ours, theirs in zip(*both)]
            # Of random networks and positions the largest is 0.05 to 0.2, the mean 0.03 to 0.1: gradients of the first layers have come through
            # everything. A gradient that is wrong is off by about 1.
            self.assertLess(max(errors), 0.3, f"{shape}: {errors}")
            self.assertLess(sum(errors) / len(errors), 0.15, f"{shape}: {errors}")
            self.assertGreater(float((both[0][0] - both[1][0]).detach().abs().max()), 1e-5)

    def test_attention_of_pairs_is_near(self):
        if not fast.has_pairs() or fast._attention is None:
            self.skipTest("no AVX-512 BF16, or no C++ compiler")
        self.addCleanup(fast.use_pairs, False)
        # One point, fewer queries than are worked on together, blocks that points do not fill, odd numbers of points.
        for points in (1, 5, 16, 37, 361):
            torch.manual_seed(points)
            given = [torch.randn(2, points, 3, 32, requires_grad=True) for _ in range(3)]
            towards = torch.randn(2, points, 3, 32)
            both = []
            for pairs in (True, False):
                fast.use_pairs(pairs)
                found = fast.learning_attention(*given)
                both.append([found, *torch.autograd.grad(found, given, towards)])
            for ours, theirs in zip(*both):
                # Of one point alone, queries and keys change nothing: what is left there is rounding.
                error = float((ours - theirs).detach().norm() / theirs.detach().norm().clamp(min=1.0))
                self.assertLess(error, 0.02, f"{points} points")


class Networks(unittest.TestCase):
    def test_a_file_is_read_as_it_was_written(self):
        for name in SHAPES:
            with self.subTest(name):
                self.written_and_read(network(name))

    def written_and_read(self, made: Network):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "n.bin.gz"
            katago_file.write(path, "n", made)
            name, again = katago_file.read(path)
            self.assertEqual((name, again.shape), ("n", made.shape))
            for (name, ours), (_, theirs) in zip(made.named_parameters(), again.named_parameters(), strict=True):
                self.assertTrue(torch.equal(ours, theirs), name)
            katago_file.write(Path(folder) / "small.bin.gz", "n", made, bits=9)
            self.assertLess((Path(folder) / "small.bin.gz").stat().st_size, 0.7 * path.stat().st_size)
            _, small = katago_file.read(Path(folder) / "small.bin.gz")
            for (name, ours), theirs in zip(made.named_parameters(), small.parameters(), strict=True):
                torch.testing.assert_close(theirs, ours, rtol=2.0**-10, atol=0, msg=name)
            path.write_bytes(path.read_bytes()[:-200])
            self.assertRaises((EOFError, katago_file.FormatError), katago_file.read, path)

    def test_shapes_have_names(self):
        small = Shape.named("b7c96h3tflrs")
        self.assertEqual((small.blocks, small.heads, small.hidden, small.nested), (7, 3, 256, 0))
        nested = Shape.named("b5c192h3nbttflrs")
        self.assertEqual((nested.middle, nested.heads, nested.hidden, nested.nested), (96, 3, 256, 2))
        small_inside = Shape.named("b10c384h4m128nb1ttflrs-silu")
        self.assertEqual((small_inside.middle, small_inside.heads, small_inside.nested, small_inside.silu), (128, 4, 1, True))
        self.assertEqual(Shape.named("b10c384h6f256nbttflrs-silu").hidden, 256)
        # `kosumi net info` says 802,464 of KataGo's file of the first one: it counts the second policy, too.
        self.assertEqual(small.multiply_adds(), 802_432)
        for name in ("b7c96h3", "b7c96tflrs", "b7c96h5tflrs", "b7c96h32tfrs", "c96", "b5c64nbt-silu", "b7c96h3tflrs-silu", "b6c96f64"):
            self.assertRaises(ValueError, Shape.named, name)

    def test_files_of_other_transformers_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.bin"
            path.write_bytes(Emitter(15).bytes())
            self.assertRaises(katago_file.FormatError, katago_file.read, path)

    @torch.no_grad()
    def test_a_padded_board_gets_the_same_answers(self):
        for name in SHAPES:
            with self.subTest(name):
                self.padded(network(name))

    def padded(self, made: Network):
        spatial, globals_ = (torch.rand(2, 22, 7, 9) > 0.7).float(), torch.randn(2, 19)
        padded, mask = torch.zeros(2, 22, 10, 11), torch.zeros(2, 1, 10, 11)
        padded[:, :, :7, :9], mask[:, :, :7, :9] = spatial, 1
        plain, masked = answers(made, spatial, globals_), answers(made, padded, globals_, mask)
        for policy in (0, 5):
            inside = masked[policy][:, :-1].view(2, 10, 11)[:, :7, :9].flatten(1)
            masked[policy] = torch.cat([inside, masked[policy][:, -1:]], dim=1)
        masked[3] = masked[3].view(2, 10, 11)[:, :7, :9].flatten(1)
        for ours, theirs in zip(masked, plain):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


    @torch.no_grad()
    def test_a_grown_network_gives_the_same_answers(self):
        small = network("b3c16")
        spatial, globals_ = (torch.rand(2, 22, 9, 9) > 0.7).float(), torch.randn(2, 19)
        for name in ("b5c16", "b3c24", "b4c48", "b3c16h2x2", "b4c24h2x1"):
            large = grown(small, Shape.named(name))
            self.assertEqual(large.shape, Shape.named(name))
            for ours, theirs in zip(answers(large, spatial, globals_), answers(small, spatial, globals_)):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


    @torch.no_grad()
    def test_a_mixed_network_lies_between_its_parts(self):
        first, second = network(seed=1), network(seed=2)
        for name, weights in mixed([(first, 3.0), (second, 1.0)]).state_dict().items():
            wanted = 0.75 * first.state_dict()[name] + 0.25 * second.state_dict()[name]
            torch.testing.assert_close(weights, wanted, msg=name)
        with self.assertRaises(SystemExit):
            mixed([(first, 1.0), (network("b3c24"), 1.0)])
        with self.assertRaises(SystemExit):
            grown(network("b2c32h2tflrs"), Shape.named("b3c32h2tflrs"))


class Emitter:
    """A network file in KataGo's format with random weights: two nested bottlenecks of transformer blocks."""

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


class Teachers(unittest.TestCase):
    @torch.no_grad()
    def test_a_network_of_ours_answers_as_it_does(self):
        for name in SHAPES:
            with self.subTest(name):
                self.asked(network(name))

    def asked(self, made: Network):
        spatial, globals_ = (torch.rand(3, 22, 7, 9) > 0.7).float(), torch.randn(3, 19)
        with tempfile.TemporaryDirectory() as folder:
            katago_file.write(Path(folder) / "n.bin.gz", "n", made)
            asked = teacher.read(Path(folder) / "n.bin.gz")
        ours, theirs = made(spatial, globals_), asked(spatial, globals_)
        for name in ("policy", "optimistic", "value", "score", "errors", "ownership"):
            torch.testing.assert_close(getattr(theirs, name), getattr(ours, name), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(theirs.expected_errors(), ours.expected_errors(), rtol=1e-4, atol=1e-4)

    @torch.no_grad()
    def test_an_older_network_gets_what_it_lacks(self):
        path = HERE / "checkpoint" / "network.bin.gz"
        asked, (_, learnt) = teacher.read(path), katago_file.read(path)
        spatial, globals_ = (torch.rand(2, 22, 9, 9) > 0.7).float(), torch.randn(2, 19)
        theirs, ours = asked(spatial, globals_), learnt(spatial, globals_)
        for name in ("policy", "value", "score", "ownership"):
            torch.testing.assert_close(getattr(ours, name), getattr(theirs, name), rtol=1e-3, atol=1e-3)
        if asked.version < 12:
            torch.testing.assert_close(ours.optimistic, ours.policy)
        self.assertTrue(torch.isfinite(ours.expected_errors()).all())

    @torch.no_grad()
    def test_the_program_answers_as_pytorch_does(self):
        kosumi = os.environ.get("KOSUMI")
        if not kosumi:
            self.skipTest("KOSUMI does not name the program")
        with tempfile.TemporaryDirectory() as folder:
            # With and without an optimistic policy; other programs' blocks and ours; weights in bytes.
            for name, data in [
                ("t.bin", Emitter(15).bytes()),
                ("n.bin.gz", None),
                ("n.compact.gz", None),
                ("broken.bin", b"no network"),
            ]:
                path, made = Path(folder) / name, network()
                steps = rounded(made, 0.1) if "compact" in name else {}
                path.write_bytes(data) if data else katago_file.write(path, "n", made, steps=steps)
                if name == "broken.bin":
                    self.assertRaises((OSError, katago_file.FormatError), teacher.Asked, kosumi, path)
                    continue
                known, asked = teacher.read(path), teacher.Asked(kosumi, path, "f32")
                # The last question and its answer are longer than what pipes hold.
                for columns, rows, count in [(7, 9, 9), (5, 5, 9), (9, 9, 400)]:
                    spatial, globals_ = (torch.rand(count, 22, rows, columns) > 0.7).float(), torch.randn(count, 19)
                    found, right = asked(spatial, globals_), known(spatial, globals_)
                    for part in ("policy", "optimistic", "value", "score", "errors", "ownership"):
                        torch.testing.assert_close(
                            getattr(found, part), getattr(right, part), rtol=2e-3, atol=2e-3, msg=part
                        )
                    torch.testing.assert_close(found.lead(), right.lead(), rtol=2e-3, atol=2e-2)
                # The next answer comes from a program that is no more.
                asked.process.kill()
                asked.process.wait()
                self.assertRaises(OSError, asked, spatial, globals_)
                asked.process.stdout.close()
                with contextlib.suppress(OSError):
                    asked.process.stdin.close()

    @torch.no_grad()
    def test_points_know_where_they_are_but_not_the_order_of_a_batch(self):
        asked, _ = teacher.parse(Emitter(15).bytes())
        spatial, globals_ = (torch.rand(4, 22, 9, 9) > 0.7).float(), torch.randn(4, 19)
        plain, turned = asked(spatial, globals_), asked(spatial.flip(0), globals_.flip(0))
        torch.testing.assert_close(turned.policy.flip(0), plain.policy, rtol=1e-4, atol=1e-4)
        mirrored = asked(spatial.flip(3), globals_).policy[:, :-1].view(4, 9, 9).flip(2).flatten(1)
        self.assertGreater(float((mirrored - plain.policy[:, :-1]).abs().max()), 1e-3)

    @torch.no_grad()
    def test_the_fast_parts_compute_what_pytorch_computes(self):
        if fast._transformer is None:
            self.skipTest("no C++ compiler, or no AVX-512 BF16")
        # As the kernels see numbers: small, in bf16.
        torch.manual_seed(4)
        for points, heads, kv_heads, key, value in [(361, 6, 6, 32, 32), (81, 4, 2, 8, 16), (1, 1, 1, 4, 16), (37, 2, 1, 32, 48)]:
            qkv = torch.randn(2, points, heads * key + kv_heads * (key + value)).bfloat16()
            angle = torch.rand(points, kv_heads, key // 2) * 6
            found = fast.attention(qkv, heads, kv_heads, key, value, angle.cos(), angle.sin())
            wide = qkv.float()
            q, k, v = wide.split([heads * key, kv_heads * key, kv_heads * value], dim=2)

            def turned(x, count):
                x = x.view(2, points, count, key)
                by = angle.repeat_interleave(count // kv_heads, dim=1)
                first, second = x.chunk(2, dim=3)
                both = first * by.cos() - second * by.sin(), first * by.sin() + second * by.cos()
                return torch.cat(both, dim=3).transpose(1, 2)

            k, v = turned(k, kv_heads), v.view(2, points, kv_heads, value).transpose(1, 2)
            k, v = (x.repeat_interleave(heads // kv_heads, dim=1) for x in (k, v))
            right = F.scaled_dot_product_attention(turned(q, heads), k, v).transpose(1, 2).flatten(2)
            torch.testing.assert_close(found.float(), right, rtol=2e-2, atol=2e-2)
        x = (torch.randn(5, 96) * 3).bfloat16()
        scale, bias = torch.randn(96).bfloat16(), torch.randn(96).bfloat16()
        for found, right in [
            (fast.gate(x), F.silu(x.float()[:, :48]) * x.float()[:, 48:]),
            (fast.rms_norm(x, 1e-6), F.rms_norm(x.float(), (96,), eps=1e-6)),
            (fast.scaled_silu(x, scale, bias), F.silu(x.float() * scale.float() + bias.float())),
        ]:
            torch.testing.assert_close(found.float(), right, rtol=2e-2, atol=2e-2)

    @torch.no_grad()
    def test_16_bits_say_nearly_the_same(self):
        data = Emitter(15).bytes()
        spatial, globals_ = (torch.rand(4, 22, 9, 9) > 0.7).float(), torch.randn(4, 19)
        exact = F.softmax(teacher.parse(data)[0](spatial, globals_).policy, dim=1)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "n.bin").write_bytes(data)
            gpu.pack_teacher(Path(folder) / "n.bin", Path(folder) / "n.xz")
            packed = teacher.read(Path(folder) / "n.xz")
        half = F.softmax(packed(spatial, globals_).policy, dim=1)
        self.assertTrue(0 < float((half - exact).abs().max()) < 1e-2)
        rounded = F.softmax(packed.to(torch.bfloat16)(spatial, globals_).policy, dim=1)
        self.assertLess(float((rounded - exact).abs().max()), 0.1)

    def test_what_is_no_network_is_refused(self):
        data = Emitter(17).bytes()
        teacher.parse(data)
        broken = [
            data[:-100],
            data + b"more",
            data.replace(b"tiny\n17", b"tiny\n18", 1),
            data.replace(b"transformer_ffn_block", b"transformer_gab_block", 1),
            data.replace(b"ACTIVATION_SILU", b"ACTIVATION_GELU", 1),
            data.replace(b"attention\n4\n2", b"attention\n3\n2", 1),
            data.replace(b"nest\n2", b"nest\n-1", 1),
            b"",
        ]
        for wrong in broken:
            self.assertRaises(katago_file.FormatError, teacher.parse, wrong)

    @torch.no_grad()
    def test_katago_says_the_same(self):
        kosumi, oracle = os.environ.get("KOSUMI"), SHARED / "oracle"
        files = {
            "b7c96h3tfrs-test5-cnorm": "katago-b7h3-raw.jsonl",
            "b7c96h6kv3qk32v16tflrs-fson-bnh": "katago-b7h6-raw.jsonl",
            "b10c384h6nbttflrs": "katago-b10-raw.jsonl",
        }
        if not kosumi or not all((oracle / file).exists() for file in files.values()):
            self.skipTest(f"needs the program (KOSUMI) and KataGo's answers in {oracle}")
        # The same positions in all files.
        answers = {name: list(map(json.loads, (oracle / file).read_text().splitlines())) for name, file in files.items()}
        rows = answers["b10c384h6nbttflrs"]
        shown = dict(self.shown(kosumi, rows))
        self.assertGreater(len(shown), 60)
        for name, said in answers.items():
            asked = teacher.read(SHARED / "models" / f"{name}.bin.gz")
            # The large one takes its time.
            for number in sorted(shown)[:: 4 if "b10" in name else 1]:
                self.assertEqual(said[number]["moves"], rows[number]["moves"])
                with self.subTest(f"{name} {number}"):
                    self.check(asked, *shown[number], said[number])

    def shown(self, kosumi: str, rows: list[dict]):
        """Features of all positions that a game record can hold: number, size, and where in a shard."""
        for rules in sorted({row["rules"] for row in rows}):
            # A record of each position, with a move behind it, as positions are those before a move.
            numbers = [number for number, row in enumerate(rows) if row["rules"] == rules]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "games.sgf"
                path.write_text("\n".join(record(rows[number]) for number in numbers))
                command = [kosumi, "features", path, "--out", folder, "--split", "all", "--per-game", "1000"]
                made = subprocess.run([*command, "--rules", rules], capture_output=True, text=True)
                files = sorted(Path(folder).glob("*.npz"))
                if made.returncode or not files:
                    continue  # rules that records cannot have
                for size, found in read_groups(files[0]).items():
                    for game, number in enumerate(numbers):
                        here = (found["game"] == game) & (found["ply"] == len(rows[number]["moves"]))
                        if here.any():
                            yield number, (size, found, np.flatnonzero(here))

    def check(self, asked, size, group, index, row) -> None:
        answer = asked(*(lambda batch: (batch.spatial, batch.globals_))(make_batch(size, group, index)))
        right = row["raw"]
        legal = [p is not None for line in right["policy"] for p in line] + [True]
        logits = answer.policy[0].masked_fill(~torch.tensor(legal), -torch.inf)
        wanted = [p or 0.0 for line in right["policy"] for p in line] + [right["policyPass"]]
        where = f"{row['rules']} {size} komi {row['komi']} {row['moves']}"
        torch.testing.assert_close(F.softmax(logits, dim=0), torch.tensor(wanted), rtol=0, atol=1e-3, msg=where)
        hopes = answer.optimistic[0].masked_fill(~torch.tensor(legal), -torch.inf)
        wanted = [p or 0.0 for line in row["optimistic"]["policy"] for p in line] + [row["optimistic"]["policyPass"]]
        torch.testing.assert_close(F.softmax(hopes, dim=0), torch.tensor(wanted), rtol=0, atol=1e-3, msg=where)
        sign = 1 if row["to_play"] == "W" else -1
        owners = torch.tensor(right["whiteOwnership"]).flatten() * sign
        torch.testing.assert_close(torch.tanh(answer.ownership[0]), owners, rtol=0, atol=2e-3, msg=where)
        value = answer.value[0].clone()
        if right["noResult"] == 0:
            value[2] = -torch.inf
        win, loss, _ = F.softmax(value, dim=0).tolist()
        self.assertAlmostEqual((win - loss) * sign, right["whiteWin"] - right["whiteLoss"], delta=2e-3, msg=where)
        lead = float(answer.lead()[0]) * sign * (1 - right["noResult"])
        self.assertAlmostEqual(lead, right["whiteLead"], delta=2e-2, msg=where)
        errors = answer.expected_errors()[0].tolist()
        self.assertAlmostEqual(errors[0], right["shorttermWinlossError"], delta=2e-3, msg=where)
        self.assertAlmostEqual(errors[1], right["shorttermScoreError"], delta=5e-3, msg=where)
        self.assertAlmostEqual(float(answer.variance_time()[0]), right["varTimeLeft"], delta=1e-2, msg=where)


def record(row: dict) -> str:
    """A game record in SGF that comes through a position."""

    def vertex(name: str) -> str:
        if name.lower() == "pass":
            return ""
        column = "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(name[0].upper())
        return chr(97 + column) + chr(97 + row["rows"] - int(name[1:]))

    # Passes behind the position, so that a game is long enough to be taken.
    moves = [(color, vertex(name)) for color, name in row["moves"]]
    colors = "BW" if row["to_play"] == "B" else "WB"
    moves += [(colors[i % 2], "") for i in range(max(2, 12 - len(moves)))]
    size = f"{row['columns']}:{row['rows']}" if row["columns"] != row["rows"] else row["columns"]
    body = "".join(f";{color}[{at}]" for color, at in moves)
    return f"(;GM[1]FF[4]SZ[{size}]KM[{row['komi']}]RE[B+R]{body})"


class Komi(unittest.TestCase):
    def test_the_wave(self):
        # From the table in src/net/features: area 81, komi that allow a draw are odd.
        for komi, wave in [(7.0, 0.0), (7.5, 0.5), (8.0, 0.0), (8.5, -0.5), (6.5, -0.5), (7.25, 0.25), (-7.5, -0.5)]:
            for area, more in [(81, 0), (80, 1), (81, 2), (361, -30)]:
                self.assertAlmostEqual(float(komi_wave(area, np.array(komi + more))), wave)

    def test_more_komi(self):
        before = np.zeros((3, 19), np.float32)
        before[:, KOMI], before[:, KOMI_WAVE] = -7.5 / 20, -0.5
        before[2, TERRITORY], before[2, KOMI_WAVE] = 1, 0
        more = np.array([0, 10.5, 500.0])
        after = with_komi(before, 81, more)
        np.testing.assert_allclose(after[:, KOMI] * 20, [-7.5, 3.0, 101.0], rtol=1e-6)
        np.testing.assert_allclose(after[:, KOMI_WAVE], [-0.5, 0, 0])
        unchanged = [i for i in range(19) if i not in (KOMI, KOMI_WAVE)]
        np.testing.assert_array_equal(after[:, unchanged], before[:, unchanged])
        same = gpu.moved_komi(torch.from_numpy(before), 81, torch.from_numpy(more).float())
        np.testing.assert_allclose(same.numpy(), after, atol=1e-6)

    def test_any_komi(self):
        before = np.zeros((2000, 19), np.float32)
        before[:, KOMI] = np.repeat([-7.5 / 20, 30 / 20], 1000)
        rng = np.random.default_rng(4)
        np.testing.assert_array_equal(odd_komi(before, 81, 0.0, rng), before)
        after = odd_komi(before, 81, 0.5, rng)
        changed = after[:, KOMI] != before[:, KOMI]
        self.assertTrue(0.44 < changed.mean() < 0.53)
        komi = 20 * after[changed, KOMI]
        self.assertTrue((np.abs(komi) <= 101).all() and komi.min() < -70 and komi.max() > 70)
        np.testing.assert_allclose(2 * komi, np.round(2 * komi), atol=1e-3)
        # Half of them are near what they were.
        self.assertTrue(0.5 < (np.abs(after - before)[changed, KOMI] * 20 <= 30.5).mean() < 0.85)
        np.testing.assert_allclose(after[:, KOMI_WAVE][changed], komi_wave(81, komi), atol=1e-4)


def call(main, words: list) -> str:
    """What a script prints with these words on its command line."""
    printed = io.StringIO()
    with mock.patch.object(sys, "argv", [str(word) for word in words]), contextlib.redirect_stdout(printed):
        main()
    return printed.getvalue()


def write_shard(path: Path, columns: int, rows: int, count: int = 40) -> None:
    arrays = {f"{columns}x{rows}/{name}": values for name, values in group(count, columns, rows).items()}
    np.savez(path, version=np.array([1], np.uint32), **arrays)


class EvenKomi(unittest.TestCase):
    def test_nobody_is_ahead_by_much(self):
        shard, rng = group(400, 7, 7), np.random.default_rng(1)
        shard["global"][:, KOMI] = np.round(shard["global"][:, KOMI] * 40) / 40
        # The player to move is ahead by what lies on the board and by komi, which counts for it.
        leads = rng.integers(-20, 21, 400) + 20 * shard["global"][:, KOMI]
        found = even_komi(shard["global"], 49, 0.75, leads, rng)
        changed = (found != shard["global"]).any(axis=1)
        self.assertTrue(0.6 < changed.mean() < 0.9)
        after = leads + 20 * (found - shard["global"])[:, KOMI]
        self.assertTrue((np.abs(after[changed]) < 9).all())
        self.assertGreater(np.mean(np.abs(after[changed]) < 1.1), 0.6)
        # Whole and half points both come up.
        halves = np.round(40 * found[changed, KOMI]) % 2
        self.assertTrue(0.3 < halves.mean() < 0.7)
        np.testing.assert_array_equal(even_komi(shard["global"], 49, 0.0, leads, rng), shard["global"])


class Labels(unittest.TestCase):
    @torch.inference_mode()
    def test_a_fair_komi_is_what_the_judge_finds_fair(self):
        class Judge:
            def __call__(self, spatial, globals_):
                # Komi and what lies on the board: 30 points for the player to move, less where it gives much komi.
                answer = mock.Mock()
                answer.lead = lambda: 30 + 20 * globals_[:, KOMI]
                return answer

        shard = group(200, 7, 7)
        shard["global"][:, KOMI] = np.round(shard["global"][:, KOMI] * 40) / 40
        found = label.leads(Judge(), (7, 7), shard, 4)
        np.testing.assert_allclose(found, 30 + 20 * shard["global"][:, KOMI], rtol=1e-5)
        changed = np.arange(200) < 150
        fair = fair_komi(shard["global"], 49, changed, found, np.random.default_rng(1))
        after = 30 + 20 * fair[:, KOMI]
        self.assertTrue((np.abs(after[changed]) < 9).all() and 1 < after[changed].std() < 3)
        np.testing.assert_array_equal(fair[~changed], shard["global"][~changed])

    def test_labels_go_on_where_they_stopped_and_follow_from_the_seed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            katago_file.write(folder / "teacher.bin.gz", "t", network())
            for shard, size in [("training-0", (7, 7)), ("training-1", (5, 4))]:
                write_shard(folder / f"{shard}.npz", *size)

            def run(*more: str) -> dict[str, bytes]:
                command = ["label.py", folder / "teacher.bin.gz", folder, "--threads", "1"]
                command += ["--symmetries", "2", "--vary-komi", "0.4", "--precision", "f32", *more]
                command += ["--fair-komi", "0.2", "--judge", folder / "teacher.bin.gz"]
                call(label.main, command)
                return {path.name: path.read_bytes() for path in sorted(folder.glob("*.labels.npz"))}

            self.assertEqual(len(run("--most", "1")), 1)
            both = run()
            self.assertEqual(len(both), 2)
            # A kill leaves a part, or nothing.
            (folder / "training-1.labels.npz").unlink()
            (folder / "training-1.npz.part").write_bytes(b"half")
            again = run()
            for path, data in both.items():
                with self.subTest(path):
                    (folder / "x.npz").write_bytes(data)
                    first = dict(np.load(folder / "x.npz"))
                    (folder / "x.npz").write_bytes(again[path])
                    for array, values in np.load(folder / "x.npz").items():
                        np.testing.assert_array_equal(values, first[array])
            self.check(folder)

    @torch.inference_mode()
    def check(self, folder: Path) -> None:
        """The labels are what the network says, of the komi that the labels tell."""
        made = network()
        found = read_groups(folder / "training-0.npz")[7, 7]
        komi = found["global"][:, KOMI] != group(40, 7, 7)["global"][:, KOMI]
        self.assertTrue(0 < komi.sum() < 40)
        self.assertTrue((found["value"][komi] == 0).all() and (found["value"][~komi].sum(axis=1) == 1).all())
        total = found["policy_share"].astype(np.float64).sum(axis=1) + found["policy_rest"]
        np.testing.assert_allclose(total, 65535, atol=20)
        rows = np.arange(40)
        # Averaged over all symmetries, turning the board turns the answer and changes nothing else.
        policy, value, score, errors, owners, hopes = label.ask(made, (7, 7), found, rows, list(range(8)))
        source = turned_points(7, 7, 5)
        turned = dict(found)
        bits = np.unpackbits(found["planes"], axis=2)[:, :, :49][:, :, source]
        turned["planes"] = np.packbits(bits, axis=2)
        again = label.ask(made, (7, 7), turned, rows, list(range(8)))
        torch.testing.assert_close(again[0][:, :-1], policy[:, source], rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(again[5][:, :-1], hopes[:, source], rtol=1e-3, atol=1e-4)
        for ours, theirs in zip(again[1:4], (value, score, errors)):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(again[4], owners[:, source], rtol=1e-3, atol=1e-4)


class OnADevice(unittest.TestCase):
    """`gpu.py`, on whatever is here."""

    def test_positions_are_turned_as_elsewhere(self):
        for size in [(5, 5), (4, 3)]:
            shard = group(6, *size)
            shard["played"][:2] = size[0] * size[1], 65535
            pool = gpu.Pool(size, torch.device("cpu"))
            pool.add({name: values[:2] for name, values in shard.items()}, weak=False)
            pool.take_in()
            pool.add({name: values[2:] for name, values in shard.items()}, weak=False)
            pool.take_in()
            for turn in range(len(pool.tables)):
                found = pool.batch(torch.arange(6), torch.full((6,), turn))
                right = make_batch(size, shard, np.arange(6), turn)
                for name in ("spatial", "globals_", "played", "has_played", "result", "ownership"):
                    torch.testing.assert_close(getattr(found, name), getattr(right, name), equal_nan=True, msg=name)

    def test_names_are_left_out(self):
        record = rb"(;GM[1]SZ[19]PB[a\]b]PW[c]RE[B+R]DT[2012-01-02]C[x];B[pd];W[dd]C[;B[aa\]])"
        self.assertEqual(gpu.lean(record), b"(;GM[1]SZ[19]RE[B+R]DT[2012-01-02];B[pd];W[dd])")

    def test_a_folder_is_all_it_takes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "teacher.bin").write_bytes(Emitter(15).bytes())
            write_shard(folder / "a.npz", 7, 7)
            write_shard(folder / "b.npz", 5, 4)
            games = ";B[pd];W[dd];B[pq];W[dp]".join(f"\n(;SZ[19]DT[{year}]RE[B+R]" for year in (2012, 2013, 2016))
            (folder / "games.sgf").write_text(games.replace("\n(", ")\n(").lstrip(")\n") + ")")

            said = call(
                gpu.main, ["gpu.py",
                "pack", folder / "pack", "--teacher", folder / "teacher.bin", "--games", folder / "games.sgf",
                "--shards", folder / "a.npz", "--self-play", folder / "b.npz", "--validation", folder / "a.npz",
            ])  # fmt: skip
            self.assertIn("2 games", said)
            (folder / "teacher.bin").unlink()
            common = ["--batch", 8, "--window", 2, "--threads", 1, "--least", 1, "--log-seconds", 0.2, "--reserve", 1]
            common += ["--checkpoint-seconds", 0.5, "--device", "cpu"]
            train = ["train", folder / "pack", *common, "--seconds", 5]
            # From the folder alone.
            command = [sys.executable, folder / "pack" / "gpu.py", *train, "--out", folder / "first", "--shape", "b2c16"]
            made = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn("kind=validation", made.stdout)
            first = gpu.read_state(folder / "first")
            self.assertGreater(first["steps"], 0)
            more = ["--out", folder / "second", "--start", folder / "first", "--cool-down", "0.5"]
            call(gpu.main, ["gpu.py", *train, *more])
            second = gpu.read_state(folder / "second")
            self.assertGreater(second["steps"], first["steps"])
            _, averaged = katago_file.read(folder / "second" / "network.bin.gz")
            call(gpu.main, ["gpu.py", "export", folder / "second", folder / "exported.bin.gz"])
            _, exported = katago_file.read(folder / "exported.bin.gz")
            for (name, value), wanted in zip(exported.named_parameters(), averaged.parameters(), strict=True):
                torch.testing.assert_close(value, wanted, rtol=2e-2, atol=2e-3, msg=name)
            for name, value in averaged.state_dict().items():
                wanted = second["network"][name] + second["average"][name].float()
                torch.testing.assert_close(value, wanted, rtol=2e-2, atol=2e-3, msg=name)
            lines = (folder / "second" / "log.jsonl").read_text().splitlines()
            steps = [json.loads(line)["steps"] for line in lines]
            self.assertEqual(steps, sorted(steps))


class Hints(unittest.TestCase):
    """`hints.py`: blocks are told what those of another network write."""

    def training(self, folder: Path, model: Network, *more: str) -> hints.Training:
        """The last of several options of one name counts."""
        katago_file.write(folder / "teacher.bin.gz", "t", model)
        write_shard(folder / "training-0.npz", 7, 7)
        write_shard(folder / "validation-0.npz", 7, 7)
        words = [folder / "teacher.bin.gz", "--data", folder, "--out", folder / "run", "--shape", "b2c32h2tflrs", *more]
        return hints.Training(hints.arguments([str(word) for word in words]))

    def test_who_computes_the_same_is_not_off(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c32h2tflrs")
            # Fewer points than a batch has, so that some are chosen.
            training = self.training(Path(folder), model, "--points", "20", "--batch", "4")
            for name, part in training.network.state_dict().items():
                part.copy_(model.state_dict()[name])
            batch = next(iter(training.stream))
            own = training.from_own_numbers
            steps = {name: functools.partial(own, part=name) for name in ("joined", "whole", "minutes")}
            for name, step in [("blocks", training.blocks_apart), *steps.items()]:
                found, parts = step(batch)
                self.assertEqual(len(found), 5)
                for index, part in enumerate(found):
                    self.assertLess(float(part.detach()), 1e-6, f"{name}, block {index}")
                self.assertIn("policy", parts)
                # One block that writes something else: who reads the teacher's numbers is not harmed by it.
                with torch.no_grad():
                    training.network.blocks[0].out.weight.add_(0.5)
                found, _ = step(batch)
                with torch.no_grad():
                    training.network.blocks[0].out.weight.sub_(0.5)
                harmed = [float(part.detach()) > 1e-3 for part in found]
                self.assertEqual(harmed, [False, True, *[name != "blocks"] * 3])

    def test_every_part_of_a_nested_block_is_told_what_its_own_adds(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c64h2nbttflrs-silu")
            training = self.training(Path(folder), model, "--shape", "b2c64h2nbttflrs-silu", "--points", "20", "--batch", "4")
            for name, part in training.network.state_dict().items():
                part.copy_(model.state_dict()[name])
            batch = next(iter(training.stream))
            block = training.network.blocks[0]
            parts = [block.conv1, block.blocks[1].last, block.blocks[2].out, block.conv2]
            for wrong in [None, *parts]:
                if wrong is not None:
                    with torch.no_grad():
                        wrong.weight.add_(0.5)
                found, _ = training.blocks_apart(batch)
                self.assertEqual([float(part.detach()) > 1e-3 for part in found], [False, wrong is not None, False])
                if wrong is None:
                    continue
                # No other part reads what this one writes.
                for parameter in training.network.parameters():
                    parameter.grad = None
                found[1].backward()
                for part in parts:
                    much = float(part.weight.grad.abs().max()) > 1e-3
                    self.assertEqual(much, part is wrong)
                with torch.no_grad():
                    wrong.weight.sub_(0.5)

    def test_blocks_learn_what_larger_ones_add(self):
        for precision in ("f32", "bf16"):
            with self.subTest(precision), tempfile.TemporaryDirectory() as folder:
                more = ["--shape", "b2c64h2m16nb1ttflrs-silu", "--blocks", "1000", "--precision", precision]
                training = self.training(Path(folder), network("b2c64h2nbttflrs-silu"), *more)
                self.addCleanup(fast.use_pairs, False)
                batch = next(iter(training.stream))
                found = [training.step(batch) for _ in range(60)]
                for block in ("off/1", "off/2"):
                    self.assertLess(found[-1][block], 0.7 * found[0][block])

    def test_who_learns_from_what_a_block_is_off(self):
        for part, learns in [("joined", False), ("whole", True)]:
            with self.subTest(part), tempfile.TemporaryDirectory() as folder:
                training = self.training(Path(folder), network("b2c32h2tflrs"))
                training.network.load_state_dict(network("b2c32h2tflrs", 2).state_dict())
                found, _ = training.from_own_numbers(next(iter(training.stream)), part)
                found[2].backward()
                blocks = training.network.blocks
                self.assertGreater(float(blocks[1].last.weight.grad.abs().max()), 0)
                self.assertEqual(blocks[0].out.weight.grad is not None, learns)

    def test_a_teachers_answer_is_a_label(self):
        with tempfile.TemporaryDirectory() as folder:
            model = network("b2c32h2tflrs")
            training = self.training(Path(folder), model)
            batch = next(iter(training.stream))
            answer = training.teacher(batch)[1]
            hints.told(answer, batch)
            sums = measures(answer, batch)
            for name in ("teacher_policy", "teacher_value", "teacher_score", "teacher_ownership"):
                self.assertLess(abs(float(sums[name])), 1e-3, name)
            self.assertEqual(float(sums["teacher_top1"]), len(batch))

    def test_other_blocks_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(SystemExit, "nothing can be told"):
                self.training(Path(folder), network("b2c16"))

    def test_it_goes_on_and_a_training_begins_with_it(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            more = ["--blocks", "0.02", "--minutes", "0.03", "--log-minutes", "0.005", "--threads", "1"]
            training = self.training(folder, network("b2c32h2tflrs"), *more)
            call(training.run, [])
            before = training.steps
            again = self.training(folder, network("b2c32h2tflrs"), *more[:3], "0.05", *more[4:])
            self.assertEqual(again.steps, before)
            call(again.run, [])
            self.assertGreater(again.steps, before)
            # Another stretch, with another optimiser, in a folder of its own.
            stretch = ["--out", str(folder / "other"), "--start", str(folder / "run"), "--shape", "b1c8", "--whole", "0.03"]
            other = self.training(folder, network("b2c32h2tflrs"), *stretch, "--blocks", "0", "--minutes", "0", "--threads", "1")
            self.assertEqual(other.positions, again.positions)
            for name, value in other.network.state_dict().items():
                torch.testing.assert_close(value, again.average.weights[name], msg=name)
            call(other.run, [])
            self.assertGreater(other.steps, again.steps)
            kinds = [json.loads(line)["kind"] for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            self.assertEqual(set(kinds), {"hints", "validation"})
            # Where only the last layers are to learn, not even the first step is one of the blocks.
            stretch = ["--out", str(folder / "last"), "--start", str(folder / "run"), "--blocks", "0", "--minutes", "0.02"]
            last = self.training(folder, network("b2c32h2tflrs"), *stretch, "--threads", "1")
            call(last.run, [])
            self.assertGreater(last.steps, again.steps)
            for name, value in last.network.state_dict().items():
                if name.startswith(("conv1", "from_global", "blocks")):
                    torch.testing.assert_close(value, again.average.weights[name], msg=name, rtol=0, atol=0)
            command = [sys.executable, HERE / "train.py", "--data", folder, "--out", folder / "next", "--threads", "1"]
            command += ["--start", folder / "run", "--batch", "8", "--positions", again.positions + 16, "--precision", "f32"]
            subprocess.run([str(word) for word in command], check=True, capture_output=True)
            state = torch.load(folder / "next" / "state.pt", weights_only=True)
            self.assertGreater(state["positions"], again.positions)


class Parts(unittest.TestCase):
    """`parts.py`: every part of a nested block learns by itself what the teacher's writes."""

    def folder(self, name: str, shape: str) -> Path:
        """A teacher, a run of another network of its shape, and positions."""
        folder = Path(name)
        katago_file.write(folder / "teacher.bin.gz", "t", network(shape))
        (folder / "start").mkdir()
        katago_file.write(folder / "start" / "network.bin.gz", "n", network(shape, 2))
        facts = {"positions": 7, "steps": 1, "cpu_seconds": 1.0, "wall_seconds": 1.0, "round": 0}
        (folder / "start" / "state.json").write_text(json.dumps(facts))
        write_shard(folder / "training-0.npz", 7, 7)
        write_shard(folder / "training-1.npz", 5, 7)
        self.addCleanup(fast.use_pairs, False)
        return folder

    def test_a_part_is_off_by_its_own_fault_alone(self):
        for shape in ("b2c64h2nbttflrs-silu", "b3c32nbt"):
            with self.subTest(shape), tempfile.TemporaryDirectory() as name:
                folder = self.folder(name, shape)
                pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 400, 1, 4)
                made = network(shape)
                found = parts.parts_of(made)
                self.assertEqual(len(found), {"b2c64h2nbttflrs-silu": 2 * 6, "b3c32nbt": 3 * 4}[shape])
                for wrong in [None, *found]:
                    if wrong is not None:
                        matrices = [one for one in wrong.module().parameters() if one.ndim > 1]
                        with torch.no_grad():
                            matrices[-1].add_(0.3)
                    for part in found:
                        is_off = parts.measured(part, pool.pairs(part)) > 1e-3
                        self.assertEqual(is_off, part is wrong, part.name())
                    if wrong is not None:
                        with torch.no_grad():
                            matrices[-1].sub_(0.3)

    def test_a_pool_for_some_parts_is_the_same_for_them(self):
        shape = "b2c64h2nbttflrs-silu"
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, shape)
            asked, made = teacher.read(folder / "teacher.bin.gz"), network(shape)
            found = [*parts.parts_of(made), parts.Stem(made)]
            whole = parts.Pool(asked, folder, 400, 1, 4)
            for part in found:
                some = parts.Pool(asked, folder, 400, 1, 4, only=[part])
                kept = [it for *_, outside, inside in some.batches for it in [*outside, *sum(inside, [])] if it is not None]
                self.assertLessEqual(len(kept), 3 * len(some.batches), part.name())
                if isinstance(part, parts.Stem):
                    self.assertEqual(part.measured(some.batches), part.measured(whole.batches))
                else:
                    self.assertEqual(parts.measured(part, some.pairs(part)), parts.measured(part, whole.pairs(part)))

    def test_last_layers_are_found_again(self):
        shape = "b2c64h2nbttflrs-silu"
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, f"{shape}-smooth")
            # Scales in front of SiLU belong to the teacher alone, whose file folds the variance of its norms into them.
            asked, made = teacher.read(folder / "teacher.bin.gz"), network(shape, 2)
            with torch.no_grad():
                for norm in (asked.g1_norm, asked.p1_norm, asked.v1_norm):
                    norm.scale.uniform_(0.5, 2)
            self.assertTrue(is_smooth(asked))
            write_shard(folder / "training-2.npz", 9, 7, 400)
            write_shard(folder / "training-3.npz", 6, 7, 400)
            pool = parts.Pool(asked, folder, 60_000, 1, 4)
            made = with_heads_like(made, asked)
            self.assertIs(with_heads_like(made, asked), made)
            heads = Heads(made, asked)
            facts = parts.solve(heads, pool)
            self.assertGreater(facts["before"], 0.1)
            self.assertLess(facts["after"], 1e-5)
            # In a file, too.
            katago_file.write(folder / "made.bin.gz", "m", made)
            again = Heads(katago_file.read(folder / "made.bin.gz")[1], asked)
            self.assertAlmostEqual(again.measured(pool.batches), heads.measured(pool.batches), delta=1e-7)
            katago_file.write(folder / "other.bin.gz", "o", network(shape))
            self.assertFalse(is_smooth(teacher.read(folder / "other.bin.gz")))

    def test_scale_and_bias_in_front_of_silu(self):
        torch.manual_seed(3)
        read, scale, bias = torch.randn(500, 6), torch.tensor([1.0, -2.0, 0.3, 3.0, 0.5, -0.1]), torch.tensor([0.0, 1.0, -1.0, 0.5, -4.0, 2.0])
        found = scale_and_bias(read, F.silu(read * scale + bias))
        torch.testing.assert_close(found[0], scale, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(found[1], bias, rtol=1e-3, atol=1e-3)

    def test_no_position_counts_for_all_others(self):
        before = torch.randn(40, 25, 6)
        wanted = before + torch.randn(40, 25, 6)
        wanted[0] = before[0] + 1000 * torch.randn(25, 6)
        count = parts.counts(wanted, before)
        self.assertEqual(float(parts.off_by_position(wanted, wanted, before, count)), 0)
        self.assertAlmostEqual(float(parts.off_by_position(before, wanted, before, count)), 1, delta=1e-5)
        # All is forgotten but for one position with huge numbers, which a plain sum of squares does not show.
        found = before.clone()
        found[0] = wanted[0]
        self.assertLess(float(hints.off(found, wanted, before)), 1e-3)
        self.assertGreater(float(parts.off_by_position(found, wanted, before, count)), 0.9)
        # That position alone is one of 40, and counts for two.
        found = wanted.clone()
        found[0] = before[0]
        self.assertAlmostEqual(float(parts.off_by_position(found, wanted, before, count)), 2 / 41, delta=0.01)
        # Within a position, points count by their squares.
        wanted[1, 0] = before[1, 0] + 100
        found = wanted.clone()
        found[1, 0] = before[1, 0]
        count = parts.counts(wanted, before)
        self.assertAlmostEqual(float(parts.off_by_position(found[1:2], wanted[1:2], before[1:2], count[1:2])), 1, delta=0.01)

    def test_units_are_turned_back(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 4000, 1, 4)
            for is_exchanged, factor in parts.TURNS:
                with self.subTest(is_exchanged=is_exchanged, factor=factor):
                    part = next(part for part in parts.parts_of(network("b2c64h2nbttflrs-silu")) if part.name() == "0-2")
                    pairs, block = pool.pairs(part), part.inner
                    wrong = range(0, block.last.in_features, 5)
                    with torch.no_grad():
                        for unit in wrong:
                            first, gate = block.first.weight[unit].clone(), block.gate.weight[unit].clone()
                            if is_exchanged:
                                size = [float((weight * block.norm.scale).norm()) for weight in (first, gate)]
                                first, gate = gate * (size[0] / size[1] / factor), first * (size[1] / size[0] * factor)
                            else:
                                first, gate = -first, -gate
                            block.first.weight[unit], block.gate.weight[unit] = first, gate
                    is_off = parts.measured(part, pairs)
                    self.assertGreater(is_off, 1e-4)
                    turned = parts.turn(part, pairs, is_exchanged, factor, torch.Generator().manual_seed(1))
                    self.assertGreaterEqual(turned, len(wrong) // 2)
                    self.assertLess(parts.measured(part, pairs), 0.5 * is_off)

    def test_each_head_stays_where_it_is_best(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 4000, 1, 4)
            part = next(part for part in parts.parts_of(network("b2c64h2nbttflrs-silu")) if part.name() == "0-1")
            pairs, block, generator = pool.pairs(part), part.inner, torch.Generator().manual_seed(1)
            earlier = copy.deepcopy(block)
            width = block.q.out_features // block.heads
            # Both have all they need, but each only in one of its two heads; and the norms have other scales.
            with torch.no_grad():
                for wrong, head in ((block, 0), (earlier, 1)):
                    own = slice(head * width, (head + 1) * width)
                    for layer in (wrong.q, wrong.k, wrong.v):
                        layer.weight[own] = torch.randn(layer.weight[own].shape, generator=generator) * layer.weight.std()
                earlier.norm.scale.mul_(2)
                for layer in (earlier.q, earlier.k, earlier.v):
                    layer.weight.div_(2)
            self.assertGreater(parts.measured(part, pairs), 1e-3)
            self.assertEqual(parts.head_by_head(part, earlier, pairs), 1)
            self.assertLess(parts.measured(part, pairs), 1e-6)

    def test_rotations_that_are_missing_are_found(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            made, wanted = network("b2c64h2nbttflrs-silu"), torch.tensor([2.4, -1.4])
            attention = made.blocks[0].blocks[0]
            with torch.no_grad():
                for layer in (attention.q, attention.k):
                    layer.weight.mul_(2)
                attention.frequencies[0] = torch.linspace(0, 0.5, attention.frequencies.shape[1])[:, None] * torch.tensor([1.0, 0.5])
                attention.frequencies[0, -1] = wanted
            katago_file.write(folder / "teacher.bin.gz", "t", made)
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 8000, 1, 4)
            part = next(part for part in parts.parts_of(made) if part.name() == "0-1")
            pairs = pool.pairs(part)
            with torch.no_grad():
                attention.frequencies[0, -1] = 0.3
            boards = list(parts.boards_of(part, pairs))
            search = rotations.Search(attention, boards)
            first = next(search.missing(0, 1))
            self.assertLess(min(float((first - one).norm()) for one in (wanted, -wanted)), 0.2, first)
            # The other head has all it needs, and a pair that does more harm than good is none.
            self.assertEqual(list(search.missing(1, 3)), [])
            with torch.no_grad():
                attention.frequencies[0, -1] = first
                is_off = []
                for size in (0.0, 0.1):
                    for layer, own in zip((attention.q, attention.k), search.pair(0, first)):
                        rows = layer.weight.view(2, 2, -1, layer.in_features)[0, :, -1]
                        rows.copy_(size * torch.stack([own.real, own.imag]))
                    is_off.append(parts.measured(part, pairs))
            self.assertLess(is_off[1], is_off[0], "it leads down")
            # Boards that are too large are left out.
            self.assertEqual(rotations.give(attention, [dataclasses.replace(boards[0], rows=25)], 2), 0)

    def test_rotations_begin_everywhere(self):
        block = network("b2c64h2nbttflrs-silu").blocks[0].blocks[0]
        block.begin(torch.Generator().manual_seed(1))
        sizes = block.frequencies.detach().abs()
        self.assertLessEqual(float(sizes.max()), math.pi)
        self.assertGreater(float(sizes.max()), 1.5)
        self.assertGreater(int((sizes.amax(dim=2) < 0.02).sum()), 0)

    def test_parts_learn_and_nothing_done_is_done_again(self):
        shape = "b2c64h2nbttflrs-silu"
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, shape)
            words = [folder / "teacher.bin.gz", "--start", folder / "start", "--data", folder, "--out", folder / "run", "--pool", 8000]
            words += ["--feed-forward", 0.4, "--attention", 0.4, "--convolution", 0.4]
            words = [str(word) for word in words]
            claims = parts.Claims(folder / "run" / "parts")
            _, made = katago_file.read(folder / "start" / "network.bin.gz")
            taken = parts.parts_of(made)[3]
            lock = claims.take(taken)
            call(parts.main, ["parts.py", *words])
            done = sorted(path.name for path in claims.folder.glob("*.pt"))
            self.assertEqual(len(done), 12)
            self.assertFalse(claims.done(taken).exists(), "another process had it")
            self.assertFalse((folder / "run" / "network.bin.gz").exists(), "a part is missing")
            times = {name: (claims.folder / name).stat().st_mtime_ns for name in done}
            lock.close()
            call(parts.main, ["parts.py", *words])
            for name, at in times.items():
                self.assertEqual((claims.folder / name).stat().st_mtime_ns, at, name)
            log = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            self.assertEqual(len(log), 13)
            for line in log:
                self.assertLess(line["after"], line["before"], line)
            stem = next(line for line in log if line["part"] == "stem")
            self.assertGreater(stem["before"], 0.01)
            self.assertLess(stem["after"], 1e-6, "it is linear")
            # The file holds what was learnt, and the last layers can go on from it.
            _, written = katago_file.read(folder / "run" / "network.bin.gz")
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 8000, 1, 8)
            for part in parts.parts_of(written):
                _, pairs = parts.held_back(pool.pairs(part))
                after = next(line["after"] for line in log if line["part"] == part.name())
                self.assertAlmostEqual(parts.measured(part, pairs), after, delta=0.05 * after + 1e-3)
            more = ["--data", folder, "--out", folder / "next", "--start", folder / "run", "--blocks", 0, "--minutes", 0.01]
            training = hints.Training(hints.arguments([str(word) for word in [folder / "teacher.bin.gz", *more]]))
            self.assertEqual(training.positions, 7)
            self.assertGreater(training.cpu_seconds, 12 * 0.3)
            # Some parts alone, from there on.
            words[words.index("--start") + 1], words[words.index("--out") + 1] = str(folder / "run"), str(folder / "some")
            call(parts.main, ["parts.py", *words, "--only", "0-2,1-5"])
            log = [json.loads(line) for line in (folder / "some" / "log.jsonl").read_text().splitlines()]
            self.assertEqual([line["part"] for line in log[13:]], ["0-2", "1-5"])
            _, again = katago_file.read(folder / "some" / "network.bin.gz")
            changed = [name for name, one in again.state_dict().items() if not torch.equal(one, written.state_dict()[name])]
            self.assertTrue(all(name.startswith(("blocks.0.blocks.1.", "blocks.1.norm2", "blocks.1.conv2")) for name in changed), changed)
            self.assertTrue(changed)
            with self.assertRaisesRegex(SystemExit, "no part 7-7"):
                call(parts.main, ["parts.py", *words, "--only", "0-2,7-7"])

    def test_other_blocks_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            katago_file.write(folder / "teacher.bin.gz", "t", network("b2c32h2tflrs"))
            words = [folder / "teacher.bin.gz", "--start", folder / "start", "--data", folder, "--out", folder / "run"]
            with self.assertRaisesRegex(SystemExit, "nothing can be told"):
                parts.main([str(word) for word in words])


class Together(unittest.TestCase):
    """`together.py`: several processes, one network."""

    def processes(self, count: int, *command) -> str:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count), "--standalone", "--"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE)}
        words = [*launcher, *(str(word) for word in command)]
        done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_a_step_is_that_of_the_mean(self):
        script = """
import os

import torch
from torch import nn
from together import Workers

workers = Workers()
network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2), nn.Linear(2, 2)).to(memory_format=torch.channels_last)
torch.manual_seed(workers.rank)
for parameter in network.parameters():
    nn.init.normal_(parameter)
workers.agree(network)
torch.manual_seed(0)
for parameter in network.parameters():
    assert torch.equal(parameter, nn.init.normal_(torch.empty_like(parameter))), "the first one's weights"
# The second layer has gradients in one process alone, the last one nowhere.
whole = network[:2](torch.ones(1, 3, 4, 4).contiguous(memory_format=torch.channels_last)) if workers.rank else network[0](torch.ones(1, 3, 4, 4))
((workers.rank + 1) * whole).sum().backward()
own = [None if parameter.grad is None else parameter.grad.clone() for parameter in network.parameters()]
assert workers.mean(network, [float(workers.rank), 5.0]) == [0.5, 5.0]
if workers.is_first():
    # The bias of the convolution: 4 numbers at each of 2x2 points, here once.
    assert torch.equal(own[1], torch.full((4,), 4.0)) and own[2] is None
bias = network[0].bias.grad
seen = 2 * network[1].weight.detach().sum() * 2
torch.testing.assert_close(bias, (torch.full((4,), 4.0) + seen) / 2)
torch.testing.assert_close(network[1].bias.grad, torch.full((2,), 2 * 8.0 / 2))
assert network[2].weight.grad is None and network[2].bias.grad is None
workers.leave()
# One write: both processes write to one pipe.
os.write(1, b"agreed %d\\n" % workers.rank)
"""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "script.py"
            path.write_text(script)
            said = self.processes(2, path)
            self.assertIn("agreed 0", said)
            self.assertIn("agreed 1", said)

    def test_two_processes_learn_from_hints(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            katago_file.write(folder / "teacher.bin.gz", "t", network("b2c32h2tflrs"))
            write_shard(folder / "training-0.npz", 7, 7)
            write_shard(folder / "validation-0.npz", 7, 7)
            options = ["--data", folder, "--out", folder / "run", "--shape", "b2c32h2tflrs", "--blocks", "0.05", "--minutes", "0.05"]
            self.processes(2, HERE / "hints.py", folder / "teacher.bin.gz", *options, "--batch", "8", "--threads", "1")
            lines = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            # One process writes, and counts what both have seen.
            self.assertEqual([line["kind"] for line in lines], ["hints", "validation"])
            self.assertGreaterEqual(lines[0]["positions"], 8 * 2 * lines[0]["steps"])
            self.assertGreater(lines[0]["steps"], 5)


class Balance(unittest.TestCase):
    """`balance.py`: units become alike, and answers stay what they were, to the last bit."""

    @torch.no_grad()
    def test_units_become_alike_and_answers_stay(self):
        for shape, count in (("b2c32h2tflrs", 4), ("b2c64h2nbttflrs-silu", 8)):
            with self.subTest(shape):
                made = network(shape)
                self.assertEqual(len(balance.layers(made)), count)
                # One unit of each block is made far too large, one far too small.
                for block in balance.layers(made):
                    makes = block.v if hasattr(block, "v") else block.gate
                    makes.weight[0] *= 40
                    makes.weight[1] /= 40
                with tempfile.TemporaryDirectory() as folder:
                    write_shard(Path(folder) / "training-0.npz", 7, 7)
                    batches = list(all_batches(folder, "training", 16, 48))
                before = answers(made, batches[0].spatial, batches[0].globals_)
                sizes = balance.inner_sizes(made, batches)
                balance.balance(made, sizes)
                for one, other in zip(answers(made, batches[0].spatial, batches[0].globals_), before, strict=True):
                    self.assertTrue(torch.equal(one, other))
                for old, new in zip(sizes, balance.inner_sizes(made, batches)):
                    self.assertLess(float(new.max() / new.min()), 0.2 * float(old.max() / old.min()))


def rounded(made: Network, share: float, least: int = 1000) -> dict[torch.nn.Parameter, float]:
    """Makes weights multiples of steps as if all inputs had nothing to do with each other; the steps."""
    with tempfile.TemporaryDirectory() as folder:
        katago_file.write(Path(folder) / "n.bin.gz", "n", made)
        layers = teacher.read(Path(folder) / "n.bin.gz").named_modules()
    inputs = {name: torch.eye(layer.in_features) for name, layer in layers if isinstance(layer, torch.nn.Linear)}
    with mock.patch.object(compact, "LEAST", least):
        return compact.compact(made, inputs, share)


class Compact(unittest.TestCase):
    """Weights as multiples of a step."""

    @torch.no_grad()
    def test_a_compact_file_is_read_as_it_was_rounded(self):
        made = network("b2c64h2nbttflrs-silu")
        for block in made.modules():
            if hasattr(block, "norm") and hasattr(block.norm, "scale"):
                block.norm.scale.uniform_(0.5, 2.0)
        spatial, globals_ = (torch.rand(3, 22, 7, 9) > 0.7).float(), torch.randn(3, 19)
        before = made(spatial, globals_)
        compact.fold_norms(made)
        torch.testing.assert_close(made(spatial, globals_).policy, before.policy, rtol=1e-4, atol=1e-4)
        with tempfile.TemporaryDirectory() as folder:
            plain, path = Path(folder) / "n.bin.gz", Path(folder) / "n.compact.gz"
            katago_file.write(plain, "n", made)
            steps = rounded(made, 0.3)
            self.assertIn(made.blocks[0].blocks[1].gate.weight, steps)
            katago_file.write(path, "n", made, steps=steps)
            self.assertLess(path.stat().st_size, 0.6 * plain.stat().st_size)
            _, found = katago_file.read(path)
            answers = [net(spatial, globals_) for net in (made, found, teacher.read(path))]
        for (name, wanted), weight in zip(made.named_parameters(), found.parameters()):
            torch.testing.assert_close(weight, wanted, rtol=1e-6, atol=1e-8, msg=name)
        for answer in answers[1:]:
            torch.testing.assert_close(answer.policy, answers[0].policy, rtol=1e-4, atol=1e-4)
        # What is no multiple is not written as if it were one.
        made.blocks[0].blocks[1].gate.weight[0, 0] += 0.4 * steps[made.blocks[0].blocks[1].gate.weight]
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(katago_file.FormatError):
            katago_file.write(Path(folder) / "n.compact.gz", "n", made, steps=steps)

    def test_rounding_is_made_good_where_inputs_go_together(self):
        generator = torch.Generator().manual_seed(5)
        inputs = torch.randn(4000, 8, generator=generator) @ torch.randn(8, 48, generator=generator)
        inputs += 0.3 * torch.randn(4000, 48, generator=generator)
        weight, step = torch.randn(20, 48, generator=generator), 0.5
        found = compact.multiples(weight, inputs.T @ inputs / 4000, step)
        self.assertTrue(torch.equal(found, found.round()))

        def off(rounded):
            return float((inputs @ (rounded * step - weight).T).square().mean())

        self.assertLess(off(found), off(torch.round(weight / step)) / 4)
        # Of inputs that have nothing to do with each other none can make good another's.
        alone = compact.multiples(weight, torch.eye(48), step)
        self.assertTrue(torch.equal(alone, torch.round(weight / step)))
        far = compact.multiples(1000 * weight, inputs.T @ inputs / 4000, step)
        self.assertLessEqual(float(far.abs().max()), 127)


    def test_later_layers_make_good_what_earlier_ones_are_off(self):
        """From the first block to the last: the last one's numbers are much nearer than with every matrix by itself."""
        for shape in ("b2c32h2tflrs", "b2c64h2nbttflrs-silu"):
            with self.subTest(shape), tempfile.TemporaryDirectory() as name, mock.patch.object(compact, "LEAST", 500):
                folder = Path(name)
                for index in range(4):
                    write_shard(folder / f"training-{index}.npz", 7, 7, 64)
                meant = network(shape)
                compact.fold_norms(meant)
                batch = next(iter(Stream(folder, 64, 9, 4)))

                def last_block(made: Network) -> torch.Tensor:
                    with torch.no_grad():
                        x, area = made.stem(batch.spatial, batch.globals_)
                        for block in made.blocks:
                            x = block(x, area)
                        return x

                def off(made: Network) -> float:
                    wanted = last_block(meant)
                    return float((last_block(made) - wanted).square().sum() / wanted.square().sum())

                alone, together = copy.deepcopy(meant), copy.deepcopy(meant)
                moments = compact.second_moments(alone, folder, 200, 2048)
                steps = compact.compact(alone, moments, 0.4)
                done = compact.compact_blocks(together, folder, 200, 0.4)
                self.assertLess(off(together), 0.7 * off(alone))
                # The same matrices, each of whole multiples of its step.
                in_blocks = {name for name, one in alone.named_parameters() if one in steps and name.startswith("blocks")}
                self.assertEqual({name for name, one in together.named_parameters() if one in done}, in_blocks)
                for weight, step in done.items():
                    torch.testing.assert_close(weight / step, (weight / step).round(), atol=1e-3, rtol=0)
                # The last block alone in half the steps, or hardly smaller ones where its largest weights need them.
                finer = copy.deepcopy(meant)
                halved = compact.compact_blocks(finer, folder, 200, 0.4, 0.5)
                for (name, one), other in zip(together.named_parameters(), finer.parameters()):
                    if one in done and name.startswith(f"blocks.{len(meant.blocks) - 1}."):
                        self.assertLess(halved[other], 0.6 * done[one])
                    elif one in done:
                        self.assertEqual(halved[other], done[one])
                # What is done stays as it is, and the rest is rounded.
                before = {weight: weight.clone() for weight in done}
                every = compact.compact(together, compact.second_moments(together, folder, 200, 2048), 0.4, done)
                self.assertEqual(len(every), len(steps))
                for weight, was in before.items():
                    self.assertTrue(torch.equal(weight, was))
                # Done again, nothing changes.
                again = compact.compact_blocks(together, folder, 100, 0.3)
                again = compact.compact(together, compact.second_moments(together, folder, 100, 2048), 0.3, again)
                self.assertEqual(again.keys(), every.keys())
                for weight, step in again.items():
                    self.assertAlmostEqual(step, every[weight], delta=1e-5 * step)
                for weight, was in before.items():
                    self.assertTrue(torch.equal(weight, was))


class Batches(unittest.TestCase):
    def test_everything_is_turned_together(self):
        for columns, rows, symmetries in [(5, 5, 8), (4, 3, 4)]:
            shard = group(3, columns, rows)
            # The move is where a feature says it is.
            shard["played"] = np.array([0, 2, columns * rows], np.uint16)
            shard["planes"][:, 9] = 0
            shard["planes"][0, 9, 0], shard["planes"][1, 9, 0] = 0x80, 0x20
            seen = set()
            for symmetry in range(symmetries):
                batch = make_batch((columns, rows), shard, np.arange(3), symmetry)
                plane = batch.spatial[:, 9].flatten(1)
                self.assertEqual(plane.argmax(dim=1)[:2].tolist(), batch.played[:2].tolist())
                self.assertEqual(int(batch.played[2]), columns * rows)
                source = turned_points(columns, rows, symmetry)
                expected = shard["ownership"][:, source].astype(np.float32) / 127
                np.testing.assert_allclose(batch.ownership.numpy(), expected, rtol=1e-6)
                seen.add(tuple(source))
            self.assertEqual(len(seen), symmetries)


    def test_regretted_moves_and_open_games_come_again(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            shard = group(6, 5, 5)
            moves, shares = np.zeros((6, 16), np.uint16), np.zeros((6, 16), np.uint16)
            # What was chosen: the teacher's first move, its second, one it does not name, nothing at all.
            moves[:4, 0], shares[:4, 0] = [7, 8, 9, 0], [60000, 60000, 60000, 0]
            shard |= {"policy_move": moves, "policy_share": shares}
            teacher_moves, teacher_shares = np.zeros((6, 32), np.uint16), np.zeros((6, 32), np.uint16)
            teacher_moves[:, :2] = [7, 8]
            teacher_shares[:, :2] = [0.6 * 65535, 0.35 * 65535]
            said = {"policy_move": teacher_moves, "policy_share": teacher_shares}
            said |= {"policy_rest": np.full(6, 0.05 * 65535, np.uint16), "teacher_value": np.zeros((6, 3), np.float32)}
            # The last two are decided.
            said["teacher_value"][4:, 1] = 1
            said["teacher_ownership"] = np.zeros((6, 25), np.int8)
            said["teacher_score"] = np.zeros((6, 4), np.float32)
            for kind, arrays, version in [("", shard, 1), (".labels", said, 2)]:
                arrays = {f"5x5/{array}": values for array, values in arrays.items()}
                np.savez(folder / f"training-0{kind}.npz", version=np.array([version], np.uint32), **arrays)
            (found,) = read_groups(folder / "training-0.npz").values()
            np.testing.assert_allclose(regrets(found), [0, 0.25, 0.6, 0, 0, 0], atol=1e-4)
            drawn = {}
            for often in (1, 3):
                stream = iter(Stream(folder, 1, 1, labelled=True, regretted=often))
                batches = [next(stream) for _ in range(6 + (often - 1))]
                drawn[often] = sorted(float(batch.globals_[0, 0]) for batch in batches)
            once = sorted(float(value) for value in shard["global"][:, 0])
            again = sorted(once + [float(shard["global"][2, 0])] * 2)
            np.testing.assert_allclose(drawn[1], once)
            np.testing.assert_allclose(drawn[3], again)
            stream = iter(Stream(folder, 1, 1, labelled=True, open_games=2))
            found = sorted(float(next(stream).globals_[0, 0]) for _ in range(10))
            values = [float(value) for value in shard["global"][:, 0]]
            np.testing.assert_allclose(found, sorted(values + values[:4]))


class Losses(unittest.TestCase):
    def unknown(self) -> dict[str, np.ndarray]:
        """A position off the path of a game: no move, no result, no owners."""
        shard = group(2, 5, 5)
        shard["played"][1], shard["value"][1], shard["ownership"][1] = 65535, 0, -128
        return shard

    def parts(self, shard: dict[str, np.ndarray], rows: list[int]) -> dict[str, float]:
        batch = make_batch((5, 5), shard, np.array(rows))
        with torch.inference_mode():
            answer = network()(batch.spatial, batch.globals_)
            parts = losses(answer, batch, Weights())
            counts = measures(answer, batch)
        self.assertEqual(int(counts["top1/count"]), rows.count(0))
        self.assertEqual(int(counts["value_loss/count"]), rows.count(0))
        return {name: float(part) for name, part in parts.items()}

    def test_what_is_unknown_costs_nothing(self):
        known, both = self.parts(self.unknown(), [0]), self.parts(self.unknown(), [0, 1])
        for name in ("played", "value", "ownership"):
            self.assertGreater(known[name], 0)
            self.assertAlmostEqual(both[name], known[name] / 2, places=5)

    def test_a_teacher_knows_what_no_game_says(self):
        shard = self.unknown()
        shard["policy_move"] = np.tile(np.arange(16, dtype=np.uint16), (2, 1))
        shard["policy_share"] = np.full((2, 16), 4000, np.uint16)
        shard["policy_rest"] = np.full(2, 1535, np.uint16)
        shard["optimistic_share"], shard["optimistic_rest"] = shard["policy_share"], shard["policy_rest"]
        shard["teacher_value"] = np.tile(np.array([0.7, 0.3, 0], np.float32), (2, 1))
        shard["teacher_score"] = np.tile(np.array([3, 5, 2, 4], np.float32), (2, 1))
        shard["teacher_error"] = np.tile(np.array([0.1, 1.5], np.float32), (2, 1))
        shard["teacher_ownership"] = np.full((2, 25), 99, np.int8)
        parts = self.parts(shard, [1])
        self.assertEqual(parts["played"], 0)
        for name in ("policy", "optimistic", "value", "score", "error", "ownership"):
            self.assertGreater(parts[name], 0)

    def test_errors_are_those_of_the_student(self):
        sure = torch.tensor([[10.0, -10, -10], [10.0, -10, -10]])
        answer = SimpleNamespace(value=sure, lead=lambda: torch.tensor([4.0, 7.0]))
        batch = SimpleNamespace(
            teacher_error=torch.tensor([[0.3, 3.0], [0.3, 3.0]]),
            teacher_value=torch.tensor([[1.0, 0, 0], [0.8, 0.2, 0]]),
            teacher_score=torch.tensor([[0, 0, 4.0, 0], [0, 0, 3.0, 0]]),
        )
        # Where it agrees the teacher's own; else the root of the sum of both squares: 0.3 and 0.4, 3 and 4.
        wanted = torch.tensor([[0.3, 3.0], [0.5, 5.0]])
        torch.testing.assert_close(wanted_errors(answer, batch), wanted, rtol=1e-3, atol=1e-3)


class Optimisers(unittest.TestCase):
    def test_steps_are_nearly_orthogonal(self):
        torch.manual_seed(1)
        for shape in [(16, 40), (40, 16), (8, 8)]:
            singular = torch.linalg.svdvals(orthogonal(torch.randn(shape)))
            self.assertGreater(float(singular.min()), 0.3)
            self.assertLess(float(singular.max()), 1.3)


    def test_adam_steps_as_pytorchs_does(self):
        torch.manual_seed(2)
        ours, theirs = [[torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(2, 2))] for _ in range(2)]
        mine = Muon([dict(params=ours, weight_decay=0.1, muon=False)], lr=0.01)
        right = torch.optim.AdamW(theirs, lr=0.01, betas=(0.9, 0.98), eps=1e-10, weight_decay=0.1)
        for _ in range(5):
            for a, b in zip(ours, theirs):
                a.grad = torch.randn_like(a)
                b.grad = a.grad.clone()
            mine.step()
            right.step()
        for a, b in zip(ours, theirs):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


class Rate(unittest.TestCase):
    def rate(self, minutes: float | None, positions: int | None, seconds: float) -> float:
        """Of a training that has learnt 2,000 positions in so many seconds and cools down over 1,000."""
        options = SimpleNamespace(batch=64, warm_up=1, minutes=minutes, positions=positions, cool_down=1000, rate=1.0)
        training = train.Training.__new__(train.Training)
        training.options, training.positions, training.started_at = options, 2000, 0
        training.begun, training.begun_with = time.monotonic() - seconds, 0
        return training.rate()

    def test_it_falls_before_an_end_that_is_a_number_of_positions_or_a_time(self):
        self.assertEqual(self.rate(None, None, 30), 1.0)
        self.assertEqual(self.rate(None, 2300, 30), 0.3)
        self.assertEqual(self.rate(1.0, None, 30), 1.0)
        self.assertAlmostEqual(self.rate(1.0, None, 50), 0.4, places=2)
        self.assertAlmostEqual(self.rate(1.0, 2300, 50), 0.3, places=2)
        self.assertEqual(self.rate(1.0, None, 70), 0.0)


class Resuming(unittest.TestCase):
    def test_a_training_that_was_stopped_goes_on_as_if_it_had_not(self):
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data"
            data.mkdir()
            for name in ("training-0", "training-1", "training-2", "validation-0"):
                write_shard(data / f"{name}.npz", 7, 7)

            def train(run: str, positions: int) -> dict:
                command = [sys.executable, HERE / "train.py", "--data", data, "--out", Path(folder) / run]
                command += ["--shape", "b2c16", "--batch", "8", "--positions", positions, "--validate", "64"]
                command += ["--warm-up", "40", "--average", "80", "--threads", "1", "--window", "2", "--precision", "f32"]
                subprocess.run([str(word) for word in command], check=True, capture_output=True)
                return torch.load(Path(folder) / run / "state.pt", weights_only=True)

            whole = train("whole", 176)
            train("halves", 96)
            halves = train("halves", 176)
            for key in ("positions", "steps", "stream", "average_steps"):
                self.assertEqual(whole[key], halves[key])
            for key in ("network", "average"):
                for name, values in whole[key].items():
                    self.assertTrue(torch.equal(values, halves[key][name]), f"{key} {name}")
            log = (Path(folder) / "halves" / "log.jsonl").read_text()
            self.assertIn('"kind": "validation"', log)


if __name__ == "__main__":
    fast.prepare(1)
    unittest.main()
