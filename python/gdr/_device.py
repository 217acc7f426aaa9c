"""Devices: opened by name, closed by ``with``."""

from __future__ import annotations

import contextlib
import os
import threading
from types import TracebackType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ContextManager,
    Iterator,
    List,
    Optional,
    Type,
    TypeVar,
    Union,
)

import numpy as np

from . import _core, _mpi
from ._arrays import index, text_of
from ._records import BoardTest, RankReport
from ._records import Statistics as Statistics
from ._records import TimelineEvent as TimelineEvent
from .errors import DeviceError, Error

if TYPE_CHECKING:
    from ._job import Job
    from ._kernel import Kernel

T = TypeVar("T")

_ALONE: ContextManager[None] = contextlib.nullcontext()


class Device:
    """An open device; ``gdr.open`` makes it. Use it with ``with``, or close it.

    Several may be open. Threads may share one: their work is done in turn. While a board works
    other Python threads run, and Ctrl-C stops the work within about a second (longer in the
    reference engine).
    """

    def __init__(self, name: str, communicator: Optional[int] = None) -> None:
        # A board may be waited for: Ctrl-C is heard meanwhile. MPI wants this thread.
        may_wait = _kind(name) in ("board", "auto")
        self._core = _core.Device(name, communicator, may_wait)
        self._gravity: Optional[_core.Gravity] = None
        self._name = name
        self._shared = self._core.ranks > 1

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it; what jobs still have under way is abandoned. Closing twice does nothing."""
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._core.closed

    @property
    def description(self) -> str:
        """One line: "emulator: 1 board of 4 chips, vector engine, avx512"."""
        return self._core.description()

    def __repr__(self) -> str:
        return "<gdr.Device, closed>" if self.closed else f"<gdr.Device {self.description}>"

    @property
    def statistics(self) -> Statistics:
        """What it did since it was opened or ``reset_statistics``."""
        return Statistics(**self._core.statistics())

    @property
    def rank(self) -> int:
        """This process among those that share the device: 0 but for devices "mpi"."""
        return self._core.rank

    @property
    def ranks(self) -> int:
        """How many processes share the device: 1 but for devices "mpi"."""
        return self._core.ranks

    def rank_reports(self) -> List[RankReport]:
        """What every rank did, in their order; collective. Empty but for devices "mpi"."""
        return [RankReport(*report) for report in self._core.rank_reports()]

    def reset_statistics(self) -> None:
        """Begin all counts anew."""
        self._core.reset_statistics()

    def target_slots(self, kernel: Kernel) -> int:
        """Targets that all boards hold at once when they are spread over the blocks."""
        from ._kernel import Kernel

        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel: a gdr.Kernel is wanted, not {type(kernel).__name__}")
        return self._core.target_slots(kernel.core)

    def job(self, kernel: Kernel) -> Job:
        """A job: a kernel on this device with its parameters, sources and targets."""
        from ._job import Job

        return Job(self, kernel)

    def interrupt(self) -> None:
        """Ask what is running on this device, begun by whatever thread, to stop: its call raises
        DeviceError some milliseconds later (a tenth of a second in the slower engines). Work that
        waits for its turn stays, and so does everything that the device holds."""
        self._core.interrupt()

    def test(self, rounds: int = 1) -> List[BoardTest]:
        """Test every board: memories, arithmetic, reduction network, a product of matrices;
        ``rounds`` times, with other numbers each time.

        A board that fails is taken out, and its work goes to the others; raises DeviceError when
        none is left. The option ``health_check=SECONDS`` of ``gdr.open`` does it in the background.
        """
        with self._together():
            count = index("rounds", rounds, 1, 2**32 - 1)
        return [BoardTest(*test) for test in self._core.test(count)]

    def recover(self) -> List[int]:
        """After RanksLost: make this a device of the ranks that are left, and return those that
        were lost, by the numbers they had when the device was opened.

        Collective among those that are left, which are numbered anew in their old order; jobs keep
        this rank's own sources and targets, distributed matrices must be made anew. Raises
        UnsupportedError if the MPI cannot do that (docs/guides/mpi.md), and DeviceError if none is
        lost.
        """
        return self._core.recover()

    def despite_losses(self, work: Callable[[], T]) -> T:
        """Call ``work()``, and again after ``recover()``, as often as ranks are lost meanwhile;
        what it returned the last time. Collective: all that are left return from the same try.

        ``work`` must take ``rank`` and ``ranks`` anew each time, and change nothing that the next
        try needs. Where nothing can be lost it is just called.
        """
        if not callable(work):
            raise TypeError(f"work: a function is wanted, not {type(work).__name__}")
        done: List[T] = []

        def once() -> None:
            done[:] = [work()]

        self._core.despite_losses(once)
        return done[0]

    def record_timeline(self, on: bool = True) -> None:
        """Begin a new record of what is busy when; with False forget it and write no more."""
        self._core.record_timeline(on)

    def timeline(self) -> List[TimelineEvent]:
        """What was recorded so far, in the order of the command lists."""
        return [TimelineEvent(*event) for event in self._core.timeline()]

    def _together(self) -> ContextManager[None]:
        """Around the checks of a call's arguments: what is wrong on one rank is raised on all, or
        the others would wait for it."""
        return self._on_all_ranks() if self._shared else _ALONE

    @contextlib.contextmanager
    def _on_all_ranks(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            with contextlib.suppress(Error):  # here it is raised as it is
                self._core.agree(str(error), isinstance(error, TypeError))
            raise on_all_ranks(error)
        self._core.agree(None, False)

    def _numbers_before(self, n: int) -> int:
        """Particles of the ranks before this one, of which each has some; collective."""
        if not self._shared:
            return 0
        return int(sum(self._core.gather(float(n))[: self.rank]))

    def _least(self, value: float) -> float:
        """The least of all ranks' values; collective."""
        return min(self._core.gather(value)) if self._shared else value

    def _get_gravity(self) -> _core.Gravity:
        if self._core.closed:
            raise DeviceError("the device has been closed")
        if self._gravity is None:
            self._gravity = _core.Gravity(self._core)
        return self._gravity


