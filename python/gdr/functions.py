"""Functions of the kernel language that Python's math has not, for use in ``@gdr.kernel``.

A kernel is read, not called; with these, editors and linters know the names, and the function that
a kernel was made of can be called to see what it does.
"""

from __future__ import annotations

import math

__all__ = ["exp", "long", "powm32", "recip", "rsqrt", "short", "sqrt"]

exp = math.exp
sqrt = math.sqrt


def rsqrt(x: float) -> float:
    """1 / sqrt(x)."""
    return 1 / math.sqrt(x)


def recip(x: float) -> float:
    """1 / x."""
    return 1 / x


def powm32(x: float) -> float:
    """x^(-3/2)."""
    return float(x**-1.5)


def short(x: float) -> float:
    """x with the 25 significant bits of a short."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, 25)), exponent - 25)


def long(x: float) -> float:
    """x as a long, whose 61 significant bits hold more than Python's numbers do."""
    return float(x)
