"""Functions of Python, NumPy and ``gdr.functions`` that kernels support, and their translation."""

from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import functions


class Intrinsic(NamedTuple):
    """A supported function; ``text`` is its translation with placeholders for the arguments."""

    name: str
    arguments: int
    text: str
    functions: Tuple[Any, ...] = ()


#: ``Expressions.apply`` handles ``min`` and ``max`` of more than two, and the power of ``pow``.
INTRINSICS = (
    Intrinsic("sqrt", 1, "sqrt({0})", (math.sqrt, np.sqrt)),
    Intrinsic("exp", 1, "exp({0})", (math.exp, np.exp)),
    Intrinsic("abs", 1, "abs({0})", (abs, math.fabs, np.abs, np.fabs)),
    Intrinsic("rsqrt", 1, "rsqrt({0})", (functions.rsqrt,)),
    Intrinsic("recip", 1, "recip({0})", (functions.recip, np.reciprocal)),
    Intrinsic("powm32", 1, "powm32({0})", (functions.powm32,)),
    Intrinsic("short", 1, "short({0})", (functions.short,)),
    Intrinsic("long", 1, "long({0})", (functions.long,)),
    Intrinsic("min", 2, "min({0}, {1})", (min, np.minimum)),
    Intrinsic("max", 2, "max({0}, {1})", (max, np.maximum)),
    Intrinsic("pow", 2, "pow({0}, {1})", (pow, math.pow, np.power, np.float_power)),
    Intrinsic("square", 1, "pow({0}, 2)", (np.square,)),
    Intrinsic("hypot", 2, "sqrt(pow({0}, 2) + pow({1}, 2))", (math.hypot, np.hypot)),
    Intrinsic("where", 3, "({0} ? {1} : {2})", (np.where,)),
)

#: Functions of the kernel language, known by name where the name has no other definition.
LANGUAGE_FUNCTIONS: Dict[str, Intrinsic] = {
    i.name: i for i in INTRINSICS if i.text.startswith(i.name)
}


def intrinsic_of(function: Any) -> Optional[Intrinsic]:
    """The intrinsic of a function of Python or NumPy, or None."""
    return next((i for i in INTRINSICS if any(f is function for f in i.functions)), None)


def supported() -> str:
    """Names of all intrinsics, for messages."""
    return ", ".join(sorted(i.name for i in INTRINSICS))
