"""The state of a run with block steps, from which it continues with the same bits."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Tuple

import numpy as np

from .._arrays import Floats, check_finite, number
from .._display import counted


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class HermiteRun:
    """Everything that determines how a run of ``hermite`` goes on: ``gdr::HermiteState`` of the
    library, and the parameters of the run.

    ``state.run`` of a state of ``hermite``, and ``snapshot.run`` of a file that such a run or
    ``gdr nbody --integrator hermite4`` wrote. A run that continues from it on the same engine has
    the bits of one that was never interrupted. Times and steps of the stars are in units of
    ``dt_max``. The arrays must not be changed.
    """

    start_time: float  #: time at which the run began
    dt_max: float  #: interval between states, the largest step
    eps: float
    G: float
    eta: float
    eta_start: float
    dt_min: float
    start_energy: float  #: total energy at the beginning, or when stars were moved
    cycle: int  #: complete intervals since the beginning
    now: float  #: part of the present interval that is done: above 0 in files of ended commands
    times: Floats  #: time of each star since the last complete interval
    steps: Floats  #: step of each star
    pos: Floats  #: at the times of the stars, as ``vel``, ``acc`` and ``jerk``
    vel: Floats
    acc: Floats
    jerk: Floats
    mass: Floats

    def __len__(self) -> int:
        return len(self.mass)

    def __repr__(self) -> str:
        return (
            f"<gdr.nbody.HermiteRun of {counted(len(self), 'star')}, t = {self.time:.6g}, "
            f"step {self.cycle}, eps {self.eps:g}, eta {self.eta:g}, dt_max {self.dt_max:g}>"
        )

    @property
    def time(self) -> float:
        """Time of the run: ``start_time + (cycle + now) * dt_max``."""
        return self.start_time + (self.cycle + self.now) * self.dt_max

    @property
    def arrays(self) -> List[Floats]:
        """The arrays of the stars but the masses, in the order of ``ARRAYS``."""
        return [getattr(self, name) for name in ARRAYS]

    def same_time(self, a: float, b: float) -> bool:
        """Whether two times of this run differ by no more than rounding errors."""
        return abs(a - b) <= 1e-14 * (abs(self.start_time) + abs(b) + self.dt_max)

    def describes(self, stars: Any) -> bool:
        """Whether this is still the state of these stars: of a snapshot or a state whose time,
        positions, velocities and masses nobody has changed."""
        if not (self.dt_max > 0 and self.cycle >= 0 and self.same_time(stars.time, self.time)):
            return False
        if not np.array_equal(stars.mass, self.mass):
            return False
        # Within an interval the stars of a file are at predicted places.
        return self.now > 0 or (
            np.array_equal(stars.pos, self.pos) and np.array_equal(stars.vel, self.vel)
        )

    def ordered(self, order: Any) -> HermiteRun:
        """The same run with its stars in another order."""
        changed = {name: getattr(self, name)[order] for name in (*ARRAYS, "mass")}
        return dataclasses.replace(self, **changed)


#: Names of a run's numbers in HDF5 (attributes of the group GDR) and in text (``#gdr:`` lines).
NUMBERS: Dict[str, Tuple[str, str]] = {
    "cycle": ("Step", "step"),
    "start_time": ("StartTime", "start_time"),
    "dt_max": ("TimeStep", "time_step"),
    "eps": ("Softening", "softening"),
    "G": ("G", "gravity"),
    "start_energy": ("StartEnergy", "start_energy"),
    "now": ("StepFraction", "step_fraction"),
    "eta": ("Eta", "eta"),
    "eta_start": ("EtaStart", "eta_start"),
    "dt_min": ("SmallestStep", "smallest_step"),
}
#: Ranges of these numbers, as arguments of ``number``.
LIMITS: Dict[str, Dict[str, float]] = {
    "cycle": {"least": 0},
    "dt_max": {"above": 0},
    "eps": {"least": 0},
    "G": {"above": 0},
    "now": {"least": 0, "most": 1},
    "eta": {"above": 0},
    "eta_start": {"above": 0},
    "dt_min": {"least": 0},
}
#: Arrays of the stars: their names in HDF5, and numbers of each star. A line of text has them in
#: this order.
ARRAYS: Dict[str, Tuple[str, int]] = {
    "times": ("ParticleTime", 1),
    "steps": ("ParticleStep", 1),
    "pos": ("Position", 3),
    "vel": ("Velocity", 3),
    "acc": ("Acceleration", 3),
    "jerk": ("Jerk", 3),
}
#: Numbers of a star in a line of text.
WIDTH = sum(width for _, width in ARRAYS.values())


def checked_number(place: str, name: str, value: Any) -> float:
    """A number of a run; TypeError or ValueError with the place if it is none, or out of range."""
    if name == "start_energy" and isinstance(value, float):
        return value  # overflows for extreme masses and speeds; such a run can continue
    found = number(place, value, **LIMITS.get(name, {}))
    if name == "cycle" and not found.is_integer():
        raise ValueError(f"{place}: expected an integer, got {found}")
    return found


def check_arrays(places: Dict[str, str], table: Floats) -> None:
    """ValueError with the place of the first number of the stars that is not finite."""
    first = 0
    for name, (_, width) in ARRAYS.items():
        check_finite(places[name], table[:, first : first + width])
        first += width


def run_of(numbers: Dict[str, float], table: Floats, mass: Floats) -> HermiteRun:
    """The run with these numbers, whose stars are the rows of ``table``."""
    members: Dict[str, Any] = {**numbers, "cycle": int(numbers["cycle"])}
    first = 0
    for name, (_, width) in ARRAYS.items():
        part = table[:, first] if width == 1 else table[:, first : first + width]
        members[name] = np.ascontiguousarray(part)
        first += width
    return HermiteRun(mass=mass.copy(), **members)
