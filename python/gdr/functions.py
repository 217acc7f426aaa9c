"""Functions of the kernel language for use in ``@gdr.kernel``.

A kernel is translated, not called; these definitions let editors and linters resolve the names, and
let the Python function of a kernel be called for single pairs.
"""

from __future__ import annotations

import math
from typing import Any, List

import numpy as np

from ._units import refuse_units

__all__ = [
    "exp",
    "grad",
    "largest",
    "logsumexp",
    "long",
    "minimum_image",
    "norm2",
    "powm32",
    "recip",
    "rsqrt",
    "short",
    "smallest",
    "sqrt",
]

exp = math.exp
sqrt = math.sqrt


def rsqrt(x: float) -> float:
    """1 / sqrt(x).

    Examples:
        >>> gdr.functions.rsqrt(4.0)
        0.5
    """
    return 1 / math.sqrt(x)


def recip(x: float) -> float:
    """1 / x.

    Examples:
        >>> gdr.functions.recip(4.0)
        0.25
    """
    return 1 / x


def powm32(x: float) -> float:
    """x^(-3/2).

    Examples:
        >>> gdr.functions.powm32(4.0)
        0.125
    """
    return float(x**-1.5)


def short(x: float) -> float:
    """x rounded to the 25 significant bits of a short.

    Examples:
        >>> gdr.functions.short(0.1), gdr.functions.short(0.5)
        (0.10000000149011612, 0.5)
    """
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, 25)), exponent - 25)


def long(x: float) -> float:
    """x as a long, which has 61 significant bits and represents every float exactly.

    Examples:
        >>> gdr.functions.long(0.1)
        0.1
    """
    return float(x)


def norm2(x: Any) -> float:
    """The square of the length of a vector.

    Examples:
        >>> gdr.functions.norm2([3.0, 4.0, 0.0])
        25.0
    """
    return float(np.dot(x, x))


def grad(u: float, x: Any) -> Any:
    """The derivative of a number u with respect to a variable x: an attribute of a particle, a
    parameter or a local name, of which u is computed. That of a vector is a vector. Only in kernels:
    the value of a single pair does not tell it. Raises TypeError.

    Examples:
        >>> @gdr.kernel
        ... def force(i, j):
        ...     r = np.sqrt(np.dot(i.x - j.x, i.x - j.x) + 0.01)
        ...     i.f -= gdr.grad(j.q / r, i.x)
        >>> found = force(targets={"x": [[0.0, 0, 0]]}, sources={"x": [[1.0, 0, 0]], "q": [1.0]})
        >>> print(found.f.round(4))
        [[-0.9852  0.      0.    ]]
    """
    raise TypeError("grad: only @gdr.kernel can differentiate; it is not defined for single values")


def minimum_image(d: Any, *box: Any) -> Any:
    """The periodic image of a difference d with the smallest components.

    ``box``: the edge of a cube, a vector of three edges, three edges, or the six numbers a_x, b_x,
    b_y, c_x, c_y, c_z of a lower triangular cell with the edges (a_x, 0, 0), (b_x, b_y, 0) and
    (c_x, c_y, c_z). There is one image of each source: a cut-off above half of the shortest edge,
    or of the smallest height of a cell, loses pairs.

    Examples:
        >>> gdr.functions.minimum_image(0.9, 1.0)
        -0.09999999999999998
        >>> print(gdr.functions.minimum_image(np.array([0.9, -1.4, 0.2]), [1.0, 2.0, 3.0]))
        [-0.1  0.6  0.2]
    """
    for name, value in (("d", d), ("box", box)):
        refuse_units(name, value)
    if len(box) == 6:
        ax, bx, by, cx, cy, cz = box
        image = np.array(d, dtype=float)
        for k, edge in ((2, (cx, cy, cz)), (1, (bx, by, 0.0)), (0, (ax, 0.0, 0.0))):
            image -= np.rint(image[k] / edge[k]) * np.array(edge)
        return image
    edges = np.asarray(box[0] if len(box) == 1 else box, dtype=float)
    return d - edges * np.rint(d / edges)


def logsumexp(total: Any, term: Any) -> Any:
    """log(e^total + e^term), for ``i.l = logsumexp(i.l, x)`` in a kernel: the logarithm of the sum of
    the exponentials of all sources, which starts at minus infinity.

    With weighted means, ``i.l, i.m = logsumexp((i.l, i.m), (x, v))``: the mean of ``v`` with the
    weights e^x, which starts at 0. There may be several.

    Examples:
        >>> @gdr.kernel
        ... def total(i, j):
        ...     i.l = gdr.functions.logsumexp(i.l, j.q * i.x)
        >>> total(targets={"x": [0.0, 2.0]}, sources={"q": [1.0, 1.0]}).l.round(4).tolist()
        [0.6931, 2.6931]
    """
    if not isinstance(total, (tuple, list)):
        return float(np.logaddexp(total, term))
    before, x = float(total[0]), float(term[0])
    new = float(np.logaddexp(before, x))
    if x == -math.inf:
        return tuple(total)
    kept, weight = math.exp(before - new), math.exp(x - new)
    means = (kept * np.asarray(m) + weight * np.asarray(v) for m, v in zip(total[1:], term[1:]))
    return (new, *means)


def smallest(ranked: Any, term: Any, count: int) -> Any:
    """The ``count`` smallest values in ascending order, for ``i.d = smallest(i.d, x, 16)`` in a kernel.

    With indices, ``i.d, i.n = smallest((i.d, i.n), (x, j.id), 16)``. Results are arrays of ``count``
    elements, at most 64; unused ones are infinite, and their indices -1.

    Examples:
        >>> @gdr.kernel
        ... def nearest(i, j):
        ...     r2 = np.dot(i.x - j.x, i.x - j.x)
        ...     i.d, i.n = gdr.functions.smallest((i.d, i.n), (r2, j.id), 2)
        >>> where = np.array([[0.0, 0, 0], [1.0, 0, 0], [3.0, 0, 0]])
        >>> found = nearest(targets={"x": where}, sources={"x": where, "id": [0, 1, 2]})
        >>> print(found.d, found.n)
        [[0. 1.]
         [0. 1.]
         [0. 4.]] [[0 1]
         [1 0]
         [2 1]]
    """
    return _insert(ranked, term, count, 1)


def largest(ranked: Any, term: Any, count: int) -> Any:
    """The ``count`` largest values in descending order; see ``smallest``.

    Examples:
        >>> gdr.functions.largest([9.0, 4.0], 7.0, 2)
        [9.0, 7.0]
    """
    return _insert(ranked, term, count, -1)


def _insert(ranked: Any, term: Any, count: int, sign: int) -> Any:
    """Insert a value, behind equal ones."""
    values: List[Any]
    indexed = isinstance(term, tuple)
    pairs = list(zip(*ranked)) if indexed else [(x, -1) for x in ranked]
    pairs.append(term if indexed else (term, -1))
    pairs = sorted(pairs, key=lambda pair: sign * float(pair[0]))[:count]
    values = [x for x, _ in pairs]
    return (values, [n for _, n in pairs]) if indexed else values
