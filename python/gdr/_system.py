"""Optional packages, and files that are written atomically."""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
from typing import Any, Iterator, Union

from .errors import FileError

PathLike = Union[str, "os.PathLike[str]"]


def require(module: str, feature: str) -> Any:
    """Import a module; an ImportError says which feature needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        # The module may be installed without one that it imports.
        missing = (error.name or module).partition(".")[0]
        package = {"PIL": "pillow"}.get(missing, missing)
        raise ImportError(
            f"{feature} needs {package}, which cannot be imported ({error}): pip install {package}"
        ) from None


def check_can_write(path: str) -> None:
    """Raise FileError unless a file can be created, or replaced, under this name."""
    if os.path.isdir(path):
        raise FileError(f"{path}: cannot be written: it is a directory")
    part = f"{path}.{secrets.token_hex(8)}.part"
    try:
        open(part, "xb").close()
        os.unlink(part)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """Context that writes a file: yields the name of a new file, which replaces ``path`` at the
    end. After an error an existing file is unchanged; an OSError is raised as FileError."""
    part = f"{path}.{secrets.token_hex(8)}.part"
    try:
        # Mode "x" creates the file exclusively: an existing symbolic link is not followed.
        open(part, "xb").close()
        yield part
        os.replace(part, path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)
