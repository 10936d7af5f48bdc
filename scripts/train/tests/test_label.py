"""Labels of shards."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from kosumi_train import katago_file, label
from kosumi_train.komi import KOMI, fair_komi
from kosumi_train.shards import read_groups, turned_points
from tests.fixtures import call, group, network, write_shard


class Labels(unittest.TestCase):
    @torch.inference_mode()
    def test_a_fair_komi_follows_the_judge(self):
        class Judge:
            def __call__(self, spatial, globals_):
                # The lead on the board is 30 points for the side to move. Komi is added to it.
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

    def test_labels_resume_and_follow_from_the_seed(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            katago_file.write(folder / "teacher.bin.gz", "t", network())
            for shard, size in [("training-0", (7, 7)), ("training-1", (5, 4))]:
                write_shard(folder / f"{shard}.npz", *size)

            def run(*more: str) -> dict[str, bytes]:
                command = ["label", folder / "teacher.bin.gz", "--data", folder, "--threads", "1"]
                command += ["--symmetries", "2", "--vary-komi", "0.4", "--precision", "f32", *more]
                command += ["--fair-komi", "0.2", "--judge", folder / "teacher.bin.gz"]
                call(*command)
                return {path.name: path.read_bytes() for path in sorted(folder.glob("*.labels.npz"))}

            self.assertEqual(len(run("--most", "1")), 1)
            both = run()
            self.assertEqual(len(both), 2)
            # A kill leaves a partial file or no file.
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
        """Checks that the labels are the network's outputs at the komi that the labels contain."""
        made = network()
        found = read_groups(folder / "training-0.npz")[7, 7]
        komi = found["global"][:, KOMI] != group(40, 7, 7)["global"][:, KOMI]
        self.assertTrue(0 < komi.sum() < 40)
        self.assertTrue((found["value"][komi] == 0).all() and (found["value"][~komi].sum(axis=1) == 1).all())
        total = found["policy_share"].astype(np.float64).sum(axis=1) + found["policy_rest"]
        np.testing.assert_allclose(total, 65535, atol=20)
        rows = np.arange(40)
        # Averaged over all symmetries, the outputs for a turned board must be the turned outputs.
        policy, value, score, errors, owners, hopes = label.evaluate(made, (7, 7), found, rows, list(range(8)))
        source = turned_points(7, 7, 5)
        turned = dict(found)
        bits = np.unpackbits(found["planes"], axis=2)[:, :, :49][:, :, source]
        turned["planes"] = np.packbits(bits, axis=2)
        again = label.evaluate(made, (7, 7), turned, rows, list(range(8)))
        torch.testing.assert_close(again[0][:, :-1], policy[:, source], rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(again[5][:, :-1], hopes[:, source], rtol=1e-3, atol=1e-4)
        for ours, theirs in zip(again[1:4], (value, score, errors)):
            torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-3)
        torch.testing.assert_close(again[4], owners[:, source], rtol=1e-3, atol=1e-4)
