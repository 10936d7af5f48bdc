#!/usr/bin/env python3
"""Unpacks and chooses the small corpora that are stored with the sources, fuzz/seeds/TARGET.txt.

Each line is an input: printable ASCII unchanged, other bytes as Python escapes.

    scripts/fuzz_seeds.py unpack TARGET FOLDER          writes every input to its own file, as libFuzzer names it
    scripts/fuzz_seeds.py choose TARGET CONTROL_FILE    writes the inputs with the most coverage to fuzz/seeds

CONTROL_FILE is libFuzzer's output with `-set_cover_merge=1 -merge_control_file=`. It has the features that each input
reaches. `scripts/fuzz` calls both commands.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

SEEDS = Path(__file__).resolve().parent.parent / "fuzz/seeds"
# Largest size of a file of seeds, in characters.
MAX_CHARACTERS = 8000


def escape(data: bytes) -> str:
    """Returns an input as a line."""
    return data.decode("latin-1").encode("unicode_escape").decode("ascii")


def unescape(line: str) -> bytes:
    """Returns the input that a line stands for."""
    return line.encode("ascii").decode("unicode_escape").encode("latin-1")


def unpack(target: str, folder: Path) -> None:
    """Writes every seed of a target to a file."""
    path = SEEDS / f"{target}.txt"
    folder.mkdir(parents=True, exist_ok=True)
    for line in path.read_text("ascii").splitlines() if path.exists() else []:
        data = unescape(line)
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def reached(control: Path) -> dict[Path, set[int]]:
    """Returns the features of each input in a control file. The file has the number of inputs, the number of those in
    the first corpus, the paths of the inputs, and a line `FT` with the features of each."""
    lines = control.read_text().splitlines()
    count = int(lines[0])
    files = [Path(line) for line in lines[2 : 2 + count]]
    found: dict[Path, set[int]] = {}
    for line in lines[2 + count :]:
        kind, *numbers = line.split()
        if kind == "FT":
            found.setdefault(files[int(numbers[0])], set()).update(map(int, numbers[1:]))
    return found


def choose(target: str, control: Path) -> None:
    """Writes seeds of a target, choosing repeatedly the input with the most new features for each of its characters."""
    left = reached(control)
    lines = {path: escape(path.read_bytes()) for path in left}
    assert all(unescape(line) == path.read_bytes() for path, line in lines.items())
    everything: set[int] = set().union(*left.values())
    have: set[int] = set()
    chosen: list[str] = []
    space = MAX_CHARACTERS
    while left:
        left = {path: rest for path, features in left.items() if (rest := features - have) and len(lines[path]) < space}
        if left:
            # The line breaks ties, so that a corpus always gives the same file.
            best = max(left, key=lambda path: (len(left[path]) / (len(lines[path]) + 8), lines[path]))
            have |= left.pop(best)
            chosen.append(lines[best])
            space -= len(lines[best]) + 1
    SEEDS.mkdir(exist_ok=True)
    (SEEDS / f"{target}.txt").write_text("".join(f"{line}\n" for line in sorted(chosen, key=lambda it: (len(it), it))))
    size = MAX_CHARACTERS - space
    print(f"{target}: {len(chosen)} seeds of {size} characters reach {len(have)} of {len(everything)} edges")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("unpack", "choose"):
        sys.exit(__doc__)
    {"unpack": unpack, "choose": choose}[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
