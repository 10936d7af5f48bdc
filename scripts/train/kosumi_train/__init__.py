"""Training of networks for Kosumi: positions, labels of a stronger network, training, distillation and export."""

import os
import time

# Start of the program, from which the time limits of runs count: on a cold machine, PyTorch alone takes half a minute
# to load.
BEGUN = time.monotonic()

# Threads that wait must sleep, because the tool runs beside other programs on few cores. OpenMP reads this when PyTorch
# loads.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
