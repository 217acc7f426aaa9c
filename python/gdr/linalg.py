"""Dense matrices on a device: products, LU, Cholesky, solves, and stacks of small matrices.

Matrices are NumPy arrays, C- or Fortran-ordered: both are read where they lie; what has neither
packed rows nor packed columns is copied. Products see the leading 50 bits of each factor
(``precision="chip"``) or all 53 (``"full"``, the default); sums have 61.
"""

from __future__ import annotations

import weakref
from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, Ints, check_finite, check_shape, floats, number
from ._device import Device, pick
from .errors import InputError

__all__ = [
    "Cholesky",
    "LU",
    "LinAlgError",
    "MatrixProduct",
    "batch_lu",
    "batch_matmul",
    "batch_solve",
    "cholesky",
    "lu",
    "matmul",
    "operator",
    "solve",
    "solve_triangular",
]


class LinAlgError(InputError, np.linalg.LinAlgError):
    """A matrix that is singular, or not positive definite."""


_solvers: "weakref.WeakKeyDictionary[Device, dict[Any, _core.LinearSolver]]"
_solvers = weakref.WeakKeyDictionary()


def _full(precision: str) -> bool:
    if precision not in ("chip", "full"):
        raise ValueError(f"precision: 'chip' or 'full' is wanted, not {precision!r}")
    return precision == "full"


def _solver(device: Optional[Device], precision: str, block: int) -> _core.LinearSolver:
    if isinstance(block, bool) or not isinstance(block, int) or block < 0:
        raise ValueError(f"block: a number of columns of at least 0 is wanted, not {block!r}")
    chosen = pick(device)
    key = (_full(precision), block)
    solvers = _solvers.setdefault(chosen, {})
    if key not in solvers:
        solvers[key] = _core.LinearSolver(chosen._core, *key)
    return solvers[key]


def _packed(array: AnyArray) -> bool:
    """Whether rows or columns are packed, with positive strides and no overlaps."""
    rows, columns = array.shape
    down, across = array.strides
    one = array.itemsize

    def fits(packed: int, length: int, apart: int, count: int) -> bool:
        return (length <= 1 or packed == one) and (
            count <= 1 or (apart >= one * length and apart % one == 0)
        )

    return fits(across, columns, down, rows) or fits(down, rows, across, columns)


def _matrix(name: str, value: Any, dtype: Any = np.float64) -> AnyArray:
    """A matrix of that type as the library takes it, without a copy where it lies well."""
    if dtype == np.float64:
        array: AnyArray = floats(name, value, ("m", "n"))
    else:
        array = np.asarray(value)
        check_shape(name, array, ("m", "n"))
    return array if _packed(array) else np.ascontiguousarray(array)


class MatrixProduct:
    """Products on one device; keeps a factor on the boards where the caller says it is unchanged.

    ``precision``: "full" (all 53 bits of the factors) or "chip" (the leading 50, in one pass).
    """

    def __init__(self, device: Optional[Device] = None, precision: str = "full") -> None:
        self.device = pick(device)
        self._core = _core.MatrixProduct(self.device._core, _full(precision))

    @property
    def depth(self) -> int:
        """Inner indices that a board takes in one pass: 2048 with 16 blocks and four chips."""
        return self._core.depth

    def __call__(
        self,
        a: Any,
        b: Any,
        *,
        out: Optional[AnyArray] = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        unchanged_b: bool = False,
    ) -> AnyArray:
        """``alpha a b + beta out``: (m, k) times (k, n). Two matrices of float32 give float32.

        ``out`` is filled where it lies, and must overlap neither ``a`` nor ``b``; with ``beta`` it
        must be given. ``unchanged_b``: b is the array of the last call with the same elements, and
        what of it the boards still hold is not sent again.
        """
        single = getattr(a, "dtype", None) == np.float32 and getattr(b, "dtype", None) == np.float32
        dtype = np.dtype(np.float32 if single else np.float64)
        x, y = _matrix("a", a, dtype), _matrix("b", b, dtype)
        if x.shape[1] != y.shape[0]:
            raise ValueError(f"b: {x.shape[1]} rows are wanted, as a has columns, not {y.shape[0]}")
        shape = (x.shape[0], y.shape[1])
        factor, keep = number("alpha", alpha), number("beta", beta)
        if out is None:
            if keep != 0:
                raise ValueError("out: beta is not 0, so the matrix that it multiplies is wanted")
            out = np.empty(shape, dtype)
        else:
            _check_out(out, shape, dtype, (x, y))
        self._core.compute(factor, x, y, keep, out, unchanged_b)
        return out


