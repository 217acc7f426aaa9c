"""LU and Cholesky factorisations, and triangular systems."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, Ints, check_finite, choice, floats, integer, number
from ._display import html_table
from ._open import DeviceLike, device_or_default
from ._matrices import LinAlgError, check_triangle, full_precision, is_packed, linear_operator
from ._matrices import right_hand_sides, square, workspace

#: Products with fewer operations run on the host, where they are as fast as on a board.
DEVICE_FLOPS = 2.0**24


def _solver(
    device: Optional[DeviceLike],
    precision: str,
    block: int = 0,
    device_flops: float = DEVICE_FLOPS,
    overlap: bool = True,
) -> _core.LinearSolver:
    chosen = device_or_default(device)
    least = number("device_flops", device_flops, least=0)
    options = full_precision(precision), integer("block", block), least, bool(overlap)
    return chosen._cached(_core.LinearSolver, *options)


def _plain_solver(device: Optional[DeviceLike]) -> _core.LinearSolver:
    """``_solver`` with the options of ``solve``, in a fraction of its time."""
    return device_or_default(device)._cached(_core.LinearSolver, True, 0, DEVICE_FLOPS, True)


class LU:
    """``P A = L U`` with partial pivoting, from ``lu``.

    Examples:
        >>> factors = linalg.lu(np.array([[0.0, 2.0], [4.0, 4.0]]))
        >>> factors.lower.tolist(), factors.upper.tolist(), factors.permutation.tolist()
        ([[1.0, 0.0], [0.0, 1.0]], [[4.0, 4.0], [0.0, 2.0]], [1, 0])
        >>> factors.solve(np.array([2.0, 8.0])).tolist(), factors.det()
        ([1.0, 1.0], -8.0)
        >>> factors.inverse_operator().shape
        (2, 2)
    """

    def __init__(
        self, factors: Floats, pivots: Ints, singular: Optional[int], solver: _core.LinearSolver
    ) -> None:
        self.factors = factors  #: L below the diagonal (unit diagonal not stored), U on and above
        self.pivots = pivots  #: row i was swapped with row pivots[i], in order of i
        self.singular = singular  #: index of the first pivot that is exactly zero, or None
        self._solver = solver

    @property
    def lower(self) -> Floats:
        """L, with its unit diagonal."""
        m, n = self.factors.shape
        return np.tril(self.factors[:, : min(m, n)], -1) + np.eye(m, min(m, n))

    @property
    def upper(self) -> Floats:
        """U."""
        return np.triu(self.factors[: min(self.factors.shape)])

    @property
    def permutation(self) -> Ints:
        """Row permutation: ``A[permutation] = L U``."""
        order = np.arange(self.factors.shape[0])
        for i, p in enumerate(self.pivots):
            order[[i, p]] = order[[p, i]]
        return order

    def solve(self, b: Any, *, transposed: bool = False, overwrite_b: bool = False) -> Floats:
        """Solve ``A x = b`` (or ``A^T x = b``); b of shape (n,) or (n, k). Raises LinAlgError.

        ``overwrite_b``: x may overwrite b, if b is float64 and Fortran-contiguous.
        """
        self._check_square()
        x, vector = right_hand_sides(b, self.factors.shape[0], overwrite_b)
        self._check_regular()
        if x.size:
            self._solver.solve(self.factors, self.pivots, x, bool(transposed))
        return x[:, 0] if vector else x

    def det(self) -> float:
        """Determinant of a square matrix; it may overflow."""
        self._check_square()
        odd = np.count_nonzero(self.pivots != np.arange(len(self.pivots))) % 2
        return float(np.prod(np.diag(self.factors)) * (-1 if odd else 1))

    def __repr__(self) -> str:
        m, n = self.factors.shape
        state = "" if self.singular is None else f", singular: pivot {self.singular} is zero"
        return f"<gdr.linalg.LU of {m} x {n}{state}>"

    def _repr_html_(self) -> str:
        diagonal = np.abs(np.diag(self.factors))
        rows = [
            (
                "pivots",
                f"{diagonal.min():.4g} to {diagonal.max():.4g}" if diagonal.size else "none",
            ),
            ("exchanged rows", np.count_nonzero(self.pivots != np.arange(len(self.pivots)))),
        ]
        return html_table(repr(self)[1:-1], rows)

    def inverse_operator(self) -> Any:
        """The inverse as SciPy's LinearOperator: ``M=`` of ``cg`` and ``gmres``, ``OPinv=`` of
        ``eigs``. Requires SciPy; raises LinAlgError."""
        self._check_square()
        self._check_regular()
        shape, transposed = self.factors.shape, lambda b: self.solve(b, transposed=True)
        return linear_operator(shape, np.float64, self.solve, transposed)

    def _check_square(self) -> None:
        m, n = self.factors.shape
        if m != n:
            raise ValueError(f"expected a square matrix, got {m} x {n}")

    def _check_regular(self) -> None:
        if self.singular is not None:
            raise LinAlgError(f"the matrix is singular: pivot {self.singular} is zero")


def lu(
    a: Any,
    *,
    precision: str = "full",
    block: int = 0,
    device_flops: float = DEVICE_FLOPS,
    overlap: bool = True,
    overwrite_a: bool = False,
    device: Optional[DeviceLike] = None,
) -> LU:
    """LU factorisation, in float64, of a matrix (m, n) of finite numbers.

        factors = linalg.lu(a)
        x = factors.solve(b)

    ``block``: columns of a panel; 0 lets the library choose. The host factorises a panel while the
    device updates the trailing matrix (one after the other with ``overlap=False``, and on native
    engines of the host; the results are bit-identical). ``device_flops``: products with fewer
    operations run on the host.
    ``overwrite_a``: the factors may overwrite ``a``, if it is float64 and Fortran-contiguous;
    otherwise it is copied.
    """
    array = floats("a", a, ("m", "n"))
    check_finite("a", array)
    solver = _solver(device, precision, block, device_flops, overlap)
    factors = workspace(array, overwrite_a)
    pivots = np.zeros(min(array.shape), np.int64)
    singular = solver.lu(factors, pivots) if factors.size else None
    return LU(factors, pivots, singular, solver)


def solve(
    a: Any,
    b: Any,
    *,
    precision: str = "full",
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    device: Optional[DeviceLike] = None,
) -> Floats:
    """Solve ``a x = b``; b of shape (n,) or (n, k). Raises LinAlgError for a singular matrix.

    Examples:
        >>> x = linalg.solve(a, b)
        >>> bool(np.allclose(a @ x, b))
        True
    """
    if precision == "full" and not overwrite_a and not overwrite_b:
        solution: Optional[Floats] = _plain_solver(device).plain_solve(a, b)
        if solution is not None:
            return solution
    array = square("a", a)
    x, vector = right_hand_sides(b, array.shape[0], overwrite_b)
    factors = lu(array, precision=precision, overwrite_a=overwrite_a, device=device)
    x = factors.solve(x, overwrite_b=True)
    return x[:, 0] if vector else x


class Cholesky:
    """``A = L L^T``, from ``cholesky``.

    Examples:
        >>> factors = linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
        >>> factors.factor.tolist()
        [[2.0, 0.0], [1.0, 2.0]]
        >>> factors.solve(np.array([8.0, 12.0])).tolist()
        [1.0, 2.0]
        >>> factors.inverse_operator().shape
        (2, 2)
    """

    def __init__(
        self, stored: Floats, by_rows: bool, lower: bool, solver: _core.LinearSolver
    ) -> None:
        # `stored` is Fortran-ordered: the transpose of a C-ordered matrix.
        self._stored, self._by_rows, self._lower, self._solver = stored, by_rows, lower, solver

    @property
    def factor(self) -> Floats:
        """L, or U = L^T with ``lower=False``; the other triangle is zero."""
        whole = self._stored.T if self._by_rows else self._stored
        return np.tril(whole) if self._lower else np.triu(whole)

    def solve(self, b: Any, *, overwrite_b: bool = False) -> Floats:
        """Solve ``A x = b``; b of shape (n,) or (n, k); ``overwrite_b`` as in ``LU.solve``."""
        x, vector = right_hand_sides(b, self._stored.shape[0], overwrite_b)
        if x.size:
            self._solver.solve_cholesky(self._lower != self._by_rows, self._stored, x)
        return x[:, 0] if vector else x

    def __repr__(self) -> str:
        n = len(self._stored)
        return f"<gdr.linalg.Cholesky of {n} x {n}, {'lower' if self._lower else 'upper'}>"

    def _repr_html_(self) -> str:
        diagonal = np.diag(self._stored)
        spread = f"{diagonal.min():.4g} to {diagonal.max():.4g}" if diagonal.size else "none"
        return html_table(repr(self)[1:-1], [("diagonal", spread)])

    def inverse_operator(self) -> Any:
        """The inverse as SciPy's LinearOperator: ``M=`` of ``cg``, ``OPinv=`` of ``eigsh``.
        Requires SciPy."""
        return linear_operator(self._stored.shape, np.float64, self.solve, self.solve)


def cholesky(
    a: Any,
    *,
    lower: bool = True,
    precision: str = "full",
    block: int = 0,
    device_flops: float = DEVICE_FLOPS,
    overlap: bool = True,
    overwrite_a: bool = False,
    device: Optional[DeviceLike] = None,
) -> Cholesky:
    """Cholesky factorisation of a symmetric positive definite matrix; one triangle is read.

        x = linalg.cholesky(a @ a.T).solve(b)

    Options as in ``lu``; a C-contiguous ``a`` can be overwritten, too. Raises LinAlgError with the
    first pivot that is not positive.
    """
    array = square("a", a)
    lower = bool(lower)
    check_triangle("a", array, lower)
    solver = _solver(device, precision, block, device_flops, overlap)
    # The transpose of a C-ordered matrix is the same one, with its triangles exchanged.
    by_rows = array.flags.c_contiguous and not array.flags.f_contiguous
    stored = workspace(array.T if by_rows else array, overwrite_a)
    bad = solver.cholesky(lower != by_rows, stored) if stored.size else None
    if bad is not None:
        raise LinAlgError(f"the matrix is not positive definite: pivot {bad} is not positive")
    return Cholesky(stored, by_rows, lower, solver)


def solve_triangular(
    a: Any,
    b: Any,
    *,
    lower: bool = False,
    unit_diagonal: bool = False,
    transposed: bool = False,
    side: str = "left",
    alpha: float = 1.0,
    precision: str = "full",
    block: int = 0,
    device_flops: float = DEVICE_FLOPS,
    overwrite_b: bool = False,
    device: Optional[DeviceLike] = None,
) -> Floats:
    """Solve ``a x = alpha b`` (or ``a^T x = alpha b``) for a triangular matrix (n, n), of which one
    triangle is read; b of shape (n,) or (n, k).

        x = linalg.solve_triangular(np.triu(a), b)

    ``side="right"``: solve ``x a = alpha b`` (or ``x a^T``), b of shape (n,) or (k, n).
    ``unit_diagonal``: the diagonal is one and is not read. Other options as in ``lu``. Raises
    LinAlgError if a diagonal element is zero.
    """
    array: AnyArray = square("a", a)
    right = choice("side", side, ("left", "right")) == "right"
    lower, unit = bool(lower), bool(unit_diagonal)
    check_triangle("a", array, lower, unit)
    factor = number("alpha", alpha)
    x, vector = right_hand_sides(b, array.shape[0], overwrite_b, row=right)
    solver = _solver(device, precision, block, device_flops)
    if not unit and (np.diag(array) == 0).any():
        raise LinAlgError(f"the matrix is singular: a[{np.argmin(np.abs(np.diag(array)))}] is zero")
    if not is_packed(array):
        array = np.asfortranarray(array)
    if x.size:
        solver.solve_triangular(right, lower, unit, bool(transposed), factor, array, x)
    return x.ravel() if vector else x
