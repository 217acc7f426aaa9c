"""``@gdr.kernel``: a plain Python function, read as a kernel.

The function is never called: its source is translated to the kernel language, statement by
statement. What has no counterpart there is an error that shows the Python line.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Mapping, Optional

from . import _core
from ._kernel import Kernel, Names
from ._source import Source
from ._writer import Writer
from .errors import ProgramError

_TYPES = ("long", "short", "int")


class FunctionKernel(Kernel):
    """A kernel made of a Python function. ``text`` is the kernel language that it was read as.

    Calls take and give what the function calls attributes of its target and source.
    """

    def __init__(self, core: Any, text: str, function: Callable[..., Any], names: Names) -> None:
        super().__init__(core, names)
        self.text = text
        self.function = function
        self.__doc__ = function.__doc__


def kernel(
    function: Optional[Callable[..., Any]] = None,
    *,
    types: Optional[Mapping[str, str]] = None,
    precision: str = "short",
    flops: Optional[float] = None,
) -> Any:
    """Turn a function of a target, a source and parameters into a kernel.

    ::

        @gdr.kernel
        def spring(i, j, k):
            dx = j.x - i.x
            i.f += k * j.q * dx

        forces = spring(targets={"x": x}, sources={"x": x, "q": q}, k=2.0)["f"]

    The first argument is the target: attributes that are read are its inputs, those that are added
    to (``+=``, ``-=``) its results, zero at the start; ``i.r = min(i.r, expression)`` (or max)
    keeps the smallest (largest) contribution. The second argument is the source, all others are
    parameters. ``if``, ``and``, ``or``, ``not``, comparisons, ``a if c else b``, and ``for k in
    range(constant)`` are taken; ``if c: return`` leaves out the pair. Functions: sqrt, rsqrt, recip,
    exp, abs, min, max, powm32, and ``**`` with constants in halves. Numbers from around the function
    are constants.

    ``types`` names the type of attributes and temporaries: ``{"id": "int", "dx": "long"}``;
    ``precision="long"`` makes long the default; ``flops`` is the number of operations that one pair
    counts.

    Raises ProgramError with the line of the function where something cannot be translated.
    """

    def make(f: Callable[..., Any]) -> FunctionKernel:
        return _translate(f, dict(types or {}), precision, flops)

    return make if function is None else make(function)


def _translate(
    function: Callable[..., Any], types: Dict[str, str], precision: str, flops: Optional[float]
) -> FunctionKernel:
    if not inspect.isfunction(function):
        raise TypeError("function: gdr.kernel decorates a plain function")
    if precision not in ("short", "long"):
        raise ValueError(f"precision: 'short' or 'long' is wanted, not {precision!r}")
    for name, type_name in types.items():
        if type_name not in _TYPES:
            raise ValueError(
                f"types: {name!r}: 'long', 'short' or 'int' is wanted, not {type_name!r}"
            )
    source = Source(function)
    writer = Writer(source, types, function)
    text = writer.text(precision, flops)
    try:
        core = _core.Kernel.compile(text, function.__name__)
    except ProgramError as error:
        raise ProgramError(source.explain(str(error), function.__name__, writer.lines)) from None
    return FunctionKernel(core, text, function, writer.names)
