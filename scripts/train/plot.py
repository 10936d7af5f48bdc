#!/usr/bin/env python3
"""Draws the curves of a training: plot.py RUN/log.jsonl curves.png (or .svg).

With `--hints`, of a training that began with hints: these, and what the answers taught afterwards.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Letters as letters: drawn ones make a file ten times as large.
matplotlib.rcParams["svg.fonttype"] = "none"

# Points a curve; more are thinned out.
MOST_POINTS = 150

PANELS = [
    ("moves: the played one is first", ["top1", "teacher_top1"], (0, None)),
    ("policy: loss of the played move", ["loss/policy", "policy_loss"], (None, None)),
    ("value: loss against the result", ["value_loss"], (None, None)),
    ("value: right side wins", ["value_accuracy"], (0.5, 1)),
    ("ownership: mean error", ["ownership_error", "teacher_ownership"], (0, None)),
    ("score: mean error in points", ["score_error", "teacher_score"], (0, None)),
    ("learning rate", ["rate"], (0, None)),
    ("all losses in training", ["loss", "loss/policy", "loss/played", "loss/value", "loss/score", "loss/ownership"], (0, None)),
]


def draw(log: Path, target: Path, with_hints: bool = False) -> None:
    lines = []
    for line in log.read_text().splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            pass  # a line that a kill cut short
    kinds = {line["kind"] for line in lines}
    if "hints" in kinds and (with_hints or "training" not in kinds):
        return save(hints(lines), target)
    # A training that began where hints ended has their lines at the top of its log.
    lines = [line for line in lines if line["kind"] != "hints"]
    figure, panels = plt.subplots(2, 4, figsize=(20, 8), constrained_layout=True)
    for panel, (title, names, limits) in zip(panels.flat, PANELS):
        for name in names:
            groups: dict[str, list[tuple[float, float]]] = {}
            for line in lines:
                if name in line:
                    source = "training" if line["kind"] == "training" else f"held back {line.get('size', '')}"
                    groups.setdefault(source, []).append((line["positions"] / 1e6, line[name]))
            for source, points in sorted(groups.items()):
                if title.startswith("all") and source != "training":
                    continue
                points = points[:: -(-len(points) // MOST_POINTS)]
                style = dict(alpha=0.5, linewidth=1) if source == "training" else dict(marker=".")
                panel.plot(*zip(*points), label=f"{name}, {source}", **style)
        panel.set_title(title)
        panel.set_xlabel("million positions")
        panel.set_ylim(*limits)
        panel.grid(alpha=0.3)
        if panel.lines:
            panel.legend(fontsize=7)
    save(figure, target)


def hints(lines: list[dict]):
    """Of a run of `hints.py`: how far off every block is, and the whole on what was held back; and what came after it."""
    told = [line for line in lines if line["kind"] == "hints"]
    hours = max(line["cpu_hours"] for line in told)
    after = [line for line in lines if line["kind"] == "validation" and "size" in line and line["cpu_hours"] > hours]
    figure, panels = plt.subplots(1, 3 if after else 2, figsize=(21 if after else 15, 5), constrained_layout=True)
    blocks, whole = panels[:2]
    names = [name for name in told[0] if name.startswith("off/")]
    for index, name in enumerate(names):
        label = "stem" if index == 0 else f"{'attention' if index % 2 else 'feed-forward'} {(index + 1) // 2}"
        style = "k:" if index == 0 else "-" if index % 2 else "--"
        blocks.plot([line["cpu_hours"] for line in told], [line[name] for line in told], style, label=label)
    blocks.set_title("what a block writes: mean square off, as a share of what the teacher's adds")
    blocks.legend(fontsize=7, ncols=2)
    found = [line for line in lines if line["kind"] == "validation" and line["cpu_hours"] <= hours]
    for name, what in [
        ("teacher_policy", "policy, nats from the teacher"),
        ("teacher_value", "value, mean square from the teacher"),
        ("teacher_ownership", "owners, mean distance from the teacher"),
    ]:
        known = [line for line in found if name in line]
        whole.plot([line["cpu_hours"] for line in known], [line[name] for line in known], marker="o", label=what)
    whole.set_title("the whole, on positions held back")
    whole.legend(fontsize=8)
    for name, what, style in [("teacher_policy", "policy", "-"), ("teacher_value", "value", "--")]:
        for number, size in enumerate(dict.fromkeys(line["size"] for line in after if line.get(name))):
            known = [line for line in after if line["size"] == size and name in line]
            points = [line["cpu_hours"] for line in known], [line[name] for line in known]
            panels[2].plot(*points, style, color=f"C{number}", marker=".", label=f"{what}, {size}")
    if after:
        panels[2].set_title("then by answers: off from the teacher")
        panels[2].legend(fontsize=7, ncols=5, loc="upper center")
        panels[2].margins(y=0.15)  # room for that
    for panel in panels:
        panel.set_yscale("log")
        panel.set_xlabel("CPU hours")
        panel.grid(alpha=0.3)
    return figure


def save(figure, target: Path) -> None:
    part = target.with_name("part-" + target.name)
    figure.savefig(part)
    plt.close(figure)
    part.replace(target)


if __name__ == "__main__":
    paths = [argument for argument in sys.argv[1:] if argument != "--hints"]
    draw(Path(paths[0]), Path(paths[1]), with_hints="--hints" in sys.argv)
