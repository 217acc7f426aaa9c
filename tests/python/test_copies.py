"""Arrays with a suitable layout are not copied, as Python's memory trace shows."""

import tracemalloc

import numpy as np
import pytest

import gdr
from gdr import linalg

N = 200_000


def peak_memory(work) -> int:
    """Peak memory of Python and NumPy during `work`, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_trace_detects_copies():
    a = np.zeros((N, 3))
    assert peak_memory(lambda: a.copy()) >= a.nbytes


def test_gravity_reads_and_fills_arrays_in_place(native, rng):
    pos, mass, places = rng.normal(size=(N, 3)), np.ones(N), np.zeros((4, 3))
    out = {"acc": np.empty((4, 3)), "pot": np.empty(4)}
    used = peak_memory(lambda: gdr.gravity(pos, mass, 0.1, places, **out, device=native))
    assert used < 0.01 * pos.nbytes
    one, few = np.zeros((1, 3)), np.ones(1)
    acc, pot = np.empty((N, 3)), np.empty(N)
    used = peak_memory(lambda: gdr.gravity(one, few, 0.1, pos, acc=acc, pot=pot, device=native))
    assert used < 0.01 * pos.nbytes
    used = peak_memory(lambda: gdr.gravity(pos[:, ::-1], mass, 0.1, places, **out, device=native))
    assert used >= pos.nbytes  # this layout requires a copy


def test_kernels_read_columns_in_place(native, rng):
    """The check for NaNs takes one byte per number."""
    pos = np.asfortranarray(rng.normal(size=(N, 3)))
    places = np.zeros((4, 3))
    used = peak_memory(lambda: gdr.lennard_jones(pos, 1.0, targets=places, device=native))
    assert used < 0.2 * pos.nbytes
    stars = np.zeros(N, [("x", "f8"), ("y", "f8"), ("z", "f8"), ("m", "f4")])
    job = native.job(gdr.builtin("lennard_jones"))
    job.set(rc2=1.0)
    used = peak_memory(lambda: job.sources(xj=stars["x"], yj=stars["y"], zj=stars["z"]))
    assert used < 0.2 * 24 * N
    job.targets(xi=[0.5], yi=[0.0], zi=[0.0])
    assert np.isfinite(job.run()["u"]).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_read_and_fill_matrices_in_place(native, order, dtype):
    a = np.ones((600, 500), dtype, order=order)
    b = np.ones((500, 400), dtype, order=order)
    out = np.empty((600, 400), dtype, order=order)
    used = peak_memory(lambda: linalg.matmul(a, b, out=out, device=native))
    assert used < 0.02 * a.nbytes and (out == 500).all()
    rows = np.ones((1200, 500), dtype)[::2]
    used = peak_memory(lambda: linalg.matmul(rows, b, out=out, device=native))
    assert used < 0.02 * a.nbytes
    vector, y = np.ones(1000, dtype)[::2], np.empty(600, dtype)
    used = peak_memory(lambda: linalg.matmul(a, vector, out=y, device=native))
    assert used < 0.02 * a.nbytes and (y == 500).all()


def test_factorisations_overwrite_their_matrix_if_allowed(rng):
    a = np.asfortranarray(rng.normal(size=(300, 300)))
    before = a.copy()
    factors = linalg.lu(a).factors
    assert np.array_equal(a, before) and not np.shares_memory(factors, a)
    assert peak_memory(lambda: linalg.lu(a.copy(order="F"), overwrite_a=True)) < 1.5 * a.nbytes
    kept = linalg.lu(a, overwrite_a=True).factors
    assert np.shares_memory(kept, a) and np.array_equal(kept, factors)
    s = before @ before.T + 300 * np.eye(300)
    for order in "CF":
        given = np.array(s, order=order)
        factor = linalg.cholesky(given, overwrite_a=True)
        assert np.array_equal(np.tril(given), factor.factor)
        assert np.allclose(factor.factor, np.linalg.cholesky(s), rtol=1e-10)
    b = rng.normal(size=300)
    x = linalg.solve(s, b, overwrite_b=True)
    assert np.shares_memory(x, b) and np.allclose(s @ x, (s @ np.linalg.solve(s, s @ x)))
    frozen = np.array(s, order="F")
    frozen.flags.writeable = False
    assert not np.shares_memory(linalg.lu(frozen, overwrite_a=True).factors, frozen)
