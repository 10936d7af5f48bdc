"""A program with a GTP interface, for the scripts in this folder."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TextIO


class Refused(Exception):
    """Error response of an engine, which begins with a question mark."""


class Engine:
    """A running engine."""

    def __init__(self, command: str, *, survives_interrupt: bool = False) -> None:
        """Starts the engine. ^C on the terminal ends it too, unless `survives_interrupt` is set."""
        self.name = command
        self.process = subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=survives_interrupt,
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def ask(self, line: str) -> str:
        """Sends a command and returns the response without its `=`.

        # Errors

        Raises `Refused` for an error response, and `SystemExit` if the engine has ended.
        """
        try:
            self.stdin.write(line + "\n")
            self.stdin.flush()
        except BrokenPipeError:
            raise SystemExit(f"{self.name}: ended before '{line}'") from None
        return self.response(line)

    def response(self, line: str) -> str:
        """Returns the next response, which belongs to the command `line`. The errors are those of `ask`."""
        lines: list[str] = []
        # A response ends with an empty line. Some engines write empty lines before it as well.
        while not lines or lines[-1].strip():
            answer = self.stdout.readline()
            if not answer:
                raise SystemExit(f"{self.name}: ended after '{line}'")
            if answer.strip() or lines:
                lines.append(answer)
        text = "".join(lines).strip()
        if not text.startswith("="):
            raise Refused(f"{self.name}: {line}: {text}")
        return text[1:].strip()


def records(stream: TextIO, count: int, least: int) -> list[str]:
    """Returns the first `count` games of a collection that have at least `least` moves. Only the beginning of the
    collection is read, because it may be large. A game begins with `(;` at the beginning of a line."""
    games = re.split(r"(?m)^(?=\(;)", stream.read(40_000 * count))
    return [game for game in games if len(re.findall(r";\s*[BW]\[", game)) >= least][:count]
