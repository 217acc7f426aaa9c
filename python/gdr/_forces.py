"""The library's kernels as functions on arrays with one row per particle.

A kernel declares scalars and the quantity that they hold, ``VARI xi, yi, zi as pos;``; a function
takes ``pos`` of shape (n, 3). A variable without a quantity is an argument of its own name.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
from typing import Any, Dict, FrozenSet, Generic, List, Mapping, Optional, Tuple
from typing import TypeVar, Union, cast

import numpy as np

from . import _core, _kernel
from ._array_kinds import column_names
from ._arrays import AnyArray, Floats, as_array, check_finite, check_type, floats, number
from ._distances import are_in_range, check_distances
from ._interface import squares
from ._names import advice, wrong_names
from ._open import DeviceLike, device_or_default
from ._outputs import Outputs, arrays_to_fill
from ._units import Units, call_units
from .results import RESULTS

Result = TypeVar("Result", covariant=True)

_FLOAT64 = np.dtype(np.float64)

_ORDER = {"pos": 0, "mass": 1, "charge": 1}
#: Vector results, with the names of their components.
RESULT_VECTORS = {
    "acc": ("ax", "ay", "az"),
    "jerk": ("jx", "jy", "jz"),
    "snap": ("sx", "sy", "sz"),
    "pn": ("pnx", "pny", "pnz"),
    "force": ("fx", "fy", "fz"),
    "field": ("ex", "ey", "ez"),
}
#: Arguments that a law does not have below zero: lengths, speeds and densities of particles.
NOT_NEGATIVE = {"h", "sound", "rho", "sigma"}


def per_particle(name: str, value: Any, n: int) -> Floats:
    """An array with one value per particle, or one number for all particles."""
    if as_array(name, value).ndim == 0:
        return np.full(n, number(name, value))
    return np.ascontiguousarray(floats(name, value, (n,)))


#: Keywords of every kernel's function.
#: Values of parameters that are not given: no softening, as in ``gdr.gravity``.
_DEFAULTS = {"eps": 0.0}
_OPTIONS = ("targets", "out", "dtype", "device")
#: Kernels with a finite value at distance zero.
_FINITE_AT_ZERO = {"gauss_sum", "sph_density", "sph_force"}


_OF_THE_CLASS = """A pair kernel as a function on arrays. ``help`` of an instance describes it.

Examples:
    >>> found = gdr.lennard_jones([[0, 0, 0], [1.2, 0, 0]], rc=2.5)
    >>> print(found.u.round(4))
    [-0.891 -0.891]
    >>> gdr.lennard_jones.clocks, gdr.lennard_jones.flops
    (22.0, 36.0)
    >>> gdr.lennard_jones.kernel.assembly == gdr.lennard_jones.assembly
    True
