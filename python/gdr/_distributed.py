"""Block-cyclically distributed matrices on the ranks of a device "mpi"."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, Ints, as_array, check_finite, check_no_overlap, check_type
from ._arrays import floats, integer
from ._open import DeviceLike, device_or_default
from ._ranks import mark_collective
from ._matrices import LinAlgError, full_precision, product_factors
from .errors import InputError


@dataclasses.dataclass(frozen=True)
class GridTimes:
    """Time of ``DistributedMatrices.lu`` on this rank, summed over all calls, in seconds.

    Examples:
        >>> grid = linalg.DistributedMatrices(gdr.open("exact"))
        >>> factors = grid.lu(grid.from_array(np.eye(64)))
        >>> grid.times.panel <= grid.times.seconds
        True
    """

    seconds: float  #: total
    update: float  #: updates with products on the boards
    panel: float  #: panel factorisations, and waiting for other ranks' panels
    hidden: float  #: part of ``panel`` that overlapped the update of the same step


class DistributedMatrix:
    """This rank's part of a distributed matrix, created by ``DistributedMatrices``.

    ``local[i, j]`` is element ``rows[i], columns[j]`` of the global matrix.

    Examples:
        >>> grid = linalg.DistributedMatrices(gdr.open("exact"))
        >>> matrix = grid.from_array(np.eye(3))
        >>> matrix.local.shape, matrix.rows.tolist(), matrix.copy().to_array().trace()
        ((3, 3), [0, 1, 2], 3.0)
    """

    def __init__(
        self, grid: "DistributedMatrices", shape: Tuple[int, int], local: Optional[Floats] = None
    ) -> None:
        self.grid = grid  #: the process grid
        self.shape = shape  #: shape of the global matrix
        self.rows: Ints = grid.rows(shape[0])  #: global indices of this rank's rows
        self.columns: Ints = grid.columns(shape[1])  #: global indices of this rank's columns
        own = (len(self.rows), len(self.columns))
        #: This rank's elements, float64, Fortran-contiguous; to be modified in place only.
        self.local: Floats = np.zeros(own, order="F") if local is None else local

    def copy(self) -> "DistributedMatrix":
        """A copy of the matrix."""
        return DistributedMatrix(self.grid, self.shape, np.array(self.local, order="F", copy=True))

    def to_array(self) -> Floats:
        """The global matrix, on every rank; collective."""
        return self.grid._gather(self)

    def __repr__(self) -> str:
        (m, n), (r, c) = self.shape, self.local.shape
        return f"<gdr.linalg.DistributedMatrix of {m} x {n}, {r} x {c} on this rank>"


class DistributedLU(NamedTuple):
    """``P A = L U``.

    Examples:
        >>> grid = linalg.DistributedMatrices(gdr.open("exact"))
        >>> factors = grid.lu(grid.from_array(np.array([[0.0, 2.0], [4.0, 4.0]])))
        >>> factors.pivots.tolist(), factors.singular, factors.factors.to_array().tolist()
        ([1, 1], None, [[4.0, 4.0], [0.0, 2.0]])
    """

    factors: DistributedMatrix  #: L below the diagonal (unit diagonal not stored), U on and above
    pivots: Ints  #: row i was swapped with row pivots[i], in order of i; the same on every rank
    singular: Optional[int]  #: index of the first pivot that is exactly zero, or None


class DistributedMatrices:
    """A process grid with the block-cyclic distribution of ScaLAPACK and HPL: blocks of ``block`` x
    ``block`` elements, ranks in row-major order.

    ::

        with gdr.open("mpi", comm=MPI.COMM_WORLD) as device:
            grid = linalg.DistributedMatrices(device, block=256)
            a = grid.from_function((n, n), lambda i, j: 1 / (i + j + 1) + n * (i == j))
            x = grid.solve(a, b)

    ``rows`` of the grid must divide the number of ranks; 0: as square as possible, and wide.
    ``look_ahead=False`` does not overlap panels with updates; results are bit-identical. Methods
    that compute are collective; products run on each rank's boards, panels on the hosts. With exact
    numerics every element is bit-identical for any number of ranks and any grid, but depends on the
    block. After ``Device.shrink`` grids and matrices must be created again. On other devices the
    grid has one rank.
    """

    def __init__(
        self,
        device: Optional[DeviceLike] = None,
        *,
        rows: int = 0,
        block: int = 128,
        precision: str = "full",
        look_ahead: bool = True,
    ) -> None:
        self.device = device_or_default(device)
        with self.device._ranks.argument_checks():
            grid_rows = integer("rows", rows, 0, 2**32 - 1)
            options = grid_rows, integer("block", block, 1), full_precision(precision)
        self._core = _core.DistributedMatrices(self.device._core, *options, bool(look_ahead))
        self.block = options[1]
        self._rank = self.device.rank

    @property
    def grid(self) -> Tuple[int, int]:
        """Rows and columns of the grid."""
        return self._core.grid

    def rows(self, m: int) -> Ints:
        """Global indices of this rank's rows of a matrix with m rows.

        Examples:
            >>> grid = linalg.DistributedMatrices(gdr.open("exact"), block=16)
            >>> grid.grid, grid.rows(3).tolist(), grid.columns(2).tolist()
            ((1, 1), [0, 1, 2], [0, 1])
        """
        rows, columns = self.grid
        return _cyclic(integer("m", m), self.block, self._rank // columns, rows)

    def columns(self, n: int) -> Ints:
        """Global indices of this rank's columns of a matrix with n columns."""
        columns = self.grid[1]
        return _cyclic(integer("n", n), self.block, self._rank % columns, columns)

    @property
    def times(self) -> GridTimes:
        """Times of ``lu`` and ``solve`` on this rank."""
        return GridTimes(*self._core.times)

    # -- matrices ------------------------------------------------------------------------------

    def zeros(self, shape: Tuple[int, int]) -> DistributedMatrix:
        """A matrix of zeros."""
        return DistributedMatrix(self, _shape(shape))

    def from_array(self, a: Any) -> DistributedMatrix:
        """Distribute a global matrix that every rank passes."""
        with self.device._ranks.argument_checks():
            whole = floats("a", a, ("m", "n"))
        matrix = self.zeros((whole.shape[0], whole.shape[1]))
        matrix.local[...] = whole[np.ix_(matrix.rows, matrix.columns)]
        return matrix

    def from_function(
        self, shape: Tuple[int, int], function: Callable[[Ints, Ints], Any]
    ) -> DistributedMatrix:
        """Elements as a function of their indices: ``function(i, j)`` is called once, with this
        rank's rows as a column (r, 1) and its columns as a row (1, c), and returns an array that
        broadcasts to (r, c).

        Examples:
            >>> grid = linalg.DistributedMatrices(gdr.open("exact"), block=16)
            >>> a = grid.from_function((3, 3), lambda i, j: 1 / (i + j + 1) + (i == j))
            >>> print(a.to_array().round(2))
            [[2.   0.5  0.33]
             [0.5  1.33 0.25]
             [0.33 0.25 1.2 ]]
        """
        with self.device._ranks.argument_checks():
            matrix = self.zeros(shape)
            values = as_array("function", function(matrix.rows[:, None], matrix.columns[None, :]))
            try:
                matrix.local[...] = values
            except ValueError:
                raise ValueError(
                    f"function: expected shape {matrix.local.shape}, got {values.shape}"
                ) from None
        return matrix

    # -- computing -----------------------------------------------------------------------------

    def matmul(
        self,
        a: DistributedMatrix,
        b: DistributedMatrix,
        *,
        out: Optional[DistributedMatrix] = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> DistributedMatrix:
        """``alpha a b + beta out``, as a matrix of this grid; collective.

        Examples:
            >>> grid = linalg.DistributedMatrices(gdr.open("exact"), block=16)
            >>> a, c = grid.from_array(np.array([[0.0, 2.0], [4.0, 4.0]])), grid.zeros((2, 2))
            >>> grid.matmul(a, a, out=c).to_array().tolist()
            [[8.0, 8.0], [16.0, 24.0]]
        """
        with self.device._ranks.argument_checks():
            x, y = self._check("a", a), self._check("b", b)
            (m, k), (rows, n) = a.shape, b.shape
            if rows != k:
                raise ValueError(f"b: expected {k} rows, the columns of a, got {rows}")
            factor, keep = product_factors(alpha, beta, out)
            result = self.zeros((m, n)) if out is None else out
            to = self._check("out", result)
            if result.shape != (m, n):
                raise ValueError(f"out: expected shape {(m, n)}, got {result.shape}")
            if not to.flags.writeable:
                raise ValueError("out: the array is read-only")
            check_no_overlap("out", to, {"a": x, "b": y})
        self._core.multiply(m, n, k, factor, x, y, keep, to)
        return result

    def lu(self, a: DistributedMatrix, *, overwrite_a: bool = False) -> DistributedLU:
        """LU factorisation, with partial pivoting, of the first n columns of a matrix with n rows
        and at least n columns; further columns are multiplied by L^-1 P. Collective.

        Examples:
            >>> grid = linalg.DistributedMatrices(gdr.open("exact"), block=16)
            >>> factors = grid.lu(grid.from_array(np.array([[0.0, 2.0], [4.0, 4.0]])))
            >>> factors.pivots.tolist(), factors.singular
            ([1, 1], None)
        """
        with self.device._ranks.argument_checks():
            check_finite("a", self._check("a", a))
            n, extra = a.shape[0], a.shape[1] - a.shape[0]
            if extra < 0:
                raise ValueError(f"a: expected at least {n} columns, got {a.shape[1]}")
            factors = a if overwrite_a and a.local.flags.writeable else a.copy()
        pivots = np.zeros(n, np.int64)
        singular = self._core.lu(n, extra, factors.local, pivots)
        return DistributedLU(factors, pivots, singular)

    def solve(self, a: DistributedMatrix, b: Any) -> Floats:
        """Solve ``a x = b``; a of shape (n, n), b of shape (n,) and equal on all ranks. Every rank
        returns the whole x.

        Collective. Raises LinAlgError for a singular matrix.

        Examples:
            >>> grid = linalg.DistributedMatrices(gdr.open("exact"), block=16)
            >>> grid.solve(grid.from_array(np.array([[0.0, 2.0], [4.0, 4.0]])), [2.0, 8.0]).tolist()
            [1.0, 1.0]
        """
        with self.device._ranks.argument_checks():
            local = self._check("a", a)
            check_finite("a", local)
            n = a.shape[0]
            if a.shape != (n, n):
                raise ValueError(f"a: expected a square matrix, got shape {a.shape}")
            right = floats("b", b, (n,))
            check_finite("b", right)
            both = self.zeros((n, n + 1))
            both.local[:, : local.shape[1]] = local
            both.local[:, both.columns == n] = right[both.rows][:, None]
        try:
            return self._core.solve(n, both.local)
        except InputError as error:
            raise mark_collective(LinAlgError(str(error)), error) from None

    # -- internals -----------------------------------------------------------------------------

    def _check(self, name: str, matrix: DistributedMatrix) -> Floats:
        """This rank's elements, checked."""
        check_type(name, matrix, DistributedMatrix, "a DistributedMatrix")
        if matrix.grid is not self:
            raise ValueError(f"{name}: belongs to another grid")
        own = (len(matrix.rows), len(matrix.columns))
        local = floats(f"{name}.local", matrix.local, own)
        if not local.flags.f_contiguous or local is not matrix.local:
            what = "expected a Fortran-contiguous float64 array; modify it in place"
            raise ValueError(f"{name}.local: {what}")
        return local

    def _gather(self, matrix: DistributedMatrix) -> Floats:
        with self.device._ranks.argument_checks():
            local = self._check("matrix", matrix)
        (m, n), (grid_rows, grid_columns) = matrix.shape, self.grid
        places = [
            (_cyclic(m, self.block, r, grid_rows), _cyclic(n, self.block, c, grid_columns))
            for r in range(grid_rows)
            for c in range(grid_columns)
        ]
        most = max(len(r) * len(c) for r, c in places)
        padded = np.zeros(most)
        padded[: local.size] = local.ravel(order="F")
        parts: AnyArray = np.frombuffer(
            self.device._core.gather_bytes(padded.tobytes()), np.float64
        ).reshape(len(places), most)
        whole = np.zeros((m, n))
        for part, (r, c) in zip(parts, places):
            whole[np.ix_(r, c)] = part[: len(r) * len(c)].reshape((len(r), len(c)), order="F")
        return whole

    def __repr__(self) -> str:
        rows, columns = self.grid
        return f"<gdr.linalg.DistributedMatrices: {rows} x {columns} ranks, block {self.block}>"


def _cyclic(n: int, block: int, position: int, size: int) -> Ints:
    """The indices below n that belong to one row or column of the grid."""
    every = np.arange(n)
    own: Ints = every[every // block % size == position]
    return own


def _shape(shape: Any) -> Tuple[int, int]:
    try:
        rows, columns = shape
    except (TypeError, ValueError):
        raise TypeError(f"shape: expected two numbers, got {shape!r}") from None
    return integer("shape[0]", rows), integer("shape[1]", columns)
