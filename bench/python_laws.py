#!/usr/bin/env python3
"""Pair laws on a device relative to loops in C++ and numba in full doubles, with the error of each.

usage: python bench/python_laws.py [--particles 16384] [--rounds 15] [--device native] [--threads 2]

Each round times all of them once, in changing order; rates are those of the shortest times, because
other load only adds time. The C++ loops are compiled here with `-Ofast -march=native -fopenmp`: the
compiler makes vectors of the loop over sources, with the functions of libmvec. numba (fastmath,
parallel) is measured if it is installed. Errors are the rms of relative ones, of 64 targets, against
sums in long double. Device times are those of whole jobs, with the transfers of targets and results.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pathlib
import statistics
import subprocess
import tempfile
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np

import gdr

LOOPS = r"""
#include <algorithm>
#include <cmath>
#define PAIRS(SUMS, LAW, STORE)                                               \
  _Pragma("omp parallel for schedule(static)") for (long i = 0; i < n; ++i) { \
    double SUMS;                                                              \
    const double xi = x[i], yi = y[i], zi = z[i];                             \
    for (long j = 0; j < n; ++j) {                                            \
      const double dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;            \
      const double r2 = dx * dx + dy * dy + dz * dz;                          \
      LAW                                                                     \
    }                                                                         \
    STORE                                                                     \
  }
