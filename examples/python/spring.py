"""A user-defined pair law, written in Python.

    python examples/python/spring.py
"""

from __future__ import annotations

import numpy as np

import gdr
from gdr.functions import rsqrt


@gdr.kernel(flops=12)
def spring(i: gdr.Particle, j: gdr.Particle, stiffness: float, length: float) -> None:
    """Springs between all pairs of points in a plane, with one rest length."""
    dx, dy = j.x - i.x, j.y - i.y
    r2 = dx**2 + dy**2
    if r2 == 0:
        return
    pull = stiffness * (1 - length * rsqrt(r2))
    i.fx += pull * dx
    i.fy += pull * dy


def main() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 100))
    points = {"x": x, "y": y}
    forces = spring(targets=points, sources=points, stiffness=2.0, length=0.5)
    print(spring, "sum of forces:", forces.fx.sum(), forces.fy.sum())


if __name__ == "__main__":
    main()
