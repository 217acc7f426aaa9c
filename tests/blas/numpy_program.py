#!/usr/bin/env python3
"""A NumPy program (with SciPy, if installed) whose products are computed by libgdrblas; run by
numpy_programs.py. Integers are exact in double, and NumPy multiplies integers without BLAS."""

import os
import sys

import numpy

rng = numpy.random.default_rng(1)


def integers(*shape: int) -> numpy.ndarray:
    return rng.integers(-(2**20), 2**20, shape)


def products(single_is_exact_below: int = 2**5) -> None:
    for m, k, n in ((40, 50, 60), (1, 70, 3), (64, 64, 64)):
        a, b = integers(m, k), integers(n, k)
        assert numpy.array_equal(a.astype(float) @ b.T.astype(float), a @ b.T)
        a, b = a % single_is_exact_below, b % single_is_exact_below
        single = numpy.dot(a.astype(numpy.float32), b.T.astype(numpy.float32))
        assert single.dtype == numpy.float32 and numpy.array_equal(single, a @ b.T)


def solve() -> None:
    """LAPACK's solver, which may call the BLAS under test for its products."""
    a, x = integers(200, 200) / 2.0**20, integers(200) / 2.0**20
    assert numpy.allclose(numpy.linalg.solve(a, numpy.einsum("ij,j", a, x)), x, atol=1e-9)


def in_a_fork() -> None:
    child = os.fork()
    if child == 0:
        try:
            products()
        except BaseException:  # the child must not continue with the parent's code
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def scipy_products() -> str:
    try:
        from scipy.linalg import blas
    except ImportError:
        return "no SciPy"
    a, b = integers(30, 40), integers(40, 20)
    assert numpy.array_equal(blas.dgemm(1.0, a.astype(float), b.astype(float)), a @ b)
    return "SciPy"


products()
solve()
in_a_fork()
print("ok", numpy.__version__, scipy_products(), file=sys.stdout)
