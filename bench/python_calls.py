#!/usr/bin/env python3
"""Times of small calls from Python on the engine "native", and those of NumPy for the same work.

usage: python bench/python_calls.py [--device NAME] [--rounds 15]

A round measures each call 200 times in a row; the time is that of the fastest round, because other
load only adds time.
"""

from __future__ import annotations

import argparse
import time
from typing import Callable, Dict

import numpy as np

import gdr
from gdr import linalg


@gdr.kernel
def spring(i, j, k):
    i.f += k * (j.x - i.x)


def seconds(call: Callable[[], object], rounds: int, calls: int = 200) -> float:
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, time.perf_counter() - begin)
    return best / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="emulator:engine=native")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    random = np.random.default_rng(1)
    device = gdr.open(options.device)
    pos, vel = random.normal(size=(2, 1024, 3))
    mass, ids = np.full(1024, 1e-3), np.arange(1024)
    at = {"pos": pos[:8].copy(), "vel": vel[:8].copy()}
    job = device.job(gdr.builtin("gravity_jerk"))
    sources = dict(zip(("xj", "yj", "zj"), pos.T)) | dict(zip(("vxj", "vyj", "vzj"), vel.T))
    job.sources(**sources, mj=mass, idj=ids)
    targets = {name[:-1] + "i": column[:8] for name, column in sources.items()}

    def of_job() -> object:
        job.set(eps2=1e-4)
        job.targets(**targets, idi=ids[:8])
        return job.run()

    x, k = random.normal(size=8), 2.0
    matrix, b = random.normal(size=(8, 8)), random.normal(size=8)
    calls: Dict[str, Callable[[], object]] = {
        "job, gravity_jerk 8 x 1024": of_job,
        "gdr.gravity_jerk 8 x 1024": lambda: gdr.gravity_jerk(
            pos, mass, vel, 0.01, targets=at, device=device
        ),
        "own kernel 8 x 8": lambda: spring(
            targets={"x": x}, sources={"x": x}, k=k, device=device
        ),
        "gdr.builtin": lambda: gdr.builtin("gravity_jerk"),
        "linalg.solve 8 x 8": lambda: linalg.solve(matrix, b, device=device),
        "linalg.matmul 8 x 8": lambda: linalg.matmul(matrix, matrix, device=device),
        "numpy.linalg.solve 8 x 8": lambda: np.linalg.solve(matrix, b),
        "numpy.matmul 8 x 8": lambda: np.matmul(matrix, matrix),
    }
    required = {"job": 25, "gdr.gravity_jerk": 40, "own": 20}
    print(device.description)
    times = {name: seconds(call, options.rounds) for name, call in calls.items()}
    for name, value in times.items():
        line = f"{name:28} {1e6 * value:8.1f} us"
        most = next((m for start, m in required.items() if name.startswith(start)), None)
        if most is not None:
            line += f"  {1e6 * value / most:6.2f} of the required {most} us"
        if name.startswith("linalg."):
            other = times["numpy." + name.replace("linalg.matmul", "matmul")]
            line += f"  {value / other:6.2f} times NumPy"
        print(line)


if __name__ == "__main__":
    main()
