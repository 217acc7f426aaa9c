"""A debugger for kernels: breakpoints, watched words, and steps in both directions on one chip."""

from __future__ import annotations

import dataclasses
import html
import os
import pathlib
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, check_text, check_type, choice, integer
from ._debug_files import drawing_of_chip, trace_of_pe
from ._decorator import FunctionKernel
from ._display import html_table
from ._forces import ParticleKernel
from ._interface import Results, input_arrays, param_numbers, result_arrays, rows
from ._outputs import Outputs
from ._kernel import Kernel
from ._locations import Location, find_location
from ._machine import MEMORIES, Flags, Position, decode, encode
from ._search import scheduled
from .errors import UsageError
from .results import ResultArrays

_SECTIONS = ("start", "body", "end")
_CHANGED = "background: #fff2b3; color: black"
_AROUND = 4


@dataclasses.dataclass(frozen=True)
class Change:
    """A watched word before and after an instruction."""

    condition: int  #: number of the watch
    memory: str  #: memory, as in ``Debugger.memory``
    block: int
    pe: int
    address: int  #: address in shorts
    before: int  #: bits before
    after: int  #: bits after


#: Joules of a PE in a clock: the published 65 W of a chip of 512 PEs at 500 MHz. The other published
#: point, 50 W at 400 MHz (Tech-On and PC Watch, July 2010), gives 4 % less.
PE_CLOCK_JOULES: float = _core.pe_clock_joules


@dataclasses.dataclass(frozen=True)
class InstructionEnergy:
    """What an instruction needs on all PEs of a chip, by ``Debugger.energy``."""

    section: str  #: "start", "body" or "end"
    instruction: int  #: index in the section
    text: str  #: assembly text
    clocks: int
    joules: float  #: of all PEs, for one execution


@dataclasses.dataclass(frozen=True)
class Stop:
    """Why a movement has ended."""

    #: "steps" (all are done), "condition", "end", "beginning" or "interrupted"
    reason: str
    conditions: Tuple[int, ...] = ()  #: numbers of the conditions that are met
    changes: Tuple[Change, ...] = ()  #: of the watched words among them


@dataclasses.dataclass(frozen=True)
class Condition:
    """A breakpoint or a watch."""

    number: int
    kind: str  #: "instruction", "clock" or "change"
    text: str
    enabled: bool
    hits: int  #: stops of runs, in either direction


