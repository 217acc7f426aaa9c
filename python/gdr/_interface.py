"""The variables of a kernel, and the conversion of arrays to and from them."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, Dict, Iterable, List, Mapping, Optional, Set, Tuple, Union

import numpy as np

from . import _core
from ._array_kinds import column_names
from ._arrays import AnyArray, as_array, check_finite, check_shape, check_type, integer
from ._arrays import floats, number, to_float64
from ._names import advice, undeclared
from ._outputs import Outputs, arrays_to_fill
from .errors import UsageError
from .results import ResultArrays

#: Names of results, or an array to fill for each; None selects all results.
Results = Union[Iterable[str], Mapping[str, Any], None]


@dataclasses.dataclass(frozen=True)
class Variable:
    """One variable of a kernel's interface.

    Examples:
        >>> [v.name for v in gdr.builtin("gravity").variables if v.role == "result"]
        ['ax', 'ay', 'az', 'pot']
        >>> gdr.builtin("gravity").variables[0].type
        'float64'
    """

    name: str
    role: str  #: "target", "source", "result", "param" or "output"
    type: str  #: type on the host: "float64", "float32", "int64" or "raw" (64-bit words)
    conversion: str  #: as declared: "f64to72"
    reduction: str  #: reduction of results and outputs ("fadd"); empty for other roles
    host_bytes: int  #: size of one value on the host, in bytes
    #: Value of all targets or sources if no array is given: -1 of ids of targets, -2 of those of
    #: sources, so that kernels that exclude equal ids exclude no pair. None: an array is required.
    default_value: Optional[int] = None
    #: What a target, source or param holds, as the kernel declares it: "pos", "mass", "id", "eps".
    quantity: str = ""
    component: int = 0  #: number of the component among the variables of a quantity
    squared: bool = False  #: whether values are squares of the quantity

    @property
    def dtype(self) -> "np.dtype[Any]":
        """NumPy type of the values on the host."""
        return np.dtype("uint64" if self.type == "raw" else self.type)

    @property
    def words(self) -> int:
        """Elements of ``dtype`` for one value: more than 1 only for raw words."""
        return self.host_bytes // 8 if self.type == "raw" else 1

    @property
    def _word_sizes(self) -> Tuple[int, ...]:
        """The sizes of one value in an array of ``dtype``."""
        return (self.words,) if self.words > 1 else ()


@dataclasses.dataclass(frozen=True)
class ArrayVariable:
    """Variables of a kernel that are passed as one array: an array, vector, tensor, table or list.

    ``name`` stands for all elements; of a list, which has a variable of that name, ``name[]`` does.

    Examples:
        >>> @gdr.kernel
        ... def field(i, j):
        ...     d = j.x - i.x
        ...     i.f += j.q * d * np.dot(d, d)
        >>> [(a.name, a.role, a.sizes) for a in field.arrays]
        [('xi', 'target', (3,)), ('xj', 'source', (3,)), ('f', 'result', (3,))]
    """

    name: str
    #: (3,) of a vector, (6,) of a tensor: xx, xy, xz, yy, yz, zz; (2,) of a complex number
    sizes: Tuple[int, ...]
    elements: Tuple[Variable, ...]
    complex: bool = False  #: whether the last index counts real and imaginary part
    squared: bool = False  #: whether the elements are the squares of what is passed

    @property
    def item_sizes(self) -> Tuple[int, ...]:
        """Shape of one value in an array of NumPy: complex numbers have no index for their parts."""
        return self.sizes[:-1] if self.complex else self.sizes

    @property
    def is_vector(self) -> bool:
        """Whether it has two or three components: as a parameter it may be one number, the edge of a
        square or cube."""
        return self.sizes in ((2,), (3,)) and not self.complex

    @property
    def role(self) -> str:
        """Role of the elements, as in ``Variable``."""
        return self.elements[0].role


class CompiledKernel:
    """A compiled kernel and its variables: what devices, jobs and chips need of ``gdr.Kernel``."""

    def __init__(self, core: _core.Kernel) -> None:
        self.core = core
        self._variables = tuple(Variable(*v) for v in core.variables)
        self._arrays = tuple(
            ArrayVariable(name, sizes, self._variables[first : first + math.prod(sizes)], pairs)
            for name, first, sizes, pairs in core.arrays
        )

    def default_params(self) -> Mapping[str, Any]:
        """Values of ``param``s that jobs have before ``set``; of others 0."""
        return {}

    @property
    def variables(self) -> Tuple[Variable, ...]:
        """The interface, in the order of declaration."""
        return self._variables

    @property
    def arrays(self) -> Tuple[ArrayVariable, ...]:
        """Variables that are passed as one array."""
        return self._arrays

    @functools.cached_property
    def all_results(self) -> Tuple[Tuple[str, "np.dtype[Any]", Tuple[int, ...], bool], ...]:
        """Name, type and sizes of the array of each result and output, and whether it is an
        output."""
        rows = []
        for name in self.whole_names([*self.names("result"), *self.names("output")]):
            whole = self.array_named(name)
            first = (
                whole.elements[0] if whole else next(v for v in self._variables if v.name == name)
            )
            rows.append((name, *_result_type(whole, first), first.role == "output"))
        return tuple(rows)

    def names(self, role: str) -> Tuple[str, ...]:
        """Names of the variables of a role ("target", "source", "result", "param", "output")."""
        return self._names[role]

    @functools.cached_property
    def _names(self) -> Dict[str, Tuple[str, ...]]:
        roles = ("target", "source", "result", "param", "output")
        return {r: tuple(v.name for v in self._variables if v.role == r) for r in roles}

    def whole_names(self, names: Iterable[str]) -> Tuple[str, ...]:
        """These names with that of an array instead of those of its elements, except lists."""
        own = {v.name for v in self._variables}
        whole = {e.name: a.name for a in self._arrays if a.name not in own for e in a.elements}
        return tuple(dict.fromkeys(whole.get(name, name) for name in names))

    def interface_rows(self) -> List[Tuple[str, str, str]]:
        """Name, role and type of every variable, with arrays as one, for display."""
        variables = {v.name: v for v in self._variables}
        rows = []
        for name in self.whole_names(variables):
            array = self.array_named(name)
            variable = array.elements[0] if array else variables[name]
            size = "".join(f"[{n}]" for n in array.item_sizes) if array else ""
            kind = "complex128" if array is not None and array.complex else variable.type
            rows.append((name, variable.role, f"{kind}{size}"))
        return rows

    def array_named(self, name: str) -> Optional[ArrayVariable]:
        """The array that a name stands for, or None."""
        return self._wholes.get(name)

    @functools.cached_property
    def _wholes(self) -> Dict[str, ArrayVariable]:
        """Arrays by the names that stand for them."""
        named = {a.name: a for a in self._arrays if a.name not in self._by_name}
        return {**named, **{f"{a.name}[]": a for a in self._arrays}}

    @functools.cached_property
    def _by_name(self) -> Dict[str, Variable]:
        return {v.name: v for v in self._variables}

    def other_names(self, role: str) -> Dict[str, ArrayVariable]:
        """Names that variables of a role have besides those of the program: that of the quantity
        which they hold ("pos" for the coordinates, "mass", "eps" for its square), and of sources
        and targets the name without the last letter j or i."""
        return self._other_names[role]

    @functools.cached_property
    def _other_names(self) -> Dict[str, Dict[str, ArrayVariable]]:
        return {role: self._names_of_quantities(role) for role in ("target", "source", "param")}

    def _names_of_quantities(self, role: str) -> Dict[str, ArrayVariable]:
        own = [v for v in self._variables if v.role == role]
        found: Dict[str, ArrayVariable] = {}
        for quantity in dict.fromkeys(v.quantity for v in own if v.quantity):
            parts = sorted((v for v in own if v.quantity == quantity), key=lambda v: v.component)
            sizes = (len(parts),) if len(parts) > 1 else ()
            if sizes and role == "param":
                continue
            found[quantity] = ArrayVariable(quantity, sizes, tuple(parts), False, parts[0].squared)
        last = {"target": "i", "source": "j"}.get(role, "")
        for name in self.whole_names(v.name for v in own) if last else ():
            if name.endswith(last) and name[:-1] not in found:
                whole = self.array_named(name)
                if whole is None:
                    whole = ArrayVariable(name[:-1], (), (self._by_name[name],))
                found[name[:-1]] = whole
        return {name: a for name, a in found.items() if not self.elements_named(name, role)}

    def param_named(self, name: str) -> Tuple[str, bool]:
        """The ``param`` that a name stands for, and whether it is the square of what is passed."""
        other = None if self.elements_named(name, "param") else self.other_names("param").get(name)
        if other is None:
            return name, False
        return other.name if other.sizes else other.elements[0].name, other.squared

    def columns(self, role: str, data: Any) -> Any:
        """The columns of a table that stand for variables of a role, one for each; anything else
        unchanged."""
        if isinstance(data, (Mapping, int)) or (held := column_names(data)) is None:
            return data
        names = self.names(role)
        known = dict.fromkeys((*self.whole_names(names), *names, *self.other_names(role)))
        found: Dict[str, Any] = {}
        covered: Set[str] = set()
        for name in known:
            own = self.elements_named(name, role)
            if not own:
                own = self.other_names(role)[name].elements
                # A column "id" of a table may mean anything: an optional identity has its own name.
                if any(v.default_value is not None for v in own):
                    continue
            elements = {v.name for v in own}
            if name in held and covered.isdisjoint(elements):
                found[name] = data[name]
                covered |= elements
        return found

    def elements_named(self, name: str, role: str = "") -> Tuple[Variable, ...]:
        """The variables that a name stands for; none if it is unknown, or of another role than a
        given one."""
        whole = self.array_named(name)
        variable = self._by_name.get(name)
        found = whole.elements if whole is not None else () if variable is None else (variable,)
        return found if not role or (found and found[0].role == role) else ()


def _result_type(
    whole: Optional[ArrayVariable], first: Variable
) -> Tuple["np.dtype[Any]", Tuple[int, ...]]:
    """Type and sizes of the array of a result: of an array of variables, or of one."""
    words = first._word_sizes
    if whole is None:
        return first.dtype, words
    dtype = np.dtype(np.complex128) if whole.complex else first.dtype
    return dtype, (*whole.item_sizes, *words)


def numbers_in(array: AnyArray) -> AnyArray:
    """The real numbers of a contiguous array: of complex ones real and imaginary parts, with one
    more index."""
    if array.dtype.kind != "c":
        return array
    return array.reshape(*array.shape, 1).view(array.real.dtype)


def _given_array(name: str, value: Any, whole: Optional[ArrayVariable]) -> AnyArray:
    """An argument as an array of real numbers. Complex variables take complex numbers, real ones, or
    real and imaginary parts behind each other."""
    if whole is None or not whole.complex:
        return as_array(name, value)
    array = as_array(name, value, complex_too=True)
    if array.dtype.kind != "c" and array.ndim == len(whole.sizes) + 1 and array.shape[-1] == 2:
        return array
    if not np.can_cast(array.dtype, np.complex128, "safe"):
        raise TypeError(f"{name}: expected complex128, which cannot represent {array.dtype} values")
    if array.dtype.kind in "iu":
        array = to_float64(name, array)
    narrow = array.dtype in (np.dtype(np.complex64), np.dtype(np.float32))
    numbers = np.ascontiguousarray(array, np.complex64 if narrow else np.complex128)
    return numbers_in(numbers.reshape(array.shape))


def input_arrays(
    kernel: CompiledKernel,
    role: str,
    n: Optional[int],
    arrays: Mapping[str, Any],
    default: Optional[int] = None,
) -> Tuple[int, Dict[str, AnyArray]]:
    """The number of items of a role, and the arrays of its variables in the library's types.

    ``default`` is the number of items if no array has a length. An array of the kernel is replaced
    by the columns of its elements. Raises TypeError or ValueError naming the array, and UsageError
    for an unknown name. Missing arrays pass if the number is known: the library rejects them.
    """
    known = {v.name: (v, ()) for v in kernel.variables if v.role == role}
    wholes = {a.name: a for a in kernel.arrays if a.role == role and a.name not in known}
    if any(name not in known and name not in wholes for name in arrays):
        others = kernel.other_names(role)
        wholes = {**{n: others[n] for n in arrays if n in others and n not in known}, **wholes}
    shapes: Dict[str, Tuple[Variable, Tuple[int, ...]]] = {
        **known,
        **{name: (a.elements[0], a.sizes) for name, a in wholes.items()},
    }
    _check_known(kernel, role, arrays, shapes)
    count = None if n is None else integer(f"the number of {role}s", n)
    given = {name: _given_array(name, value, wholes.get(name)) for name, value in arrays.items()}
    for name, array in given.items():
        if array.ndim > len(shapes[name][1]):
            length = array.shape[0]
            if count is not None and length != count:
                raise ValueError(f"{name}: expected {count} values, got {length}")
            count = length
    if count is None:
        count = default
    if count is None:
        reason = _without_count(kernel, role, arrays)
        raise UsageError(f"the number of {role}s is unknown: {reason}")
    converted: Dict[str, AnyArray] = {}
    for name in arrays:
        is_complex = name in wholes and wholes[name].complex
        array = _input(name, *shapes[name], given[name], count, is_complex)
        if name not in wholes:
            converted[name] = array
            continue
        elements = wholes[name].elements
        columns = array.reshape(count, len(elements), *elements[0]._word_sizes)
        if wholes[name].squared:
            columns = squares(name, columns)
        for k, element in enumerate(elements):
            if element.name in arrays or element.name in converted:
                raise UsageError(f'"{element.name}" is given twice: alone, and in "{name}"')
            converted[element.name] = columns[:, k]
    return count, converted


def squares(name: str, lengths: Any) -> Any:
    """Squares of one length or of an array of lengths."""
    if (lengths < 0).any():
        raise ValueError(f"{name}: expected at least 0, got {lengths.min()}")
    lengths = lengths.astype(np.float64, copy=False)
    with np.errstate(over="ignore", under="ignore"):
        found = lengths * lengths
    vanishes = (lengths > 0) & (found < np.finfo(float).tiny)
    if not np.isfinite(found).all() or vanishes.any():
        raise ValueError(f"{name}: its square is out of range of a double; scale the units")
    return found


def _check_known(
    kernel: CompiledKernel, role: str, arrays: Iterable[str], shapes: Mapping[str, Any]
) -> None:
    """UsageError for the first array that is no variable of this role."""
    unknown = [name for name in arrays if name not in shapes]
    if not unknown:
        return
    known = kernel.whole_names(kernel.names(role))
    text = f'unknown {role} variable "{unknown[0]}"' + advice(unknown[:1], known, arrays)
    text += undeclared(unknown[:1]) if known else ""
    raise UsageError(text if known else f"{text}: pass the number of {role}s instead of arrays")


def _without_count(kernel: CompiledKernel, role: str, arrays: Iterable[str]) -> str:
    """Why arrays do not tell the number of items, and what to pass."""
    own = [v.name for v in kernel.variables if v.role == role and v.default_value is None]
    missing = [name for name in kernel.whole_names(own) if name not in arrays]
    if missing:
        return f"no array is given for the {role} variables {', '.join(missing)}"
    if not own:
        return f"pass it, because the kernel needs no {role} variable"
    return "pass an array, or the number"


def _input(
    name: str,
    variable: Variable,
    sizes: Tuple[int, ...],
    array: AnyArray,
    count: int,
    is_complex: bool,
) -> AnyArray:
    """The array in the variable's type: exact conversions only, and finite numbers."""
    want = variable.dtype
    if array.shape == sizes:  # one value for all items
        array = np.broadcast_to(array, (count, *sizes))
    check_shape(name, array, (count, *sizes, *variable._word_sizes))
    if array.size == 0:
        return np.empty(array.shape, want)  # NumPy gives an empty list the type float64
    if array.dtype.kind in "iu" and want.kind == "u" and (array >= 0).all():
        return np.ascontiguousarray(array, np.uint64)
    if array.dtype.kind == "u" and want.kind == "i" and (array < 2**63).all():
        return array.astype(want)
    if want == np.float64 and array.dtype == np.float32 and array.dtype.isnative:
        check_finite(name, array, is_complex)
        return array
    if not np.can_cast(array.dtype, want, "safe"):
        raise TypeError(f"{name}: expected {want}, which cannot represent all {array.dtype} values")
    array = to_float64(name, array) if want == np.float64 else array.astype(want, copy=False)
    if want.kind == "f":
        check_finite(name, array, is_complex)
    return array


