"""Smoothed particle hydrodynamics in O(n): densities, smoothing lengths and pressure forces.

    found = gdr.sph.smoothing_lengths(pos, mass, box=(1, 1, 1))      # found.h, found.rho
    acc, dudt, mumax = gdr.sph.forces(pos, vel, mass, found.h, found.rho, pressure, sound)

The laws are those of ``gdr.sph_density`` and ``gdr.sph_force``, which take all pairs: the cubic
spline, which ends at two smoothing lengths, with the mean of both lengths of a pair (Monaghan 1992).
Space is open, or a box repeats: three lengths, or three vectors as the rows of (3, 3), with
``periodic``, whether it does along each, for all or for each of the three. Lists of pairs are kept
from call to call, until particles have moved by 0.025 of the shortest smoothing length. On a device
"mpi" every rank passes its own particles, and gets their results.

``out`` is a dictionary with arrays to fill by result, or the result of an earlier call, ``dtype``
the type of new arrays, float64 or float32. Arrays of PyTorch and JAX give results of the same kind.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, check_finite, floats, integer, number
from ._box import periodic_box
from ._forces import per_particle
from ._open import DeviceLike, device_or_default
from ._outputs import Outputs, arrays_to_fill
from .results import SphDensity, SphForce, SphLengths

__all__ = ["density", "forces", "smoothing_lengths"]


def density(
    pos: Any,
    mass: Any,
    h: Any,
    *,
    box: Optional[Any] = None,
    periodic: Union[bool, Sequence[bool]] = True,
    out: Optional[Any] = None,
    dtype: Optional[Any] = None,
    device: Optional[DeviceLike] = None,
) -> SphDensity:
    """Densities of gas particles, and numbers of particles within the spline, with the own one.

        rho = gdr.sph.density(pos, mass, 0.5)

    ``pos`` (n, 3), ``mass`` (n,) or one number, smoothing lengths ``h`` (n,) or one number.
    Raises TypeError or ValueError naming the argument.
    """
    chosen = device_or_default(device)
    with chosen._ranks.argument_checks():
        x, m = _particles(pos, mass)
        lengths = _column("h", h, len(x))
        edges = periodic_box(box, periodic)
        inputs = {"pos": x, "mass": m, "h": lengths}
        read = {"pos": pos, "mass": mass, "h": h}
        outputs, filled = _results(SphDensity, out, dtype, read, inputs)
    chosen._cached(_core.Sph).density(x, m, lengths, edges, *filled.values())
    return SphDensity(**outputs.finished(filled))


def smoothing_lengths(
    pos: Any,
    mass: Any,
    *,
    eta: float = 1.2,
    h: Optional[Any] = None,
    tolerance: float = 1e-3,
    least: float = 0.0,
    most: Optional[float] = None,
    iterations: int = 100,
    box: Optional[Any] = None,
    periodic: Union[bool, Sequence[bool]] = True,
    out: Optional[Any] = None,
    dtype: Optional[Any] = None,
    device: Optional[DeviceLike] = None,
) -> SphLengths:
    """Adaptive smoothing lengths, h = eta (mass / rho)^(1/3), and the densities rho that they give.

        h = gdr.sph.smoothing_lengths(pos, mass)

    ``pos`` (n, 3), ``mass`` (n,) or one number. ``eta`` is the length in mean distances: with 1.2
    a particle has 58 others within its spline. The iteration begins with ``h``, those of the step
    before, for example, or with an estimate, and ends when both sides differ by less than
    ``tolerance``, relatively. ``least`` and ``most`` limit the lengths.

    Returns a ``gdr.results.SphLengths``: ``h``, ``rho``, ``near`` and the number of ``iterations``.
    Raises TypeError or ValueError naming the argument, and InputError (a ValueError) naming a
    particle if the lengths do not converge in so many ``iterations``: of fewer than six particles
    in open space, or of many at one place, unless they are limited.
    """
    chosen = device_or_default(device)
    with chosen._ranks.argument_checks():
        x, m = _particles(pos, mass)
        start = None if h is None else _column("h", h, len(x))
        limit = np.inf if most is None else number("most", most)
        options = [number("eta", eta), number("tolerance", tolerance), number("least", least)]
        edges = periodic_box(box, periodic)
        tries = integer("iterations", iterations, most=2**31 - 1)
        read = {"pos": pos, "mass": mass, "h": h}
        inputs = {"pos": x, "mass": m, **({} if start is None else {"h": start})}
        outputs, filled = _results(SphLengths, out, dtype, read, inputs)
    done = chosen._cached(_core.Sph).smoothing_lengths(
        x, m, start, edges, [*options, limit], tries, *filled.values()
    )
    return SphLengths(**outputs.finished(filled), iterations=done)


def forces(
    pos: Any,
    vel: Any,
    mass: Any,
    h: Any,
    rho: Any,
    pressure: Any,
    sound: Any,
    *,
    alpha: float = 1.0,
    beta: float = 2.0,
    eta: float = 0.01,
    box: Optional[Any] = None,
    periodic: Union[bool, Sequence[bool]] = True,
    out: Optional[Any] = None,
    dtype: Optional[Any] = None,
    device: Optional[DeviceLike] = None,
) -> SphForce:
    """Pressure forces with artificial viscosity; momentum and energy are conserved.

    ``pos`` and ``vel`` (n, 3); (n,) or one number: ``mass``, smoothing lengths ``h``, densities
    ``rho``, ``pressure`` and speeds of ``sound``. ``alpha``, ``beta`` and ``eta`` of the viscosity
    are those of ``gdr.sph_force``.

    Returns a ``gdr.results.SphForce``: accelerations, rates of the internal energies, and
    ``mumax`` for the time step, 0 where no pair approaches. Raises TypeError or ValueError naming
    the argument.

    Examples:
        >>> found = gdr.sph.smoothing_lengths(pos, mass)
        >>> acc, dudt, mumax = gdr.sph.forces(pos, 0 * pos, mass, found.h, found.rho, found.rho, 1.0)
        >>> bool(np.allclose((mass[:, None] * acc).sum(0), 0, atol=1e-12))
        True
    """
    chosen = device_or_default(device)
    with chosen._ranks.argument_checks():
        x, m = _particles(pos, mass)
        n = len(x)
        v = np.ascontiguousarray(floats("vel", vel, (n, 3)))
        check_finite("vel", v)
        columns = {"h": h, "rho": rho, "pressure": pressure, "sound": sound}
        of_gas = [_column(name, value, n) for name, value in columns.items()]
        viscosity = [number("alpha", alpha), number("beta", beta), number("eta", eta)]
        edges = periodic_box(box, periodic)
        read = {"pos": pos, "vel": vel, "mass": mass, **columns}
        inputs = dict(zip(read, [x, v, m, *of_gas]))
        outputs, filled = _results(SphForce, out, dtype, read, inputs)
    core = chosen._cached(_core.Sph)
    core.forces([x, v, m, *of_gas], viscosity, edges, *filled.values())
    return SphForce(**outputs.finished(filled))


def _results(
    kind: Type[Any],
    out: Optional[Any],
    dtype: Optional[Any],
    read: Mapping[str, Any],
    inputs: Mapping[str, AnyArray],
) -> Tuple[Outputs, Dict[str, AnyArray]]:
    """The arrays of a result, and what returns them: ``read`` are the caller's arguments, and
    ``inputs`` their arrays."""
    names = [name for name in kind._fields if name != "iterations"]
    given, n = arrays_to_fill(out, names), len(inputs["pos"])
    outputs = Outputs.of(dtype, bool(given), read)
    types = {name: np.int64 if name == "near" else np.float64 for name in names}
    filled = {
        name: outputs.array(name, given.get(name), (n, 3) if name == "acc" else (n,), types[name])
        for name in names
    }
    outputs.check_no_overlap(inputs)
    return outputs, filled


def _particles(pos: Any, mass: Any) -> Tuple[Floats, Floats]:
    x = np.ascontiguousarray(floats("pos", pos, ("n", 3)))
    check_finite("pos", x)
    return x, _column("mass", mass, len(x))


def _column(name: str, value: Any, n: int) -> Floats:
    """One finite number for each particle."""
    column = per_particle(name, value, n)
    check_finite(name, column)
    return column
