"""Archives that depend on nothing but their contents: same files, same bytes."""

import gzip
import hashlib
import io
import struct
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """A file in an archive."""

    # Path in the archive, with `/`.
    name: str
    contents: bytes
    is_program: bool = False

    @property
    def mode(self) -> int:
        """Returns the permissions of the file."""
        return 0o755 if self.is_program else 0o644


def write_tar_gz(path: Path, entries: list[Entry], epoch: int) -> None:
    """Writes a compressed tar archive. Files belong to root and have the time `epoch`."""
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for entry in sorted(entries, key=lambda entry: entry.name):
                info = tarfile.TarInfo(entry.name)
                info.size, info.mode, info.mtime = len(entry.contents), entry.mode, epoch
                archive.addfile(info, io.BytesIO(entry.contents))


def write_zip(path: Path, entries: list[Entry], epoch: int) -> None:
    """Writes a Zip archive. Files have the time `epoch`, in UTC."""
    moment = time.gmtime(epoch)[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry in sorted(entries, key=lambda entry: entry.name):
            info = zipfile.ZipInfo(entry.name, moment)
            info.compress_type = zipfile.ZIP_DEFLATED
            # Unix permissions, whatever machine writes the archive. They are in the upper half of the attributes.
            info.create_system = 3
            info.external_attr = (0o100000 | entry.mode) << 16
            archive.writestr(info, entry.contents)


def write(path: Path, entries: list[Entry], epoch: int) -> None:
    """Writes a Zip or a compressed tar archive, depending on the ending of the path."""
    if path.name.endswith(".zip"):
        write_zip(path, entries, epoch)
    else:
        write_tar_gz(path, entries, epoch)


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# By target: the processor in the header of a universal binary (type and subtype), and the alignment of its part as a
# power of two.
MACH_CPUS = {"x86_64-apple-darwin": (0x0100_0007, 3, 14), "aarch64-apple-darwin": (0x0100_000C, 0, 14)}


def universal(programs: dict[str, bytes]) -> bytes:
    """Returns the universal binary of programs for macOS by target, which runs on all their processors."""
    header = struct.pack(">II", 0xCAFE_BABE, len(programs))
    body = b""
    offset = 1 << 14
    for triple, program in programs.items():
        cpu, subtype, align = MACH_CPUS[triple]
        start = -(-offset // (1 << align)) << align
        header += struct.pack(">IIIII", cpu, subtype, start, len(program), align)
        body += b"\0" * (start - offset) + program
        offset = start + len(program)
    return header.ljust(1 << 14, b"\0") + body
