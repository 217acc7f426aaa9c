"""Set jobs: a kernel on a device, computed on many independent sets in one call."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, Ints, check_type, indices, ints
from ._display import html_table
from ._interface import CompiledKernel, Results, input_arrays, param_numbers, result_arrays
from ._interface import results_to_fill, rows
from ._outputs import NEW_ARRAYS, Outputs
from ._precision import FloatRuns
from ._ranks import RankGroup
from ._search import prepared
from .results import ResultArrays

#: Arrays by variable, or several of them, whose sources are added up in this order.
ArraysOrList = Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]

_Lists = Tuple[AnyArray, int, Dict[str, AnyArray], Optional[AnyArray]]


@dataclasses.dataclass(frozen=True)
class SourceLists:
    """The sources of all sets of ``SetJob.run``, as flattened lists.

    The sources of set k are the items ``index[offsets[k]] ... index[offsets[k + 1] - 1]`` of the
    arrays, or without an index the items ``offsets[k] ... offsets[k + 1] - 1``.

    Examples:
        >>> lists = gdr.SourceLists({"y": [1.0, 2.0, 3.0]}, offsets=[0, 2, 3], index=[0, 2, 1])
        >>> job = gdr.default_device().set_job(gdr.compile("VARI x; VARJ y; VARF f; f += x*y;"))
        >>> job.run({"x": [1.0, 1.0]}, [0, 1, 2], lists).f.tolist()
        [4.0, 2.0]
    """

    arrays: Any  #: all variables of sources by name, or a table, as in ``Job.sources``
    offsets: Any  #: int64, shape (number of sets + 1,); not negative, not decreasing
    index: Any = None  #: int32, shape (total length of the lists,), or None


class SetJob:
    """A kernel on a device, computed on many independent sets; ``device.set_job(kernel)`` creates
    it.

    A set is a number of targets with the sources that act on them, as the groups of a tree code
    with their interaction lists. Its results are those of a job with the same targets and sources,
    bit for bit. With a native engine, threads compute different sets.

    Examples:
        >>> law = gdr.compile("VARI x; VARJ y; CONST k; VARF f; f += k*(x - y)^2;")
        >>> job = gdr.default_device().set_job(law)
        >>> job.set(k=1.0)
        >>> lists = gdr.SourceLists({"y": [1.0, 2.0, 3.0]}, offsets=[0, 2, 3])  # those of two sets
        >>> job.run({"x": [0.0, 1.0, 2.0]}, [0, 2, 3], lists).f.tolist()
        [5.0, 1.0, 1.0]
    """

    def __init__(self, ranks: RankGroup, kernel: CompiledKernel) -> None:
        check_type("kernel", kernel, CompiledKernel, "a gdr.Kernel")
        self.kernel = kernel
        self._ranks = ranks
        self._core = _core.SetJob(ranks.core, prepared(ranks.core, kernel.core))
        self._float_runs = FloatRuns(ranks.core, kernel)
        self._started = ResultArrays(), NEW_ARRAYS
        if defaults := kernel.default_params():
            self.set(**defaults)

    def set(self, **params: Any) -> None:
        """Set ``param``s by name for all sets, as ``Job.set`` does.

        Examples:
            >>> job = gdr.default_device().set_job(gdr.compile("VARI x; VARJ y; CONST k; VARF f; f += k*x*y;"))
            >>> job.set(k=3.0)
            >>> job.run_sets([({"x": [2.0]}, {"y": [1.0]})])[0].f.tolist()
            [6.0]
        """
        with self._ranks.argument_checks():
            numbers = param_numbers(self.kernel, params)
        for name, value in numbers.items():
            self._core.set(name, value)

    def run(
        self,
        targets: Any,
        offsets: Any,
        sources: Union[SourceLists, Sequence[SourceLists]],
        results: Results = None,
        *,
        out: Any = None,
        dtype: Any = None,
    ) -> ResultArrays:
        """Compute all sets, and return the results by name, one for each item of ``targets``.

        ``targets`` maps all variables of targets to arrays, as ``Job.targets`` takes them. The targets of set
        k are their items ``offsets[k] ... offsets[k + 1] - 1``: int64, shape (number of sets + 1,).
        ``sources`` are the ``SourceLists`` of the sets; of several (particles and nodes of a tree)
        each set gets its sources from all, in this order. ``results``, ``out`` and ``dtype`` are those
        of ``Job.run``.
        Items outside of all sets have the result 0, and keep the value of an array that is passed.
        A set without sources has the kernel's initial values.

        Units are those of the kernel. Raises TypeError or ValueError naming the array, or the
        offsets; UsageError for unknown or missing variables; and InputError for an index outside of
        the arrays: "set 4, segment 0: index[17] is 3000, ...", where a segment is one of several
        ``SourceLists``.
        """
        arrays, outputs, group = self._sets(targets, offsets, sources, results, out, dtype)
        self._core.run([group])
        self._float_runs.check()
        return outputs.finished(arrays)

    def start(
        self,
        targets: Any,
        offsets: Any,
        sources: Union[SourceLists, Sequence[SourceLists]],
        results: Results = None,
        *,
        out: Any = None,
        dtype: Any = None,
    ) -> None:
        """Like ``run``, in the background; ``wait`` returns the results or raises the error. The
        arrays of targets and sources are read before the call returns.

        Examples:
            >>> job = gdr.default_device().set_job(gdr.compile("VARI x; VARJ y; VARF f; f += x*y;"))
            >>> job.start({"x": [2.0]}, [0, 1], gdr.SourceLists({"y": [3.0]}, [0, 1]))
            >>> job.wait().f.tolist()
            [6.0]
        """
        arrays, outputs, group = self._sets(targets, offsets, sources, results, out, dtype)
        self._core.start([group])
        self._started = arrays, outputs

    @property
    def ready(self) -> bool:
        """Whether no run is in progress."""
        return self._core.ready()

    def wait(self) -> ResultArrays:
        """Wait for the run that ``start`` began, and return its results."""
        self._core.wait()
        self._float_runs.check()
        (arrays, outputs), self._started = self._started, (ResultArrays(), NEW_ARRAYS)
        return outputs.finished(arrays)

    def __repr__(self) -> str:
        closed = ": its device is closed" if self._ranks.core.closed else ""
        return f"<gdr.SetJob of kernel {self.kernel.core.name}{closed}>"

    def _repr_html_(self) -> str:
        rows = self.kernel.interface_rows()
        return html_table(repr(self)[1:-1], rows, ("variable", "role", "type"))

    def run_sets(
        self,
        sets: Iterable[Tuple[Mapping[str, Any], ArraysOrList]],
        results: Optional[Iterable[str]] = None,
        *,
        dtype: Any = None,
    ) -> List[ResultArrays]:
        """Compute sets with arrays of their own, and return the results of each by name.

        A set is a pair ``(targets, sources)`` of arrays by variable. ``sources`` may be a list of
        such arrays. ``run`` is faster for thousands of small sets, because it takes few arrays.
        ``dtype`` and the library of results are those of ``run``, for each set. Errors are those of
        ``run``, and name the set.

        Examples:
            >>> job = gdr.default_device().set_job(gdr.compile("VARI x; VARJ y; VARF f; f += x*y;"))
            >>> sets = [({"x": [2.0]}, {"y": [3.0, 1.0]}), ({"x": [1.0, 2.0]}, {"y": [5.0]})]
            >>> [found.f.tolist() for found in job.run_sets(sets)]
            [[8.0], [5.0, 10.0]]
        """
        groups, found = [], []
        with self._ranks.argument_checks():
            check_type("sets", sets, Iterable, "pairs of targets and sources")
            names = None if results is None else _names(results)
            for number, pair in enumerate(sets):
                where = f"sets[{number}]"
                check_type(where, pair, (tuple, list), "a pair of targets and sources")
                if len(pair) != 2:
                    raise ValueError(f"{where}: expected a pair of targets and sources")
                try:
                    arrays, outputs, group = self._one_set(*pair, names, dtype)
                except (TypeError, ValueError) as error:
                    error.args = (f"{where}: {error}",)
                    raise
                groups.append(group)
                found.append((arrays, outputs))
        self._core.run(groups)
        self._float_runs.check()
        return [outputs.finished(arrays) for arrays, outputs in found]

    def _one_set(
        self,
        targets: Any,
        sources: ArraysOrList,
        names: Optional[List[str]],
        dtype: Any,
    ) -> Tuple[ResultArrays, Outputs, "_core._Sets"]:
        targets = self.kernel.columns("target", targets)
        sources = self.kernel.columns("source", sources)
        check_type("targets", targets, Mapping, "a dictionary of arrays, or a table")
        check_type("sources", sources, (Mapping, list, tuple), "a dictionary of arrays, or a table")
        n, inputs = input_arrays(self.kernel, "target", None, targets)
        lists: List[_Lists] = []
        parts = [sources] if isinstance(sources, Mapping) else list(sources)
        several = [self.kernel.columns("source", arrays) for arrays in parts]
        for arrays in several:
            check_type("sources", arrays, Mapping, "dictionaries of arrays, or tables")
            count, converted = input_arrays(self.kernel, "source", None, arrays)
            lists.append((np.array([0, count], np.int64), count, converted, None))
        given = {"targets": targets, **{f"sources[{k}]": a for k, a in enumerate(several)}}
        outputs = Outputs.of(dtype, False, given)
        filled = result_arrays(self.kernel, names, n, 0, outputs)
        return filled, outputs, (np.array([0, n], np.int64), n, inputs, rows(filled), lists)

    def _sets(
        self,
        targets: Any,
        offsets: Any,
        sources: Union[SourceLists, Sequence[SourceLists]],
        results: Results,
        out: Any,
        dtype: Any,
    ) -> Tuple[ResultArrays, Outputs, "_core._Sets"]:
        """The arrays to fill, and the arguments of the extension module."""
        with self._ranks.argument_checks():
            targets = self.kernel.columns("target", targets)
            check_type("targets", targets, Mapping, "a dictionary of arrays, or a table")
            bounds = checked_offsets("offsets", offsets)
            first, last = int(bounds[0]), int(bounds[-1])
            n, inputs = input_arrays(self.kernel, "target", None, targets, last)
            _check_last("offsets", last, n, "targets")
            lists = self._all_lists(sources, len(bounds))
            wanted = results_to_fill(self.kernel, results, out)
            given = {"targets": targets, **_source_arrays(sources)}
            outputs = Outputs.of(dtype, isinstance(wanted, Mapping), given)
            arrays = result_arrays(self.kernel, wanted, n, 0, outputs)
            passed = _passed(wanted, arrays)
            outputs.check_no_overlap(inputs, *(converted for _, _, converted, _ in lists))
            for name, array in arrays.items():
                if name not in passed:
                    array[:first] = 0
                    array[last:] = 0
        return arrays, outputs, (bounds, n, inputs, rows(arrays), lists)

    def _all_lists(
        self, sources: Union[SourceLists, Sequence[SourceLists]], offset_count: int
    ) -> List[_Lists]:
        if isinstance(sources, SourceLists):
            return [self._lists("sources", sources, offset_count)]
        check_type("sources", sources, (list, tuple), "gdr.SourceLists")
        lists = []
        for number, given in enumerate(sources):
            check_type(f"sources[{number}]", given, SourceLists, "gdr.SourceLists")
            lists.append(self._lists(f"sources[{number}]", given, offset_count))
        return lists

    def _lists(self, where: str, given: SourceLists, offset_count: int) -> _Lists:
        arrays = self.kernel.columns("source", given.arrays)
        check_type(f"{where}.arrays", arrays, Mapping, "a dictionary of arrays, or a table")
        bounds = checked_offsets(f"{where}.offsets", given.offsets)
        last = int(bounds[-1])
        if len(bounds) != offset_count:
            raise ValueError(
                f"{where}.offsets: expected {offset_count} values, as many as offsets of targets, "
                f"got {len(bounds)}"
            )
        index = None if given.index is None else indices(f"{where}.index", given.index)
        if index is None:
            n, converted = input_arrays(self.kernel, "source", None, arrays, last)
            _check_last(f"{where}.offsets", last, n, "sources")
        else:
            _check_last(f"{where}.offsets", last, len(index), "entries of the index")
            items = int(index.max()) + 1 if len(index) > 0 else 0
            n, converted = input_arrays(self.kernel, "source", None, arrays, items)
        return bounds, n, converted, index


def _names(results: Iterable[str]) -> List[str]:
    """Names of results; no arrays, because every set has its own."""
    if isinstance(results, (str, Mapping)):
        raise TypeError(f"results: expected a list of names, got one {type(results).__name__}")
    check_type("results", results, Iterable, "names")
    return list(results)


def _passed(results: Results, arrays: Mapping[str, AnyArray]) -> Dict[str, AnyArray]:
    """The results whose arrays the caller passed."""
    if not isinstance(results, Mapping):
        return {}
    return {name: array for name, array in arrays.items() if results[name] is not None}


def _source_arrays(sources: Union[SourceLists, Sequence[SourceLists]]) -> Dict[str, Any]:
    """The dictionaries of arrays of all lists, by place."""
    if isinstance(sources, SourceLists):
        return {"sources": sources.arrays}
    return {f"sources[{k}]": given.arrays for k, given in enumerate(sources)}


def checked_offsets(name: str, value: Any) -> Ints:
    """Offsets of lists; ValueError if they are negative or decrease."""
    offsets = np.ascontiguousarray(ints(name, value, ("sets + 1",)))
    if len(offsets) == 0:
        raise ValueError(f"{name}: expected one more offset than sets, got none")
    if offsets[0] < 0:
        raise ValueError(f"{name}[0] is {offsets[0]}, which is negative")
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size > 0:
        k = int(falls[0]) + 1
        raise ValueError(f"{name}[{k}] is {offsets[k]}, less than the offset before it")
    return offsets


def _check_last(name: str, last: int, n: int, what: str) -> None:
    if last > n:
        raise ValueError(f"{name}: the last one is {last}, but there are {n} {what}")
