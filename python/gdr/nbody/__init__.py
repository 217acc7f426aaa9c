"""Stellar systems: snapshots, models, integrators, diagnostics and plots.

::

    from gdr import nbody
    stars = nbody.read("examples/data/plummer_1024.hdf5")
    for state in nbody.leapfrog(stars, eps=1 / 64, dt=1 / 1024, t_end=1.0, progress=True):
        ...
    nbody.plots.projection(state)
"""

import importlib
from typing import TYPE_CHECKING, Any

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


if TYPE_CHECKING:
    from . import plots as plots
else:

    def __getattr__(name: str) -> Any:
        """``plots``, which is imported when it is used."""
        if name == "plots":
            return importlib.import_module("gdr.nbody.plots")
        raise AttributeError(f"module 'gdr.nbody' has no attribute {name!r}")


def __dir__() -> "list[str]":
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
