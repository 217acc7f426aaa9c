"""Kernels: programs with the interface that their declarations give them."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from . import _core
from ._arrays import AnyArray
from .errors import UsageError


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
        """Write the object file."""
        with open(path, "wb") as file:
            file.write(self.object)

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

        given = {**dict(params or {}), **more}
        missing = [name for name in self.names("param") if name not in given]
        if missing:
            raise UsageError(f"kernel {self.name!r}: params are missing: {', '.join(missing)}")
        called = self._called
        job = pick(device).job(self)
        job.set(**given)
        for call, data, table, side in (
            (job.sources, sources, called.sources, "sources"),
            (job.targets, targets, called.targets, "targets"),
        ):
            if isinstance(data, int):
                call(data)
            else:
                call(**_variables(side, data, table))
        wanted = results
        if isinstance(results, Mapping):
            wanted = {called.results.get(name, name): out for name, out in results.items()}
        elif results is not None and not isinstance(results, str):
            wanted = [called.results.get(name, name) for name in results]
        back = {variable: name for name, variable in called.results.items()}
        return {back.get(name, name): array for name, array in job.run(wanted).items()}

    def __repr__(self) -> str:
        return f"<gdr.Kernel {self.name}: {self.clocks:g} clocks, {self.flops:g} operations>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return from_object, (self.object,)


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


def compile(text: str, name: str = "kernel") -> Kernel:
    """Compile a text of the kernel language (docs/kernel-language.md): some tenths of a second.

    Raises ProgramError whose message holds every diagnostic with its source line, or says which
    resource of the chip does not suffice.
    """
    return Kernel(_core.Kernel.compile(_text("text", text), _text("name", name)))


def assemble(text: str, name: str = "kernel") -> Kernel:
    """Assemble a text (docs/assembler.md). Raises ProgramError like ``compile``."""
    return Kernel(_core.Kernel.assemble(_text("text", text), _text("name", name)))


def load(path: Union[str, "os.PathLike[str]"]) -> Kernel:
    """Read an object (.gdo), compile a kernel (.gdk), or assemble any other file."""
    return Kernel(_core.Kernel.load(os.fspath(path)))


def from_object(data: bytes) -> Kernel:
    """The kernel in the bytes of an object file."""
    if not isinstance(data, (bytes, bytearray)):
        raise TypeError(f"data: bytes are wanted, not {type(data).__name__}")
    return Kernel(_core.Kernel.from_object(bytes(data)))


def builtin(name: str) -> Kernel:
    """A kernel of the library; ``gdr.builtin_names()`` lists them."""
    return Kernel(_core.Kernel.builtin(_text("name", name)))


def builtin_names() -> List[str]:
    """Names of the library's kernels."""
    return _core.Kernel.builtin_names()


def _text(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: a string is wanted, not {type(value).__name__}")
    return value
