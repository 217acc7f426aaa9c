"""Matrices dealt out over the ranks of a device "mpi": products, LU, and systems of equations."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, Ints, as_array, check_apart, check_finite, floats
from ._arrays import index, number
from ._device import Device, on_all_ranks, pick
from ._matrices import LinAlgError, is_full
from .errors import InputError


@dataclasses.dataclass(frozen=True)
class GridTimes:
    """Where the time of ``DistributedMatrices.lu`` went on this rank, over all calls, in seconds."""

    seconds: float  #: in all
    update: float  #: products on the boards
    panel: float  #: factorising panels, or waiting for who does
    hidden: float  #: of ``panel``, while the update of the same step went on


class DistributedMatrix:
    """This rank's part of a matrix that is dealt out; ``DistributedMatrices`` makes it.

    ``local[i, j]`` is element ``rows[i], columns[j]`` of the whole.
    """

    def __init__(
        self, grid: "DistributedMatrices", shape: Tuple[int, int], local: Optional[Floats] = None
    ) -> None:
        self.grid = grid  #: which made it
        self.shape = shape  #: of the whole matrix
        self.rows: Ints = grid.rows(shape[0])  #: this rank's rows
        self.columns: Ints = grid.columns(shape[1])  #: and columns
        own = (len(self.rows), len(self.columns))
        #: This rank's elements, float64, Fortran-contiguous. Fill it, or change it, in place.
        self.local: Floats = np.zeros(own, order="F") if local is None else local

    def copy(self) -> "DistributedMatrix":
        """Another one with the same elements."""
        return DistributedMatrix(self.grid, self.shape, np.array(self.local, order="F", copy=True))

    def to_array(self) -> Floats:
        """The whole matrix, on every rank; collective."""
        return self.grid._whole(self)

    def __repr__(self) -> str:
        return f"<gdr.linalg.DistributedMatrix {self.shape}, {self.local.shape} of it here>"


class DistributedLU(NamedTuple):
    """``P A = L U``."""

    factors: DistributedMatrix  #: L below the diagonal without its ones, U on and above it
    pivots: Ints  #: on every rank: row i was exchanged with row pivots[i], in this order
    singular: Optional[int]  #: index of the first pivot that is exactly zero, or None


class DistributedMatrices:
    """A grid of ranks over which matrices are dealt out as ScaLAPACK and HPL do: in blocks of
    ``block`` x ``block``, cyclically, ranks standing in the grid row by row.

    ::

        with gdr.open("mpi", comm=MPI.COMM_WORLD) as device:
            grid = linalg.DistributedMatrices(device, block=256)
            a = grid.from_function((n, n), lambda i, j: 1 / (i + j + 1) + n * (i == j))
            x = grid.solve(a, b)

    ``rows`` of the grid must divide the ranks; 0: as square as it can be, wide. ``look_ahead=False``
    factorises panels and updates in turns, to the same bits. All methods that compute are collective,
    products run on each rank's boards, panels on the hosts. In exact numerics every element has the
    same bits for any number of ranks and any grid; they depend on the block. After
    ``Device.recover`` grids and matrices must be made anew. On other devices the grid is one rank.
    """

    def __init__(
        self,
        device: Optional[Device] = None,
        *,
        rows: int = 0,
        block: int = 128,
        precision: str = "full",
        look_ahead: bool = True,
    ) -> None:
        self.device = pick(device)
        with self.device._together():
            options = index("rows", rows, 0, 2**32 - 1), index("block", block, 1), is_full(precision)
        self._core = _core.DistributedMatrices(self.device._core, *options, bool(look_ahead))
        self.block = options[1]

    @property
    def grid(self) -> Tuple[int, int]:
        """Rows and columns of the grid."""
        return self._core.grid

    def rows(self, m: int) -> Ints:
        """Which rows of a matrix with m of them this rank has."""
        return np.array(self._core.rows(index("m", m)), np.int64)

    def columns(self, n: int) -> Ints:
        """Which columns of a matrix with n of them this rank has."""
        return np.array(self._core.columns(index("n", n)), np.int64)

    @property
    def times(self) -> GridTimes:
        """Where the time of ``lu`` and ``solve`` went on this rank."""
        return GridTimes(*self._core.times)

    # -- matrices ------------------------------------------------------------------------------

    def zeros(self, shape: Tuple[int, int]) -> DistributedMatrix:
        """A matrix of zeros."""
        return DistributedMatrix(self, _shape(shape))

    def from_array(self, a: Any) -> DistributedMatrix:
        """Every rank gives the whole matrix, and keeps its part."""
        with self.device._together():
            whole = floats("a", a, ("m", "n"))
        made = self.zeros((whole.shape[0], whole.shape[1]))
        made.local[...] = whole[np.ix_(made.rows, made.columns)]
        return made

    def from_function(
        self, shape: Tuple[int, int], function: Callable[[Ints, Ints], Any]
    ) -> DistributedMatrix:
        """Elements from their places: ``function(i, j)`` is called once, with this rank's rows as a
        column (r, 1) and its columns as a row (1, c), and gives what broadcasts to (r, c)."""
        with self.device._together():
            made = self.zeros(shape)
            values = as_array("function", function(made.rows[:, None], made.columns[None, :]))
            try:
                made.local[...] = values
            except ValueError:
                raise ValueError(
                    f"function: shape {made.local.shape} is wanted, not {values.shape}"
                ) from None
        return made

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
        """``alpha a b + beta out``, a matrix of this grid; collective."""
        with self.device._together():
            x, y = self._check("a", a), self._check("b", b)
            (m, k), (rows, n) = a.shape, b.shape
            if rows != k:
                raise ValueError(f"b: {k} rows are wanted, as a has columns, not {rows}")
            factor, keep = number("alpha", alpha), number("beta", beta)
            if out is None and keep != 0:
                raise ValueError("out: beta is not 0, so the matrix that it multiplies is wanted")
            result = self.zeros((m, n)) if out is None else out
            to = self._check("out", result)
            if result.shape != (m, n):
                raise ValueError(f"out: shape {(m, n)} is wanted, not {result.shape}")
            if not to.flags.writeable:
                raise ValueError("out: the array is read-only")
            check_apart("out", to, {"a": x, "b": y})
        self._core.multiply(m, n, k, factor, x, y, keep, to)
        return result

    def lu(self, a: DistributedMatrix, *, overwrite_a: bool = False) -> DistributedLU:
        """Factorise the first n columns of a matrix (n, n) or wider, with partial pivoting; further
        columns become L^-1 P times what they were. Collective."""
        with self.device._together():
            check_finite("a", self._check("a", a))
            n, extra = a.shape[0], a.shape[1] - a.shape[0]
            if extra < 0:
                raise ValueError(f"a: at least {n} columns are wanted, not {a.shape[1]}")
            factors = a if overwrite_a and a.local.flags.writeable else a.copy()
        pivots = np.zeros(n, np.int64)
        singular = self._core.lu(n, extra, factors.local, pivots)
        return DistributedLU(factors, pivots, singular)

    def solve(self, a: DistributedMatrix, b: Any) -> Floats:
        """x with ``a x = b``, on every rank; a of shape (n, n), b of shape (n,), the same on all.

        Collective. Raises LinAlgError for a singular matrix.
        """
        with self.device._together():
            local = self._check("a", a)
            check_finite("a", local)
            n = a.shape[0]
            if a.shape != (n, n):
                raise ValueError(f"a: a square matrix is wanted, not one of shape {a.shape}")
            right = floats("b", b, (n,))
            check_finite("b", right)
            both = self.zeros((n, n + 1))
            both.local[:, : local.shape[1]] = local
            both.local[:, both.columns == n] = right[both.rows][:, None]
        try:
            return self._core.solve(n, both.local)
        except InputError as error:
            raise on_all_ranks(LinAlgError(str(error)), error) from None

    # -- internals -----------------------------------------------------------------------------

    def _check(self, name: str, matrix: DistributedMatrix) -> Floats:
        """This rank's part, as the library takes it."""
        if not isinstance(matrix, DistributedMatrix):
            what = type(matrix).__name__
            raise TypeError(f"{name}: a DistributedMatrix is wanted, not {what}")
        if matrix.grid is not self:
            raise ValueError(f"{name}: it is a matrix of another grid")
        own = (len(matrix.rows), len(matrix.columns))
        local = floats(f"{name}.local", matrix.local, own)
        if not local.flags.f_contiguous or local is not matrix.local:
            raise ValueError(f"{name}.local: float64, Fortran-contiguous, is wanted; fill it in place")
        return local

    def _whole(self, matrix: DistributedMatrix) -> Floats:
        with self.device._together():
            local = self._check("matrix", matrix)
        (m, n), (grid_rows, grid_columns) = matrix.shape, self.grid
        places = [
            (_dealt(m, self.block, r, grid_rows), _dealt(n, self.block, c, grid_columns))
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
        return f"<gdr.linalg.DistributedMatrices on {rows} x {columns} ranks, block {self.block}>"


def _dealt(n: int, block: int, place: int, places: int) -> Ints:
    """Of n rows or columns those that a row or column of the grid has."""
    every = np.arange(n)
    own: Ints = every[every // block % places == place]
    return own


def _shape(shape: Any) -> Tuple[int, int]:
    try:
        rows, columns = shape
    except (TypeError, ValueError):
        raise TypeError(f"shape: two numbers are wanted, not {shape!r}") from None
    return index("shape[0]", rows), index("shape[1]", columns)
