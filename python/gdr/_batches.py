"""Batches of small matrices, each on one element of a PE, thousands in parallel."""

from __future__ import annotations

from typing import Any, List, Optional, Union

import numpy as np

from . import _core
from ._arrays import Floats, Ints, as_array, check_finite, check_shape, floats
from ._open import Device, device_or_default
from ._matrices import DeviceCache, LinAlgError, full_precision

PE_WORDS = 256  # local words for all matrices of one problem

_cores = DeviceCache()


def _core_for(device: Device, full: bool) -> _core.BatchedMatrices:
    return _cores.get(device, full, lambda: _core.BatchedMatrices(device._core, full))


def fits_a_pe(m: int, k: int, n: int) -> bool:
    """Whether the product of (m, k) and (k, n) fits the local memory of a PE."""
    return m * k + k * n + m * n <= PE_WORDS


def batch_matmul(
    a: Any, b: Any, *, precision: str = "full", device: Optional[Device] = None
) -> Floats:
    """Batched product of (count, m, k) and (count, k, n), as float64.

    Raises UsageError unless ``m k + k n + m n <= 256``. ``precision``: "full" multiplies all 53
    bits of the factors, "chip" the leading 50 in as few as a quarter of the clocks.
    """
    full, chosen = full_precision(precision), device_or_default(device)
    x = np.ascontiguousarray(floats("a", a, ("count", "m", "k")))
    y = np.ascontiguousarray(floats("b", b, ("count", "k", "n")))
    check_shape("b", y, (x.shape[0], x.shape[2], "n"))
    out = np.zeros((x.shape[0], x.shape[1], y.shape[2]))
    if out.size and x.size:
        _core_for(chosen, full).multiply(x, y, out)
    return out


class BatchLU:
    """LU factors of a batch of matrices, from ``batch_lu``."""

    def __init__(
        self, transposed: Floats, pivots: Ints, singular: int, core: _core.BatchedMatrices
    ) -> None:
        self._transposed, self.singular_count = transposed, singular
        self._pivots, self._core = pivots, core

    @property
    def pivots(self) -> Ints:
        """Row interchanges, (count, n): row i was swapped with row ``pivots[..., i]``, in order of
        i."""
        return self._pivots.reshape(self._transposed.shape[:2])

    @property
    def factors(self) -> Floats:
        """Factors, (count, n, n): L below the diagonal (unit diagonal not stored), U above."""
        return self._transposed.transpose(0, 2, 1)

    def solve(self, b: Any) -> Floats:
        """Solve ``A x = b`` for every matrix; b of shape (count, n) or (count, n, k). Raises
        LinAlgError if a matrix is singular."""
        count, n, _ = self._transposed.shape
        vector = as_array("b", b).ndim == 2
        shape: List[Union[int, str]] = [count, n] if vector else [count, n, "k"]
        array = floats("b", b, shape)
        check_finite("b", array)
        if self.singular_count:
            raise LinAlgError(f"{self.singular_count} of the matrices are singular")
        columns = array[:, :, None] if vector else array
        rows = np.array(columns.transpose(0, 2, 1), order="C", copy=True)
        if rows.size:
            self._core.solve(self._transposed, self._pivots, rows)
        return rows[:, 0, :] if vector else rows.transpose(0, 2, 1)


def batch_lu(a: Any, *, precision: str = "full", device: Optional[Device] = None) -> BatchLU:
    """Batched LU factorisation of (count, n, n), n at most 15; ``precision`` as in
    ``batch_matmul``."""
    full, chosen = full_precision(precision), device_or_default(device)
    array = floats("a", a, ("count", "n", "n"))
    check_shape("a", array, (array.shape[0], "n", array.shape[1]))
    check_finite("a", array)
    transposed = np.array(array.transpose(0, 2, 1), order="C", copy=True)
    pivots = np.zeros(array.shape[0] * array.shape[1], np.int64)
    core = _core_for(chosen, full)
    singular = core.lu(transposed, pivots) if transposed.size else 0
    return BatchLU(transposed, pivots, singular, core)


def batch_solve(
    a: Any, b: Any, *, precision: str = "full", device: Optional[Device] = None
) -> Floats:
    """Solve ``a x = b`` for every matrix: (count, n, n) and (count, n) or (count, n, k).

    Raises LinAlgError if a matrix is singular.
    """
    return batch_lu(a, precision=precision, device=device).solve(b)
