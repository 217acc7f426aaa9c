"""The variables of a kernel, and the conversion of arrays to and from them."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, as_array, check_finite, check_shape, check_type, integer
from ._arrays import output_array, to_float64
from .errors import UsageError

#: Names of results, or an array to fill for each; None selects all results.
Results = Union[Iterable[str], Mapping[str, Optional[AnyArray]], None]


@dataclasses.dataclass(frozen=True)
class Variable:
    """One variable of a kernel's interface."""

    name: str
    role: str  #: "target", "source", "result", "param" or "output"
    type: str  #: type on the host: "float64", "float32", "int64" or "raw" (64-bit words)
    conversion: str  #: as declared: "f64to72"
    reduction: str  #: reduction of results and outputs ("fadd"); empty for other roles
    host_bytes: int  #: size of one value on the host, in bytes

    @property
    def dtype(self) -> "np.dtype[Any]":
        """NumPy type of the values on the host."""
        return np.dtype("uint64" if self.type == "raw" else self.type)

    @property
    def words(self) -> int:
        """Elements of ``dtype`` for one value: more than 1 only for raw words."""
        return self.host_bytes // 8 if self.type == "raw" else 1


class CompiledKernel:
    """A compiled kernel and its variables: what devices, jobs and chips need of ``gdr.Kernel``."""

    def __init__(self, core: _core.Kernel) -> None:
        self.core = core
        self._variables = tuple(Variable(*v) for v in core.variables)

    @property
    def variables(self) -> Tuple[Variable, ...]:
        """The interface, in the order of declaration."""
        return self._variables

    def names(self, role: str) -> Tuple[str, ...]:
        """Names of the variables of a role ("target", "source", "result", "param", "output")."""
        return tuple(v.name for v in self._variables if v.role == role)


def input_arrays(
    variables: Sequence[Variable], role: str, n: Optional[int], arrays: Mapping[str, Any]
) -> Tuple[int, Dict[str, AnyArray]]:
    """The number of items of a role, and the arrays of its variables in the library's types.

    Raises TypeError or ValueError naming the array. Unknown names pass: the library rejects them.
    """
    known = {v.name: v for v in variables if v.role == role}
    count = None if n is None else integer(f"the number of {role}s", n)
    given = {name: as_array(name, value) for name, value in arrays.items() if name in known}
    for name, array in given.items():
        if array.ndim > 0:
            length = array.shape[0]
            if count is not None and length != count:
                raise ValueError(f"{name}: expected {count} values, got {length}")
            count = length
    if count is None:
        raise UsageError(f"the number of {role}s is unknown: pass an array, or the number")
    converted = {name: _input(known[name], array, count) for name, array in given.items()}
    return count, {
        name: converted[name] if name in converted else np.zeros(count) for name in arrays
    }


def _input(variable: Variable, array: AnyArray, count: int) -> AnyArray:
    """The array in the variable's type: exact conversions only, and finite numbers."""
    name, want = variable.name, variable.dtype
    if array.ndim == 0:
        array = np.full(count, array)
    check_shape(name, array, (count,) if variable.words == 1 else (count, variable.words))
    if array.size == 0:
        return np.empty(array.shape, want)  # NumPy gives an empty list the type float64
    if array.dtype.kind in "iu" and want.kind == "u" and (array >= 0).all():
        return np.ascontiguousarray(array, np.uint64)
    if array.dtype.kind == "u" and want.kind == "i" and (array < 2**63).all():
        return array.astype(want)
    if want == np.float64 and array.dtype == np.float32 and array.dtype.isnative:
        check_finite(name, array)
        return array
    if not np.can_cast(array.dtype, want, "safe"):
        raise TypeError(f"{name}: expected {want}, which cannot represent all {array.dtype} values")
    array = to_float64(name, array) if want == np.float64 else array.astype(want, copy=False)
    if want.kind == "f":
        check_finite(name, array)
    return array


def result_arrays(
    variables: Sequence[Variable], results: Results, target_count: int, source_count: int
) -> Dict[str, AnyArray]:
    """An array for each result: the caller's where given, else a new one."""
    if results is None:
        results = [v.name for v in variables if v.role in ("result", "output")]
    if isinstance(results, str):
        raise TypeError("results: expected a list of names, got one string")
    check_type("results", results, Iterable, "names")
    arrays = {}
    for name in results:
        check_type("results", name, str, "names")
        elements = _elements(variables, name)
        is_output = bool(elements) and elements[0].role == "output"
        out = results[name] if isinstance(results, Mapping) else None
        arrays[name] = _result(name, elements, source_count if is_output else target_count, out)
    return arrays


def _result(
    name: str, elements: Sequence[Variable], count: int, out: Optional[AnyArray]
) -> AnyArray:
    """The array of one result; the caller's may have a stride if it has one dimension."""
    if not elements:
        return np.empty(0)  # an unknown name, which the library rejects
    variable = elements[0]
    dtype = variable.dtype
    shape = (count,) if not name.endswith("[]") else (count, len(elements))
    if variable.words > 1:
        shape = (*shape, variable.words)
    if isinstance(out, np.ndarray) and out.shape == shape and len(shape) == 1:
        floats = (np.float32, np.float64)
        fits = out.dtype == dtype or (dtype in floats and out.dtype in floats)
        if fits and out.flags.writeable:
            return out
    return output_array(name, out, shape, dtype)


def _elements(variables: Sequence[Variable], name: str) -> Tuple[Variable, ...]:
    """The variable of this name, or for ``name[]`` the variables ``name_0``, ``name_1``, ..."""
    if not name.endswith("[]"):
        return tuple(v for v in variables if v.name == name)
    stem = name[:-2] + "_"
    return tuple(
        v for v in variables if v.name.startswith(stem) and v.name[len(stem) :].isdigit()
    )
