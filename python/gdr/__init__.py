"""gdr: kernels, forces and dense linear algebra on a GRAPE-DR-style accelerator, emulated or real.

    import gdr
    acc, pot = gdr.gravity(pos, mass, eps=0.01)

Functions take NumPy arrays and an optional device: ``gdr.open("emulator", engine="native")``. The
default is ``gdr.default_device()``. The guide is docs/guides/python.md.
"""

import atexit

from . import _core as _core
from . import _mpi as _mpi
from . import chemistry as chemistry
from . import errors as errors
from . import functions as functions
from . import linalg as linalg
from . import nbody as nbody
from ._decorator import FunctionKernel, kernel
from ._open import Device, default_device, open, set_default_device
from ._forces import Gravity, ParticleKernel, gravity
from ._interface import ArrayVariable, Variable
from ._job import Job
from ._kernel import Kernel, assemble, builtin, builtin_names, compile, from_object, load
from ._machine import Machine
from ._neighbours import Neighbours, neighbours
from ._records import BoardTest, RankReport, Statistics, TimelineEvent
from ._set_job import SetJob, SourceLists
from .errors import *

__version__ = _core.version()
_BUILTIN_NAMES = frozenset(builtin_names())
_mpi.warn_on_mismatch()
atexit.register(_core.wait_for_detached)

__all__ = [
    "ArrayVariable",
    "BoardTest",
    "Device",
    "FunctionKernel",
    "Gravity",
    "Job",
    "Kernel",
    "Machine",
    "Neighbours",
    "ParticleKernel",
    "RankReport",
    "SetJob",
    "SourceLists",
    "Statistics",
    "TimelineEvent",
    "Variable",
    "assemble",
    "builtin",
    "builtin_names",
    "chemistry",
    "compile",
    "default_device",
    "errors",
    "from_object",
    "functions",
    "gravity",
    "kernel",
    "linalg",
    "load",
    "nbody",
    "neighbours",
    "open",
    "set_default_device",
]
__all__ += errors.__all__
__all__ += sorted(_BUILTIN_NAMES - {"gravity"})


def __getattr__(name: str) -> ParticleKernel:
    """The built-in kernels, ``gdr.lennard_jones`` and so on, as functions on arrays."""
    if name not in _BUILTIN_NAMES:
        raise AttributeError(f"module 'gdr' has no attribute {name!r}")
    function: ParticleKernel = globals().setdefault(name, ParticleKernel(name))
    return function


def __dir__() -> "list[str]":
    return sorted({*globals(), *__all__})
