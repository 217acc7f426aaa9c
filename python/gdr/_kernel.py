"""Kernels: compiled programs that are called with arrays by name."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import re
import os
import warnings
from collections import abc
from typing import TYPE_CHECKING, AbstractSet, Any, Dict, FrozenSet, Iterable, List, Mapping
from typing import Optional, Set, Tuple, Union

import numpy as np

from . import _core
from ._array_kinds import column_names
from ._arrays import AnyArray, check_text, check_type, integer
from ._display import html_table
from ._interface import ArrayVariable, CompiledKernel, numbers_in, results_to_fill
from ._names import advice, undeclared, wrong_names
from ._open import device_or_default
from ._outputs import NEW_ARRAYS, Outputs
from ._search import scheduled
from ._system import PathLike, replacing
from ._units import refuse_units
from .errors import UsageError
from .results import ResultArrays

if TYPE_CHECKING:
    from ._trees import TreeSum


#: Number of targets or sources, or None if arrays tell it, and arrays by variable.
Items = Tuple[Optional[int], Dict[str, Any]]


@dataclasses.dataclass
class VariableNames:
    """The variables that stand for a caller's names, where these differ from the program's."""

    params: Dict[str, str] = dataclasses.field(default_factory=dict)
    targets: Dict[str, str] = dataclasses.field(default_factory=dict)
    sources: Dict[str, str] = dataclasses.field(default_factory=dict)
    results: Dict[str, str] = dataclasses.field(default_factory=dict)

    def pairs(self) -> List[Tuple[str, str]]:
        """Variables and the caller's names, as object files keep them."""
        tables = (self.params, self.targets, self.sources, self.results)
        return [(variable, name) for table in tables for name, variable in table.items()]

    @classmethod
    def of_kernel(cls, kernel: CompiledKernel) -> VariableNames:
        """The names that the kernel's object file keeps; empty if it has none."""
        kept = dict(kernel.core.host_names)
        if not kept:
            return cls()
        tables = (
            {kept.get(name, name): name for name in kernel.whole_names(kernel.names(role))}
            for role in ("param", "target", "source", "result")
        )
        return cls(*tables)

    def of_adjoint(self, kernel: CompiledKernel) -> VariableNames:
        """The names of an adjoint's variables: those of the kernel, with as many ``_bar``."""
        callers = dict(self.pairs())
        if not callers:
            return VariableNames()
        tables = []
        for role in ("param", "target", "source", "result"):
            table: Dict[str, str] = {}
            for variable in kernel.whole_names(kernel.names(role)):
                known = variable
                while known not in callers and known.endswith("_bar"):
                    known = known[: -len("_bar")]
                name = callers.get(known, known) + variable[len(known) :]
                table[variable if name in table else name] = variable
            tables.append(table)
        return VariableNames(*tables)


