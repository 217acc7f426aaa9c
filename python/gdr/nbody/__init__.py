"""Stellar systems: snapshots, models, integrators, diagnostics and plots.

::

    from gdr import nbody
    stars = nbody.read("examples/data/plummer_1024.hdf5")
    for state in nbody.leapfrog(stars, eps=1 / 64, dt=1 / 1024, t_end=1.0, progress=True):
        ...
    nbody.plots.projection(state)
"""

from . import plots
from .diagnostics import (
    Energies,
    History,
    angular_momentum,
    centre_of_mass,
    energies,
    lagrangian_radii,
)
from .integrate import BlockSteps, State, hermite, leapfrog
from .models import merger, plummer
from .run import HermiteRun
from .snapshot import Snapshot, read, write

__all__ = [
    "BlockSteps",
    "Energies",
    "HermiteRun",
    "History",
    "Snapshot",
    "State",
    "angular_momentum",
    "centre_of_mass",
    "energies",
    "hermite",
    "lagrangian_radii",
    "leapfrog",
    "merger",
    "plots",
    "plummer",
    "read",
    "write",
]