def _check_out(out: Any, shape: Tuple[int, ...], dtype: Any, factors: Tuple[AnyArray, ...]) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out: a NumPy array is wanted, not {type(out).__name__}")
    if out.dtype != dtype:
        raise TypeError(f"out: {dtype} is wanted, not {out.dtype}")
    check_shape("out", out, shape)
    if not out.flags.writeable:
        raise ValueError("out: the array is read-only")
    if not _packed(out):
        raise ValueError("out: neither its rows nor its columns are contiguous")
    for name, factor in zip("ab", factors):
        if np.may_share_memory(out, factor) and np.shares_memory(out, factor):
            raise ValueError(f"out: it overlaps {name}")


_products: "weakref.WeakKeyDictionary[Device, dict[bool, _core.MatrixProduct]]"
_products = weakref.WeakKeyDictionary()


def matmul(
    a: Any,
    b: Any,
    *,
    out: Optional[AnyArray] = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    precision: str = "full",
    device: Optional[Device] = None,
) -> AnyArray:
    """``alpha a b + beta out``: (m, k) times (k, n), or times a vector (k,), or stacks (..., m, k).

    See ``MatrixProduct``, which this makes for one call. Stacks of equal shapes that fit a PE's
    memory are multiplied side by side (``batch_matmul``), others one by one.
    """
    if np.ndim(b) == 1 and np.ndim(a) == 2:
        if out is not None or beta != 0:
            raise ValueError("out: a product with a vector gives a new array")
        column = floats("b", b, ("k",))[:, None]
        return matmul(a, column, alpha=alpha, precision=precision, device=device)[:, 0]
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        if out is not None or beta != 0 or alpha != 1:
            raise ValueError("out, alpha, beta: stacks are multiplied without them")
        return _stacked(a, b, precision, device)
    chosen = pick(device)
    products = _products.setdefault(chosen, {})
    full = _full(precision)
    if full not in products:
        products[full] = _core.MatrixProduct(chosen._core, full)
    product = MatrixProduct.__new__(MatrixProduct)
    product.device, product._core = chosen, products[full]
    return product(a, b, out=out, alpha=alpha, beta=beta)


def _stacked(a: Any, b: Any, precision: str, device: Optional[Device]) -> Floats:
    x, y = np.asarray(a), np.asarray(b)
    for name, array in (("a", x), ("b", y)):
        if array.ndim < 2:
            raise ValueError(f"{name}: a stack of matrices has at least two dimensions")
    if x.shape[-1] != y.shape[-2]:
        raise ValueError(f"b: {x.shape[-1]} rows are wanted, not {y.shape[-2]}")
    try:
        lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise ValueError(f"b: stacks {x.shape[:-2]} and {y.shape[:-2]} do not agree") from None
    x = np.broadcast_to(x, lead + x.shape[-2:]).reshape((-1,) + x.shape[-2:])
    y = np.broadcast_to(y, lead + y.shape[-2:]).reshape((-1,) + y.shape[-2:])
    m, k, n = x.shape[1], x.shape[2], y.shape[2]
    if precision == "chip" and m * k + k * n + m * n <= 256:
        out = batch_matmul(x, y, device=device)
    else:
        out = np.empty((len(x), m, n))
        for i in range(len(x)):
            out[i] = matmul(x[i], y[i], precision=precision, device=device)
    return out.reshape(lead + (m, n))


def _square(name: str, value: Any) -> Floats:
    array = floats(name, value, ("n", "n"))
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name}: a square matrix is wanted, not one of shape {array.shape}")
    check_finite(name, array)
    return array


def _right_sides(b: Any, n: int) -> Tuple[Floats, bool]:
    """A copy to work on, by columns, and whether b is a vector."""
    vector = np.ndim(b) == 1
    shape: List[Union[int, str]] = [n] if vector else [n, "k"]
    array = floats("b", b, shape)
    check_finite("b", array)
    return np.array(array.reshape(n, -1), order="F", copy=True), vector


