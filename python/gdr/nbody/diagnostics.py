"""Conserved quantities and Lagrangian radii."""

from __future__ import annotations

import dataclasses
from typing import Any, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from .._arrays import Floats, floats
from .._display import counted
from .._open import DeviceLike
from .._gravity import gravity
from .integrate import State
from .snapshot import Snapshot, checked, mean_position

Stars = Union[State, Snapshot]


class Energies(NamedTuple):
    """Energies of a system.

    Examples:
        >>> found = nbody.energies(nbody.plummer(100, seed=1), eps=0.05)
        >>> print(f"{found.kinetic:.3f} {found.potential:.3f} {found.virial_ratio:.2f}")
        0.218 -0.474 0.92
    """

    kinetic: float
    potential: float
    total: float

    @property
    def virial_ratio(self) -> float:
        """Twice the kinetic energy over minus the potential energy: 1 in equilibrium."""
        return -2 * self.kinetic / self.potential


def energies(
    stars: Stars,
    *,
    eps: float = 0.0,
    G: float = 1.0,
    accuracy: Optional[float] = None,
    device: Optional[DeviceLike] = None,
) -> Energies:
    """Kinetic, potential and total energy.

        nbody.energies(nbody.plummer(100), eps=0.05).total

    A state contains the potentials. For a snapshot they are computed, with the softening ``eps``,
    the gravitational constant ``G`` and, for many stars, the ``accuracy`` of ``gdr.gravity``, which
    are not used for a state. Raises TypeError or ValueError naming the array if one has been
    replaced by an unsuitable one.
    """
    stars = checked("stars", stars)
    kinetic = 0.5 * float((stars.mass * (stars.vel**2).sum(1)).sum())
    if isinstance(stars, State):
        pot = stars.pot
    else:
        pot = G * gravity(stars.pos, stars.mass, eps, accuracy=accuracy, device=device).pot
    potential = 0.5 * float((stars.mass * pot).sum())
    return Energies(kinetic, potential, kinetic + potential)


def angular_momentum(stars: Stars) -> Floats:
    """Total angular momentum.

    Examples:
        >>> pair = nbody.Snapshot([[-1, 0, 0], [1, 0, 0]], [[0, -0.5, 0], [0, 0.5, 0]], mass=[1, 1])
        >>> print(nbody.angular_momentum(pair))
        [0. 0. 1.]
    """
    momentum: Floats = (stars.mass[:, None] * np.cross(stars.pos, stars.vel)).sum(0)
    return momentum


def centre_of_mass(stars: Stars) -> Floats:
    """Mean position, weighted with the masses; unweighted if their sum is zero.

    Examples:
        >>> pair = nbody.Snapshot(pos=[[0, 0, 0], [1, 0, 0]], vel=np.zeros((2, 3)), mass=[1, 3])
        >>> print(nbody.centre_of_mass(pair))
        [0.75 0.   0.  ]
    """
    return mean_position(stars)


def lagrangian_radii(
    stars: Stars, fractions: Sequence[float] = (0.1, 0.5, 0.9), centre: Any = None
) -> Floats:
    """Radii that contain these fractions of the mass, about ``centre`` or the centre of mass.

    Examples:
        >>> print(nbody.lagrangian_radii(nbody.plummer(1000, seed=1), [0.1, 0.5, 0.9]).round(2))
        [0.31 0.74 2.28]
    """
    parts = floats("fractions", fractions, ("k",))
    if ((parts <= 0) | (parts > 1)).any():
        raise ValueError("fractions: expected numbers above 0 and at most 1")
    middle = centre_of_mass(stars) if centre is None else floats("centre", centre, (3,))
    r = np.linalg.norm(stars.pos - middle, axis=1)
    order = np.argsort(r)
    inside = np.cumsum(stars.mass[order])
    # Rounding may leave the last sum just below the total.
    index = np.searchsorted(inside, parts * inside[-1] * (1 - 1e-12))
    radii: Floats = r[order][np.minimum(index, len(r) - 1)]
    return radii


@dataclasses.dataclass(repr=False)
class History:
    """Time series of energies and Lagrangian radii; ``history.add(state)`` appends a state.

    Examples:
        >>> history = nbody.History()
        >>> for state in nbody.leapfrog(nbody.plummer(50, seed=1), eps=0.1, dt=0.01, t_end=0.1):
        ...     history.add(state)
        >>> len(history.time), bool(abs(history.energy_error[-1]) < 1e-4)
        (11, True)
    """

    fractions: Sequence[float] = (0.1, 0.5, 0.9)
    time: List[float] = dataclasses.field(default_factory=list)
    kinetic: List[float] = dataclasses.field(default_factory=list)
    potential: List[float] = dataclasses.field(default_factory=list)
    radii: List[Floats] = dataclasses.field(default_factory=list)

    def add(self, state: State) -> None:
        """Append the energies and Lagrangian radii of a state."""
        e = energies(state)
        self.time.append(state.time)
        self.kinetic.append(e.kinetic)
        self.potential.append(e.potential)
        self.radii.append(lagrangian_radii(state, self.fractions))

    def __repr__(self) -> str:
        if not self.time:
            return "<gdr.nbody.History, empty>"
        states = (
            f"{counted(len(self.time), 'state')}, t = {self.time[0]:.6g} to {self.time[-1]:.6g}"
        )
        return f"<gdr.nbody.History of {states}, energy error {self.energy_error[-1]:.2g}>"

    @property
    def energy_error(self) -> Floats:
        """Relative error of the total energy since the first state."""
        if not self.time:
            raise ValueError("the history is empty; call add first")
        total = np.array(self.kinetic) + np.array(self.potential)
        error: Floats = (total - total[0]) / abs(total[0])
        return error
