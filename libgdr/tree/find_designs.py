#!/usr/bin/env python3
"""Computes the points of designs.cpp and prints its table. Needs numpy; takes half a minute.

A design is made of orbits of the rotations of a tetrahedron: (x, y, z), its cyclic permutations,
and even numbers of changes of sign, 12 points in all. Sums of most harmonics over an orbit vanish
by symmetry; the others are polynomials in the generators, whose common zeros Newton's method finds
from random points. A design is exact to degree t if the sum over all pairs of points of P_l(x . y)
vanishes for l = 1 to t.
"""

import itertools

import numpy as np
from numpy.polynomial import legendre

ORBITS = {2: 1, 3: 2, 4: 3, 5: 5, 6: 7}


def orbit(p):
    signs = [s for s in itertools.product((1, -1), repeat=3) if np.prod(s) == 1]
    return np.array([np.roll(p * np.array(s), k) for s in signs for k in range(3)])


def generators(angles):
    u, v = angles.reshape(-1, 2).T
    return np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], 1)


def harmonics(points, t):
    """Sums over the points of polynomials that span the harmonics which the symmetry leaves."""
    out = []
    for direction in DIRECTIONS:
        c = points @ direction
        out.append([legendre.legval(c, [0] * degree + [1]).mean() for degree in range(1, t + 1)])
    return np.array(out).ravel()


def sums(angles, t):
    return harmonics(np.concatenate([orbit(p) for p in generators(angles)]), t)


DIRECTIONS = np.random.default_rng(1).normal(size=(4, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1)[:, None]


def solve(orbits, t, rng):
    for _ in range(2000):
        angles = rng.uniform(0, np.pi, 2 * orbits)
        for _ in range(100):
            f = sums(angles, t)
            if np.abs(f).max() < 1e-15:
                break
            h = 1e-6
            jacobian = np.stack(
                [
                    (sums(angles + h * e, t) - sums(angles - h * e, t)) / (2 * h)
                    for e in np.eye(len(angles))
                ],
                1,
            )
            step = np.linalg.lstsq(jacobian, -f, rcond=1e-9)[0]
            angles = angles + step * min(1, 0.5 / np.abs(step).max())
        points = np.concatenate([orbit(p) for p in generators(angles)])
        gram = points @ points.T
        worst = max(abs(legendre.legval(gram, [0] * degree + [1]).mean()) for degree in range(1, t + 1))
        # Points that nearly coincide waste one another.
        apart = np.sort(gram.ravel())[-len(points) - 1]
        if worst < 1e-15 and apart < np.cos(1.6 / np.sqrt(len(points))):
            return generators(angles)
    raise RuntimeError(f"no design of {orbits} orbits")


if __name__ == "__main__":
    rng = np.random.default_rng(7)
    for degree, orbits in ORBITS.items():
        print(f"    // degree {degree}")
        for p in solve(orbits, 2 * degree, rng):
            print("    {{" + ", ".join(f"{x:.17g}" for x in p) + "}},")
