"""Many independent systems in one call of a kernel: labels or offsets say which items belong to one."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._array_kinds import numpy_view
from ._arrays import AnyArray, Ints, as_array, ints
from ._interface import CompiledKernel, Results, result_arrays
from ._outputs import Outputs
from ._ranks import RankGroup
from ._set_job import SetJob, SourceLists
from .errors import UsageError
from .results import ResultArrays

#: The number of items, or None if arrays tell it, and the arrays by variable.
Items = Tuple[Optional[int], Dict[str, Any]]


class Batches(NamedTuple):
    """Targets and sources by system."""

    target_order: Optional[Ints]  #: targets of the first system, then of the next; None: in order
    target_offsets: Ints  #: first target of each system in that order, and the number of targets
    source_index: Optional[Ints]  #: sources of the first system, then of the next; None: in order
    source_offsets: Ints  #: the same for sources
    source_count: Optional[int] = None  #: number of labels of sources; None: offsets are given


def batches_of_labels(targets: Ints, sources: Ints) -> Batches:
    """Items with equal labels are one system. Sources whose label no target has belong to none."""
    target_order = np.argsort(targets, kind="stable")
    labels, first = np.unique(targets[target_order], return_index=True)
    source_order = np.argsort(sources, kind="stable")
    ordered = sources[source_order]
    begin = np.searchsorted(ordered, labels, "left")
    end = np.searchsorted(ordered, labels, "right")
    used = np.isin(ordered, labels)
    in_order = bool(used.all()) and bool((np.diff(sources) >= 0).all())
    return Batches(
        None if (np.diff(targets) >= 0).all() else target_order,
        np.append(first, len(targets)).astype(np.int64),
        None if in_order else source_order[used].astype(np.int32),
        np.append(0, np.cumsum(end - begin)).astype(np.int64),
        len(sources),
    )


def read_batches(batch: Any, offsets: Any) -> Batches:
    """The arguments ``batch`` and ``offsets`` of a call, one of which is given."""
    if batch is not None and offsets is not None:
        raise UsageError("batch and offsets: give one of them, labels or offsets")
    name, what = ("batch", "labels") if offsets is None else ("offsets", "offsets")
    given = batch if offsets is None else offsets
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise TypeError(
            f"{name}: expected a pair, the {what} of the targets and those of the sources"
        )
    of_targets = ints(f"{name}[0]", given[0], ("targets" if offsets is None else "systems + 1",))
    of_sources = ints(f"{name}[1]", given[1], ("sources" if offsets is None else "systems + 1",))
    if offsets is None:
        return batches_of_labels(of_targets, of_sources)
    if len(of_targets) and of_targets[0] != 0:
        raise ValueError(f"offsets[0][0] is {of_targets[0]}: the targets before have no system")
    return Batches(None, of_targets, None, of_sources)


def run_batches(
    ranks: RankGroup,
    kernel: CompiledKernel,
    params: Mapping[str, Any],
    targets: Items,
    sources: Items,
    batches: Batches,
    results: Results,
    dtype: Any,
) -> Tuple[ResultArrays, Outputs]:
    """Results of all systems, in the order of the targets as they are given, in arrays of NumPy, and
    what makes those of the caller of them."""
    count, arrays = targets
    order = batches.target_order
    n = int(batches.target_offsets[-1]) if len(batches.target_offsets) else 0
    with ranks.argument_checks():
        _check_count("targets", count, arrays, n, kernel)
        if batches.source_count is not None:
            _check_count("sources", *sources, batches.source_count, kernel)
        kinds = {"targets": arrays, "sources": sources[1]}
        outputs = Outputs.of(dtype, isinstance(results, Mapping), kinds)
        filled = result_arrays(kernel, results, n, 0, outputs)
    arrays = {name: numpy_view(name, a) for name, a in arrays.items()}
    ordered = arrays
    if order is not None:
        ordered = {name: _reordered(kernel, name, a, order) for name, a in arrays.items()}
    job = SetJob(ranks, kernel)
    job.set(**params)
    of_sources = {name: numpy_view(name, a) for name, a in sources[1].items()}
    lists = SourceLists(of_sources, batches.source_offsets, batches.source_index)
    if order is None:
        job.run(ordered, batches.target_offsets, lists, filled)
        return filled, outputs
    computed = job.run(ordered, batches.target_offsets, lists, list(filled))
    for name, array in computed.items():
        filled[name][order] = array
    return filled, outputs


def _has_items(kernel: CompiledKernel, name: str, array: AnyArray) -> bool:
    """Whether an array has a row for each item, rather than one value for all."""
    whole = kernel.array_named(name)
    return array.ndim > (len(whole.item_sizes) if whole else 0)


def _reordered(kernel: CompiledKernel, name: str, value: Any, order: Ints) -> Any:
    array = as_array(name, value, complex_too=True)
    return array[order] if _has_items(kernel, name, array) else value


def _check_count(
    what: str,
    count: Optional[int],
    arrays: Mapping[str, Any],
    labels: int,
    kernel: CompiledKernel,
) -> None:
    """ValueError for labels or offsets of another number of items than the arrays have."""
    lengths = {
        name: len(array)
        for name, array in ((k, as_array(k, v, complex_too=True)) for k, v in arrays.items())
        if _has_items(kernel, name, array)
    }
    if count is not None:
        lengths["their number"] = count
    for name, length in lengths.items():
        if length != labels:
            raise ValueError(
                f"{what}: {labels} of them have a label or system, {name} has {length}"
            )
