"""Integrators as iterators over the states after each step."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import warnings
from typing import Any, Callable, ContextManager, Dict, Iterator, NamedTuple, Optional, Tuple, Union

import numpy as np

from .. import _core
from .._arrays import Floats, check_finite, check_type, floats, number
from .._display import html_table
from .._open import Device, DeviceLike, device_or_default
from .._gravity import checked_accuracy, gravity
from .._system import require
from ..results import TreeGravity, TreeReport
from .run import ARRAYS, LIMITS, HermiteRun
from .snapshot import HeaderValue, Snapshot, checked, describe, star_rows


@dataclasses.dataclass(frozen=True)
class BlockSteps:
    """Block time steps of this rank's stars since the call of ``hermite``, or since the caller
    moved stars.

    Examples:
        >>> for state in nbody.hermite(nbody.plummer(50, seed=1), t_end=0.1, eps=0.05):
        ...     pass
        >>> state.blocks.particle_steps >= state.blocks.block_steps, state.blocks.mean_block >= 1
        (True, True)
    """

    block_steps: int  #: times at which stars were advanced
    particle_steps: int  #: steps of all stars
    limited_steps: int  #: steps that were set to ``dt_min``
    smallest_step: float  #: 0 before the first step
    largest_step: float
    tree_steps: int = 0  #: steps of stars with forces of trees
    tree_error: float = 0.0  #: largest root mean square of the relative errors that trees gave
    tree_jerk_error: float = 0.0  #: that of jerks

    @property
    def mean_block(self) -> float:
        """Mean number of stars of a block."""
        return self.particle_steps / self.block_steps if self.block_steps else 0.0


@dataclasses.dataclass(repr=False, eq=False)
class State:
    """The state of a run. Every state has its own arrays, so that earlier states may be kept.
    Changes to ``pos`` and ``vel`` of the latest state change the run. A state of ``hermite`` has in
    ``run`` what continues the run, on the same engine with the same bits. With ``accuracy``,
    ``tree`` says how forces and potentials were computed, with their measured error.

    Examples:
        >>> for state in nbody.leapfrog(nbody.plummer(50, seed=1), eps=0.1, dt=0.01, t_end=0.05):
        ...     pass
        >>> state.step, round(state.time, 6), state.acc.shape
        (5, 0.05, (50, 3))
        >>> nbody.write("later.txt", state.snapshot())
    """

    step: int
    time: float
    pos: Floats
    vel: Floats
    mass: Floats
    acc: Floats
    pot: Floats
    types: Any = None
    ids: Any = None
    header: Dict[str, HeaderValue] = dataclasses.field(default_factory=dict)
    blocks: Optional[BlockSteps] = None
    run: Optional[HermiteRun] = None
    tree: Optional[TreeReport] = None

    def __len__(self) -> int:
        return len(self.mass)

    def __repr__(self) -> str:
        return f"<gdr.nbody.State of {describe(self)}, step {self.step}>"

    def _repr_html_(self) -> str:
        kinetic = 0.5 * float((self.mass * (self.vel**2).sum(1)).sum())
        potential = 0.5 * float((self.mass * self.pot).sum())
        rows = star_rows(self)
        rows.append(("energy, kinetic and potential", f"{kinetic:.6g}, {potential:.6g}"))
        rows.append(("energy", f"{kinetic + potential:.8g}"))
        return html_table(repr(self)[1:-1], rows)

    def snapshot(self) -> Snapshot:
        """A copy of positions, velocities and masses, to start or continue a run, or to write."""
        arrays = (self.pos.copy(), self.vel.copy(), self.mass.copy())
        return Snapshot(*arrays, self.time, self.ids, self.types, dict(self.header), self.run)


Start = Union[Snapshot, State]
Forces = Callable[[Floats, Floats], Tuple[Floats, Floats]]
#: Accelerations and potentials, with the report of a tree.
_Law = Callable[[Floats, Floats], Tuple[Floats, Floats, Optional[TreeReport]]]


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


def _checked_start(snapshot: Any) -> Any:
    check_type("snapshot", snapshot, (Snapshot, State), "a Snapshot or a State")
    return checked("snapshot", snapshot)


def _check_end(end: float, snapshot: Start) -> None:
    if end < snapshot.time:
        what = "state" if isinstance(snapshot, State) else "snapshot"
        raise ValueError(f"t_end: {end} is before the {what}'s time, {snapshot.time}")


def leapfrog(
    snapshot: Start,
    *,
    eps: float = 0.0,
    dt: float,
    t_end: float,
    G: float = 1.0,
    accuracy: Optional[float] = None,
    forces: Optional[Forces] = None,
    progress: bool = False,
    device: Optional[DeviceLike] = None,
) -> Iterator[State]:
    """Leapfrog in kick-drift-kick form: second order, symplectic, constant time step.

        for state in nbody.leapfrog(nbody.plummer(100), eps=0.05, dt=0.01, t_end=0.1):
            print(state.time, state.pos[0])

    Yields the initial state and the state after every step, up to the first that reaches ``t_end``
    within a thousandth of a step: the time after step n is ``start + n dt``. ``G`` is the
    gravitational constant in the units of the snapshot (43007.1 for GADGET's kpc, km/s and 1e10
    solar masses). ``accuracy`` is that of ``gdr.gravity``: steps of many stars take O(n log n), and
    ``state.tree`` has the measured error; the potentials are those of the tree, too.
    ``forces(pos, vel) -> (acc, pot)`` replaces softened gravity; ``eps``, ``G`` and ``accuracy``
    are then not used; accelerations (n, 3) and potentials (n,) must be finite numbers. ``progress``
    shows a progress bar (requires tqdm).

    The snapshot is not modified. Raises TypeError or ValueError naming the argument; also if the
    arrays of the snapshot or of the latest state have been replaced by unsuitable ones. On a device
    "mpi" every rank integrates its own stars, and TypeError is raised on all ranks if parameters
    or times differ between them.
    """
    chosen = device_or_default(device) if forces is None else None
    checks: Callable[[], ContextManager[None]] = contextlib.nullcontext
    if chosen is not None:
        checks = chosen._ranks.argument_checks
    with checks():
        step = number("dt", dt, above=0)
        snapshot = _checked_start(snapshot)
        end, soft = number("t_end", t_end), number("eps", eps, least=0)
        _check_end(end, snapshot)
        unit = number("G", G, above=0)
        mass = snapshot.mass * unit
        wanted = checked_accuracy(accuracy)
    if chosen is not None:  # ranks with other steps would wait for each other
        what = (snapshot.time, step, end, soft, unit, wanted)
        chosen._ranks.check_equal("parameters and times of leapfrog", repr(what))

    to_accuracy = None if wanted is None else _TreeForces(mass, soft, wanted, chosen)

    def law(pos: Floats, vel: Floats) -> Tuple[Floats, Floats, Optional[TreeReport]]:
        if forces is not None:
            return (*_checked_forces(forces(pos, vel), len(mass)), None)
        if to_accuracy is not None:
            found = to_accuracy.compute(pos)
            return found.acc, found.pot, found.tree
        return (*gravity(pos, mass, soft, device=chosen), None)

    steps = _leapfrog(snapshot, step, end, law, checks)
    return _progress(steps, snapshot.time, end, progress)


class _TreeForces:
    """Forces to an accuracy for consecutive steps. The choice of a tree takes as long as some
    calculations of a small system: it is kept until the error is too large, at most 32 steps."""

    def __init__(self, mass: Floats, eps: float, accuracy: float, device: Optional[Device]) -> None:
        self.mass, self.eps, self.accuracy, self.device = mass, eps, accuracy, device
        self.step = 0
        self.choice: Optional[TreeReport] = None

    def compute(self, pos: Floats) -> TreeGravity:
        """Forces of the next step."""
        found = gravity(
            pos,
            self.mass,
            self.eps,
            accuracy=self.accuracy,
            earlier=self.choice if self.step % 32 else None,
            calls=32,
            device=self.device,
        )
        self.step += 1
        self.choice = found.tree
        return found


def _checked_forces(result: Any, n: int) -> Tuple[Floats, Floats]:
    """Accelerations and potentials that a function of the user returned."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(
            "forces: expected a function that returns accelerations and potentials, got "
            f"{type(result).__name__}"
        )
    acc = floats("forces: acc", result[0], (n, 3))
    pot = floats("forces: pot", result[1], (n,))
    check_finite("forces: acc", acc)
    check_finite("forces: pot", pot)
    return acc, pot


