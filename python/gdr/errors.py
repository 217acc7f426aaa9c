"""The exceptions of the package: one class for each category of the library's errors.

Every class is also the built-in exception that Python programs expect at such a place, so that both
``except gdr.InputError`` and ``except ValueError`` catch a NaN among positions.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "Error",
    "UsageError",
    "InputError",
    "ProgramError",
    "FileError",
    "DeviceError",
    "RanksLost",
    "UnsupportedError",
    "InternalError",
    "MpiMismatchWarning",
]


class Error(Exception):
    """What all of the library's exceptions have in common.

    ``str(error)`` is one sentence: place, what was wrong, what to do. ``category`` is the name of
    the category in C++ (``gdr::ErrorCategory``).
    """

    category: ClassVar[str] = "Internal"


class UsageError(Error, ValueError):
    """A wrong option, name or argument."""

    category = "Usage"


class InputError(Error, ValueError):
    """Data that cannot be worked on: a NaN among positions, a damaged file."""

    category = "Input"


class ProgramError(Error, ValueError):
    """A program or kernel that does not assemble, compile, load or fit.

    The message holds every diagnostic, each with its source line and a caret.
    """

    category = "Program"


class FileError(Error, OSError):
    """A file that cannot be read or written, a full disk."""

    category = "Io"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DeviceError(Error, RuntimeError):
    """A device that cannot be opened, that failed or was closed; work that was abandoned."""

    category = "Device"


class RanksLost(DeviceError):
    """Other processes of a device "mpi" have ended, and this MPI lets those that are left go on:
    ``Device.recover`` makes it a device of theirs (``Device.despite_losses`` does so by itself)."""


class UnsupportedError(Error, RuntimeError):
    """What this build or host cannot do."""

    category = "Unsupported"


class InternalError(Error, RuntimeError):
    """A defect of the library."""

    category = "Internal"


class MpiMismatchWarning(RuntimeWarning):
    """mpi4py has brought another MPI than the one that gdr was built with."""