class Kernel(CompiledKernel):
    """A kernel: from ``gdr.compile``, ``gdr.assemble``, ``gdr.load``, ``gdr.builtin`` or
    ``@gdr.kernel``. It is immutable; any number of devices and threads may use it.

    Examples:
        >>> gravity = gdr.builtin("gravity")
        >>> gravity.name, gravity.clocks, gravity.flops
        ('gravity', 19.0, 38.0)
        >>> gdr.from_object(gravity.object).assembly == gravity.assembly
        True
    """

    def __init__(self, core: _core.Kernel, caller_names: Optional[VariableNames] = None) -> None:
        super().__init__(core)
        self._caller_names = caller_names or VariableNames.of_kernel(self)

    def other_names(self, role: str) -> Dict[str, ArrayVariable]:
        """Names of variables besides those of the program, the caller's among them."""
        callers = getattr(self._caller_names, f"{role}s")
        if not callers:
            return super().other_names(role)
        found = dict(super().other_names(role))
        for name, variable in callers.items():
            if self.elements_named(name, role):
                continue
            whole = self.array_named(variable)
            elements = self.elements_named(variable, role)
            found[name] = whole or ArrayVariable(name, (), elements)
        return found

    @functools.cached_property
    def softening(self) -> FrozenSet[str]:
        """The ``param``s that are 0 if they are not given: softening lengths, unless they are
        parameters of a Python function, which has its own default values."""
        if self._caller_names.params:
            return frozenset()
        return frozenset(v.name for v in self.variables if v.role == "param" and v.quantity == "eps")

    @property
    def name(self) -> str:
        """Name of the kernel, from its text or file."""
        return self.core.name

    @property
    def clocks(self) -> float:
        """Clocks of the loop body for one interaction on one PE."""
        return scheduled(self.core).clocks

    @property
    def flops(self) -> float:
        """Floating-point operations of one interaction."""
        return self.core.flops

    @property
    def assembly(self) -> str:
        """Assembly text that assembles to the same object, byte for byte."""
        return scheduled(self.core).assembly

    @property
    def object(self) -> bytes:
        """The bytes of the kernel's object file (.gdo)."""
        return scheduled(self.core).object

    def scheduled(self) -> Kernel:
        """This kernel after the search for the chip's shortest loop (``gdr.compile``), which takes up
        to some seconds. Statistics of its jobs are those of the chip on every engine.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y, q; VARF f; f += q*exp(-(x - y)^2);")
            >>> law.scheduled().clocks
            16.0
        """
        made = copy.copy(self)
        made.core = scheduled(self.core)
        return made

    def save(self, path: PathLike) -> None:
        """Write the object file atomically. Raises FileError; an existing file is then kept.

        Examples:
            >>> gdr.builtin("gravity").save("gravity.gdo")
            >>> gdr.load("gravity.gdo").clocks
            19.0
        """
        with replacing(_path(path)) as part, open(part, "wb") as file:
            file.write(self.object)

    def __call__(
        self,
        *,
        targets: Union[Mapping[str, Any], int],
        sources: Union[Mapping[str, Any], int],
        params: Optional[Mapping[str, float]] = None,
        results: Any = None,
        out: Any = None,
        dtype: Any = None,
        device: Any = None,
        batch: Any = None,
        offsets: Any = None,
        **more: float,
    ) -> ResultArrays:
        """Run the kernel once, on arrays by name; returns arrays by result name.

        ``targets`` and ``sources`` map every variable of targets and of sources (``VARI`` and ``VARJ``,
        in assembly ``ivar`` and ``jvar``) to an array (a number applies to all items), or are tables
        (structured arrays, DataFrames), whose columns of these names are read; a kernel without such
        variables takes the number of items instead. The names of quantities stand for the variables
        that hold them: "pos", "mass", ``eps`` for ``eps2`` (docs/guides/python.md, "Names"). Every
        ``param`` must be given, as a keyword (``spring(targets=..., sources=..., k=2.0)``) or in
        ``params``; a softening length is 0 unless it is. ``results``: names of the results to compute,
        or a dictionary with an array to fill for each; all results by default. ``out``: a dictionary
        with arrays to fill for some of them. ``dtype``: float64 or float32, the type of new arrays.
        Results belong to the library of the arguments: NumPy, PyTorch, JAX (docs/guides/python.md,
        "Arrays").

        Vectors have arrays of shape (n, 3), symmetric tensors (n, 6). A result that is not finite
        for some target raises a RuntimeWarning that names it.

        ``batch``: a pair of integer arrays, a label for each target and one for each source. Only
        sources with the label of a target act on it: many independent systems are computed in one
        call (``gdr.SetJob``). Labels may have any order. Where the items of each system follow each
        other, ``offsets`` is faster: a pair of arrays with the index of the first target (source)
        of each system, and the number of targets (sources).
        """
        check_type("params", params, (Mapping, type(None)), "a dictionary")
        options = results, out, dtype, device, batch, offsets
        return self._run(targets, sources, {**(params or {}), **more}, *options)

    def adjoint(
        self,
        *,
        targets: Union[str, Iterable[str]] = (),
        sources: Union[str, Iterable[str]] = (),
        params: Union[str, Iterable[str]] = (),
    ) -> Kernel:
        """The kernel that computes derivatives of this one's results.

        For results f_k(i), sums over all sources, it has the derivatives of the sum of g_k(i) f_k(i),
        over all targets and results, with respect to the named variables: targets and params, or
        sources and params. They are its results, ``x_bar`` for a variable ``x``; the weights g_k are
        inputs, ``f_bar`` for a result ``f``; if a name is taken, another ``_bar`` follows. Other
        inputs keep their names, and those that no derivative needs are left out. With respect to
        sources the roles are exchanged: the sources of this kernel are the targets of the adjoint, and
        its targets, with the weights, the sources. The derivative with respect to a param is the sum of
        its result over all targets. If targets and sources are the same particles, add both.

        Examples:
            >>> law = gdr.compile("CONST k; VARI x; VARJ xs; VARF u; u += exp(-k*(x - xs)^2);")
            >>> gradient = law.adjoint(targets="x", params="k")
            >>> d = gradient(targets={"x": [0.5], "u_bar": [1.0]}, sources={"xs": [0.0]}, k=2.0)
            >>> print(d["x_bar"].round(4), d["k_bar"].sum().round(4))
            [-1.2131] -0.1516

        The adjoint of an adjoint gives second derivatives. A minimum or maximum with an index and
        the k smallest or largest take the index as an input of the targets, a product, a logarithm of
        a sum of exponentials and its means their values.
        docs/reference/kernel-language.md#derivatives has the rules; ``gdr compile --adjoint`` prints
        the text.

        Raises UsageError for a name that stands for no variable of numbers, and for targets together
        with sources; UnsupportedError for a kernel without a text in the kernel language (assembly,
        object files), for tables, and for minima, maxima and the k smallest without an index.
        """
        variables = []
        for side, given in (("targets", targets), ("sources", sources), ("params", params)):
            names = [given] if isinstance(given, str) else list(given)
            known = getattr(self._caller_names, side)
            for name in names:
                variable = known.get(check_text(side, name), name)
                elements = self.elements_named(variable)
                if elements and elements[0].role != side[:-1]:
                    role = elements[0].role
                    raise UsageError(f"kernel {self.name!r}: {side}: {name} is a {role}")
                variables.append(variable)
        made = CompiledKernel(self.core.adjoint(variables))
        callers = self._caller_names.of_adjoint(made)
        return Kernel(made.core.with_host_names(callers.pairs()), callers)

    def tree(
        self,
        accuracy: float = 1e-3,
        *,
        theta: Optional[float] = None,
        degree: Optional[int] = None,
        group_size: Optional[int] = None,
        leaf_size: Optional[int] = None,
        samples: Optional[int] = None,
        device: Any = None,
        **params: float,
    ) -> TreeSum:
        """A ``gdr.TreeSum`` of this kernel: sums over many particles to an accuracy.

        Examples:
            >>> law = gdr.compile("VARI vec3 xi as pos; VARJ vec3 xj as pos; VARJ qj; VARF u;"
            ...                   "r = norm(xj - xi); skip if (r == 0); u += qj/r;")
            >>> law.tree(1e-3)(pos, sources={"qj": mass}).u.shape
            (60,)
        """
        from ._trees import TreeSum as Tree

        return Tree(
            self,
            accuracy,
            theta=theta,
            degree=degree,
            group_size=group_size,
            leaf_size=leaf_size,
            samples=samples,
            device=device,
            **params,
        )

    def _run(
        self,
        targets: Union[Mapping[str, Any], int],
        sources: Union[Mapping[str, Any], int],
        params: Mapping[str, Any],
        results: Any,
        out: Any,
        dtype: Any,
        device: Any,
        batch: Any = None,
        offsets: Any = None,
    ) -> ResultArrays:
        chosen = device_or_default(device)
        if batch is not None or offsets is not None:
            options = self._selected(results), self._selected(out), dtype, batch, offsets
            return self._run_batches(chosen, targets, sources, params, *options)
        job = chosen._pool.take(self)
        with chosen._ranks.argument_checks():
            given, of_sources, of_targets = self.arguments(targets, sources, params)
            source_count, source_arrays = of_sources
            target_count, target_arrays = of_targets
        try:
            job.set(**given)
            job.sources(source_count, **source_arrays)
            job.targets(target_count, **target_arrays)
        except (TypeError, ValueError) as error:
            raise self._in_caller_names(error) from None
        wanted = self._selected(results), self._selected(out)
        computed, outputs = job._run(*wanted, dtype)
        same = job.source_count == job.target_count
        chosen._pool.give(job)
        return self._checked(computed, outputs, same, 5)

    def _checked(
        self, computed: ResultArrays, outputs: Outputs, maybe_same: bool, stacklevel: int
    ) -> ResultArrays:
        """The results of a call by the names of the caller, after a warning if some are not
        finite."""
        named = self._in_results_of_caller(computed)
        self._warn_not_finite(computed, named, maybe_same, stacklevel=stacklevel)
        if outputs is NEW_ARRAYS:
            return named
        return self._in_results_of_caller(outputs.finished(computed))

    def _selected(self, results: Any) -> Any:
        """Names of results, or arrays to fill, by the names of the program."""
        names = self._caller_names.results
        if isinstance(results, abc.Mapping):
            return {names.get(name, name): out for name, out in results.items()}
        if results is None or isinstance(results, str) or hasattr(results, "dtype"):
            return results  # all, an error, or the array of the only result
        return [names.get(name, name) for name in results]

    def _in_results_of_caller(self, computed: Mapping[str, AnyArray]) -> ResultArrays:
        """Results by the names of the caller."""
        caller_name = {variable: name for name, variable in self._caller_names.results.items()}
        return ResultArrays((caller_name.get(name, name), a) for name, a in computed.items())

    def _run_batches(
        self,
        chosen: Any,
        targets: Union[Mapping[str, Any], int],
        sources: Union[Mapping[str, Any], int],
        params: Mapping[str, Any],
        results: Any,
        out: Any,
        dtype: Any,
        batch: Any,
        offsets: Any,
    ) -> ResultArrays:
        """A call for many systems, which labels or offsets tell apart."""
        from ._batches import read_batches, run_batches

        with chosen._ranks.argument_checks():
            given, of_sources, of_targets = self.arguments(targets, sources, params)
            batches = read_batches(batch, offsets)
            wanted = results_to_fill(self, results, out)
        items = given, of_targets, of_sources
        try:
            computed, outputs = run_batches(chosen._ranks, self, *items, batches, wanted, dtype)
        except (TypeError, ValueError) as error:
            raise self._in_caller_names(error) from None
        return self._checked(computed, outputs, False, 6)

    def _in_caller_names(self, error: Exception) -> Exception:
        """An error about an argument, whose message begins with a variable's name, with the name that
        the caller gave it; others as they are."""
        message = str(error)
        variable = re.match(r"\w+", message)
        for side in ("params", "targets", "sources"):
            for name, known in getattr(self._caller_names, side).items():
                if variable and variable[0] == known != name:
                    return type(error)(f"{side}: {name}{message[variable.end() :]}")
        return error

    @functools.cached_property
    def _sums(self) -> Set[str]:
        """Results, also arrays of them, that are sums of numbers."""
        sums = {v.name for v in self.variables if v.reduction == "fadd"}
        return sums | {a.name for a in self.arrays if a.elements[0].name in sums}

    def _warn_not_finite(
        self,
        computed: Mapping[str, AnyArray],
        out: Mapping[str, AnyArray],
        maybe_same: bool,
        stacklevel: int = 4,
    ) -> None:
        """One warning for the sums that are infinite or not a number, at the caller's line."""
        numbers = {v: numbers_in(array) for v, array in zip(computed, out.values())}
        if _core.are_finite([array for v, array in numbers.items() if v in self._sums]):
            return
        sums = self._sums
        bad = []
        for (variable, array), name in zip(numbers.items(), out):
            if variable not in sums or array.dtype.kind != "f" or _is_finite(array):
                continue
            rows = np.flatnonzero(~np.isfinite(array.reshape(len(array), -1)).all(axis=1))
            bad.append(f"{name!r} for {len(rows)} of {len(array)} targets (first: {rows[0]})")
        if not bad:
            return
        hint = "a pair may be outside of the domain of a function (the root of a negative number, "
        hint += "a division by zero where a source is at a target), or out of range: "
        hint += "skip such pairs; a softening length avoids distance zero"
        if maybe_same:
            hint += "; if the targets are the sources, exclude the pair of a particle with itself"
        text = f"kernel {self.name!r}: results are not finite: {', '.join(bad)}; {hint}"
        warnings.warn(text, RuntimeWarning, stacklevel=stacklevel)

    def arguments(
        self,
        targets: Union[Mapping[str, Any], int],
        sources: Union[Mapping[str, Any], int],
        params: Mapping[str, Any],
    ) -> Tuple[Dict[str, Any], Items, Items]:
        """The arguments of a call by the names of the program's variables: params, sources and
        targets, of the latter the number, if that is what was given, and the arrays."""
        names = self._caller_names
        given = self._params(params)
        optional = {v.name for v in self.variables if v.default_value is not None}
        sources, targets = self._columns("source", sources), self._columns("target", targets)
        of_sources = _items("sources", sources, names.sources, optional)
        return given, of_sources, _items("targets", targets, names.targets, optional)

    def _columns(self, role: str, data: Any) -> Any:
        """The columns of a table that the kernel reads; anything else unchanged."""
        table = self._caller_names.sources if role == "source" else self._caller_names.targets
        if not table:
            return self.columns(role, data)
        if isinstance(data, (abc.Mapping, int)) or (held := column_names(data)) is None:
            return data
        return {name: data[name] for name in table if name in held}

    def _params(self, params: Mapping[str, Any]) -> Dict[str, Any]:
        variables = self._caller_names.params
        given = {variables.get(name, name): v for name, v in params.items()}
        stands_for = {name: self.param_named(variables.get(name, name))[0] for name in params}
        named = {e.name for n in stands_for.values() for e in self.elements_named(n, "param")}
        left = [name for name in self.names("param") if name not in named]
        given.update(dict.fromkeys(self.softening.intersection(left), 0.0))
        left = [name for name in left if name not in self.softening]
        unknown = [n for n, own in stands_for.items() if not self.elements_named(own, "param")]
        if left or unknown:
            callers = {variable: name for name, variable in variables.items()}
            known = [callers.get(n, n) for n in self.whole_names(self.names("param"))]
            missing = [callers.get(n, n) for n in self.whole_names(left)]
            parts = [f"missing params: {', '.join(missing)}"] if missing else []
            word = "unknown" if missing else "unknown params"
            parts += [f"{word}: {', '.join(unknown)}"] if unknown else []
            text = "; ".join(parts) + advice(unknown, known) + undeclared(unknown)
            raise UsageError(f"kernel {self.name!r}: {text}")
        return given

    def __repr__(self) -> str:
        # Without the clocks, which may need a search of seconds.
        return f"<gdr.Kernel {self.name}: {self.flops:g} operations>"

    def _repr_html_(self) -> str:
        names = dict(self._caller_names.pairs())
        rows = [(names.get(name, name), *rest) for name, *rest in self.interface_rows()]
        title = f"kernel {self.name}: {self.flops:g} operations"
        return html_table(title, rows, ("variable", "role", "type"))

    def __reduce__(self) -> Tuple[Any, ...]:
        return from_object, (self.object,)