"""


class _Doc:
    """Docstring of the class, and of each instance."""

    def __get__(self, kernel: Optional["ParticleKernel[Any]"], owner: type) -> str:
        if kernel is not None:
            return kernel._docstring()
        return _OF_THE_CLASS


class ParticleKernel(Generic[Result]):

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "gdr"

    @functools.cached_property
    def kernel(self) -> _kernel.Kernel:
        """The kernel as a ``gdr.Kernel``."""
        return _kernel.builtin(self.__name__)

    @property
    def assembly(self) -> str:
        """Assembly text of the kernel."""
        return self.kernel.assembly

    @property
    def clocks(self) -> float:
        """Clocks of the loop body for one interaction on one PE."""
        return self.kernel.clocks

    @property
    def flops(self) -> float:
        """Floating-point operations of one interaction."""
        return self.kernel.flops

    @functools.cached_property
    def _source_arguments(self) -> Dict[str, Tuple[str, ...]]:
        return self._arguments("source")

    @functools.cached_property
    def _target_arguments(self) -> Dict[str, Tuple[str, ...]]:
        return self._arguments("target")

    def _arguments(self, role: str) -> Dict[str, Tuple[str, ...]]:
        """Arguments of a role, without ids and numbers, and the variables of each."""
        out: Dict[str, Tuple[str, ...]] = {}
        for v in self.kernel.variables:
            if v.role == role and v.quantity not in ("id", "index"):
                argument = v.quantity or v.name
                out[argument] = (*out.get(argument, ()), v.name)
        # The order of gdr.gravity: position, mass or charge, then the others.
        return dict(sorted(out.items(), key=lambda item: _ORDER.get(item[0], len(_ORDER))))

    @functools.cached_property
    def _parameters(self) -> Dict[str, str]:
        return {v.quantity or v.name: v.name for v in self.kernel.variables if v.role == "param"}

    @functools.cached_property
    def _squared(self) -> FrozenSet[str]:
        """Variables that hold the square of an argument."""
        return frozenset(v.name for v in self.kernel.variables if v.squared)

    @functools.cached_property
    def _results(self) -> Dict[str, Tuple[str, ...]]:
        """Result fields and the variables of each; ``name[]`` for the elements of a list."""
        left = list(self.kernel.names("result"))
        out: Dict[str, Tuple[str, ...]] = {}
        for field, columns in RESULT_VECTORS.items():
            if all(c in left for c in columns):
                out[field] = columns
                left = [name for name in left if name not in columns]
        for name in left:
            stem, _, index = name.rpartition("_")
            if stem in left and index.isdigit():
                out[stem + "_list"] = (stem + "[]",)
            else:
                out[name] = (name,)
        return out

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        keyword, either = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = {**self._source_arguments, **self._target_arguments}
        parameters = [inspect.Parameter(name, either) for name in names]
        for k, name in enumerate(self._parameters):
            # Python allows no default value before an argument without one.
            last = all(other in _DEFAULTS for other in list(self._parameters)[k:])
            default = _DEFAULTS[name] if last else inspect.Parameter.empty
            parameters.append(inspect.Parameter(name, either, default=default))
        for name in _OPTIONS:
            parameters.append(inspect.Parameter(name, keyword, default=None))
        return inspect.Signature(parameters)

    __doc__: Any = _Doc()

    def _docstring(self) -> str:
        shapes = {field: "n, 3" if len(v) == 3 else "n" for field, v in self._results.items()}
        fields = ", ".join(f"{field} ({shape})" for field, shape in shapes.items())
        names = RESULTS[self.__name__].__name__
        return (
            f"{self.__name__}{self.__signature__}\n\n"
            f"{self._formula()}\n\n"
            "Vectors have shape (n, 3), other arguments (n,) or one number for all particles. eps\n"
            "(0 unless it is given) and rc are lengths. Without targets the particles act on each\n"
            "other; a particle does not act on itself if the kernel has ids or skips pairs at\n"
            "distance zero. targets: positions (m, 3), or a dictionary of all arguments of a target.\n"
            "Arguments may be quantities of astropy, unless the kernel has reduced units. out: a\n"
            "dictionary with arrays to fill by result, or the results of an earlier call. dtype:\n"
            "float64 or float32, the type of new arrays. Arrays of PyTorch or JAX give results of the same library.\n\n"
            f"Returns gdr.results.{names}: {fields}.\n\n"
            "Raises TypeError or ValueError naming the argument."
        )

    def _formula(self) -> str:
        """The first comment of the kernel's source: formula, units and literature. Variables that
        are squares are given as the arguments of the call."""
        lines = []
        for line in _core.Kernel.builtin_text(self.__name__).splitlines():
            comment = re.match(r"(?:#|//) ?(.*)", line)
            if comment is None:
                break
            lines.append(comment[1])
        text = "\n".join(lines)
        for v in self.kernel.variables:
            if not v.squared:
                continue
            name, argument = v.name, v.quantity
            index = {"target": "_i", "source": "_j"}.get(v.role, "")
            what = r"(?:the )?square of the (cut-off radius|softening length|target's radius)"
            text = re.sub(rf"\b{name}(\W+(?:is )?){what}", rf"{argument}\1the \2", text)
            text = re.sub(rf"\b{name}\b", f"{argument}{index}^2", text)
        return text

    def __call__(
        self,
        *values: Any,
        targets: Optional[Any] = None,
        out: Any = None,
        dtype: Any = None,
        device: Optional[DeviceLike] = None,
        **arguments: Any,
    ) -> Result:
        chosen = device_or_default(device)
        job = chosen._pool.take(self.kernel)
        with chosen._ranks.argument_checks():
            given = arrays_to_fill(out, tuple(self._results))
            read = {**dict(zip(self._names, values)), **arguments, "targets": targets}
            outputs = Outputs.of(dtype, bool(given), read)
            plain = self._bind_plain(values, arguments, targets)
            params, sources, target_arrays, units = plain or self._bind(values, arguments, targets)
            self._check_distances(params, sources, target_arrays, targets is None)
        chosen._ranks.check_equal("units", "" if units is None else units.key())
        n = len(sources[self._source_arguments["pos"][0]])
        m = len(target_arrays[self._target_arguments["pos"][0]])
        if self._numbered:
            ids = _numbers(chosen._ranks.offset(n), n)
            sources.update(dict.fromkeys(self._numbered, ids))
            own = ids if targets is None else _no_ids(m)
            target_arrays.update(dict.fromkeys(self._target_ids, own))
        job.set(**params)
        job.sources(**sources)
        job.targets(**target_arrays)
        # Vectors are computed by component.
        columns: Dict[str, AnyArray] = {}
        results: Dict[str, Any] = {}
        for field, names in self._results.items():
            vector = len(names) > 1
            variable, *_ = elements = self.kernel.elements_named(names[0])
            shape = (m, len(names)) if vector else (m, len(elements)) if elements[1:] else (m,)
            options = given.get(field), shape, variable.dtype
            results[field] = outputs.array(field, *options, converts=True)
            columns.update(zip(names, results[field].T if vector else (results[field],)))
        if given:
            outputs.check_no_overlap(sources, target_arrays)
        job._fill(columns)
        chosen._pool.give(job)
        computed = {variables[0]: results[f] for f, variables in self._results.items()}
        self.kernel._warn_not_finite(computed, results, targets is None, stacklevel=3)
        results = outputs.finished(results)
        if units is not None:
            results = {field: units.result(field, array) for field, array in results.items()}
        return cast(Result, RESULTS[self.__name__](**results))

    def _check_distances(
        self,
        params: Mapping[str, float],
        sources: Mapping[str, AnyArray],
        targets: Mapping[str, AnyArray],
        same: bool,
    ) -> None:
        """Check that squares of distances are in range, if the kernel leaves out those that are 0.
        Those beyond a cut-off may overflow."""
        if self.__name__ in _FINITE_AT_ZERO:
            return
        x = _rows(sources, self._source_arguments["pos"])
        at = x if same else _rows(targets, self._target_arguments["pos"])
        if are_in_range(x) and (same or are_in_range(at)):
            return
        given: Dict[str, Any] = {**params, **sources, **targets}
        softened = any(np.any(given[name]) for name in self._softenings)
        check_distances(at, x, same, "rc" not in self._parameters, softened)

    @functools.cached_property
    def _softenings(self) -> FrozenSet[str]:
        """Variables that hold a softening."""
        return frozenset(v.name for v in self.kernel.variables if v.quantity == "eps")

    @functools.cached_property
    def _numbered(self) -> Tuple[str, ...]:
        """Variables that are the numbers of the sources."""
        return self._holding("source", "id", "index")

    @functools.cached_property
    def _target_ids(self) -> Tuple[str, ...]:
        return self._holding("target", "id")

    def _holding(self, role: str, *quantities: str) -> Tuple[str, ...]:
        variables = self.kernel.variables
        return tuple(v.name for v in variables if v.role == role and v.quantity in quantities)

    @functools.cached_property
    def _names(self) -> Tuple[str, ...]:
        """Names of the arguments that have a position."""
        return tuple(self.__signature__.parameters)[: -len(_OPTIONS)]

    def _bind_plain(
        self, values: Tuple[Any, ...], arguments: Mapping[str, Any], targets: Any
    ) -> Optional[Tuple[Dict[str, float], Dict[str, AnyArray], Dict[str, AnyArray], None]]:
        """The same as _bind, in a tenth of its time, of arrays and numbers that need no conversion;
        None for all others, and if anything is wrong with them."""
        given = {**dict(zip(self._names, values)), **arguments}
        if len(given) != len(values) + len(arguments):
            return None
        params = {}
        for argument, name in self._parameters.items():
            value = given.pop(argument, _DEFAULTS.get(argument))
            number = _plain_number(value, name in self._squared)
            if number is None:
                return None
            params[name] = number
        of_sources, of_targets = self._source_arguments, self._target_arguments
        if targets is None:
            at, known = given, len({*of_sources, *of_targets})
        else:
            at, known = targets if type(targets) is dict else {"pos": targets}, len(of_sources)
        if len(given) != known or (targets is not None and len(at) != len(of_targets)):
            return None
        sources = _plain_columns(of_sources, given, self._squared)
        to = _plain_columns(of_targets, at, self._squared)
        return None if sources is None or to is None else (params, sources, to, None)

    def _bind(
        self, values: Tuple[Any, ...], arguments: Mapping[str, Any], targets: Any
    ) -> Tuple[Dict[str, float], Dict[str, AnyArray], Dict[str, AnyArray], Optional[Units]]:
        """Values of the kernel's params, sources and targets by variable, and units of the call."""
        try:
            bound = self.__signature__.bind_partial(*values, **arguments)
        except TypeError as error:
            known = [*self._names, *_OPTIONS]
            unknown = [name for name in arguments if name not in known]
            hint = advice(unknown, known, arguments)
            raise TypeError(f"{self.__name__}: {error}{hint}") from None
        defaults = {n: v for n, v in _DEFAULTS.items() if n in self._parameters}
        given = {**defaults, **bound.arguments}
        of_sources, of_targets = self._source_arguments, self._target_arguments
        required: List[str] = [*of_sources, *self._parameters]
        if targets is None:
            required += [name for name in of_targets if name not in required]
        missing = [name for name in required if name not in given]
        if missing:
            raise TypeError(f"{self.__name__}: missing: {', '.join(missing)}")
        at = {} if targets is None else _target_values(targets, of_targets)
        units = self._convert(given, at)
        params = {}
        for argument, name in self._parameters.items():
            value = np.array(number(argument, given[argument]))
            params[name] = float(squares(argument, value) if name in self._squared else value)
        sources = self._columns(of_sources, given)
        if targets is None:
            return params, sources, self._columns(of_targets, given), units
        extra = [name for name in given if name in of_targets and name not in of_sources]
        if extra:
            raise TypeError(f"{self.__name__}: pass {', '.join(extra)} in targets")
        return params, sources, self._columns(of_targets, at, "targets"), units

    def _columns(
        self, arguments: Mapping[str, Tuple[str, ...]], given: Mapping[str, Any], where: str = ""
    ) -> Dict[str, AnyArray]:
        """Arrays by variable: views of the columns of the arguments."""
        n = len(floats(where or "pos", given["pos"], ("n", 3)))
        out: Dict[str, AnyArray] = {}
        for argument, names in arguments.items():
            place, value = f"{where}: {argument}" if where else argument, given[argument]
            if len(names) == 1:
                array = per_particle(place, value, n)
            else:
                array = floats(place, value, (n, len(names)))
            check_finite(place, array)
            if argument in NOT_NEGATIVE and array.size > 0 and array.min() < 0:
                raise ValueError(f"{place}: expected at least 0, got {array.min()}")
            if names[0] in self._squared:
                array = squares(place, array)
            out.update(zip(names, np.atleast_2d(array.T)))
        return out

    def _convert(self, given: Dict[str, Any], at: Dict[str, Any]) -> Optional[Units]:
        """Replace quantities among the arguments, and among those of targets, by numbers in the
        units of the call, which are returned; None if all are numbers."""
        named = {name: (name, value) for name, value in given.items()}
        named.update({f"targets: {name}": (name, value) for name, value in at.items()})
        units = call_units(self.__name__, named)
        if units is not None:
            for values, where in ((given, ""), (at, "targets: ")):
                for name, value in values.items():
                    values[name] = units.number(where + name, name, value)
        return units

    def __repr__(self) -> str:
        return f"<gdr.{self.__name__}{self.__signature__}>"


