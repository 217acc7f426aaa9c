"""Messages about names that are unknown or missing."""

from __future__ import annotations

import difflib
from typing import AbstractSet, Iterable, List, Sequence

#: Words that stand for the variables that a kernel declares to hold these quantities.
QUANTITIES = frozenset({"pos", "vel", "acc", "mass", "charge", "id", "index", "eps"})


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or nothing if no known name is near."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def wrong_names(
    given: Iterable[str], known: Sequence[str], optional: AbstractSet[str] = frozenset()
) -> str:
    """What is wrong with the names in ``given``: ``unknown: xs; missing: x; did you mean 'x'?
    (known: x, q)``. Empty if all are known, and none is missing that is not optional."""
    names = list(given)
    unknown = [name for name in names if name not in known]
    missing = [name for name in known if name not in names and name not in optional]
    parts: List[str] = []
    if unknown:
        parts.append(f"unknown: {', '.join(map(str, unknown))}")
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    return "; ".join(parts) + advice(unknown, known, names)


def advice(unknown: Sequence[str], known: Sequence[str], given: Iterable[str] = ()) -> str:
    """Names that may be meant by unknown ones, other than the given ones, and all known names;
    nothing if none is unknown."""
    if not unknown:
        return ""
    free = [name for name in known if name not in set(given)]
    hints = "".join(suggestion(name, free) for name in unknown)
    return f"{hints} (known: {', '.join(known)})" if known else f"{hints} (there are none)"


def undeclared(unknown: Iterable[str]) -> str:
    """What to do about unknown names that are quantities, which no variable is declared to hold."""
    names = [name for name in unknown if name in QUANTITIES]
    declared = " and ".join(f"`as {name}`" for name in names)
    return f"; declare the variables that hold it with {declared}" if names else ""
