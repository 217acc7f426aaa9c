"""Compatibility with mpi4py: whether it uses the MPI library that gdr's MPI plugin is built with.

Communicators of different MPI libraries are incompatible, and two MPI libraries in one process may
crash it. Nothing is loaded here: the library's name is read from the plugin's file.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import types
import warnings
from typing import Any, List, Optional

from . import _core
from .errors import MpiMismatchWarning, UnsupportedError

_MPI4PY = "mpi4py.MPI"


def plugins() -> List[pathlib.Path]:
    """The MPI plugins of the library: GDR_MPI_LIBRARY if set, or those in libgdr's directory."""
    override = os.environ.get("GDR_MPI_LIBRARY")
    if override:
        return [pathlib.Path(override)]
    folder = pathlib.Path(_core.library_folder())
    candidates = (folder / "libgdr_mpi.so", folder / "libgdr_mpi_mpich.so")
    return [path for path in candidates if path.exists()]


def needed_mpi(path: pathlib.Path) -> Optional[str]:
    """The soname of the MPI library that a plugin is linked with: "libmpi.so.40". An ELF file holds
    the names of the libraries that it needs as strings between zero bytes."""
    try:
        found = re.search(rb"\0(libp?mpi(?:ch|_\w+)?\.so[.\d]*)(?=\0)", path.read_bytes())
    except OSError:
        return None
    return found.group(1).decode() if found else None


def _is_loaded(library: str, mode: int = 0) -> bool:
    """Whether a library with this name is loaded in this process."""
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD | mode)
    except OSError:
        return False
    return True


def mismatch() -> Optional[str]:
    """A message with the remedy if mpi4py uses a different MPI library, else None."""
    module = sys.modules.get(_MPI4PY)
    ours = [needed_mpi(path) for path in plugins()]
    known = [name for name in ours if name is not None]
    if module is None or not known or any(_is_loaded(name) for name in known):
        return None
    version = str(module.Get_library_version()).strip("\0 \n")
    theirs = re.sub(r"\s*Version:\s*", " ", re.split(r"[,\n]", version)[0].strip())
    return (
        f"mpi4py uses {theirs}, but gdr was built with another MPI ({', '.join(known)}): a "
        'device "mpi" cannot be opened in this process. Install both for the same MPI: either '
        "mpi4py for gdr's (pip install --force-reinstall --no-binary mpi4py mpi4py, with that "
        "MPI's mpicc in PATH), or gdr for mpi4py's (pip install . with mpi4py's mpicc in PATH)"
    )


def prepare() -> None:
    """Check the MPI library before a device "mpi" is opened; raises UnsupportedError."""
    message = mismatch()
    if message is not None:
        raise UnsupportedError(message)
    if not plugins():
        raise UnsupportedError(
            "gdr was built without MPI. Install the MPI library of your program (libopenmpi-dev or "
            "libmpich-dev), then reinstall gdr: pip install --force-reinstall . (without "
            "GDR_MPI=OFF); or set GDR_MPI_LIBRARY to a libgdr_mpi.so of the same build"
        )
    # The library selects its plugin by the MPI symbols in the process: make mpi4py's global.
    for path in plugins():
        name = needed_mpi(path)
        if name is not None:
            _is_loaded(name, ctypes.RTLD_GLOBAL)


def handle(comm: Any) -> int:
    """The Fortran handle of an mpi4py communicator; a handle is returned unchanged."""
    if isinstance(comm, int) and not isinstance(comm, bool):
        return comm
    convert = getattr(comm, "py2f", None)
    if not callable(convert):
        raise TypeError(
            "comm: expected an mpi4py communicator or a Fortran handle, got "
            + type(comm).__name__
        )
    return int(convert())


def warn_on_mismatch() -> None:
    """Warn if mpi4py uses a different MPI library: now, or when mpi4py.MPI is imported."""
    if _MPI4PY in sys.modules:
        _warn()
    else:
        sys.meta_path.insert(0, _ImportHook())


def _warn() -> None:
    message = mismatch()
    if message is not None:
        warnings.warn(message, MpiMismatchWarning, stacklevel=3)


class _ImportHook(importlib.abc.MetaPathFinder):
    """A finder that warns about a mismatch once, after mpi4py.MPI has been loaded."""

    def find_spec(
        self, name: str, path: Any, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name != _MPI4PY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = spec.loader if spec is not None else None
        if loader is not None:
            load = loader.exec_module

            def load_and_warn(module: types.ModuleType) -> None:
                del loader.exec_module
                load(module)
                _warn()

            loader.exec_module = load_and_warn
        return spec
