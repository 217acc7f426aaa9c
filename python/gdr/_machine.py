"""A chip stepper: execute a program instruction by instruction and read every memory.

Machine words have 72 bits (longs) or 36 bits (shorts): floats with a sign, 11 bits of exponent
(bias 1023) and 60 or 24 bits of fraction, or integers.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Iterator, List, Mapping, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, check_type, choice, integer
from ._display import counted, html_table
from ._interface import Results, input_arrays, param_numbers, result_arrays, rows
from ._outputs import Outputs
from ._kernel import Kernel
from ._open import device_name
from ._search import scheduled
from .errors import UsageError
from .results import ResultArrays

MEMORIES = ("registers", "local", "t", "masks", "broadcast")


@dataclasses.dataclass(frozen=True)
class Position:
    """The next instruction; ``section`` is empty at the end of the program."""

    section: str  #: "start", "body" or "end"
    iteration: int  #: iteration of the body: the group of sources
    instruction: int  #: index in the section
    text: str  #: assembly text
    file: str  #: source file
    line: int  #: line in the source file; 0 if unknown
    clock: int  #: clocks executed since ``restart``


class Flags(NamedTuple):
    """Sticky flags of floating-point operations."""

    invalid: bool  #: infinity minus infinity, or zero times infinity
    overflow: bool  #: result out of range
    underflow: bool  #: result flushed to zero


class Machine:
    """One chip of any geometry: ``gdr.Machine(blocks=1, pes=2)``.

    Options are those of ``gdr.open``: the geometry (blocks, pes, registers, local, bm) and the
    engine, "vector" or "reference". Engines with fast numerics have no machine words and raise
    UnsupportedError.

    Examples:
        >>> machine = gdr.Machine(blocks=1, pes=2)
        >>> machine.load(gdr.compile("VARI x; VARJ y; CONST k; VARF f; f += k*(x - y)^2;"))
        >>> machine.set(k=2.0)
        >>> machine.sources(y=[3.0, 4.0])
        >>> machine.targets(x=[1.0, 2.0])
        >>> [at.clock for at in machine.steps() if at.section == "body"]
        [16, 20, 24, 28]
        >>> machine.results().f.tolist()
        [26.0, 10.0]
    """

    def __init__(self, name: str = "", **options: Union[str, int, float]) -> None:
        self._core = _core.Machine(device_name(name, options))
        self._kernel: Optional[Kernel] = None

    def load(self, kernel: Kernel) -> None:
        """Clear all memories, load a kernel and run its section Init."""
        check_type("kernel", kernel, Kernel, "a gdr.Kernel")
        self._core.load(scheduled(kernel.core))
        self._kernel = kernel
        self.set(**kernel.default_params())

    @property
    def kernel(self) -> Kernel:
        """The loaded kernel. Raises UsageError if none is loaded."""
        if self._kernel is None:
            raise UsageError("no program is loaded; call load first")
        return self._kernel

    @property
    def blocks(self) -> int:
        """Number of broadcast blocks of the chip."""
        return self._core.blocks

    @property
    def pes(self) -> int:
        """Number of PEs of a block."""
        return self._core.pes

    @property
    def target_slots(self) -> int:
        """Number of targets that the chip holds."""
        return self._core.target_slots

    @property
    def target_count(self) -> int:
        """Number of targets of the last ``targets``."""
        return self._core.target_count

    def set(self, **params: Any) -> None:
        """Set ``param``s by name, like ``Job.set``."""
        for name, value in param_numbers(self.kernel, params).items():
            self._core.set(name, value)

    def sources(self, n: Optional[int] = None, /, **arrays: Any) -> None:
        """Set all variables of sources, like ``Job.sources``, and restart the program."""
        self._core.sources(*input_arrays(self.kernel, "source", n, arrays))

    def targets(self, n: Optional[int] = None, /, **arrays: Any) -> None:
        """Set all variables of targets in the PEs, like ``Job.targets``."""
        self._core.targets(*input_arrays(self.kernel, "target", n, arrays))

    def restart(self) -> None:
        """Go to the first instruction of section Start; memories keep their contents.

        Examples:
            >>> machine = gdr.Machine(blocks=1, pes=2)
            >>> machine.load(gdr.builtin("gravity"))
            >>> machine.sources(1, xj=1.0, yj=0.0, zj=0.0, mj=1.0)
            >>> machine.targets(1, xi=0.0, yi=0.0, zi=0.0)
            >>> machine.step(), machine.run(3), machine.position.clock
            (True, 3, 16)
            >>> machine.restart()
            >>> machine.position.clock, machine.flags()
            (0, Flags(invalid=False, overflow=False, underflow=False))
        """
        self._core.restart()

    def step(self) -> bool:
        """Execute one instruction on all PEs; returns False at the end of the program."""
        return self._core.step()

    def steps(self) -> Iterator[Position]:
        """Execute the remaining instructions one by one; yields each one after its execution."""
        while True:
            at = self.position
            if not self._core.step():
                return
            yield at

    def run(self, instructions: Optional[int] = None) -> int:
        """Execute up to this many instructions (None: all); returns how many were executed."""
        most = 2**63 - 1 if instructions is None else integer("instructions", instructions)
        return self._core.run(most)

    @property
    def position(self) -> Position:
        """The next instruction."""
        return Position(*self._core.position())

    def instructions(self, section: str) -> List[str]:
        """Assembly text of all instructions of section "init", "start", "body" or "end".

        Examples:
            >>> machine = gdr.Machine(blocks=1, pes=2)
            >>> machine.load(gdr.compile("VARI x; VARJ y; VARF f; f += x*y;"))
            >>> machine.instructions("end")
            ['fadd f f $th']
        """
        check_type("section", section, str, "a string")
        return self._core.instructions(section)

    def results(self, names: Results = None) -> ResultArrays:
        """Current results of the targets in the PEs, converted as declared."""
        if names is None:
            names = self.kernel.whole_names(self.kernel.names("result"))
        count = self.target_count
        outputs = Outputs.of(None, isinstance(names, Mapping), {})
        arrays = result_arrays(self.kernel, names, count, 0, outputs)
        self._core.results(rows(arrays), count)
        return outputs.finished(arrays)

    # -- memories ------------------------------------------------------------------------------

    def read(self, memory: str, format: str = "raw", *, long: bool = True) -> AnyArray:
        """Read a memory of all blocks: (blocks, words, PEs), or (blocks, words) for "broadcast".

        ``memory``: "registers", "local", "t" (one long per element), "masks" (bits, [8 * 4]) or
        "broadcast". ``long``: read longs, at even addresses; with False shorts.

        ``format``: "raw" (Python integers of 72 bits; shorts as uint64), "float" (float64, rounded
        once), "longdouble" (np.longdouble, exact on x86), "int" (signed Python integers; shorts as
        int64) or "fixed.N" (an integer with N fraction bits, as longdouble).
        """
        shorts = self._core.memory(choice("memory", memory, MEMORIES))
        if memory == "masks":
            return shorts.astype(bool)
        words = (shorts[:, 0::2], shorts[:, 1::2]) if long else (shorts, None)
        return decode(words[0], words[1], format)

    def write(
        self,
        memory: str,
        block: int,
        address: int,
        value: Union[int, float],
        *,
        pe: int = 0,
        format: str = "raw",
        long: bool = True,
    ) -> None:
        """Write one word; ``address`` counts longs, or shorts with ``long=False``.

        ``format``: "raw" or "int" (an integer), or "float": a number, rounded once.

        Examples:
            >>> machine = gdr.Machine(blocks=2, pes=1)
            >>> machine.load(gdr.builtin("gravity"))
            >>> machine.write("registers", 0, 5, 1.5, format="float")
            >>> machine.write("registers", 1, 5, 2.0, format="float")
            >>> machine.read("registers", "float")[:, 5].tolist()
            [[1.5], [2.0]]
            >>> float(machine.reduce("registers", "fadd")[5, 0])
            3.5
        """
        choice("memory", memory, MEMORIES)
        block, address, pe = integer("block", block), integer("address", address), integer("pe", pe)
        if memory == "masks":
            bit = int(value) if isinstance(value, (bool, np.bool_)) else value
            shorts = [integer("value", bit)]
        elif long:
            word = encode(value, format, 72)
            shorts = [word >> 36, word & (2**36 - 1)]
        else:
            shorts = [encode(value, format, 36)]
        for k, short in enumerate(shorts):
            self._core.set_memory(memory, block, address * len(shorts) + k, pe, short)

    def reduce(self, memory: str, operation: str = "fadd", format: str = "float") -> AnyArray:
        """Reduce a memory over the blocks with the reduction network: (words, PEs), or (words,) for
        "broadcast".

        ``operation``: "fadd", "fmax", "fmin", "iadd", "imax", "imin", "iand", "ior", "ixor" or
        "pass" (block 0). ``memory`` and ``format`` as in ``read``; masks cannot be reduced.
        """
        check_type("operation", operation, str, "a string")
        shorts = self._core.reduced(choice("memory", memory, MEMORIES), operation)
        return decode(shorts[0::2], shorts[1::2], format)

    def flags(self, block: Optional[int] = None) -> Flags:
        """Sticky floating-point flags since ``load`` or ``restart``, of one block or of all blocks
        combined."""
        if block is not None:
            return Flags(*self._core.flags(integer("block", block)))
        every = [self._core.flags(b) for b in range(self.blocks)]
        return Flags(*(any(kind) for kind in zip(*every)))

    def __repr__(self) -> str:
        loaded = "nothing loaded" if self._kernel is None else self._kernel.name
        blocks = counted(self.blocks, "block")
        return f"<gdr.Machine of {blocks} of {counted(self.pes, 'PE')}: {loaded}>"

    def _repr_html_(self) -> str:
        title = repr(self)[1:-1]
        if self._kernel is None:
            return html_table(title, [])
        at = self.position
        title += f", {at.clock} clocks"
        if not at.section:
            return html_table(title, [("", "end of the program")])
        title += f", section {at.section}"
        if at.section == "body":
            title += f", iteration {at.iteration}"
        texts = self.instructions(at.section)
        first = max(0, at.instruction - 3)
        shown = texts[first : at.instruction + 4]
        rows = [
            ("next" if k == at.instruction else "", k, text) for k, text in enumerate(shown, first)
        ]
        return html_table(title, rows)


_FIXED = re.compile(r"fixed\.(\d+)$")


def decode(upper: AnyArray, lower: Optional[AnyArray], format: str) -> AnyArray:
    """Convert words to numbers: longs as upper and lower shorts, or shorts (lower is None)."""
    check_type("format", format, str, "a string")
    if format in ("float", "longdouble"):
        wide = _as_longdouble(upper, lower)
        return wide if format == "longdouble" else wide.astype(np.float64)
    fixed = _FIXED.match(format)
    if format not in ("raw", "int") and not fixed:
        raise ValueError(f"format: expected raw, float, longdouble, int or fixed.N, got {format!r}")
    bits = 36 if lower is None else 72
    word: AnyArray = upper if lower is None else upper.astype(object) << 36 | lower.astype(object)
    if format == "raw":
        return word
    signed: AnyArray = word.astype(np.int64) if lower is None else word
    signed = signed - ((signed >> (bits - 1)) << bits)
    if not fixed:
        return signed
    point = int(fixed.group(1))
    if point > 71:
        raise ValueError(f"format: expected fixed.N with N at most 71, got {point}")
    scaled: AnyArray = np.ldexp(signed.astype(np.longdouble), -point)
    return scaled


def _as_longdouble(upper: AnyArray, lower: Optional[AnyArray]) -> AnyArray:
    negative = (upper >> np.uint64(35)) != 0
    exponent = ((upper >> np.uint64(24)) & np.uint64(2047)).astype(np.int32)
    high = upper & np.uint64(2**24 - 1)
    low = np.zeros_like(upper) if lower is None else lower
    fraction = (high << np.uint64(36)) | low
    significand = (fraction | np.uint64(2**60)).astype(np.longdouble)
    value = np.ldexp(significand, exponent - 1083)
    value = np.where(exponent == 0, np.longdouble(0), value)
    special = np.where(fraction != 0, np.longdouble("nan"), np.longdouble("inf"))
    value = np.where(exponent == 2047, special, value)
    signed: AnyArray = np.where(negative, -value, value)
    return signed


def encode(value: Union[int, float], format: str, bits: int) -> int:
    """Convert a number to a word of 36 or 72 bits."""
    if format in ("raw", "int"):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"value: expected an integer, got {type(value).__name__}")
        least, most = (0, 2**bits) if format == "raw" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        if not least <= value < most:
            raise ValueError(f"value: {value} does not fit into {bits} bits")
        return int(int(value) % 2**bits)
    if format != "float":
        raise ValueError(f"format: expected raw, int or float, got {format!r}")
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"value: expected a number, got {type(value).__name__}")
    # An IEEE double has the same exponent field as a long: its 64 bits are the upper 64 of a long.
    real = np.float64(value)
    word = int(real.view(np.uint64)) << 8
    if np.isnan(real):
        word = 0xFFF << 59  # the chip's only NaN: quiet, without a sign
    elif abs(real) < np.finfo(np.float64).tiny:
        word &= 1 << 71  # a subnormal is a zero of its sign
    # Round to the nearest short, ties to even; a carry goes into the exponent.
    return word if bits == 72 else (word + 2**35 - 1 + (word >> 36 & 1)) >> 36
