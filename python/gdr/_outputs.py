"""The results of a call: arrays of the caller's library and type, new ones or the caller's own."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, TypeVar

import numpy as np
import numpy.typing as npt

from ._array_kinds import ArrayLibrary, library_of, numpy_view
from ._arrays import AnyArray, check_no_overlap, check_shape, check_type
from ._units import refuse_units

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))
Arrays = TypeVar("Arrays", bound=Dict[str, Any])
#: Types of arguments that are no arrays of another library, nor contain any.
_PLAIN = frozenset((np.ndarray, np.float64, float, int, bool, str, list, tuple, type(None)))


def float_type(dtype: Any) -> "np.dtype[Any]":
    """The type of results for an argument ``dtype=``: float32 or float64, of any library."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        name = str(dtype).rpartition(".")[2]  # torch.float32
        found = np.dtype(name) if name in ("float32", "float64") else np.dtype(object)
    if found not in _FLOATS:
        raise TypeError(f"dtype: expected float32 or float64, got {dtype!r}")
    return found


class ArgumentKinds:
    """The library of the arrays among some arguments, and the width of their numbers."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        #: None: all are arrays of NumPy, or converted by it.
        self.library: Optional[ArrayLibrary] = None
        self._owner = ""  # an argument of that library
        #: Bytes of the widest floating-point numbers in arrays of that library; 0: there are none.
        self.widest = 0
        self._add(arguments)

    def _add(self, arguments: Mapping[str, Any]) -> None:
        for name, value in arguments.items():
            if isinstance(value, Mapping):
                self._add(value)
            elif type(value) not in _PLAIN and (library := library_of(value)) is not None:
                text = str(value.dtype)
                width = 8 if "64" in text else 4
                self._join(library, name, width if "float" in text else 0)

    def _join(self, library: ArrayLibrary, name: str, width: int) -> None:
        if self.library is None:
            self.library, self._owner = library, name
        elif library.name != self.library.name:
            raise TypeError(
                f"{name}: is an array of {library.name}, but {self._owner} is one of "
                f"{self.library.name}: pass arrays of one library, or of NumPy"
            )
        self.widest = max(self.widest, width)

    def joined(self, other: ArgumentKinds) -> ArgumentKinds:
        """Those of both arguments."""
        both = ArgumentKinds({})
        for one in (self, other):
            if one.library is not None:
                both._join(one.library, one._owner, one.widest)
        return both


#: Those of arrays of NumPy.
PLAIN = ArgumentKinds({})


def kinds_of(arguments: Mapping[str, Any]) -> ArgumentKinds:
    """The kinds of some arguments; of plain ones always the same object."""
    if all(type(value) in _PLAIN for value in arguments.values()):
        return PLAIN
    return ArgumentKinds(arguments)


class Outputs:
    """The arrays of the results of one call.

    They belong to the library of the arguments: arrays of NumPy, unless some argument is a tensor
    of PyTorch or an array of JAX or another library. Numbers are float64 for arguments of NumPy;
    for others they have the widest type of the arguments' numbers, float32 at least. ``dtype`` is
    the caller's choice instead.
    """

    def __init__(self, dtype: Any, kinds: ArgumentKinds) -> None:
        self._library = kinds.library
        narrow = 0 < kinds.widest <= 4
        self.floats = _FLOATS[narrow] if dtype is None else float_type(dtype)
        #: The caller's arrays by name: what was passed, its view, and the array that is filled.
        self._given: Dict[str, Tuple[Any, AnyArray, AnyArray]] = {}

    @classmethod
    def of(cls, dtype: Any, fills: bool, arguments: Mapping[str, Any]) -> Outputs:
        """Those of a call with these arguments, and whether it has arrays to fill."""
        return cls.of_kinds(dtype, fills, kinds_of(arguments))

    @classmethod
    def of_kinds(cls, dtype: Any, fills: bool, kinds: ArgumentKinds) -> Outputs:
        """The same, of arguments whose kinds are known."""
        if dtype is None and not fills and kinds is PLAIN:
            return NEW_ARRAYS
        return cls(dtype, kinds)

    def array(
        self,
        name: str,
        out: Any,
        shape: Sequence[int],
        dtype: npt.DTypeLike = np.float64,
        *,
        converts: bool = False,
    ) -> AnyArray:
        """The array of NumPy that the library fills for a result, C-contiguous.

        ``out`` is the caller's array or None. ``converts``: the library writes float32, too, and a
        result of one dimension with any stride. Raises TypeError or ValueError naming the result.
        """
        shape, kind = tuple(shape), np.dtype(dtype)
        if out is None:
            types = _types_like(kind)
            narrow = converts and len(types) > 1 and self.floats == _FLOATS[1]
            return np.empty(shape, types[narrow])
        view = _writable_view(name, out, shape, kind)
        # Of complex numbers the library sees rows of two.
        one = len(shape) == 1 and kind not in _COMPLEX
        fits = (view.dtype == kind or converts) and (view.flags.c_contiguous or (converts and one))
        # If the call fails halfway, elements that were not computed keep their values.
        work = view if fits else view.astype(kind, order="C")
        self._given[name] = out, view, work
        return work

    def check_no_overlap(self, *inputs: Mapping[str, AnyArray]) -> None:
        """Raise ValueError if a caller's array shares memory with an input or another result."""
        before: Dict[str, AnyArray] = {}
        for name, (_, view, _) in reversed(self._given.items()):
            for others in (*inputs, before):
                check_no_overlap(name, view, others)
            before[name] = view

    def finished(self, results: Arrays) -> Arrays:
        """The results as the caller gets them, in a dictionary of the same type; arrays of the
        caller are filled."""
        if self is NEW_ARRAYS:
            return results
        return type(results)((name, self._finished(name, a)) for name, a in results.items())

    def _finished(self, name: str, array: Any) -> Any:
        if name in self._given:
            out, view, work = self._given[name]
            if work is not view:
                view[...] = work
            return out
        if not isinstance(array, np.ndarray):
            return array
        if array.dtype.kind in "fc" and array.real.dtype != self.floats:
            array = array.astype(_types_like(array.dtype)[self.floats == _FLOATS[1]])
        return array if self._library is None else self._library.from_numpy(array)


