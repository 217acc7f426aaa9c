"""``@gdr.kernel``: translation of a plain Python function to a kernel.

The function is never called: its source is translated to the kernel language, statement by
statement. A statement that cannot be translated is an error that shows the Python line.
"""

from __future__ import annotations

from types import FunctionType
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Mapping,
    Optional,
    Tuple,
    Union,
    overload,
)

from . import _core
from ._arrays import integer
from ._codegen import TranslationUnit
from ._diagnostics import python_message
from ._kernel import Kernel, VariableNames, from_object
from ._quantities import checked
from ._shapes import SHAPES
from .errors import ProgramError
from .results import ResultArrays

_TYPES = ("long", "short", "int", *SHAPES) + tuple(
    f"{precision} {shape}" for precision in ("long", "short") for shape in SHAPES
)
Function = Callable[..., Any]


class Particle:
    """Type of targets and sources in the signature of a kernel's function, for type checkers; also
    a particle for calls of ``kernel.function``: ``Particle(x=1.0, f=0.0)``.

    Examples:
        >>> @gdr.kernel
        ... def spring(i: gdr.Particle, j: gdr.Particle, k: float):
        ...     i.f += k * (j.x - i.x)
        >>> target, source = gdr.Particle(x=1.0, f=0.0), gdr.Particle(x=3.0)
        >>> spring.function(target, source, k=2.0)
        >>> target.f
        4.0
    """

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the particle has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"gdr.Particle({values})"


class FunctionKernel(Kernel):
    """A kernel translated from a Python function. ``text`` is the translation to the kernel
    language, ``function`` the Python function (None in a copy from another process).

    Arguments and results of a call have the names of the function's attributes of its target and
    source; parameters with a default value are optional.

    Examples:
        >>> @gdr.kernel
        ... def spring(i, j, k=1.0):
        ...     i.f += k * (j.x - i.x)
        >>> spring(targets={"x": [0.0, 1.0]}, sources={"x": [0.0, 1.0]}, k=2.0).f.tolist()
        [2.0, -2.0]
        >>> spring.name, spring.clocks
        ('spring', 2.0)
    """

    def __init__(
        self,
        core: Any,
        text: str,
        function: Optional[Function],
        names: VariableNames,
        defaults: Mapping[str, Any],
    ) -> None:
        super().__init__(core, names)
        self.text = text
        self.function = function
        #: Values of optional parameters.
        self.defaults = dict(defaults)
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(
        self,
        *particles: Any,
        targets: Union[Mapping[str, Any], int, None] = None,
        sources: Union[Mapping[str, Any], int, None] = None,
        params: Optional[Mapping[str, float]] = None,
        results: Any = None,
        out: Any = None,
        dtype: Any = None,
        device: Any = None,
        batch: Any = None,
        offsets: Any = None,
        **more: float,
    ) -> ResultArrays:
        """Run the kernel once, on arrays by attribute name; returns arrays by result name.

        ``targets`` and ``sources`` map every attribute that the function reads to an array (a
        number applies to all items), or are tables; other arguments as in ``Kernel.__call__``.
        """
        if particles or targets is None or sources is None:
            raise TypeError(
                f"{self.name}: a kernel takes all particles in one call: "
                f"{self.name}(targets={{...}}, sources={{...}}, ...)"
            )
        given = {**self.defaults, **dict(params or {}), **more}
        options = results, out, dtype, device, batch, offsets
        return self._run(targets, sources, given, *options)

    def adjoint(
        self,
        *,
        targets: Union[str, Iterable[str]] = (),
        sources: Union[str, Iterable[str]] = (),
        params: Union[str, Iterable[str]] = (),
    ) -> FunctionKernel:
        """``Kernel.adjoint`` with the names of the function's arguments, and their default values.

        Examples:
            >>> @gdr.kernel
            ... def spring(i, j, k=2.0):
            ...     i.u += 0.5 * k * (j.x - i.x) ** 2
            >>> slope = spring.adjoint(targets="x")
            >>> slope(targets={"x": [0.0], "u_bar": [1.0]}, sources={"x": [3.0]})["x_bar"].tolist()
            [-6.0]
        """
        made = super().adjoint(targets=targets, sources=sources, params=params)
        known = made._caller_names.params
        defaults = {name: value for name, value in self.defaults.items() if name in known}
        return FunctionKernel(made.core, "", None, made._caller_names, defaults)

    def default_params(self) -> Dict[str, Any]:
        """Values of optional parameters by the names of the program's variables."""
        names = self._caller_names.params
        return {names.get(name, name): value for name, value in self.defaults.items()}

    def __reduce__(self) -> Tuple[Any, ...]:
        parts = (self.text, self._caller_names, self.defaults, self.__doc__)
        return _unpickle, (self.object, *parts)


def _unpickle(
    data: bytes,
    text: str,
    names: VariableNames,
    defaults: Mapping[str, float],
    doc: Optional[str],
) -> FunctionKernel:
    kernel = FunctionKernel(from_object(data).core, text, None, names, defaults)
    kernel.__doc__ = doc
    return kernel


@overload
def kernel(function: Function) -> FunctionKernel: ...


@overload
def kernel(
    *,
    types: Optional[Mapping[str, str]] = None,
    quantities: Optional[Mapping[str, str]] = None,
    precision: str = "short",
    flops: Optional[float] = None,
    effort: int = 2,
) -> Callable[[Function], FunctionKernel]: ...


