"""The exceptions of the package: one class for each category of the library's errors.

Every class also derives from a built-in exception: ``except ValueError`` catches an InputError, and
also a NaN in an array, or another argument of the right type that a function refuses.
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

    Examples:
        >>> try:
        ...     gdr.load("missing.gdk")
        ... except gdr.Error as error:
        ...     print(error.category, "|", error)
        Io | cannot read the kernel file 'missing.gdk'
    """

    category: ClassVar[str] = "Internal"


class UsageError(Error, ValueError):
    """An invalid option, name or argument.

    Examples:
        >>> gdr.open("native:thread=2")
        Traceback (most recent call last):
            ...
        gdr.errors.UsageError: unknown device option "thread"; did you mean "threads"? ...
    """

    category = "Usage"


class InputError(Error, ValueError):
    """Invalid data, such as a corrupt file, that only the library can find.

    Examples:
        >>> pathlib.Path("stars.txt").write_text("1.0  0.0 0.0 zero  0.0 0.0 0.0") > 0
        True
        >>> nbody.read("stars.txt")
        Traceback (most recent call last):
            ...
        gdr.errors.InputError: stars.txt:1:14: 'zero' is not a number
    """

    category = "Input"


class StepTooShort(InputError, FloatingPointError):
    """Two stars are so close that ``nbody.hermite`` would need a step that is too short.

    Examples:
        >>> pair = nbody.Snapshot(pos=[[0, 0, 0], [1e-9, 0, 0]], vel=np.zeros((2, 3)), mass=[1, 1])
        >>> list(nbody.hermite(pair, t_end=1.0, eps=0.0))
        Traceback (most recent call last):
            ...
        gdr.errors.StepTooShort: at ... two particles are too close; ...
    """


class ProgramError(Error, ValueError):
    """A program or kernel cannot be assembled, compiled or loaded, or exceeds the chip's resources.

    The message contains every diagnostic, with its source line and a caret.

    Examples:
        >>> gdr.compile("VARI x; VARJ y; VARF f; f += x*z;")
        Traceback (most recent call last):
            ...
        gdr.errors.ProgramError: kernel:1:32: error[GDR7002]: `z` is not declared
            1 | VARI x; VARJ y; VARF f; f += x*z;
              |                                ^
           help: declare it, or assign it first
    """

    category = "Program"


class FileError(Error, OSError):
    """A file cannot be read or written.

    Examples:
        >>> gdr.load("missing.gdo")
        Traceback (most recent call last):
            ...
        gdr.errors.FileError: missing.gdo cannot be opened: No such file or directory
    """

    category = "Io"

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class DeviceError(Error, RuntimeError):
    """A device cannot be opened, failed or is closed, or its work was cancelled.

    Examples:
        >>> device = gdr.open()
        >>> device.close()
        >>> device.job(gdr.builtin("gravity"))
        Traceback (most recent call last):
            ...
        gdr.errors.DeviceError: the device has been closed
    """

    category = "Device"


class RankFailure(DeviceError):
    """Other ranks of a device "mpi" have failed, and the MPI lets the remaining ranks continue:
    ``Device.shrink`` shrinks the device to them; ``Device.retry_on_rank_failure`` does so
    automatically.

    Examples:
        >>> issubclass(gdr.RankFailure, gdr.DeviceError), gdr.RankFailure.category
        (True, 'Device')
    """


class UnsupportedError(Error, RuntimeError):
    """This build or host does not support the operation.

    Examples:
        >>> gdr.Machine("native")
        Traceback (most recent call last):
            ...
        gdr.errors.UnsupportedError: the engine "native" cannot be stepped: ...
    """

    category = "Unsupported"


class InternalError(Error, RuntimeError):
    """A defect of the library.

    Examples:
        >>> issubclass(gdr.InternalError, RuntimeError), gdr.InternalError.category
        (True, 'Internal')
    """

    category = "Internal"


class MpiMismatchWarning(RuntimeWarning):
    """mpi4py uses another MPI library than gdr.

    Examples:
        >>> import warnings
        >>> warnings.filterwarnings("error", category=gdr.MpiMismatchWarning)
    """
