"""What a built program needs, and what it must not contain."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from distribution.targets import ROOT, Target, cargo_home, output

# Libraries that every supported system has, by a part of the target's name.
SYSTEM_LIBRARIES = {
    "linux-musl": set[str](),
    "linux-gnu": {
        "libc.so.6",
        "libm.so.6",
        "libgcc_s.so.1",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    },
    "windows": {
        "kernel32.dll",
        "msvcrt.dll",
        "ntdll.dll",
        "ws2_32.dll",
        "userenv.dll",
        "bcrypt.dll",
        "bcryptprimitives.dll",
        "advapi32.dll",
        "api-ms-win-core-synch-l1-2-0.dll",
    },
    "apple": {
        "/usr/lib/libSystem.B.dylib",
        "/usr/lib/libiconv.2.dylib",
        "/usr/lib/libcharset.1.dylib",
        "/usr/lib/libobjc.A.dylib",
        "/System/Library/Frameworks/Foundation.framework/Versions/C/Foundation",
    },
}

# Oldest version of glibc with which the programs must run.
OLDEST_GLIBC = (2, 28)

# Largest size of a program in bytes, and the bytes that each cargo feature may add.
MAX_PROGRAM_BYTES = 25_000_000
MAX_FEATURE_BYTES = {"gpu": 6_000_000}


def largest_program(target: Target) -> int:
    """Returns the largest permitted size of the program of a target, in bytes."""
    return MAX_PROGRAM_BYTES + sum(MAX_FEATURE_BYTES[feature] for feature in target.features)


@dataclass(frozen=True)
class Needs:
    """Libraries and version of glibc that a program needs from the system."""

    libraries: tuple[str, ...]
    # Newest version of glibc that a symbol of the program needs; `None` if there is none.
    glibc: tuple[int, ...] | None

    def __str__(self) -> str:
        text = ", ".join(self.libraries) or "nothing"
        return text if self.glibc is None else f"{text}; glibc {'.'.join(map(str, self.glibc))}"


def llvm_readobj() -> str:
    """Returns the path of llvm-readobj from Rust's own LLVM, which reads programs for all systems."""
    if output("rustup", "component", "list", "--installed").find("llvm-tools") < 0:
        subprocess.run(["rustup", "component", "add", "llvm-tools"], check=True, cwd=ROOT)
    host = re.search(r"^host: (.+)$", output("rustc", "-vV"), re.MULTILINE)
    assert host is not None, "rustc names its host"
    return str(Path(output("rustc", "--print", "sysroot")) / "lib/rustlib" / host[1] / "bin/llvm-readobj")


def needs(program: Path) -> Needs:
    """Returns the libraries and the version of glibc that a program needs."""
    tool = llvm_readobj()
    text = output(tool, "--needed-libs", str(program))
    inner = re.search(r"NeededLibraries \[(.*?)\]", text, re.DOTALL)
    libraries = sorted({line.strip() for line in inner[1].splitlines() if line.strip()}) if inner else []
    versions = re.findall(r"GLIBC_(\d+(?:\.\d+)+)", output(tool, "--version-info", str(program)))
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    return Needs(tuple(libraries), max(numbers, default=None))


def faults(target: Target, program: Path, found: Needs) -> list[str]:
    """Returns the faults of a program as sentences. The list is empty if there are none."""
    faults = []
    allowed = next(names for part, names in SYSTEM_LIBRARIES.items() if part in target.triple)
    for library in found.libraries:
        name = library.lower() if "windows" in target.triple else library
        if name not in allowed:
            faults.append(f"{library} is no library that every system has")
    if found.glibc is not None and found.glibc > OLDEST_GLIBC:
        faults.append(f"it needs glibc {'.'.join(map(str, found.glibc))}")
    contents = program.read_bytes()
    for folder in {str(ROOT), str(cargo_home()), str(Path.home()), output("rustc", "--print", "sysroot")}:
        # The slash excludes unrelated words that begin like a folder, such as `/root`.
        count = contents.count(f"{folder}/".encode())
        if count > 0:
            faults.append(f"it contains the path {folder} of this machine {count} times")
    return faults