def kernel(
    function: Optional[Function] = None,
    *,
    types: Optional[Mapping[str, str]] = None,
    quantities: Optional[Mapping[str, str]] = None,
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

    The first argument is the target: attributes that are read are its inputs, attributes that are
    accumulated (``+=``, ``-=``) are its results, which start at zero; ``i.r = min(i.r, x)`` (or
    max) is a minimum (maximum) over the sources, ``i.r, i.n = min((i.r, i.n), (x, j.id))`` has the
    int that belongs to it, too. ``i.p *= x`` is a product, ``i.any |= condition`` and ``i.all &=
    condition`` are 1 or 0; ``smallest``, ``largest`` and ``logsumexp`` are described in
    ``gdr.functions``. The second argument is the source, all others are parameters. Supported:
    ``if``, ``and``, ``or``, ``not``, comparisons, ``a if c else b``, loops over constants (``for k in
    range(3)``), and ``return``, which ends the computation of this pair.
    Functions: those of the kernel language and of ``gdr.functions``, under their names in Python
    (``math``), NumPy and SciPy: abs, min, max, where, hypot, square, and others; and functions
    defined with ``def``.

    Vectors: the operators and ``np.dot``, ``@``, ``np.cross``, ``np.linalg.norm``, ``np.outer``,
    ``np.array([x, y, z])`` and constant indices, ``d[0]``. Which attributes are vectors follows
    from their use; their arrays have the shape (n, 3). ``types={"x": "vec2"}`` gives a vector of two
    components, whose arrays have the shape (n, 2), and what is computed with it has two components
    as well; ``types={"q": "sym3"}`` gives a symmetric tensor, whose arrays have the shape (n, 6):
    xx, xy, xz, yy, yz, zz.

    Complex numbers: ``+ - * /``, integer powers, ``abs``, ``np.conj``, ``np.real``, ``np.imag``,
    ``np.angle``, ``np.exp`` and constants such as ``1j``. Results to which complex numbers are added
    are complex; ``types={"q": "complex"}`` declares complex attributes and parameters, whose arrays
    have the type complex128 or complex64.

    Expressions that do not depend on a pair are evaluated when the function is decorated: global
    and enclosing names are constants with the value that they have then. A constant array may be
    read at an integer that depends on the pair, ``TABLE[int(x)]`` or ``TABLE[i.kind][j.kind]``,
    from 0 to its length less one.

    Attributes with these names hold quantities, which the kernel's text declares for sums within a
    cut-off, trees and ``gdr force``: the vector ``x``, or the numbers ``x``, ``y`` and ``z``
    together, the position; ``v``, or ``vx``, ``vy`` and ``vz``, the velocity; ``ax``, ``ay`` and
    ``az`` the acceleration; ``m`` the mass; the ints ``id``, which may then be left out, and
    ``slot``, the index of the source; parameters ``eps`` and ``eps2`` the softening and its square.
    ``quantities={"r": "pos", "s2": "eps^2"}`` gives the quantities of others. No result depends on
    them.

    ``types`` gives the type of attributes, parameters and temporaries: ``{"id": "int", "dx":
    "long"}``; ``precision="long"`` makes long the default; ``flops`` is the number of operations of
    one interaction; ``effort``, from 0 to 9, is the effort of the search for a shorter loop
    (``gdr.compile``), which takes long for kernels with many operations.

    Raises ProgramError with the line of the function that cannot be translated, and TypeError or
    ValueError for the arguments of the decorator.
    """

    declared = dict(types or {}), checked(dict(quantities or {}))
    options = *declared, precision, flops, integer("effort", effort, 0, 9)
    if function is None:
        return lambda f: _translate(f, *options)
    return _translate(function, *options)


def _translate(
    function: Function,
    types: Dict[str, str],
    quantities: Dict[str, str],
    precision: str,
    flops: Optional[float],
    effort: int,
) -> FunctionKernel:
    if hasattr(function, "__wrapped__") and not isinstance(function, staticmethod):
        raise TypeError(
            "function: it is wrapped by another decorator; put gdr.kernel below that one"
        )
    if not isinstance(function, FunctionType):
        kind = type(function).__name__
        more = "; put @staticmethod above @gdr.kernel" if kind in ("method", "staticmethod") else ""
        raise TypeError(f"function: gdr.kernel decorates a plain function, not {kind}{more}")
    if precision not in ("short", "long"):
        raise ValueError(f"precision: expected 'short' or 'long', got {precision!r}")
    for name, type_name in types.items():
        if type_name not in _TYPES:
            raise ValueError(
                f"types: {name!r}: expected 'long', 'short' or 'int', or a shape: 'vec2', 'vec3', "
                f"'sym3', 'complex', 'long vec3' and the like, got {type_name!r}"
            )
    unit = TranslationUnit(function, types, quantities)
    kernel = unit.kernel
    text = unit.text(precision, flops)
    try:
        core = _core.Kernel.compile(text, kernel.name, effort)
    except ProgramError as error:
        message = python_message(str(error), unit.lines, unit.python_names)
        raise ProgramError(message) from None
    # Tables are parameters whose values are known; the library takes their elements in one row.
    tables = {name: elements.ravel() for name, elements in unit.tables.items()}
    kernel.names.params.update({name: name for name in tables})
    core = core.with_host_names(kernel.names.pairs())
    defaults = {**kernel.defaults, **tables}
    return FunctionKernel(core, text, function, kernel.names, defaults)
