"""Periodic boxes as arguments: of sums within a cut-off and of neighbour lists."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from ._arrays import Floats, as_array, check_finite, floats, number

#: Three vectors in rows, and which of them are periods; None: open space.
Box = Optional[Tuple[Floats, Tuple[bool, bool, bool]]]


def three_bools(periodic: Any) -> Tuple[bool, bool, bool]:
    """One bool for all directions, or one for each."""
    flags = np.asarray(periodic)
    if flags.dtype != np.bool_ or flags.shape not in ((), (3,)):
        raise TypeError(f"periodic: expected a bool or three bools, got {periodic!r}")
    a, b, c = np.broadcast_to(flags, 3).tolist()
    return a, b, c


def periodic_box(box: Optional[Any], periodic: Any) -> Box:
    """A box of three lengths, of three vectors in rows, or a cube of one length; lengths of directions
    that are not periodic have no effect."""
    directions = three_bools(periodic)
    if box is None:
        return None
    dimensions = as_array("box", box).ndim
    if dimensions == 0:
        box = np.full(3, number("box", box))
    vectors = floats("box", box, (3, 3) if dimensions == 2 else (3,))
    check_finite("box", vectors)
    if vectors.ndim == 1:
        for k, length in enumerate(vectors):
            if directions[k] and length <= 0:
                raise ValueError(f"box[{k}] is {length}; a length must be positive")
        vectors = np.diag(vectors)
    return np.ascontiguousarray(vectors), directions
