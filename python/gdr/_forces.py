"""The library's kernels as functions on arrays: particles in rows, vectors in columns.

A kernel declares scalars, ``xi yi zi`` and ``xj yj zj``; a function takes ``pos`` of shape (n, 3).
The tables below say which scalars are the columns of one argument, and what arguments are called;
everything else comes from the kernel's declarations.
"""

from __future__ import annotations

import collections
import functools
import inspect
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from . import _kernel
from ._arrays import (
    AnyArray,
    Floats,
    as_array,
    check_apart,
    check_finite,
    floats,
    number,
    result,
)
from ._device import Device, on_all_ranks, pick
from .errors import InputError

#: Inputs that are vectors, by their columns' names without the i or j at the end.
INPUT_VECTORS = {"pos": ("x", "y", "z"), "vel": ("vx", "vy", "vz"), "acc": ("ax", "ay", "az")}
#: Inputs with other names than the kernel's.
INPUT_NAMES = {
    "m": "mass",
    "q": "charge",
    "s": "half_sigma",
    "e": "root_epsilon",
    "hh": "half_h",
    "hc": "half_c",
    "hrho": "half_rho",
    "hi2": "radius",
}
_ORDER = {"pos": 0, "mass": 1, "charge": 1}
#: Results that are vectors.
RESULT_VECTORS = {
    "acc": ("ax", "ay", "az"),
    "jerk": ("jx", "jy", "jz"),
    "snap": ("sx", "sy", "sz"),
    "pn": ("pnx", "pny", "pnz"),
    "force": ("fx", "fy", "fz"),
    "field": ("ex", "ey", "ez"),
}
#: Parameters and inputs that are given by their roots.
SQUARED = {"eps2": "eps", "rc2": "rc", "hi2": "radius"}


class Gravity(NamedTuple):
    """What ``gdr.gravity`` gives."""

    acc: Floats  #: accelerations, (n, 3)
    pot: Floats  #: potentials, (n,)


def masses(name: str, value: Any, n: int) -> Floats:
    """One value for each particle, or a number for all of them."""
    if as_array(name, value).ndim == 0:
        return np.full(n, number(name, value))
    return np.ascontiguousarray(floats(name, value, (n,)))


def gravity(
    pos: Any,
    mass: Any,
    eps: float = 0.0,
    targets: Optional[Any] = None,
    *,
    acc: Optional[Floats] = None,
    pot: Optional[Floats] = None,
    device: Optional[Device] = None,
) -> Gravity:
    """Softened gravity of particles on one another, or on other places; G = 1.

    ``acc_i = sum m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)``, ``pot_i = -sum m_j / (r^2 + eps^2)^(1/2)``

    Parameters: ``pos`` (n, 3) and ``mass`` (n,), or one number for all; the softening ``eps`` >= 0
    in the units of ``pos``; ``targets`` (m, 3), other places. ``acc`` and ``pot``: arrays to fill,
    C-contiguous float64 of shapes (n, 3) and (n,) (or m of them); new ones by default. C-contiguous
    float64 arrays are read where they lie, others are copied.

    Without ``targets`` a particle does not act on itself. With them every pair counts; a pair at one
    place at zero softening contributes nothing. Signs: ``acc`` points to the masses, ``pot`` is
    negative.

    Raises TypeError or ValueError naming the argument, InputError (a ValueError) for results that
    are not finite, naming the particle (the other results have been written then), and where there
    are neither particles nor ``targets``.
    """
    chosen = pick(device)
    core = chosen._get_gravity()
    with chosen._together():
        x = np.ascontiguousarray(floats("pos", pos, ("n", 3)))
        m = masses("mass", mass, len(x))
        soft = number("eps", eps)
        places = x
        if targets is not None:
            places = np.ascontiguousarray(floats("targets", targets, ("m", 3)))
        a = result("acc", acc, places.shape)
        p = result("pot", pot, (len(places),))
        check_apart("acc", a, {"pos": x, "mass": m, "targets": places, "pot": p})
        check_apart("pot", p, {"pos": x, "mass": m, "targets": places})
    try:
        if targets is None:
            core.compute(x, m, soft, a, p)
        else:
            core.compute_on(places, x, m, soft, a, p)
    except InputError as error:
        try:
            for name, array in (("pos", x), ("mass", m), ("targets", places)):
                check_finite(name, array)
        except ValueError as named:
            raise on_all_ranks(named, error) from None
        raise
    return Gravity(a, p)


def _stem(name: str) -> str:
    return name[:-1] if name[-1] in "ij" else name


class _Doc:
    """The docstring of the class, and of each kernel its own."""

    def __get__(self, kernel: Optional["ParticleKernel"], owner: type) -> str:
        if kernel is not None:
            return kernel._text()
        return (
            "A kernel of pairs of particles as a function on arrays. ``help`` of one shows its\n"
            "arguments, and what it returns."
        )


