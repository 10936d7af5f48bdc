"""Balancing and rounding of weights."""

from __future__ import annotations

import copy
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch

from kosumi_train import balance, compact, katago_file, teacher
from kosumi_train.model import Network
from kosumi_train.shards import Stream, all_batches
from tests.fixtures import answers, network, rounded, write_shard


class Balance(unittest.TestCase):
    """`balance.py`: units get similar sizes, and outputs stay the same to the last bit."""

    @torch.no_grad()
    def test_units_get_similar_sizes_and_outputs_stay(self):
        for shape, count in (("b2c32h2tflrs", 4), ("b2c64h2nbttflrs-silu", 8)):
            with self.subTest(shape):
                made = network(shape)
                self.assertEqual(len(balance.layers(made)), count)
                # One unit of each block is far too large, and one far too small.
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


class Compact(unittest.TestCase):
    """`compact.py`: weights as multiples of a step."""

    @torch.no_grad()
    def test_a_compact_file_holds_the_rounded_weights(self):
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
        # A weight that is not a multiple of its step must be refused.
        made.blocks[0].blocks[1].gate.weight[0, 0] += 0.4 * steps[made.blocks[0].blocks[1].gate.weight]
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(katago_file.FormatError):
            katago_file.write(Path(folder) / "n.compact.gz", "n", made, steps=steps)

    def test_errors_are_compensated_where_inputs_correlate(self):
        generator = torch.Generator().manual_seed(5)
        inputs = torch.randn(4000, 8, generator=generator) @ torch.randn(8, 48, generator=generator)
        inputs += 0.3 * torch.randn(4000, 48, generator=generator)
        weight, step = torch.randn(20, 48, generator=generator), 0.5
        found = compact.multiples(weight, inputs.T @ inputs / 4000, step)
        self.assertTrue(torch.equal(found, found.round()))

        def off(rounded):
            return float((inputs @ (rounded * step - weight).T).square().mean())

        self.assertLess(off(found), off(torch.round(weight / step)) / 4)
        # Uncorrelated inputs cannot compensate each other's errors.
        alone = compact.multiples(weight, torch.eye(48), step)
        self.assertTrue(torch.equal(alone, torch.round(weight / step)))
        far = compact.multiples(1000 * weight, inputs.T @ inputs / 4000, step)
        self.assertLessEqual(float(far.abs().max()), 127)

    def test_later_layers_compensate_earlier_errors(self):
        """Rounding from the first block to the last must give a much smaller error than rounding every matrix
        separately."""
        for shape in ("b2c32h2tflrs", "b2c64h2nbttflrs-silu"):
            elements = mock.patch.object(compact, "MIN_ELEMENTS", 500)
            with self.subTest(shape), tempfile.TemporaryDirectory() as name, elements:
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
                # The same matrices are rounded as without compensation, each to multiples of its step.
                in_blocks = {
                    name for name, one in alone.named_parameters() if one in steps and name.startswith("blocks")
                }
                self.assertEqual({name for name, one in together.named_parameters() if one in done}, in_blocks)
                for weight, step in done.items():
                    torch.testing.assert_close(weight / step, (weight / step).round(), atol=1e-3, rtol=0)
                # Only the last block has half the step, or somewhat more where its largest weights need it.
                finer = copy.deepcopy(meant)
                halved = compact.compact_blocks(finer, folder, 200, 0.4, 0.5)
                for (name, one), other in zip(together.named_parameters(), finer.parameters()):
                    if one in done and name.startswith(f"blocks.{len(meant.blocks) - 1}."):
                        self.assertLess(halved[other], 0.6 * done[one])
                    elif one in done:
                        self.assertEqual(halved[other], done[one])
                # Rounded weights must stay unchanged, and the rest must be rounded.
                before = {weight: weight.clone() for weight in done}
                every = compact.compact(together, compact.second_moments(together, folder, 200, 2048), 0.4, done)
                self.assertEqual(len(every), len(steps))
                for weight, was in before.items():
                    self.assertTrue(torch.equal(weight, was))
                # Rounding again must change nothing.
                again = compact.compact_blocks(together, folder, 100, 0.3)
                again = compact.compact(together, compact.second_moments(together, folder, 100, 2048), 0.3, again)
                self.assertEqual(again.keys(), every.keys())
                for weight, step in again.items():
                    self.assertAlmostEqual(step, every[weight], delta=1e-5 * step)
                for weight, was in before.items():
                    self.assertTrue(torch.equal(weight, was))
