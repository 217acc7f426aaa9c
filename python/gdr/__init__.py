"""gdr: kernels, forces and dense linear algebra on a GRAPE-DR-style accelerator, emulated or real.

    import gdr
    acc, pot = gdr.gravity(pos, mass, eps=0.01)

Functions take NumPy arrays and an optional device: ``gdr.open("emulator", engine="native")``. The
default is ``gdr.default_device()``. The guide is docs/guides/python.md.
"""

import atexit

from . import _core as _core
from . import _mpi as _mpi
from . import errors as errors
from . import functions as functions
from . import linalg as linalg
from . import nbody as nbody
from ._decorator import FunctionKernel, kernel
from ._forces import (
    Gravity,
    ParticleKernel,
    buckingham,
    coulomb,
    coulomb_ewald,
    gauss_sum,
    gravity,
    gravity_1pn,
    gravity_jerk,
    gravity_jerk_long,
    gravity_long,
    gravity_nearest,
    gravity_neighbours,
    gravity_potential,
    gravity_snap,
    lennard_jones,
    lennard_jones_mixed,
    morse,
    sph_density,
    sph_force,
)
from ._interface import Variable
from ._job import Job
from ._kernel import (
    Kernel,
    assemble,
    builtin,
    builtin_names,
    compile,
    from_object,
    load,
)
from ._machine import Machine
from ._open import Device, default_device, open, set_default_device
from ._records import BoardTest, RankReport, Statistics, TimelineEvent
from .errors import (
    DeviceError,
    Error,
    FileError,
    InputError,
    InternalError,
    MpiMismatchWarning,
    ProgramError,
    RankFailure,
    UnsupportedError,
    UsageError,
)

__version__ = _core.version()
_mpi.warn_on_mismatch()
atexit.register(_core.wait_for_detached)

__all__ = [
    "BoardTest",
    "Device",
    "DeviceError",
    "Error",
    "FileError",
    "FunctionKernel",
    "Gravity",
    "InputError",
    "InternalError",
    "Job",
    "Kernel",
    "Machine",
    "MpiMismatchWarning",
    "ParticleKernel",
    "ProgramError",
    "RankReport",
    "RankFailure",
    "Statistics",
    "TimelineEvent",
    "UnsupportedError",
    "UsageError",
    "Variable",
    "assemble",
    "buckingham",
    "builtin",
    "builtin_names",
    "compile",
    "coulomb",
    "coulomb_ewald",
    "default_device",
    "errors",
    "from_object",
    "functions",
    "gauss_sum",
    "gravity",
    "gravity_1pn",
    "gravity_jerk",
    "gravity_jerk_long",
    "gravity_long",
    "gravity_nearest",
    "gravity_neighbours",
    "gravity_potential",
    "gravity_snap",
    "kernel",
    "lennard_jones",
    "lennard_jones_mixed",
    "linalg",
    "load",
    "morse",
    "nbody",
    "open",
    "set_default_device",
    "sph_density",
    "sph_force",
]


def __getattr__(name: str) -> ParticleKernel:
    """Built-in kernels that are not listed above."""
    if not name.startswith("_") and name in builtin_names():
        return ParticleKernel(name)
    raise AttributeError(f"module 'gdr' has no attribute {name!r}")
