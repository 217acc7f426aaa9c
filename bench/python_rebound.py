#!/usr/bin/env python3
"""Time of a step of REBOUND with gravity of gdr.rebound, beside REBOUND's own, with errors.

usage: python bench/python_rebound.py [--bodies 100 1000 10000] [--rounds 5] [--device NAME]

A planetary disc: a star, and bodies of equal mass between 1 and 2 from it, of a thousandth of the
star's mass together. WHFast in democratic heliocentric coordinates, whose forces are those among
the bodies, and IAS15. Every variant runs the same disc in turn; processor time of a step (of IAS15:
of a time unit), lower quartile of the rounds. Errors: the root mean square, over 50 bodies, of the
relative errors of accelerations, beside plain sums in long doubles; and the largest difference of
positions from those of REBOUND's basic gravity after the runs, relative to the size of the disc.
"""

from __future__ import annotations

import argparse
import ctypes
import time

import numpy as np
import rebound

import gdr
import gdr.rebound

SOFTENING = 1e-4


def disc(n: int, integrator: str) -> rebound.Simulation:
    random = np.random.default_rng(2)
    sim = rebound.Simulation()
    sim.add(m=1)
    a, f, inc = random.uniform(1, 2, n), random.uniform(0, 2 * np.pi, n), random.rayleigh(0.02, n)
    for k in range(n):
        sim.add(m=1e-3 / n, a=a[k], f=f[k], inc=inc[k])
    sim.softening = SOFTENING
    sim.dt = 0.01
    sim.integrator = integrator
    if integrator == "whfast":
        sim.integrator.coordinates = "democraticheliocentric"
        sim.integrator.safe_mode = 0
    return sim


def numbers(sim: rebound.Simulation, names: str) -> np.ndarray:
    return np.array([[getattr(p, name) for name in names.split()] for p in sim.particles])


def error_of_accelerations(sim: rebound.Simulation, attached: bool) -> float:
    """Of the bodies among each other, as in democratic heliocentric coordinates."""
    sim.gravity_ignore = 2
    sim.gravity = "custom" if attached else sim.gravity
    rebound.clibrebound.reb_simulation_update_acceleration(ctypes.byref(sim))
    found = numbers(sim, "ax ay az")
    sim.gravity = "basic" if attached else sim.gravity
    pos, mass = numbers(sim, "x y z").astype(np.longdouble), numbers(sim, "m")[:, 0]
    errors = []
    for i in np.random.default_rng(5).integers(1, len(pos), 50):
        d = np.delete(pos[1:], i - 1, axis=0) - pos[i]
        r2 = (d**2).sum(1) + np.longdouble(SOFTENING) ** 2
        exact = ((np.delete(mass[1:], i - 1) / (r2 * np.sqrt(r2)))[:, None] * d).sum(0)
        errors.append(((found[i] - exact) ** 2).sum() / (exact**2).sum())
    return float(np.sqrt(np.mean(errors)))


def seconds(call) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def measure(n: int, integrator: str, options: argparse.Namespace, device: gdr.Device) -> None:
    variants = {"REBOUND basic": None, "gdr.rebound": {}}
    if integrator == "whfast" and n >= 1000:
        variants["gdr.rebound 1e-3"] = {"accuracy": 1e-3}
    sims, errors, times = {}, {}, {}
    for name, given in variants.items():
        sim = disc(n, integrator)
        if given is not None:
            gdr.rebound.attach(sim, device=device, **given)
        errors[name] = error_of_accelerations(sim, given is not None)
        sims[name], times[name] = sim, []
    span = 0.01 * max(2, min(50, round(2e6 / n**1.5))) if integrator == "whfast" else 0.2
    for k in range(options.rounds):
        for name, sim in sims.items():
            begin = sim.steps_done
            took = seconds(lambda sim=sim, k=k: sim.integrate((k + 1) * span, exact_finish_time=0))
            per = sim.steps_done - begin if integrator == "whfast" else span
            times[name].append(took / per)
    for sim in sims.values():
        sim.synchronize()
    ends = {name: numbers(sim, "x y z") for name, sim in sims.items()}
    quartile = {name: float(np.quantile(t, 0.25)) for name, t in times.items()}
    unit = "step" if integrator == "whfast" else "time unit"
    print(
        f"{n} bodies, {integrator}: ms per {unit}, relative to basic, error, difference of positions"
    )
    for name, t in quartile.items():
        difference = np.abs(ends[name] - ends["REBOUND basic"]).max() / 2
        ratio = quartile["REBOUND basic"] / t
        print(f"  {name:18} {1e3 * t:10.3f} {ratio:8.2f} {errors[name]:10.1e} {difference:10.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="emulator:engine=native,threads=1")
    options = parser.parse_args()
    device = gdr.open(options.device)
    print(f"{device.description}; REBOUND {rebound.__version__}")
    for n in options.bodies:
        measure(n, "whfast", options, device)
        if n <= 100:
            measure(n, "ias15", options, device)


if __name__ == "__main__":
    main()