def results_to_fill(kernel: CompiledKernel, results: Results, out: Any) -> Results:
    """The arguments ``results=`` and ``out=`` of a call as one: names, or an array to fill, or None,
    for each result."""
    if out is None or (isinstance(out, Mapping) and not out):
        return results
    if isinstance(results, Mapping):
        raise TypeError("out: results has arrays to fill; give names there, or leave it out")
    names = [name for name, *_ in kernel.all_results] if results is None else _names(results)
    return {**dict.fromkeys(names), **arrays_to_fill(out, names)}


def _names(results: Any) -> List[str]:
    if isinstance(results, str):
        raise TypeError("results: expected a list of names, got one string")
    check_type("results", results, Iterable, "names")
    names = list(results)
    for name in names:
        check_type("results", name, str, "names")
    return names


def result_arrays(
    kernel: CompiledKernel,
    results: Results,
    target_count: int,
    source_count: int,
    outputs: Outputs,
) -> ResultArrays:
    """The array that the library fills for each result: the caller's where given, else a new one."""
    if results is None:
        return ResultArrays(
            (name, outputs.array(name, None, (n, *sizes), dtype, converts=True))
            for name, dtype, sizes, is_output in kernel.all_results
            for n in (source_count if is_output else target_count,)
        )
    arrays = ResultArrays()
    for name in _names(results):
        whole = kernel.array_named(name)
        elements = kernel.elements_named(name)
        is_output = bool(elements) and elements[0].role == "output"
        out = results[name] if isinstance(results, Mapping) else None
        count = source_count if is_output else target_count
        if not elements:
            arrays[name] = np.empty(0)  # an unknown name, which the library rejects
            continue
        dtype, sizes = _result_type(whole, elements[0])
        arrays[name] = outputs.array(name, out, (count, *sizes), dtype, converts=True)
    return arrays


