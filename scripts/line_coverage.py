"""Coverage by lines: LLVM's report of it, and which lines of the sources belong to code, functions and tests.

`scripts/testing` and `scripts/fuzz-coverage` share it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Start of a test module inside a file. Such a module is at the end of the file.
INNER_TESTS = re.compile(r"^#\[cfg\((?:all\()?test\b.*\)\]\n(?:#\[.*\]\n)*mod \w+ \{", re.MULTILINE)


def row(*cells: object) -> str:
    """Returns a row of a table, with separators in large numbers."""
    return "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells) + " |"


def run(*words: str, **environment: str) -> str:
    """Runs a command and returns its output."""
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words[:4])} …: exit status {done.returncode}")
    return done.stdout


def llvm_tool(name: str) -> str:
    """Returns the path of a tool of the compiler's LLVM, such as `llvm-cov`."""
    tools = Path(run("rustc", "--print", "sysroot").strip()).glob(f"lib/rustlib/*/bin/{name}")
    tool = next(tools, None)
    if tool is None:
        sys.exit(f"{name} is missing: rustup component add llvm-tools")
    return str(tool)


def is_test_file(path: Path) -> bool:
    """Returns whether all code of a file belongs to tests."""
    names = path.relative_to(ROOT).parts
    if "tests" in names[:-1] or path.stem in {"tests", "models", "fixtures"}:
        return True
    owners = [path.parent.with_suffix(".rs"), path.parent / "mod.rs"]
    if any(owner.is_file() and owner != path and is_test_file(owner) for owner in owners):
        return True
    # The name of a module in a folder is that of the folder.
    module = path.parent if path.name == "mod.rs" else path
    parents = [module.parent / "mod.rs", module.parent / "lib.rs", module.parent.with_suffix(".rs")]
    declared = f"#[cfg(test)]\nmod {module.stem};"
    return any(declared in parent.read_text(encoding="utf-8") for parent in parents if parent.is_file())


def read(lcov: str) -> dict[Path, dict[int, int]]:
    """Returns how often each line was reached, by file and line number, from LLVM's report."""
    reached: dict[Path, dict[int, int]] = defaultdict(dict)
    path = Path()
    for line in lcov.splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            path = Path(rest)
        elif kind == "DA":
            number, times = (int(text) for text in rest.split(",")[:2])
            reached[path][number] = reached[path].get(number, 0) + times
    return reached


def functions(text: str) -> list[tuple[int, int, str]]:
    """Returns the first line, the last line and the name of each function in a formatted file."""
    found = []
    source = text.splitlines()
    for index, line in enumerate(source):
        start = re.match(r"( *)(?:pub(?:\([^)]*\))? |const |async |unsafe |extern \"C\" )*fn (\w+)", line)
        if start:
            closing = f"{start[1]}}}"
            last = next((i for i in range(index, len(source)) if source[i] == closing), index)
            found.append((index + 1, last + 1, start[2]))
    return found


def code_lines(path: Path, reached: dict[int, int]) -> dict[int, int]:
    """Returns how often the lines of a file were reached, without those of the tests at its end."""
    text = path.read_text(encoding="utf-8")
    tests = INNER_TESTS.search(text)
    end = text[: tests.start()].count("\n") + 1 if tests else text.count("\n") + 1
    return {number: times for number, times in reached.items() if number <= end}


def unreached_functions(path: Path, reached: dict[int, int], least: int) -> list[tuple[int, str]]:
    """Returns the size and the name of each function of at least `least` lines, none of which was reached."""
    found = []
    for first, last, name in functions(path.read_text(encoding="utf-8")):
        inside = [times for number, times in reached.items() if first <= number <= last]
        if len(inside) >= least and not any(inside):
            found.append((len(inside), f"`{name}` ({path.relative_to(ROOT)})"))
    return found


def replace_table(page: Path, name: str, table: str) -> None:
    """Replaces what stands between `<!-- NAME -->` and the next `<!-- end -->` of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end -->)", text, re.DOTALL)
    if found is None:
        sys.exit(f"{page}: no place for the table {name}")
    page.write_text(text[: found.end(1)] + table + "\n" + text[found.start(2) :], encoding="utf-8")