def _leapfrog(
    s: Start, dt: float, end: float, law: _Law, checks: Callable[[], ContextManager[None]]
) -> Iterator[State]:
    pos, vel = s.pos.copy(), s.vel.copy()
    acc, pot, tree = law(pos, vel)
    state = State(0, s.time, pos, vel, s.mass, acc, pot, s.types, s.ids, s.header, tree=tree)
    yield state
    for step in range(1, math.ceil((end - s.time) / dt - 1e-3) + 1):
        with checks():
            state = checked("state", state)
        half = state.vel + state.acc * (dt / 2)
        pos = state.pos + half * dt
        acc, pot, tree = law(pos, half)
        vel, time = half + acc * (dt / 2), s.time + step * dt
        state = dataclasses.replace(
            state, step=step, time=time, pos=pos, vel=vel, acc=acc, pot=pot, tree=tree
        )
        yield state


def hermite(
    snapshot: Start,
    *,
    t_end: float,
    eps: Optional[float] = None,
    eta: Optional[float] = None,
    dt_max: Optional[float] = None,
    G: Optional[float] = None,
    progress: bool = False,
    device: Optional[DeviceLike] = None,
    eta_start: Optional[float] = None,
    dt_min: Optional[float] = None,
    accuracy: Optional[float] = None,
) -> Iterator[State]:
    """Fourth-order Hermite scheme with individual block time steps (Makino & Aarseth 1992, PASJ
    44, 141): ``gdr::Hermite`` of the library.

        for state in nbody.hermite(nbody.plummer(100), eps=0.05, t_end=0.1):
            print(state.time, state.pos[0])

    Yields the initial state and states at equal intervals of at most ``dt_max``, the last at
    ``t_end``. Within an interval every star has a step of its own: the interval divided by a power
    of two, by the Aarseth criterion with the accuracy parameter ``eta``. The first steps are
    ``eta_start`` (default: half of ``eta``) times |acc| / |jerk|, at most sqrt(eta_start |acc| /
    |snap|), as for stars at rest; none is shorter than ``dt_min``.
    ``state.blocks`` has the number of steps so far. On the engine "native" forces are computed in
    double (kernel ``gravity_jerk_long``), elsewhere by ``gravity_jerk``. On a device "mpi" every
    rank integrates its own stars, under the forces of all. With ``accuracy`` (1e-4 or below), large
    blocks of many stars have trees, and ``state.blocks`` has their steps and errors; 0: direct
    sums. Other arguments as for ``leapfrog``.

    A state of ``hermite``, and a file that such a run or ``gdr nbody --integrator hermite4`` wrote,
    have the state of the run in ``snapshot.run``. The run continues, with its step numbers and on
    the same engine with the bits of one that was never interrupted, if the parameters are the same
    and ``t_end`` is at the end of one of its intervals. (Forces, and so bits, differ between the
    engine "native" and the exact ones.) Otherwise, or if stars have been changed, a new run begins,
    with ``state.step`` 0; on a device "mpi" on all ranks if it does on one. Parameters that are not
    given are those of the run; without one ``eps=0``, ``eta=0.02``, ``dt_max=1/16``, ``G=1``,
    ``dt_min=0`` and direct sums.

    Raises StepTooShort, a FloatingPointError, if two stars are so close that a step would be
    shorter than 2^-40 of the interval, TypeError or ValueError naming the argument, also if the
    arrays of the snapshot or of the latest state have been replaced by unsuitable ones.
    """
    used = device_or_default(device)
    with used._ranks.argument_checks():
        snapshot = _checked_start(snapshot)
        run = snapshot.run

        def chosen(name: str, given: Any, usual: float) -> float:
            if given is not None:
                return number(name, given, **LIMITS[name])
            if run is None:
                return usual
            return number(f"snapshot.run.{name}", getattr(run, name), **LIMITS[name])

        end, soft = number("t_end", t_end), chosen("eps", eps, 0.0)
        eta_used = chosen("eta", eta, 0.02)
        if eta_start is None and (run is None or eta_used != run.eta):
            first = eta_used / 2
        else:
            first = chosen("eta_start", eta_start, 0.0)
        longest = chosen("dt_max", dt_max, 2.0**-4)
        shortest = chosen("dt_min", dt_min, 0.0)
        wanted = chosen("accuracy", accuracy, 0.0)
        options = _Options(soft, chosen("G", G, 1.0), eta_used, first, shortest, wanted)
        integration = _Integration(snapshot, end, longest, options, used)
    integration.agree_to_continue()
    with used._ranks.argument_checks():
        if not integration.continued:
            _check_end(end, snapshot)
            interval, _ = _intervals(snapshot.time, end, longest)
            if shortest > interval:
                raise ValueError(
                    f"dt_min: {shortest} is above the interval between states, {interval}"
                )
    return _progress(integration.states(), snapshot.time, end, progress)