class LU:
    """``P A = L U`` with partial pivoting; ``lu`` makes it."""

    def __init__(
        self, factors: Floats, pivots: Ints, singular: Optional[int], solver: _core.LinearSolver
    ) -> None:
        self.factors = factors  #: L below the diagonal without its ones, U on and above it
        self.pivots = pivots  #: row i was exchanged with row pivots[i], in this order
        self.singular = singular  #: index of the first pivot that is exactly zero, or None
        self._solver = solver

    @property
    def lower(self) -> Floats:
        """L, with its ones."""
        m, n = self.factors.shape
        return np.tril(self.factors[:, : min(m, n)], -1) + np.eye(m, min(m, n))

    @property
    def upper(self) -> Floats:
        """U."""
        return np.triu(self.factors[: min(self.factors.shape)])

    @property
    def permutation(self) -> Ints:
        """Rows of A in the order of P A: ``A[permutation] = L U``."""
        order = np.arange(self.factors.shape[0])
        for i, p in enumerate(self.pivots):
            order[[i, p]] = order[[p, i]]
        return order

    def solve(self, b: Any, *, transposed: bool = False) -> Floats:
        """x with ``A x = b`` (or ``A^T x = b``); b of shape (n,) or (n, k). Raises LinAlgError."""
        n = self.factors.shape[0]
        if self.factors.shape[1] != n:
            raise ValueError("only equations with a square matrix are solved")
        if self.singular is not None:
            raise LinAlgError(f"the matrix is singular: pivot {self.singular} is zero")
        x, vector = _right_sides(b, n)
        if x.size:
            self._solver.solve(self.factors, self.pivots, x, transposed)
        return x[:, 0] if vector else x

    def det(self) -> float:
        """The determinant (which may overflow)."""
        odd = np.count_nonzero(self.pivots != np.arange(len(self.pivots))) % 2
        return float(np.prod(np.diag(self.factors)) * (-1 if odd else 1))


def lu(a: Any, *, precision: str = "full", block: int = 0, device: Optional[Device] = None) -> LU:
    """Factorise a matrix (m, n) of finite numbers; the matrix is left as it is.

    ``block``: columns of a panel, which the host factorises while the device updates what is right
    of it; 0 lets the library choose.
    """
    array = floats("a", a, ("m", "n"))
    check_finite("a", array)
    solver = _solver(device, precision, block)
    factors = np.array(array, order="F", copy=True)
    pivots = np.zeros(min(array.shape), np.int64)
    singular = solver.lu(factors, pivots) if factors.size else None
    return LU(factors, pivots, singular, solver)


def solve(a: Any, b: Any, *, precision: str = "full", device: Optional[Device] = None) -> Floats:
    """x with ``a x = b``; b of shape (n,) or (n, k). Raises LinAlgError for a singular matrix."""
    return lu(_square("a", a), precision=precision, device=device).solve(b)


class Cholesky:
    """``A = L L^T``; ``cholesky`` makes it."""

    def __init__(self, factor: Floats, lower: bool, solver: _core.LinearSolver) -> None:
        self._factor, self._lower, self._solver = factor, lower, solver

    @property
    def factor(self) -> Floats:
        """L, or U = L^T where the upper triangle was asked for; zero in the other triangle."""
        return np.tril(self._factor) if self._lower else np.triu(self._factor)

    def solve(self, b: Any) -> Floats:
        """x with ``A x = b``; b of shape (n,) or (n, k)."""
        x, vector = _right_sides(b, self._factor.shape[0])
        if x.size:
            self._solver.solve_cholesky(self._lower, self._factor, x)
        return x[:, 0] if vector else x


def cholesky(
    a: Any,
    *,
    lower: bool = True,
    precision: str = "full",
    block: int = 0,
    device: Optional[Device] = None,
) -> Cholesky:
    """Factorise a symmetric, positive definite matrix, of which one triangle is read.

    Raises LinAlgError naming the pivot where it is not positive definite.
    """
    array = _square("a", a)
    solver = _solver(device, precision, block)
    factor = np.array(array, order="F", copy=True)
    bad = solver.cholesky(lower, factor) if factor.size else None
    if bad is not None:
        raise LinAlgError(f"the matrix is not positive definite: pivot {bad} is not positive")
    return Cholesky(factor, lower, solver)


def solve_triangular(
    a: Any,
    b: Any,
    *,
    lower: bool = False,
    unit_diagonal: bool = False,
    transposed: bool = False,
    device: Optional[Device] = None,
) -> Floats:
    """x with ``a x = b`` (or ``a^T x = b``) for a triangular matrix, of which one triangle is read."""
    array = np.asfortranarray(_square("a", a))
    if not unit_diagonal and (np.diag(array) == 0).any():
        raise LinAlgError(f"the matrix is singular: a[{np.argmin(np.abs(np.diag(array)))}] is zero")
    x, vector = _right_sides(b, array.shape[0])
    if x.size:
        solver = _solver(device, "full", 0)
        solver.solve_triangular(lower, unit_diagonal, transposed, array, x)
    return x[:, 0] if vector else x