def _plain_number(value: Any, squared: bool) -> Optional[float]:
    """A float, or its square; None for another type, or a value that is refused."""
    if type(value) is not float:
        return None
    result: float = value * value if squared else value
    vanishes = squared and (value < 0 or 0 < value and result < sys.float_info.min)
    return result if math.isfinite(result) and not vanishes else None


#: Arrays up to this length are made once, since making one takes as long as to use it.
_MAX_KEPT = 16384


def _numbers(first: int, n: int) -> AnyArray:
    """Consecutive numbers, which the caller does not change."""
    return _kept_numbers(first, n) if n <= _MAX_KEPT else np.arange(first, first + n)


def _no_ids(n: int) -> AnyArray:
    """Ids of targets that are no sources."""
    return _kept_no_ids(n) if n <= _MAX_KEPT else np.full(n, -1)


@functools.lru_cache(maxsize=8)
def _kept_numbers(first: int, n: int) -> AnyArray:
    return np.arange(first, first + n)


@functools.lru_cache(maxsize=8)
def _kept_no_ids(n: int) -> AnyArray:
    return np.full(n, -1)


def _plain_columns(
    arguments: Mapping[str, Tuple[str, ...]], given: Mapping[str, Any], squared: FrozenSet[str]
) -> Optional[Dict[str, AnyArray]]:
    """Arrays by variable, of finite arrays of float64 with the right shapes, else None."""
    out: Dict[str, AnyArray] = {}
    arrays: List[AnyArray] = []
    n = -1
    for argument, names in arguments.items():
        array = given.get(argument)
        if type(array) is not np.ndarray or array.dtype is not _FLOAT64 or names[0] in squared:
            return None
        n = len(array) if n < 0 and array.ndim > 0 else n
        if array.shape != ((n,) if len(names) == 1 else (n, len(names))):
            return None
        arrays.append(array)
        if argument in NOT_NEGATIVE and array.size > 0 and array.min() < 0:
            return None
        if len(names) == 1:
            out[names[0]] = array
        else:
            out.update(zip(names, array.T))
    finite = _core.are_finite(arrays) or all(np.isfinite(array).all() for array in arrays)
    return out if finite else None


