"""Training on another machine, with a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch

from kosumi_train import gpu, katago_file
from kosumi_train.gpu_state import read_state
from kosumi_train.gpu_training import Pool
from kosumi_train.shards import make_batch
from tests.emitter import Emitter
from tests.fixtures import call, group, write_shard


class OnADevice(unittest.TestCase):
    """The command `gpu`, tested on the CPU."""

    def test_pools_and_batches_agree(self):
        for size in [(5, 5), (4, 3)]:
            shard = group(6, *size)
            shard["played"][:2] = size[0] * size[1], 65535
            pool = Pool(size, torch.device("cpu"))
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

    def test_the_packed_folder_is_enough(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "teacher.bin").write_bytes(Emitter(15).bytes())
            write_shard(folder / "a.npz", 7, 7)
            write_shard(folder / "b.npz", 5, 4)
            (folder / "a.labels.npz").write_bytes(b"labels are left out")
            games = ";B[pd];W[dd];B[pq];W[dp]".join(f"\n(;SZ[19]DT[{year}]RE[B+R]" for year in (2012, 2013, 2016))
            (folder / "games.sgf").write_text(games.replace("\n(", ")\n(").lstrip(")\n") + ")")

            output = call(
                "gpu", "pack", folder / "pack", "--teacher", folder / "teacher.bin", "--games", folder / "games.sgf",
                "--shards", folder / "a.npz", "--self-play", folder / "b.npz", "--validation", folder / "a.labels.npz",
                folder / "a.npz",
            )  # fmt: skip
            self.assertIn("2 games", output)
            (folder / "teacher.bin").unlink()
            common = ["--batch", 8, "--window", 2, "--threads", 1, "--least", 1, "--log-seconds", 0.2, "--reserve", 1]
            common += ["--checkpoint-seconds", 0.5, "--device", "cpu"]
            # The folder must be sufficient. The time limit counts from the start of the program, so it includes the
            # time in which PyTorch is loaded.
            command = [sys.executable, folder / "pack" / "train", "gpu", "train", folder / "pack", *common]
            command += ["--seconds", 15, "--out", folder / "first", "--shape", "b2c16"]
            made = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertIn("kind=validation", made.stdout)
            first = read_state(folder / "first")
            self.assertGreater(first["steps"], 0)
            more = ["--out", folder / "second", "--start", folder / "first", "--cool-down", "0.5"]
            call("gpu", "train", folder / "pack", *common, "--seconds", 5, *more)
            second = read_state(folder / "second")
            self.assertGreater(second["steps"], first["steps"])
            _, averaged = katago_file.read(folder / "second" / "network.bin.gz")
            call("export", folder / "second", folder / "exported.bin.gz", "--threads", 1)
            _, exported = katago_file.read(folder / "exported.bin.gz")
            for (name, value), wanted in zip(exported.named_parameters(), averaged.parameters(), strict=True):
                torch.testing.assert_close(value, wanted, rtol=2e-2, atol=2e-3, msg=name)
            for name, value in averaged.state_dict().items():
                wanted = second["network"][name] + second["average"][name].float()
                torch.testing.assert_close(value, wanted, rtol=2e-2, atol=2e-3, msg=name)
            lines = (folder / "second" / "log.jsonl").read_text().splitlines()
            steps = [json.loads(line)["steps"] for line in lines]
            self.assertEqual(steps, sorted(steps))
