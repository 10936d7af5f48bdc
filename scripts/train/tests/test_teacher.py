"""Networks for inference."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F

from kosumi_train import fast, katago_file, teacher
from kosumi_train.gpu import pack_teacher
from kosumi_train.model import Network
from kosumi_train.shards import make_batch, read_groups
from tests.emitter import Emitter
from tests.fixtures import SHAPES, SHARED, network, record, rounded


class Teachers(unittest.TestCase):
    @torch.no_grad()
    def test_a_teacher_and_a_trained_network_agree(self):
        for name in SHAPES:
            with self.subTest(name):
                self.check_outputs(network(name))

    def check_outputs(self, made: Network):
        spatial, globals_ = (torch.rand(3, 22, 7, 9) > 0.7).float(), torch.randn(3, 19)
        with tempfile.TemporaryDirectory() as folder:
            katago_file.write(Path(folder) / "n.bin.gz", "n", made)
            teacher_network = teacher.read(Path(folder) / "n.bin.gz")
        ours, theirs = made(spatial, globals_), teacher_network(spatial, globals_)
        for name in ("policy", "optimistic", "value", "score", "errors", "ownership"):
            torch.testing.assert_close(getattr(theirs, name), getattr(ours, name), rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(theirs.expected_errors(), ours.expected_errors(), rtol=1e-4, atol=1e-4)

    @torch.no_grad()
    def test_an_older_network_gets_the_missing_outputs(self):
        """Reads a file of version 8, with one policy, four score outputs, and activations without a kind."""
        made = network()
        for name, outputs in [("p2", 1), ("policy_pass", 1), ("score", 4)]:
            layer = getattr(made, name)
            layer.weight = torch.nn.Parameter(layer.weight[:outputs].clone())
            if layer.bias is not None:
                layer.bias = torch.nn.Parameter(layer.bias[:outputs].clone())
        write_words = katago_file._Writer.words

        def without_kinds(writer: katago_file._Writer, *words: object) -> None:
            write_words(writer, *(word for word in words if word != katago_file.RELU))

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "n.bin.gz"
            with (
                mock.patch.object(katago_file, "VERSION", 8),
                mock.patch.object(katago_file._Writer, "words", without_kinds),
            ):
                katago_file.write(path, "n", made)
            older, (_, learnt) = teacher.read(path), katago_file.read(path)
        self.assertEqual(older.version, 8)
        spatial, globals_ = (torch.rand(2, 22, 9, 9) > 0.7).float(), torch.randn(2, 19)
        theirs, ours = older(spatial, globals_), learnt(spatial, globals_)
        for name in ("policy", "value", "score", "ownership"):
            torch.testing.assert_close(getattr(ours, name), getattr(theirs, name), rtol=1e-3, atol=1e-3)
        self.assertIsNone(theirs.optimistic)
        torch.testing.assert_close(ours.optimistic, ours.policy)
        self.assertTrue(torch.isfinite(ours.expected_errors()).all())

    @torch.no_grad()
    def test_the_program_matches_pytorch(self):
        kosumi = os.environ.get("KOSUMI")
        if not kosumi:
            self.skipTest("KOSUMI does not name the program")
        with tempfile.TemporaryDirectory() as folder:
            # Networks with and without an optimistic policy, with blocks of other programs and of this one, and with
            # weights in bytes.
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
                    self.assertRaises((OSError, katago_file.FormatError), teacher.ProgramTeacher, kosumi, path)
                    continue
                known, teacher_network = teacher.read(path), teacher.ProgramTeacher(kosumi, path, "f32")
                # The last request and its response are larger than the pipes.
                for columns, rows, count in [(7, 9, 9), (5, 5, 9), (9, 9, 400)]:
                    spatial, globals_ = (torch.rand(count, 22, rows, columns) > 0.7).float(), torch.randn(count, 19)
                    found, right = teacher_network(spatial, globals_), known(spatial, globals_)
                    for part in ("policy", "optimistic", "value", "score", "errors", "ownership"):
                        torch.testing.assert_close(
                            getattr(found, part), getattr(right, part), rtol=2e-3, atol=2e-3, msg=part
                        )
                    torch.testing.assert_close(found.lead(), right.lead(), rtol=2e-3, atol=2e-2)
                # The next request fails, because the program has ended.
                teacher_network.process.kill()
                teacher_network.process.wait()
                self.assertRaises(OSError, teacher_network, spatial, globals_)
                teacher_network.process.stdout.close()
                with contextlib.suppress(OSError):
                    teacher_network.process.stdin.close()

    @torch.no_grad()
    def test_outputs_depend_on_the_point_but_not_on_the_batch(self):
        teacher_network, _ = teacher.parse(Emitter(15).bytes())
        spatial, globals_ = (torch.rand(4, 22, 9, 9) > 0.7).float(), torch.randn(4, 19)
        plain, turned = teacher_network(spatial, globals_), teacher_network(spatial.flip(0), globals_.flip(0))
        torch.testing.assert_close(turned.policy.flip(0), plain.policy, rtol=1e-4, atol=1e-4)
        mirrored = teacher_network(spatial.flip(3), globals_).policy[:, :-1].view(4, 9, 9).flip(2).flatten(1)
        self.assertGreater(float((mirrored - plain.policy[:, :-1]).abs().max()), 1e-3)

    @torch.no_grad()
    def test_kernels_match_pytorch(self):
        if fast._transformer is None:
            self.skipTest("no C++ compiler, or no AVX-512 BF16")
        # Small numbers, as in the bf16 activations of a network.
        torch.manual_seed(4)
        for points, heads, kv_heads, key, value in [
            (361, 6, 6, 32, 32),
            (81, 4, 2, 8, 16),
            (1, 1, 1, 4, 16),
            (37, 2, 1, 32, 48),
        ]:
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
    def test_16_bit_weights_are_close(self):
        data = Emitter(15).bytes()
        spatial, globals_ = (torch.rand(4, 22, 9, 9) > 0.7).float(), torch.randn(4, 19)
        exact = F.softmax(teacher.parse(data)[0](spatial, globals_).policy, dim=1)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "n.bin").write_bytes(data)
            pack_teacher(Path(folder) / "n.bin", Path(folder) / "n.xz")
            packed = teacher.read(Path(folder) / "n.xz")
        half = F.softmax(packed(spatial, globals_).policy, dim=1)
        self.assertTrue(0 < float((half - exact).abs().max()) < 1e-2)
        rounded = F.softmax(packed.to(torch.bfloat16)(spatial, globals_).policy, dim=1)
        self.assertLess(float((rounded - exact).abs().max()), 0.1)

    def test_damaged_files_are_refused(self):
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
    def test_outputs_match_katago(self):
        kosumi, oracle = os.environ.get("KOSUMI"), SHARED / "oracle"
        files = {
            "b7c96h3tfrs-test5-cnorm": "katago-b7h3-raw.jsonl",
            "b7c96h6kv3qk32v16tflrs-fson-bnh": "katago-b7h6-raw.jsonl",
            "b10c384h6nbttflrs": "katago-b10-raw.jsonl",
        }
        if not kosumi or not all((oracle / file).exists() for file in files.values()):
            self.skipTest(f"needs the program (KOSUMI) and KataGo's answers in {oracle}")
        # All files have the same positions.
        answers = {
            name: list(map(json.loads, (oracle / file).read_text().splitlines())) for name, file in files.items()
        }
        rows = answers["b10c384h6nbttflrs"]
        shown = dict(self.shown(kosumi, rows))
        self.assertGreater(len(shown), 60)
        for name, katago in answers.items():
            teacher_network = teacher.read(SHARED / "models" / f"{name}.bin.gz")
            # The large network is slow, so it is checked on fewer positions.
            for number in sorted(shown)[:: 4 if "b10" in name else 1]:
                self.assertEqual(katago[number]["moves"], rows[number]["moves"])
                with self.subTest(f"{name} {number}"):
                    self.check(teacher_network, *shown[number], katago[number])

    def shown(self, kosumi: str, rows: list[dict]):
        """Yields the number of a row with the board size, the arrays and the index of its position in a shard, for all
        rows that game records can represent."""
        for rules in sorted({row["rules"] for row in rows}):
            # One record for each position. A move follows the position, because shards have positions before moves.
            numbers = [number for number, row in enumerate(rows) if row["rules"] == rules]
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "games.sgf"
                path.write_text("\n".join(record(rows[number]) for number in numbers))
                command = [kosumi, "features", path, "--out", folder, "--split", "all", "--per-game", "1000"]
                made = subprocess.run([*command, "--rules", rules], capture_output=True, text=True)
                files = sorted(Path(folder).glob("*.npz"))
                if made.returncode or not files:
                    continue  # Game records cannot have these rules.
                for size, found in read_groups(files[0]).items():
                    for game, number in enumerate(numbers):
                        here = (found["game"] == game) & (found["ply"] == len(rows[number]["moves"]))
                        if here.any():
                            yield number, (size, found, np.flatnonzero(here))

    def check(self, teacher_network, size, group, index, row) -> None:
        answer = teacher_network(*(lambda batch: (batch.spatial, batch.globals_))(make_batch(size, group, index)))
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