def param_numbers(kernel: CompiledKernel, params: Mapping[str, Any]) -> Dict[str, float]:
    """The number of each ``param``: an array of them takes all its elements, and some take a
    number for all of them, too."""
    numbers: Dict[str, float] = {}
    for name, value in params.items():
        whole = kernel.array_named(name)
        param, squared = (name, False) if whole else kernel.param_named(name)
        whole = whole or kernel.array_named(param)
        if whole is None:
            single = number(name, value)
            if param in numbers or (param != name and param in params):
                raise UsageError(f'"{param}" is given twice, also as "{name}"')
            numbers[param] = float(squares(name, np.array(single))) if squared else single
            continue
        if np.ndim(value) == 0 and whole.is_vector:
            value = np.full(whole.sizes, number(name, value))
        if whole.complex:
            value = _given_array(name, value, whole)
            if value.ndim > len(whole.sizes):
                raise ValueError(f"{name}: expected one value of shape {whole.item_sizes}")
        elements = floats(name, value, whole.sizes).ravel()
        check_finite(name, elements)
        numbers.update((e.name, float(x)) for e, x in zip(whole.elements, elements))
    return numbers


def rows(arrays: Mapping[str, AnyArray]) -> Dict[str, AnyArray]:
    """Result arrays for the library, which takes a row of elements for each item."""
    numbers = {name: numbers_in(a) for name, a in arrays.items()}
    return {
        name: a if a.ndim <= 2 or a.size == 0 else a.reshape(len(a), -1)
        for name, a in numbers.items()
    }
