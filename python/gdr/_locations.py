"""Where the variables of a kernel are on the chip."""

from __future__ import annotations

import dataclasses
from typing import Dict, List, Tuple

from ._arrays import check_type
from ._names import advice
from .errors import UsageError


@dataclasses.dataclass(frozen=True)
class Location:
    """A variable of the kernel, or another name of a location, with its words."""

    name: str
    kind: str  #: "ivar", "jvar", "fvar", "param", "ovar", or "name" of other locations
    memory: str  #: "registers", "local", "t", "broadcast"
    address: int  #: address of the first word in shorts; of a source or output in the current group
    long: bool  #: longs of two shorts, or shorts
    words: int  #: number of words: one for each element of a vector
    step: int  #: shorts from one word to the next
    conversion: str  #: declared conversion; empty if none
    reduction: str  #: declared reduction; empty if none

    @property
    def format(self) -> str:
        """The format of ``Debugger.read`` for the declared conversion: "float" without one."""
        if self.conversion.startswith("i64"):
            return "int"
        if self.conversion.startswith("f64fix."):
            return "fixed." + self.conversion.split(".")[1]
        return "raw" if self.conversion == "raw" else "float"

    def word(self, block: int, pe: int, element: int) -> Tuple[str, int, int, int, bool]:
        """The place of an element in a PE; in the broadcast memory PEs have none of their own."""
        of = 0 if self.memory == "broadcast" else pe
        return self.memory, block, of, self.address + element * self.step, self.long


def find_location(known: Dict[str, Location], name: str) -> Tuple[Location, List[int]]:
    """The location of a name, which may have an element ("ax[1]"), and its chosen elements."""
    check_type("name", name, str, "a string")
    stem, bracket, element = name.partition("[")
    if name in known:
        stem, bracket = name, ""
    if stem not in known:
        raise UsageError(f"unknown variable {stem!r}{advice([stem], list(known))}")
    where = known[stem]
    if not bracket:
        return where, list(range(where.words))
    number = element.rstrip("]")
    if not element.endswith("]") or not number.isdecimal() or int(number) >= where.words:
        raise UsageError(f"{name!r}: {stem} has elements 0 to {where.words - 1}")
    return where, [int(number)]
