#!/usr/bin/env python3
"""Measures how fast OpenVINO and Kosumi compute networks in KataGo's format, in turn, on one thread of the CPU.

Usage: openvino_yardstick.py KOSUMI NETWORK... [--sizes 9,19]     needs torch, numpy and openvino from PyPI

A network is a file, or the name of an architecture that `kosumi net random` knows, such as b18c384nbt-mish, which gets
random weights. PyTorch reads the file and OpenVINO converts it, heads included. OpenVINO computes in each precision of
--openvino, Kosumi in those of --own. Both evaluate single positions (an empty board), as in a search on one thread.
Every round measures all of them one after another, so that a change of the machine's load affects all of them. The
output is the CPU time of one evaluation in milliseconds, the median over the rounds. The ratio is the shortest time of
OpenVINO divided by the shortest time of Kosumi.

OpenVINO has bf16 where the processor has it. int8 would need a calibration by another tool (NNCF) and is not measured.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Disables the C++ kernels, which OpenVINO cannot convert.
os.environ["KOSUMI_TRAIN_PLAIN"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")
warnings.filterwarnings("ignore")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "train"))

import openvino  # noqa: E402
import torch  # noqa: E402

from kosumi_train import teacher  # noqa: E402


class Outputs(torch.nn.Module):
    """The outputs of a network as a tuple, which OpenVINO can convert."""

    def __init__(self, network: teacher.Teacher) -> None:
        super().__init__()
        self.network = network

    def forward(self, spatial: torch.Tensor, globals_: torch.Tensor) -> tuple[torch.Tensor, ...]:
        answer = self.network(spatial, globals_)
        return answer.policy, answer.value, answer.score, answer.ownership


def empty_board(side: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the features of an empty board: Black to move, komi 7.5, Tromp-Taylor rules."""
    spatial, globals_ = torch.zeros(1, 22, side, side), torch.zeros(1, 19)
    spatial[:, 0] = 1
    globals_[0, [5, 6, 7, 8, 18]] = torch.tensor([-0.375, 1, 0.5, 1, -0.5])
    return spatial, globals_


def by_openvino(path: Path, side: int, precision: str) -> Callable[[], float]:
    """Returns a function that evaluates a position and returns its CPU seconds."""
    inputs = empty_board(side)
    shapes = [tuple(it.shape) for it in inputs]
    with torch.no_grad():
        model = openvino.convert_model(Outputs(teacher.read(path)), example_input=inputs, input=shapes)
    settings: dict[str, Any] = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": precision}
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()
    arrays = [it.numpy() for it in inputs]

    def evaluate() -> float:
        start = time.process_time()
        request.infer(arrays)
        return time.process_time() - start

    return evaluate


def by_kosumi(kosumi: str, path: Path, side: int, precision: str) -> Callable[[], float]:
    """Returns a function that evaluates some positions and returns the CPU seconds of one."""
    program = teacher.ProgramTeacher(kosumi, path, precision)
    inputs = empty_board(side)
    # The CPU time of another process is known to a hundredth of a second only, so a measurement covers many
    # evaluations.
    count = 0
    start = program.cpu_seconds()
    while program.cpu_seconds() - start < 0.5 or count < 4:
        program(*inputs)
        count += 1

    def evaluate() -> float:
        start = program.cpu_seconds()
        for _ in range(count):
            program(*inputs)
        return (program.cpu_seconds() - start) / count

    return evaluate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kosumi", help="the program kosumi")
    parser.add_argument("networks", nargs="+", metavar="NETWORK", help="files, or names of architectures")
    parser.add_argument("--sizes", default="9,19", help="sides of the board [%(default)s]")
    parser.add_argument("--openvino", default="f32,bf16", help="precisions of OpenVINO [%(default)s]")
    parser.add_argument("--own", default="int8,f32", help="precisions of Kosumi [%(default)s]")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of measurement [%(default)s]")
    options = parser.parse_args()
    theirs, ours = options.openvino.split(","), options.own.split(",")
    heads = ["network", "board", *(f"OpenVINO {it}" for it in theirs), *(f"Kosumi {it}" for it in ours), "ratio"]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.networks:
            path = Path(name)
            if not path.exists():
                path = Path(folder) / f"{name}.bin"
                command = [options.kosumi, "net", "random", "--architecture", name, "--output", str(path)]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            for side in map(int, options.sizes.split(",")):
                tools = [by_openvino(path, side, it) for it in theirs]
                tools += [by_kosumi(options.kosumi, path, side, it) for it in ours]
                times: list[list[float]] = [[] for _ in tools]
                for _ in range(options.rounds):
                    for evaluate, found in zip(tools, times):
                        found.append(1000 * evaluate())
                medians = [statistics.median(found) for found in times]
                ratio = min(medians[: len(theirs)]) / min(medians[len(theirs) :])
                row = " | ".join([name, f"{side}x{side}", *(f"{it:.2f}" for it in medians), f"{ratio:.2f}"])
                print(f"| {row} |", flush=True)


if __name__ == "__main__":
    main()
