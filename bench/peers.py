#!/usr/bin/env python3
"""Sums over all pairs by this library and by NumPy, numba, KeOps and JAX, and gravity with trees by
it, pytreegrav and FMM3D: rates or times, each with its error, in one run.

usage: python bench/peers.py [--particles 4096] [--tree-particles 50000] [--rounds 5]
                             [--device NAME]

Every program computes in doubles, with one thread, the same sums, in turn; those that are not
installed are left out. Processor time of all threads of a call from NumPy arrays to NumPy arrays,
lower quartile of the rounds; what a program compiles before is not counted. Errors are the root mean
square of the relative errors of 64 targets beside sums in long doubles, of trees of 256 targets
beside direct sums. The laws, with r^2 softened:

  gravity: accelerations and potential        yukawa: sum of m exp(-r) / r
  ewald: sum of m erfc(r) / r, the part in real space of an Ewald sum

As programs are written by their users: NumPy by blocks of targets, numba with two loops, fastmath and
errors of NumPy, KeOps with LazyTensor, JAX with jit and lax.map over blocks of targets.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import time
from typing import Any, Callable, Dict

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np  # noqa: E402

import gdr  # noqa: E402

EPS2 = 1e-4
Arrays = Any
Sum = Callable[[Arrays, Arrays], Any]  # of positions and masses

TEXTS = {
    "gravity": "acc += m*d*s^3; pot -= m*s;",
    "yukawa": "pot += m*s*exp(-r2*s);",
    "ewald": "pot += m*s*erfc(r2*s);",
}


def of_gdr(law: str, device: gdr.Device) -> Sum:
    kernel = gdr.compile(
        f"VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 acc; VARF pot;\nd = xs - x;\n"
        f"r2 = norm2(d) + {EPS2}; s = rsqrt(r2);\n{TEXTS[law]}"
        if law == "gravity"
        else f"VARI vec3 x; VARJ vec3 xs; VARJ m; VARF pot;\nr2 = norm2(xs - x) + {EPS2};\n"
        f"s = rsqrt(r2);\n{TEXTS[law]}"
    )
    job = device.job(kernel)

    def run(x: Arrays, m: Arrays) -> Any:
        job.targets(x=x)
        job.sources(xs=x, m=m)
        found = job.run()
        return np.column_stack([found.acc, found.pot]) if law == "gravity" else found.pot

    return run


def of_numpy(law: str) -> Sum:
    from scipy.special import erfc

    def block(at: Arrays, x: Arrays, m: Arrays) -> Any:
        d = x - at[:, None]
        r2 = np.einsum("ijk,ijk->ij", d, d) + EPS2
        r = np.sqrt(r2)
        if law == "gravity":
            w = m / (r2 * r)
            return np.column_stack([np.einsum("ij,ijk->ik", w, d), -(m / r).sum(1)])
        return (m * (np.exp(-r) if law == "yukawa" else erfc(r)) / r).sum(1)

    return lambda x, m: np.concatenate([block(x[k : k + 64], x, m) for k in range(0, len(x), 64)])


def of_numba(law: str) -> Sum:
    import math

    import numba

    if law == "gravity":

        @numba.njit(fastmath=True, error_model="numpy")
        def loop(x, y, z, m, out):
            for i in range(len(x)):
                ax = ay = az = pot = 0.0
                for j in range(len(x)):
                    dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                    r2 = dx * dx + dy * dy + dz * dz + EPS2
                    s = 1 / math.sqrt(r2)
                    w = m[j] * s * s * s
                    ax += w * dx
                    ay += w * dy
                    az += w * dz
                    pot -= m[j] * s
                out[i, 0], out[i, 1], out[i, 2], out[i, 3] = ax, ay, az, pot

    else:
        weight = math.exp if law == "yukawa" else math.erfc
        sign = -1.0 if law == "yukawa" else 1.0

        @numba.njit(fastmath=True, error_model="numpy")
        def loop(x, y, z, m, out):
            for i in range(len(x)):
                pot = 0.0
                for j in range(len(x)):
                    dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
                    r = math.sqrt(dx * dx + dy * dy + dz * dz + EPS2)
                    pot += m[j] * weight(sign * r) / r
                out[i] = pot

    def run(x: Arrays, m: Arrays) -> Any:
        out = np.empty((len(x), 4) if law == "gravity" else len(x))
        loop(*np.ascontiguousarray(x.T), m, out)
        return out

    return run


def of_keops(law: str) -> Sum:
    from pykeops.numpy import LazyTensor

    if law == "ewald":
        raise ImportError("KeOps has no erfc")

    def run(x: Arrays, m: Arrays) -> Any:
        d = LazyTensor(x[None]) - LazyTensor(x[:, None])
        s = ((d**2).sum(-1) + EPS2).rsqrt()
        mass = LazyTensor(m[None, :, None])
        if law == "gravity":
            return (mass * s * s * s * d).concat(-mass * s).sum(1)
        return (mass * (-(1 / s)).exp() * s).sum(1)[:, 0]

    return run


def of_jax(law: str) -> Sum:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def target(at: Arrays, x: Arrays, m: Arrays) -> Any:
        d = x - at
        r2 = (d**2).sum(1) + EPS2
        s = jax.lax.rsqrt(r2)
        if law == "gravity":
            return jnp.append((m * s**3) @ d, -(m * s).sum())
        weight = jnp.exp(-r2 * s) if law == "yukawa" else jax.scipy.special.erfc(r2 * s)
        return (m * s * weight).sum()

    @jax.jit
    def blocks(x: Arrays, m: Arrays) -> Any:
        return jax.lax.map(lambda at: target(at, x, m), x, batch_size=32)

    return lambda x, m: np.asarray(blocks(x, m))


def exact(law: str, x: Arrays, m: Arrays, sample: Arrays) -> Any:
    """The sums at a sample of targets in long doubles."""
    from scipy.special import erfc

    rows = []
    for i in sample:
        d = x.astype(np.longdouble) - x[i]
        r2 = (d**2).sum(1) + EPS2
        r = np.sqrt(r2)
        if law == "gravity":
            rows.append([*((m / (r2 * r))[:, None] * d).sum(0), -(m / r).sum()])
        else:
            rows.append((m / r * (np.exp(-r) if law == "yukawa" else erfc(r.astype(float)))).sum())
    return np.array(rows)


def relative(found: Any, right: Any) -> float:
    """Root mean square of relative errors; those of vectors are relative to their lengths."""
    parts = [(found, right)]
    if found.ndim == 2:
        parts = [(found[:, :3], right[:, :3]), (found[:, 3:], right[:, 3:])]
    squares = []
    for one, other in parts:
        one, other = one.reshape(len(one), -1), other.reshape(len(one), -1)
        squares.append(((one - other) ** 2).sum(1) / (other**2).sum(1))
    return float(np.sqrt(np.mean(squares)))


def seconds(call: Callable[[], Any]) -> float:
    begin = time.process_time()
    call()
    return time.process_time() - begin


def interleaved(calls: Dict[str, Callable[[], Any]], rounds: int) -> Dict[str, float]:
    """Lower quartile of the processor times of each call."""
    times: Dict[str, list] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(seconds(call))
    return {name: float(np.quantile(t, 0.25)) for name, t in times.items()}


def made(makers: Dict[str, Callable[[], Any]]) -> Dict[str, Any]:
    """What can be made; a line for each that cannot."""
    found = {}
    for name, make in makers.items():
        try:
            found[name] = make()
        except ImportError as error:
            print(f"  {name}: not measured ({error})")
    return found


def show_law(law: str, n: int, rounds: int, device: gdr.Device) -> None:
    random = np.random.default_rng(1)
    x, m = random.normal(size=(n, 3)), random.uniform(0.5, 1.5, n) / n
    print(f"{law}, {n} particles: million pairs a second, relative to gdr, error")
    sums = made(
        {
            "gdr": lambda: of_gdr(law, device),
            "numba": lambda: of_numba(law),
            "KeOps": lambda: of_keops(law),
            "JAX": lambda: of_jax(law),
            "NumPy": lambda: of_numpy(law),
        }
    )
    sample = random.integers(0, n, 64)
    right = exact(law, x, m, sample)
    errors = {name: relative(run(x, m)[sample], right) for name, run in sums.items()}
    times = interleaved({name: lambda run=run: run(x, m) for name, run in sums.items()}, rounds)
    for name, t in times.items():
        print(f"  {name:10} {1e-6 * n * n / t:10.0f} {times['gdr'] / t:10.3f} {errors[name]:10.1e}")


def show_trees(n: int, rounds: int, device: gdr.Device) -> None:
    random = np.random.default_rng(2)
    x, m = np.ascontiguousarray(gdr.nbody.plummer(n, seed=4).pos), np.full(n, 1 / n)

    def of_pytreegrav(theta: float) -> Callable[[], Any]:
        import pytreegrav

        return lambda: pytreegrav.Accel(
            x, m, np.zeros(n), theta=theta, parallel=False, method="tree"
        )

    def of_fmm(accuracy: float) -> Callable[[], Any]:
        import fmm3dpy

        places = np.asfortranarray(x.T)
        return lambda: (
            4 * np.pi * fmm3dpy.lfmm3d(eps=accuracy, sources=places, charges=m, pg=2).grad.T
        )

    def of_gdr_tree(accuracy: float) -> Callable[[], Any]:
        return lambda: gdr.gravity(x, m, 0.0, accuracy=accuracy, device=device).acc

    print(f"gravity with trees, {n} stars of a Plummer sphere: ms, error of accelerations")
    calls = made(
        {
            "gdr 1e-3": lambda: of_gdr_tree(1e-3),
            "gdr 1e-5": lambda: of_gdr_tree(1e-5),
            "pytreegrav 0.7": lambda: of_pytreegrav(0.7),
            "pytreegrav 0.35": lambda: of_pytreegrav(0.35),
            "FMM3D 1e-3": lambda: of_fmm(1e-3),
            "FMM3D 1e-5": lambda: of_fmm(1e-5),
            "gdr direct": lambda: lambda: gdr.gravity(x, m, 0.0, device=device).acc,
        }
    )
    sample = random.integers(0, n, 256)
    right = gdr.gravity(x, m, 0.0, targets=x[sample], device=device).acc
    errors = {name: relative(flat(call()[sample]), flat(right)) for name, call in calls.items()}
    for name, t in interleaved(calls, rounds).items():
        print(f"  {name:16} {1e3 * t:10.0f} {errors[name]:10.1e}")


def flat(vectors: Any) -> Any:
    """Vectors with a fourth component that counts nothing."""
    return np.column_stack([vectors, np.ones(len(vectors))])


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return f"one core of {names[0]}" if names else "one core"


def versions() -> str:
    """The versions of what is installed."""
    found = []
    for name in ("numpy", "numba", "pykeops", "jax", "pytreegrav", "fmm3dpy"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    return ", ".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=4096)
    parser.add_argument("--tree-particles", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="emulator:engine=native,threads=1")
    options = parser.parse_args()
    with gdr.open(options.device) as device:
        print(f"{processor()}; {device.description}")
        print(versions())
        for law in TEXTS:
            show_law(law, options.particles, options.rounds, device)
        if options.tree_particles:
            show_trees(options.tree_particles, max(1, options.rounds // 2), device)


if __name__ == "__main__":
    main()
