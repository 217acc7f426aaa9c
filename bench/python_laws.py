#!/usr/bin/env python3
"""Pair laws on devices relative to loops in C++, written by hand and in numba, with the error of each.

usage: python bench/python_laws.py [LAW ...] [--particles 8192] [--rounds 40] [--threads 1]
                                   [--devices native,native-float] [--isa avx512|avx2]

Programs among doubles and among floats. `C++` is `pair_laws/loops.cpp`, whose loop over sources the
compiler makes into vectors (`-O3 -march=native -ffast-math`, libmvec), with the vectors that it
prefers and with those of 512 bits; `by hand` is `pair_laws/vectors.cpp`, in floats, with one, two and
four vectors of targets side by side. The fastest variant of each counts. numba (fastmath) is measured
if it is installed. Errors are rms, relative to the rms of the result, the largest of all results, of
64 targets against sums in long double of the same doubles.

Each round calls all programs once, in changing order. Times are seconds of the processor on one
thread and elapsed ones on several, the lower quartile of the rounds; device times are those of whole
jobs, with the transfers of targets and results. A ratio above 1 says that the device is faster.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import subprocess
import tempfile
import time
from functools import partial
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

import numpy as np

import gdr
from pair_laws.numba_loops import loops_in_numba

Run = Callable[[], Any]
FOLDER = pathlib.Path(__file__).resolve().parent / "pair_laws"

YUKAWA = """
kernel yukawa;
CONST kappa;
VARI xi, yi, zi;
VARJ xj, yj, zj, mj;
VARF s;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
r2 = dx*dx + dy*dy + dz*dz;
skip if (r2 == 0);
s += mj*exp(-(kappa*sqrt(r2)))*rsqrt(r2);
"""


class Particles(NamedTuple):
    x: Any  #: positions, shape (n, 3)
    mass: Any
    half: Any  #: halves of smoothing lengths


class Law(NamedTuple):
    kernel: Callable[[], Any]
    params: Callable[[float], Dict[str, float]]
    value: float  #: of the parameter of the loops
    sources: Dict[str, str]  #: further sources of the kernel, by what they are
    results: List[str]


#: `value` of sph_density: the mean smoothing length, in spacings of the particles.
LAWS = {
    "lennard_jones": Law(
        lambda: gdr.builtin("lennard_jones"),
        lambda p: {"rc2": p},
        6.25,
        {},
        ["fx", "fy", "fz", "u", "virial"],
    ),
    "sph_density": Law(
        lambda: gdr.builtin("sph_density"),
        lambda p: {},
        1.3,
        {"mj": "mass", "hj": "h"},
        ["rho", "near"],
    ),
    "gauss_sum": Law(
        lambda: gdr.builtin("gauss_sum"), lambda p: {"gamma": p}, 0.02, {"qj": "mass"}, ["s"]
    ),
    "yukawa": Law(lambda: gdr.compile(YUKAWA), lambda p: {"kappa": p}, 0.3, {"mj": "mass"}, ["s"]),
}


def compiled(folder: str, source: str, *flags: str) -> ctypes.CDLL:
    """The functions of a file of `pair_laws`, compiled for this host."""
    library = pathlib.Path(folder, "_".join([source, *flags]).replace("=", "_") + ".so")
    common = ["-std=c++20", "-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    compiler = os.environ.get("CXX", "g++")
    subprocess.run(
        [compiler, *common, *flags, str(FOLDER / source), "-o", str(library)], check=True
    )
    return ctypes.CDLL(str(library))


class Arrays(NamedTuple):
    """What loops get, in their type of number."""

    x: Any  #: coordinates, shape (3, n)
    both: Any  #: masses, then halves of smoothing lengths
    value: float  #: of the parameter
    out: Any  #: results, shape (results, n)


def loop_in_cpp(library: ctypes.CDLL, name: str, arrays: Arrays) -> Run:
    """The call of a compiled loop."""
    addresses = [ctypes.c_void_p(a.ctypes.data) for a in (arrays.x, arrays.both, arrays.out)]
    number = ctypes.c_float if arrays.x.dtype == np.float32 else ctypes.c_double
    call, count = getattr(library, name), ctypes.c_long(arrays.x.shape[1])

    def run() -> Any:
        call(count, *addresses[:2], number(arrays.value), addresses[2])
        return arrays.out

    return run


def numba_call(made: Dict[str, Any], name: str, arrays: Arrays) -> Run:
    """The call of a loop of numba."""
    loop, value = made[name], arrays.x.dtype.type(arrays.value)

    def run() -> Any:
        loop(arrays.x, arrays.both, value, arrays.out)
        return arrays.out

    return run


def direct(name: str, particles: Particles, p: float, targets: Any) -> Any:
    """Results of some targets in long double."""
    wide, m, half = (a.astype(np.longdouble) for a in particles)
    d = wide[None] - wide[targets, None]
    r2 = (d * d).sum(-1)
    r = np.sqrt(r2)
    if name == "gauss_sum":
        return [(m * np.exp(-p * r2)).sum(1)]
    if name == "yukawa":
        with np.errstate(divide="ignore", invalid="ignore"):
            return [np.where(r2 > 0, m * np.exp(-np.longdouble(p) * r) / r, 0).sum(1)]
    if name == "sph_density":
        h = half + half[targets, None]
        q = r / h
        w = np.maximum(2 - q, 0) ** 3 / 4 - np.maximum(1 - q, 0) ** 3
        pi = np.longdouble("3.14159265358979323846264338327950288")
        return [(m * w / (pi * h**3)).sum(1), (q < 2).sum(1)]
    inside = (r2 > 0) & (r2 < p)
    i6 = np.where(inside, 1 / np.where(inside, r2, 1) ** 3, 0)
    w = 2 * i6 * i6 - i6
    f = 24 * w / np.where(inside, r2, 1)
    forces = [-(f * d[..., k]).sum(1) for k in range(3)]
    return [*forces, (4 * (i6 * i6 - i6)).sum(1), (24 * w).sum(1)]


def error(found: Any, right: Any, targets: Any) -> float:
    """The largest rms error of a result, relative to the rms of that result."""
    worst = 0.0
    for f, r in zip(found, right):
        off = (np.asarray(f)[targets] - r).astype(float)
        worst = max(worst, float(np.sqrt((off**2).mean() / (r.astype(float) ** 2).mean())))
    return worst


def on_device(device: Any, law: Law, particles: Particles) -> Run:
    """The call of a job on all pairs."""
    job = device.job(law.kernel())
    job.set(**law.params(law.value))
    places = dict(zip("xyz", particles.x.T))
    given = {**particles._asdict(), "h": 2 * particles.half}
    job.sources(
        **{f"{c}j": v for c, v in places.items()}, **{k: given[v] for k, v in law.sources.items()}
    )
    targets = {f"{c}i": v for c, v in places.items()}
    if "hj" in law.sources:
        targets["hi"] = given["h"]

    def run() -> Any:
        job.targets(**targets)
        results = job.run(law.results)
        return [results[name] for name in law.results]

    return run


def liquid(n: int, law: Law) -> Particles:
    """A jittered lattice of density 1: pairs of a liquid are not closer than 0.8."""
    edge = round(n ** (1 / 3) + 0.5)
    rng = np.random.default_rng(1)
    lattice = np.stack(np.meshgrid(*[np.arange(float(edge))] * 3), -1).reshape(-1, 3)
    x = lattice[rng.permutation(len(lattice))[:n]] + rng.uniform(-0.1, 0.1, (n, 3))
    return Particles(x, rng.uniform(0.5, 1.5, n), rng.uniform(0.45, 0.55, n) * law.value)


class Program(NamedTuple):
    kind: str  #: the fastest program of a kind counts
    numbers: str  #: "double" or "float"
    run: Run


def loops(folder: str, isa: str, threads: int) -> Iterator[Tuple[str, str, Callable[..., Run]]]:
    """Kind, numbers, and what makes the call of a law for arrays."""
    machine = [] if isa == "avx512" else ["-mno-avx512f"]
    widths = {"avx512": ("256", "512"), "avx2": ("256",)}[isa]
    for numbers in ("double", "float"):
        for width in widths:
            flags = [f"-DReal={numbers}", "-ffast-math", f"-mprefer-vector-width={width}", *machine]
            library = compiled(folder, "loops.cpp", *flags)
            yield "C++", numbers, partial(loop_in_cpp, library)
    for vectors in (1, 2, 4):
        library = compiled(folder, "vectors.cpp", f"-DGDR_VECTORS={vectors}", *machine)
        yield "by hand", "float", partial(loop_in_cpp, library)
    for real, numbers in ((np.float64, "double"), (np.float32, "float")):
        made = loops_in_numba(real, threads)
        if made:
            yield "numba", numbers, partial(numba_call, made)


def lower_quartile(seconds: List[float]) -> float:
    return sorted(seconds)[len(seconds) // 4]


def measure(runs: List[Run], rounds: int, clock: Callable[[], float]) -> List[float]:
    """Seconds of each."""
    times: List[List[float]] = [[] for _ in runs]
    for k in range(rounds):
        for n in range(len(runs)):
            at = (n + k) % len(runs)
            start = clock()
            runs[at]()
            times[at].append(clock() - start)
    return [lower_quartile(seconds) for seconds in times]


def arrays_of(particles: Particles, law: Law, real: Any) -> Arrays:
    n = len(particles.x)
    both = np.concatenate([particles.mass, particles.half]).astype(real)
    x = np.ascontiguousarray(particles.x.T, real)
    return Arrays(x, both, law.value, np.empty((len(law.results), n), real))


def report(
    name: str, law: Law, particles: Particles, programs: List[Program], options: argparse.Namespace
) -> None:
    """Measures the programs of a law, and prints the fastest of each kind."""
    targets = np.random.default_rng(3).permutation(options.particles)[:64]
    right = direct(name, particles, law.value, targets)
    errors = [error(program.run(), right, targets) for program in programs]
    clock = time.process_time if options.threads == 1 else time.perf_counter
    seconds = measure([program.run for program in programs], options.rounds, clock)
    best: Dict[Tuple[str, str], Tuple[float, float]] = {}
    for program, time_of, error_of in zip(programs, seconds, errors):
        key = program.numbers, program.kind
        best[key] = min(best.get(key, (np.inf, 0.0)), (time_of, error_of))
    for (numbers, kind), (time_of, error_of) in sorted(best.items()):
        rate = options.particles**2 / time_of / 1e6
        line = f"{name:14} {numbers:7} {kind:14} {rate:9.0f} {error_of:9.1e}"
        if kind in options.devices:
            peers = {
                k: t for (m, k), (t, _) in best.items() if m == numbers and k not in options.devices
            }
            line += "   " + ", ".join(f"{t / time_of:.2f} of {k}" for k, t in sorted(peers.items()))
        print(line, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("laws", nargs="*", default=list(LAWS), metavar="LAW")
    parser.add_argument("--particles", type=int, default=8192, help="a multiple of 64")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--devices", default="native,native-float")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", choices=["avx512", "avx2"], help="default: that of the host")
    options = parser.parse_args()
    options.devices = options.devices.split(",")
    os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(options.threads)
    settings = {"threads": options.threads, **({"isa": options.isa} if options.isa else {})}
    devices = {name: gdr.open(name, **settings) for name in options.devices}
    isa = options.isa or ("avx512" if "avx512" in str(next(iter(devices.values()))) else "avx2")
    if isa == "avx2":
        os.environ.update(NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx2,+fma")
    with tempfile.TemporaryDirectory() as folder:
        made = list(loops(folder, isa, options.threads))
        if not any(kind == "numba" for kind, _, _ in made):
            print("numba is not installed: not measured")
        print(f"{options.particles} x {options.particles} pairs, {options.threads} threads, {isa}")
        columns = f"{'law':14} {'numbers':7} {'program':14} {'million/s':>9} {'error':>9}"
        print(f"{columns}   speed of the device")
        for name in options.laws:
            law = LAWS[name]
            particles = liquid(options.particles, law)
            arrays = {
                numbers: arrays_of(particles, law, real)
                for numbers, real in (("double", np.float64), ("float", np.float32))
            }
            programs = [Program(k, n, make(name, arrays[n])) for k, n, make in made]
            for kind, device in devices.items():
                numbers = "double" if kind in ("native", "exact", "vector", "gpu") else "float"
                programs.append(Program(kind, numbers, on_device(device, law, particles)))
            report(name, law, particles, programs, options)


if __name__ == "__main__":
    main()
