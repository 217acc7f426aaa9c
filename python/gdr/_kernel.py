"""Kernels: programs with the interface that their declarations give them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import _core
from ._arrays import AnyArray, index, text_of
from .errors import FileError, UsageError


@dataclasses.dataclass(frozen=True)
class Variable:
    """One variable of a kernel's interface."""

    name: str
    role: str  #: "target", "source", "result", "param" or "output"
    type: str  #: the host's numbers: "float64", "float32", "int64" or "raw" (64-bit words)
    conversion: str  #: as declared: "f64to72"
    reduction: str  #: results and outputs: "fadd"; empty for the others
    host_bytes: int  #: size of one value


@dataclasses.dataclass
class Names:
    """What callers of a kernel call its variables, where that is not as the program does."""

    targets: Dict[str, str] = dataclasses.field(default_factory=dict)
    sources: Dict[str, str] = dataclasses.field(default_factory=dict)
    results: Dict[str, str] = dataclasses.field(default_factory=dict)


class Kernel:
    """A kernel: from ``gdr.compile``, ``gdr.assemble``, ``gdr.load``, ``gdr.builtin`` or
    ``@gdr.kernel``. Immutable; any number of devices and threads may use it."""

    def __init__(self, core: _core.Kernel, called: Optional[Names] = None) -> None:
        self.core = core
        self._called = called or Names()
        self._variables = tuple(Variable(*v) for v in core.variables)

    @property
    def name(self) -> str:
        """Its name, from the text or the file."""
        return self.core.name

    @property
    def variables(self) -> Tuple[Variable, ...]:
        """The interface, in the order of declaration."""
        return self._variables

    def names(self, role: str) -> Tuple[str, ...]:
        """Names of the variables of a role ("target", "source", "result", "param", "output")."""
        return tuple(v.name for v in self._variables if v.role == role)

    @property
    def clocks(self) -> float:
        """Clocks of the loop body for one interaction and PE."""
        return self.core.clocks

    @property
    def flops(self) -> float:
        """Floating-point operations counted for one interaction."""
        return self.core.flops

    @property
    def assembly(self) -> str:
        """Assembly text that assembles to the same object, byte for byte."""
        return self.core.assembly

    @property
    def object(self) -> bytes:
        """The bytes of the kernel's object file (.gdo)."""
        return self.core.object

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the object file. Raises FileError; what was there stays then."""
        to = _path(path)
        part = f"{to}.{secrets.token_hex(8)}.part"
        try:
            # "x" creates it exclusively: a link that somebody else put there is not followed.
            with open(part, "xb") as file:
                file.write(self.object)
            os.replace(part, to)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise FileError(f"{to}: it cannot be written: {error.strerror}") from None

    def __call__(
        self,
        *,
        targets: Union[Mapping[str, Any], int],
        sources: Union[Mapping[str, Any], int],
        params: Optional[Mapping[str, float]] = None,
        results: Any = None,
        device: Any = None,
        **more: float,
    ) -> Dict[str, AnyArray]:
        """Run it once: arrays by name in, arrays by result name out.

        ``targets`` and ``sources`` map every ``ivar`` and ``jvar`` to an array (a number stands for
        all); a kernel without any of them takes the number of items instead. Every ``param`` must
        be given, as a keyword (``spring(targets=..., sources=..., k=2.0)``) or in ``params``.
        ``results``: names of those that are wanted, or an array to fill for each; all by default.
        """
        from ._device import pick

        called = self._called
        chosen = pick(device)
        job = chosen.job(self)
        with chosen._together():
            given = self._params(params, more)
            from_sources = _side("sources", sources, called.sources)
            from_targets = _side("targets", targets, called.targets)
        job.set(**given)
        job.sources(from_sources.number, **from_sources.arrays)
        job.targets(from_targets.number, **from_targets.arrays)
        wanted = results
        if isinstance(results, Mapping):
            wanted = {called.results.get(name, name): out for name, out in results.items()}
        elif results is not None and not isinstance(results, str):
            wanted = [called.results.get(name, name) for name in results]
        back = {variable: name for name, variable in called.results.items()}
        return {back.get(name, name): array for name, array in job.run(wanted).items()}

    def _params(
        self, params: Optional[Mapping[str, float]], more: Mapping[str, float]
    ) -> Dict[str, float]:
        if params is not None and not isinstance(params, Mapping):
            raise TypeError(f"params: a dictionary is wanted, not {type(params).__name__}")
        given = {**(params or {}), **more}
        missing = [name for name in self.names("param") if name not in given]
        if missing:
            raise UsageError(f"kernel {self.name!r}: params are missing: {', '.join(missing)}")
        return given

    def __repr__(self) -> str:
        return f"<gdr.Kernel {self.name}: {self.clocks:g} clocks, {self.flops:g} operations>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return from_object, (self.object,)


class _Side(NamedTuple):
    """Sources or targets of a call: their number, where that is what was given, and arrays."""

    number: Optional[int]
    arrays: Dict[str, Any]


def _side(side: str, data: Any, table: Mapping[str, str]) -> _Side:
    if isinstance(data, Mapping):
        return _Side(None, _variables(side, data, table))
    try:
        return _Side(index(side, data), {})
    except TypeError:
        what = f"a dictionary of arrays, or a number, is wanted, not {type(data).__name__}"
        raise TypeError(f"{side}: {what}") from None


def _variables(side: str, data: Mapping[str, Any], table: Mapping[str, str]) -> Dict[str, Any]:
    """The arrays of a side by variable; without a table the library says what names there are."""
    if not table:
        return dict(data)
    unknown = [name for name in data if name not in table]
    missing = [name for name in table if name not in data]
    if unknown or missing:
        what = [f"unknown: {', '.join(unknown)}"] if unknown else []
        what += [f"missing: {', '.join(missing)}"] if missing else []
        raise TypeError(f"{side}: {'; '.join(what)}")
    return {table[name]: value for name, value in data.items()}


def compile(text: str, name: str = "kernel", *, effort: int = 2) -> Kernel:
    """Compile a text of the kernel language (docs/reference/kernel-language.md). While it looks
    for a short loop other Python threads run, and Ctrl-C is heard.

    ``effort`` from 0 to 9 is how hard the compiler looks for a shorter loop on the chip, as in
    ``gdr compile --effort``: 0 takes the first that it finds, which is quick, and often a few clocks
    longer.

    Raises ProgramError whose message holds every diagnostic with its source line, or says which
    resource of the chip does not suffice.
    """
    hard = index("effort", effort, 0, 9)
    return Kernel(_core.Kernel.compile(text_of("text", text), text_of("name", name), hard))


def assemble(text: str, name: str = "kernel") -> Kernel:
    """Assemble a text (docs/reference/assembler.md). Raises ProgramError like ``compile``."""
    return Kernel(_core.Kernel.assemble(text_of("text", text), text_of("name", name)))


def load(path: Union[str, "os.PathLike[str]"]) -> Kernel:
    """Read an object (.gdo), compile a kernel (.gdk), or assemble any other file."""
    return Kernel(_core.Kernel.load(os.fsencode(_path(path))))


def from_object(data: Union[bytes, bytearray, memoryview], name: str = "object") -> Kernel:
    """The kernel in the bytes of an object file; ``name`` stands in messages."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"data: bytes are wanted, not {type(data).__name__}")
    return Kernel(_core.Kernel.from_object(bytes(data), text_of("name", name)))


def builtin(name: str) -> Kernel:
    """A kernel of the library; ``gdr.builtin_names()`` lists them."""
    return Kernel(_core.Kernel.builtin(text_of("name", name)))


def builtin_names() -> List[str]:
    """Names of the library's kernels."""
    return _core.Kernel.builtin_names()


def _path(path: Any) -> str:
    """A path; names of files that are no UTF-8 are as Python has them."""
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"path: a path is wanted, not {type(path).__name__}") from None
