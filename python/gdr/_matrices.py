"""What the functions of gdr.linalg share: matrices as the library takes them, and their errors."""

from __future__ import annotations

import weakref
from typing import Any, Callable, Dict, Hashable, List, Tuple, TypeVar, Union

import numpy as np

from ._arrays import AnyArray, Floats, as_array, check_apart, check_finite, check_shape
from ._arrays import choice, floats
from ._device import Device
from .errors import InputError


class LinAlgError(InputError, np.linalg.LinAlgError):
    """A matrix that is singular, or not positive definite.

    It is NumPy's ``LinAlgError``, an ``InputError`` and with that a ``ValueError``.
    """


Made = TypeVar("Made")


class PerDevice:
    """What is made once for a device and some options, and goes with the device."""

    def __init__(self) -> None:
        self._made: "weakref.WeakKeyDictionary[Device, Dict[Hashable, Any]]"
        self._made = weakref.WeakKeyDictionary()

    def get(self, device: Device, options: Hashable, make: Callable[[], Made]) -> Made:
        """The one with these options; made now if there is none."""
        known = self._made.setdefault(device, {})
        if options not in known:
            known[options] = make()
        made: Made = known[options]
        return made


def is_full(precision: str) -> bool:
    """Whether all 53 bits of factors count: "full", or "chip" for the leading 50."""
    return choice("precision", precision, ("chip", "full")) == "full"


def packed(array: AnyArray) -> bool:
    """Whether rows or columns are packed, with positive strides and no overlaps."""
    rows, columns = array.shape
    down, across = array.strides
    one = array.itemsize

    def fits(packed: int, length: int, apart: int, count: int) -> bool:
        return (length <= 1 or packed == one) and (
            count <= 1 or (apart >= one * length and apart % one == 0)
        )

    return fits(across, columns, down, rows) or fits(down, rows, across, columns)


def is_single(array: AnyArray) -> bool:
    """float32, in any order of bytes."""
    return array.dtype.kind == "f" and array.dtype.itemsize == 4


def matrix(name: str, value: Any, single: bool = False) -> AnyArray:
    """A matrix of float64 (or float32) as the library takes it, without a copy where it lies well."""
    array: AnyArray
    if single:
        array = as_array(name, value)
        check_shape(name, array, ("m", "n"))
        array = array.astype(np.float32, copy=False)
    else:
        array = floats(name, value, ("m", "n"))
    return array if packed(array) else np.ascontiguousarray(array)


def square(name: str, value: Any) -> Floats:
    """A square matrix of float64."""
    array = floats(name, value, ("n", "n"))
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name}: a square matrix is wanted, not one of shape {array.shape}")
    return array


def check_triangle(name: str, array: Floats, lower: bool, unit: bool = False) -> None:
    """Raise ValueError for a NaN or an infinity in the triangle that is read."""
    finite = np.isfinite(array)
    if finite.all():
        return
    keep = (np.tril if lower else np.triu)(~finite, (-1 if lower else 1) if unit else 0)
    check_finite(name, np.where(keep, array, 0.0))


def right_sides(b: Any, n: int, overwrite: bool, row: bool = False) -> Tuple[Floats, bool]:
    """Right sides to work on, by columns, and whether b is a vector.

    They are b itself where that is allowed and possible. ``row``: a vector is a matrix of one row.
    """
    vector = as_array("b", b).ndim == 1
    shape: List[Union[int, str]] = [n] if vector else (["k", n] if row else [n, "k"])
    array = floats("b", b, shape)
    check_finite("b", array)
    if vector:
        array = array[None, :] if row else array[:, None]
    return to_work_on(array, overwrite), vector


def to_work_on(array: Floats, overwrite: bool) -> Floats:
    """A copy by columns; the array itself where it may be overwritten and is by columns."""
    if overwrite and array.flags.f_contiguous and array.flags.writeable:
        return array
    return np.array(array, order="F", copy=True)


def check_out(out: Any, shape: Tuple[int, ...], dtype: Any, factors: Tuple[AnyArray, ...]) -> None:
    """Raise TypeError or ValueError where a result cannot go where the caller wants it."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out: a NumPy array is wanted, not {type(out).__name__}")
    if out.dtype != dtype:
        raise TypeError(f"out: {np.dtype(dtype)} is wanted, not {out.dtype}")
    check_shape("out", out, shape)
    if not out.flags.writeable:
        raise ValueError("out: the array is read-only")
    if not packed(out):
        raise ValueError("out: neither its rows nor its columns are contiguous")
    check_apart("out", out, dict(zip("ab", factors)))
