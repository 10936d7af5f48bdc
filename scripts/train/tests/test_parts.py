"""The stage `distil parts`."""

from __future__ import annotations

import argparse
import copy
import dataclasses
import json
import math
import tempfile
import unittest
from pathlib import Path

import torch
import torch.nn.functional as F

from kosumi_train import distil, fast, katago_file, teacher
from kosumi_train.distil import blocks, parts, rotations
from kosumi_train.distil.heads import Heads, is_smooth, scale_and_bias, with_heads_like
from tests.fixtures import call, network, write_shard


class Parts(unittest.TestCase):
    def folder(self, name: str, shape: str) -> Path:
        """Makes a folder with a teacher, a run of another network of its shape, and positions."""
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

    def test_an_error_affects_only_its_own_part(self):
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
            teacher_network, made = teacher.read(folder / "teacher.bin.gz"), network(shape)
            found = [*parts.parts_of(made), parts.Stem(made)]
            whole = parts.Pool(teacher_network, folder, 400, 1, 4)
            for part in found:
                some = parts.Pool(teacher_network, folder, 400, 1, 4, only=[part])
                kept = [
                    it for *_, outside, inside in some.batches for it in [*outside, *sum(inside, [])] if it is not None
                ]
                self.assertLessEqual(len(kept), 3 * len(some.batches), part.name())
                if isinstance(part, parts.Stem):
                    self.assertEqual(part.measured(some.batches), part.measured(whole.batches))
                else:
                    self.assertEqual(parts.measured(part, some.pairs(part)), parts.measured(part, whole.pairs(part)))

    def test_heads_are_recovered(self):
        shape = "b2c64h2nbttflrs-silu"
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, f"{shape}-smooth")
            # Only teachers have scales before SiLU, because their files fold the variance of the norms into them.
            teacher_network, made = teacher.read(folder / "teacher.bin.gz"), network(shape, 2)
            with torch.no_grad():
                for norm in (teacher_network.g1_norm, teacher_network.p1_norm, teacher_network.v1_norm):
                    norm.scale.uniform_(0.5, 2)
            self.assertTrue(is_smooth(teacher_network))
            write_shard(folder / "training-2.npz", 9, 7, 400)
            write_shard(folder / "training-3.npz", 6, 7, 400)
            pool = parts.Pool(teacher_network, folder, 60_000, 1, 4)
            made = with_heads_like(made, teacher_network)
            self.assertIs(with_heads_like(made, teacher_network), made)
            heads = Heads(made, teacher_network)
            facts = parts.solve(heads, pool)
            self.assertGreater(facts["before"], 0.1)
            self.assertLess(facts["after"], 1e-5)
            # The written file must give the same result.
            katago_file.write(folder / "made.bin.gz", "m", made)
            again = Heads(katago_file.read(folder / "made.bin.gz")[1], teacher_network)
            self.assertAlmostEqual(again.measured(pool.batches), heads.measured(pool.batches), delta=1e-7)
            katago_file.write(folder / "other.bin.gz", "o", network(shape))
            self.assertFalse(is_smooth(teacher.read(folder / "other.bin.gz")))

    def test_scale_and_bias_in_front_of_silu(self):
        torch.manual_seed(3)
        read, scale, bias = (
            torch.randn(500, 6),
            torch.tensor([1.0, -2.0, 0.3, 3.0, 0.5, -0.1]),
            torch.tensor([0.0, 1.0, -1.0, 0.5, -4.0, 2.0]),
        )
        found = scale_and_bias(read, F.silu(read * scale + bias))
        torch.testing.assert_close(found[0], scale, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(found[1], bias, rtol=1e-3, atol=1e-3)

    def test_no_position_dominates_the_error(self):
        before = torch.randn(40, 25, 6)
        wanted = before + torch.randn(40, 25, 6)
        wanted[0] = before[0] + 1000 * torch.randn(25, 6)
        count = parts.point_weights(wanted, before)
        self.assertEqual(float(parts.weighted_error(wanted, wanted, before, count)), 0)
        self.assertAlmostEqual(float(parts.weighted_error(before, wanted, before, count)), 1, delta=1e-5)
        # All positions are wrong except one with huge activations. A plain sum of squares would not show this.
        found = before.clone()
        found[0] = wanted[0]
        self.assertLess(float(blocks.error_of(found, wanted, before)), 1e-3)
        self.assertGreater(float(parts.weighted_error(found, wanted, before, count)), 0.9)
        # Only the position with huge activations is wrong. It counts as two positions of 41.
        found = wanted.clone()
        found[0] = before[0]
        self.assertAlmostEqual(float(parts.weighted_error(found, wanted, before, count)), 2 / 41, delta=0.01)
        # Within a position, points count by the squares of their activations.
        wanted[1, 0] = before[1, 0] + 100
        found = wanted.clone()
        found[1, 0] = before[1, 0]
        count = parts.point_weights(wanted, before)
        self.assertAlmostEqual(
            float(parts.weighted_error(found[1:2], wanted[1:2], before[1:2], count[1:2])), 1, delta=0.01
        )

    def test_exchanged_units_are_restored(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 4000, 1, 4)
            for is_exchanged, factor in parts.TURNS:
                with self.subTest(is_exchanged=is_exchanged, factor=factor):
                    part = next(
                        part for part in parts.parts_of(network("b2c64h2nbttflrs-silu")) if part.name() == "0-2"
                    )
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

    def test_the_better_of_two_heads_stays(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 4000, 1, 4)
            part = next(part for part in parts.parts_of(network("b2c64h2nbttflrs-silu")) if part.name() == "0-1")
            pairs, block, generator = pool.pairs(part), part.inner, torch.Generator().manual_seed(1)
            earlier = copy.deepcopy(block)
            width = block.q.out_features // block.heads
            # Each block has one correct head of two. Their norms have different scales.
            with torch.no_grad():
                for wrong, head in ((block, 0), (earlier, 1)):
                    own = slice(head * width, (head + 1) * width)
                    for layer in (wrong.q, wrong.k, wrong.v):
                        layer.weight[own] = (
                            torch.randn(layer.weight[own].shape, generator=generator) * layer.weight.std()
                        )
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
                attention.frequencies[0] = torch.linspace(0, 0.5, attention.frequencies.shape[1])[
                    :, None
                ] * torch.tensor([1.0, 0.5])
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
            # The other head lacks no rotation.
            self.assertEqual(list(search.missing(1, 3)), [])
            with torch.no_grad():
                attention.frequencies[0, -1] = first
                is_off = []
                for size in (0.0, 0.1):
                    for layer, own in zip((attention.q, attention.k), search.pair(0, first)):
                        rows = layer.weight.view(2, 2, -1, layer.in_features)[0, :, -1]
                        rows.copy_(size * torch.stack([own.real, own.imag]))
                    is_off.append(parts.measured(part, pairs))
            self.assertLess(is_off[1], is_off[0], "the pair does not decrease the error")
            # Boards that are too large must be left out.
            self.assertEqual(rotations.give(attention, [dataclasses.replace(boards[0], rows=25)], 2), 0)

    def test_rotations_begin_everywhere(self):
        block = network("b2c64h2nbttflrs-silu").blocks[0].blocks[0]
        block.begin(torch.Generator().manual_seed(1))
        sizes = block.frequencies.detach().abs()
        self.assertLessEqual(float(sizes.max()), math.pi)
        self.assertGreater(float(sizes.max()), 1.5)
        self.assertGreater(int((sizes.amax(dim=2) < 0.02).sum()), 0)

    def test_parts_learn_and_finished_parts_stay(self):
        shape = "b2c64h2nbttflrs-silu"
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, shape)
            words = ["distil", "parts", folder / "teacher.bin.gz", "--start", folder / "start", "--data", folder]
            words += ["--out", folder / "run", "--pool", 8000]
            words += ["--feed-forward", 0.4, "--attention", 0.4, "--convolution", 0.4]
            words = [str(word) for word in words]
            claims = parts.Claims(folder / "run" / "parts")
            _, made = katago_file.read(folder / "start" / "network.bin.gz")
            taken = parts.parts_of(made)[3]
            lock = claims.take(taken)
            call(*words)
            done = sorted(path.name for path in claims.folder.glob("*.pt"))
            self.assertEqual(len(done), 12)
            self.assertFalse(claims.done(taken).exists(), "another process had it")
            self.assertFalse((folder / "run" / "network.bin.gz").exists(), "a part is missing")
            times = {name: (claims.folder / name).stat().st_mtime_ns for name in done}
            lock.close()
            call(*words)
            for name, at in times.items():
                self.assertEqual((claims.folder / name).stat().st_mtime_ns, at, name)
            log = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            self.assertEqual(len(log), 13)
            for line in log:
                self.assertLess(line["after"], line["before"], line)
            stem = next(line for line in log if line["part"] == "stem")
            self.assertGreater(stem["before"], 0.01)
            self.assertLess(stem["after"], 1e-6, "it is linear")
            # The file has the result, and `distil heads` can start from it.
            _, written = katago_file.read(folder / "run" / "network.bin.gz")
            pool = parts.Pool(teacher.read(folder / "teacher.bin.gz"), folder, 8000, 1, 8)
            for part in parts.parts_of(written):
                _, pairs = parts.held_back(pool.pairs(part))
                after = next(line["after"] for line in log if line["part"] == part.name())
                self.assertAlmostEqual(parts.measured(part, pairs), after, delta=0.05 * after + 1e-3)
            parser = argparse.ArgumentParser()
            distil.add_arguments(parser)
            more = [
                "heads",
                folder / "teacher.bin.gz",
                "--data",
                folder,
                "--out",
                folder / "next",
                "--start",
                folder / "run",
            ]
            training = blocks.Training(parser.parse_args([str(word) for word in more]))
            self.assertEqual(training.positions, 7)
            self.assertGreater(training.cpu_seconds, 12 * 0.3)
            # Another run starts from the result, and trains only some parts.
            words[words.index("--start") + 1], words[words.index("--out") + 1] = (
                str(folder / "run"),
                str(folder / "some"),
            )
            call(*words, "--only", "0-2,1-5")
            log = [json.loads(line) for line in (folder / "some" / "log.jsonl").read_text().splitlines()]
            self.assertEqual([line["part"] for line in log[13:]], ["0-2", "1-5"])
            _, again = katago_file.read(folder / "some" / "network.bin.gz")
            changed = [
                name for name, one in again.state_dict().items() if not torch.equal(one, written.state_dict()[name])
            ]
            self.assertTrue(
                all(name.startswith(("blocks.0.blocks.1.", "blocks.1.norm2", "blocks.1.conv2")) for name in changed),
                changed,
            )
            self.assertTrue(changed)
            with self.assertRaisesRegex(SystemExit, "no part 7-7"):
                call(*words, "--only", "0-2,7-7")

    def test_other_blocks_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            folder = self.folder(name, "b2c64h2nbttflrs-silu")
            katago_file.write(folder / "teacher.bin.gz", "t", network("b2c32h2tflrs"))
            words = ["distil", "parts", folder / "teacher.bin.gz", "--start", folder / "start", "--data", folder]
            words += ["--out", folder / "run"]
            with self.assertRaisesRegex(SystemExit, "other nested blocks"):
                call(*words)
