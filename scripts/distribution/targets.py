"""Targets of a release, and how each is built on Linux."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Separator of the flags in CARGO_ENCODED_RUSTFLAGS, which allows paths with spaces.
FLAG_SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Target:
    """A system for which a program is built."""

    # Target triple of Rust, which is also part of the archive's name.
    triple: str
    # Suffix of the archive, as cargo-binstall expects it.
    archive: str
    # Argument of --target. cargo-zigbuild takes the version of glibc after the triple.
    build_as: str
    # Whether zig links the program.
    with_zig: bool
    # Further flags of rustc.
    flags: tuple[str, ...] = ()
    # Linker, if it is not the target's default one.
    linker: str | None = None
    # Cargo features of the program.
    features: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """Returns the file name of the program."""
        return "kosumi.exe" if "windows" in self.triple else "kosumi"

    def path(self, target_dir: Path) -> Path:
        """Returns the path of the program that cargo builds."""
        return target_dir / self.triple / "release" / self.program


# Rust's own linker suffices for musl, because Rust includes the C library.
MUSL = {"archive": "tar.gz", "with_zig": False, "linker": "rust-lld", "flags": ("-Clink-self-contained=yes",)}
# Dependencies link to the Objective-C library and the Foundation framework, for which no SDK is available. Lists of a
# few of their symbols (stubs/README.md) suffice for the linker. The paths are relative to the workspace, where the
# program is linked: absolute ones would make the program depend on the workspace's folder.
STUBS = "scripts/distribution/stubs"
APPLE = (f"-Lnative={STUBS}", f"-Lframework={STUBS}")
TARGETS = (
    Target("x86_64-unknown-linux-musl", build_as="x86_64-unknown-linux-musl", **MUSL),  # type: ignore[arg-type]
    Target("aarch64-unknown-linux-musl", build_as="aarch64-unknown-linux-musl", **MUSL),  # type: ignore[arg-type]
    # Access to graphics cards needs the system's dynamic loader, which a static program for musl does not have.
    Target("x86_64-unknown-linux-gnu", "tar.gz", "x86_64-unknown-linux-gnu.2.28", True, features=("gpu",)),
    Target("aarch64-unknown-linux-gnu", "tar.gz", "aarch64-unknown-linux-gnu.2.28", True, features=("gpu",)),
    # Without this option, the linker writes the time of the build into programs for Windows.
    Target(
        "x86_64-pc-windows-gnu",
        "zip",
        "x86_64-pc-windows-gnu",
        False,
        flags=("-Clink-arg=-Wl,--no-insert-timestamp",),
    ),
    Target("x86_64-apple-darwin", "tar.gz", "x86_64-apple-darwin", True, APPLE),
    Target("aarch64-apple-darwin", "tar.gz", "aarch64-apple-darwin", True, APPLE),
)


def find(name: str) -> Target:
    """Returns the target with a name.

    Exits with a message if there is none.
    """
    for target in TARGETS:
        if target.triple == name:
            return target
    sys.exit(f"unknown target {name}; known: {', '.join(target.triple for target in TARGETS)}")


def output(*command: str) -> str:
    """Returns the standard output of a command, without white space at its ends."""
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def cargo_home() -> Path:
    """Returns the folder in which cargo keeps the sources of dependencies."""
    return Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))


def target_dir() -> Path:
    """Returns the folder of build results."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def rust_flags(target: Target) -> str:
    """Returns the encoded flags of rustc, which replace the paths of this machine by names that are the same
    everywhere.

    The last prefix that matches counts, so a folder inside another one comes after it.
    """
    prefixes = [
        (Path(output("rustc", "--print", "sysroot")), "/rust"),
        (cargo_home(), "/cargo"),
        (ROOT, "/kosumi"),
        (target_dir(), "/target"),
    ]
    flags = [f"--remap-path-prefix={path}={name}" for path, name in prefixes]
    return FLAG_SEPARATOR.join([*flags, *target.flags])


def missing_tools(target: Target) -> list[str]:
    """Returns the tools that are missing for a build of the target, each with the command that installs it."""
    missing = []
    if target.with_zig and shutil.which("cargo-zigbuild") is None:
        missing.append("cargo-zigbuild and zig (pip install cargo-zigbuild ziglang)")
    if "windows" in target.triple and shutil.which("x86_64-w64-mingw32-gcc") is None:
        missing.append("x86_64-w64-mingw32-gcc (apt install gcc-mingw-w64-x86-64)")
    return missing


def build(target: Target, epoch: int) -> Path:
    """Builds the program of a target and returns its path.

    Raises `CalledProcessError` if the build fails.
    """
    subprocess.run(["rustup", "target", "add", target.triple], check=True, cwd=ROOT)
    environment = dict(os.environ)
    environment["CARGO_ENCODED_RUSTFLAGS"] = rust_flags(target)
    environment.pop("RUSTFLAGS", None)
    # The flags above contain this folder as an absolute path, so cargo must use the same one.
    environment["CARGO_TARGET_DIR"] = str(target_dir())
    environment["CARGO_INCREMENTAL"] = "0"
    environment["SOURCE_DATE_EPOCH"] = str(epoch)
    # Without this variable, the linker writes the time into programs for macOS.
    environment["ZERO_AR_DATE"] = "1"
    # Oldest macOS on which the programs run: the first version for ARM.
    environment["MACOSX_DEPLOYMENT_TARGET"] = "11.0"
    if target.linker is not None:
        name = target.triple.upper().replace("-", "_")
        environment[f"CARGO_TARGET_{name}_LINKER"] = target.linker
    command = ["cargo", "zigbuild" if target.with_zig else "build"]
    command += ["--release", "--locked", "--package", "kosumi", "--bin", "kosumi", "--target", target.build_as]
    if target.features:
        command += ["--features", ",".join(target.features)]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return target.path(target_dir())
