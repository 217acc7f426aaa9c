"""gdr: kernels, forces and dense linear algebra on a GRAPE-DR-style accelerator, emulated or real.

    import gdr
    acc, pot = gdr.gravity(pos, mass, eps=0.01)

Functions take NumPy arrays and an optional device: ``device="exact"``, or one of ``gdr.open``. The
default is ``gdr.default_device()``. The guide is docs/guides/python.md; such pages are in the
folder of this package.
"""

import atexit
import importlib
from typing import TYPE_CHECKING, Any

from . import _core as _core
from . import _mpi as _mpi
from . import errors as errors
from . import functions as functions
from . import linalg as linalg
from . import nbody as nbody
from . import results as results
from . import sph as sph
from ._decorator import FunctionKernel, Particle, kernel
from ._debugger import Debugger, debug
from ._open import Device, default_device, open, set_default_device
from ._estimate import estimate
from ._ewald import ewald
from ._forces import ParticleKernel
from ._gravity import gravity
from ._installation import (
    get_cmake_dir,
    get_include,
    get_library_dir,
    get_pkgconfig_dir,
    get_prefix,
)
from ._interface import ArrayVariable, Variable
from ._job import Job
from ._kernel import Kernel, assemble, builtin, builtin_names, compile, from_object, load
from ._machine import Machine
from ._neighbours import Neighbours, neighbour_pairs, neighbours
from ._pairs import PairStatistics, PairSum
from ._progress import quiet
from ._records import BoardTest, RankReport, Statistics, StreamStatistics, TimelineEvent
from ._set_job import SetJob, SourceLists
from ._trees import TreeSum, TreeSumReport
from .functions import grad
from .errors import *
from .results import Gravity, ResultArrays

__version__ = _core.version()
_BUILTIN_NAMES = frozenset(builtin_names())
_mpi.warn_on_mismatch()
atexit.register(_core.wait_for_detached)

__all__ = [
    "ArrayVariable",
    "BoardTest",
    "Debugger",
    "Device",
    "FunctionKernel",
    "Gravity",
    "Job",
    "Kernel",
    "Machine",
    "Neighbours",
    "PairStatistics",
    "PairSum",
    "Particle",
    "ParticleKernel",
    "RankReport",
    "ResultArrays",
    "SetJob",
    "SourceLists",
    "Statistics",
    "StreamStatistics",
    "TimelineEvent",
    "TreeSum",
    "TreeSumReport",
    "Variable",
    "assemble",
    "builtin",
    "builtin_names",
    "chemistry",
    "compile",
    "debug",
    "default_device",
    "errors",
    "estimate",
    "ewald",
    "from_object",
    "functions",
    "get_cmake_dir",
    "get_include",
    "get_library_dir",
    "get_pkgconfig_dir",
    "get_prefix",
    "grad",
    "gravity",
    "kernel",
    "linalg",
    "load",
    "nbody",
    "neighbour_pairs",
    "neighbours",
    "open",
    "quiet",
    "results",
    "set_default_device",
    "sph",
]
__all__ += errors.__all__
__all__ += sorted(_BUILTIN_NAMES - {"gravity"})


if TYPE_CHECKING:
    from . import chemistry as chemistry

    buckingham: ParticleKernel[results.PairEnergy]
    coulomb: ParticleKernel[results.Field]
    coulomb_ewald: ParticleKernel[results.Field]
    gauss_sum: ParticleKernel[results.GaussSum]
    gravity_1pn: ParticleKernel[results.Gravity1PN]
    gravity_hermite: ParticleKernel[results.GravityHermite]
    gravity_hermite_neighbours: ParticleKernel[results.GravityNeighbours]
    gravity_jerk: ParticleKernel[results.GravityJerk]
    gravity_jerk_long: ParticleKernel[results.GravityJerk]
    gravity_jerk_moving: ParticleKernel[results.GravityJerk]
    gravity_jerk_neighbours: ParticleKernel[results.GravityLists]
    gravity_long: ParticleKernel[results.Gravity]
    gravity_nearest: ParticleKernel[results.GravityNearest]
    gravity_neighbours: ParticleKernel[results.GravityNeighbours]
    gravity_potential: ParticleKernel[results.Gravity]
    gravity_regular: ParticleKernel[results.GravityLists]
    gravity_snap: ParticleKernel[results.GravitySnap]
    gravity_softened: ParticleKernel[results.Gravity]
    gravity_softened_long: ParticleKernel[results.Gravity]
    lennard_jones: ParticleKernel[results.PairVirial]
    lennard_jones_mixed: ParticleKernel[results.PairVirial]
    morse: ParticleKernel[results.PairEnergy]
    sph_density: ParticleKernel[results.SphDensity]
    sph_force: ParticleKernel[results.SphForce]
else:

    def __getattr__(name: str) -> Any:
        """The built-in kernels, ``gdr.lennard_jones`` and so on, as functions on arrays, and
        ``gdr.chemistry``, which is imported when it is used."""
        if name == "chemistry":
            return importlib.import_module("gdr.chemistry")
        if name not in _BUILTIN_NAMES:
            raise AttributeError(f"module 'gdr' has no attribute {name!r}")
        return globals().setdefault(name, ParticleKernel(name))


def __dir__() -> "list[str]":
    return sorted({*(name for name in globals() if name.startswith("__")), *__all__})
