"""Processes that train one network together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from kosumi_train import katago_file
from tests.fixtures import HERE, network, write_shard


class TwoWorkers(unittest.TestCase):
    def processes(self, count: int, *command) -> str:
        launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count), "--standalone", "--"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(HERE)}
        words = [*launcher, *(str(word) for word in command)]
        done = subprocess.run(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_a_step_uses_the_mean_gradient(self):
        script = """
import os

import torch
from torch import nn
from kosumi_train.workers import Workers

workers = Workers()
network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(2, 2), nn.Linear(2, 2)).to(memory_format=torch.channels_last)
torch.manual_seed(workers.rank)
for parameter in network.parameters():
    nn.init.normal_(parameter)
workers.agree(network)
torch.manual_seed(0)
for parameter in network.parameters():
    assert torch.equal(parameter, nn.init.normal_(torch.empty_like(parameter))), "the first one's weights"
# The second layer has gradients in one process only, the last one in none.
boards = torch.ones(1, 3, 4, 4).contiguous(memory_format=torch.channels_last)
whole = network[:2](boards) if workers.rank else network[0](boards)
((workers.rank + 1) * whole).sum().backward()
own = [None if parameter.grad is None else parameter.grad.clone() for parameter in network.parameters()]
assert workers.mean(network, [float(workers.rank), 5.0]) == [0.5, 5.0]
if workers.is_first():
    # The bias of the convolution: one gradient for each of 2x2 points.
    assert torch.equal(own[1], torch.full((4,), 4.0)) and own[2] is None
bias = network[0].bias.grad
seen = 2 * network[1].weight.detach().sum() * 2
torch.testing.assert_close(bias, (torch.full((4,), 4.0) + seen) / 2)
torch.testing.assert_close(network[1].bias.grad, torch.full((2,), 2 * 8.0 / 2))
assert network[2].weight.grad is None and network[2].bias.grad is None
workers.leave()
# A single write, because both processes write to one pipe.
os.write(1, b"agreed %d\\n" % workers.rank)
"""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "script.py"
            path.write_text(script)
            output = self.processes(2, path)
            self.assertIn("agreed 0", output)
            self.assertIn("agreed 1", output)

    def test_two_processes_learn_blocks(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            katago_file.write(folder / "teacher.bin.gz", "t", network("b2c32h2tflrs"))
            write_shard(folder / "training-0.npz", 7, 7)
            write_shard(folder / "validation-0.npz", 7, 7)
            self.processes(
                2, HERE / "train", "distil", "blocks", folder / "teacher.bin.gz", "--data", folder, "--out",
                folder / "run", "--shape", "b2c32h2tflrs", "--minutes", "0.1", "--batch", "8", "--threads", "1",
            )  # fmt: skip
            lines = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
            # One process writes the log, and counts the positions of both processes.
            self.assertEqual([line["kind"] for line in lines], ["blocks", "validation"])
            self.assertGreaterEqual(lines[0]["positions"], 8 * 2 * lines[0]["steps"])
            self.assertGreater(lines[0]["steps"], 5)