# -- stacks of small matrices ------------------------------------------------------------------


def _stack(name: str, value: Any) -> Floats:
    return np.ascontiguousarray(floats(name, value, ("count", "m", "n")))


def batch_matmul(a: Any, b: Any, *, device: Optional[Device] = None) -> Floats:
    """Products (count, m, k) times (count, k, n), thousands side by side; 50 bits of each factor.

    ``m k + k n + m n <= 256``; UsageError says so otherwise.
    """
    x, y = _stack("a", a), _stack("b", b)
    check_shape("b", y, (x.shape[0], x.shape[2], "n"))
    out = np.empty((x.shape[0], x.shape[1], y.shape[2]))
    if out.size:
        _core.SmallMatrices(pick(device)._core).multiply(x, y, out)
    return out


class BatchLU:
    """Factors of a stack of matrices; ``batch_lu`` makes it."""

    def __init__(self, transposed: Floats, pivots: Ints, singular: int, device: Device) -> None:
        self._transposed, self.pivots, self.singular_count = transposed, pivots, singular
        self._device = device

    @property
    def factors(self) -> Floats:
        """(count, n, n): of each, L below the diagonal without its ones, U on and above it."""
        return self._transposed.transpose(0, 2, 1)

    def solve(self, b: Any) -> Floats:
        """x with ``A x = b`` of each; b of shape (count, n) or (count, n, k)."""
        count, n, _ = self._transposed.shape
        if self.singular_count:
            raise LinAlgError(f"{self.singular_count} of the matrices are singular")
        vector = np.ndim(b) == 2
        shape: List[Union[int, str]] = [count, n] if vector else [count, n, "k"]
        array = floats("b", b, shape)
        check_finite("b", array)
        sides = array[:, :, None] if vector else array
        rows = np.array(sides.transpose(0, 2, 1), order="C", copy=True)
        if rows.size:
            _core.SmallMatrices(self._device._core).solve(self._transposed, self.pivots, rows)
        return rows[:, 0, :] if vector else rows.transpose(0, 2, 1)


def batch_lu(a: Any, *, device: Optional[Device] = None) -> BatchLU:
    """LU of each of (count, n, n), n up to 15, side by side."""
    array = floats("a", a, ("count", "n", "n"))
    check_shape("a", array, (array.shape[0], "n", array.shape[1]))
    check_finite("a", array)
    chosen = pick(device)
    transposed = np.array(array.transpose(0, 2, 1), order="C", copy=True)
    pivots = np.zeros(array.shape[:2], np.int64).ravel()
    singular = 0
    if transposed.size:
        singular = _core.SmallMatrices(chosen._core).lu(transposed, pivots)
    return BatchLU(transposed, pivots, singular, chosen)


def batch_solve(a: Any, b: Any, *, device: Optional[Device] = None) -> Floats:
    """x with ``a x = b`` of each: (count, n, n) and (count, n) or (count, n, k).

    Raises LinAlgError where some are singular.
    """
    return batch_lu(a, device=device).solve(b)


def operator(a: Any, *, precision: str = "full", device: Optional[Device] = None) -> Any:
    """A matrix as SciPy's LinearOperator, whose products run on the device: for
    ``scipy.sparse.linalg`` (cg, gmres, eigsh, ...). Needs SciPy."""
    from scipy.sparse.linalg import LinearOperator

    array = _matrix("a", a)
    check_finite("a", array)
    chosen = pick(device)

    def product(x: AnyArray) -> AnyArray:
        return matmul(array, _columns(x), precision=precision, device=chosen).reshape(
            (array.shape[0],) + x.shape[1:]
        )

    def transposed(x: AnyArray) -> AnyArray:
        return matmul(array.T, _columns(x), precision=precision, device=chosen).reshape(
            (array.shape[1],) + x.shape[1:]
        )

    return LinearOperator(
        array.shape,
        matvec=product,
        matmat=product,
        rmatvec=transposed,
        rmatmat=transposed,
        dtype=np.float64,
    )


def _columns(x: AnyArray) -> AnyArray:
    return x.reshape(len(x), -1)
