"""Linear algebra: NumPy and LAPACK on the host are the reference."""

import numpy as np
import pytest
from conftest import error, read_only

import gdr
from gdr import linalg

LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "every second row": lambda a: np.repeat(a, 2, axis=0)[::2],
    "neither rows nor columns": lambda a: np.repeat(np.repeat(a, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda a: a[::-1].copy()[::-1],
}


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_products_are_correct_for_any_layout(rng, left, right):
    a, b = rng.normal(size=(37, 53)), rng.normal(size=(53, 29))
    assert error(linalg.matmul(LAYOUTS[left](a), LAYOUTS[right](b)), a @ b) < 1e-15


def test_out_alpha_and_beta_are_applied(rng):
    a, b, c = rng.normal(size=(20, 30)), rng.normal(size=(30, 10)), rng.normal(size=(20, 10))
    for out in (c.copy(), np.array(c, order="F"), np.repeat(c, 3, axis=0)[::3]):
        got = linalg.matmul(a, b, out=out, alpha=-2.0, beta=0.5)
        assert got is out and error(out, -2 * (a @ b) + 0.5 * c) < 1e-15
    for device, most in (("native", 2e-7), ("exact", 1e-7)):  # sums of 30 floats, or of doubles
        single = linalg.matmul(a.astype("f4"), b.astype("f4"), device=device)
        assert single.dtype == np.float32
        assert error(single, a.astype("f4").astype(float) @ b.astype("f4")) < most
    assert error(linalg.matmul(a, b[:, 0]), a @ b[:, 0]) < 1e-15
    assert linalg.matmul(a[:0], b).shape == (0, 10)
    stacks = rng.normal(size=(6, 4, 5)), rng.normal(size=(5, 3))
    for precision in ("full", "chip"):
        assert error(linalg.matmul(*stacks, precision=precision), stacks[0] @ stacks[1]) < 1e-14


@pytest.mark.parametrize("which", ["a", "b", "both"])
@pytest.mark.parametrize("precision", ["chip", "full"])
def test_an_unchanged_factor_is_not_transferred_again(rng, device, which, precision):
    product = linalg.MatrixProduct(device, precision)
    a, b = rng.normal(size=(512, 512)), rng.normal(size=(512, 512))

    def sent(**options):
        before = device.statistics.bytes_to_board
        c = product(a, b, **options)
        return device.statistics.bytes_to_board - before, c

    everything, c = sent()
    sent(reuse=which)  # the first declaration may change the data layout
    again, same = sent(reuse=which)
    assert again < (0.3 if which == "both" and precision == "chip" else 0.75) * everything
    assert np.array_equal(same, c)
    product.invalidate()
    assert sent(reuse=which)[0] > again
    with pytest.raises(ValueError, match="reuse: expected one of 'a', 'b', 'both'"):
        product(a, b, reuse="c")


def test_background_products_equal_foreground_products(rng, device):
    product = linalg.MatrixProduct(device)
    a, b, c = rng.normal(size=(90, 80)), rng.normal(size=(80, 70)), rng.normal(size=(90, 70))
    want = product(a, b, out=c.copy(), alpha=2.0, beta=-1.0)
    got = product.start(a, b, out=c, alpha=2.0, beta=-1.0)
    product.wait()
    assert got is c and np.array_equal(c, want)
    product.wait()
    more = [product.start(a, b) for _ in range(3)]  # each waits for the previous one
    product.wait()
    assert all(np.array_equal(m, product(a, b)) for m in more)
    with pytest.raises(TypeError, match="out: expected float64"):
        product.start(a, b, out=c.astype("f4"))
    unfinished = linalg.MatrixProduct(device)
    unfinished.start(rng.normal(size=(900, 900)), rng.normal(size=(900, 900)))
    del unfinished
    assert error(product(a, b), a @ b) < 1e-15


def test_vectors_and_empty_matrices_behave_as_in_numpy(rng):
    a, v, w = rng.normal(size=(20, 30)), rng.normal(size=30), rng.normal(size=20)
    for left, right in ((a, v), (w, a), (v, v), (a, v[::-1]), (w[::-1], a)):
        got = linalg.matmul(left, right)
        assert np.shape(got) == np.shape(left @ right) and error(got, left @ right) < 1e-14
    out = w.copy()
    assert linalg.matmul(a, v, out=out, alpha=2.0, beta=3.0) is not None
    assert error(out, 2 * a @ v + 3 * w) < 1e-14
    for shapes in (
        ((0, 3), (3, 4)),
        ((3, 0), (0, 4)),
        ((0,), (0, 4)),
        ((2, 0, 3), (3, 3)),
        ((2, 3, 0), (0, 3)),
        ((0, 3, 3), (3, 3)),
        ((2, 40, 0), (0, 40)),
    ):
        x, y = np.zeros(shapes[0]), np.zeros(shapes[1])
        got = linalg.matmul(x, y)
        assert got.shape == (x @ y).shape and not got.any(), shapes
    for n in (0, 1):
        e = np.eye(n)
        assert linalg.lu(e).det() == 1
        assert linalg.solve(e, np.ones(n)).shape == (n,)
        assert linalg.solve(e, np.ones((n, 0))).shape == (n, 0)
        assert linalg.cholesky(e).solve(np.ones((n, 2))).shape == (n, 2)
        assert linalg.solve_triangular(e, np.ones(n)).shape == (n,)
        assert linalg.batch_solve(np.stack([e, e]), np.ones((2, n))).shape == (2, n)
        assert linalg.batch_matmul(np.ones((2, n, 0)), np.ones((2, 0, 3))).shape == (2, n, 3)
    assert linalg.lu(np.zeros((0, 3))).upper.shape == (0, 3)
    with pytest.raises(ValueError, match="expected a square matrix"):
        linalg.lu(np.ones((2, 3))).det()


def test_products_of_float32_stacks_are_float32(rng):
    for n in (4, 12):
        a, b = (rng.normal(size=(5, n, n)).astype("f4") for _ in range(2))
        got = linalg.matmul(a, b)
        assert got.dtype == np.float32
        assert error(got, a.astype(float) @ b.astype(float)) < 1e-7
        assert linalg.matmul(a, b.astype(float)).dtype == np.float64
        swapped = linalg.matmul(a.astype(">f4"), b.astype(">f4"))
        assert swapped.dtype == np.float32 and np.array_equal(swapped, got)


def test_the_other_triangle_is_ignored():
    a = np.array([[4.0, np.nan], [2.0, 5.0]])
    assert np.allclose(linalg.cholesky(a).factor, [[2, 0], [1, 2]])
    assert np.allclose(linalg.cholesky(a.T, lower=False).factor, [[2, 1], [0, 2]])
    assert np.allclose(linalg.solve_triangular(a, [4.0, 7.0], lower=True), [1, 1])
    with pytest.raises(ValueError, match=r"a\[0, 1\] is not a number"):
        linalg.cholesky(a, lower=False)
    ones = np.array([[np.inf, np.nan], [2.0, np.inf]])
    x = linalg.solve_triangular(ones, [1.0, 3.0], lower=True, unit_diagonal=True)
    assert np.array_equal(x, [1, 1])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
def test_triangular_solves_are_correct_on_either_side(rng, side, order, lower, transposed):
    a = np.array(rng.normal(size=(40, 40)) + 10 * np.eye(40), order=order)
    triangle = np.tril(a) if lower else np.triu(a)
    op = triangle.T if transposed else triangle
    options = {"lower": lower, "transposed": transposed, "side": side}
    b = rng.normal(size=(40, 3)) if side == "left" else rng.normal(size=(3, 40))
    x = linalg.solve_triangular(a, b, alpha=2.0, **options)
    assert error(op @ x if side == "left" else x @ op, 2 * b) < 1e-13
    v = linalg.solve_triangular(a, b.ravel()[:40], **options)
    assert error(op @ v if side == "left" else v @ op, b.ravel()[:40]) < 1e-13


def test_overlap_and_device_flops_do_not_change_factors(rng):
    a = rng.normal(size=(300, 300))
    want = linalg.lu(a, block=64, device_flops=0)
    turns = linalg.lu(a, block=64, device_flops=0, overlap=False)
    assert np.array_equal(turns.factors, want.factors)
    with gdr.open() as device:
        linalg.lu(a, block=64, device=device)
        assert device.statistics.runs == 0  # small products run on the host
        linalg.lu(a, block=64, device_flops=0, device=device)
        assert device.statistics.runs > 0
        linalg.solve(a, a[0], device=device)


@pytest.mark.parametrize("n", [1, 2, 7, 13, 15])
def test_batch_solves_are_accurate_in_both_precisions(rng, n):
    a, b = rng.normal(size=(33, n, n)) + 2 * np.eye(n), rng.normal(size=(33, n, 3))
    worst = {}
    for precision in ("chip", "full"):
        x = linalg.batch_solve(a, b, precision=precision)
        worst[precision] = error(a @ x, b)
        f = linalg.batch_lu(a, precision=precision)
        assert f.pivots.shape == (33, n) and f.factors.shape == (33, n, n)
    assert worst["chip"] < 1e-11 and worst["full"] < 1e-12
    with pytest.raises(ValueError, match="precision: expected one of 'chip', 'full'"):
        linalg.batch_lu(a, precision="half")


def test_full_precision_batch_products_are_exact(rng):
    a = rng.normal(size=(50, 9, 9))
    one = np.broadcast_to(np.eye(9), a.shape)
    assert np.array_equal(linalg.batch_matmul(a, one), a)
    assert not np.array_equal(linalg.batch_matmul(a, one, precision="chip", device="exact"), a)


E = np.eye(3)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: linalg.matmul(E, np.eye(4)), ValueError, "b: expected 3 rows"),
        (lambda: linalg.matmul(E + 1j, E), TypeError, "a: .*complex"),
        (lambda: linalg.matmul(E, E, out=np.eye(3, dtype="f4")), TypeError, "out: expected float64"),
        (lambda: linalg.matmul(E, E, out=np.eye(4)), ValueError, r"out: expected shape \(3, 3\)"),
        (lambda: linalg.matmul(E, E, out=read_only(np.eye(3))), ValueError, "out: .*read-only"),
        (lambda: linalg.matmul(E, E, out=np.eye(6)[::2, ::2]), ValueError, "out: neither"),
        (lambda: linalg.matmul(E, E, out=E), ValueError, "out: overlaps a"),
        (lambda: linalg.matmul(E, E, beta=1.0), ValueError, "out: required because beta"),
        (lambda: linalg.matmul(E, E, precision="double"), ValueError, "precision"),
        (lambda: linalg.solve(np.ones((2, 3)), [1, 2]), ValueError, "a: expected a square"),
        (lambda: linalg.solve(E, [1, 2]), ValueError, r"b: expected shape \(3,\)"),
        (lambda: linalg.solve(E * np.nan, [1, 2, 3]), ValueError, r"a\[0, 0\] is not a number"),
        (lambda: linalg.lu(E, block=-1), ValueError, "block"),
        (lambda: linalg.batch_lu(np.zeros((2, 20, 20))), gdr.UsageError, "256"),
        (lambda: linalg.batch_matmul(E, E), ValueError, "a: expected shape"),
    ],
)
def test_invalid_arguments_raise_an_error_with_the_argument(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (150, 90), (90, 150)])
def test_lu_factors_solve_and_determinant_are_correct(rng, shape):
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


