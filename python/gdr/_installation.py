"""Directories of the C++ library that belongs to this package, for programs that link it."""

from __future__ import annotations

import pathlib

from . import _core
from .errors import FileError

_MISSING = (
    "the headers of gdr are not installed beside its library in {folder}; install a wheel or Debian's "
    "libgdr-dev, or run make install and use the prefix given there"
)


def _library() -> pathlib.Path:
    return pathlib.Path(_core.library_folder())


def _existing(path: pathlib.Path) -> str:
    if not path.exists():
        raise FileError(_MISSING.format(folder=_library()))
    return str(path)


def get_prefix() -> str:
    """The prefix under which library, headers and package files are installed, for example for
    CMAKE_PREFIX_PATH. Raises FileError if the headers are not installed.

    Examples:
        >>> pathlib.Path(gdr.get_prefix(), "include", "gdr.h").exists()
        True
    """
    folder = _library()
    # lib, or lib/x86_64-linux-gnu as on Debian.
    for prefix in list(folder.parents)[:2]:
        if (prefix / "include" / "gdr.h").exists():
            return str(prefix)
    raise FileError(_MISSING.format(folder=folder))


def get_include() -> str:
    """The directory of ``gdr.h`` and ``gdr/gdr.hpp``. Raises FileError if they are not installed.

    Examples:
        >>> pathlib.Path(gdr.get_include(), "gdr.h").exists()
        True
    """
    return str(pathlib.Path(get_prefix()) / "include")


def get_library_dir() -> str:
    """The directory of the shared libraries: of ``libgdr.so`` and of the libraries with the
    interfaces of earlier accelerators.

    Examples:
        >>> pathlib.Path(gdr.get_library_dir(), "libgdr.so").exists()
        True
    """
    return str(_library())


def get_cmake_dir() -> str:
    """The directory of ``gdrConfig.cmake``, for ``gdr_DIR``. Raises FileError if it is not
    installed.

    Examples:
        >>> pathlib.Path(gdr.get_cmake_dir(), "gdrConfig.cmake").exists()
        True
    """
    return _existing(_library() / "cmake" / "gdr")


def get_pkgconfig_dir() -> str:
    """The directory of ``gdr.pc``, for PKG_CONFIG_PATH. Raises FileError if it is not installed.

    Examples:
        >>> pathlib.Path(gdr.get_pkgconfig_dir(), "gdr.pc").exists()
        True
    """
    return _existing(_library() / "pkgconfig")
