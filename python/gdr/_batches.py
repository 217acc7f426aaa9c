"""Stacks of small matrices: each in an element of a PE, thousands side by side."""

from __future__ import annotations

from typing import Any, List, Optional, Union

import numpy as np

from . import _core
from ._arrays import Floats, Ints, as_array, check_finite, check_shape, floats
from ._device import Device, pick
from ._matrices import LinAlgError, PerDevice, is_full

WORDS_OF_PE = 256  # that the matrices of one problem share

_small = PerDevice()


def _core_of(device: Device, full: bool) -> _core.SmallMatrices:
    return _small.get(device, full, lambda: _core.SmallMatrices(device._core, full))


def fits_a_pe(m: int, k: int, n: int) -> bool:
    """Whether (m, k) times (k, n) has room in a PE."""
    return m * k + k * n + m * n <= WORDS_OF_PE


def batch_matmul(
    a: Any, b: Any, *, precision: str = "full", device: Optional[Device] = None
) -> Floats:
    """Products (count, m, k) times (count, k, n), thousands side by side, as float64.

    ``m k + k n + m n <= 256``; UsageError says so otherwise. ``precision``: "full" multiplies all 53
    bits of the factors, "chip" the leading 50, in up to a fourth of the clocks.
    """
    full, chosen = is_full(precision), pick(device)
    x = np.ascontiguousarray(floats("a", a, ("count", "m", "k")))
    y = np.ascontiguousarray(floats("b", b, ("count", "k", "n")))
    check_shape("b", y, (x.shape[0], x.shape[2], "n"))
    out = np.zeros((x.shape[0], x.shape[1], y.shape[2]))
    if out.size and x.size:
        _core_of(chosen, full).multiply(x, y, out)
    return out


class BatchLU:
    """Factors of a stack of matrices; ``batch_lu`` makes it."""

    def __init__(
        self, transposed: Floats, pivots: Ints, singular: int, small: _core.SmallMatrices
    ) -> None:
        self._transposed, self.singular_count = transposed, singular
        self._pivots, self._small = pivots, small

    @property
    def pivots(self) -> Ints:
        """(count, n): row i of a matrix was exchanged with row ``pivots[..., i]``, in this order."""
        return self._pivots.reshape(self._transposed.shape[:2])

    @property
    def factors(self) -> Floats:
        """(count, n, n): of each, L below the diagonal without its ones, U on and above it."""
        return self._transposed.transpose(0, 2, 1)

    def solve(self, b: Any) -> Floats:
        """x with ``A x = b`` of each; b of shape (count, n) or (count, n, k). Raises LinAlgError."""
        count, n, _ = self._transposed.shape
        vector = as_array("b", b).ndim == 2
        shape: List[Union[int, str]] = [count, n] if vector else [count, n, "k"]
        array = floats("b", b, shape)
        check_finite("b", array)
        if self.singular_count:
            raise LinAlgError(f"{self.singular_count} of the matrices are singular")
        sides = array[:, :, None] if vector else array
        rows = np.array(sides.transpose(0, 2, 1), order="C", copy=True)
        if rows.size:
            self._small.solve(self._transposed, self._pivots, rows)
        return rows[:, 0, :] if vector else rows.transpose(0, 2, 1)


def batch_lu(a: Any, *, precision: str = "full", device: Optional[Device] = None) -> BatchLU:
    """LU of each of (count, n, n), n up to 15, side by side; ``precision`` as in ``batch_matmul``."""
    full, chosen = is_full(precision), pick(device)
    array = floats("a", a, ("count", "n", "n"))
    check_shape("a", array, (array.shape[0], "n", array.shape[1]))
    check_finite("a", array)
    transposed = np.array(array.transpose(0, 2, 1), order="C", copy=True)
    pivots = np.zeros(array.shape[0] * array.shape[1], np.int64)
    small = _core_of(chosen, full)
    singular = small.lu(transposed, pivots) if transposed.size else 0
    return BatchLU(transposed, pivots, singular, small)


def batch_solve(
    a: Any, b: Any, *, precision: str = "full", device: Optional[Device] = None
) -> Floats:
    """x with ``a x = b`` of each: (count, n, n) and (count, n) or (count, n, k).

    Raises LinAlgError where some are singular.
    """
    return batch_lu(a, precision=precision, device=device).solve(b)
