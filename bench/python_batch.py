#!/usr/bin/env python3
"""Time of linalg.batch_solve relative to numpy.linalg.solve, in alternation in one process.

usage: python bench/python_batch.py [--count 20000] [--order 8] [--rounds 15] [--device NAME]

Each round measures both, in changing order; the ratio is that of the medians. The script sleeps
between calls: each side has threads of its own, which spin after their work and would take a core
from the other side. Residuals are relative to |a| |x| + |b|.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

import gdr
from gdr import linalg


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--order", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="emulator:engine=native")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    a = random.normal(size=(options.count, options.order, options.order))
    b = random.normal(size=(options.count, options.order))
    device = gdr.open(options.device)

    def by_gdr() -> np.ndarray:
        return linalg.batch_solve(a, b, device=device)

    def by_numpy() -> np.ndarray:
        return np.linalg.solve(a, b[..., None])[..., 0]

    calls = {"gdr": by_gdr, "NumPy": by_numpy}
    times = {name: [] for name in calls}
    for round_ in range(options.rounds + 1):
        for name in list(calls)[:: 1 if round_ % 2 else -1]:
            time.sleep(0.05)
            begin = time.perf_counter()
            calls[name]()
            if round_ > 0:
                times[name].append(time.perf_counter() - begin)
    print(f"{device.description}; {options.count} systems of {options.order}")
    size = np.abs(a).sum(-1)
    for name, call in calls.items():
        x = call()
        rest = np.abs((a @ x[..., None])[..., 0] - b) / (
            size * np.abs(x).max(-1)[:, None] + np.abs(b)
        )
        median = statistics.median(times[name])
        print(f"{name:6} {1e3 * median:8.2f} ms  largest residual {rest.max():.1e}")
    ratio = statistics.median(times["gdr"]) / statistics.median(times["NumPy"])
    print(f"ratio  {ratio:8.2f}")


if __name__ == "__main__":
    main()
