#!/usr/bin/env python3
"""Processor time of gdr.sph over the number of particles: densities, forces, smoothing lengths.

usage: python bench/python_sph.py [--particles 1e4,1e5] [--device native:threads=1] [--rounds 3]

Gas of random positions in a periodic cube, whose smoothing lengths follow from the densities
(58 others within a spline). Processor seconds, the least of the rounds, and beside each the error relative to
plain sums in NumPy over 50 particles: of densities, and of smoothing lengths, h - eta (mass / rho(h))^(1/3).
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gdr

ETA = 1.2


def spline(q: np.ndarray) -> np.ndarray:
    """The cubic spline that ends at q = 2, without its factor 1 / h^3 (Monaghan and Lattanzio 1985)."""
    inner = 1 - 1.5 * q**2 + 0.75 * q**3
    outer = 0.25 * np.maximum(2 - q, 0) ** 3
    return np.where(q < 1, inner, outer) / np.pi


def plain_density(pos: np.ndarray, h: np.ndarray, mass: float, i: int) -> float:
    d = pos - pos[i]
    d -= np.round(d)
    mean = (h + h[i]) / 2
    return float((mass * spline(np.linalg.norm(d, axis=1) / mean) / mean**3).sum())


def least(call, rounds: int) -> "tuple[float, object]":
    times, result = [], None
    for _ in range(rounds):
        begin = time.process_time()
        result = call()
        times.append(time.process_time() - begin)
    return min(times), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--particles", default="1e4,1e5")
    parser.add_argument("--device", default="native:threads=1")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    device = gdr.open(options.device)
    print(device.description)
    for n in (int(float(v)) for v in options.particles.split(",")):
        random = np.random.default_rng(3)
        pos, vel, mass = random.uniform(size=(n, 3)), np.zeros((n, 3)), 1 / n
        given = {"box": (1, 1, 1), "device": device}
        first, found = least(lambda: gdr.sph.smoothing_lengths(pos, mass, **given), 1)
        h, rho = found.h, found.rho
        moved = pos + random.normal(0, 0.01 * n ** (-1 / 3), pos.shape)
        again, _ = least(
            lambda: gdr.sph.smoothing_lengths(moved, mass, h=h, **given), options.rounds
        )
        density, got = least(lambda: gdr.sph.density(pos, mass, h, **given), options.rounds)
        forces, _ = least(
            lambda: gdr.sph.forces(pos, vel, mass, h, rho, rho, 1.0, **given), options.rounds
        )
        sample = random.choice(n, 50, replace=False)
        plain = np.array([plain_density(pos, h, mass, i) for i in sample])
        wrong = np.abs(got.rho[sample] / plain - 1).max()
        lengths = np.abs(ETA * (mass / plain) ** (1 / 3) / h[sample] - 1).max()
        print(
            f"{n} particles: density {density:.3f} s, error {wrong:.1e}; forces {forces:.3f} s; smoothing"
            f" lengths {first:.3f} s, error {lengths:.1e}, with those of a step before {again:.3f} s"
        )


if __name__ == "__main__":
    main()
