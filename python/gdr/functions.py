"""Functions of the kernel language that Python's math has not, for use in ``@gdr.kernel``.

A kernel is read, not called, so that any name would do; with these, editors and linters know it.
"""

from __future__ import annotations

import math

__all__ = ["exp", "powm32", "recip", "rsqrt", "sqrt"]

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
