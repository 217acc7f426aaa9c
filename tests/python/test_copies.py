"""What is copied: nothing where the layout allows. Python's own account of memory is the witness."""

import tracemalloc

import numpy as np
import pytest

import gdr
from gdr import linalg

N = 200_000


def taken(work) -> int:
    """The most bytes that Python and NumPy held at a time for `work`."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def fast():
    with gdr.open("emulator", engine="native") as device:
        yield device


def test_the_witness_sees_copies():
    a = np.zeros((N, 3))
    assert taken(lambda: a.copy()) >= a.nbytes


def test_gravity_reads_and_fills_arrays_where_they_lie(fast, rng):
    pos, mass, places = rng.normal(size=(N, 3)), np.ones(N), np.zeros((4, 3))
    out = {"acc": np.empty((4, 3)), "pot": np.empty(4)}
    used = taken(lambda: gdr.gravity(pos, mass, 0.1, places, **out, device=fast))
    assert used < 0.01 * pos.nbytes
    one, few = np.zeros((1, 3)), np.ones(1)
    acc, pot = np.empty((N, 3)), np.empty(N)
    used = taken(lambda: gdr.gravity(one, few, 0.1, pos, acc=acc, pot=pot, device=fast))
    assert used < 0.01 * pos.nbytes
    used = taken(lambda: gdr.gravity(pos[:, ::-1], mass, 0.1, places, **out, device=fast))
    assert used >= pos.nbytes  # this layout does not allow it


def test_kernels_read_columns_where_they_lie(fast, rng):
    """Looking for NaNs takes a byte for each number."""
    pos = np.asfortranarray(rng.normal(size=(N, 3)))
    places = np.zeros((4, 3))
    used = taken(lambda: gdr.lennard_jones(pos, 1.0, targets=places, device=fast))
    assert used < 0.2 * pos.nbytes
    stars = np.zeros(N, [("x", "f8"), ("y", "f8"), ("z", "f8"), ("m", "f4")])
    job = fast.job(gdr.builtin("lennard_jones"))
    job.set(rc2=1.0)
    used = taken(lambda: job.sources(xj=stars["x"], yj=stars["y"], zj=stars["z"]))
    assert used < 0.2 * 24 * N
    job.targets(xi=[0.5], yi=[0.0], zi=[0.0])
    assert np.isfinite(job.run()["u"]).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_read_and_fill_matrices_where_they_lie(fast, order, dtype):
    a = np.ones((600, 500), dtype, order=order)
    b = np.ones((500, 400), dtype, order=order)
    out = np.empty((600, 400), dtype, order=order)
    used = taken(lambda: linalg.matmul(a, b, out=out, device=fast))
    assert used < 0.02 * a.nbytes and (out == 500).all()
    rows = np.ones((1200, 500), dtype)[::2]
    used = taken(lambda: linalg.matmul(rows, b, out=out, device=fast))
    assert used < 0.02 * a.nbytes
    vector, y = np.ones(1000, dtype)[::2], np.empty(600, dtype)
    used = taken(lambda: linalg.matmul(a, vector, out=y, device=fast))
    assert used < 0.02 * a.nbytes and (y == 500).all()


def test_factorisations_take_the_place_of_their_matrix_where_that_is_allowed(rng):
    a = np.asfortranarray(rng.normal(size=(300, 300)))
    before = a.copy()
    factors = linalg.lu(a).factors
    assert np.array_equal(a, before) and not np.shares_memory(factors, a)
    assert taken(lambda: linalg.lu(a.copy(order="F"), overwrite_a=True)) < 1.5 * a.nbytes
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
