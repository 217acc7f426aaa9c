"""Integrators as iterators: each step gives the state of the run after it."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

import numpy as np

from .._arrays import Floats, number
from .._device import Device, pick
from .._forces import gravity, gravity_jerk
from .._optional import need
from .snapshot import Snapshot


@dataclasses.dataclass
class State:
    """Where a run stands. Its arrays are its own: states of earlier steps may be kept. What is done
    to ``pos`` and ``vel`` of the newest one is done to the run."""

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
        """A copy of positions, velocities and masses, to begin another run with or to write."""
        arrays = (self.pos.copy(), self.vel.copy(), self.mass.copy())
        return Snapshot(*arrays, self.time, self.ids, self.types, dict(self.header))


Start = Union[Snapshot, State]


Forces = Callable[[Floats, Floats], Tuple[Floats, Floats]]


def _progress(steps: Iterator[State], start: float, end: float, wanted: Any) -> Iterator[State]:
    """The same steps beside a bar of tqdm, which counts time."""
    if not wanted:
        yield from steps
        return
    shape = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}]"
    with warnings.catch_warnings():
        # In a notebook without widgets the bar is one of text, which is good enough.
        warnings.simplefilter("ignore")
        bars = need("tqdm.auto", "progress=True")
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
    if not isinstance(snapshot, (Snapshot, State)):
        what = type(snapshot).__name__
        raise TypeError(f"snapshot: a Snapshot or a State is wanted, not {what}")
    end, soft, start = number("t_end", t_end), number("eps", eps), snapshot.time
    if end < start:
        raise ValueError(f"t_end: {end} lies before the snapshot's time, {start}")
    if soft < 0:
        raise ValueError(f"eps: a length of at least 0 is wanted, not {soft}")
    constant = number("G", g)
    if constant <= 0:
        raise ValueError(f"G: a number above 0 is wanted, not {constant}")
    return end, soft, constant


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
    """Kick, drift, kick: second order, symplectic, steps of one length.

    Gives the state at the start, and after every step until the first that reaches ``t_end`` (a
    thousandth of a step too little counts as reached): the time after step n is ``start + n dt``.
    ``G`` is the constant of gravity in the units of the snapshot (43007.1 for GADGET's kpc, km/s
    and 1e10 solar masses). ``forces(pos, vel) -> (acc, pot)`` takes the place of softened gravity
    (``eps`` and ``G`` count for nothing then). ``progress`` shows a bar (needs tqdm).

    The snapshot is left as it is. Raises TypeError or ValueError naming the argument.
    """
    step = number("dt", dt)
    if step <= 0:
        raise ValueError(f"dt: a time above 0 is wanted, not {step}")
    end, soft, constant = _check(t_end, snapshot, eps, G)
    if forces is not None:
        return _progress(_leapfrog(snapshot, step, end, forces), snapshot.time, end, progress)
    chosen, mass = pick(device), snapshot.mass * constant

    def law(pos: Floats, _: Floats) -> Tuple[Floats, Floats]:
        return gravity(pos, mass, soft, device=chosen)

    return _progress(_leapfrog(snapshot, step, end, law), snapshot.time, end, progress)


def _leapfrog(s: Start, dt: float, end: float, law: Forces) -> Iterator[State]:
    rest = (s.mass, s.types, s.ids, s.header)
    pos, vel = s.pos.copy(), s.vel.copy()
    acc, pot = law(pos, vel)
    state = _state(0, s.time, pos, vel, acc, pot, rest)
    yield state
    for step in range(1, math.ceil((end - s.time) / dt - 1e-3) + 1):
        half = state.vel + state.acc * (dt / 2)
        pos = state.pos + half * dt
        acc, pot = law(pos, half)
        vel = half + acc * (dt / 2)
        state = _state(step, s.time + step * dt, pos, vel, acc, pot, rest)
        yield state


def _state(
    step: int, time: float, pos: Floats, vel: Floats, acc: Floats, pot: Floats, rest: Any
) -> State:
    mass, types, ids, header = rest
    return State(step, time, pos, vel, mass, acc, pot, types, ids, header)


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
    """Hermite's scheme of fourth order (Makino & Aarseth 1992, PASJ 44, 141).

    All stars share a step, ``eta`` times the smallest of |acc| / |jerk|, at most ``dt_max``; the
    last one ends at ``t_end``. On a device "mpi" every rank has stars of its own, and the smallest is
    that of all of them. Accelerations and jerks come from the kernel ``gravity_jerk``.
    Otherwise as ``leapfrog``. Raises FloatingPointError where steps have become too short to move
    the time.
    """
    accuracy, longest = number("eta", eta), number("dt_max", dt_max)
    if accuracy <= 0:
        raise ValueError(f"eta: a number above 0 is wanted, not {accuracy}")
    if longest <= 0:
        raise ValueError(f"dt_max: a time above 0 is wanted, not {longest}")
    end, soft, constant = _check(t_end, snapshot, eps, G)
    steps = _hermite(snapshot, soft, end, (accuracy, longest, constant), pick(device))
    return _progress(steps, snapshot.time, end, progress)


def _hermite(
    s: Start, eps: float, end: float, wanted: Tuple[float, float, float], device: Device
) -> Iterator[State]:
    eta, longest, constant = wanted
    mass = s.mass * constant
    rest = (s.mass, s.types, s.ids, s.header)

    def law(x: Floats, v: Floats) -> Any:
        return gravity_jerk(x, mass, v, eps, device=device)

    pos, vel = s.pos.copy(), s.vel.copy()
    acc, jerk, pot = law(pos, vel)
    state = _state(0, s.time, pos, vel, acc, pot, rest)
    yield state
    while state.time < end:
        pos, vel, acc = state.pos, state.vel, state.acc
        dt = min(device._least(_step(acc, jerk, eta)), longest)
        last = state.time + dt >= end
        if last:
            dt = end - state.time
        elif state.time + dt == state.time:
            raise FloatingPointError(
                f"at t = {state.time:.6g} steps of {dt:.3g} move the time no more: two stars meet; "
                "a larger eps keeps them apart"
            )
        ahead = pos + dt * (vel + dt / 2 * (acc + dt / 3 * jerk))
        speed = vel + dt * (acc + dt / 2 * jerk)
        acc1, jerk1, pot = law(ahead, speed)
        new = vel + dt / 2 * (acc + acc1 + dt / 6 * (jerk - jerk1))
        pos = pos + dt / 2 * (vel + new + dt / 6 * (acc - acc1))
        jerk = jerk1
        time = end if last else state.time + dt
        state = _state(state.step + 1, time, pos, new, acc1, pot, rest)
        yield state


def _step(acc: Floats, jerk: Floats, eta: float) -> float:
    slow = np.linalg.norm(jerk, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.where(slow > 0, np.linalg.norm(acc, axis=1) / slow, np.inf)
    times = times[times > 0]
    return float(eta * times.min()) if len(times) else np.inf
