"""Matrices: NumPy and LAPACK on the host are the oracle."""

import numpy as np
import pytest
from conftest import error

import gdr
from gdr import linalg

LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "rows of more": lambda a: np.repeat(a, 2, axis=0)[::2],
    "neither": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
}


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_products_of_any_layout(rng, left, right):
    a, b = rng.normal(size=(37, 53)), rng.normal(size=(53, 29))
    assert error(linalg.matmul(LAYOUTS[left](a), LAYOUTS[right](b)), a @ b) < 1e-15


def test_out_alpha_and_beta(rng):
    a, b, c = rng.normal(size=(20, 30)), rng.normal(size=(30, 10)), rng.normal(size=(20, 10))
    for out in (c.copy(), np.array(c, order="F"), np.repeat(c, 3, axis=0)[::3]):
        got = linalg.matmul(a, b, out=out, alpha=-2.0, beta=0.5)
        assert got is out and error(out, -2 * (a @ b) + 0.5 * c) < 1e-15
    single = linalg.matmul(a.astype("f4"), b.astype("f4"))
    assert single.dtype == np.float32
    assert error(single, a.astype("f4").astype(float) @ b.astype("f4")) < 1e-7
    assert error(linalg.matmul(a, b[:, 0]), a @ b[:, 0]) < 1e-15
    assert linalg.matmul(a[:0], b).shape == (0, 10)
    stacks = rng.normal(size=(6, 4, 5)), rng.normal(size=(5, 3))
    for precision in ("full", "chip"):
        assert error(linalg.matmul(*stacks, precision=precision), stacks[0] @ stacks[1]) < 1e-14


def test_an_unchanged_factor_is_not_sent_again(rng, device):
    product = linalg.MatrixProduct(device)
    a, b = rng.normal(size=(64, 512)), rng.normal(size=(512, 512))
    product(a, b)
    first = device.statistics.bytes_to_board
    second_result = product(2 * a, b, unchanged="b")
    assert device.statistics.bytes_to_board - first < 0.7 * first
    assert error(second_result, 2 * a @ b) < 1e-15


def read_only(a):
    a.flags.writeable = False
    return a


E = np.eye(3)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: linalg.matmul(E, np.eye(4)), ValueError, "b: 3 rows"),
        (lambda: linalg.matmul(E + 1j, E), TypeError, "a: .*complex"),
        (lambda: linalg.matmul(E, E, out=np.eye(3, dtype="f4")), TypeError, "out: float64"),
        (lambda: linalg.matmul(E, E, out=np.eye(4)), ValueError, r"out: shape \(3, 3\)"),
        (lambda: linalg.matmul(E, E, out=read_only(np.eye(3))), ValueError, "out: .*read-only"),
        (lambda: linalg.matmul(E, E, out=np.eye(6)[::2, ::2]), ValueError, "out: neither"),
        (lambda: linalg.matmul(E, E, out=E), ValueError, "out: it overlaps a"),
        (lambda: linalg.matmul(E, E, beta=1.0), ValueError, "out: beta"),
        (lambda: linalg.matmul(E, E, precision="double"), ValueError, "precision"),
        (lambda: linalg.solve(np.ones((2, 3)), [1, 2]), ValueError, "a: a square"),
        (lambda: linalg.solve(E, [1, 2]), ValueError, r"b: shape \(3,\)"),
        (lambda: linalg.solve(E * np.nan, [1, 2, 3]), ValueError, r"a\[0, 0\] is not a number"),
        (lambda: linalg.lu(E, block=-1), ValueError, "block"),
        (lambda: linalg.batch_lu(np.zeros((2, 20, 20))), gdr.UsageError, "256"),
        (lambda: linalg.batch_matmul(E, E), ValueError, "a: shape"),
    ],
)
def test_bad_arguments_are_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (150, 90), (90, 150)])
def test_lu(rng, shape):
    a = rng.normal(size=shape)
    before = a.copy()
    f = linalg.lu(a, block=32)
    assert np.array_equal(a, before) and f.singular is None
    assert error(f.lower @ f.upper, a[f.permutation]) < 1e-13
    if shape[0] == shape[1]:
        assert f.det() == pytest.approx(np.linalg.det(a), rel=1e-9)
        b = rng.normal(size=(shape[0], 3))
        assert error(a @ f.solve(b), b) < 1e-10
        assert error(a.T @ f.solve(b[:, 0], transposed=True), b[:, 0]) < 1e-10


def test_singular_matrices_are_named():
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1 is zero"):
        linalg.solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])
    with pytest.raises(linalg.LinAlgError, match="not positive definite: pivot 1"):
        linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(linalg.LinAlgError, match="1 of the matrices"):
        linalg.batch_solve(np.stack([np.eye(2), np.zeros((2, 2))]), np.ones((2, 2)))
    with pytest.raises(linalg.LinAlgError, match=r"a\[1\]"):
        linalg.solve_triangular(np.diag([1.0, 0.0]), [1.0, 1.0])


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_and_triangles(rng, lower):
    a = rng.normal(size=(70, 70))
    s = a @ a.T + 70 * np.eye(70)
    c = linalg.cholesky(s, lower=lower)
    want = np.linalg.cholesky(s)
    assert error(c.factor, want if lower else want.T) < 1e-13
    b = rng.normal(size=(70, 2))
    assert error(s @ c.solve(b), b) < 1e-12
    triangle = np.tril(s) if lower else np.triu(s)
    for transposed in (False, True):
        x = linalg.solve_triangular(s, b, lower=lower, transposed=transposed)
        assert error((triangle.T if transposed else triangle) @ x, b) < 1e-12


def test_stacks(rng):
    a, b = rng.normal(size=(500, 5, 7)), rng.normal(size=(500, 7, 4))
    assert error(linalg.batch_matmul(a, b), a @ b) < 1e-14
    a, b = rng.normal(size=(300, 9, 9)), rng.normal(size=(300, 9, 2))
    f = linalg.batch_lu(a)
    x = f.solve(b)
    assert error(x, np.linalg.solve(a, b)) < 1e-9
    assert error(f.solve(b[:, :, 0]), x[:, :, 0]) == 0


def test_an_operator_for_scipy(rng):
    sparse = pytest.importorskip("scipy.sparse.linalg")
    a = rng.normal(size=(60, 40))
    op = linalg.operator(a)
    v, w = rng.normal(size=40), rng.normal(size=60)
    assert error(op @ v, a @ v) < 1e-14 and error(op.T @ w, a.T @ w) < 1e-14
    s = a.T @ a + 5 * np.eye(40)
    x, info = sparse.cg(linalg.operator(s), v)
    assert info == 0 and error(s @ x, v) < 1e-4