def test_singular_matrices_raise_lin_alg_error():
    with pytest.raises(np.linalg.LinAlgError, match="pivot 1 is zero"):
        linalg.solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0])
    with pytest.raises(linalg.LinAlgError, match="not positive definite: pivot 1"):
        linalg.cholesky([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(linalg.LinAlgError, match="1 of the matrices"):
        linalg.batch_solve(np.stack([np.eye(2), np.zeros((2, 2))]), np.ones((2, 2)))
    with pytest.raises(linalg.LinAlgError, match=r"a\[1\]"):
        linalg.solve_triangular(np.diag([1.0, 0.0]), [1.0, 1.0])


@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_factors_and_solutions_are_correct(rng, lower):
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


def test_batch_functions_agree_with_numpy(rng):
    a, b = rng.normal(size=(500, 5, 7)), rng.normal(size=(500, 7, 4))
    assert error(linalg.batch_matmul(a, b), a @ b) < 1e-14
    a, b = rng.normal(size=(300, 9, 9)), rng.normal(size=(300, 9, 2))
    f = linalg.batch_lu(a)
    x = f.solve(b)
    assert error(x, np.linalg.solve(a, b)) < 1e-9
    assert error(f.solve(b[:, :, 0]), x[:, :, 0]) == 0


def test_linear_operators_work_with_scipy(rng):
    sparse = pytest.importorskip("scipy.sparse.linalg")
    a = rng.normal(size=(60, 40))
    op = linalg.operator(a)
    v, w = rng.normal(size=40), rng.normal(size=60)
    assert error(op @ v, a @ v) < 1e-14 and error(op.T @ w, a.T @ w) < 1e-14
    s = a.T @ a + 5 * np.eye(40)
    x, info = sparse.cg(linalg.operator(s), v, atol=0)
    assert info == 0 and error(s @ x, v) < 1e-4
    for factors in (linalg.lu(s), linalg.cholesky(s)):
        inverse = factors.inverse_operator()
        assert error(inverse @ v, np.linalg.solve(s, v)) < 1e-12
        assert error(inverse.T @ v, np.linalg.solve(s.T, v)) < 1e-12
        steps = []
        x, info = sparse.cg(linalg.operator(s), v, M=inverse, atol=0, callback=steps.append)
        assert info == 0 and len(steps) <= 2
    largest = sparse.eigsh(linalg.operator(s), k=1, return_eigenvectors=False)
    assert largest[0] == pytest.approx(np.linalg.eigvalsh(s)[-1], rel=1e-10)
    with pytest.raises(linalg.LinAlgError, match="pivot 1 is zero"):
        linalg.lu(np.ones((2, 2))).inverse_operator()


def test_an_operator_with_an_unchanged_matrix_transfers_vectors_only(rng, device):
    pytest.importorskip("scipy.sparse.linalg")
    a, v = rng.normal(size=(500, 400)), rng.normal(size=400)
    sent = {}
    for reuse in (False, True):
        op = linalg.operator(a, precision="chip", reuse=reuse, device=device)
        for _ in range(2):
            op @ v
        before = device.statistics.bytes_to_board
        assert error(op @ v, a @ v) < 1e-13
        sent[reuse] = device.statistics.bytes_to_board - before
    assert sent[True] < 0.5 * sent[False]
    single = linalg.operator(a.astype("f4"), device=device)
    assert single.dtype == np.float32 and (single @ v).dtype == np.float32
    assert error(single @ v, a @ v) < 1e-6


def test_distributed_matrices_on_one_rank_agree_with_local_ones(rng, device):
    grid = linalg.DistributedMatrices(device, block=16)
    assert grid.grid == (1, 1) and grid.block == 16
    a, b = rng.normal(size=(70, 50)), rng.normal(size=(50, 40))
    x, y = grid.from_array(a), grid.from_array(b)
    assert np.array_equal(x.to_array(), a) and x.shape == (70, 50)
    assert error(grid.matmul(x, y).to_array(), a @ b) < 1e-15
    out = grid.from_array(a @ b)
    assert grid.matmul(x, y, out=out, alpha=2.0, beta=-2.0) is out
    assert abs(out.local).max() < 1e-12
    square = rng.normal(size=(50, 50))
    s = grid.from_function((50, 50), lambda i, j: square[i, j])
    f = grid.lu(s)
    want = linalg.lu(square)
    assert error(f.factors.to_array(), want.factors) < 1e-12
    assert np.array_equal(f.pivots, want.pivots) and f.singular is None
    assert np.array_equal(s.to_array(), square)
    assert grid.lu(s.copy(), overwrite_a=True).factors is not s
    assert error(square @ grid.solve(s, b[:, 0]), b[:, 0]) < 1e-11
    assert grid.times.seconds >= grid.times.update > 0
    with pytest.raises(linalg.LinAlgError, match="pivot 0 is exactly zero"):
        grid.solve(grid.zeros((5, 5)), np.ones(5))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda g: linalg.DistributedMatrices(rows=2), gdr.UsageError, "grid"),
        (lambda g: linalg.DistributedMatrices(block=0), ValueError, "block: expected at least 1"),
        (lambda g: linalg.DistributedMatrices(precision="x"), ValueError, "precision"),
        (lambda g: g.zeros(3), TypeError, "shape: expected two numbers"),
        (lambda g: g.zeros((3, -1)), ValueError, r"shape\[1\]: expected at least 0"),
        (lambda g: g.matmul(E, E), TypeError, "a: expected a DistributedMatrix, got ndarray"),
        (lambda g: g.matmul(g.zeros((2, 3)), g.zeros((2, 3))), ValueError, "b: expected 3 rows"),
        (
            lambda g: g.matmul(g.zeros((2, 2)), linalg.DistributedMatrices().zeros((2, 2))),
            ValueError,
            "b: belongs to another grid",
        ),
        (lambda g: g.lu(g.zeros((3, 2))), ValueError, "a: expected at least 3 columns"),
        (lambda g: g.solve(g.zeros((3, 2)), E[0]), ValueError, "a: expected a square"),
        (lambda g: g.solve(g.from_array(E), [1.0, 2.0]), ValueError, r"b: expected shape \(3,\)"),
        (lambda g: g.solve(g.from_array(np.full((3, 3), np.inf)), E[0]), ValueError, r"a\[0, 0\]"),
        (lambda g: g.from_function((2, 2), lambda i, j: E), ValueError, r"function: expected shape"),
        (lambda g: g.from_function((2, 2), lambda i, j: 1j), TypeError, "function: expected real"),
    ],
)
def test_invalid_distributed_arguments_raise_an_error_with_the_argument(call, kind, message):
    with pytest.raises(kind, match=message):
        call(linalg.DistributedMatrices(block=4))


