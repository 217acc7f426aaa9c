#!/usr/bin/env python3
"""Time of a Lennard-Jones liquid within a cut-off, with the error of the forces beside it.

usage: python bench/python_cutoff.py [--particles 4000 32000] [--skin 0.3] [--rounds 7]
                                     [--device NAME]

Density 0.8442, cut-off 2.5, periodic box. Processor time of all threads, lowest of the rounds: of a
call with lists that serve, and of one that makes lists, less the former. The error is the largest
of the forces on a sample of particles relative to the root of their mean square, beside a plain sum
in long doubles.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gdr

DENSITY, CUTOFF = 0.8442, 2.5


def liquid(side: int) -> "tuple[np.ndarray, float]":
    """Particles near the sites of a face-centred lattice, and the edge of their box."""
    spacing = (4 / DENSITY) ** (1 / 3)
    corner = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    pos = spacing * (cells + corner).reshape(-1, 3)
    pos += np.random.default_rng(1).normal(0, 0.08, pos.shape)
    return pos, spacing * side


def force_x(pos: np.ndarray, edge: float, i: int) -> np.longdouble:
    """The x component of the force on a particle, by its definition."""
    d = (pos - pos[i]).astype(np.longdouble)
    d -= edge * np.round(d / edge)
    r2 = (d**2).sum(1)
    near = (r2 > 0) & (r2 < CUTOFF**2)
    inverse = 1 / r2[near]
    w = 24 * (2 * inverse**6 - inverse**3) * inverse
    return -(w * d[near, 0]).sum()


def lowest(rounds: int, call) -> float:
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, nargs="+", default=[4000, 32000])
    parser.add_argument("--skin", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="emulator:engine=native,threads=1")
    options = parser.parse_args()
    device = gdr.open(options.device)
    print(device.description)
    print("particles  forces, ms  lists, ms  sources of a group  steps/s of a particle     error")
    for wanted in options.particles:
        pos, edge = liquid(round((wanted / 4) ** (1 / 3)))
        pairs = gdr.PairSum(
            gdr.lennard_jones,
            CUTOFF,
            box=(edge,) * 3,
            skin=options.skin,
            device=device,
            rc2=CUTOFF**2,
        )
        found = pairs(pos)
        forces = lowest(options.rounds, lambda: pairs(pos))
        edges = iter(edge * (1 + 1e-13 * np.arange(1, options.rounds + 1)))
        both = lowest(options.rounds, lambda: pairs(pos, box=(next(edges),) * 3))
        sample = np.random.default_rng(2).integers(0, len(pos), 50)
        exact = np.array([force_x(pos, edge, i) for i in sample])
        error = np.abs(found.fx[sample] - exact).max() / np.sqrt((exact**2).mean())
        print(
            f"{len(pos):9} {1e3 * forces:11.2f} {1e3 * (both - forces):10.2f} "
            f"{pairs.statistics.pairs / len(pos):19.0f} {len(pos) / forces:22.3g} {error:9.1e}"
        )


if __name__ == "__main__":
    main()
