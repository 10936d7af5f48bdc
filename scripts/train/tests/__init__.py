"""Tests of the training tool: run `python -m unittest` in the folder above. `tests/training.rs` tests the whole
pipeline."""

from kosumi_train import fast

fast.prepare(1)