def test_a_replaced_local_array_raises_value_error():
    grid = linalg.DistributedMatrices()
    a = grid.from_array(E)
    for wrong, message in (
        (np.eye(2), "a.local: expected shape"),
        (np.eye(3, dtype="f4", order="F"), "a.local: expected .*Fortran-contiguous float64"),
        (np.ones((3, 6))[:, ::2], "a.local: expected .*Fortran-contiguous float64"),
    ):
        a.local = wrong
        with pytest.raises(ValueError, match=message):
            grid.lu(a)


def test_batches_on_a_native_engine_agree_with_numpy(native, rng):
    a, b = rng.normal(size=(301, 8, 8)), rng.normal(size=(301, 8))
    x = linalg.batch_solve(a, b, device=native)
    assert np.allclose(x, np.linalg.solve(a, b[..., None])[..., 0], rtol=1e-8)
    two = linalg.batch_solve(a, np.stack([b, 2 * b], axis=-1), device=native)
    assert np.array_equal(two[..., 0], x)
    product = linalg.batch_matmul(a, a, device=native)
    assert np.allclose(product, a @ a, rtol=1e-12, atol=1e-12)
    factors = linalg.batch_lu(a, device=native)
    for k in (0, 300):
        lower = np.tril(factors.factors[k], -1) + np.eye(8)
        rows = a[k].copy()
        for i, p in enumerate(factors.pivots[k]):
            rows[[i, p]] = rows[[p, i]]
        assert np.allclose(lower @ np.triu(factors.factors[k]), rows, atol=1e-13)
    a[17] = 1.0
    with pytest.raises(linalg.LinAlgError, match="1 of the matrices are singular"):
        linalg.batch_solve(a, b, device=native)
    with gdr.open("emulator", engine="native") as device:
        linalg.batch_lu(a, device=device)
        other = device
    with pytest.raises(gdr.DeviceError, match="closed"):
        linalg.batch_lu(a, device=other)


