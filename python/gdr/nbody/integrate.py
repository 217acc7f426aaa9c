"""Integrators as iterators: each step gives the state, whose arrays are the integrator's own."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterator, Optional, Tuple

import numpy as np

from .._arrays import Floats, number
from .._device import Device, pick
from .._forces import gravity, gravity_jerk
from .snapshot import Snapshot


@dataclasses.dataclass
class State:
    """Where a run stands. Arrays go on changing with the run: ``snapshot()`` copies them."""

    step: int
    time: float
    pos: Floats
    vel: Floats
    mass: Floats
    acc: Floats
    pot: Floats
    types: Any = None
    ids: Any = None

    def snapshot(self) -> Snapshot:
        """A copy of positions, velocities and masses, to keep or to write."""
        return Snapshot(
            self.pos.copy(), self.vel.copy(), self.mass.copy(), self.time, self.ids, self.types
        )


Forces = Callable[[Floats, Floats], Tuple[Floats, Floats]]


def _progress(steps: Iterator[State], total: float, start: float, wanted: Any) -> Iterator[State]:
    """The same steps beside a bar of tqdm, which counts time."""
    if not wanted:
        yield from steps
        return
    from tqdm.auto import tqdm

    shape = "{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]"
    with tqdm(total=total, bar_format=shape) as bar:
        for state in steps:
            bar.n = min(total, state.time - start)
            bar.refresh()
            yield state


def _check(t_end: Any, start: float, eps: Any) -> Tuple[float, float]:
    end, soft = number("t_end", t_end), number("eps", eps)
    if end < start:
        raise ValueError(f"t_end: {end} lies before the snapshot's time, {start}")
    if soft < 0:
        raise ValueError(f"eps: a length of at least 0 is wanted, not {soft}")
    return end, soft


def leapfrog(
    snapshot: Snapshot,
    *,
    eps: float,
    dt: float,
    t_end: float,
    forces: Optional[Forces] = None,
    progress: bool = False,
    device: Optional[Device] = None,
) -> Iterator[State]:
    """Kick, drift, kick: second order, symplectic, steps of one length; G = 1.

    Gives the state at the start, and after every step until the first that reaches ``t_end``: the
    time after step n is ``start + n dt``. ``forces(pos, vel) -> (acc, pot)`` takes the place of
    softened gravity (``eps`` counts for nothing then). ``progress`` shows a bar (needs tqdm).

    The snapshot is left as it is. Raises TypeError or ValueError naming the argument.
    """
    step = number("dt", dt)
    if step <= 0:
        raise ValueError(f"dt: a time above 0 is wanted, not {step}")
    end, soft = _check(t_end, snapshot.time, eps)
    chosen = pick(device)
    law = forces or (lambda x, _: gravity(x, snapshot.mass, soft, device=chosen))
    steps = _leapfrog(snapshot, step, end, law)
    return _progress(steps, end - snapshot.time, snapshot.time, progress)


def _leapfrog(s: Snapshot, dt: float, end: float, law: Forces) -> Iterator[State]:
    pos, vel = s.pos.copy(), s.vel.copy()
    acc, pot = law(pos, vel)
    state = State(0, s.time, pos, vel, s.mass, acc, pot, s.types, s.ids)
    yield state
    while state.time < end:
        vel += acc * (dt / 2)
        pos += vel * dt
        acc, pot = law(pos, vel)
        vel += acc * (dt / 2)
        number_of_step = state.step + 1
        time = s.time + number_of_step * dt
        state = State(number_of_step, time, pos, vel, s.mass, acc, pot, s.types, s.ids)
        yield state


def hermite(
    snapshot: Snapshot,
    *,
    eps: float,
    t_end: float,
    eta: float = 0.02,
    dt_max: float = 2.0**-4,
    progress: bool = False,
    device: Optional[Device] = None,
) -> Iterator[State]:
    """Hermite's scheme of fourth order (Makino & Aarseth 1992, PASJ 44, 141), G = 1.

    All stars share a step, ``eta`` times the smallest of |acc| / |jerk|, at most ``dt_max``; the
    last one ends at ``t_end``. On a device "mpi" every rank has stars of its own, and the smallest is
    that of all of them. Accelerations and jerks come from the kernel ``gravity_jerk``.
    Otherwise as ``leapfrog``.
    """
    accuracy, longest = number("eta", eta), number("dt_max", dt_max)
    if accuracy <= 0:
        raise ValueError(f"eta: a number above 0 is wanted, not {accuracy}")
    if longest <= 0:
        raise ValueError(f"dt_max: a time above 0 is wanted, not {longest}")
    end, soft = _check(t_end, snapshot.time, eps)
    steps = _hermite(snapshot, soft, end, accuracy, longest, pick(device))
    return _progress(steps, end - snapshot.time, snapshot.time, progress)


def _hermite(
    s: Snapshot, eps: float, end: float, eta: float, longest: float, device: Device
) -> Iterator[State]:
    def law(x: Floats, v: Floats) -> Any:
        return gravity_jerk(x, s.mass, v, eps, device=device)

    pos, vel = s.pos.copy(), s.vel.copy()
    acc, jerk, pot = law(pos, vel)
    state = State(0, s.time, pos, vel, s.mass, acc, pot, s.types, s.ids)
    yield state
    while state.time < end:
        dt = min(device._least(_step(acc, jerk, eta)), longest)
        last = state.time + dt >= end
        if last:
            dt = end - state.time
        ahead = pos + dt * (vel + dt / 2 * (acc + dt / 3 * jerk))
        speed = vel + dt * (acc + dt / 2 * jerk)
        acc1, jerk1, pot = law(ahead, speed)
        new = vel + dt / 2 * (acc + acc1 + dt / 6 * (jerk - jerk1))
        pos += dt / 2 * (vel + new + dt / 6 * (acc - acc1))
        vel[:] = new
        acc, jerk = acc1, jerk1
        time = end if last else state.time + dt
        state = State(state.step + 1, time, pos, vel, s.mass, acc, pot, s.types, s.ids)
        yield state


def _step(acc: Floats, jerk: Floats, eta: float) -> float:
    slow = np.linalg.norm(jerk, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(slow > 0, np.linalg.norm(acc, axis=1) / slow, np.inf)
    times = times[times > 0]
    return float(eta * times.min()) if len(times) else np.inf
