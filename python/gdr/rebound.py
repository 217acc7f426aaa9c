"""Gravity of simulations of REBOUND, directly or with a tree.

    import rebound, gdr.rebound
    sim = rebound.Simulation()
    ...                                  # particles, sim.integrator = "whfast", sim.dt
    gdr.rebound.attach(sim)              # direct sums; attach(sim, accuracy=1e-4): with a tree
    sim.integrate(100.0)

REBOUND calls a routine in C in each step. Its particles, integrators, collisions and outputs are
used as before. Needs REBOUND 5 or later, whose gravity can be replaced.
"""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Optional

try:
    import rebound
except ImportError as error:
    raise ImportError("gdr.rebound needs the package rebound (pip install rebound)") from error

from . import _core
from ._arrays import check_type, number
from ._gravity import checked_accuracy
from ._open import DeviceLike, device_or_default
from .errors import UnsupportedError

__all__ = ["Attachment", "Calls", "attach"]

#: Members of REBOUND's structures that the routine reads, with the size of each in bytes.
_SIMULATION = {
    **dict.fromkeys(("N", "N_active", "N_var", "_particles"), 8),
    **dict.fromkeys(("_additional_forces", "_gravity_custom"), 8),
    **dict.fromkeys(("G", "softening"), 8),
    **dict.fromkeys(("N_ghost_x", "N_ghost_y", "N_ghost_z", "_status", "_gravity"), 4),
    **dict.fromkeys(("testparticle_type", "gravity_ignore"), 4),
}
_PARTICLE = dict.fromkeys(("x", "y", "z", "ax", "ay", "az", "m"), 8)
#: Integrators with gravity of their own, which do not call the routine.
_OWN_GRAVITY = ("mercurius", "trace", "whfast512", "eos")


@dataclasses.dataclass(frozen=True)
class Calls:
    """How often REBOUND has called the routine, and how it computed last.

    Examples:
        >>> import rebound
        >>> sim = rebound.Simulation()
        >>> gdr.rebound.attach(sim).calls
        Calls(count=0, error=0.0, sources_per_target=0.0)
    """

    count: int  #: calls so far
    error: float  #: measured error of the last tree, relative to accelerations; 0: direct sums
    sources_per_target: float  #: mean number of particles and clusters in a sum; 0: no tree


class Attachment:
    """The connection of a simulation with this library, from ``gdr.rebound.attach``.

    It lasts as long as the simulation, also without this object, or until ``detach`` or another
    ``attach``.

    Examples:
        >>> import rebound
        >>> sim = rebound.Simulation()
        >>> sim.add(m=1)
        >>> sim.add(m=1e-3, a=1)
        >>> gravity = gdr.rebound.attach(sim)
        >>> gravity
        <gdr.rebound.Attachment, 0 calls>
        >>> gravity.detach(sim)
    """

    def __init__(self, sim: Any, core: _core.ReboundGravity) -> None:
        self._core = core
        # Not the simulation: it would keep it alive.
        self._address = ctypes.addressof(sim)

    @property
    def calls(self) -> Calls:
        """Calls so far, and the error of the last one."""
        return Calls(*self._core.statistics())

    def detach(self, sim: Any) -> None:
        """Give the simulation REBOUND's basic gravity again (``attach`` has an example); nothing if it
        has it.

        ValueError if another attachment has replaced this one.
        """
        check_type("sim", sim, rebound.Simulation, "a rebound.Simulation")
        if ctypes.addressof(sim) != self._address:
            raise ValueError("sim: this is not the simulation that was attached")
        if not _core.detach_rebound(self._address, self._core):
            raise ValueError("sim: another attachment has replaced this one; detach that one")

    def __repr__(self) -> str:
        return f"<gdr.rebound.Attachment, {self.calls.count} calls>"


