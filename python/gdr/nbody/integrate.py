"""Integrators as iterators over the states after each step."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any, Callable, Dict, Iterator, Optional, Tuple, Union

import numpy as np

from .. import _core
from .._arrays import Floats, check_type, number
from .._open import Device, device_or_default
from .._forces import gravity
from .._system import require
from .snapshot import Snapshot


@dataclasses.dataclass(frozen=True)
class BlockSteps:
    """Block time steps of this rank's stars since the run began, or since the caller moved stars."""

    block_steps: int  #: times at which stars were advanced
    particle_steps: int  #: steps of all stars
    limited_steps: int  #: steps that were set to ``dt_min``
    smallest_step: float  #: 0 before the first step
    largest_step: float

    @property
    def mean_block(self) -> float:
        """Mean number of stars of a block."""
        return self.particle_steps / self.block_steps if self.block_steps else 0.0


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
    blocks: Optional[BlockSteps] = None

    def __len__(self) -> int:
        return len(self.mass)

    def snapshot(self) -> Snapshot:
        """A copy of positions, velocities and masses, to start another run or to write."""
        arrays = (self.pos.copy(), self.vel.copy(), self.mass.copy())
        return Snapshot(*arrays, self.time, self.ids, self.types, dict(self.header))


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
    eta_start: Optional[float] = None,
    dt_min: float = 0.0,
) -> Iterator[State]:
    """Fourth-order Hermite scheme with individual block time steps (Makino & Aarseth 1992, PASJ
    44, 141): ``gdr::Hermite`` of the library.

    Yields the initial state and states at equal intervals of at most ``dt_max``, the last at
    ``t_end``. Within an interval every star has a step of its own: the interval divided by a power
    of two, by the Aarseth criterion with the accuracy parameter ``eta``. The first steps are
    ``eta_start`` (default: half of ``eta``) times |acc| / |jerk|; none is shorter than ``dt_min``.
    ``state.blocks`` has the number of steps so far. On the engine "native" forces are computed in double
    (kernel ``gravity_jerk_long``), elsewhere by ``gravity_jerk``. On a device "mpi" every rank
    integrates its own stars, under the forces of all. Other arguments as for ``leapfrog``.

    Raises StepTooShort, a FloatingPointError, if two stars are so close that a step would be
    shorter than 2^-40 of the interval.
    """
    accuracy, longest = number("eta", eta, above=0), number("dt_max", dt_max, above=0)
    first = accuracy / 2 if eta_start is None else number("eta_start", eta_start, above=0)
    shortest = number("dt_min", dt_min, least=0)
    end, soft, constant = _check(t_end, snapshot, eps, G)
    count = max(1, math.ceil((end - snapshot.time) / longest - 1e-3))
    interval = (end - snapshot.time) / count if end > snapshot.time else longest
    if shortest > interval:
        raise ValueError(f"dt_min: {shortest} is above the interval between states, {interval}")
    options = (soft, accuracy, first, interval, shortest)
    steps = _hermite(snapshot, end, count, constant, options, device_or_default(device))
    return _progress(steps, snapshot.time, end, progress)


def _hermite(
    s: Start,
    end: float,
    count: int,
    constant: float,
    options: Tuple[float, float, float, float, float],
    device: Device,
) -> Iterator[State]:
    mass, interval = np.ascontiguousarray(s.mass * constant), options[3]

    def integrator(pos: Floats, vel: Floats) -> _core.Hermite:
        x, v = np.ascontiguousarray(pos), np.ascontiguousarray(vel)
        return _core.Hermite(device._core, x, v, mass, *options)

    def state(step: int, time: float) -> State:
        pos, vel, acc, pot = (np.empty(shape) for shape in (s.pos.shape,) * 3 + (s.mass.shape,))
        run.read(pos, vel, acc, pot)
        blocks = BlockSteps(*run.statistics())
        return State(step, time, pos, vel, s.mass, acc, pot, s.types, s.ids, s.header, blocks)

    run = integrator(s.pos, s.vel)
    latest = state(0, s.time)
    pos, vel = latest.pos.copy(), latest.vel.copy()
    yield latest
    if end <= s.time:
        return
    for step in range(1, count + 1):
        same = np.array_equal(latest.pos, pos) and np.array_equal(latest.vel, vel)
        if device._ranks.minimum(float(same)) == 0:  # the caller has moved stars
            run = integrator(latest.pos, latest.vel)
        run.advance()
        latest = state(step, end if step == count else s.time + step * interval)
        pos, vel = latest.pos.copy(), latest.vel.copy()
        yield latest
