"""Compatibility with mpi4py: whether it uses the MPI library that gdr's MPI plugin is built with.

Communicators of different MPI libraries are incompatible, and two MPI libraries in one process may
crash it. Nothing is loaded here: the library's name is read from the plugin's ELF header.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import struct
import sys
import types
import warnings
from typing import Any, List, Optional, Sequence

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
    """The soname of the MPI library that a plugin is linked with: "libmpi.so.40"."""
    try:
        names = _needed(path.read_bytes())
    except (OSError, ValueError, struct.error):
        return None
    return next((name for name in names if re.match(r"libp?mpi(ch|_\w+)?\.so", name)), None)


def _needed(file: bytes) -> List[str]:
    """The DT_NEEDED entries of a 64-bit ELF file."""
    if file[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    order = "<" if file[5] == 1 else ">"
    table, size, count = struct.unpack_from(order + "32xQ14xHH", file)[0:3]
    loads, entries = [], []
    for k in range(count):
        header = struct.unpack_from(order + "I4xQQ8xQ", file, table + k * size)
        kind, offset, address, length = header
        if kind == 1:  # PT_LOAD: maps addresses to file offsets
            loads.append((address, offset, length))
        elif kind == 2:  # PT_DYNAMIC
            entries = list(struct.iter_unpack(order + "QQ", file[offset : offset + length]))
    strings = next((value for tag, value in entries if tag == 5), 0)  # DT_STRTAB
    begin = next((o + strings - a for a, o, n in loads if a <= strings < a + n), None)
    if begin is None:
        raise ValueError("no string table")
    places = [begin + value for tag, value in entries if tag == 1]
    return [file[at : file.index(b"\0", at)].decode() for at in places]


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
    """A finder that checks mpi4py.MPI once, after its import."""

    def find_spec(
        self,
        name: str,
        path: Optional[Sequence[str]],
        target: Optional[types.ModuleType] = None,
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name != _MPI4PY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _CheckingLoader(spec.loader)
        return spec


class _CheckingLoader(importlib.abc.Loader):
    """A loader that warns about a mismatch after loading."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[types.ModuleType]:
        module: Optional[types.ModuleType] = self._loader.create_module(spec)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _warn()