def open(name: str = "", *, comm: Any = None, **options: Union[str, int, float]) -> Device:
    """Open a device by name.

    ``gdr.open()`` opens what the environment variable GDR_DEVICE says, else the emulator.
    ``gdr.open("emulator", engine="native", boards=2)`` is ``gdr.open("emulator:engine=native,
    boards=2")``: engine ("reference", "vector", "native", "native-float"), isa, boards, threads,
    partition ("auto", "targets", "sources"), health_check (seconds between tests of all boards in
    the background), and the geometry: chips, blocks, pes, registers, local, bm, instructions, dram,
    clock. Boards elsewhere ("board:0", "board:unix:/path/to/socket", "auto" for the best that
    works) also know queue_timeout (seconds to wait for one that is taken), timeout (seconds without
    a heartbeat) and self_test (False: none when it is opened); docs/reference/device-options.md lists all.

    ``gdr.open("mpi", comm=MPI.COMM_WORLD)`` opens one device on all ranks of a communicator of
    mpi4py, which is duplicated; without ``comm`` on all processes. Calls on it are collective, and
    every rank gives and gets its own particles (docs/guides/mpi.md). ``comm`` may be a communicator's
    Fortran handle (``comm.py2f()``).

    Raises UsageError for an unknown name, option or value, with the nearest known one, and
    UnsupportedError for an instruction set that this host lacks, or an MPI that is not there or is
    not mpi4py's.
    """
    if comm is None:
        chosen = device_name(name, options)
        if _kind(chosen) == "mpi":
            _mpi.prepare()
        return Device(chosen)
    communicator = _mpi.handle(comm)
    chosen = device_name(name or "mpi", options)
    _mpi.prepare()
    return Device(chosen, communicator)


#: Options that are on or off.
_SWITCHES = ("self_test",)


def _kind(name: str) -> str:
    """ "emulator", "board", "mpi", ... of a device's name."""
    return (name or os.environ.get("GDR_DEVICE", "")).split(":")[0]


def device_name(name: str, options: Any) -> str:
    """A device's name with its options, as the library takes it."""
    text_of("name", name)
    parts = []
    for key, value in options.items():
        if key in _SWITCHES and isinstance(value, bool):
            value = int(value)
        if isinstance(value, (np.integer, np.floating)):
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise TypeError(f"{key}: a string or a number is wanted, not {type(value).__name__}")
        if isinstance(value, str) and ("," in value or "=" in value):
            raise ValueError(f"{key}: {value!r} holds a comma or an equals sign")
        parts.append(f"{key}={value}")
    if not parts:
        return name
    name = name or "emulator"
    return name + ("," if ":" in name else ":") + ",".join(parts)


Raised = TypeVar("Raised", bound=BaseException)


def on_all_ranks(error: Raised, instead_of: Optional[BaseException] = None) -> Raised:
    """Mark what every rank raises, each in its own words, so that ``Device.despite_losses`` knows
    that nobody is left behind. ``instead_of``: only if that was marked."""
    if instead_of is None or getattr(instead_of, "_on_all_ranks", False):
        setattr(error, "_on_all_ranks", True)
    return error


_default: Optional[Device] = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device of functions that are given none: ``gdr.open()``, opened when first asked for."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = open()
        return _default


def set_default_device(device: Optional[Device]) -> None:
    """Use this device where none is given; None: open a new one when it is needed."""
    global _default
    if device is not None and not isinstance(device, Device):
        raise TypeError(f"device: a gdr.Device is wanted, not {type(device).__name__}")
    with _default_lock:
        _default = device


def pick(device: Optional[Device]) -> Device:
    """The device that was given, or the default one."""
    if device is None:
        return default_device()
    if not isinstance(device, Device):
        raise TypeError(f"device: a gdr.Device is wanted, not {type(device).__name__}")
    return device
