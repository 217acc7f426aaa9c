"""Initial conditions, in N-body units (G = 1)."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from .._arrays import Floats, floats, integer, number
from .snapshot import Snapshot


def plummer(n: int, *, mass: float = 1.0, seed: int = 0) -> Snapshot:
    """A Plummer sphere of n stars of equal mass in virial equilibrium.

        stars = nbody.plummer(100, seed=1)
        stars.pos, stars.vel, stars.mass

    Henon units: with ``mass`` 1 the total energy is about -1/4 (scale length 3 pi / 16). Positions
    and velocities are drawn as in Aarseth, Henon & Wielen 1974 (A&A 37, 183), with radii up to 22.8
    scale lengths, which contain 99.9 % of the mass. The centre of mass is at rest at 0.
    """
    n = integer("n", n, 1)
    total = number("mass", mass, above=0)
    random = np.random.default_rng(seed)
    enclosed = random.uniform(0, 0.999, n)
    radius = 1 / np.sqrt(np.maximum(enclosed, 1e-12) ** (-2 / 3) - 1)
    pos = radius[:, None] * _directions(random, n)
    # Speeds in units of the escape speed: density q^2 (1 - q^2)^(7/2), by rejection.
    speed = np.empty(n)
    left = np.arange(n)
    while len(left):
        q, y = random.uniform(size=len(left)), random.uniform(0, 0.1, len(left))
        good = y < q**2 * (1 - q**2) ** 3.5
        speed[left[good]] = q[good]
        left = left[~good]
    escape = np.sqrt(2.0) * (1 + radius**2) ** -0.25
    vel = (speed * escape)[:, None] * _directions(random, n)
    scale = 3 * np.pi / 16
    pos, vel = pos * scale, vel * np.sqrt(total / scale)
    return Snapshot(pos - pos.mean(0), vel - vel.mean(0), np.full(n, total / n))


def _directions(random: np.random.Generator, n: int) -> Floats:
    z = random.uniform(-1, 1, n)
    phi = random.uniform(0, 2 * np.pi, n)
    s = np.sqrt(1 - z**2)
    return np.column_stack([s * np.cos(phi), s * np.sin(phi), z])


def merger(
    n: int,
    *,
    separation: Sequence[float] = (4.0, 1.0, 0.0),
    velocity: Sequence[float] = (-0.5, 0.0, 0.0),
    mass_ratio: float = 1.0,
    seed: int = 0,
) -> Snapshot:
    """Two approaching Plummer spheres, with n stars of equal mass in total.

    ``separation`` and ``velocity`` are those of the second sphere relative to the first;
    ``mass_ratio`` is the mass of the second over that of the first (at most 1). Stars have type 1
    in the first sphere and type 2 in the second.

    Examples:
        >>> stars = nbody.merger(100, mass_ratio=0.5)
        >>> np.bincount(stars.types).tolist(), round(float(stars.mass.sum()), 12)
        ([0, 67, 33], 1.0)
    """
    ratio = number("mass_ratio", mass_ratio, above=0, most=1)
    n = integer("n", n, 2)
    second = max(1, round(n * ratio / (1 + ratio)))
    first = n - second
    # Equal densities: lengths scale with the cube root of the mass.
    a = plummer(first, mass=first / n, seed=seed)
    b = plummer(second, mass=second / n, seed=seed + 1)
    for part in (a, b):
        size = float(part.mass.sum()) ** (1 / 3)
        part.pos = part.pos * size
        part.vel = part.vel / np.sqrt(size)
    b.pos = b.pos + floats("separation", separation, (3,))
    b.vel = b.vel + floats("velocity", velocity, (3,))
    pos, vel = np.concatenate([a.pos, b.pos]), np.concatenate([a.vel, b.vel])
    types = np.repeat([1, 2], [first, second])
    return Snapshot(pos - pos.mean(0), vel - vel.mean(0), np.full(n, 1.0 / n), types=types)
