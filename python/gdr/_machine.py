"""One chip by hand: step through a program, and look at every memory in any number format.

Words of the machine have 72 bits (longs) or 36 (shorts): floats with a sign, 11 bits of exponent
(bias 1023) and 60 or 24 of fraction, or integers.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, choice, index, number
from ._device import device_name
from ._job import Job, Results
from ._kernel import Kernel
from .errors import UsageError

MEMORIES = ("registers", "local", "t", "masks", "broadcast")


@dataclasses.dataclass(frozen=True)
class Position:
    """What the next step does; ``section`` is empty at the end of the program."""

    section: str  #: "start", "body" or "end"
    iteration: int  #: of the body: which group of sources
    instruction: int  #: number in the section
    text: str  #: as assembly
    file: str  #: of the source
    line: int  #: of the source, 0 where it is not known
    clock: int  #: clocks of what was done since ``restart``


class Flags(NamedTuple):
    """Sticky flags of floating-point operations."""

    invalid: bool  #: an infinity minus itself, or zero times infinity
    overflow: bool  #: a result was too large
    underflow: bool  #: a result was too small, and became zero


class Machine:
    """One chip of any geometry: ``gdr.Machine(blocks=1, pes=2)``.

    ::

        machine = gdr.Machine(blocks=1, pes=2)
        machine.load(gdr.builtin("gravity"))
        machine.set(eps2=0.01)
        machine.sources(xj=..., yj=..., zj=..., mj=..., idj=...)
        machine.targets(xi=..., yi=..., zi=..., idi=...)
        for at in machine.steps():
            print(at.clock, at.text, machine.read("registers", "float")[0, :4, 0])

    Options are those of ``gdr.open``: the geometry (blocks, pes, registers, local, bm) and the
    engine, "vector" or "reference"; engines with fast numerics are refused (UnsupportedError), as
    they keep no machine words.
    """

    def __init__(self, name: str = "", **options: Union[str, int, float]) -> None:
        self._core = _core.Machine(device_name(name, options))
        self._kernel: Optional[Kernel] = None

    def load(self, kernel: Kernel) -> None:
        """Clear all memories, load a program and run its section Init."""
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel: a gdr.Kernel is wanted, not {type(kernel).__name__}")
        self._core.load(kernel.core)
        self._kernel = kernel

    @property
    def kernel(self) -> Kernel:
        """What is loaded. Raises UsageError where nothing is."""
        if self._kernel is None:
            raise UsageError("no program is loaded")
        return self._kernel

    @property
    def blocks(self) -> int:
        """Broadcast blocks of the chip."""
        return self._core.blocks

    @property
    def pes(self) -> int:
        """PEs of a block."""
        return self._core.pes

    @property
    def target_slots(self) -> int:
        """Targets that the chip holds."""
        return self._core.target_slots

    @property
    def target_count(self) -> int:
        """Targets that were given last."""
        return self._core.target_count

    def set(self, **params: float) -> None:
        """Set ``param``s by name."""
        numbers = {name: number(name, value) for name, value in params.items()}
        for name, value in numbers.items():
            self._core.set(name, value)

    def sources(self, n: Optional[int] = None, /, **arrays: Any) -> None:
        """Give all ``jvar``s, as ``Job.sources`` does; the next step is the program's first."""
        self._core.sources(*self._inputs("source", n, arrays))

    def targets(self, n: Optional[int] = None, /, **arrays: Any) -> None:
        """Give all ``ivar``s to the PEs, as ``Job.targets`` does."""
        self._core.targets(*self._inputs("target", n, arrays))

    def restart(self) -> None:
        """Go to the first instruction of section Start; memories stay as they are."""
        self._core.restart()

    def step(self) -> bool:
        """Do one instruction in all PEs; False, and nothing happens, at the end of the program."""
        return self._core.step()

    def steps(self) -> Iterator[Position]:
        """Do the rest instruction by instruction; gives what was done, after it was done."""
        while True:
            at = self.position
            if not self._core.step():
                return
            yield at

    def run(self, instructions: Optional[int] = None) -> int:
        """Do as many instructions (None: all that are left); returns how many were done."""
        most = 2**63 - 1 if instructions is None else index("instructions", instructions)
        return self._core.run(most)

    @property
    def position(self) -> Position:
        """What the next step does."""
        return Position(*self._core.position())

    def instructions(self, section: str) -> List[str]:
        """All instructions of "init", "start", "body" or "end", as assembly."""
        if not isinstance(section, str):
            raise TypeError(f"section: a string is wanted, not {type(section).__name__}")
        return self._core.instructions(section)

    def results(self, names: Results = None) -> Dict[str, AnyArray]:
        """Results of the targets as they stand in the PEs now, converted as declared."""
        if names is None:
            names = list(self.kernel.names("result"))
        arrays = self._job()._outputs(names)
        self._core.results(arrays)
        return arrays

    # -- memories ------------------------------------------------------------------------------

    def read(self, memory: str, format: str = "raw", *, long: bool = True) -> AnyArray:
        """A memory of all blocks: (blocks, words, PEs), of the broadcast memory (blocks, words).

        ``memory``: "registers", "local", "t" (a long for each element), "masks" (bits, [8 * 4]) or
        "broadcast". ``long``: the words are longs, at even addresses; with False they are shorts.

        ``format``: "raw" (Python integers of 72 bits; shorts as uint64), "float" (float64, rounded
        once), "longdouble" (np.longdouble, which holds all 61 bits on x86), "int" (Python integers
        with their sign; shorts as int64) or "fixed.N", an integer with N bits below the binary
        point, as longdouble.
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
        """Set one word; ``address`` counts longs, or with ``long=False`` shorts.

        ``format``: "raw" or "int" (an integer), or "float": a number, rounded once to the word.
        """
        choice("memory", memory, MEMORIES)
        block, address, pe = index("block", block), index("address", address), index("pe", pe)
        if memory == "masks":
            bit = index("value", int(value) if isinstance(value, (bool, np.bool_)) else value)
            self._core.set_memory(memory, block, address, pe, bit)
            return
        bits = 72 if long else 36
        word = encode(value, format, bits)
        if not long:
            self._core.set_memory(memory, block, address, pe, word)
            return
        self._core.set_memory(memory, block, 2 * address, pe, word >> 36)
        self._core.set_memory(memory, block, 2 * address + 1, pe, word & (2**36 - 1))

    def reduce(self, memory: str, operation: str = "fadd", format: str = "float") -> AnyArray:
        """What the reduction network makes of a memory as it stands: each long of all blocks goes
        through the tree, (words, PEs), of the broadcast memory (words,).

        ``operation``: "fadd", "fmax", "fmin", "iadd", "imax", "imin", "iand", "ior", "ixor" or "pass"
        (block 0). ``memory`` and ``format`` as in ``read``; masks do not pass the network.
        """
        if not isinstance(operation, str):
            raise TypeError(f"operation: a string is wanted, not {type(operation).__name__}")
        shorts = self._core.reduced(choice("memory", memory, MEMORIES), operation)
        return decode(shorts[0::2], shorts[1::2], format)

    def flags(self, block: Optional[int] = None) -> Flags:
        """Sticky flags that floating-point operations raised since ``load`` or ``restart``: of a
        block, or of any block."""
        if block is not None:
            return Flags(*self._core.flags(index("block", block)))
        every = [self._core.flags(b) for b in range(self.blocks)]
        return Flags(*(any(kind) for kind in zip(*every)))

    # -- internals -----------------------------------------------------------------------------

    def _job(self) -> Job:
        """Checks of a job, without a device."""
        job = Job.__new__(Job)
        job.kernel = self.kernel
        job._types = {v.name: v for v in self.kernel.variables}
        job._core = self._core  # type: ignore[assignment]
        return job

    def _inputs(
        self, role: str, n: Optional[int], arrays: Mapping[str, Any]
    ) -> Tuple[int, Dict[str, AnyArray]]:
        return self._job()._inputs(role, n, arrays)

    def __repr__(self) -> str:
        loaded = "nothing loaded" if self._kernel is None else self._kernel.name
        return f"<gdr.Machine of {self.blocks} blocks of {self.pes} PEs: {loaded}>"


_FIXED = re.compile(r"fixed\.(\d+)$")


def decode(upper: AnyArray, lower: Optional[AnyArray], format: str) -> AnyArray:
    """Words as numbers: longs as their upper and lower shorts, or shorts alone (lower None)."""
    if not isinstance(format, str):
        raise TypeError(f"format: a string is wanted, not {type(format).__name__}")
    if format == "raw":
        if lower is None:
            return upper
        joined: AnyArray = upper.astype(object) << 36 | lower.astype(object)
        return joined
    if format in ("float", "longdouble"):
        wide = _as_longdouble(upper, lower)
        return wide if format == "longdouble" else wide.astype(np.float64)
    fixed = _FIXED.match(format)
    if format != "int" and not fixed:
        raise ValueError(f"format: raw, float, longdouble, int or fixed.N, not {format!r}")
    if lower is None:
        whole = upper.astype(np.int64)
        whole = whole - ((whole >> 35) << 36)
    else:
        whole = upper.astype(object) << 36 | lower.astype(object)
        whole = whole - ((whole >> 71) << 72)
    if not fixed:
        return whole
    point = int(fixed.group(1))
    if point > 71:
        raise ValueError(f"format: fixed.N goes up to 71, not {point}")
    if lower is None:
        return np.ldexp(whole.astype(np.longdouble), -point)
    # An object array of integers beyond 64 bits goes to longdouble in two exact halves.
    high, low = whole >> 36, whole & (2**36 - 1)
    sum_ = np.ldexp(high.astype(np.int64).astype(np.longdouble), 36)
    scaled: AnyArray = np.ldexp(sum_ + low.astype(np.int64).astype(np.longdouble), -point)
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
    """One number as a word of that many bits."""
    if format in ("raw", "int"):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"value: an integer is wanted, not {type(value).__name__}")
        least, most = (0, 2**bits) if format == "raw" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
        if not least <= value < most:
            raise ValueError(f"value: {value} does not fit {bits} bits")
        return int(int(value) % 2**bits)
    if format != "float":
        raise ValueError(f"format: raw, int or float, not {format!r}")
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"value: a number is wanted, not {type(value).__name__}")
    real = float(value)
    digits = bits - 12
    sign = 1 if np.signbit(real) else 0
    if np.isnan(real):
        exponent, fraction, sign = 2047, 1 << (digits - 1), 0
    elif np.isinf(real):
        exponent, fraction = 2047, 0
    elif abs(real) < np.finfo(np.float64).tiny:
        exponent, fraction = 0, 0
    else:
        mantissa, power = np.frexp(abs(real))
        exponent = int(power) + 1022
        whole = int(float(mantissa) * 2**53)  # exact
        if digits >= 52:
            fraction = (whole - 2**52) << (digits - 52)
        else:
            cut = 52 - digits
            rounded = (whole + (1 << (cut - 1)) - 1 + ((whole >> cut) & 1)) >> cut
            if rounded == 2 ** (digits + 1):
                rounded, exponent = rounded >> 1, exponent + 1
            fraction = rounded - 2**digits if exponent < 2047 else 0
    return int(sign << (bits - 1) | exponent << digits | fraction)
