"""Functions of the kernel language for use in ``@gdr.kernel``.

A kernel is translated, not called; these definitions let editors and linters resolve the names, and
let the Python function of a kernel be called for single pairs.
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
    """x rounded to the 25 significant bits of a short."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, 25)), exponent - 25)


def long(x: float) -> float:
    """x as a long, which has 61 significant bits and represents every float exactly."""
    return float(x)
