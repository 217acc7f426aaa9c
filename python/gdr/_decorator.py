"""``@gdr.kernel``: a plain Python function, read as a kernel.

The function is never called: its source is translated to the kernel language, statement by
statement. What has no counterpart there is an error that shows the Python line.
"""

from __future__ import annotations

import re
from types import FunctionType
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union, overload

from . import _core
from ._arrays import AnyArray, index
from ._kernel import Kernel, Names, from_object
from ._source import Source
from ._writer import Program
from .errors import ProgramError

_TYPES = ("long", "short", "int")
Function = Callable[..., Any]


class FunctionKernel(Kernel):
    """A kernel made of a Python function. ``text`` is the kernel language that it was read as,
    ``function`` the function itself (None in a copy that came from another process).

    Calls take and give what the function calls attributes of its target and source; parameters
    with a default may be left out.
    """

    def __init__(
        self,
        core: Any,
        text: str,
        function: Optional[Function],
        names: Names,
        params: Mapping[str, str],
        defaults: Mapping[str, float],
    ) -> None:
        super().__init__(core, names)
        self.text = text
        self.function = function
        #: What parameters have where a call does not give them.
        self.defaults = dict(defaults)
        self._spelled = dict(params)
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(
        self,
        *particles: Any,
        targets: Union[Mapping[str, Any], int, None] = None,
        sources: Union[Mapping[str, Any], int, None] = None,
        params: Optional[Mapping[str, float]] = None,
        results: Any = None,
        device: Any = None,
        **more: float,
    ) -> Dict[str, AnyArray]:
        """Run it once: arrays by the names of attributes in, arrays by the names of results out.

        ``targets`` and ``sources`` map every attribute that is read to an array (a number stands
        for all); all others as for every kernel.
        """
        if particles or targets is None or sources is None:
            raise TypeError(
                f"{self.name}: a kernel takes all particles at once: "
                f"{self.name}(targets={{...}}, sources={{...}}, ...)"
            )
        given = {**self.defaults, **dict(params or {}), **more}
        spelled = {self._spelled.get(name, name): value for name, value in given.items()}
        return super().__call__(
            targets=targets, sources=sources, params=spelled, results=results, device=device
        )

    def __reduce__(self) -> Tuple[Any, ...]:
        parts = (self.text, self._called, self._spelled, self.defaults, self.__doc__)
        return _copy, (self.object, *parts)


def _copy(
    data: bytes,
    text: str,
    names: Names,
    params: Mapping[str, str],
    defaults: Mapping[str, float],
    doc: Optional[str],
) -> FunctionKernel:
    made = FunctionKernel(from_object(data).core, text, None, names, params, defaults)
    made.__doc__ = doc
    return made


@overload
def kernel(function: Function) -> FunctionKernel: ...


@overload
def kernel(
    *,
    types: Optional[Mapping[str, str]] = None,
    precision: str = "short",
    flops: Optional[float] = None,
    effort: int = 2,
) -> Callable[[Function], FunctionKernel]: ...


def kernel(
    function: Optional[Function] = None,
    *,
    types: Optional[Mapping[str, str]] = None,
    precision: str = "short",
    flops: Optional[float] = None,
    effort: int = 2,
) -> Any:
    """Turn a function of a target, a source and parameters into a kernel.

    ::

        @gdr.kernel
        def spring(i, j, k=1.0):
            dx = j.x - i.x
            i.f += k * j.q * dx

        forces = spring(targets={"x": x}, sources={"x": x, "q": q}, k=2.0)["f"]

    The first argument is the target: attributes that are read are its inputs, those that are added
    to (``+=``, ``-=``) its results, zero at the start; ``i.r = min(i.r, expression)`` (or max)
    keeps the smallest (largest) contribution. The second argument is the source, all others are
    parameters. ``if``, ``and``, ``or``, ``not``, comparisons, ``a if c else b`` are taken, and
    loops over constants (``for k in range(3)``); ``return`` leaves out the rest for this pair. Functions:
    those of ``gdr.functions``, abs, min, max, where, hypot, square, and ``**`` with constants in
    halves, under the names that Python and NumPy have for them; and functions of numbers that are
    written with ``def`` in turn.

    What depends on no pair, Python computes when the function is decorated: names from around the
    function are constants with the values that they have then.

    ``types`` names the type of attributes, parameters and temporaries: ``{"id": "int", "dx":
    "long"}``; ``precision="long"`` makes long the default; ``flops`` is the number of operations
    that one pair counts; ``effort``, from 0 to 9, how hard to look for a short loop
    (``gdr.compile``): the search takes long where there are many operations.

    Raises ProgramError with the line of the function where something cannot be translated,
    TypeError and ValueError for arguments of the decorator.
    """

    def make(f: Function) -> FunctionKernel:
        return _translate(f, dict(types or {}), precision, flops, index("effort", effort, 0, 9))

    return make if function is None else make(function)


def _translate(
    function: Function,
    types: Dict[str, str],
    precision: str,
    flops: Optional[float],
    effort: int,
) -> FunctionKernel:
    if hasattr(function, "__wrapped__") and not isinstance(function, staticmethod):
        raise TypeError(
            "function: another decorator has changed this one; put gdr.kernel below it"
        )
    if not isinstance(function, FunctionType):
        kind = type(function).__name__
        more = "; put @staticmethod above @gdr.kernel" if kind in ("method", "staticmethod") else ""
        raise TypeError(f"function: gdr.kernel decorates a plain function, not {kind}{more}")
    if precision not in ("short", "long"):
        raise ValueError(f"precision: 'short' or 'long' is wanted, not {precision!r}")
    for name, type_name in types.items():
        if type_name not in _TYPES:
            raise ValueError(
                f"types: {name!r}: 'long', 'short' or 'int' is wanted, not {type_name!r}"
            )
    program = Program(function, types)
    writer = program.kernel
    text = program.text(precision, flops)
    try:
        core = _core.Kernel.compile(text, writer.name, effort)
    except ProgramError as error:
        raise ProgramError(_explain(str(error), writer.name, program.lines)) from None
    params = {name: writer.spelling[name] for name in writer.params}
    return FunctionKernel(core, text, function, writer.names, params, writer.defaults)


def _explain(message: str, name: str, lines: Mapping[int, Tuple[Source, int]]) -> str:
    """The compiler's message, with the lines of Python that its lines were made of before them."""
    told: List[str] = []
    for text in message.splitlines():
        place = re.match(rf"{re.escape(name)}:(\d+):\d+: (.*)", text)
        if place is None or int(place.group(1)) not in lines:
            told.append(text)
            continue
        source, line = lines[int(place.group(1))]
        told.append(f"{source.file}:{source.first + line - 1}: {place.group(2)}")
        if not place.group(2).startswith("note"):
            shown = source.lines[line - 1]
            begin = len(shown) - len(shown.lstrip())
            told.append(source.shown(line, begin, len(shown)))
            told.append("  which was read as")
    return "\n".join(told).rstrip("\n")
