"""Networks, their files and shapes, and weighted means of networks."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import torch

from kosumi_train import katago_file
from kosumi_train.export import mixed
from kosumi_train.model import Network, Shape
from tests.emitter import Emitter
from tests.fixtures import SHAPES, answers, network


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
        self.assertEqual(
            (small_inside.middle, small_inside.heads, small_inside.nested, small_inside.silu), (128, 4, 1, True)
        )
        self.assertEqual(Shape.named("b10c384h6f256nbttflrs-silu").hidden, 256)
        # `kosumi net info` reports the same number.
        self.assertEqual(small.multiply_adds(), 802_464)
        for name in (
            "b7c96h3",
            "b7c96tflrs",
            "b7c96h5tflrs",
            "b7c96h32tfrs",
            "c96",
            "b5c64nbt-silu",
            "b7c96h3tflrs-silu",
            "b6c96f64",
        ):
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
    def test_a_mixed_network_lies_between_its_parts(self):
        first, second = network(seed=1), network(seed=2)
        for name, weights in mixed([(first, 3.0), (second, 1.0)]).state_dict().items():
            wanted = 0.75 * first.state_dict()[name] + 0.25 * second.state_dict()[name]
            torch.testing.assert_close(weights, wanted, msg=name)
        with self.assertRaises(SystemExit):
            mixed([(first, 1.0), (network("b3c24"), 1.0)])
