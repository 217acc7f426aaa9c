"""What a run conserves, and how its stars are spread."""

from __future__ import annotations

import dataclasses
from typing import Any, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from .._arrays import Floats, floats
from .._device import Device
from .._forces import gravity
from .integrate import State
from .snapshot import Snapshot

Stars = Union[State, Snapshot]


class Energies(NamedTuple):
    """Of a whole system."""

    kinetic: float
    potential: float
    total: float

    @property
    def virial_ratio(self) -> float:
        """Kinetic over half of -potential: 1 in equilibrium."""
        return -2 * self.kinetic / self.potential


def energies(
    stars: Stars, *, eps: Optional[float] = None, G: float = 1.0, device: Optional[Device] = None
) -> Energies:
    """Kinetic, potential and total energy.

    The potentials are those of a state's forces. A snapshot has none: they are computed, with the
    softening ``eps`` and the constant of gravity ``G``, which count for nothing for a state.
    """
    kinetic = 0.5 * float((stars.mass * (stars.vel**2).sum(1)).sum())
    if isinstance(stars, State):
        pot = stars.pot
    elif eps is None:
        raise TypeError("eps: a snapshot has no potentials; give the softening to compute them")
    else:
        pot = G * gravity(stars.pos, stars.mass, eps, device=device).pot
    potential = 0.5 * float((stars.mass * pot).sum())
    return Energies(kinetic, potential, kinetic + potential)


def angular_momentum(stars: Stars) -> Floats:
    """Sum of m x times v."""
    momentum: Floats = (stars.mass[:, None] * np.cross(stars.pos, stars.vel)).sum(0)
    return momentum


def centre_of_mass(stars: Stars) -> Floats:
    """The mean of the positions, weighed by mass."""
    centre: Floats = np.average(stars.pos, axis=0, weights=stars.mass)
    return centre


def lagrangian_radii(
    stars: Stars, fractions: Sequence[float] = (0.1, 0.5, 0.9), centre: Any = None
) -> Floats:
    """Radii that hold these fractions of the mass, about the centre of mass or another place."""
    parts = floats("fractions", fractions, ("k",))
    if ((parts <= 0) | (parts > 1)).any():
        raise ValueError("fractions: numbers above 0 and up to 1 are wanted")
    middle = centre_of_mass(stars) if centre is None else floats("centre", centre, (3,))
    r = np.linalg.norm(stars.pos - middle, axis=1)
    order = np.argsort(r)
    inside = np.cumsum(stars.mass[order])
    # Sums of the same masses may end just below the whole.
    index = np.searchsorted(inside, parts * inside[-1] * (1 - 1e-12))
    radii: Floats = r[order][np.minimum(index, len(r) - 1)]
    return radii


@dataclasses.dataclass
class History:
    """What a run looked like as it went: ``history.add(state)`` at every step that counts."""

    fractions: Sequence[float] = (0.1, 0.5, 0.9)
    time: List[float] = dataclasses.field(default_factory=list)
    kinetic: List[float] = dataclasses.field(default_factory=list)
    potential: List[float] = dataclasses.field(default_factory=list)
    radii: List[Floats] = dataclasses.field(default_factory=list)

    def add(self, state: State) -> None:
        """Note energies and Lagrangian radii."""
        e = energies(state)
        self.time.append(state.time)
        self.kinetic.append(e.kinetic)
        self.potential.append(e.potential)
        self.radii.append(lagrangian_radii(state, self.fractions))

    @property
    def energy_error(self) -> Floats:
        """Relative error of the total energy since the first note."""
        if not self.time:
            raise ValueError("nothing has been noted yet")
        total = np.array(self.kinetic) + np.array(self.potential)
        error: Floats = (total - total[0]) / abs(total[0])
        return error
