"""Kernels as differentiable functions of a row of operands: what ``gdr.jax`` and ``gdr.torch`` share.

For results ``f_k(i) = sum_j c_k(x_i, y_j, p)`` and weights g_k(i), the derivatives of ``sum g_k(i)
f_k(i)`` with respect to targets, sources and parameters are sums of the same kind, which the
compiler writes (``Kernel.adjoint``). So the derivatives of a law are laws.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from ._arrays import AnyArray, check_type
from ._kernel import Kernel, VariableNames, compile
from ._open import DeviceLike, device_or_default
from ._set_job import SetJob, SourceLists
from .errors import UsageError

TARGETS, SOURCES, PARAMS = "targets", "sources", "params"
_EXCHANGED = {TARGETS: SOURCES, SOURCES: TARGETS, PARAMS: PARAMS}
_ROLES = {"target": TARGETS, "source": SOURCES, "param": PARAMS}


@dataclasses.dataclass(frozen=True)
class Operand:
    """An argument of a law, or a result."""

    name: str  #: that of the kernel's variable
    #: What it has a value for: the "targets" or "sources" of the first law, or all ("params").
    items: str
    side: str  #: the kernel's side of it, which an adjoint exchanges
    sizes: Tuple[int, ...] = ()  #: shape of a value
    integer: bool = False  #: ints have no derivative
    known: bool = False  #: a result of the law of which this one is an adjoint


class Law:
    """A kernel, with the order of its arguments and results; ``law_of`` and ``adjoint`` make it.

    Operands that the kernel does not read are ignored. A result whose ``items`` are "params" is the
    sum over all targets of the kernel.
    """

    def __init__(
        self, kernel: Kernel, operands: Sequence[Operand], results: Sequence[Operand]
    ) -> None:
        self.kernel = kernel
        self.operands = tuple(operands)
        self.results = tuple(results)
        self._read = {
            side: [
                (k, o)
                for k, o in enumerate(self.operands)
                if o.side == side and kernel.elements_named(o.name, role)
            ]
            for role, side in _ROLES.items()
        }
        #: Numbers of the results that are no sums: adjoints may read them.
        self.known = tuple(
            k
            for k, o in enumerate(self.results)
            if kernel.elements_named(o.name, "result")[0].reduction not in ("fadd", "iadd")
        )
        self._adjoints: Dict[Tuple[int, ...], Law] = {}
        self._lock = threading.Lock()

    def counts(self, shapes: Sequence[Tuple[int, ...]]) -> Dict[str, int]:
        """The numbers of targets and sources of operands with these shapes; ValueError if they
        differ, or a value has another shape."""
        counts: Dict[str, int] = {}
        for o, shape in zip(self.operands, shapes):
            per_item = o.items != PARAMS
            if tuple(shape[per_item:]) != o.sizes or (per_item and not shape):
                want = (*((o.items,) if per_item else ()), *map(str, o.sizes))
                raise ValueError(f"{o.name}: expected shape ({', '.join(want)}), got {tuple(shape)}")
            if per_item and counts.setdefault(o.items, shape[0]) != shape[0]:
                what = f"expected {counts[o.items]} {o.items}, got {shape[0]}"
                raise ValueError(f"{o.name}: {what}")
        return counts

    def given_counts(self, shapes: Sequence[Tuple[int, ...]]) -> Dict[str, int]:
        """The numbers of targets and sources, where some operands may have one value for all items.
        TypeError if all of a side have."""
        counts: Dict[str, int] = {}
        for o, shape in zip(self.operands, shapes):
            if o.items != PARAMS and len(shape) > len(o.sizes):
                counts.setdefault(o.items, shape[0])
        for o in self.operands:
            if o.items != PARAMS and o.items not in counts:
                raise TypeError(f"{o.name}: the number of {o.items} is unknown; pass an array")
        return counts

    def shapes(self, counts: Mapping[str, int]) -> List[Tuple[int, ...]]:
        """The shapes of the results for these numbers of targets and sources."""
        return [(*((counts[o.items],) if o.items != PARAMS else ()), *o.sizes) for o in self.results]

    def compute(
        self,
        arrays: Sequence[AnyArray],
        outs: Sequence[AnyArray],
        device: Optional[DeviceLike] = None,
        systems: int = 1,
    ) -> None:
        """Fill ``outs``, arrays of the shapes of the results, from the arrays of the operands.

        Targets and sources are those of so many independent systems of equal size, one after the
        other; params are shared.
        """
        items = {o.side: o.items for o in (*self.operands, *self.results) if o.items != PARAMS}
        counts = self.counts([a.shape for a in arrays])
        inputs: Dict[str, Dict[str, AnyArray]] = {}
        for side in (TARGETS, SOURCES):
            n = counts[items[side]]
            inputs[side] = {
                o.name: np.broadcast_to(arrays[k], (n, *o.sizes))
                if o.items == PARAMS
                else _without_empty(arrays[k])
                if o.known and not o.integer
                else arrays[k]
                for k, o in self._read[side]
            }
        n, m = counts[items[TARGETS]], counts[items[SOURCES]]
        filled = {
            o.name: out if o.items != PARAMS else np.empty((n, *o.sizes))
            for o, out in zip(self.results, outs)
        }
        of_params = {o.name: arrays[k] for k, o in self._read[PARAMS]}
        params: Dict[str, Any] = {k: a if a.ndim else float(a) for k, a in of_params.items()}
        if n > 0 and systems > 1:
            of_targets, of_sources = (np.arange(systems + 1) * (k // systems) for k in (n, m))
            sets = SetJob(device_or_default(device)._ranks, self.kernel)
            sets.set(**params)
            sets.run(inputs[TARGETS], of_targets, SourceLists(inputs[SOURCES], of_sources), filled)
        elif n > 0:
            chosen = device_or_default(device)
            job = chosen._pool.take(self.kernel)
            job.set(**params)
            _pass(job.sources, m, inputs[SOURCES])
            _pass(job.targets, n, inputs[TARGETS])
            job.run(filled)
            chosen._pool.give(job)
        for o, out in zip(self.results, outs):
            if o.items == PARAMS:
                out[...] = filled[o.name].sum(axis=0)

    @functools.cached_property
    def of_each_target(self) -> Law:
        """This law with results for each target of the kernel instead of sums over all of them."""
        if all(o.items != PARAMS for o in self.results):
            return self
        items = {o.side: o.items for o in self.operands if o.items != PARAMS}
        results = [
            dataclasses.replace(o, items=items[TARGETS]) if o.items == PARAMS else o
            for o in self.results
        ]
        return Law(self.kernel, self.operands, results)

    def adjoint(self, by: Tuple[int, ...]) -> Law:
        """The law of the derivatives of ``S = sum of g_k f_k`` with respect to the operands with
        these numbers, all of the kernel's targets and params, or all of its sources and params.

        Its operands are those of this law, its results, of which the kernel reads what it needs (the
        index of a minimum, the logarithm of a sum of exponentials), and the weights g_k, one for each
        result.
        """
        with self._lock:
            if by not in self._adjoints:
                self._adjoints[by] = self._make_adjoint(by)
            return self._adjoints[by]

    def _make_adjoint(self, by: Tuple[int, ...]) -> Law:
        exchanged = any(self.operands[k].side == SOURCES for k in by)
        core = self.kernel.core.adjoint([self.operands[k].name for k in by])
        kernel = Kernel(core, VariableNames())
        taken = {v.name for v in self.kernel.variables if v.role != "result"}
        taken |= {a.name for a in self.kernel.arrays if a.role != "result"}

        def moved(o: Operand, name: str) -> Operand:
            side = _EXCHANGED[o.side] if exchanged else o.side
            return dataclasses.replace(o, name=name, side=side)

        kept = [moved(o, o.name) for o in self.operands]
        known = [dataclasses.replace(self.results[k], known=True) for k in self.known]
        kept += [moved(o, o.name) for o in known]
        role = "source" if exchanged else "target"
        taken |= {o.name for o in known if kernel.elements_named(o.name, role)}
        weights = [moved(o, _barred(o, taken)) for o in self.results]
        slopes = [
            dataclasses.replace(o, name=_barred(o, taken), side=TARGETS)
            for o in (self.operands[k] for k in by)
        ]
        return Law(kernel, (*kept, *weights), slopes)

    def adjoints(self, by: Iterable[int]) -> List[Tuple[Law, Tuple[int, ...]]]:
        """The laws whose results are the derivatives with respect to these operands, each with the
        numbers of those that it has. The derivatives are zero by operands that the kernel does not
        read, which no law has."""
        read = {k for pairs in self._read.values() for k, _ in pairs}
        left = read.intersection(by)
        sources = tuple(sorted(k for k in left if self.operands[k].side == SOURCES))
        others = tuple(sorted(left.difference(sources)))
        return [(self.adjoint(part), part) for part in (others, sources) if part]


def _barred(o: Operand, taken: Set[str]) -> str:
    """The name of a derivative in an adjoint kernel, which is taken then."""
    name, count = o.name, int(np.prod(o.sizes, dtype=int))

    def used() -> bool:
        return name in taken or any(f"{name}_{k}" in taken for k in range(count * bool(o.sizes)))

    name += "_bar"
    while used():
        name += "_bar"
    taken.add(name)
    return name


def _without_empty(logarithms: AnyArray) -> AnyArray:
    """Logarithms of sums of nothing as zeros, which no source reads: inputs are finite."""
    empty = np.isneginf(logarithms)
    return np.where(empty, 0.0, logarithms) if empty.any() else logarithms


def _pass(give: Any, n: int, arrays: Dict[str, AnyArray]) -> None:
    if arrays:
        give(**arrays)
    else:
        give(n)


@functools.lru_cache(maxsize=256)
def law_of(kernel: Kernel, names: Tuple[Tuple[str, str], ...]) -> Law:
    """The law of a kernel with these arguments, pairs of a side and a variable, and all its results:
    adjoints need the weights of all."""
    for side, name in names:
        if not kernel.elements_named(name, side[:-1]):
            raise UsageError(f"{side}: the kernel has no variable {name!r}")
    operands = [_operand(kernel, name, side) for side, name in names]
    results = kernel.whole_names(kernel.names("result"))
    return Law(kernel, operands, [_operand(kernel, name, TARGETS) for name in results])


def _operand(kernel: Kernel, name: str, side: str) -> Operand:
    whole, (first, *_) = kernel.array_named(name), kernel.elements_named(name)
    sizes = tuple(whole.sizes) if whole is not None else ()
    return Operand(name, side, side, sizes, first.type == "int64")


@dataclasses.dataclass(frozen=True)
class BoundLaw:
    """A law with the values of its operands, as the caller passed them."""

    law: Law
    values: Tuple[Any, ...]
    wanted: Tuple[int, ...]  #: numbers of the results that the caller asked for
    names: Tuple[str, ...]  #: of these, by the caller


def bound_law(
    kernel: Kernel,
    targets: Mapping[str, Any],
    sources: Mapping[str, Any],
    params: Mapping[str, Any],
    results: Optional[Sequence[str]],
) -> BoundLaw:
    """The law of a call of a kernel, whose arguments are those of ``Kernel.__call__``. Raises
    TypeError or UsageError for missing and unknown ones."""
    for side, given in ((TARGETS, targets), (SOURCES, sources)):
        check_type(side, given, Mapping, "a dictionary of arrays")
        if not given:
            raise TypeError(f"{side}: expected a dictionary with an array or more")
    if isinstance(results, str):
        raise TypeError("results: expected a list of names, got one string")
    defaults = getattr(kernel, "defaults", {})
    of_params, of_sources, of_targets = kernel.arguments(targets, sources, {**defaults, **params})
    sides = {TARGETS: of_targets[1], SOURCES: of_sources[1], PARAMS: of_params}
    names = tuple((side, name) for side, given in sides.items() for name in given)
    variables = kernel._caller_names.results
    law = law_of(kernel, names)
    own = [o.name for o in law.results]
    chosen = own if results is None else [variables.get(name, name) for name in results]
    for name in chosen:
        if name not in own:
            raise UsageError(f"unknown result {name!r}; the results are {', '.join(own)}")
    wanted = tuple(own.index(name) for name in chosen)
    values = tuple(value for given in sides.values() for value in given.values())
    callers = {variable: name for name, variable in variables.items()}
    return BoundLaw(law, values, wanted, tuple(callers.get(name, name) for name in chosen))


#: Softened gravity of ``gdr.gravity`` as a text, of which the compiler makes adjoints. Equal ids are
#: one particle; a pair at distance zero without softening contributes nothing.
GRAVITY = """
kernel gravity_law;
CONST eps;
VARI vec3 pos; VARI int id = -1;
VARJ vec3 at; VARJ mass; VARJ int number = -2;
VARF vec3 acc; VARF pot;
d = at - pos;
s = norm2(d) + eps*eps;
skip if (id == number || s == 0);
r = rsqrt(s);
acc += mass*r*r*r*d;
pot -= mass*r;
"""


@functools.lru_cache(maxsize=1)
def gravity_kernel() -> Kernel:
    """The kernel of ``GRAVITY``."""
    return compile(GRAVITY)