def _is_finite(array: AnyArray) -> bool:
    """Whether all elements are finite. A sum of squares that is tells it faster for few."""
    if array.size <= 4096 and math.isfinite(np.vdot(array, array)):
        return True
    return bool(np.isfinite(array).all())


def _items(
    side: str, data: Any, table: Mapping[str, str], optional: AbstractSet[str]
) -> Items:
    """Sources or targets of a call: their number, if that is what was given, and the arrays by
    variable, of which the optional ones may be missing; without a table the library checks the
    names."""
    free = {name for name in table if table[name] in optional} if optional else set()
    if not isinstance(data, abc.Mapping):
        try:
            count = integer(side, data)
        except TypeError:
            what = f"expected a dictionary of arrays, or a number, got {type(data).__name__}"
            raise TypeError(f"{side}: {what}") from None
        missing = wrong_names((), list(table), free)
        if missing:
            raise TypeError(f"{side}: {missing}; pass a dictionary of arrays")
        return count, {}
    for name, value in data.items():
        if type(value) is not np.ndarray:
            refuse_units(f"{side}: {name}", value)
    if not table:
        return None, dict(data)
    wrong = "" if data.keys() == table.keys() else wrong_names(data, list(table), free)
    if wrong:
        raise TypeError(f"{side}: {wrong}")
    return None, {table[name]: value for name, value in data.items()}


