"""Neighbour lists: the particles within a radius of each target, and their periodic images."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import Floats, Ints, as_array, check_finite, check_type, floats, integer, ints
from ._box import periodic_box
from ._display import tuple_table
from ._outputs import Outputs


class Neighbours(NamedTuple):
    """Result of ``gdr.neighbours``: all lists in compressed form.

    The neighbours of target i are ``indices[offsets[i]:offsets[i + 1]]``.

    Examples:
        >>> found = gdr.neighbours([[0, 0, 0], [1, 0, 0], [5, 0, 0]], 1.5)
        >>> found.offsets.tolist(), found.indices.tolist()
        ([0, 1, 2, 2], [1, 0])
        >>> found.indices[found.offsets[0]:found.offsets[1]].tolist()
        [1]
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


def _arguments(
    pos: Any,
    radius: Any,
    targets: Optional[Any],
    box: Optional[Any],
    periodic: Any,
    ids: Optional[Any],
    target_ids: Optional[Any],
    threads: int,
) -> Tuple[Any, ...]:
    """The checked arguments of a search, as ``_core`` takes them."""
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
    edges = periodic_box(box, periodic)
    return x, at, r, source_ids, wanted, edges, targets is None, limit


def neighbours(
    pos: Any,
    radius: Any,
    targets: Optional[Any] = None,
    *,
    box: Optional[Any] = None,
    periodic: Any = (True, True, True),
    ids: Optional[Any] = None,
    target_ids: Optional[Any] = None,
    threads: int = 0,
) -> Neighbours:
    """The particles whose distance to each target is below the target's radius.

        near = gdr.neighbours(pos, 0.5, box=(4, 4, 4))
        near.indices[near.offsets[3] : near.offsets[4]]  # those of particle 3

    Parameters: ``pos`` (n, 3); ``radius``, one for all or one for each target, not negative;
    ``targets`` (m, 3), target positions, by default the particles themselves, which are then not in
    their own lists. ``ids`` (n,) and ``target_ids`` (m,), integers below 2^63: particles with the
    id of the target are left out (without ``targets`` only ``ids``). ``threads``: limit of the
    threads, 0: one per core.

    ``box``: edges of a box with periodic images, three lengths (3,), one for a cube, or three vectors
    in rows (3, 3); ``periodic``: which of them are periods, one bool for all or three; the others are
    ignored. Each image within the radius is an entry of its own, also images of the target itself
    and those of radii beyond the box. Particles may be outside of the box.
    ``gdr.neighbour_pairs`` says which images they are.

    Distances are compared in double precision, ``dx*dx + dy*dy + dz*dz < radius**2``, without
    softening. Lists have any length and ascending indices. The search is done by the host, with
    O(n) work for short lists; Ctrl-C stops it. A pair takes 8 bytes of memory, during the
    search 12 to 16: radii that reach all of 100000 particles need 160 GB.

    Raises TypeError or ValueError naming the argument, for coordinates that are not finite and for
    radii that are negative or NaN; and InputError (a ValueError) with the size of lists that exceed
    the available memory, before they are made, for edges without length or in a plane, and with a
    box for radii that are infinite or reach more than 1e7 images.
    """
    outputs = Outputs.of(None, False, {"pos": pos, "targets": targets})
    arguments = _arguments(pos, radius, targets, box, periodic, ids, target_ids, threads)
    found = Neighbours(*_core.find_neighbours(*arguments))
    return Neighbours(**outputs.finished(found._asdict()))


def neighbour_pairs(
    quantities: str,
    pos: Any,
    radius: Any,
    targets: Optional[Any] = None,
    *,
    box: Optional[Any] = None,
    periodic: Any = (True, True, True),
    ids: Optional[Any] = None,
    target_ids: Optional[Any] = None,
    threads: int = 0,
    dtype: Optional[Any] = None,
) -> Any:
    """The pairs of ``gdr.neighbours`` as arrays with an element for each pair.

        i, j, d = gdr.neighbour_pairs("ijd", pos, 0.5, box=(4, 4, 4))

    ``quantities`` has a letter for each array, each once, in the order of the result: ``"i"``
    indices of targets, ascending; ``"j"`` indices of particles, ascending for each target; ``"d"``
    distances; ``"D"`` (n, 3), differences ``pos[j] - targets[i] + S @ box``; ``"S"`` (n, 3), the
    integer numbers of edges to the image (0 in directions without period). ASE's
    ``neighbor_list`` and matscipy's ``neighbour_list`` return the same arrays. ``dtype``: float64
    or float32, that of distances and differences. The other parameters are those of
    ``gdr.neighbours``. Pairs are sorted by target, particle and shift.

    Returns a tuple of arrays, of a single letter the array. A pair takes 8 bytes for each of
    ``ijd`` and 24 for each of ``DS``, during the search 28 more.

    Raises the errors of ``gdr.neighbours``, and ValueError for other letters.
    """
    check_type("quantities", quantities, str, "a string")
    if not quantities or not set(quantities) <= set("ijdDS") or len(set(quantities)) < len(quantities):
        raise ValueError(
            f"quantities: expected some of the letters i j d D S, each once, got {quantities!r}"
        )
    outputs = Outputs.of(dtype, False, {"pos": pos, "targets": targets})
    arguments = _arguments(pos, radius, targets, box, periodic, ids, target_ids, threads)
    arrays = dict(zip("ijdDS", _core.find_neighbour_pairs(quantities, *arguments)))
    arrays = outputs.finished({letter: arrays[letter] for letter in quantities})
    found = tuple(arrays[letter] for letter in quantities)
    return found[0] if len(found) == 1 else found
