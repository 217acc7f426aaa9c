"""What a debugger writes to files: a trace of the whole program, and a drawing of its state."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from . import _core
from ._locations import Location
from ._machine import Position, decode
from ._traces import CLOCK_NS, UNITS, Drawing, Dump, Signal, draw_network, draw_pipeline, operations

#: A row of a trace: name and location of a variable, and an element of it.
Place = Tuple[str, Location, int]
#: The locations of variables, which differ from iteration to iteration for those of sources.
Variables = Callable[[], Dict[str, Location]]


def trace_of_pe(
    core: _core.Debugger,
    variables: Variables,
    title: str,
    places: Sequence[Place],
    block: int,
    pe: int,
) -> str:
    """Execute the whole program, and return what happens in a PE as a value change dump; the
    debugger is then where it was."""
    rows = _row_names(places)
    program = [Signal("section", "string", 1), Signal("text", "string", 1)]
    program += [Signal("instruction", "integer", 32), Signal("iteration", "integer", 32)]
    program += [Signal(unit, "wire", 1) for unit in UNITS]
    of_pe = [Signal(row, *_kind_of_row(where)) for row, (_, where, _) in zip(rows, places)]
    dump = Dump(title, {"program": program, "pe": of_pe})
    before = core.count()
    try:
        for at, words in _instructions(core, variables, places, block, pe):
            busy = {unit for unit, _ in operations(at.text)}
            state: Dict[Tuple[str, str], Any] = {
                ("program", "section"): at.section or "ended",
                ("program", "text"): at.text,
                ("program", "instruction"): at.instruction,
                ("program", "iteration"): at.iteration,
            }
            state.update({("program", unit): unit in busy for unit in UNITS})
            bits = np.array(core.words(words), np.uint64).reshape(-1, 2)
            for row, (_, where, _), (upper, lower) in zip(rows, places, bits):
                state["pe", row] = _value_of_row(where, upper, lower)
            dump.at(at.clock * CLOCK_NS, state)
        return dump.text((at.clock + 1) * CLOCK_NS)
    finally:
        core.go_to(before)


def _instructions(
    core: _core.Debugger, variables: Variables, places: Sequence[Place], block: int, pe: int
) -> Iterator[Tuple[Position, List[Any]]]:
    """All positions of the program, its end the last one, with the words of the rows there."""
    core.go_to(0)
    iteration: Optional[int] = None
    words: List[Any] = []
    while True:
        at = Position(*core.position())
        if at.iteration != iteration:  # sources of this iteration have other addresses
            iteration, now = at.iteration, variables()
            words = [now[stem].word(block, pe, e) for stem, _, e in places]
        yield at, words
        if not at.section:
            return
        core.step(1)


def _row_names(places: Sequence[Place]) -> List[str]:
    """Names of rows: f_0 for an element of a vector, f__0 beside a variable f_0."""
    joint = "_"
    while True:
        rows = [f"{stem}{joint}{e}" if where.words > 1 else stem for stem, where, e in places]
        if len(set(rows)) == len(rows):
            return rows
        joint += "_"


def _kind_of_row(where: Location) -> Tuple[str, int]:
    """Numbers as such; other words by their bits."""
    if where.format == "float" or where.format.startswith("fixed."):
        return "real", 64
    return "wire", 72 if where.long else 36


def _value_of_row(where: Location, upper: Any, lower: Any) -> Any:
    """What a row of a trace has for a word: upper and lower short, or the lower one."""
    if _kind_of_row(where)[0] == "wire":
        return int(upper) << 36 | int(lower) if where.long else int(lower)
    halves = (np.array([upper]), np.array([lower])) if where.long else (np.array([lower]), None)
    return float(decode(*halves, where.format)[0])


def drawing_of_chip(
    title: str,
    sections: Sequence[Tuple[str, List[Tuple[str, int]]]],
    shown: str,
    values: Sequence[float],
    operation: str,
    joined: float,
) -> str:
    """An SVG picture: the units of a PE in the clocks of each section (text and clocks of its
    instructions), then a variable's value in each block with that of the reduction network."""
    drawing = Drawing()
    drawing.text(20, 24, title, size=17)
    top = 44.0
    for section, program in sections:
        if program:
            heading = f"section {section}: units of every PE"
            top = draw_pipeline(drawing, top, heading, program)
    heading = f"{shown}, and the reduction network"
    draw_network(drawing, top, heading, list(values), operation, joined)
    return drawing.svg()
