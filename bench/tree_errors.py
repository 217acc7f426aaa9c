#!/usr/bin/env python3
"""Errors of gdr.gravity with a tree over all particles, where they are spread and where they cancel.

usage: python bench/tree_errors.py [--particles 30000] [--accuracy 1e-3] [--device NAME]

For a Plummer sphere, a uniform cube, light particles inside of a heavy shell, charges of both signs in a
cube, a random line, a cubic lattice, two distant clumps, most particles at one place, and one heavy mass:
what was chosen, the terms of a sum, the error that the sample shows, and the
errors of all particles relative to direct sums (root mean square, median, largest), each relative to the
particle's acceleration, or to a thousandth of the root mean square of all, where that is larger.
"""

from __future__ import annotations

import argparse

import numpy as np
from python_tree import plummer

import gdr


def shell(n: int, random: np.random.Generator) -> "tuple[np.ndarray, np.ndarray]":
    """A third of the particles, of mass 1e-6, within half of the radius of a shell of the others."""
    x = random.normal(size=(n, 3))
    x /= np.linalg.norm(x, axis=1)[:, None]
    light = n // 3
    x[:light] *= 0.5 * random.uniform(size=(light, 1)) ** (1 / 3)
    return x, np.where(np.arange(n) < light, 1e-6, 1.0)


def systems(n: int) -> "dict[str, tuple[np.ndarray, np.ndarray]]":
    random = np.random.default_rng(1)
    line = np.zeros((n, 3))
    line[:, 0] = random.uniform(size=n)
    side = round(n ** (1 / 3))
    clumps = random.normal(size=(n, 3)) + 1000.0 * (np.arange(n) % 2)[:, None]
    place = random.normal(size=(n, 3))
    place[: 9 * n // 10] = 1.0
    heavy = np.full(n, 1 / n)
    heavy[0] = 1e6
    grid = np.stack(np.meshgrid(*[np.arange(float(side))] * 3, indexing="ij"), -1).reshape(-1, 3)
    return {
        "Plummer sphere": (plummer(n), np.full(n, 1 / n)),
        "uniform cube": (random.uniform(size=(n, 3)), np.full(n, 1 / n)),
        "inside of a shell": shell(n, random),
        "charges in a cube": (random.uniform(size=(n, 3)), random.choice([-1.0, 1.0], n)),
        "random line": (line, np.ones(n)),
        "cubic lattice": (grid, np.ones(len(grid))),
        "two clumps": (clumps, np.full(n, 1 / n)),
        "one place": (place, np.full(n, 1 / n)),
        "one heavy mass": (random.normal(size=(n, 3)), heavy),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--particles", type=float, default=30000)
    parser.add_argument("--accuracy", type=float, default=1e-3)
    parser.add_argument("--device", default="native")
    options = parser.parse_args()
    print(f"{'':18} {'chosen':14} {'terms':>8} {'sample':>8} {'all':>8} {'median':>8} {'largest':>8}")
    with gdr.open(options.device) as device:
        for name, (pos, mass) in systems(int(options.particles)).items():
            eps = 1e-3 if name == "one place" else 0.0
            exact = gdr.gravity(pos, mass, eps, device=device).acc
            found = gdr.gravity(pos, mass, eps, accuracy=options.accuracy, device=device)
            size = np.linalg.norm(exact, axis=1)
            least = 1e-3 * np.sqrt(np.mean(size**2))
            error = np.linalg.norm(found.acc - exact, axis=1) / np.maximum(size, least)
            tree = found.tree
            print(
                f"{name:18} {tree.method + ' ' + str(tree.degree):14} {tree.sources_per_target:8.0f}"
                f" {tree.error:8.1e} {np.sqrt(np.mean(error**2)):8.1e} {np.median(error):8.1e}"
                f" {error.max():8.1e}"
            )


if __name__ == "__main__":
    main()
