"""Argument checks and conversions to arrays, without unnecessary copies."""

from __future__ import annotations

import math
import operator
from typing import Any, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._array_kinds import numpy_view
from ._units import refuse_units

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
AnyArray = npt.NDArray[Any]


def check_type(name: str, value: Any, kinds: Any, expected: str) -> None:
    """Raise TypeError unless the argument is an instance of ``kinds``."""
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {expected}, got {type(value).__name__}")


def shape_text(shape: Sequence[Union[int, str]]) -> str:
    """A shape as text: ``(n, 3)``."""
    return "(" + ", ".join(str(s) for s in shape) + ("," if len(shape) == 1 else "") + ")"


def as_array(name: str, value: Any, *, complex_too: bool = False) -> AnyArray:
    """Convert an argument to an array of numbers; TypeError or ValueError name the argument.

    Accepts lists, scalars, arrays of other libraries (``_array_kinds``), objects with ``__array__``
    or a buffer, and masked arrays without masked elements; no quantities, because the conversion
    would drop their unit. Truth values become the integers 0 and 1. Complex numbers are refused unless
    ``complex_too`` is true.
    """
    if value is None:
        raise TypeError(f"{name}: expected an array, got None")
    refuse_units(name, value)
    value = numpy_view(name, value)
    try:
        array = np.asarray(getattr(value, "unmasked", value))
    except Exception as error:
        raise TypeError(f"{name}: not an array of numbers ({error})") from None
    if array.dtype.kind == "O" and hasattr(value, "to_numpy") and hasattr(value, "dtypes"):
        array = _nullable(name, value)
    if array.dtype.names is not None:
        array = _fields(name, array)
    if array.dtype.kind == "b":
        array = array.view(np.int8)
    if array.dtype.kind == "c" and not complex_too:
        raise TypeError(f"{name}: expected real numbers, got {array.dtype}")
    if array.dtype.kind not in "iufc":
        hint = "; convert it with astype(float)" if array.dtype.kind == "O" else ""
        raise TypeError(f"{name}: expected an array of numbers, got {array.dtype}{hint}")
    return array


def _fields(name: str, array: AnyArray) -> AnyArray:
    """The fields of a structured array as the columns of an array, as ``table[["x", "y", "z"]]``."""
    from numpy.lib import recfunctions

    kinds = {field: kind[0] for field, kind in (array.dtype.fields or {}).items()}
    other = [field for field, kind in kinds.items() if kind.kind not in "iufb" or kind.shape]
    if other:
        raise TypeError(
            f"{name}: expected an array of numbers, got a table whose column {other[0]!r} is "
            f"{kinds[other[0]]}; choose the columns: table[['x', 'y', 'z']]"
        )
    columns: AnyArray = recfunctions.structured_to_unstructured(array)
    return columns


def _nullable(name: str, column: Any) -> AnyArray:
    """The numbers of a column of pandas with a type that has missing values, as ``Int64``."""
    dtypes = column.dtypes  # of a column one, of several columns each
    kinds = [dtypes] if hasattr(dtypes, "kind") else list(dtypes)
    missing = column.isna().to_numpy()
    if missing.any():
        place = ", ".join(str(i) for i in np.argwhere(missing)[0])
        raise ValueError(f"{name}[{place}] is missing; fill in a value or remove the element")
    if any(getattr(kind, "kind", "O") not in "iufb" for kind in kinds):
        raise TypeError(f"{name}: expected numbers, got {', '.join(sorted(set(map(str, kinds))))}")
    integers = all(kind.kind in "iub" for kind in kinds)
    array: AnyArray = column.to_numpy(dtype=np.int64 if integers else np.float64)
    return array


def check_finite(name: str, array: AnyArray, complex_parts: bool = False) -> None:
    """Raise ValueError naming the first element that is a NaN or an infinity. The last index may
    count the parts of complex numbers."""
    finite = np.isfinite(array)
    if not finite.all():
        first = tuple(int(i) for i in np.argwhere(~finite)[0])
        what = "not a number" if np.isnan(array[first]) else "infinite"
        place = ", ".join(str(i) for i in (first[:-1] if complex_parts else first))
        raise ValueError(f"{name}[{place}] is {what}")


def floats(name: str, value: Any, shape: Sequence[Union[int, str]]) -> Floats:
    """Convert to an array of float64 with this shape, without a copy if it has that type.

    A letter in ``shape`` matches any length. Integers and smaller floats become float64; a type
    that float64 cannot represent (longdouble, complex) is a TypeError, a wrong shape a ValueError.
    """
    array = as_array(name, value)
    if not np.can_cast(array.dtype, np.float64, "safe"):
        raise TypeError(f"{name}: float64 cannot represent {array.dtype}; convert the array first")
    check_shape(name, array, shape)
    return to_float64(name, array)


