"""What a debugger shows, as files: a trace for viewers of waveforms, and a drawing.

A trace is a value change dump (IEEE 1364-2005, clause 18), which GTKWave and others open. Variables of kind
`string`, whose values begin with the letter s, are an extension of GTKWave that the standard does not have.
"""

from __future__ import annotations

import html
import math
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Tuple

#: A clock of the chip in nanoseconds (500 MHz).
CLOCK_NS = 2
#: Units of a PE and their operations (docs/reference/instruction-set.md); all others are the integer unit's.
UNITS: Dict[str, Tuple[str, ...]] = {
    "multiplier": ("fmul", "dmul"),
    "adder": ("fadd", "fsub", "fmax", "fmin", "fcvt"),
    "integer": (),
    "transfer": ("bget", "bput"),
}


def operations(text: str) -> Iterator[Tuple[str, str]]:
    """The operations of an instruction, each with its unit."""
    for operation in text.split(";"):
        words = operation.split()
        if words and words[0] != "nop":
            unit = next((name for name, of in UNITS.items() if words[0] in of), "integer")
            yield unit, " ".join(words)


class Signal(NamedTuple):
    """A row of a waveform."""

    name: str
    kind: str  #: "real", "string", "wire" or "integer"
    bits: int


class Dump:
    """A value change dump: signals by scope, then their changes in the order of time."""

    def __init__(self, title: str, scopes: Dict[str, List[Signal]]) -> None:
        self._codes: Dict[Tuple[str, str], Tuple[str, Signal]] = {}
        self._values: Dict[str, str] = {}
        self._lines = [f"$comment {title} $end", "$timescale 1 ns $end"]
        for scope, signals in scopes.items():
            self._lines.append(f"$scope module {scope} $end")
            for signal in signals:
                code = self._code(len(self._codes))
                self._codes[scope, signal.name] = code, signal
                row = f"$var {signal.kind} {signal.bits} {code} {signal.name} $end"
                self._lines.append(row)
            self._lines.append("$upscope $end")
        self._lines.append("$enddefinitions $end")

    @staticmethod
    def _code(number: int) -> str:
        """A short name of printable characters."""
        code = ""
        while True:
            code += chr(33 + number % 94)
            number //= 94
            if not number:
                return code

    def at(self, time: int, values: Dict[Tuple[str, str], Any]) -> None:
        """The values at a time, of which those that have changed are written."""
        changed = []
        for place, value in values.items():
            code, signal = self._codes[place]
            if signal.kind == "real":
                text = f"r{float(value)!r} {code}"
            elif signal.kind == "string":
                text = f"s{re.sub(r'[^!-~]+', '_', value) or '-'} {code}"
            elif signal.bits == 1:
                text = f"{int(value)}{code}"
            else:
                text = f"b{int(value) % 2**signal.bits:b} {code}"
            if self._values.get(code) != text:
                self._values[code] = text
                changed.append(text)
        if changed:
            self._lines += [f"#{time}", *changed]

    def text(self, end: int) -> str:
        """The file, which lasts until a time."""
        return "\n".join([*self._lines, f"#{end}", ""])


_FONT = "DejaVu Sans, Verdana, sans-serif"
_COLOURS = {
    "multiplier": "#dbe8f6", "adder": "#dff0e5", "integer": "#fdf1d8", "transfer": "#f6dedb",
}  # fmt: skip
_WIDTH, _ROW, _LEFT = 34, 30, 110


class Drawing:
    """Shapes of an SVG picture."""

    def __init__(self) -> None:
        self._shapes: List[str] = []
        self._right = self._bottom = 0.0

    def text(self, x: float, y: float, words: str, size: int = 12, anchor: str = "start") -> None:
        self._shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}">'
            f"{html.escape(words)}</text>"
        )
        width = 0.62 * size * len(words) if anchor == "start" else 0.0
        self._right, self._bottom = max(self._right, x + width), max(self._bottom, y)

    def box(self, x: float, y: float, width: float, height: float, fill: str, tip: str) -> None:
        self._shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" fill="{fill}" '
            f'stroke="#5c6370"><title>{html.escape(tip)}</title></rect>'
        )
        self._right, self._bottom = max(self._right, x + width), max(self._bottom, y + height)

    def line(self, *points: Tuple[float, float]) -> None:
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._shapes.append(f'<polyline points="{path}" fill="none" stroke="#5c6370"/>')

    def svg(self) -> str:
        width, height = self._right + 20, self._bottom + 20
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="{_FONT}" fill="#1f2530">\n'
            f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>\n'
            + "\n".join(self._shapes)
            + "\n</svg>\n"
        )


def draw_pipeline(to: Drawing, top: float, name: str, program: List[Tuple[str, int]]) -> float:
    """Which unit of a PE works on what in each clock of a section; returns the lower edge."""
    to.text(20, top + 14, name, size=15)
    y = top + 30
    for row, unit in enumerate(UNITS):
        to.text(20, y + row * _ROW + 19, unit)
    clock = 0
    for number, (text, clocks) in enumerate(program):
        x = _LEFT + clock * _WIDTH
        for unit, operation in operations(text):
            row = list(UNITS).index(unit)
            tip = f"instruction {number}, clocks {clock} to {clock + clocks - 1}: {operation}"
            to.box(x + 1, y + row * _ROW, clocks * _WIDTH - 2, _ROW - 4, _COLOURS[unit], tip)
            shown = operation if 7 * len(operation) < clocks * _WIDTH else operation.split()[0]
            to.text(x + clocks * _WIDTH / 2, y + row * _ROW + 17, shown, 10, "middle")
        to.text(x + 2, y + len(UNITS) * _ROW + 10, str(clock), 10)
        clock += clocks
    bottom = y + len(UNITS) * _ROW
    to.line((_LEFT, bottom), (_LEFT + max(clock, 1) * _WIDTH, bottom))
    to.text(20, bottom + 10, "clock", 10)
    return bottom + 30


def draw_network(
    to: Drawing, top: float, title: str, values: List[float], operation: str, joined: float
) -> float:
    """Blocks with a value of each, and the tree that joins them; returns the lower edge."""
    to.text(20, top + 14, title, size=15)
    y, width = top + 30, 84
    centres = []
    for block, value in enumerate(values):
        x = 20 + block * (width + 8)
        to.box(x, y, width, 40, "#eef0f3", f"block {block}: {value!r}")
        to.text(x + width / 2, y + 16, f"block {block}", 10, "middle")
        to.text(x + width / 2, y + 32, f"{value:.7g}", 11, "middle")
        centres.append(x + width / 2)
    y += 40
    while len(centres) > 1:
        joints = []
        for k in range(0, len(centres) - 1, 2):
            left, right = centres[k], centres[k + 1]
            to.line((left, y), (left, y + 16), (right, y + 16), (right, y))
            to.line(((left + right) / 2, y + 16), ((left + right) / 2, y + 28))
            joints.append((left + right) / 2)
        if len(centres) % 2:
            to.line((centres[-1], y), (centres[-1], y + 28))
            joints.append(centres[-1])
        centres, y = joints, y + 28
    if not math.isnan(joined):
        to.box(centres[0] - 60, y, 120, 40, "#dbe8f6", f"{operation} of all blocks: {joined!r}")
        to.text(centres[0], y + 16, operation, 10, "middle")
        to.text(centres[0], y + 32, f"{joined:.7g}", 11, "middle")
    return y + 60