#: Outputs of calls with arrays of NumPy that name neither a type nor arrays to fill.
NEW_ARRAYS = Outputs(None, PLAIN)


def _types_like(dtype: "np.dtype[Any]") -> Tuple["np.dtype[Any]", ...]:
    """The types that a result of this type may have: of numbers the wide one and the narrow one."""
    return next((types for types in (_FLOATS, _COMPLEX) if dtype in types), (dtype,))


def _writable_view(
    name: str, out: Any, shape: Tuple[int, ...], dtype: "np.dtype[Any]"
) -> AnyArray:
    """A view of a caller's array for a result; TypeError or ValueError if it cannot be filled."""
    refuse_units(name, out)
    library = library_of(out)
    if library is not None and not library.fills:
        raise TypeError(f"{name}: arrays of {library.name} cannot be filled")
    view: AnyArray = out if library is None else numpy_view(name, out)
    check_type(name, view, np.ndarray, "an array of NumPy, or a tensor of PyTorch")
    types = _types_like(dtype)
    if view.dtype not in types:
        expected = " or ".join(map(str, types))
        raise TypeError(f"{name}: expected {expected}, got {view.dtype}")
    check_shape(name, view, shape)
    if not view.flags.writeable:
        raise ValueError(f"{name}: the array is read-only")
    return view


def arrays_to_fill(out: Any, names: Sequence[str]) -> Dict[str, Any]:
    """The arrays of an argument ``out=`` by the names of results: a dictionary of some of them, the
    results of an earlier call, or an array if there is one result."""
    if out is None:
        return {}
    if hasattr(out, "_asdict"):
        return {name: array for name, array in out._asdict().items() if name in names}
    if not isinstance(out, Mapping):
        if len(names) != 1 or isinstance(out, (str, tuple, list)):
            raise TypeError(
                f"out: expected a dictionary of arrays to fill, with {', '.join(names)}, or the "
                f"results of an earlier call, got {type(out).__name__}"
            )
        out = {names[0]: out}
    unknown = [name for name in out if name not in names]
    if unknown:
        raise TypeError(f"out: no result {unknown[0]!r}; the results are {', '.join(names)}")
    return {name: array for name, array in out.items() if array is not None}