class Debugger:
    """A kernel on one chip, made by ``gdr.debug``; it moves forwards and backwards.

    ``position`` is the number of executed instructions, ``at`` the next instruction. A movement
    returns why it ended. Breakpoints and watches are numbered from 1. In a notebook the debugger is
    a table of the program around the next instruction, with what the last movement has changed in
    the PE of ``look_at``.

    Examples:
        >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
        >>> chip = "emulator:blocks=1,pes=2"
        >>> d = gdr.debug(law, targets={"x": [1.0, 2.0]}, sources={"y": [3.0, 4.0]}, device=chip)
        >>> d.break_at("body", 1)
        1
        >>> d.run().reason, d.at.section, d.at.instruction
        ('condition', 'body', 1)
        >>> d.run().reason, d.run().reason
        ('condition', 'end')
        >>> d.read("f")[0, 0, :2].tolist()
        [13.0, 5.0]
    """

    def __init__(self, core: _core.Debugger, kernel: Kernel) -> None:
        self._core = core
        self._kernel = kernel
        self._focus = (0, 0)
        self._before = self._shown()

    # -- movement ------------------------------------------------------------------------------

    def step(self, instructions: int = 1) -> Stop:
        """Execute up to this many instructions; breakpoints and watches are ignored.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0]}, sources={"y": np.arange(200.0)})
            >>> d.step(3).reason, d.back().reason, d.position
            ('steps', 'steps', 2)
            >>> d.next_pass().reason, d.at.section, d.previous_pass().reason, d.at.section
            ('steps', 'body', 'steps', 'start')
            >>> d.step_clocks(8).reason, d.go_to(0).reason, d.at_end
            ('steps', 'steps', False)
        """
        return self._moved(self._core.step, integer("instructions", instructions))

    def back(self, instructions: int = 1) -> Stop:
        """Go back by up to this many instructions; breakpoints and watches are ignored."""
        return self._moved(self._core.back, integer("instructions", instructions))

    def step_clocks(self, clocks: int) -> Stop:
        """Execute instructions until this many clocks are spent, at least one instruction."""
        return self._moved(self._core.step_clocks, integer("clocks", clocks))

    def next_pass(self) -> Stop:
        """Go to the beginning of the next iteration of the body, or of section end."""
        return self._moved(self._core.next_pass)

    def previous_pass(self) -> Stop:
        """Go back to the beginning of this iteration of the body, or of the one before."""
        return self._moved(self._core.previous_pass)

    def run(self) -> Stop:
        """Run to the next breakpoint or change of a watched word, else to the end."""
        return self._moved(self._core.run)

    def run_back(self) -> Stop:
        """Run back to the previous breakpoint or change, else to the beginning."""
        return self._moved(self._core.run_back)

    def go_to(self, position: int) -> Stop:
        """Go to a position: a number of executed instructions."""
        return self._moved(self._core.go_to, integer("position", position))

    def _moved(self, movement: Any, *arguments: int) -> Stop:
        before = self._shown()
        reason, numbers, changes = movement(*arguments)
        self._before = before
        words = {c[0]: c[5] for c in self._core.conditions()}
        changed = []
        for number, word, old, new in changes:
            memory, block, pe, address, _ = words[number][word]
            bits = (half[0] << 36 | half[1] for half in (old, new))
            changed.append(Change(number, memory, block, pe, address, *bits))
        return Stop(reason, tuple(numbers), tuple(changed))

    # -- breakpoints and watches ---------------------------------------------------------------

    def break_at(
        self, section: str, instruction: Optional[int] = None, *, iteration: Optional[int] = None
    ) -> int:
        """Stop before an instruction of section "start", "body" or "end", or at the beginning of the
        section; in every iteration of the body, or in one. Returns the breakpoint's number."""
        check_type("section", section, str, "a string")
        which = None if iteration is None else integer("iteration", iteration)
        if instruction is None:
            return self._core.break_at_section(section, which)
        return self._core.break_at(section, integer("instruction", instruction), which)

    def break_at_line(self, line: int, file: str = "") -> int:
        """Stop before the instructions of a source line; ``file`` as in ``at.file``.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += x*y;")
            >>> d = gdr.debug(law, targets={"x": [1.0]}, sources={"y": [3.0, 4.0]})
            >>> d.break_at_line(d.at.line)
            1
            >>> d.run().reason, d.run_back().reason
            ('end', 'beginning')
        """
        return self._core.break_at_line(
            integer("line", line, 0, 2**32 - 1), check_text("file", file)
        )

    def break_at_clock(self, clock: int) -> int:
        """Stop at the first instruction that begins at or after a clock."""
        return self._core.break_at_clock(integer("clock", clock))

    def watch(self, name: str, *, block: int = 0, pe: Optional[int] = None) -> int:
        """Stop after instructions that change a variable, in one PE or (None) in all PEs of the
        block. ``name`` may have an element: "ax[1]". Returns the watch's number.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0, 2.0]}, sources={"y": [3.0, 4.0]})
            >>> d.watch("f", pe=0), d.watch_word("t", 0), d.break_at_clock(20)
            (1, 2, 3)
            >>> d.enable(2, False)
            >>> d.remove(3)
            >>> d.run().conditions, d.run().conditions, d.position
            ((1,), (1,), 10)
            >>> d.run_back().conditions, d.position
            ((1,), 8)
        """
        where, elements = self._find(name)
        shared = where.memory == "broadcast"
        block = integer("block", block)
        pes = range(self.pes) if pe is None and not shared else [integer("pe", pe or 0)]
        words = [where.word(block, p, e) for p in pes for e in elements]
        return self._core.watch(words, name)

    def watch_word(
        self, memory: str, address: int, *, block: int = 0, pe: int = 0, long: bool = True
    ) -> int:
        """Stop after instructions that change a word; ``address`` counts shorts, of "t" two an
        element, and of "masks" four elements a mask."""
        choice("memory", memory, MEMORIES)
        word = (memory, integer("block", block), integer("pe", pe), integer("address", address))
        return self._core.watch([(*word, long)], f"{memory} {address}")

    def remove(self, number: int) -> None:
        """Delete a breakpoint or watch."""
        self._core.remove(integer("number", number, 0, 2**32 - 1))

    def enable(self, number: int, enabled: bool = True) -> None:
        """Enable or disable a breakpoint or watch."""
        check_type("enabled", enabled, bool, "True or False")
        self._core.enable(integer("number", number, 0, 2**32 - 1), enabled)

    @property
    def conditions(self) -> Tuple[Condition, ...]:
        """Breakpoints and watches."""
        return tuple(Condition(*c[:5]) for c in self._core.conditions())

    # -- where it is ---------------------------------------------------------------------------

    @property
    def kernel(self) -> Kernel:
        """The kernel."""
        return self._kernel

    @property
    def position(self) -> int:
        """Number of executed instructions."""
        return self._core.count()

    @property
    def at(self) -> Position:
        """The next instruction; its section is empty at the end of the program."""
        return Position(*self._core.position())

    @property
    def at_end(self) -> bool:
        """Whether the program has ended."""
        return not self.at.section

    @property
    def blocks(self) -> int:
        """Number of broadcast blocks of the chip."""
        return self._core.sizes()[0]

    @property
    def pes(self) -> int:
        """Number of PEs of a block."""
        return self._core.sizes()[1]

    @property
    def iterations(self) -> int:
        """Iterations of the body."""
        return self._core.sizes()[2]

    @property
    def checkpoints(self) -> int:
        """Number of copies of the state that are kept for going back."""
        return self._core.checkpoints()

    def instructions(self, section: str) -> List[str]:
        """Assembly text of all instructions of a section.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0]}, sources={"y": [2.0]})
            >>> d.instructions("end")[-1]
            'fadd f f $th'
        """
        check_type("section", section, str, "a string")
        return [i[0] for i in self._core.listing(section)]

    def energy(self) -> Tuple[InstructionEnergy, ...]:
        """An estimate of the energy of each instruction of the sections start, body and end.

        All that is published of the original chip is its power: 65 W with 512 PEs at 500 MHz, and
        50 W at 400 MHz. So every clock of a PE costs the same here, 254 pJ, whatever its units do; the
        share of memories, network and leakage is in it, that of board and host is not.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0]}, sources={"y": [2.0]})
            >>> body = [e for e in d.energy() if e.section == "body"]
            >>> [e.clocks for e in body], f"{sum(e.joules for e in body) * 1e9:.0f} nJ"
            ([4, 4], '1040 nJ')
        """
        of_clock = PE_CLOCK_JOULES * self.blocks * self.pes
        return tuple(
            InstructionEnergy(section, number, text, clocks, clocks * of_clock)
            for section in _SECTIONS
            for number, (text, _, _, clocks) in enumerate(self._core.listing(section))
        )

    # -- values --------------------------------------------------------------------------------

    @property
    def variables(self) -> Dict[str, Location]:
        """Variables of the kernel, then other names of locations, by name."""
        found: Dict[str, Location] = {}
        for fields in self._core.variables():
            found.setdefault(fields[0], Location(*fields))
        return found

    def read(self, name: str, format: Optional[str] = None) -> AnyArray:
        """Values of a variable in all PEs: (blocks, PEs, words), or (blocks, words) in the broadcast
        memory. Flattened, those of a target's variable are in the order of the targets.

        ``name`` may have an element: "ax[1]". ``format`` as in ``Machine.read``; by default that of
        the variable's conversion.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> chip = "emulator:blocks=1,pes=1"
            >>> d = gdr.debug(law, targets={"x": [1.0, 2.0]}, sources={"y": [3.0]}, device=chip)
            >>> d.run().reason
            'end'
            >>> d.read("f").tolist(), d["x[1]"].tolist()
            ([[[4.0, 1.0, 9.0, 9.0]]], [[[2.0]]])
            >>> d.results().f.tolist()
            [4.0, 1.0]
            >>> d.flags(), d.registers(block=0, pe=0).shape, d.memory("masks").shape
            (Flags(invalid=False, overflow=False, underflow=False), (32,), (8, 4))
        """
        where, elements = self._find(name)
        shorts = self._core.memory(where.memory)
        first = np.array([where.address + e * where.step for e in elements])
        upper = shorts[:, first]
        lower = shorts[:, first + 1] if where.long else None
        values = decode(upper, lower, where.format if format is None else format)
        return values if where.memory == "broadcast" else np.swapaxes(values, 1, 2)

    __getitem__ = read

    def registers(
        self, block: int = 0, pe: int = 0, format: str = "float", *, long: bool = True
    ) -> AnyArray:
        """Registers of a PE: an array of longs, or of shorts with ``long=False``."""
        return self.memory("registers", block, pe, format, long=long)

    def memory(
        self, memory: str, block: int = 0, pe: int = 0, format: str = "float", *, long: bool = True
    ) -> AnyArray:
        """A memory of a PE as an array: "registers", "local", "t", "masks" (bits, (masks, elements))
        or "broadcast" (of the block). ``format`` and ``long`` as in ``Machine.read``."""
        shorts = self._core.memory(choice("memory", memory, MEMORIES))
        self._check_pe(block, pe)
        words = shorts[block] if memory == "broadcast" else shorts[block, :, pe]
        if memory == "masks":
            bits: AnyArray = words.astype(bool).reshape(-1, 4)
            return bits
        return decode(words[0::2], words[1::2], format) if long else decode(words, None, format)

    def reduce(self, name: str, operation: Optional[str] = None) -> AnyArray:
        """What the reduction network makes of a variable of longs: (PEs, words), or (words,) in the
        broadcast memory. ``operation``: by default that of the variable's declaration, or "fadd".

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> chip = "emulator:blocks=2,pes=1"
            >>> d = gdr.debug(law, targets={"x": np.arange(8.0)}, sources={"y": [3.0]}, device=chip)
            >>> d.run().reason, d.read("f[0]").ravel().tolist(), d.reduce("f[0]").tolist()
            ('end', [9.0, 1.0], [[10.0]])
        """
        where, elements = self._find(name)
        if not where.long:
            raise UsageError(f"{name!r} is a short; the reduction network joins longs")
        chosen = operation or where.reduction or "fadd"
        check_type("operation", chosen, str, "a string")
        shorts = self._core.reduced(where.memory, chosen)
        first = np.array([where.address + e * where.step for e in elements])
        values = decode(shorts[first], shorts[first + 1], where.format)
        transposed: AnyArray = values.T
        return values if where.memory == "broadcast" else transposed

    def write(
        self,
        name: str,
        value: Union[int, float],
        *,
        block: int = 0,
        pe: int = 0,
        format: Optional[str] = None,
    ) -> None:
        """Set a variable, or an element of it, in a PE. The change becomes a part of the run; changes
        at later positions are discarded. ``format``: "raw", "int" or "float".

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0, 2.0]}, sources={"y": [3.0]})
            >>> d.write("x[1]", 5.0)
            >>> d.run().reason, d.results().f.tolist()
            ('end', [4.0, 4.0])
        """
        where, elements = self._find(name)
        chosen = format or ("int" if where.format == "int" else "float")
        bits = encode(value, chosen, 72 if where.long else 36)
        for e in elements:
            word = where.word(integer("block", block), integer("pe", pe), e)
            self._core.write(word, bits >> 36 if where.long else 0, bits & (2**36 - 1))

    def results(self, names: Results = None) -> ResultArrays:
        """Results of the targets as they are now in the PEs, converted as declared."""
        if names is None:
            names = self._kernel.whole_names(self._kernel.names("result"))
        count = self._core.sizes()[3]
        outputs = Outputs.of(None, isinstance(names, Mapping), {})
        arrays = result_arrays(self._kernel, names, count, 0, outputs)
        self._core.results(rows(arrays), count)
        return outputs.finished(arrays)

    def flags(self, block: int = 0) -> Flags:
        """Sticky floating-point flags of a block since the beginning."""
        return Flags(*self._core.flags(integer("block", block)))

    def _find(self, name: str) -> Tuple[Location, List[int]]:
        """The location of a name, and its chosen elements."""
        return find_location(self.variables, name)

    def _check_pe(self, block: int, pe: int) -> None:
        integer("block", block, 0, self.blocks - 1)
        integer("pe", pe, 0, self.pes - 1)

    # -- files ---------------------------------------------------------------------------------

    def write_vcd(
        self,
        path: Union[str, "os.PathLike[str]"],
        names: Optional[Sequence[str]] = None,
        *,
        block: int = 0,
        pe: int = 0,
    ) -> None:
        """Execute the whole program, and write what happens in a PE as a value change dump, which
        viewers of waveforms such as GTKWave open. The debugger is then where it was.

        A clock is 2 ns. The scope ``program`` has section, iteration, number and text of the
        instruction that begins, and which units of the PE it uses; the scope ``pe`` the elements of
        the variables ``names`` (None: all of the kernel), whose values change when an instruction
        has ended. An element that is named twice has one row. Raises UsageError for unknown names, and
        OSError if the file cannot be written.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0, 2.0]}, sources={"y": [3.0, 4.0]})
            >>> d.write_vcd("law.vcd", ["f"])
            >>> pathlib.Path("law.vcd").read_text().splitlines()[1]
            '$timescale 1 ns $end'
        """
        self._check_pe(block, pe)
        if names is None:
            names = [v.name for v in self.variables.values() if v.kind != "name"]
        chosen = [(name.partition("[")[0], *self._find(name)) for name in names]
        once = {(stem, e): where for stem, where, elements in chosen for e in elements}
        places = [(stem, where, e) for (stem, e), where in once.items()]
        title = f"{self.kernel.name}, block {block}, PE {pe}"
        trace = trace_of_pe(self._core, lambda: self.variables, title, places, block, pe)
        pathlib.Path(path).write_text(trace, encoding="ascii")

    def write_svg(
        self, path: Union[str, "os.PathLike[str]"], name: Optional[str] = None, *, pe: int = 0
    ) -> None:
        """Write a drawing: which units of a PE work on what in each clock of the sections start, body
        and end, and the blocks with a variable's present value in a PE of each, joined by the reduction
        network. Titles of boxes, which browsers show, have instructions and all digits.

        ``name``: a variable, or an element of one ("f[1]"; without a number element 0); None: the
        first result. The network's value is missing where it cannot join the variable. Raises
        UsageError for an unknown name, and OSError if the file cannot be written.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0]}, sources={"y": [3.0, 4.0]})
            >>> d.run().reason
            'end'
            >>> d.write_svg("law.svg", "f[0]")
            >>> pathlib.Path("law.svg").read_text()[:4]
            '<svg'
        """
        shown = name if name is not None else self._kernel.names("result")[0]
        where, elements = self._find(shown)
        shown = shown if "[" in shown or where.words == 1 else f"{shown}[0]"
        self._check_pe(0, pe)
        values = self.read(shown)
        column = values[:, 0] if where.memory == "broadcast" else values[:, pe, 0]
        operation, joined = where.reduction or "fadd", float("nan")
        if where.long and where.format != "raw":
            found = self.reduce(shown, operation)
            joined = float(found[0] if where.memory == "broadcast" else found[pe, 0])
        sections = [
            (section, [(text, clocks) for text, _, _, clocks in self._core.listing(section)])
            for section in _SECTIONS
        ]
        title = f"{self._kernel.name}: clock {self.at.clock}"
        place = f"{shown} in PE {pe} of each block"
        values_of_blocks = [float(v) for v in column]
        drawing = drawing_of_chip(title, sections, place, values_of_blocks, operation, joined)
        pathlib.Path(path).write_text(drawing, encoding="utf-8")

    # -- display -------------------------------------------------------------------------------

    def look_at(self, block: int, pe: int) -> None:
        """Choose the PE that a notebook shows: PE 0 of block 0 at first.

        Examples:
            >>> law = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> d = gdr.debug(law, targets={"x": [1.0]}, sources={"y": [2.0]})
            >>> d.look_at(0, 1)
            >>> "block 0, PE 1" in d._repr_html_()
            True
        """
        self._check_pe(block, pe)
        self._focus = (block, pe)
        self._before = self._shown()

    def _shown(self) -> Dict[str, List[str]]:
        """Values of the kernel's variables in the chosen PE as texts."""
        block, pe = self._focus
        variables = [v for v in self.variables.values() if v.kind != "name"]
        words = [v.word(block, pe, e) for v in variables for e in range(v.words)]
        bits = np.array(self._core.words(words), np.uint64).reshape(-1, 2)
        shown, first = {}, 0
        for v in variables:
            upper, lower = bits[first : first + v.words].T
            values = decode(upper, lower, v.format) if v.long else decode(lower, None, v.format)
            shown[v.name] = [f"{x:.9g}" if v.format == "float" else str(x) for x in values]
            first += v.words
        return shown

    def __repr__(self) -> str:
        return f"<gdr.Debugger of {self._kernel.name}: {self._place()}>"

    def _place(self) -> str:
        at = self.at
        if not at.section:
            return f"end of the program, clock {at.clock}"
        iteration = f", iteration {at.iteration} of {self.iterations}"
        section = f"{at.section} {at.instruction}{iteration if at.section == 'body' else ''}"
        return f"{section}, clock {at.clock}"

    def _repr_html_(self) -> str:
        at, (block, pe) = self.at, self._focus
        title = f"{self._kernel.name}: {self._place()}"
        if at.section:
            texts = self.instructions(at.section)
            first = max(0, at.instruction - _AROUND)
            program = [
                ("\u25b6" if k == at.instruction else "", k, text)
                for k, text in enumerate(texts[first : at.instruction + _AROUND + 1], first)
            ]
        else:
            program = []
        lines = []
        for name, values in self._shown().items():
            old = self._before.get(name, values)
            cells = "".join(
                f'<td style="{_CHANGED}" title="was {html.escape(was)}"><b>{html.escape(now)}</b></td>'
                if now != was
                else f"<td>{html.escape(now)}</td>"
                for now, was in zip(values, old)
            )
            lines.append(f"<tr><th>{html.escape(name)}</th>{cells}</tr>")
        heading = f"block {block}, PE {pe}"
        table = f"<div><b>{heading}</b><table><tbody>{''.join(lines)}</tbody></table></div>"
        return html_table(title, program, ("", "number", "instruction")) + table


