#!/usr/bin/env python3
"""Times and errors of gdr.gravity with trees, by phase, beside those of pytreegrav and fmm3dpy.

usage: python bench/python_tree.py [--particles 100000,300000] [--accuracy 1e-2,...,1e-6]
                                   [--device NAME] [--method M] [--degree P] [--theta T]
                                   [--group-size G] [--leaf-size L] [--cube | --charges] [--jerk]
                                   [--pytreegrav 0.4,0.7,1] [--fmm3dpy 1e-3,1e-5] [--rounds 5]
                                   [--direct]
                                   [--direct-all]

A Plummer sphere, a uniform cube, or charges of both signs in a cube. Processor seconds (user and
system) of whole calls: lower quartiles of rounds, in each of which every program runs once. Errors of
1000 random particles relative to direct sums: of accelerations root mean square, median, largest; of
potentials root mean square. direct/: processor time of direct sums over that of the row, from the
rate of 1000 targets, or with --direct of whole calls, which run in the rounds, too: that shows whether
a tree is ever slower than direct sums (`--direct --particles 1e4,2e4,4e4,8e4 --eps 0.01 --pytreegrav=
--fmm3dpy=`). Then the times of the others over that of gdr at their error of accelerations
and of potentials, from its rows, linear in the logarithms. Programs that are not installed are left
out with a message.
"""

from __future__ import annotations

import argparse
import importlib
import time
from typing import Any, Callable, NamedTuple

import numpy as np

import gdr


def plummer(n: int) -> np.ndarray:
    random = np.random.default_rng(1)
    r = 1 / np.sqrt(random.uniform(1e-4, 0.998, n) ** (-2 / 3) - 1)
    x = random.normal(size=(n, 3))
    return x * (r / np.linalg.norm(x, axis=1))[:, None]


class Result(NamedTuple):
    acc: np.ndarray
    pot: np.ndarray
    note: str = ""


class Direct:
    """Direct sums at some particles, and their processor time for all."""

    def __init__(self, pos, mass, eps, device) -> None:
        n = len(pos)
        self.chosen = np.random.default_rng(2).choice(n, min(n, 1000), replace=False)
        gdr.gravity(pos, mass, eps, pos[self.chosen[:16]], device=device)
        start = time.process_time()
        result = gdr.gravity(pos, mass, eps, pos[self.chosen], device=device)
        self.seconds = (time.process_time() - start) * n / len(self.chosen)
        # At targets, a particle acts on itself.
        own = mass[self.chosen] / eps if eps > 0 else 0
        self.acc, self.pot = result.acc, result.pot + own

    def errors(self, result: Result) -> "tuple[float, float, float, float]":
        wrong = np.linalg.norm(result.acc[self.chosen] - self.acc, axis=1)
        size = np.linalg.norm(self.acc, axis=1)
        e = wrong / np.maximum(size, 1e-3 * np.sqrt(np.mean(size**2)))
        pot = np.sqrt(np.mean((result.pot[self.chosen] - self.pot) ** 2) / np.mean(self.pot**2))
        return np.sqrt(np.mean(e**2)), np.median(e), e.max(), pot


class Program:
    """A call with its times."""

    def __init__(self, name: str, call: Callable[[], Result]) -> None:
        self.name, self.call = name, call
        self.cpu: "list[float]" = []
        self.wall: "list[float]" = []

    def run(self) -> None:
        cpu, wall = time.process_time(), time.perf_counter()
        self.result = self.call()
        self.cpu.append(time.process_time() - cpu)
        self.wall.append(time.perf_counter() - wall)

    def seconds(self) -> float:
        return float(np.quantile(self.cpu, 0.25))


def gdr_program(pos, mass, eps, accuracy, device, given) -> Program:
    def call() -> Result:
        r = gdr.gravity(pos, mass, eps, accuracy=accuracy, device=device, **given)
        t = r.tree
        note = (
            f"{t.method} {t.degree}, theta {t.theta:.2f}: build {t.build_seconds:.3f} choice"
            f" {t.choice_seconds:.3f} expansions {t.expansion_seconds:.3f} lists"
            f" {t.list_seconds:.3f} sums {t.force_seconds:.3f}; {t.sources_per_target:.0f} sources,"
            f" {len(pos) / max(1, t.groups):.0f} targets a group; sample {t.error:.1e}"
        )
        if "vel" in given:
            note += f" jerk {t.jerk_error:.1e}"
        return Result(r.acc, r.pot, note)

    return Program(f"gdr {accuracy:.0e}", call)


def direct_program(pos, mass, eps, device) -> Program:
    def call() -> Result:
        r = gdr.gravity(pos, mass, eps, device=device)
        return Result(r.acc, r.pot)

    return Program("direct", call)


def pytreegrav_program(module, pos, mass, eps, theta) -> Program:
    soft = np.full(len(pos), 2.8 * eps)  # a spline with the same potential at the centre

    def call() -> Result:
        acc = module.Accel(pos, mass, soft, theta=theta, method="tree")
        return Result(acc, np.zeros(len(pos)))

    return Program(f"pytreegrav {theta}", call)


