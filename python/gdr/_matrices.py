"""Shared helpers of gdr.linalg: checks and layouts of matrices, errors."""

from __future__ import annotations

from typing import Any, Callable, List, Tuple, Union

import numpy as np

from ._arrays import AnyArray, Floats, as_array, check_finite, check_shape, choice, floats, number
from ._system import require
from .errors import InputError


class LinAlgError(InputError, np.linalg.LinAlgError):
    """A matrix is singular or not positive definite.

    Also NumPy's ``LinAlgError``, an ``InputError`` and a ``ValueError``.

    Examples:
        >>> linalg.solve(np.zeros((2, 2)), np.ones(2))
        Traceback (most recent call last):
            ...
        gdr._matrices.LinAlgError: the matrix is singular: pivot 0 is zero
    """


def full_precision(precision: str) -> bool:
    """Whether all 53 bits of factors are used ("full") or the leading 50 ("chip")."""
    return choice("precision", precision, ("chip", "full")) == "full"


def is_packed(array: AnyArray) -> bool:
    """Whether rows or columns are contiguous, with positive strides and without overlap."""
    rows, columns = array.shape
    down, across = array.strides
    one = array.itemsize

    def fits(packed: int, length: int, apart: int, count: int) -> bool:
        return (length <= 1 or packed == one) and (
            count <= 1 or (apart >= one * length and apart % one == 0)
        )

    return fits(across, columns, down, rows) or fits(down, rows, across, columns)


def is_single(array: AnyArray) -> bool:
    """Whether the type is float32, in any byte order."""
    return array.dtype.kind == "f" and array.dtype.itemsize == 4


def matrix(name: str, value: Any, single: bool = False) -> AnyArray:
    """Convert to a float64 (or float32) matrix with contiguous rows or columns; copies only if
    necessary."""
    array: AnyArray
    if single:
        array = as_array(name, value).astype(np.float32, copy=False)
        check_shape(name, array, ("m", "n"))
    else:
        array = floats(name, value, ("m", "n"))
    return array if is_packed(array) else np.ascontiguousarray(array)


def square(name: str, value: Any) -> Floats:
    """Convert to a square float64 matrix."""
    array = floats(name, value, ("n", "n"))
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name}: expected a square matrix, got shape {array.shape}")
    return array


def check_triangle(name: str, array: Floats, lower: bool, unit: bool = False) -> None:
    """Raise ValueError for a NaN or an infinity in the selected triangle."""
    finite = np.isfinite(array)
    if finite.all():
        return
    keep = (np.tril if lower else np.triu)(~finite, (-1 if lower else 1) if unit else 0)
    check_finite(name, np.where(keep, array, 0.0))


def right_hand_sides(b: Any, n: int, overwrite: bool, row: bool = False) -> Tuple[Floats, bool]:
    """Right-hand sides as a Fortran-ordered workspace, and whether b is a vector.

    The workspace is b itself if ``overwrite`` and its layout allow. ``row``: treat a vector as a
    matrix of one row.
    """
    vector = as_array("b", b).ndim == 1
    shape: List[Union[int, str]] = [n] if vector else (["k", n] if row else [n, "k"])
    array = floats("b", b, shape)
    check_finite("b", array)
    if vector:
        array = array[None, :] if row else array[:, None]
    return workspace(array, overwrite), vector


def workspace(array: Floats, overwrite: bool) -> Floats:
    """A Fortran-ordered copy, or the array itself if it has that order and may be overwritten."""
    if overwrite and array.flags.f_contiguous and array.flags.writeable:
        return array
    return np.array(array, order="F", copy=True)


def product_factors(alpha: Any, beta: Any, out: Any) -> Tuple[float, float]:
    """The numbers of ``alpha a b + beta out``; ValueError if ``out`` is missing."""
    factors = number("alpha", alpha), number("beta", beta)
    if out is None and factors[1] != 0:
        raise ValueError("out: required because beta is not 0")
    return factors


def linear_operator(
    shape: Tuple[int, ...], dtype: Any, apply: Callable[..., Any], transposed: Callable[..., Any]
) -> Any:
    """SciPy's LinearOperator of functions that take vectors (n,) or matrices (n, k)."""
    return require("scipy.sparse.linalg", "a LinearOperator").LinearOperator(
        shape, matvec=apply, matmat=apply, rmatvec=transposed, rmatmat=transposed, dtype=dtype
    )
