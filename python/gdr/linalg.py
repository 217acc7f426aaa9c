"""Dense linear algebra on a device: products, LU, Cholesky, triangular solves, batches of small
matrices, and distributed matrices.

Matrices are NumPy arrays of real numbers. C- and Fortran-ordered arrays are read in place; arrays
with neither contiguous rows nor contiguous columns are copied. Products use the leading 50 bits of
each factor (``precision="chip"``) or all 53 (``"full"``, the default); sums have 61 bits. Products
of two float32 arrays are float32; linear systems are solved in float64. A matrix that is singular
or not positive definite raises ``LinAlgError``, which is also NumPy's.
"""

from __future__ import annotations

from ._distributed import DistributedLU, DistributedMatrices, DistributedMatrix, GridTimes
from ._factors import LU, Cholesky, cholesky, lu, solve, solve_triangular
from ._matrices import LinAlgError
from ._products import BatchLU, MatrixProduct, batch_lu, batch_matmul, batch_solve
from ._products import matmul, operator

__all__ = [
    "BatchLU",
    "Cholesky",
    "DistributedLU",
    "DistributedMatrices",
    "DistributedMatrix",
    "GridTimes",
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
