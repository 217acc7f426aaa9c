"""A Lennard-Jones liquid at constant energy: molecular dynamics in 40 lines, in reduced units.

    python examples/python/liquid.py [edge in cells of 4 particles, 10] [steps, 1000]
"""

from __future__ import annotations

import sys
from typing import Iterator, Tuple

import numpy as np

import gdr

DENSITY, CUTOFF, STEP = 0.8442, 2.5, 0.004
# Energy and virial of both particles of a pair; the energy is zero at the cut-off.
LAW = f"""
VARI vec3 xi as pos; VARJ vec3 xj as pos; VARF vec3 f; VARF u, virial;
d = xi - xj; s = recip(norm2(d)); s6 = s^3; w = 24*(2*s6 - 1)*s6;
f += w*s*d; virial += 0.5*w; u += 2*(s6 - 1)*s6 - {2 * (CUTOFF**-12 - CUTOFF**-6)!r};
"""


def simulate(edge: int, steps: int) -> Iterator[Tuple[int, float, float, float]]:
    """Step, temperature, pressure and total energy of a particle, after every tenth step."""
    corner = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    cells = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), -1)
    spacing = (4 / DENSITY) ** (1 / 3)
    pos = spacing * (cells.reshape(-1, 1, 3) + corner).reshape(-1, 3)
    vel = np.random.default_rng(1).normal(0, 1.2, pos.shape)  # temperature 1.44 of the lattice
    vel -= vel.mean(axis=0)
    pairs = gdr.PairSum(LAW, CUTOFF, box=3 * [spacing * edge], skin=0.3)
    now = pairs(pos)
    for step in range(1, steps + 1):
        vel += STEP / 2 * now.f
        pos += STEP * vel
        now = pairs(pos)  # the lists serve until a particle has moved by half of the skin
        vel += STEP / 2 * now.f
        if step % 10 == 0:
            temperature = (vel**2).mean()
            pressure = DENSITY * (temperature + now.virial.mean() / 3)
            yield step, temperature, pressure, now.u.mean() + 1.5 * temperature


def main() -> None:
    given = [int(argument) for argument in sys.argv[1:]]
    edge, steps = given + [10, 1000][len(given) :]
    print("  step temperature  pressure    energy")
    for step, temperature, pressure, energy in simulate(edge, steps):
        if step % 100 == 0:
            print(f"{step:6} {temperature:11.4f} {pressure:9.4f} {energy:9.5f}")


if __name__ == "__main__":
    main()