def fmm3dpy_program(module, pos, mass, accuracy) -> Program:
    def call() -> Result:
        places = np.asfortranarray(pos.T)
        out = module.lfmm3d(eps=accuracy, sources=places, charges=mass, pg=2)
        scale = 4 * np.pi  # its kernel is 1 / (4 pi r)
        return Result(scale * out.grad.T, -scale * out.pot)

    return Program(f"fmm3dpy {accuracy:.0e}", call)


def installed(name: str, wanted: str) -> Any:
    if not wanted:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: left out (pip install {name})")
        return None


def time_at(error: float, points: "list[tuple[float, float]]") -> "float | None":
    """The time at an error from (error, time), None outside of their range."""
    points = sorted(p for p in points if p[0] > 0)
    if len(points) < 2 or not points[0][0] <= error <= points[-1][0]:
        return None
    x, y = np.log([p[0] for p in points]), np.log([p[1] for p in points])
    return float(np.exp(np.interp(np.log(error), x, y)))


def compare(programs: "list[Program]", direct: Direct) -> None:
    errors = {p.name: direct.errors(p.result) for p in programs}
    ours = [p for p in programs if p.name.startswith("gdr")]
    others = [p for p in programs if p not in ours and p.name != "direct"]
    for what, k in (("accelerations", 0), ("potentials", 3)):
        points = [(errors[p.name][k], p.seconds()) for p in ours]
        for other in others:
            if k == 3 and not other.result.pot.any():
                continue
            error = errors[other.name][k]
            seconds = time_at(error, points)
            text = "outside of the errors of gdr" if seconds is None else ""
            if seconds is not None:
                text = f"{other.seconds() / seconds:.2f} times the time of gdr ({seconds:.3f} s)"
            print(f"  {other.name}, error of {what} {error:.1e}: {text}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", default="100000,300000")
    parser.add_argument("--accuracy", default="1e-2,1e-3,1e-4,1e-5,1e-6")
    parser.add_argument("--device", default="native:threads=1")
    parser.add_argument("--method")
    parser.add_argument("--degree", type=int)
    parser.add_argument("--theta", type=float)
    parser.add_argument("--group-size", type=int)
    parser.add_argument("--leaf-size", type=int)
    parser.add_argument("--cube", action="store_true")
    parser.add_argument("--charges", action="store_true")
    parser.add_argument("--jerk", action="store_true", help="with random velocities")
    parser.add_argument("--eps", type=float, default=1e-6)
    parser.add_argument("--pytreegrav", metavar="THETAS", default="0.4,0.7,1")
    parser.add_argument("--fmm3dpy", metavar="ACCURACIES", default="1e-3,1e-5")
    parser.add_argument("--direct", action="store_true", help="time direct sums of all particles")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    device = gdr.open(options.device)
    given = {k: getattr(options, k) for k in ("method", "degree", "theta")}
    given |= {k: getattr(options, k) for k in ("group_size", "leaf_size")}
    pytreegrav = installed("pytreegrav", options.pytreegrav)
    fmm3dpy = installed("fmm3dpy", options.fmm3dpy)
    numbers = lambda text: [float(v) for v in text.split(",") if v]  # noqa: E731
    if pytreegrav is not None:  # compiles at the first call
        pytreegrav_program(pytreegrav, plummer(1000), np.full(1000, 1e-3), 1e-3, 0.7).run()
    print(
        f"{'particles':>9s}  {'':16s} {'processor':>9s} {'wall':>8s}  {'rms':>8s} {'median':>8s}"
        f" {'largest':>8s} {'pot':>8s} {'direct/':>8s}"
    )
    for n in (int(v) for v in numbers(options.particles)):
        uniform = options.cube or options.charges
        pos = np.random.default_rng(1).uniform(size=(n, 3)) if uniform else plummer(n)
        mass = np.full(n, 1 / n)
        if options.charges:
            mass[::2] *= -1
        if options.jerk:
            given["vel"] = np.random.default_rng(3).normal(size=(n, 3))
        direct = Direct(pos, mass, options.eps, device)
        programs = [
            gdr_program(pos, mass, options.eps, a, device, given) for a in numbers(options.accuracy)
        ]
        if options.direct:
            programs.insert(0, direct_program(pos, mass, options.eps, device))
        if pytreegrav is not None:
            for theta in numbers(options.pytreegrav):
                programs.append(pytreegrav_program(pytreegrav, pos, mass, options.eps, theta))
        if fmm3dpy is not None:
            for accuracy in numbers(options.fmm3dpy):
                programs.append(fmm3dpy_program(fmm3dpy, pos, mass, accuracy))
        for _ in range(options.rounds):
            for program in programs:
                program.run()
        if options.direct:
            direct.seconds = programs[0].seconds()
        for p in programs:
            rms, median, largest, pot = direct.errors(p.result)
            print(
                f"{n:9d}  {p.name:16s} {p.seconds():9.3f} {min(p.wall):8.3f}  {rms:8.1e}"
                f" {median:8.1e} {largest:8.1e} {pot:8.1e} {direct.seconds / p.seconds():8.1f}"
                f"  {p.result.note}",
                flush=True,
            )
        compare(programs, direct)


if __name__ == "__main__":
    main()
