"""The state of a run with block steps, from which it continues with the same bits."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Tuple

import numpy as np

from .._arrays import Floats
from .._display import counted


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class HermiteRun:
    """Everything that determines how a run of ``hermite`` goes on: ``gdr::HermiteState`` of the
    library, and the parameters of the run.

    ``state.run`` of a state of ``hermite``, and ``snapshot.run`` of a file that such a run or
    ``gdr nbody --integrator hermite4`` wrote. A run that continues from it on the same engine has
    the bits of one that was never interrupted. Times and steps of the stars are in units of
    ``dt_max``. The arrays must not be changed.

    Examples:
        >>> for state in nbody.hermite(nbody.plummer(20, seed=1), t_end=0.1, eps=0.05):
        ...     pass
        >>> run = state.run
        >>> run.describes(state), run.time == state.time, run.same_time(run.time, run.time + 1e-17)
        (True, True, True)
        >>> turned = run.ordered(np.arange(20)[::-1])
        >>> bool((turned.mass == run.mass[::-1]).all()), len(run.arrays)
        (True, 6)
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
    accuracy: float = 0.0  #: of the forces of large blocks, with trees; 0: direct sums
    tree_degree: int = 0  #: degree of the last tree (``TreeReport``); 0: direct sums
    tree_theta: float = 0.0  #: its theta

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


#: Names of a run's numbers in files: attributes of the group GDR in HDF5.
NUMBERS: Dict[str, str] = {
    "cycle": "Step",
    "start_time": "StartTime",
    "dt_max": "TimeStep",
    "eps": "Softening",
    "G": "G",
    "start_energy": "StartEnergy",
    "now": "StepFraction",
    "eta": "Eta",
    "eta_start": "EtaStart",
    "dt_min": "SmallestStep",
    "accuracy": "Accuracy",
    "tree_degree": "TreeDegree",
    "tree_theta": "TreeTheta",
}
#: Those that files need not have: missing ones are zero.
OPTIONAL = {"Accuracy", "TreeDegree", "TreeTheta"}
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
    "accuracy": {"least": 0, "most": 0.999},
}
#: Names of the stars' arrays in the group GDR.
ARRAYS: Dict[str, str] = {
    "times": "ParticleTime",
    "steps": "ParticleStep",
    "pos": "Position",
    "vel": "Velocity",
    "acc": "Acceleration",
    "jerk": "Jerk",
}
#: A run in a file: its numbers by their names there, and its arrays in the order of ``ARRAYS``.
StoredRun = Tuple[Dict[str, float], List[Floats]]


def run_of(stored: StoredRun, mass: Floats) -> HermiteRun:
    """The run of a file, whose stars have these masses."""
    numbers, arrays = stored
    members: Dict[str, Any] = {key: numbers[name] for key, name in NUMBERS.items()}
    members["tree_degree"] = int(members["tree_degree"])
    members.update(zip(ARRAYS, arrays))
    return HermiteRun(mass=mass.copy(), **members)


def stored_run(run: HermiteRun) -> StoredRun:
    """The run as a file has it."""
    return {name: getattr(run, key) for key, name in NUMBERS.items()}, run.arrays
