"""Dense matrices on a device: products, LU, Cholesky, solves, stacks of small matrices, and matrices
dealt out over many ranks.

Matrices are NumPy arrays of real numbers, C- or Fortran-ordered: both are read where they lie; what
has neither packed rows nor packed columns is copied. Products see the leading 50 bits of each factor
(``precision="chip"``) or all 53 (``"full"``, the default); sums have 61. Two arrays of float32 are
multiplied in float32; equations are solved in float64 whatever is given. What is singular, or not
positive definite, is a ``LinAlgError``, which is NumPy's, too.
"""

from __future__ import annotations

from ._batches import BatchLU, batch_lu, batch_matmul, batch_solve
from ._distributed import DistributedLU, DistributedMatrices, DistributedMatrix, GridTimes
from ._factors import LU, Cholesky, cholesky, lu, solve, solve_triangular
from ._matrices import LinAlgError
from ._products import MatrixProduct, matmul, operator

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
