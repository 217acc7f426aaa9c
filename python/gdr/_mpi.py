"""MPI beside mpi4py: which MPI the library's part for it is built on, and whether it is the same.

A communicator of one MPI is garbage to another, and two in one process do harm before anybody uses
them. So nothing is loaded here: names are read from the part's file, and asked for in the process.
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


def parts() -> List[pathlib.Path]:
    """The library's files for MPI: the one that GDR_MPI_LIBRARY names, or those beside libgdr."""
    given = os.environ.get("GDR_MPI_LIBRARY")
    if given:
        return [pathlib.Path(given)]
    folder = pathlib.Path(_core.library_folder())
    beside = (folder / "libgdr_mpi.so", folder / "libgdr_mpi_mpich.so")
    return [path for path in beside if path.exists()]


def needed_mpi(path: pathlib.Path) -> Optional[str]:
    """The MPI that a part is linked with, as the dynamic linker knows it: "libmpi.so.40"."""
    try:
        names = _needed(path.read_bytes())
    except (OSError, ValueError, struct.error):
        return None
    return next((name for name in names if re.match(r"libp?mpi(ch|_\w+)?\.so", name)), None)


def _needed(file: bytes) -> List[str]:
    """The entries DT_NEEDED of an ELF file of 64 bits."""
    if file[:5] != b"\x7fELF\x02":
        raise ValueError("this is no ELF file of 64 bits")
    order = "<" if file[5] == 1 else ">"
    table, size, count = struct.unpack_from(order + "32xQ14xHH", file)[0:3]
    loads, entries = [], []
    for k in range(count):
        header = struct.unpack_from(order + "I4xQQ8xQ", file, table + k * size)
        kind, offset, address, length = header
        if kind == 1:  # PT_LOAD: where addresses lie in the file
            loads.append((address, offset, length))
        elif kind == 2:  # PT_DYNAMIC
            entries = list(struct.iter_unpack(order + "QQ", file[offset : offset + length]))
    strings = next((value for tag, value in entries if tag == 5), 0)  # DT_STRTAB
    begin = next((o + strings - a for a, o, n in loads if a <= strings < a + n), None)
    if begin is None:
        raise ValueError("it has no names")
    places = [begin + value for tag, value in entries if tag == 1]
    return [file[at : file.index(b"\0", at)].decode() for at in places]


def _in_this_process(library: str, mode: int = 0) -> bool:
    """Whether a library of that name has been loaded."""
    try:
        ctypes.CDLL(library, mode=os.RTLD_NOLOAD | mode)
    except OSError:
        return False
    return True


def mismatch() -> Optional[str]:
    """What is wrong where mpi4py has brought another MPI than ours, and what to do; else None."""
    module = sys.modules.get(_MPI4PY)
    ours = [needed_mpi(path) for path in parts()]
    known = [name for name in ours if name is not None]
    if module is None or not known or any(_in_this_process(name) for name in known):
        return None
    version = str(module.Get_library_version()).strip("\0 \n")
    theirs = re.sub(r"\s*Version:\s*", " ", re.split(r"[,\n]", version)[0].strip())
    return (
        f"mpi4py works with {theirs}, and gdr was built with another MPI ({', '.join(known)}): a "
        'device "mpi" cannot be opened in this process. Install both for the same MPI: either '
        "mpi4py for gdr's (pip install --force-reinstall --no-binary mpi4py mpi4py, with that "
        "MPI's mpicc in PATH), or gdr for mpi4py's (pip install . with mpi4py's mpicc in PATH)"
    )


def prepare() -> None:
    """Before a device "mpi" is opened: raise UnsupportedError where that cannot go well."""
    wrong = mismatch()
    if wrong is not None:
        raise UnsupportedError(wrong)
    if not parts():
        raise UnsupportedError(
            "gdr was built without MPI. Install the one that your program uses (libopenmpi-dev or "
            "libmpich-dev), and then gdr again: pip install --force-reinstall . (without "
            "GDR_MPI=OFF); or name a libgdr_mpi.so of the same build in GDR_MPI_LIBRARY"
        )
    # The library takes the part for the MPI that it sees in the process; Python hides mpi4py's.
    for path in parts():
        name = needed_mpi(path)
        if name is not None:
            _in_this_process(name, ctypes.RTLD_GLOBAL)


def handle(comm: Any) -> int:
    """The Fortran handle of a communicator of mpi4py, or the handle itself."""
    if isinstance(comm, int) and not isinstance(comm, bool):
        return comm
    convert = getattr(comm, "py2f", None)
    if not callable(convert):
        raise TypeError(
            "comm: a communicator of mpi4py, or a Fortran handle, is wanted, not "
            + type(comm).__name__
        )
    return int(convert())


def watch() -> None:
    """Warn as soon as mpi4py has brought another MPI: now, or when it is imported."""
    if _MPI4PY in sys.modules:
        _warn()
    else:
        sys.meta_path.insert(0, _Watcher())


def _warn() -> None:
    wrong = mismatch()
    if wrong is not None:
        warnings.warn(wrong, MpiMismatchWarning, stacklevel=3)


class _Watcher(importlib.abc.MetaPathFinder):
    """Stands before the finders of modules until mpi4py.MPI is looked for, once."""

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
            spec.loader = _ThenWarn(spec.loader)
        return spec


class _ThenWarn(importlib.abc.Loader):
    """A loader that looks at what it has loaded."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(
        self, spec: importlib.machinery.ModuleSpec
    ) -> Optional[types.ModuleType]:
        module: Optional[types.ModuleType] = self._loader.create_module(spec)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _warn()
