"""Parts of a program: a bill of materials in the format CycloneDX, and the licences of the crates."""

import json
import re
import time
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from distribution.targets import ROOT, Target, output

# Names of files with licences or notices.
LICENCE_NAMES = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def parts(target: Target) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, list[str]]]:
    """Returns the package of the program, the crates that are built into it for a target, and the dependencies of each
    crate.

    Crates that only build scripts or tests use are not included. Procedural macros and their dependencies are, because
    cargo does not tell them apart from other dependencies.
    """
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target.triple]
    metadata = json.loads(output(*command, "--features", ",".join(target.features)))
    packages = {package["id"]: package for package in metadata["packages"]}
    edges = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
    }
    root = metadata["resolve"]["root"]
    seen, waiting = {root}, [root]
    while waiting:
        for other in edges[waiting.pop()]:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    crates = sorted((packages[name] for name in seen - {root}), key=lambda it: (it["name"], it["version"]))
    uses = {reference(packages[name]): sorted(reference(packages[it]) for it in edges[name]) for name in seen}
    return packages[root], crates, uses


def reference(package: dict[str, Any]) -> str:
    """Returns the name of a crate in the bill: its package URL."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def checksums() -> dict[tuple[str, str], str]:
    """Returns the SHA-256 of the packages in Cargo.lock, by name and version."""
    text = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    found = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource = ".+"\nchecksum = "(.+)"', text)
    return {(name, version): checksum for name, version, checksum in found}


def bill(target: Target, program_sha256: str, epoch: int) -> bytes:
    """Returns the bill of materials of a program, as CycloneDX 1.5 in JSON."""
    root, crates, uses = parts(target)
    sums = checksums()

    def component(package: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {
            "type": "library",
            "bom-ref": reference(package),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(package),
        }
        if package["license"]:
            # Old manifests separate alternative licences by a slash.
            found["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        checksum = sums.get((package["name"], package["version"]))
        if checksum:
            found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return found

    program = component(root) | {
        "type": "application",
        "hashes": [{"alg": "SHA-256", "content": program_sha256}],
    }
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{target.triple}/{program_sha256}')}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
            "component": program,
            "properties": [{"name": "kosumi:target", "value": target.triple}],
        },
        "components": [component(package) for package in crates],
        "dependencies": [{"ref": name, "dependsOn": others} for name, others in sorted(uses.items())],
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def notices(targets: Iterable[Target]) -> bytes:
    """Returns the licences of all third-party crates in the programs, each text once."""
    crates = {
        reference(package): package
        for target in targets
        for package in parts(target)[1]
        if package["source"] is not None
    }
    texts: dict[str, list[str]] = {}
    lines = [
        "Kosumi contains the following libraries. Their licences are below.",
        "It also contains the standard library of Rust (MIT OR Apache-2.0, https://www.rust-lang.org/policies/licenses),",
        "and, in the programs for musl, musl itself (MIT, https://git.musl-libc.org/cgit/musl/tree/COPYRIGHT).",
        "",
    ]
    for _, package in sorted(crates.items()):
        authors = ", ".join(package["authors"])
        label = f"{package['name']} {package['version']}"
        lines.append(f"{label} ({package['license']}){': ' + authors if authors else ''}")
        folder = Path(package["manifest_path"]).parent
        for file in sorted(folder.iterdir()):
            if file.is_file() and LICENCE_NAMES.match(file.name):
                text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
                texts.setdefault(text, []).append(label)
    for text, labels in sorted(texts.items(), key=lambda item: item[1]):
        lines += ["", "=" * 80, f"Licence of {', '.join(labels)}:", "", text]
    return ("\n".join(lines) + "\n").encode()
