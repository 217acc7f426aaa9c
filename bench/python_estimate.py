#!/usr/bin/env python3
"""Estimates of `gdr.estimate` beside the times of the calculations.

usage: python bench/python_estimate.py [--rounds 5] [--scale 1] [--device native]

A round is a process of its own for every calculation, because estimates are kept in a process for a
minute: it estimates, then calculates three times, of which the middle time counts. Times are elapsed
seconds, as those of estimates; the table has medians over the rounds, the smallest and the largest
measured time, and how many of the measured times are within the bounds of their estimate. `--scale`
multiplies the numbers of particles.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

import gdr
from gdr.results import Estimate

Calculation = Tuple[Callable[[], Estimate], Callable[[], Any]]
CASES = {
    "gravity": 40000,
    "gravity, tree 1e-3": 200000,
    "lennard_jones": 20000,
    "morse, 1000 targets": 100000,
    "Yukawa of a text": 15000,
}
YUKAWA = """
CONST kappa; VARI vec3 x; VARJ vec3 y; VARJ q; VARF u; precision long;
r2 = norm2(x - y); skip if (r2 == 0); u += q*exp(-kappa*sqrt(r2))*rsqrt(r2);
"""


def plummer(n: int) -> Any:
    """Positions of a Plummer sphere, as estimates of trees assume."""
    random = np.random.default_rng(1)
    radius = 1 / np.sqrt(random.uniform(0.001, 0.999, n) ** (-2 / 3) - 1)
    direction = random.normal(size=(n, 3))
    return direction * (radius / np.linalg.norm(direction, axis=1))[:, None]


def calculation(name: str, n: int, device: Any) -> Calculation:
    pos, mass = plummer(n), np.full(n, 1 / n)
    cube = np.random.default_rng(2).uniform(0, n ** (1 / 3), (n, 3))
    few = min(n, 1000)
    if name.startswith("gravity"):
        how = {"accuracy": 1e-3} if "tree" in name else {}
        return (
            lambda: gdr.estimate("gravity", n, device=device, **how),
            lambda: gdr.gravity(pos, mass, eps=0.01, device=device, **how),
        )
    if name == "lennard_jones":
        return (
            lambda: gdr.estimate("lennard_jones", n, rc=2.5, device=device),
            lambda: gdr.lennard_jones(cube, rc=2.5, device=device),
        )
    if name.startswith("morse"):
        numbers = {"depth": 1.0, "steep": 1.0, "r0": 1.0, "rc": 2.5}
        return (
            lambda: gdr.estimate("morse", targets=few, sources=n, device=device, **numbers),
            lambda: gdr.morse(cube, **numbers, targets=cube[:few], device=device),
        )
    law = gdr.compile(YUKAWA)
    return (
        lambda: gdr.estimate(law, n, kappa=1.0, device=device),
        lambda: law(
            targets={"x": pos}, sources={"y": pos, "q": mass}, kappa=1.0, device=device
        ),
    )


def measure_one(name: str, n: int, device_name: str) -> None:
    """The work of a process: prints the estimate, its bounds, and the measured seconds."""
    gdr.quiet()
    estimate, calculate = calculation(name, n, gdr.open(device_name))
    found = estimate()
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        calculate()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps([found.low, found.seconds, found.high, statistics.median(seconds)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--device", default="native")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    counts = {name: max(2, round(options.scale * n)) for name, n in CASES.items()}
    if options.one is not None:
        measure_one(options.one, counts[options.one], options.device)
        return
    rounds: Dict[str, List[List[float]]] = {name: [] for name in CASES}
    for _ in range(options.rounds):
        for name in CASES:
            how = ["--scale", str(options.scale), "--device", options.device, "--one", name]
            output = subprocess.run([sys.executable, __file__, *how], check=True, stdout=subprocess.PIPE).stdout
            rounds[name].append(json.loads(output.splitlines()[-1]))
    print(f"{'calculation':24} {'particles':>9} {'estimate':>9} {'low':>7} {'high':>7}", end="")
    print(f" {'measured':>9} {'least':>7} {'most':>7} {'within':>7}")
    for name, found in rounds.items():
        low, seconds, high, taken = (statistics.median(part) for part in zip(*found))
        times = [row[3] for row in found]
        within = sum(row[0] <= row[3] <= row[2] for row in found)
        print(f"{name:24} {counts[name]:9} {seconds:9.3f} {low:7.3f} {high:7.3f}", end="")
        print(f" {taken:9.3f} {min(times):7.3f} {max(times):7.3f} {within:4}/{len(found)}")


if __name__ == "__main__":
    main()
