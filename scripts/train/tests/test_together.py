"""Processes that learn together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import katago_file
from tests.fixtures import HERE, network, write_shard


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