@pytest.mark.parametrize("engine", ["native", "exact", "native-float"])
def test_small_products_and_systems_have_the_bits_of_others(engine):
    """Small matrices that need no conversion take a shorter way."""
    rng = np.random.default_rng(52)
    with gdr.open(engine=engine) as device:
        product = linalg.MatrixProduct(device)
        for m, k, n in ((8, 8, 8), (1, 3, 2), (32, 32, 32), (33, 4, 4), (4, 1, 33)):
            a, b = rng.normal(size=(m, k)), rng.normal(size=(k, n))
            got = linalg.matmul(a, b, device=device)
            assert got.flags.c_contiguous and np.array_equal(got, product(a, b))
            assert np.array_equal(got, linalg.matmul(a.copy("F"), b[:, ::1].tolist(), device=device))
        for n in (1, 8, 32, 33):
            a, b = rng.normal(size=(n, n)), rng.normal(size=n)
            kept = a.copy(), b.copy()
            x = linalg.solve(a, b, device=device)
            assert np.array_equal(x, linalg.lu(a, device=device).solve(b))
            assert np.array_equal(x, linalg.solve(a.tolist(), b.tolist(), device=device))
            assert np.array_equal(a, kept[0]) and np.array_equal(b, kept[1])


def test_small_matrices_are_checked_like_others():
    rng = np.random.default_rng(52)
    a, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    with pytest.raises(linalg.LinAlgError, match="singular: pivot 3 is zero"):
        linalg.solve(np.diag([1.0, 2, 3, 0]), b)
    with pytest.raises(ValueError, match=r"a\[0, 1\] is not a number"):
        linalg.solve(np.where(np.arange(16).reshape(4, 4) == 1, np.nan, a), b)
    with pytest.raises(ValueError, match=r"b\[2\] is infinite"):
        linalg.solve(a, np.where(np.arange(4) == 2, np.inf, b))
    with pytest.raises(ValueError, match=r"b: expected shape \(4,\)"):
        linalg.solve(a, b[:3])
    with pytest.raises(ValueError, match="b: expected 4 rows"):
        linalg.matmul(a, a[:3])
    with pytest.raises(TypeError, match="alpha"):
        linalg.matmul(a, a, alpha=True)
    with pytest.raises(ValueError, match="precision"):
        linalg.matmul(a, a, precision="half")
