#!/usr/bin/env python3
"""Packs what a training needs to go on elsewhere into a folder small enough for a repository: pack.py RUN FOLDER

    network.bin.gz   the averaged weights, in KataGo's format: also the network to play with
    state.json       how far the training is, and how it was run
    log.jsonl        its curves: every validation, and every tenth line of the training

`train.py --start FOLDER` goes on from there. The optimiser's averages are left out: they are as large as the network
each, and a warm-up of some thousand positions makes them anew.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import torch


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    run, target = Path(sys.argv[1]), Path(sys.argv[2])
    state = torch.load(run / "state.pt", map_location="cpu", weights_only=True)
    target.mkdir(parents=True, exist_ok=True)
    # What stands there may be a link to the built-in network, which is not to be written through.
    (target / "network.bin.gz").unlink(missing_ok=True)
    shutil.copyfile(run / "network.bin.gz", target / "network.bin.gz")
    facts = {name: state[name] for name in ("positions", "steps", "cpu_seconds", "wall_seconds")}
    facts["options"] = state.get("options", {})
    facts["round"] = state["stream"]["round"]
    facts["shape"] = {name: list(v) if isinstance(v, tuple) else v for name, v in state["shape"].items()}
    (target / "state.json").write_text(json.dumps(facts, indent=1) + "\n")

    kept, seen = [], 0
    for line in (run / "log.jsonl").read_text().splitlines():
        try:
            fact = json.loads(line)
        except json.JSONDecodeError:
            continue  # cut short by a kill
        # A training that was killed repeats what came after its last checkpoint.
        if fact["positions"] > state["positions"]:
            continue
        seen += fact["kind"] == "training"
        if fact["kind"] != "training" or seen % 10 == 0:
            kept.append(json.dumps(fact))
    (target / "log.jsonl").write_text("\n".join(kept) + "\n")
    for file in sorted(target.iterdir()):
        print(f"{file}  {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
