"""Checks of positions whose distances have squares that a double cannot represent."""

from __future__ import annotations

import sys
from typing import Iterator, Tuple

import numpy as np

from . import _core
from ._arrays import AnyArray
from .errors import InputError

#: Squares of distances of coordinates up to this one are in range: (2 * 2^510)^2 * 3.
_LARGEST = 2.0**510
_LEAST_SQUARE = sys.float_info.min
#: Coordinates of at least this size are equal or differ by more than the root of that square:
#: doubles that differ, differ by 2^-53 of their size.
_LEAST = 2.0**54 * _LEAST_SQUARE**0.5


def are_in_range(*positions: AnyArray) -> bool:
    """Whether no coordinate needs the check below: a fast test that may be wrong about arrays that
    are not dense."""
    return _core.are_between(list(positions), _LEAST, _LARGEST)


def check_distances(
    targets: AnyArray, sources: AnyArray, same: bool, far_too: bool, softened: bool
) -> None:
    """Raise InputError for two positions (n, 3) without softening that are so near, but not equal,
    that the square of their distance underflows: the kernels of the library leave out pairs whose
    square is 0. ``far_too``: also for one so far away that squares of distances overflow. ``same``:
    the targets are the sources."""
    for what, x in (("pos", sources), ("targets", targets)) if far_too else ():
        far = np.flatnonzero((np.abs(x) > _LARGEST).any(axis=1))
        if far.size > 0:
            raise InputError(
                f"{what}[{far[0]}] is too distant: squares of distances to it exceed the range of "
                "a double; scale the units, or remove it"
            )
    for i, j in () if softened else _lost_pairs(targets, sources, same):
        who = f"pos[{min(i, j)}] and pos[{max(i, j)}]" if same else f"targets[{i}] and pos[{j}]"
        raise InputError(
            f"the distance of {who} is so small, but not 0, that its square is below the range of "
            "a double; scale the units, or make them equal"
        )


def _lost_pairs(targets: AnyArray, sources: AnyArray, same: bool) -> Iterator[Tuple[int, int]]:
    """Pairs of a target and a source whose distance is not 0, but its square is too small."""
    for some, others, exchanged in ((targets, sources, False), (sources, targets, True)):
        small = np.flatnonzero(((np.abs(some) < _LEAST) & (some != 0)).any(axis=1))
        if small.size == 0 or (same and exchanged):
            continue
        order = np.argsort(others[:, 0], kind="stable")
        sorted_x, reach = others[order, 0], _LEAST_SQUARE**0.5
        for i in small:
            first = np.searchsorted(sorted_x, some[i, 0] - reach, "left")
            last = np.searchsorted(sorted_x, some[i, 0] + reach, "right")
            near = order[first:last]
            d = others[near] - some[i]
            with np.errstate(under="ignore", over="ignore"):
                square = (d * d).sum(axis=1)
            lost = near[(square < _LEAST_SQUARE) & (d != 0).any(axis=1)]
            if lost.size > 0:
                yield (int(lost[0]), int(i)) if exchanged else (int(i), int(lost[0]))