def compile(text: str, name: str = "kernel", *, effort: int = 2) -> Kernel:
    """Compile a kernel from the kernel language (docs/reference/kernel-language.md), which takes
    milliseconds and finds all errors.

        law = gdr.compile("VARI x; VARJ xs; VARF f; CONST k; f += k*(xs - x);")
        f = law(targets={"x": pos[:, 0]}, sources={"xs": pos[:, 0]}, k=2.0).f

    The search for the chip's shortest loop, of up to some seconds, follows when something needs it:
    a job on an exact engine or a board, ``clocks``, ``assembly``, ``object`` or ``save``. Other
    Python threads run meanwhile, Ctrl-C cancels it, and a progress bar appears after a second if
    tqdm is installed. Its result is kept on the disk (docs/reference/environment.md).

    ``effort``, from 0 to 9, is the effort of the search for a shorter loop, as in
    ``gdr compile --effort``: 0 takes the first schedule, which is fast and often gives a loop that
    is a few clocks longer.

    Raises ProgramError with every diagnostic and its source line, or with the resource of the chip
    that the kernel exceeds.
    """
    level = integer("effort", effort, 0, 9)
    return Kernel(_core.Kernel.compile(check_text("text", text), check_text("name", name), level))


def assemble(text: str, name: str = "kernel") -> Kernel:
    """Assemble a kernel (docs/reference/assembler.md). Raises ProgramError like ``compile``.

    Examples:
        >>> gdr.assemble(gdr.builtin("gravity").assembly).clocks
        19.0
    """
    return Kernel(_core.Kernel.assemble(check_text("text", text), check_text("name", name)))