class ParticleKernel:

    def __init__(self, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "gdr"

    @functools.cached_property
    def kernel(self) -> _kernel.Kernel:
        """The kernel itself."""
        return _kernel.builtin(self.__name__)

    @property
    def assembly(self) -> str:
        """Its program as assembly text."""
        return self.kernel.assembly

    @property
    def clocks(self) -> float:
        """Clocks of the loop for one interaction and PE."""
        return self.kernel.clocks

    @property
    def flops(self) -> float:
        """Floating-point operations counted for one interaction."""
        return self.kernel.flops

    def _arguments(self, role: str) -> Dict[str, Tuple[str, ...]]:
        """Arguments of one side (but ids), each with the variables that it feeds."""
        stems = {_stem(name): name for name in self.kernel.names(role)}
        out: Dict[str, Tuple[str, ...]] = {}
        for argument, columns in INPUT_VECTORS.items():
            if all(c in stems for c in columns):
                out[argument] = tuple(stems.pop(c) for c in columns)
        for stem, name in stems.items():
            if stem != "id":
                out[INPUT_NAMES.get(stem, stem)] = (name,)
        # As in gravity: places, what acts, and then the rest.
        return dict(sorted(out.items(), key=lambda item: _ORDER.get(item[0], len(_ORDER))))

    @functools.cached_property
    def _parameters(self) -> Dict[str, str]:
        return {SQUARED.get(name, name): name for name in self.kernel.names("param")}

    @functools.cached_property
    def _results(self) -> Dict[str, Tuple[str, ...]]:
        """Fields of the result, each with its variables; the entries of a list are ``name[]``."""
        left = list(self.kernel.names("result"))
        out: Dict[str, Tuple[str, ...]] = {}
        for field, columns in RESULT_VECTORS.items():
            if all(c in left for c in columns):
                out[field] = columns
                left = [name for name in left if name not in columns]
        for name in left:
            stem, _, index = name.rpartition("_")
            if stem in left and index.isdigit():
                out[stem + "_list"] = (stem + "[]",)
            else:
                out[name] = (name,)
        return out

    @functools.cached_property
    def _tuple(self) -> Any:
        fields = list(self._results)
        return collections.namedtuple(self.__name__ + "_result", fields)

    @property
    def __signature__(self) -> inspect.Signature:
        keyword, either = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = {**self._arguments("source"), **self._arguments("target")}
        parameters = [inspect.Parameter(name, either) for name in names]
        parameters += [inspect.Parameter(name, either) for name in self._parameters]
        for name in ("targets", "device"):
            parameters.append(inspect.Parameter(name, keyword, default=None))
        return inspect.Signature(parameters)

    __doc__ = _Doc()  # type: ignore[assignment]

    def _text(self) -> str:
        fields = ", ".join(f"{field} ({self._shape_text(field)})" for field in self._results)
        return (
            f"The kernel {self.__name__!r} of the library (docs/reference/kernels.md).\n\n"
            f"{self.__name__}{self.__signature__}\n\n"
            "Vectors have shape (n, 3), everything else (n,) or one number for all particles. eps\n"
            "and rc are lengths. Without targets the particles act on one another, and none on\n"
            "itself where the kernel has ids or leaves out pairs at one place. targets: places\n"
            "(m, 3), or a dictionary of all arguments that belong to a target.\n\n"
            f"Returns a named tuple of {fields}.\n\n"
            "Raises TypeError or ValueError naming the argument."
        )

    def _shape_text(self, field: str) -> str:
        return "n, 3" if len(self._results[field]) == 3 else "n"

    def __call__(
        self,
        *values: Any,
        targets: Optional[Any] = None,
        device: Optional[Device] = None,
        **arguments: Any,
    ) -> Any:
        chosen = pick(device)
        job = chosen.job(self.kernel)
        with chosen._together():
            params, sources, places = self._arrange(values, arguments, targets)
        n, m = len(sources["xj"]), len(places["xi"])
        if "idj" in self.kernel.names("source"):
            before = chosen._numbers_before(n)
            sources["idj"] = ids = np.arange(before, before + n)
            places["idi"] = ids if targets is None else np.full(m, -1)
        job.set(**params)
        job.sources(n, **sources)
        job.targets(m, **places)
        out, bound_results = self._allocate(m)
        job.run(bound_results)
        return self._tuple(**out)

    def _arrange(
        self, values: Tuple[Any, ...], arguments: Mapping[str, Any], targets: Any
    ) -> Tuple[Dict[str, float], Dict[str, AnyArray], Dict[str, AnyArray]]:
        """The kernel's params, and the variables of sources and targets, from the arguments."""
        try:
            bound = self.__signature__.bind_partial(*values, **arguments)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        given = dict(bound.arguments)
        of_sources, of_targets = self._arguments("source"), self._arguments("target")
        wanted: List[str] = [*of_sources, *self._parameters]
        if targets is None:
            wanted += [name for name in of_targets if name not in wanted]
        missing = [name for name in wanted if name not in given]
        if missing:
            raise TypeError(f"{self.__name__}: missing: {', '.join(missing)}")
        n = _count("pos", given["pos"])
        params = {
            name: _parameter(argument, name, given[argument])
            for argument, name in self._parameters.items()
        }
        sources = _columns(of_sources, given, n, "")
        if targets is None:
            return params, sources, _columns(of_targets, given, n, "")
        extra = [name for name in given if name in of_targets and name not in of_sources]
        if extra:
            raise TypeError(f"{self.__name__}: give {', '.join(extra)} with the targets")
        places, m = self._targets(targets, of_targets)
        return params, sources, _columns(of_targets, places, m, "targets: ")

    def _targets(
        self, targets: Any, of_targets: Mapping[str, Tuple[str, ...]]
    ) -> Tuple[Dict[str, Any], int]:
        places = dict(targets) if isinstance(targets, Mapping) else {"pos": targets}
        unknown = [name for name in places if name not in of_targets]
        missing = [name for name in of_targets if name not in places]
        if unknown:
            raise TypeError(f"targets: unknown: {', '.join(map(str, unknown))}")
        if missing:
            raise TypeError(f"targets: missing: {', '.join(missing)}; give a dictionary")
        return places, _count("targets", places["pos"])

    def _allocate(self, m: int) -> Tuple[Dict[str, AnyArray], Dict[str, AnyArray]]:
        """Fields of the result, and the columns of them that the variables fill."""
        out: Dict[str, AnyArray] = {}
        bound: Dict[str, AnyArray] = {}
        types = {v.name: v.type for v in self.kernel.variables}
        for field, names in self._results.items():
            if names[0].endswith("[]"):
                elements = [v for v in types if v.startswith(names[0][:-2] + "_")]
                out[field] = bound[names[0]] = np.empty((m, len(elements)), np.int64)
            elif len(names) == 1:
                dtype = np.int64 if types[names[0]] == "int64" else np.float64
                out[field] = bound[names[0]] = np.empty(m, dtype)
            else:
                out[field] = np.empty((m, len(names)))
                for k, name in enumerate(names):
                    bound[name] = out[field][:, k]
        return out, bound

    def __repr__(self) -> str:
        return f"<gdr.{self.__name__}{self.__signature__}>"


def _count(name: str, pos: Any) -> int:
    return len(floats(name, pos, ("n", 3)))


def _parameter(argument: str, name: str, value: Any) -> float:
    one = number(argument, value)
    if argument == name:
        return one
    if one < 0:
        raise ValueError(f"{argument}: a length of at least 0 is wanted, not {one}")
    square = one * one
    if not np.isfinite(square) or (one > 0 and square < np.finfo(float).tiny):
        raise ValueError(f"{argument}: its square leaves the range of a double; scale the units")
    return square


def _squares(name: str, lengths: Floats) -> Floats:
    if (lengths < 0).any():
        raise ValueError(f"{name}: lengths of at least 0 are wanted")
    squares = lengths * lengths
    if not np.isfinite(squares).all():
        raise ValueError(f"{name}: a square leaves the range of a double; scale the units")
    return squares


def _columns(
    arguments: Mapping[str, Tuple[str, ...]], given: Mapping[str, Any], n: int, where: str
) -> Dict[str, AnyArray]:
    """The variables' arrays: columns of the arguments, where they lie."""
    out: Dict[str, AnyArray] = {}
    for argument, names in arguments.items():
        value = given[argument]
        if len(names) == 1:
            array = masses(where + argument, value, n)
            check_finite(where + argument, array)
            if names[0] in SQUARED:
                array = _squares(where + argument, array)
            out[names[0]] = array
        else:
            vectors = floats(where + argument, value, (n, len(names)))
            check_finite(where + argument, vectors)
            for k, name in enumerate(names):
                out[name] = vectors[:, k]
    return out


gravity_potential = ParticleKernel("gravity_potential")
gravity_long = ParticleKernel("gravity_long")
gravity_jerk = ParticleKernel("gravity_jerk")
gravity_jerk_long = ParticleKernel("gravity_jerk_long")
gravity_nearest = ParticleKernel("gravity_nearest")
gravity_neighbours = ParticleKernel("gravity_neighbours")
gravity_snap = ParticleKernel("gravity_snap")
gravity_1pn = ParticleKernel("gravity_1pn")
lennard_jones = ParticleKernel("lennard_jones")
lennard_jones_mixed = ParticleKernel("lennard_jones_mixed")
coulomb = ParticleKernel("coulomb")
coulomb_ewald = ParticleKernel("coulomb_ewald")
morse = ParticleKernel("morse")
buckingham = ParticleKernel("buckingham")
sph_density = ParticleKernel("sph_density")
sph_force = ParticleKernel("sph_force")
gauss_sum = ParticleKernel("gauss_sum")
