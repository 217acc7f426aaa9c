"""Arguments as arrays: what is wrong is named by argument, and nothing is copied without need."""

from __future__ import annotations

import operator
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


def shape_text(shape: Sequence[Union[int, str]]) -> str:
    """``(n, 3)`` for people."""
    return "(" + ", ".join(str(s) for s in shape) + ("," if len(shape) == 1 else "") + ")"


def as_array(name: str, value: Any) -> AnyArray:
    """Whatever NumPy makes an array of numbers of; TypeError or ValueError name the argument.

    Lists, scalars and objects with ``__array__`` or a buffer are taken; a masked array only where
    nothing is masked, as what lies under a mask is no value.
    """
    if value is None:
        raise TypeError(f"{name}: an array is wanted, not None")
    mask = getattr(value, "mask", None) if isinstance(value, np.ma.MaskedArray) else None
    if mask is not None and np.any(mask):
        place = ", ".join(str(i) for i in np.argwhere(mask)[0])
        raise ValueError(f"{name}[{place}] is masked; fill in values, or leave it out")
    try:
        array = np.asarray(value)
    except Exception as error:
        raise TypeError(f"{name}: this is no array of numbers ({error})") from None
    if array.dtype.kind == "c":
        raise TypeError(f"{name}: real numbers are wanted, not {array.dtype}")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: an array of numbers is wanted, not of {array.dtype}")
    return array


def check_finite(name: str, array: AnyArray) -> None:
    """Raise ValueError naming the first element that is a NaN or an infinity."""
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        what = "not a number" if np.isnan(array[index]) else "infinite"
        place = ", ".join(str(i) for i in index)
        raise ValueError(f"{name}[{place}] is {what}")


def floats(name: str, value: Any, shape: Sequence[Union[int, str]]) -> Floats:
    """An array of float64 with that shape, as it is if it has that type already.

    A letter in ``shape`` stands for any length. Integers and smaller floats become float64; what
    would lose bits (longdouble, complex) is a TypeError, a wrong shape a ValueError.
    """
    array = as_array(name, value)
    if not np.can_cast(array.dtype, np.float64, "safe"):
        raise TypeError(f"{name}: float64 cannot hold {array.dtype}; convert it yourself")
    check_shape(name, array, shape)
    return doubles(name, array)


def doubles(name: str, array: AnyArray) -> Floats:
    """An array of numbers as float64; ValueError for an integer that float64 does not hold."""
    converted: Floats = array.astype(np.float64, copy=False)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        for place in np.argwhere(np.abs(converted) >= 2.0**53):
            value = int(array[tuple(place)])
            if int(converted[tuple(place)]) != value:
                where = ", ".join(str(i) for i in place)
                raise ValueError(f"{name}[{where}] is {value}, which float64 does not hold")
    return converted


def ints(name: str, value: Any, shape: Sequence[Union[int, str]]) -> Ints:
    """An array of int64 with that shape; floats are a TypeError."""
    array = as_array(name, value)
    if not np.can_cast(array.dtype, np.int64, "safe"):
        raise TypeError(f"{name}: integers are wanted, not {array.dtype}")
    check_shape(name, array, shape)
    return array.astype(np.int64, copy=False)


def check_shape(name: str, array: AnyArray, shape: Sequence[Union[int, str]]) -> None:
    """Raise ValueError naming the argument, what is wanted and what was given."""
    good = array.ndim == len(shape) and all(
        isinstance(want, str) or have == want for have, want in zip(array.shape, shape)
    )
    if not good:
        raise ValueError(
            f"{name}: shape {shape_text(shape)} is wanted, not {shape_text(array.shape)}"
        )


def result(
    name: str,
    out: Optional[AnyArray],
    shape: Sequence[int],
    dtype: npt.DTypeLike = np.float64,
) -> AnyArray:
    """The array a result goes to: a new one, or the caller's, which must fit as it is."""
    if out is None:
        return np.empty(tuple(shape), dtype)
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name}: a NumPy array is wanted, not {type(out).__name__}")
    if out.dtype != np.dtype(dtype):
        raise TypeError(f"{name}: {np.dtype(dtype)} is wanted, not {out.dtype}")
    check_shape(name, out, shape)
    if not out.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    if not out.flags.c_contiguous:
        raise ValueError(f"{name}: the array is not C-contiguous")
    return out


def check_apart(name: str, out: AnyArray, others: Mapping[str, AnyArray]) -> None:
    """Raise ValueError where a result lies in the memory of another argument."""
    for other, array in others.items():
        if np.may_share_memory(out, array) and np.shares_memory(out, array):
            raise ValueError(f"{name}: it overlaps {other}")


def number(name: str, value: Any) -> float:
    """One finite number."""
    try:
        if isinstance(value, (str, bytes, bool)) or value is None or np.ndim(value) != 0:
            raise TypeError
        one = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name}: a number is wanted, not {type(value).__name__}") from None
    if not np.isfinite(one):
        raise ValueError(f"{name}: the number must be finite, it is {one}")
    return one


def index(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """One integer of a range: of Python or NumPy, but no bool."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        one = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: an integer is wanted, not {type(value).__name__}") from None
    if one < least:
        raise ValueError(f"{name}: at least {least} is wanted, not {one}")
    if one > most:
        raise ValueError(f"{name}: at most {most} is wanted, not {one}")
    return one


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """One of some words; ValueError lists them."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}: one of {', '.join(map(repr, known))} is wanted, not {value!r}")
    return value


def text_of(name: str, value: Any) -> str:
    """A string that is text, not bytes of a file name that have no letters."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: a string is wanted, not {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}: this is no text ({error.reason})") from None
    return value
