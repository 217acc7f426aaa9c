#!/usr/bin/env python3
"""Time of a step of molecular dynamics of ASE with gdr.ase.PairPotential and with other calculators.

usage: python bench/python_ase.py [--particles 4000] [--rounds 7] [--device NAME]

Argon at 80 K in a periodic box, cut-off 2.5 sigma, energies shifted to 0 there, ASE's velocity
Verlet with a step of 5 fs. Every calculator runs the same atoms in turn, for as many steps as take
about half a second, lists included; processor time of a step, lower quartile of the rounds. Errors
are the largest of the forces on 50 atoms relative to the root of their mean square, beside a plain
sum in long doubles. Peers from PyPI: ase (required) and matscipy.
"""

from __future__ import annotations

import argparse
import time

import ase
import numpy as np
from ase import units
from ase.build import bulk
from ase.calculators.lj import LennardJones
from ase.md.verlet import VelocityVerlet

import gdr
from gdr.ase import PairPotential

SIGMA, EPSILON = 3.405, 0.010325
CUTOFF = 2.5 * SIGMA


def argon(wanted: int, device: gdr.Device) -> ase.Atoms:
    """A liquid: a lattice after 300 steps."""
    atoms = bulk("Ar", "fcc", a=5.6, cubic=True) * ((round((wanted / 4) ** (1 / 3)),) * 3)
    momenta = np.random.default_rng(1).normal(0, np.sqrt(39.95 * units.kB * 160), (len(atoms), 3))
    atoms.set_momenta(momenta - momenta.mean(axis=0))
    atoms.calc = own("r2", device)
    VelocityVerlet(atoms, timestep=5 * units.fs).run(300)
    return atoms


def own(form: str, device: gdr.Device) -> PairPotential:
    laws = {
        "r2": "s = (sigma^2/r2)^3; 4*epsilon*(s*s - s)",
        "r": "4*epsilon*((sigma/r)^12 - (sigma/r)^6)",
    }
    return PairPotential(
        laws[form], CUTOFF, shift=True, device=device, sigma=SIGMA, epsilon=EPSILON
    )


def of_species(device: gdr.Device) -> PairPotential:
    """The law with tables of two species."""
    law = "s = (sigma^2/r2)^3; 4*epsilon*(s*s - s)"
    tables = {"sigma": {"Ar": SIGMA, "Kr": 3.65}, "epsilon": {"Ar": EPSILON, "Kr": 0.0140}}
    rules = {"sigma": "arithmetic", "epsilon": "geometric"}
    return PairPotential(law, CUTOFF, shift=True, mixing=rules, device=device, **tables)


def matscipy_calculator() -> object:
    from matscipy.calculators.pair_potential import LennardJonesCut
    from matscipy.calculators.pair_potential import PairPotential as Pairs

    return Pairs({(18, 18): LennardJonesCut(EPSILON, SIGMA, CUTOFF)})


def exact_forces(atoms: ase.Atoms, sample: np.ndarray) -> np.ndarray:
    """The forces on a sample of atoms, by their definition in long doubles."""
    pos, edge = atoms.positions.astype(np.longdouble), np.longdouble(atoms.cell[0, 0])
    forces = []
    for i in sample:
        d = pos[i] - pos
        d -= edge * np.round(d / edge)
        r2 = (d**2).sum(1)
        near = (r2 > 0) & (r2 < CUTOFF**2)
        s = (np.longdouble(SIGMA) ** 2 / r2[near]) ** 3
        forces.append(
            ((24 * np.longdouble(EPSILON) * (2 * s * s - s) / r2[near])[:, None] * d[near]).sum(0)
        )
    return np.array(forces)


def seconds(call) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="emulator:engine=native,threads=1")
    options = parser.parse_args()
    device = gdr.open(options.device)
    atoms = argon(options.particles, device)
    makers = {
        "gdr.ase, in r2": lambda: own("r2", device),
        "gdr.ase, in r": lambda: own("r", device),
        "gdr.ase, two species": lambda: of_species(device),
        "gdr.ase, with stress": lambda: own("r2", device),
        "ASE LennardJones": lambda: LennardJones(sigma=SIGMA, epsilon=EPSILON, rc=CUTOFF),
        "matscipy": matscipy_calculator,
    }
    sample = np.random.default_rng(2).integers(0, len(atoms), 50)
    exact = exact_forces(atoms, sample)
    scale = np.sqrt((exact**2).mean())
    runs, errors, steps = {}, {}, {}
    for name, make in makers.items():
        system = atoms.copy()
        try:
            system.calc = make()
        except ImportError as error:
            print(f"{name}: not measured ({error})")
            continue
        if "stress" in name:
            system.get_stress()
        errors[name] = float(np.abs(system.get_forces()[sample] - exact).max() / scale)
        runs[name] = VelocityVerlet(system, timestep=5 * units.fs)
        steps[name] = max(1, min(200, round(0.5 / seconds(lambda run=runs[name]: run.run(1)))))
    times = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            times[name].append(seconds(lambda run=run, n=steps[name]: run.run(n)) / steps[name])
    quartile = {name: float(np.quantile(t, 0.25)) for name, t in times.items()}
    print(f"{device.description}; ASE {ase.__version__}, {len(atoms)} atoms")
    print(f"{'':22} ms per step  relative to the first   error of forces")
    for name, t in quartile.items():
        print(
            f"{name:22} {1e3 * t:11.2f} {t / quartile['gdr.ase, in r2']:22.2f} {errors[name]:17.1e}"
        )


if __name__ == "__main__":
    main()
