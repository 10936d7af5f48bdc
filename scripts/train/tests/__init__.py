"""Tests of the parts: python -m unittest in the folder above. The whole pipeline is tested by tests/training.rs."""

import os

# Threads that wait must sleep: tests run beside others on a few cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import fast

fast.prepare(1)