def _rows(columns: Mapping[str, AnyArray], names: Tuple[str, ...]) -> AnyArray:
    """The array of which these are the columns, without a copy if they are its only ones."""
    first = columns[names[0]]
    whole = first.base
    if isinstance(whole, np.ndarray) and whole.shape == (len(first), len(names)):
        if whole.strides[0] == first.strides[0]:
            return whole
    return np.stack([columns[name] for name in names], axis=1)


def _target_values(targets: Any, of_targets: Mapping[str, Any]) -> Dict[str, Any]:
    columns = () if isinstance(targets, Mapping) else column_names(targets) or ()
    if "pos" in columns:
        targets = {name: targets[name] for name in columns if name in of_targets}
    values = dict(targets) if isinstance(targets, Mapping) else {"pos": targets}
    wrong = wrong_names(values, list(of_targets))
    if wrong:
        more = "" if isinstance(targets, Mapping) else "; pass a dictionary"
        raise TypeError(f"targets: {wrong}{more}")
    return values


KernelLike = Union[_kernel.Kernel, "ParticleKernel[Any]", str]


def kernel_of(kernel: KernelLike) -> _kernel.Kernel:
    """The kernel of an argument ``kernel``: itself, that of a function of the library, the library's
    of this name, or that of a text."""
    if isinstance(kernel, str):
        is_name = kernel.isidentifier()
        return _kernel.builtin(kernel) if is_name else _kernel.compile(kernel)
    found = kernel.kernel if isinstance(kernel, ParticleKernel) else kernel
    expected = "a gdr.Kernel, a kernel of the library or its name, or a text"
    check_type("kernel", found, _kernel.Kernel, expected)
    return found
