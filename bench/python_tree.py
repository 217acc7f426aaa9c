#!/usr/bin/env python3
"""Times and errors of gdr.gravity with trees, by phase, and of pytreegrav if it is installed.

usage: python bench/python_tree.py [--particles 10000,100000,1000000] [--accuracy 1e-2,1e-3,1e-4,1e-5]
                                   [--device NAME] [--method M] [--degree P] [--theta T]
                                   [--group-size G] [--leaf-size L] [--pytreegrav THETAS]

A Plummer sphere, or a uniform cube (--cube). Processor seconds (user and system) of whole calls, wall
seconds of the phases; errors of the accelerations of 1000 random particles relative to direct sums:
root mean square, median, largest. The last column is the processor time of direct sums over that of
the tree, from the rate of 1000 targets.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gdr


def plummer(n: int) -> np.ndarray:
    random = np.random.default_rng(1)
    r = 1 / np.sqrt(random.uniform(1e-4, 0.998, n) ** (-2 / 3) - 1)
    x = random.normal(size=(n, 3))
    return x * (r / np.linalg.norm(x, axis=1))[:, None]


class Direct:
    """Direct sums at some particles, and their processor time for all."""

    def __init__(self, pos, mass, eps, device) -> None:
        n = len(pos)
        self.chosen = np.random.default_rng(2).choice(n, min(n, 1000), replace=False)
        gdr.gravity(pos, mass, eps, pos[self.chosen[:16]], device=device)
        start = time.process_time()
        self.acc = gdr.gravity(pos, mass, eps, pos[self.chosen], device=device).acc
        self.seconds = (time.process_time() - start) * n / len(self.chosen)

    def errors(self, acc) -> "tuple[float, float, float]":
        wrong = np.linalg.norm(acc[self.chosen] - self.acc, axis=1)
        e = wrong / np.linalg.norm(self.acc, axis=1)
        return np.sqrt(np.mean(e**2)), np.median(e), e.max()


def measure(call):
    """The result, and processor and wall seconds of the faster of two calls."""
    best = None
    for _ in range(2):
        cpu, wall = time.process_time(), time.perf_counter()
        result = call()
        times = (time.process_time() - cpu, time.perf_counter() - wall)
        best = times if best is None else min(best, times)
    return result, *best


def row(n, what, cpu, wall, errors, direct, note="") -> None:
    rms, median, largest = errors
    print(
        f"{n:9d}  {what:34s} {cpu:8.3f} {wall:8.3f}  {rms:8.1e} {median:8.1e} {largest:8.1e}"
        f" {direct.seconds / cpu:8.1f}  {note}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", default="10000,100000,1000000")
    parser.add_argument("--accuracy", default="1e-2,1e-3,1e-4,1e-5")
    parser.add_argument("--device", default="native:threads=1")
    parser.add_argument("--method")
    parser.add_argument("--degree", type=int)
    parser.add_argument("--theta", type=float)
    parser.add_argument("--group-size", type=int)
    parser.add_argument("--leaf-size", type=int)
    parser.add_argument("--cube", action="store_true")
    parser.add_argument("--eps", type=float, default=1e-4)
    parser.add_argument("--pytreegrav", metavar="THETAS", help="its opening angles: 0.5,0.7")
    options = parser.parse_args()
    device = gdr.open(options.device)
    given = {k: getattr(options, k) for k in ("method", "degree", "theta")}
    given |= {k: getattr(options, k) for k in ("group_size", "leaf_size")}
    head = f"{'processor':>8s} {'wall':>6s}  {'rms':>8s} {'median':>8s} {'largest':>8s} {'direct/':>8s}"
    print(f"{'particles':>9s}  {'':34s}{head}")
    for n in (int(float(v)) for v in options.particles.split(",")):
        pos = np.random.default_rng(1).uniform(size=(n, 3)) if options.cube else plummer(n)
        mass = np.full(n, 1 / n)
        direct = Direct(pos, mass, options.eps, device)
        for accuracy in (float(v) for v in options.accuracy.split(",")):
            result, cpu, wall = measure(
                lambda: gdr.gravity(
                    pos, mass, options.eps, accuracy=accuracy, device=device, **given
                )
            )
            t = result.tree
            what = f"{accuracy:.0e}: {t.method} {t.degree}, theta {t.theta:.3f}"
            note = (
                f"build {t.build_seconds:.3f} choice {t.choice_seconds:.3f} lists"
                f" {t.list_seconds:.3f} sums {t.force_seconds:.3f}; {t.sources_per_target:.0f}"
                f" sources, {n / max(1, t.groups):.0f} targets a group; sample {t.error:.1e}"
            )
            row(n, what, cpu, wall, direct.errors(result.acc), direct, note)
        for theta in (float(v) for v in (options.pytreegrav or "").split(",") if v):
            import pytreegrav

            acc, cpu, wall = measure(
                lambda: pytreegrav.Accel(
                    pos, mass, np.full(n, 2.8 * options.eps), theta=theta, method="tree"
                )
            )
            row(n, f"pytreegrav, theta {theta}", cpu, wall, direct.errors(acc), direct)


if __name__ == "__main__":
    main()