def attach(
    sim: Any,
    *,
    accuracy: Optional[float] = None,
    theta: Optional[float] = None,
    device: Optional[DeviceLike] = None,
) -> Attachment:
    """Let a simulation of REBOUND get the gravity of its particles from this library.

    It replaces REBOUND's "basic" gravity during steps, with ``sim.G`` and ``sim.softening``, active
    and test particles (``sim.N_active``, ``sim.testparticle_type``), and without the terms that the
    integrator integrates itself (``gravity_ignore``). Additional forces (``sim.additional_forces``,
    REBOUNDx) are called after it. Particles may be added and removed. Up to 3000 for the number of
    particles times that of active ones (54 particles, if all are active) REBOUND's own loop is as
    fast, and is used.

    With ``accuracy``, the root mean square of the relative errors of accelerations, a tree is used
    where it is faster than direct sums (``gdr.gravity``); with ``theta``, a tree with that ratio of
    radius and distance. ``device``: an open device or its name, not on MPI.

    Choose the integrator first: REBOUND uses its own gravity again when ``sim.integrator`` is set,
    and for copies of the simulation and those from files. It does so, too, where ``sim.gravity`` is
    not "basic", as for WHFast's kernels "lazy" and "modifiedkick" and some types of SABA. Above
    the limit, ghost boxes, variational particles that were added later and positions that are not
    finite end the integration with an error (RuntimeError).

    Raises TypeError and ValueError naming the argument, and UnsupportedError for integrators with
    gravity of their own (MERCURIUS, TRACE, WHFast512, EOS), a custom gravity of the simulation,
    variational particles, and REBOUND before version 5.

    Examples:
        >>> import rebound
        >>> sim = rebound.Simulation()
        >>> sim.add(m=1)
        >>> for k in range(100):
        ...     sim.add(m=1e-3, a=1 + 0.01 * k, f=k)
        >>> gravity = gdr.rebound.attach(sim)
        >>> sim.integrate(0.01)
        >>> gravity.calls.count > 0
        True
        >>> gravity.detach(sim)
    """
    check_type("sim", sim, rebound.Simulation, "a rebound.Simulation")
    wanted = checked_accuracy(accuracy)
    ratio = 0.0 if theta is None else number("theta", theta, above=0, most=0.95)
    if theta is not None and accuracy is not None:
        raise ValueError("theta: the accuracy is not used with it; leave out one of the two")
    if str(sim.integrator) in _OWN_GRAVITY:
        raise UnsupportedError(f"the integrator {sim.integrator} has gravity of its own")
    if sim.N_var:
        raise UnsupportedError("the simulation has variational particles; use REBOUND's gravity")
    opened = device_or_default(device)
    if opened.ranks > 1:
        raise UnsupportedError("device: REBOUND runs in one process, this device in several")
    _describe()
    core = _core.ReboundGravity(opened._ranks.core, wanted if theta is None else 1e-3, ratio)
    _core.attach_rebound(ctypes.addressof(sim), core)
    # The function of another extension, such as REBOUNDx, stays: what is attached is then kept,
    # unused, after the end of the simulation.
    if not sim._extras_cleanup:
        kind = dict(rebound.Simulation._fields_)["_extras_cleanup"]
        sim._extras_cleanup = kind(_core.rebound_clean_up())
    return Attachment(sim, core)


def _describe() -> None:
    """Tell the routine the structures of this REBOUND."""
    simulation = _offsets(rebound.Simulation, _SIMULATION)
    step: Any = rebound.Simulation
    simulation["step"] = 0
    for member in ("integrator", "callbacks", "step"):
        field = getattr(step, member, None)
        if field is None:
            raise UnsupportedError(f"REBOUND 5 or later is needed, this is {rebound.__version__}")
        simulation["step"] += field.offset
        step = dict(step._fields_)[member]
    library = rebound.clibrebound
    functions = (library.reb_simulation_error, library.reb_simulation_update_acceleration)
    _core.describe_rebound(
        simulation,
        _offsets(rebound.Particle, _PARTICLE),
        ctypes.sizeof(rebound.Particle),
        *(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions),
    )


def _offsets(structure: Any, members: "dict[str, int]") -> "dict[str, int]":
    """The places of members in a structure; UnsupportedError if it has others than expected."""
    fields = [getattr(structure, name, None) for name in members]
    if [getattr(field, "size", None) for field in fields] != list(members.values()):
        raise UnsupportedError(f"REBOUND 5 or later is needed, this is {rebound.__version__}")
    offsets = [field.offset for field in fields if field is not None]
    return dict(zip(members, offsets))
