"""Many independent systems in one call of a kernel: labels or offsets say which items belong to one."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from ._array_kinds import numpy_view
from ._arrays import AnyArray, Ints, as_array, ints
from ._interface import CompiledKernel, Results, result_arrays
from ._outputs import Outputs
from ._ranks import RankGroup
from ._set_job import SetJob, SourceLists, checked_offsets
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
    if offsets is None:
        of_targets = ints("batch[0]", given[0], ("targets",))
        return batches_of_labels(of_targets, ints("batch[1]", given[1], ("sources",)))
    of_targets, of_sources = (checked_offsets(f"offsets[{k}]", given[k]) for k in (0, 1))
    if of_targets[0] != 0:
        raise ValueError(f"offsets[0][0] is {of_targets[0]}: the targets before have no system")
    if len(of_targets) != len(of_sources):
        raise ValueError(
            f"offsets: both need a value for each system and one more, "
            f"but they have {len(of_targets)} and {len(of_sources)}"
        )
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
    n = int(batches.target_offsets[-1])
    with ranks.argument_checks():
        if batches.source_count is not None:
            _check_count(kernel, "targets", targets, n, f"batch[0] has {n} labels")
            labels = batches.source_count
            _check_count(kernel, "sources", sources, labels, f"batch[1] has {labels} labels")
        else:
            last = int(batches.source_offsets[-1])
            _check_count(kernel, "targets", targets, n, f"offsets[0] ends with {n}")
            _check_count(kernel, "sources", sources, last, f"offsets[1] ends with {last}", True)
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
    kernel: CompiledKernel, what: str, items: Items, expected: int, stated: str, more: bool = False
) -> None:
    """ValueError for labels or offsets of another number of items than the arrays have, which begins
    with the name of a variable. ``stated`` says what labels or offsets there are; ``more``: there may
    be more items."""
    count, arrays = items
    for name, value in arrays.items():
        array = as_array(name, value, complex_too=True)
        if _has_items(kernel, name, array) and not _fits(len(array), expected, more):
            raise ValueError(f"{name} has {len(array)} values, but {stated}")
    if count is not None and not _fits(count, expected, more):
        raise ValueError(f"there are {count} {what}, but {stated}")


def _fits(count: int, expected: int, more: bool) -> bool:
    return count == expected or (more and count > expected)
