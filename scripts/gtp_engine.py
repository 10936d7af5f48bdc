"""A program that speaks GTP, for the scripts beside this file."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TextIO


class Refused(Exception):
    """The engine's answer begins with a question mark."""


class Engine:
    def __init__(self, command: str):
        self.name = command
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, line: str) -> str:
        """The answer without its sign. Raises `Refused`; ends the program if the engine has ended."""
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise SystemExit(f"{self.name}: ended before '{line}'") from None
        lines: list[str] = []
        # An answer ends with an empty line; some engines write empty ones before it.
        while not lines or lines[-1].strip():
            answer = self.process.stdout.readline()
            if not answer:
                raise SystemExit(f"{self.name}: ended after '{line}'")
            if answer.strip() or lines:
                lines.append(answer)
        text = "".join(lines).strip()
        if not text.startswith("="):
            raise Refused(f"{self.name}: {line}: {text}")
        return text[1:].strip()


def records(stream: TextIO, count: int, least: int) -> list[str]:
    """The first games of a collection, which may be large, that have so many moves. A game begins with `(;` at a line's
    start."""
    games = re.split(r"(?m)^(?=\(;)", stream.read(40_000 * count))
    return [game for game in games if len(re.findall(r";\s*[BW]\[", game)) >= least][:count]
