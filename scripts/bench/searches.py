#!/usr/bin/env python3
"""Compares the CPU time of the same searches in several programs with a GTP interface.

    scripts/bench/searches.py --size 9 'kosumi gtp --model n.bin.gz --visits 300 --threads 1' \\
        'katago gtp -model n.bin.gz -config gtp.cfg -override-config maxVisits=300'

Each program chooses a move (`reg_genmove`, else `genmove` and `undo`) in the same six positions, with an empty cache.
The programs take turns, `--rounds` times. The output has, for each program, the median of its CPU time for six moves
(user and system, all threads, without the start), and the last program's median divided by this one. Linux only: the
times are those in /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from gtp_engine import Engine, Refused

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


def positions(size: int) -> list[list[str]]:
    """Returns six positions of a game in which no stone touches another, so that every move is legal under all
    rules."""
    points = [f"{COLUMNS[x]}{y + 1}" for x in range(1, size - 1, 2) for y in range(1, size - 1, 2)]
    random.Random(1).shuffle(points)
    step = max(1, min(len(points), 2 * size) // 6)
    return [points[: step * number] for number in range(6)]


def cpu_seconds(engine: Engine) -> float:
    """Returns the CPU seconds of an engine since its start."""
    fields = Path(f"/proc/{engine.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def choose(engine: Engine, color: str) -> None:
    """Makes the engine choose a move, without playing it."""
    try:
        engine.ask(f"reg_genmove {color}")
    except Refused:
        engine.ask(f"genmove {color}")
        engine.ask("undo")


def measure(engine: Engine, size: int, komi: float) -> float:
    """Returns the CPU seconds of the searches in all positions, each with an empty cache where the engine can clear
    it."""
    spent = 0.0
    for moves in positions(size):
        engine.ask(f"boardsize {size}")
        engine.ask("clear_board")
        engine.ask(f"komi {komi}")
        for number, move in enumerate(moves):
            engine.ask(f"play {'bw'[number % 2]} {move}")
        try:
            engine.ask("clear_cache")
        except Refused:
            pass
        before = cpu_seconds(engine)
        choose(engine, "bw"[len(moves) % 2])
        spent += cpu_seconds(engine) - before
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+", help="command lines of the programs")
    parser.add_argument("--size", type=int, default=9, help="board size, from 5 to 25 [%(default)s]")
    parser.add_argument("--komi", type=float, default=7.5, help="komi [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds [%(default)s]")
    arguments = parser.parse_args()
    if not 5 <= arguments.size <= 25:
        parser.error("--size: from 5 to 25")

    engines = [Engine(command) for command in arguments.commands]
    for engine in engines:
        # An engine may still be starting after its first responses. Its first search waits for the rest.
        choose(engine, "b")
    seconds: list[list[float]] = [[] for _ in engines]
    for _ in range(arguments.rounds):
        for engine, taken in zip(engines, seconds, strict=True):
            taken.append(measure(engine, arguments.size, arguments.komi))
    last = statistics.median(seconds[-1])
    for engine, taken in zip(engines, seconds, strict=True):
        median = statistics.median(taken)
        print(f"{median:8.2f} s  {last / max(median, 1e-9):6.2f} times  {engine.name}")
        engine.ask("quit")


if __name__ == "__main__":
    main()
