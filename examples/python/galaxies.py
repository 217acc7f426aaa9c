"""The collision of two disc galaxies with trees; writes a picture of the stars.

    python examples/python/galaxies.py --stars 100000 --out pictures
"""

from __future__ import annotations

import argparse
import pathlib
import time
from typing import Any, List

import matplotlib
import numpy as np

import gdr
from gdr import nbody

matplotlib.use("Agg")
from matplotlib import pyplot as plt

EPS, DT, T_END = 0.05, 1 / 16, 8.0
DISC_MASS, SCALE_LENGTH = 0.1, 0.25
PICTURES = 6


def galaxy(stars: int, inclination: float, seed: int) -> nbody.Snapshot:
    """Half of the stars are a halo, a Plummer sphere of type 1; half are a thin exponential disc of
    type 2, in circles about its centre."""
    halo = nbody.plummer(stars // 2, seed=seed)
    random = np.random.default_rng(seed)
    n = stars - len(halo)
    r = SCALE_LENGTH * random.gamma(2.0, 1.0, n)
    angle = random.uniform(0, 2 * np.pi, n)
    inside = np.searchsorted(np.sort(np.linalg.norm(halo.pos, axis=1)), r) / len(halo)
    x = r / SCALE_LENGTH
    mass = (1 - DISC_MASS) * inside + DISC_MASS * (1 - (1 + x) * np.exp(-x))
    speed = np.sqrt(mass * r**2 / (r**2 + EPS**2) ** 1.5)
    across, along = np.cos(angle), np.sin(angle)
    pos = np.stack([r * across, r * along, random.normal(0, 0.02, n)], 1)
    vel = np.stack([-speed * along, speed * across, np.zeros(n)], 1)
    tilt = np.array(
        [
            [1, 0, 0],
            [0, np.cos(inclination), -np.sin(inclination)],
            [0, np.sin(inclination), np.cos(inclination)],
        ]
    )
    return nbody.Snapshot(
        np.vstack([halo.pos, pos @ tilt.T]),
        np.vstack([halo.vel, vel @ tilt.T]),
        np.concatenate([halo.mass * (1 - DISC_MASS), np.full(n, DISC_MASS / n)]),
        types=np.repeat([1, 2], [len(halo), n]),
    )


def collision(stars: int) -> nbody.Snapshot:
    """Two galaxies that fall on each other."""
    first, second = galaxy(stars // 2, 0.3, 1), galaxy(stars - stars // 2, 1.2, 2)
    place, speed = np.array([3.0, 0.8, 0.0]), np.array([-0.8, 0.0, 0.0])
    return nbody.Snapshot(
        np.vstack([first.pos - place / 2, second.pos + place / 2]),
        np.vstack([first.vel - speed / 2, second.vel + speed / 2]),
        np.concatenate([first.mass, second.mass]),
        types=np.concatenate([first.types, second.types]),
    )


def draw(states: List[nbody.State], path: pathlib.Path) -> None:
    """Densities of the stars of the discs in the plane of the orbit."""
    figure, axes = plt.subplots(2, 3, figsize=(9, 6.2), constrained_layout=True)
    sides = (-3.0, 3.0)
    for ax, state in zip(axes.flat, states):
        x, y, _ = state.pos[state.types == 2].T
        density, _, _ = np.histogram2d(y, x, bins=300, range=(sides, sides))
        ax.imshow(np.log1p(density), origin="lower", extent=sides + sides, cmap="magma")
        ax.set_title(f"t = {state.time:.1f}", fontsize="medium")
        ax.set_axis_off()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser: Any = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stars", type=int, default=100000)
    parser.add_argument("--accuracy", type=float, default=3e-3)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("pictures"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    steps = round(T_END / DT)
    shown = {round(k * steps / (PICTURES - 1)) for k in range(PICTURES)}
    kept, errors = [], []
    with gdr.open("native") as device:
        for state in nbody.leapfrog(
            collision(options.stars),
            eps=EPS,
            dt=DT,
            t_end=T_END,
            accuracy=options.accuracy,
            device=device,
        ):
            errors.append(state.tree.error if state.tree is not None else 0.0)
            if state.step in shown:
                kept.append(state)
    change = nbody.energies(kept[-1]).total / nbody.energies(kept[0]).total - 1
    draw(kept, options.out / "galaxies.png")
    print(f"{steps} steps of {options.stars} stars in {time.perf_counter() - start:.1f} s")
    print(f"errors of accelerations up to {max(errors):.1e} (rms), of the energy {change:.1e}")
    print(f"written to {options.out / 'galaxies.png'}")


if __name__ == "__main__":
    main()