def debug(
    kernel: Union[Kernel, "ParticleKernel[Any]"],
    *,
    targets: Union[Mapping[str, Any], int],
    sources: Union[Mapping[str, Any], int],
    params: Optional[Mapping[str, float]] = None,
    device: str = "",
    **more: float,
) -> Debugger:
    """Debug a kernel on one emulated chip.

    ``targets``, ``sources`` and params are those of a call of the kernel; a built-in function such
    as ``gdr.lennard_jones`` takes the variables of ``gdr.builtin("lennard_jones")``. ``device`` is a
    device's name with a geometry and an exact engine: "emulator:blocks=1,pes=2".

    Examples:
        >>> @gdr.kernel
        ... def spring(i, j, k=2.0):
        ...     i.f += k * (j.x - i.x)
        >>> debugger = gdr.debug(spring, targets={"x": [1.0]}, sources={"x": [4.0]}, k=3.0)
        >>> debugger.break_at("end")
        1
        >>> debugger.run().reason, debugger.at.section
        ('condition', 'end')
        >>> debugger.run().reason, debugger.results().f.tolist()
        ('end', [9.0])
    """
    if isinstance(kernel, ParticleKernel):
        kernel = kernel.kernel
    check_type("kernel", kernel, Kernel, "a gdr.Kernel")
    check_type("params", params, (Mapping, type(None)), "a dictionary")
    check_text("device", device)
    defaults = kernel.defaults if isinstance(kernel, FunctionKernel) else {}
    given, of_sources, of_targets = kernel.arguments(
        targets, sources, {**defaults, **(params or {}), **more}
    )
    source_count, source_arrays = input_arrays(kernel, "source", *of_sources)
    target_count, target_arrays = input_arrays(kernel, "target", *of_targets)
    core = _core.Debugger(
        device,
        scheduled(kernel.core),
        param_numbers(kernel, given),
        source_count,
        source_arrays,
        target_count,
        target_arrays,
    )
    return Debugger(core, kernel)
