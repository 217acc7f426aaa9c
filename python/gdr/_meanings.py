"""Which functions of Python, NumPy and ``gdr.functions`` a kernel has, and how it spells them."""

from __future__ import annotations

import math
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import functions


class Meaning(NamedTuple):
    """A function: its number of arguments, and its text with their places in braces."""

    name: str
    arguments: int
    text: str
    functions: Tuple[Any, ...] = ()


#: By hand are written: ``min`` and ``max`` of more than two, and the power of ``pow``.
MEANINGS = (
    Meaning("sqrt", 1, "sqrt({0})", (math.sqrt, np.sqrt)),
    Meaning("exp", 1, "exp({0})", (math.exp, np.exp)),
    Meaning("abs", 1, "abs({0})", (abs, math.fabs, np.abs, np.fabs)),
    Meaning("rsqrt", 1, "rsqrt({0})", (functions.rsqrt,)),
    Meaning("recip", 1, "recip({0})", (functions.recip, np.reciprocal)),
    Meaning("powm32", 1, "powm32({0})", (functions.powm32,)),
    Meaning("short", 1, "short({0})", (functions.short,)),
    Meaning("long", 1, "long({0})", (functions.long,)),
    Meaning("min", 2, "min({0}, {1})", (min, np.minimum)),
    Meaning("max", 2, "max({0}, {1})", (max, np.maximum)),
    Meaning("pow", 2, "pow({0}, {1})", (pow, math.pow, np.power, np.float_power)),
    Meaning("square", 1, "pow({0}, 2)", (np.square,)),
    Meaning("hypot", 2, "sqrt(pow({0}, 2) + pow({1}, 2))", (math.hypot, np.hypot)),
    Meaning("where", 3, "({0} ? {1} : {2})", (np.where,)),
)

#: Words of the kernel language, which mean themselves where nothing else has their name.
WORDS: Dict[str, Meaning] = {m.name: m for m in MEANINGS if m.text.startswith(m.name)}


def meaning_of(function: Any) -> Optional[Meaning]:
    """The meaning of a function of Python or NumPy, None if it has none."""
    return next((m for m in MEANINGS if any(f is function for f in m.functions)), None)


def known() -> str:
    """All of them, for messages."""
    return ", ".join(sorted(m.name for m in MEANINGS))
