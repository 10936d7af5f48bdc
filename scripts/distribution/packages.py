"""Packages for operating systems and package managers, made from description.toml and the archives of a release."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from distribution import archives
from distribution.archives import Entry
from distribution.targets import ROOT

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE / "templates"

# Architecture of a Linux package by target: Debian's name and RPM's name.
LINUX = {"x86_64-unknown-linux-gnu": ("amd64", "x86_64"), "aarch64-unknown-linux-gnu": ("arm64", "aarch64")}

# Files that are made from a template alone: path in the folder of packages, and name of the template.
MANIFESTS = {
    "aur/PKGBUILD": "PKGBUILD",
    "homebrew/kosumi.rb": "kosumi.rb",
    "scoop/kosumi.json": "scoop.json",
    "winget/@WINGET_ID@.yaml": "winget.yaml",
    "winget/@WINGET_ID@.installer.yaml": "winget.installer.yaml",
    "winget/@WINGET_ID@.locale.en-US.yaml": "winget.locale.en-US.yaml",
    "nix/flake.nix": "flake.nix",
    "flatpak/@APP_ID@.json": "flatpak.json",
    "rpm/kosumi.spec": "kosumi.spec",
    "install.sh": "install.sh",
    "install.ps1": "install.ps1",
}


def indented(text: str, by: str) -> str:
    """Returns the text with each line indented."""
    return "\n".join(by + line for line in text.splitlines())


def description(version: str, epoch: int) -> dict[str, str]:
    """Returns the values of the placeholders in templates, except those that follow from the archives."""
    texts = tomllib.loads((HERE / "description.toml").read_text(encoding="utf-8"))
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    home = manifest["package"].get("repository", texts["placeholder"])
    moment = time.gmtime(epoch)
    licence = "\n".join(line or "." for line in (ROOT / "LICENSE-MIT").read_text(encoding="utf-8").splitlines())
    return {
        "VERSION": version,
        "SUMMARY": texts["summary"],
        "SUMMARY_LOWER": texts["summary"][0].lower() + texts["summary"][1:],
        "DESCRIPTION": texts["description"],
        "DESCRIPTION_LINE": " ".join(texts["description"].split()),
        "DESCRIPTION_INDENTED": indented(texts["description"], " "),
        "DESCRIPTION_TWO_SPACES": indented(texts["description"], "  "),
        "MAINTAINER": texts["maintainer"],
        "APP_ID": texts["app_id"],
        "WINGET_ID": texts["winget_id"],
        "HOME": home,
        "DOWNLOAD": f"{home}/releases/download/v{version}",
        "LICENSE_MIT": indented(licence, " "),
        "DATE": time.strftime("%Y-%m-%d", moment),
        # Names of days and months are English in these formats, because Python starts with the locale C.
        "RPM_DATE": time.strftime("%a %b %d %Y", moment),
        "RFC_DATE": time.strftime("%a, %d %b %Y %H:%M:%S +0000", moment),
    }


def filled(text: str, values: dict[str, str]) -> str:
    """Returns a template with its placeholders, such as @VERSION@, replaced.

    Raises `KeyError` for a placeholder without a value.
    """
    return re.sub(r"@([A-Z][A-Za-z0-9_]*)@", lambda found: values[found[1]], text)


def template(name: str, values: dict[str, str]) -> str:
    """Returns a template from the folder `templates`, with its placeholders replaced."""
    return filled((TEMPLATES / name).read_text(encoding="utf-8"), values)


def desktop_files(version: str, epoch: int) -> list[Entry]:
    """Returns the desktop files below `share`: menu entry, icon, application metadata, and type of game records."""
    values = description(version, epoch)
    name = values["APP_ID"]
    return [
        Entry(f"share/applications/{name}.desktop", template("kosumi.desktop", values).encode()),
        Entry(f"share/icons/hicolor/scalable/apps/{name}.svg", template("kosumi.svg", values).encode()),
        Entry(f"share/metainfo/{name}.metainfo.xml", template("kosumi.metainfo.xml", values).encode()),
        Entry("share/mime/packages/kosumi.xml", template("mime.xml", values).encode()),
    ]


def installed(common: list[Entry], values: dict[str, str]) -> list[Entry]:
    """Returns the files of a Debian package below `/usr` except the program. Long texts are compressed, as Debian
    requires."""
    files = {entry.name: entry.contents for entry in common}

    def small(contents: bytes) -> bytes:
        return gzip.compress(contents, 9, mtime=0)

    documents = "share/doc/kosumi"
    return [
        Entry("share/man/man1/kosumi.1.gz", small(files["man/kosumi.1"])),
        Entry("share/bash-completion/completions/kosumi", files["completions/kosumi.bash"]),
        Entry("share/zsh/vendor-completions/_kosumi", files["completions/_kosumi"]),
        Entry("share/fish/vendor_completions.d/kosumi.fish", files["completions/kosumi.fish"]),
        Entry(f"{documents}/README.md.gz", small(files["README.md"])),
        Entry(f"{documents}/THIRD-PARTY.txt.gz", small(files["THIRD-PARTY.txt"])),
        Entry(f"{documents}/changelog.gz", small(files["CHANGELOG.md"])),
        Entry(f"{documents}/changelog.Debian.gz", small(template("changelog.Debian", values).encode())),
        Entry(f"{documents}/copyright", template("copyright", values).encode()),
        *[entry for entry in common if entry.name.startswith("share/")],
    ]


def write_deb(out: Path, target: str, program: Path, common: list[Entry], values: dict[str, str], epoch: int) -> None:
    """Writes a package for Debian and Ubuntu into `out`."""
    architecture = LINUX[target][0]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        entries = [*installed(common, values), Entry("bin/kosumi", program.read_bytes(), is_program=True)]
        for entry in entries:
            path = root / "usr" / entry.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(entry.contents)
            path.chmod(entry.mode)
        kibibytes = sum(-(-len(entry.contents) // 1024) for entry in entries)
        control = root / "DEBIAN" / "control"
        control.parent.mkdir()
        own = values | {"ARCHITECTURE": architecture, "INSTALLED_KIB": str(kibibytes)}
        control.write_text(template("control", own), encoding="utf-8")
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        name = out / f"kosumi_{values['VERSION']}-1_{architecture}.deb"
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(name)],
            check=True,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)},
        )


def write_rpm(out: Path, target: str, spec: Path, archive: Path, epoch: int) -> None:
    """Writes a package for Fedora, openSUSE and others into `out`, from the archive of the target."""
    architecture = LINUX[target][1]
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "SOURCES").mkdir()
        shutil.copy(archive, top / "SOURCES")
        settings = {
            "_topdir": str(top),
            "_buildhost": "localhost",
            "use_source_date_epoch_as_buildtime": "1",
            "clamp_mtime_to_source_date_epoch": "1",
            "_binary_payload": "w9.xzdio",
        }
        defines = [word for name, value in settings.items() for word in ("--define", f"{name} {value}")]
        subprocess.run(
            # Debian's rpmbuild does not know which RPM packages are installed, so it cannot check the build
            # dependencies.
            ["rpmbuild", "-bb", "--quiet", "--nodeps", f"--target={architecture}-linux", *defines, str(spec)],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch)},
        )
        for package in (top / "RPMS").rglob("*.rpm"):
            shutil.copy(package, out / package.name)


def write_all(out: Path, version: str, common: list[Entry], programs: dict[str, Path], epoch: int) -> None:
    """Writes all packages whose archives are in `out` into its folder `packages`.

    A package whose archives or tools are missing is left out, with a note.
    """
    values = description(version, epoch)
    if values["HOME"].endswith(".invalid/kosumi"):
        print("note: Cargo.toml has no repository, so addresses in packages lead nowhere", file=sys.stderr)
    for archive in out.glob(f"kosumi-{version}-*"):
        if archive.name.endswith((".zip", ".tar.gz")):
            triple = archive.name.removeprefix(f"kosumi-{version}-").removesuffix(".zip").removesuffix(".tar.gz")
            name = triple.replace("-", "_")
            values[f"SHA256_{name}"] = archives.sha256(archive)
            values[f"SHA256_UPPER_{name}"] = archives.sha256(archive).upper()
    folder = out / "packages"
    for path, name in MANIFESTS.items():
        try:
            text = template(name, values)
        except KeyError as missing:
            print(f"note: no {name}, as {missing} is not known: build all targets", file=sys.stderr)
            continue
        file = folder / filled(path, values)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for target, program in programs.items():
        if target not in LINUX:
            continue
        if shutil.which("dpkg-deb"):
            write_deb(folder, target, program, common, values, epoch)
        else:
            print("note: no .deb, as dpkg-deb is not installed", file=sys.stderr)
        if shutil.which("rpmbuild"):
            archive = out / f"kosumi-{version}-{target}.tar.gz"
            write_rpm(folder, target, folder / "rpm" / "kosumi.spec", archive, epoch)
        else:
            print("note: no .rpm, as rpmbuild is not installed", file=sys.stderr)