class _Options(NamedTuple):
    """Parameters of a run that are also members of HermiteRun."""

    eps: float
    G: float
    eta: float
    eta_start: float
    dt_min: float
    accuracy: float


def _intervals(start: float, end: float, longest: float) -> Tuple[float, int]:
    """Length and number of the intervals of a new run: the longest that reach the end."""
    if end <= start:
        return longest, 0
    count = max(1, math.ceil((end - start) / longest - 1e-3))
    # Intervals that differ only by rounding do not depend on the end.
    exact = math.isclose(count * longest, end - start, rel_tol=1e-14)
    return longest if exact else (end - start) / count, count


class _Integration:
    """A run with block steps until ``end``: a new one, or the rest of that of ``start``."""

    core: _core.Hermite
    continued: bool  #: whether this is the rest of the run of ``start``, on all ranks
    start_time: float  #: time of step 0
    start_energy: float
    interval: float
    first_step: int  #: number of the step at which ``core`` began to count

    def __init__(
        self, start: Start, end: float, longest: float, options: _Options, device: Device
    ) -> None:
        self.start, self.end, self.longest = start, end, longest
        self.options, self.device = options, device
        self.pos, self.vel, self.mass = start.pos.copy(), start.vel.copy(), start.mass.copy()
        self.scaled_mass = self.mass * options.G

    def remaining(self, run: HermiteRun) -> int:
        """Number of intervals of the run until the end, rounded."""
        return round((self.end - run.start_time) / run.dt_max) - run.cycle

    def continues(self) -> bool:
        """Whether this is the rest of an earlier run: that of the same stars with the same
        parameters, and intervals that a new run from its last complete one would have as well."""
        run = self.start.run
        if run is None or not run.describes(self.start):
            return False
        if any(getattr(run, name) != value for name, value in self.options._asdict().items()):
            return False
        count = self.remaining(run)
        if count < (run.now > 0) or not run.same_time(
            self.end, run.start_time + (run.cycle + count) * run.dt_max
        ):
            return False
        return math.ceil(count * run.dt_max / self.longest - 1e-3) == count

    def agree_to_continue(self) -> None:
        """Decide whether the run continues, which it does on all ranks or on none; collective. With
        different parameters on the ranks TypeError is raised on all."""
        ranks = self.device._ranks
        self.continued = ranks.minimum(float(self.continues())) > 0
        what = (*self.options, self.longest, self.start.time, self.end)
        ranks.check_equal("parameters and times of hermite", repr(what))

    def states(self) -> Iterator[State]:
        """The initial state and one after every interval."""
        s, run = self.start, self.start.run
        if self.continued and run is not None:
            self.interval, self.start_time = run.dt_max, run.start_time
            self.first_step, self.start_energy = 0, run.start_energy
            step, last = run.cycle, run.cycle + self.remaining(run)
            tree = (run.tree_degree, run.tree_theta)
            now = (run.cycle, run.now, run.arrays, tree, self.scaled_mass)
            self.core = _core.Hermite.resume(self.device._core, *now, *self.parameters())
        else:
            self.interval, last = _intervals(s.time, self.end, self.longest)
            self.start_time, step = s.time, 0
            self.begin(self.pos, self.vel, step)
        latest = self.state(step, s.time)
        while step < last:
            pos, vel = latest.pos.copy(), latest.vel.copy()
            yield latest
            with self.device._ranks.argument_checks():
                latest = checked("state", latest)
            same = np.array_equal(latest.pos, pos) and np.array_equal(latest.vel, vel)
            if self.device._ranks.minimum(float(same)) == 0:  # the caller has moved stars
                self.begin(latest.pos, latest.vel, step)
            self.core.advance()
            step += 1
            latest = self.state(step, self.end if step == last else self.time(step))
        yield latest

    def time(self, step: int) -> float:
        """Time after a number of steps, as in ``gdr nbody``."""
        return self.start_time + step * self.interval

    def parameters(self) -> Tuple[float, float, float, float, float, float]:
        """Options of the library's integrator."""
        o = self.options
        return (o.eps, o.eta, o.eta_start, self.interval, o.dt_min, o.accuracy)

    def begin(self, pos: Floats, vel: Floats, step: int) -> None:
        """Begin to integrate at these positions and velocities."""
        stars = (np.ascontiguousarray(pos), np.ascontiguousarray(vel), self.scaled_mass)
        self.core = _core.Hermite(self.device._core, *stars, *self.parameters())
        self.first_step = step
        _, vel, _, pot = self.read()
        energy = 0.5 * float((self.mass * ((vel**2).sum(1) + pot)).sum())
        self.start_energy = self.device._ranks.total(energy)

    def read(self) -> Tuple[Floats, Floats, Floats, Floats]:
        """Positions, velocities, accelerations and potentials."""
        n = len(self.mass)
        pos, vel, acc = (np.empty((n, 3)) for _ in range(3))
        pot = np.empty(n)
        self.core.read(pos, vel, acc, pot)
        return pos, vel, acc, pot

    def state(self, step: int, time: float) -> State:
        """The present state."""
        s = self.start
        pos, vel, acc, pot = self.read()
        cycle, now, arrays, tree = self.core.state()
        members: Dict[str, Any] = {**self.options._asdict(), **dict(zip(ARRAYS, arrays))}
        run = HermiteRun(
            **members,
            start_time=self.start_time,
            dt_max=self.interval,
            start_energy=self.start_energy,
            cycle=self.first_step + cycle,
            now=now,
            mass=self.mass,
            tree_degree=tree[0],
            tree_theta=tree[1],
        )
        blocks = BlockSteps(*self.core.statistics())
        return State(step, time, pos, vel, s.mass, acc, pot, s.types, s.ids, s.header, blocks, run)