def load(path: PathLike) -> Kernel:
    """Read an object file (.gdo), compile a kernel (.gdk), or assemble any other file.

    Examples:
        >>> gdr.builtin("gravity").save("law.gdo")
        >>> gdr.load("law.gdo").clocks
        19.0
    """
    return Kernel(_core.Kernel.load(os.fsencode(_path(path))))


def from_object(data: Union[bytes, bytearray, memoryview], name: str = "object") -> Kernel:
    """The kernel in the bytes of an object file; ``name`` appears in messages.

    Examples:
        >>> gdr.from_object(gdr.builtin("gravity").object).clocks
        19.0
    """
    check_type("data", data, (bytes, bytearray, memoryview), "bytes")
    return Kernel(_core.Kernel.from_object(bytes(data), check_text("name", name)))


def builtin(name: str) -> Kernel:
    """A built-in kernel of the library; ``gdr.builtin_names()`` lists them.

    Examples:
        >>> gdr.builtin("gravity").clocks  # for an interaction on the chip
        19.0
    """
    return _builtin(check_text("name", name))


@functools.lru_cache(maxsize=None)
def _builtin(name: str) -> Kernel:
    return Kernel(_core.Kernel.builtin(name))


def builtin_names() -> List[str]:
    """Names of the built-in kernels.

    Examples:
        >>> [name for name in gdr.builtin_names() if "lennard" in name]
        ['lennard_jones', 'lennard_jones_mixed']
    """
    return _core.Kernel.builtin_names()


def _path(path: Any) -> str:
    """A path as a string, with surrogate escapes for bytes that are not UTF-8."""
    check_type("path", path, (str, bytes, os.PathLike), "a path")
    return os.fsdecode(path)
