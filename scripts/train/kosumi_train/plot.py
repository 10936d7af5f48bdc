"""Draws the curves of a run from its log, as an image (.png or .svg). Needs matplotlib.

The log of `distil blocks` has other curves than that of `train`: the errors of all blocks, and those of the whole
network. With --blocks, they are also drawn from the log of a training that started from such a run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Text stays text: letters as outlines would make a file ten times as large.
matplotlib.rcParams["svg.fonttype"] = "none"

# Largest number of points of a curve. Longer curves are thinned out.
MAX_POINTS = 150

# Title, names in the log, and limits of each panel.
LOSSES = ["loss", "loss/policy", "loss/played", "loss/value", "loss/score", "loss/ownership"]
PANELS: list[tuple[str, list[str], tuple[float | None, float | None]]] = [
    ("policy: the played move is first", ["top1", "teacher_top1"], (0, None)),
    ("policy: loss of the played move", ["loss/policy", "policy_loss"], (None, None)),
    ("value: loss against the result", ["value_loss"], (None, None)),
    ("value: the right side wins", ["value_accuracy"], (0.5, 1)),
    ("ownership: mean error", ["ownership_error", "teacher_ownership"], (0, None)),
    ("score: mean error in points", ["score_error", "teacher_score"], (0, None)),
    ("learning rate", ["rate"], (0, None)),
    ("all losses in training", LOSSES, (0, None)),
]

Line = dict[str, Any]


def draw(log: Path, target: Path, with_blocks: bool = False) -> None:
    """Draws the curves of a log."""
    lines: list[Line] = []
    for text in log.read_text().splitlines():
        try:
            lines.append(json.loads(text))
        except json.JSONDecodeError:
            pass  # A kill has cut this line short.
    for one in lines:
        # Logs from before November 2026 call this kind "hints".
        one["kind"] = "blocks" if one["kind"] == "hints" else one["kind"]
    kinds = {line["kind"] for line in lines}
    if "blocks" in kinds and (with_blocks or "training" not in kinds):
        return save(blocks_figure(lines), target)
    # A training that started from a distillation has the distillation's lines at the top of its log.
    lines = [line for line in lines if line["kind"] != "blocks"]
    figure, panels = plt.subplots(2, 4, figsize=(20, 8), constrained_layout=True)
    for panel, (title, names, limits) in zip(panels.flat, PANELS, strict=True):
        for name in names:
            groups: dict[str, list[tuple[float, float]]] = {}
            for line in lines:
                if name in line:
                    source = "training" if line["kind"] == "training" else f"held back {line.get('size', '')}"
                    groups.setdefault(source, []).append((line["positions"] / 1e6, line[name]))
            for source, points in sorted(groups.items()):
                if title.startswith("all") and source != "training":
                    continue
                points = points[:: -(-len(points) // MAX_POINTS)]
                style: dict[str, Any] = dict(alpha=0.5, linewidth=1) if source == "training" else dict(marker=".")
                panel.plot(*zip(*points, strict=True), label=f"{name}, {source}", **style)
        panel.set_title(title)
        panel.set_xlabel("million positions")
        panel.set_ylim(*limits)
        panel.grid(alpha=0.3)
        if panel.lines:
            panel.legend(fontsize=7)
    save(figure, target)


def blocks_figure(lines: list[Line]) -> Any:
    """Returns the figure for a run of `distil blocks`, and for the training after it if there is one."""
    learnt = [line for line in lines if line["kind"] == "blocks"]
    hours = max(line["cpu_hours"] for line in learnt)
    after = [line for line in lines if line["kind"] == "validation" and "size" in line and line["cpu_hours"] > hours]
    figure, panels = plt.subplots(1, 3 if after else 2, figsize=(21 if after else 15, 5), constrained_layout=True)
    blocks, whole = panels[:2]
    names = [name for name in learnt[0] if name.startswith("off/")]
    for index, name in enumerate(names):
        label = "stem" if index == 0 else f"{'attention' if index % 2 else 'feed-forward'} {(index + 1) // 2}"
        style = "k:" if index == 0 else "-" if index % 2 else "--"
        blocks.plot([line["cpu_hours"] for line in learnt], [line[name] for line in learnt], style, label=label)
    blocks.set_title("errors of blocks: mean square, as a share of what the teacher's block adds")
    blocks.legend(fontsize=7, ncols=2)
    found = [line for line in lines if line["kind"] == "validation" and line["cpu_hours"] <= hours]
    for name, label in [
        ("teacher_policy", "policy, divergence from the teacher in nats"),
        ("teacher_value", "value, mean square distance from the teacher"),
        ("teacher_ownership", "ownership, mean distance from the teacher"),
    ]:
        known = [line for line in found if name in line]
        whole.plot([line["cpu_hours"] for line in known], [line[name] for line in known], marker="o", label=label)
    whole.set_title("the whole network, on held-back positions")
    whole.legend(fontsize=8)
    for name, label, style in [("teacher_policy", "policy", "-"), ("teacher_value", "value", "--")]:
        for number, size in enumerate(dict.fromkeys(line["size"] for line in after if line.get(name))):
            known = [line for line in after if line["size"] == size and name in line]
            points = [line["cpu_hours"] for line in known], [line[name] for line in known]
            panels[2].plot(*points, style, color=f"C{number}", marker=".", label=f"{label}, {size}")
    if after:
        panels[2].set_title("training from labels afterwards: distance from the teacher")
        panels[2].legend(fontsize=7, ncols=5, loc="upper center")
        panels[2].margins(y=0.15)  # Space for the legend.
    for panel in panels:
        panel.set_yscale("log")
        panel.set_xlabel("CPU hours")
        panel.grid(alpha=0.3)
    return figure


def save(figure: Any, target: Path) -> None:
    """Writes a figure in one step."""
    part = target.with_name("part-" + target.name)
    figure.savefig(part)
    plt.close(figure)
    part.replace(target)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", type=Path, help="log.jsonl of a run")
    parser.add_argument("image", type=Path, help="image to write")
    parser.add_argument("--blocks", action="store_true", help="draws the distillation at the beginning of the log")


def run(options: argparse.Namespace) -> None:
    """Draws the curves of the log that the options name."""
    draw(options.log, options.image, options.blocks)
