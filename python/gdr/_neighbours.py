"""Neighbour lists: the particles within a radius of each target."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from . import _core
from ._arrays import Floats, Ints, as_array, check_finite, floats, integer, ints
from ._display import tuple_table


class Neighbours(NamedTuple):
    """Result of ``gdr.neighbours``: all lists in compressed form.

    The neighbours of target i are ``indices[offsets[i]:offsets[i + 1]]``.
    """

    offsets: Ints  #: one more than targets
    indices: Ints  #: indices of particles, ascending in each list

    def _repr_html_(self) -> str:
        return tuple_table(self)


def _radii(radius: Any, n: int) -> Floats:
    """One radius for all, or one for each target; they may be infinite."""
    alone = as_array("radius", radius).ndim == 0
    r = np.ascontiguousarray(floats("radius", radius, () if alone else (n,))).reshape(-1)
    wrong = ~(r >= 0)
    if wrong.any():
        first = int(np.argmax(wrong))
        where = "" if alone else f"[{first}]"
        raise ValueError(f"radius{where} is {r[first]}; a radius must be a number >= 0")
    return r


def neighbours(
    pos: Any,
    radius: Any,
    targets: Optional[Any] = None,
    *,
    ids: Optional[Any] = None,
    target_ids: Optional[Any] = None,
    threads: int = 0,
) -> Neighbours:
    """The particles whose distance to each target is below the target's radius.

    Parameters: ``pos`` (n, 3); ``radius``, one for all or one for each target, not negative;
    ``targets`` (m, 3), target positions, by default the particles themselves, which are then not in
    their own lists. ``ids`` (n,) and ``target_ids`` (m,), integers below 2^63: particles with the
    id of the target are left out (without ``targets`` only ``ids``). ``threads``: limit of the
    threads, 0: one per core.

    Distances are compared in double precision, ``dx*dx + dy*dy + dz*dz < radius**2``, without
    softening. Lists have any length and ascending indices. The search is done by the host, with
    O(n log n) work for short lists; Ctrl-C stops it. A pair takes 8 bytes of memory, during the
    search 12 to 16: radii that reach all of 100000 particles need 160 GB.

    Raises TypeError or ValueError naming the argument, for coordinates that are not finite and for
    radii that are negative or NaN; and InputError (a ValueError) with the size of lists that exceed
    the available memory, before they are made.
    """
    x = np.ascontiguousarray(floats("pos", pos, ("n", 3)))
    at = x if targets is None else np.ascontiguousarray(floats("targets", targets, ("m", 3)))
    r = _radii(radius, len(at))
    check_finite("pos", x)
    check_finite("targets", at)
    none = np.empty(0, np.int64)
    source_ids = none if ids is None else np.ascontiguousarray(ints("ids", ids, (len(x),)))
    if targets is None:
        if target_ids is not None:
            raise ValueError("target_ids: without targets these are ids; give only ids")
        wanted = source_ids
    elif (ids is None) != (target_ids is None):
        raise ValueError("target_ids: give both ids and target_ids, or neither")
    elif target_ids is None:
        wanted = none
    else:
        wanted = np.ascontiguousarray(ints("target_ids", target_ids, (len(at),)))
    limit = integer("threads", threads, most=2**31 - 1)
    return Neighbours(
        *_core.find_neighbours(x, at, r, source_ids, wanted, targets is None, limit)
    )