def to_float64(name: str, array: AnyArray) -> Floats:
    """Convert to float64; ValueError for an integer that float64 cannot represent."""
    converted: Floats = array.astype(np.float64, copy=False)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        for place in np.argwhere(np.abs(converted) >= 2.0**53):
            value = int(array[tuple(place)])
            if int(converted[tuple(place)]) != value:
                where = ", ".join(str(i) for i in place)
                raise ValueError(f"{name}[{where}] is {value}, which float64 cannot represent")
    return converted


def ints(name: str, value: Any, shape: Sequence[Union[int, str]]) -> Ints:
    """Convert to an array of int64 with this shape; floats are a TypeError, unsigned integers from
    2^63 on a ValueError. A list without elements has integers."""
    array = as_array(name, value)
    if array.dtype == np.uint64:
        large = np.argwhere(array >= 2**63)
        if len(large):
            place = ", ".join(str(i) for i in large[0])
            raise ValueError(f"{name}[{place}] is {array[tuple(large[0])]}; expected less than 2^63")
    elif array.size > 0 and not np.can_cast(array.dtype, np.int64, "safe"):
        raise TypeError(f"{name}: expected integers, got {array.dtype}")
    check_shape(name, array, shape)
    return array.astype(np.int64, copy=False)


def check_shape(name: str, array: AnyArray, shape: Sequence[Union[int, str]]) -> None:
    """Raise ValueError with the argument, its shape and the expected shape."""
    good = array.ndim == len(shape) and all(
        isinstance(want, str) or have == want for have, want in zip(array.shape, shape)
    )
    if not good:
        raise ValueError(
            f"{name}: expected shape {shape_text(shape)}, got {shape_text(array.shape)}"
        )


def check_writable(name: str, out: Any, shape: Sequence[int], dtype: npt.DTypeLike) -> None:
    """Raise TypeError or ValueError for a result array of wrong type or shape, or read-only."""
    refuse_units(name, out)
    check_type(name, out, np.ndarray, "a NumPy array")
    if out.dtype != np.dtype(dtype):
        raise TypeError(f"{name}: expected {np.dtype(dtype)}, got {out.dtype}")
    check_shape(name, out, shape)
    if not out.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")


def check_no_overlap(name: str, out: AnyArray, others: Mapping[str, AnyArray]) -> None:
    """Raise ValueError if a result shares memory with another argument."""
    for other, array in others.items():
        if np.may_share_memory(out, array) and np.shares_memory(out, array):
            raise ValueError(f"{name}: overlaps {other}")


def number(
    name: str, value: Any, *, least: float = -np.inf, above: float = -np.inf, most: float = np.inf
) -> float:
    """One finite number; ValueError unless ``least <= number <= most`` and ``number > above``."""
    if type(value) is float and math.isfinite(value) and above < value and least <= value <= most:
        return value  # in a tenth of the time
    refuse_units(name, value)
    kind = value.dtype.kind if isinstance(value, (np.generic, np.ndarray)) else ""
    try:
        if isinstance(value, (str, bytes, bool)) or value is None or np.ndim(value) != 0:
            raise TypeError
        if kind and kind not in "iuf":  # NumPy's bool, complex, str have __float__, too
            raise TypeError
        one = float(value)
    except OverflowError:
        raise ValueError(f"{name}: the number is out of the range of float64") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {type(value).__name__}") from None
    if not np.isfinite(one):
        raise ValueError(f"{name}: expected a finite number, got {one}")
    if one < least:
        raise ValueError(f"{name}: expected at least {least:g}, got {one}")
    if one <= above:
        raise ValueError(f"{name}: expected a number above {above:g}, got {one}")
    if one > most:
        raise ValueError(f"{name}: expected at most {most:g}, got {one}")
    return one


def integer(name: str, value: Any, least: int = 0, most: int = 2**63 - 1) -> int:
    """One integer in a range; a bool is a TypeError."""
    refuse_units(name, value)
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        one = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, got {type(value).__name__}") from None
    if one < least:
        raise ValueError(f"{name}: expected at least {least}, got {one}")
    if one > most:
        raise ValueError(f"{name}: expected at most {most}, got {one}")
    return one


def indices(name: str, value: Any) -> "npt.NDArray[np.int32]":
    """A one-dimensional array of integers from 0 to 2^31 - 1."""
    refuse_units(name, value)
    array = np.asarray(value)
    if array.size > 0 and array.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers, got {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name}: expected shape (n,), got {shape_text(array.shape)}")
    if array.size > 0 and (array.min() < 0 or array.max() > 2**31 - 1):
        raise ValueError(f"{name}: expected integers from 0 to {2**31 - 1}")
    return np.ascontiguousarray(array, np.int32)


def choice(name: str, value: Any, known: Sequence[str]) -> str:
    """One of the known strings; ValueError lists them."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, known))}, got {value!r}")
    return value


def check_text(name: str, value: Any) -> str:
    """A string without surrogates, which encode bytes of file names that are not UTF-8."""
    check_type(name, value, str, "a string")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}: not valid text ({error.reason})") from None
    return str(value)
