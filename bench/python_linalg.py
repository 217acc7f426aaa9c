#!/usr/bin/env python3
"""Times of matrix products and factorisations relative to NumPy and SciPy, with their errors.

usage: python bench/python_linalg.py [--orders 512 1024 2048] [--rounds 9] [--device NAME]

Each round measures both sides, in changing order, with some calls of each in sequence, as the first
one after another side's finds cold caches and sleeping threads. It sleeps between the sides: each
has threads of its own, which spin after their work. The ratio is that of the least times, NumPy's
or SciPy's over ours; errors are the largest residuals relative to the norms. Unset
OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE, which may select slower kernels or blocks for NumPy. The
last product is that of a blocked LU factorisation: 128 inner indices.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable, Dict, List

import numpy as np
import scipy.linalg

import gdr
from gdr import linalg

Call = Callable[[], Any]
CALLS = 4  # of a side in each round
PAUSE = 0.06  # seconds; OpenBLAS's threads wait actively for 2^26 clocks, 20 to 30 ms, after a call


def compare(name: str, ours: Call, theirs: Call, error: Callable[[Any], float], rounds: int) -> None:
    calls: Dict[str, Call] = {"ours": ours, "theirs": theirs}
    times: Dict[str, List[float]] = {key: [] for key in calls}
    errors = {key: error(call()) for key, call in calls.items()}
    for round_ in range(rounds):
        for key in list(calls)[:: 1 if round_ % 2 else -1]:
            time.sleep(PAUSE)
            for _ in range(CALLS):
                begin = time.perf_counter()
                calls[key]()
                times[key].append(time.perf_counter() - begin)
    least = {key: min(all_) for key, all_ in times.items()}
    print(
        f"{name:28} {1e3 * least['ours']:8.2f} ms  ratio {least['theirs'] / least['ours']:5.2f}"
        f"  errors {errors['ours']:.1e} and {errors['theirs']:.1e}"
    )


def products(n: int, k: int, dtype: Any, device: gdr.Device, rounds: int) -> None:
    random = np.random.default_rng(1)
    a, b = (random.uniform(-1, 1, shape).astype(dtype) for shape in ((n, k), (k, n)))
    exact = a[:16].astype(np.longdouble) @ b.astype(np.longdouble)
    size = np.abs(a[:16]) @ np.abs(b)
    compare(
        f"{np.dtype(dtype).name} {n} x {k} x {n}",
        lambda: linalg.matmul(a, b, device=device),
        lambda: a @ b,
        lambda c: float((np.abs(c[:16] - exact) / size).max()),
        rounds,
    )


def factorisations(n: int, device: gdr.Device, rounds: int) -> None:
    random = np.random.default_rng(2)
    a = random.uniform(-1, 1, (n, n))
    definite = a @ a.T + n * np.eye(n)

    def lu_error(factors: Any) -> float:
        lu, pivots = factors if isinstance(factors, tuple) else (factors.factors, factors.pivots)
        rows = np.arange(n)
        for i, p in enumerate(pivots):
            rows[[i, p]] = rows[[p, i]]
        rest = a[rows] - (np.tril(lu, -1) + np.eye(n)) @ np.triu(lu)
        return float(np.abs(rest).max() / np.abs(a).max())

    def cholesky_error(factor: Any) -> float:
        lower = np.tril(factor[0] if isinstance(factor, tuple) else factor.factor)
        return float(np.abs(definite - lower @ lower.T).max() / np.abs(definite).max())

    for name, x in (("LU", a), ("LU, Fortran order", np.asfortranarray(a))):
        compare(
            f"{name} {n}",
            lambda x=x: linalg.lu(x, device=device),
            lambda x=x: scipy.linalg.lu_factor(x),
            lu_error,
            rounds,
        )
    compare(
        f"Cholesky {n}",
        lambda: linalg.cholesky(definite, device=device),
        lambda: scipy.linalg.cho_factor(definite, lower=True),
        cholesky_error,
        rounds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--device", default="emulator:engine=native")
    options = parser.parse_args()
    device = gdr.open(options.device)
    for n in options.orders:
        for dtype in (np.float64, np.float32):
            products(n, n, dtype, device, options.rounds)
        products(n, 128, np.float64, device, options.rounds)
        factorisations(n, device, options.rounds)


if __name__ == "__main__":
    main()