#define COMMA ,
extern "C" {
void lennard_jones(long n, const double* x, const double* y, const double* z, const double*,
                   double p, double* out) {
  PAIRS(fx = 0 COMMA fy = 0 COMMA fz = 0 COMMA u = 0 COMMA v = 0,
        const bool in = r2 > 0 && r2 < p; const double i2 = 1 / (in ? r2 : 1);
        const double i6 = in ? i2 * i2 * i2 : 0; const double w = 2 * i6 * i6 - i6;
        const double f = 24 * w * i2; fx -= f * dx; fy -= f * dy; fz -= f * dz;
        u += 4 * (i6 * i6 - i6); v += 24 * w;,
        out[i] = fx; out[n + i] = fy; out[2 * n + i] = fz; out[3 * n + i] = u; out[4 * n + i] = v;)
}
void sph_density(long n, const double* x, const double* y, const double* z, const double* m,
                 double, double* out) {
  const double* const half = m + n;
  PAIRS(rho = 0 COMMA near = 0,
        const double hi = 1 / (half[i] + half[j]); const double q = std::sqrt(r2) * hi;
        const double o = std::max(2 - q, 0.0); const double c = std::max(1 - q, 0.0);
        rho += m[j] * (hi * hi * hi) * (0.25 * (o * o * o) - c * c * c);
        near += q < 2 ? 1.0 : 0.0;,
        out[i] = rho * 0.3183098861837907; out[n + i] = near;)
}
void gauss_sum(long n, const double* x, const double* y, const double* z, const double* m,
               double p, double* out) {
  PAIRS(s = 0, s += m[j] * std::exp(-p * r2);, out[i] = s;)
}
void yukawa(long n, const double* x, const double* y, const double* z, const double* m, double p,
            double* out) {
  PAIRS(s = 0, const double r = std::sqrt(r2);
        s += r2 > 0 ? m[j] * std::exp(-p * r) / (r2 > 0 ? r : 1) : 0;, out[i] = s;)
}
}
"""

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
        {"mj": "mass", "hhj": "half"},
        ["rho", "near"],
    ),
    "gauss_sum": Law(
        lambda: gdr.builtin("gauss_sum"), lambda p: {"gamma": p}, 0.02, {"qj": "mass"}, ["s"]
    ),
    "yukawa": Law(lambda: gdr.compile(YUKAWA), lambda p: {"kappa": p}, 0.3, {"mj": "mass"}, ["s"]),
}


def compiled(folder: str) -> ctypes.CDLL:
    source = pathlib.Path(folder, "loops.cpp")
    source.write_text(LOOPS)
    library = str(source.with_suffix(".so"))
    flags = ["-Ofast", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run([os.environ.get("CXX", "g++"), *flags, str(source), "-o", library], check=True)
    return ctypes.CDLL(library)


def loop_in_cpp(library: ctypes.CDLL, name: str, x: Any, both: Any, p: float, results: int) -> Any:
    columns = [np.ascontiguousarray(c) for c in x.T]
    out = np.empty((results, len(x)))
    addresses = [ctypes.c_void_p(c.ctypes.data) for c in (*columns, both)]
    call = getattr(library, name)

    def run() -> Any:
        call(ctypes.c_long(len(x)), *addresses, ctypes.c_double(p), ctypes.c_void_p(out.ctypes.data))
        return out

    run.arrays = columns, both  # type: ignore[attr-defined]  # they live as long as the function
    return run


def loops_in_numba() -> Optional[Dict[str, Any]]:
    try:
        import numba
    except ImportError:
        return None
    jit = numba.njit(fastmath=True, parallel=True)

    @jit
    def lennard_jones(x, y, z, m, p, out):
        for i in numba.prange(len(x)):
            fx = fy = fz = u = v = 0.0
            for j in range(len(x)):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz
                if 0 < r2 < p:
                    i2 = 1 / r2
                    i6 = i2 * i2 * i2
                    w = 2 * i6 * i6 - i6
                    f = 24 * w * i2
                    fx -= f * dx
                    fy -= f * dy
                    fz -= f * dz
                    u += 4 * (i6 * i6 - i6)
                    v += 24 * w
            out[0, i], out[1, i], out[2, i], out[3, i], out[4, i] = fx, fy, fz, u, v

    @jit
    def sph_density(x, y, z, m, p, out):
        half = m[len(x) :]
        for i in numba.prange(len(x)):
            rho = near = 0.0
            for j in range(len(x)):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                hi = 1 / (half[i] + half[j])
                q = np.sqrt(dx * dx + dy * dy + dz * dz) * hi
                o, c = max(2 - q, 0.0), max(1 - q, 0.0)
                rho += m[j] * (hi * hi * hi) * (0.25 * o * o * o - c * c * c)
                near += 1.0 if q < 2 else 0.0
            out[0, i], out[1, i] = rho * 0.3183098861837907, near

    @jit
    def gauss_sum(x, y, z, m, p, out):
        for i in numba.prange(len(x)):
            s = 0.0
            for j in range(len(x)):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                s += m[j] * np.exp(-p * (dx * dx + dy * dy + dz * dz))
            out[0, i] = s

    @jit
    def yukawa(x, y, z, m, p, out):
        for i in numba.prange(len(x)):
            s = 0.0
            for j in range(len(x)):
                dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                r2 = dx * dx + dy * dy + dz * dz
                if r2 > 0:
                    r = np.sqrt(r2)
                    s += m[j] * np.exp(-p * r) / r
            out[0, i] = s

    return {f.__name__: f for f in (lennard_jones, sph_density, gauss_sum, yukawa)}


def direct(name: str, x: Any, mass: Any, half: Any, p: float, targets: Any) -> Any:
    """Results of some targets in long double."""
    wide = x.astype(np.longdouble)
    d = wide[None] - wide[targets, None]
    r2 = (d * d).sum(-1)
    m = mass.astype(np.longdouble)
    r = np.sqrt(r2)
    if name == "gauss_sum":
        return [(m * np.exp(-p * r2)).sum(1)]
    if name == "yukawa":
        with np.errstate(divide="ignore", invalid="ignore"):
            return [np.where(r2 > 0, m * np.exp(-np.longdouble(p) * r) / r, 0).sum(1)]
    if name == "sph_density":
        h = half.astype(np.longdouble) + half[targets, None]
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


def on_device(device: Any, law: Law, x: Any, mass: Any, half: Any) -> Callable[[], Any]:
    job = device.job(law.kernel())
    job.set(**law.params(law.value))
    places = dict(zip("xyz", x.T))
    given = {"mass": mass, "half": half}
    job.sources(
        **{f"{c}j": v for c, v in places.items()}, **{k: given[v] for k, v in law.sources.items()}
    )
    targets = {f"{c}i": v for c, v in places.items()}
    if "hhj" in law.sources:
        targets["hhi"] = half

    def run() -> Any:
        job.targets(**targets)
        results = job.run(law.results)
        return [results[name] for name in law.results]

    return run


def particles(name: str, n: int) -> Any:
    """A jittered lattice of density 1: pairs of a liquid are not closer than 0.8."""
    edge = round(n ** (1 / 3) + 0.5)
    rng = np.random.default_rng(1)
    lattice = np.stack(np.meshgrid(*[np.arange(float(edge))] * 3), -1).reshape(-1, 3)
    x = lattice[rng.permutation(len(lattice))[:n]] + rng.uniform(-0.1, 0.1, (n, 3))
    return np.ascontiguousarray(x) if name else x


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("laws", nargs="*", default=list(LAWS), metavar="LAW")
    parser.add_argument("--particles", type=int, default=16384)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="native")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))
    os.environ.setdefault("NUMBA_NUM_THREADS", str(options.threads))
    n = options.particles
    numba = loops_in_numba()
    if numba is None:
        print("numba is not installed: not measured")
    with tempfile.TemporaryDirectory() as folder, gdr.open(
        options.device, threads=options.threads
    ) as device:
        library = compiled(folder)
        print(device)
        print(f"{'law':14} {'program':10} {'million pairs/s':>15} {'of C++':>7} {'error':>9}")
        for name in options.laws:
            law, x = LAWS[name], particles(name, n)
            mass = np.random.default_rng(2).uniform(0.5, 1.5, n)
            half = np.random.default_rng(4).uniform(0.45, 0.55, n) * law.value
            both = np.concatenate([mass, half])
            runs = {
                options.device: on_device(device, law, x, mass, half),
                "C++": loop_in_cpp(library, name, x, both, law.value, len(law.results)),
            }
            if numba is not None:
                out, columns = np.empty((len(law.results), n)), [c.copy() for c in x.T]

                def in_numba(f: Any = numba[name], args: Any = (*columns, both, law.value, out)) -> Any:
                    f(*args)
                    return args[-1]

                runs["numba"] = in_numba
            targets = np.random.default_rng(3).permutation(n)[:64]
            right = direct(name, x, mass, half, law.value, targets)
            errors = {who: error(run(), right, targets) for who, run in runs.items()}
            times: Dict[str, List[float]] = {who: [] for who in runs}
            order = list(runs)
            for _ in range(options.rounds):
                for who in order:
                    time.sleep(0.02)  # threads of the last one may still spin
                    start = time.perf_counter()
                    runs[who]()
                    times[who].append(time.perf_counter() - start)
                order.append(order.pop(0))
            cpp = min(times["C++"])
            for who, seconds in times.items():
                least = min(seconds)
                spread = statistics.median(seconds) / least
                print(
                    f"{name:14} {who:10} {n * n / least / 1e6:15.0f} {cpp / least:7.2f}"
                    f" {errors[who]:9.1e}   (median {spread:.2f} of the least time)"
                )


if __name__ == "__main__":
    main()
