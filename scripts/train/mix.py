#!/usr/bin/env python3
"""A network whose weights lie between those of others: mix.py OUT.bin.gz A.bin.gz 0.65 B.bin.gz 0.35 [--name NAME]

The others must come from one training, so that they lie in one basin: B is where A was trained on to, towards another
aim. Somewhere on the way lie networks that are better than the mean of both, in what A and in what B is good at.

CITE: Wortsman et al., "Robust fine-tuning of zero-shot models" (2022).
"""

from __future__ import annotations

import argparse

import torch

import katago_file
from model import Network


@torch.no_grad()
def mixed(parts: list[tuple[Network, float]]) -> Network:
    """The weighted mean of networks of one shape; the shares are scaled to a sum of 1."""
    shapes = {network.shape for network, _ in parts}
    total = sum(share for _, share in parts)
    if len(shapes) != 1 or total <= 0:
        raise SystemExit("networks of one shape are needed, and shares with a sum above 0")
    result = Network(shapes.pop())
    states = [(network.state_dict(), share / total) for network, share in parts]
    result.load_state_dict({name: sum(state[name] * share for state, share in states) for name in states[0][0]})
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("parts", nargs="+", metavar="NETWORK SHARE", help="files, each with its share")
    parser.add_argument("--name", default="kosumi-mixed", help="name within the file [%(default)s]")
    options = parser.parse_args()
    if len(options.parts) % 2:
        parser.error("every network needs its share")
    files, shares = options.parts[::2], [float(share) for share in options.parts[1::2]]
    parts = [(katago_file.read(file)[1], share) for file, share in zip(files, shares)]
    katago_file.write(options.out, options.name, mixed(parts))


if __name__ == "__main__":
    main()
