"""Integrators as iterators over the states after each step."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

import numpy as np

from .._arrays import Floats, check_type, number
from .._open import Device, device_or_default
from .._forces import ParticleKernel, gravity
from .._system import require
from .snapshot import Snapshot


@dataclasses.dataclass
class State:
    """The state of a run. Every state has its own arrays, so that earlier states may be kept.
    Changes to ``pos`` and ``vel`` of the latest state change the run."""

    step: int
    time: float
    pos: Floats
    vel: Floats
    mass: Floats
    acc: Floats
    pot: Floats
    types: Any = None
    ids: Any = None
    header: Dict[str, float] = dataclasses.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.mass)

    def snapshot(self) -> Snapshot:
        """A copy of positions, velocities and masses, to start another run or to write."""
        arrays = (self.pos.copy(), self.vel.copy(), self.mass.copy())
        return Snapshot(*arrays, self.time, self.ids, self.types, dict(self.header))


_gravity_jerk = ParticleKernel("gravity_jerk")
Start = Union[Snapshot, State]
Forces = Callable[[Floats, Floats], Tuple[Floats, Floats]]


def _progress(steps: Iterator[State], start: float, end: float, shown: Any) -> Iterator[State]:
    """The same steps with an optional tqdm progress bar over simulation time."""
    if not shown:
        yield from steps
        return
    shape = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}]"
    with warnings.catch_warnings():
        # A notebook without widgets shows a text bar, and tqdm warns about it.
        warnings.simplefilter("ignore")
        bars = require("tqdm.auto", "progress=True")
        bar = bars.tqdm(total=max(end - start, 1e-300), bar_format=shape)
    with bar:
        for state in steps:
            bar.set_description_str(f"t = {state.time:.4g} of {end:.4g}", refresh=False)
            over = end - state.time <= 1e-12 * abs(end)
            bar.update((bar.total if over else state.time - start) - bar.n)
            if over:
                bar.refresh()
            yield state


def _check(t_end: Any, snapshot: Start, eps: Any, g: Any) -> Tuple[float, float, float]:
    check_type("snapshot", snapshot, (Snapshot, State), "a Snapshot or a State")
    end, soft = number("t_end", t_end), number("eps", eps, least=0)
    if end < snapshot.time:
        raise ValueError(f"t_end: {end} is before the snapshot's time, {snapshot.time}")
    return end, soft, number("G", g, above=0)


def leapfrog(
    snapshot: Start,
    *,
    eps: float,
    dt: float,
    t_end: float,
    G: float = 1.0,
    forces: Optional[Forces] = None,
    progress: bool = False,
    device: Optional[Device] = None,
) -> Iterator[State]:
    """Leapfrog in kick-drift-kick form: second order, symplectic, constant time step.

    Yields the initial state and the state after every step, up to the first that reaches ``t_end``
    within a thousandth of a step: the time after step n is ``start + n dt``. ``G`` is the
    gravitational constant in the units of the snapshot (43007.1 for GADGET's kpc, km/s and 1e10
    solar masses). ``forces(pos, vel) -> (acc, pot)`` replaces softened gravity; ``eps`` and ``G``
    are then not used. ``progress`` shows a progress bar (requires tqdm).

    The snapshot is not modified. Raises TypeError or ValueError naming the argument.
    """
    step = number("dt", dt, above=0)
    end, soft, constant = _check(t_end, snapshot, eps, G)
    if forces is not None:
        return _progress(_leapfrog(snapshot, step, end, forces), snapshot.time, end, progress)
    chosen, mass = device_or_default(device), snapshot.mass * constant

    def law(pos: Floats, _: Floats) -> Tuple[Floats, Floats]:
        return gravity(pos, mass, soft, device=chosen)

    return _progress(_leapfrog(snapshot, step, end, law), snapshot.time, end, progress)


def _leapfrog(s: Start, dt: float, end: float, law: Forces) -> Iterator[State]:
    pos, vel = s.pos.copy(), s.vel.copy()
    acc, pot = law(pos, vel)
    state = State(0, s.time, pos, vel, s.mass, acc, pot, s.types, s.ids, s.header)
    yield state
    for step in range(1, math.ceil((end - s.time) / dt - 1e-3) + 1):
        half = state.vel + state.acc * (dt / 2)
        pos = state.pos + half * dt
        acc, pot = law(pos, half)
        vel, time = half + acc * (dt / 2), s.time + step * dt
        state = dataclasses.replace(
            state, step=step, time=time, pos=pos, vel=vel, acc=acc, pot=pot
        )
        yield state


def hermite(
    snapshot: Start,
    *,
    eps: float,
    t_end: float,
    eta: float = 0.02,
    dt_max: float = 2.0**-4,
    G: float = 1.0,
    progress: bool = False,
    device: Optional[Device] = None,
) -> Iterator[State]:
    """Fourth-order Hermite scheme (Makino & Aarseth 1992, PASJ 44, 141).

    All stars share one step, ``eta`` times the minimum of |acc| / |jerk|, at most ``dt_max``; the
    last step ends at ``t_end``. On a device "mpi" every rank integrates its own stars, with the
    minimum over all ranks. The kernel ``gravity_jerk`` computes accelerations and jerks. Other
    arguments as for ``leapfrog``. Raises FloatingPointError if a step is too short to change the
    time.
    """
    accuracy, longest = number("eta", eta, above=0), number("dt_max", dt_max, above=0)
    end, soft, constant = _check(t_end, snapshot, eps, G)
    steps = _hermite(snapshot, soft, end, (accuracy, longest, constant), device_or_default(device))
    return _progress(steps, snapshot.time, end, progress)


def _hermite(
    s: Start, eps: float, end: float, options: Tuple[float, float, float], device: Device
) -> Iterator[State]:
    eta, longest, constant = options
    mass = s.mass * constant

    def law(x: Floats, v: Floats) -> Any:
        return _gravity_jerk(x, mass, v, eps, device=device)

    pos, vel = s.pos.copy(), s.vel.copy()
    acc, jerk, pot = law(pos, vel)
    state = State(0, s.time, pos, vel, s.mass, acc, pot, s.types, s.ids, s.header)
    yield state
    while state.time < end:
        pos, vel, acc = state.pos, state.vel, state.acc
        dt = min(device._ranks.minimum(_step(acc, jerk, eta)), longest)
        last = state.time + dt >= end
        if last:
            dt = end - state.time
        elif state.time + dt == state.time:
            raise FloatingPointError(
                f"at t = {state.time:.6g} a step of {dt:.3g} does not change the time: "
                "two stars are too close; use a larger eps"
            )
        ahead = pos + dt * (vel + dt / 2 * (acc + dt / 3 * jerk))
        speed = vel + dt * (acc + dt / 2 * jerk)
        acc1, jerk1, pot = law(ahead, speed)
        new = vel + dt / 2 * (acc + acc1 + dt / 6 * (jerk - jerk1))
        pos = pos + dt / 2 * (vel + new + dt / 6 * (acc - acc1))
        jerk = jerk1
        time = end if last else state.time + dt
        state = dataclasses.replace(
            state, step=state.step + 1, time=time, pos=pos, vel=new, acc=acc1, pot=pot
        )
        yield state


def _step(acc: Floats, jerk: Floats, eta: float) -> float:
    slow = np.linalg.norm(jerk, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(slow > 0, np.linalg.norm(acc, axis=1) / slow, np.inf)
    times = times[times > 0]
    return float(eta * times.min()) if len(times) else np.inf
