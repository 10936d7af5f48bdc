"""C++ kernels, compared with PyTorch."""

from __future__ import annotations

import unittest
from unittest import mock

import torch
import torch.nn.functional as F

from kosumi_train import fast
from tests.fixtures import answers, network


class Convolutions(unittest.TestCase):
    def test_convolutions_match_pytorch(self):
        if fast._winograd is None:
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

    def test_products_in_bf16_are_close(self):
        if not fast.has_pairs():
            self.skipTest("no AVX-512 BF16, or no C++ compiler")
        # Odd numbers of tiles, several blocks of images, and boards whose sides are not multiples of the tile size.
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
                # Both ways round differently, so a difference shows that both were used.
                self.assertGreater(error, 1e-4)


class Transformers(unittest.TestCase):
    def test_gradients_match_pytorch(self):
        if fast._learning is None:
            self.skipTest("no C++ compiler")
        # Heads with an odd number of pairs, a single pair in a head, a single point, and rectangles.
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
                torch.testing.assert_close(
                    ours, theirs, rtol=1e-3, atol=1e-5 + 1e-4 * float(theirs.detach().abs().max())
                )

    def test_products_in_bf16_are_close(self):
        if not fast.has_pairs() or fast._attention is None:
            self.skipTest("no AVX-512 BF16, or no C++ compiler")
        self.addCleanup(fast.use_pairs, False)
        for shape, columns, rows in [
            ("b2c64h2tflrs", 9, 9),
            ("b2c48h2m64nb1ttflrs-silu", 7, 5),
            ("b1c32h1tflrs", 19, 19),
        ]:
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
            # For random networks and positions, the largest error is 0.05 to 0.2 and the mean error 0.03 to 0.1,
            # because gradients of the first layers pass through all others. A wrong gradient has an error of about 1.
            self.assertLess(max(errors), 0.3, f"{shape}: {errors}")
            self.assertLess(sum(errors) / len(errors), 0.15, f"{shape}: {errors}")
            self.assertGreater(float((both[0][0] - both[1][0]).detach().abs().max()), 1e-5)

    def test_attention_in_bf16_is_close(self):
        if not fast.has_pairs() or fast._attention is None:
            self.skipTest("no AVX-512 BF16, or no C++ compiler")
        self.addCleanup(fast.use_pairs, False)
        # A single point, fewer queries than a block, partial blocks, and odd numbers of points.
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
                # With one point, queries and keys have no effect, so only rounding remains.
                error = float((ours - theirs).detach().norm() / theirs.detach().norm().clamp(min=1.0))
                self.assertLess(error, 0.02, f"{points} points")
