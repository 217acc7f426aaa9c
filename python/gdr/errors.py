"""The exceptions of the package: one class for each category of the library's errors.

Every class also derives from a built-in exception: both ``except gdr.InputError`` and
``except ValueError`` catch a NaN among positions.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "Error",
    "UsageError",
    "InputError",
    "StepTooShort",
    "ProgramError",
    "FileError",
    "DeviceError",
    "RankFailure",
    "UnsupportedError",
    "InternalError",
    "MpiMismatchWarning",
]


class Error(Exception):
    """Base class of the package's exceptions.

    ``str(error)`` says where the error occurred, what happened and what to do. ``category`` is the
    name of the category in C++ (``gdr::ErrorCategory``).
    """

    category: ClassVar[str] = "Internal"


class UsageError(Error, ValueError):
    """An invalid option, name or argument."""

    category = "Usage"


class InputError(Error, ValueError):
    """Invalid data: a NaN among positions, a corrupt file."""

    category = "Input"


class StepTooShort(InputError, FloatingPointError):
    """Two stars are so close that ``nbody.hermite`` would need a step that is too short."""


class ProgramError(Error, ValueError):
    """A program or kernel cannot be assembled, compiled or loaded, or exceeds the chip's resources.

    The message contains every diagnostic, with its source line and a caret.
    """

    category = "Program"


class FileError(Error, OSError):
    """A file cannot be read or written."""

    category = "Io"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DeviceError(Error, RuntimeError):
    """A device cannot be opened, failed or is closed, or its work was cancelled."""

    category = "Device"


class RankFailure(DeviceError):
    """Other ranks of a device "mpi" have failed, and the MPI lets the remaining ranks continue:
    ``Device.shrink`` shrinks the device to them; ``Device.retry_on_rank_failure`` does so
    automatically."""


class UnsupportedError(Error, RuntimeError):
    """This build or host does not support the operation."""

    category = "Unsupported"


class InternalError(Error, RuntimeError):
    """A defect of the library."""

    category = "Internal"


class MpiMismatchWarning(RuntimeWarning):
    """mpi4py uses another MPI library than gdr."""
