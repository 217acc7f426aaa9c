"""Devices by name, with jobs of kernels; the default device."""

from __future__ import annotations

import os
import threading
from typing import Any, Callable, Dict, Hashable, List, Optional, TypeVar, Union

import numpy as np

from . import _core, _mpi
from ._arrays import check_text, check_type, integer
from ._job import Job, RankGroup
from ._kernel import Kernel
from ._records import BoardTest, RankReport, Statistics, TimelineEvent

T = TypeVar("T")


class Device:
    """An open device, from ``gdr.open``. Use it as a context manager, or call ``close``.

    Several devices may be open. Threads may share a device: their calls run one after another.
    While a board works other Python threads run, and Ctrl-C cancels the work within about a second
    (longer in the reference engine).
    """

    def __init__(self, name: str, communicator: Optional[int] = None) -> None:
        # Opening a board may wait for another process to release it, and Ctrl-C must cancel that
        # wait: it happens in another thread. MPI requires this one.
        interruptible = _kind(name) in ("board", "auto")
        self._core = _core.Device(name, communicator, interruptible)
        self._ranks = RankGroup(self._core)
        self._objects: Dict[Hashable, Any] = {}

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def target_slots(self, kernel: Kernel) -> int:
        """Number of targets that all boards hold at once, with targets spread over the blocks."""
        check_type("kernel", kernel, Kernel, "a gdr.Kernel")
        return self._core.target_slots(kernel.core)

    def job(self, kernel: Kernel) -> Job:
        """A job: a kernel on this device with its parameters, sources and targets."""
        return Job(self._ranks, kernel)

    def close(self) -> None:
        """Close the device and cancel runs of its jobs. Closing it twice has no effect."""
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether the device is closed."""
        return self._core.closed

    @property
    def description(self) -> str:
        """One line: "emulator: 1 board of 4 chips, vector engine, avx512"."""
        return self._core.description()

    def __repr__(self) -> str:
        return "<gdr.Device, closed>" if self.closed else f"<gdr.Device {self.description}>"

    @property
    def statistics(self) -> Statistics:
        """Counts and times since the device was opened or ``reset_statistics``."""
        return Statistics(**self._core.statistics())

    def reset_statistics(self) -> None:
        """Set all counts and times to zero."""
        self._core.reset_statistics()

    @property
    def rank(self) -> int:
        """This process's rank among those that share the device; 0 unless the device is "mpi"."""
        return self._core.rank

    @property
    def ranks(self) -> int:
        """Number of processes that share the device; 1 unless the device is "mpi"."""
        return self._core.ranks

    def rank_reports(self) -> List[RankReport]:
        """Work and memory of every rank, in rank order; collective. Empty unless the device is
        "mpi"."""
        return [RankReport(*report) for report in self._core.rank_reports()]

    def interrupt(self) -> None:
        """Cancel the work in progress on this device, started by any thread: its call raises
        DeviceError some milliseconds later (a tenth of a second in the slower engines). Queued work
        and the device's data are not affected."""
        self._core.interrupt()

    def test(self, rounds: int = 1) -> List[BoardTest]:
        """Test every board: memories, arithmetic, reduction network and a matrix product,
        ``rounds`` times with different numbers.

        A board that fails is removed, and the remaining boards take over its work; raises
        DeviceError if no board remains. The option ``health_check=SECONDS`` of ``gdr.open`` runs
        these tests in the background.
        """
        with self._ranks.argument_checks():
            count = integer("rounds", rounds, 1, 2**32 - 1)
        return [BoardTest(*test) for test in self._core.test(count)]

    def shrink(self) -> List[int]:
        """After RankFailure: shrink the device to the remaining ranks, and return the failed ranks
        by their numbers when the device was opened.

        Collective among the remaining ranks, which are renumbered in their order. Jobs keep this
        rank's sources and targets; distributed matrices must be created again. Raises
        UnsupportedError if the MPI does not support it (docs/guides/mpi.md), and DeviceError if no
        rank has failed.
        """
        return self._core.shrink()

    def retry_on_rank_failure(self, work: Callable[[], T]) -> T:
        """Call ``work()``, and after a rank failure ``shrink()`` and ``work()`` again, until an
        attempt succeeds on all remaining ranks; return its result. Collective.

        ``work`` must read ``rank`` and ``ranks`` in every attempt and must not change the inputs of
        the next attempt. If the MPI does not support rank failures, it is called once.
        """
        if not callable(work):
            raise TypeError(f"work: expected a function, got {type(work).__name__}")
        results: List[T] = []

        def attempt() -> None:
            results[:] = [work()]

        self._core.retry_on_rank_failure(attempt)
        return results[0]

    def record_timeline(self, on: bool = True) -> None:
        """Start a new timeline; with False discard it and stop recording."""
        self._core.record_timeline(on)

    def timeline(self) -> List[TimelineEvent]:
        """The events recorded so far, in the order of the command lists."""
        return [TimelineEvent(*event) for event in self._core.timeline()]

    def _cached(self, make: Callable[..., T], *options: Hashable) -> T:
        """The object ``make(core, *options)`` of this device, created on first use."""
        key = (make, options)
        if key not in self._objects:
            self._objects[key] = make(self._core, *options)
        made: T = self._objects[key]
        return made


def open(name: str = "", *, comm: Any = None, **options: Union[str, int, float]) -> Device:
    """Open a device by name.

    ``gdr.open()`` opens the device named by the environment variable GDR_DEVICE, else the emulator.
    ``gdr.open("emulator", engine="native", boards=2)`` is ``gdr.open("emulator:engine=native,
    boards=2")``: engine ("reference", "vector", "native", "native-float"), isa, boards, threads,
    partition ("auto", "targets", "sources"), health_check (seconds between tests of all boards in
    the background), and the geometry: chips, blocks, pes, registers, local, bm, instructions, dram,
    clock. Boards of another process ("board:0", "board:unix:/path/to/socket", "auto" for the first
    device that works) also take queue_timeout (seconds to wait for a board that is in use), timeout
    (seconds without a heartbeat) and self_test (False: no test when it is opened);
    docs/reference/device-options.md lists all options.

    ``gdr.open("mpi", comm=MPI.COMM_WORLD)`` opens one device on all ranks of a communicator of
    mpi4py, which is duplicated; without ``comm`` on all processes. Calls on it are collective: each
    rank passes its own particles and receives their results (docs/guides/mpi.md). ``comm`` may also
    be a communicator's Fortran handle (``comm.py2f()``).

    Raises UsageError for an unknown name, option or value, with the closest known one, and
    UnsupportedError for an instruction set that this host lacks, or an MPI that is missing or
    differs from mpi4py's.
    """
    communicator = None if comm is None else _mpi.handle(comm)
    full_name = device_name(name if comm is None else name or "mpi", options)
    if comm is not None or _kind(full_name) == "mpi":
        _mpi.prepare()
    return Device(full_name, communicator)


def _kind(name: str) -> str:
    """The kind of device in a name: "emulator", "board", "mpi", ..."""
    return (name or os.environ.get("GDR_DEVICE", "")).split(":")[0]


def device_name(name: str, options: Any) -> str:
    """A device's name with its options, as the library takes it."""
    check_text("name", name)
    parts = []
    for key, value in options.items():
        if key == "self_test" and isinstance(value, bool):
            value = int(value)
        if isinstance(value, (np.integer, np.floating)):
            value = value.item()
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise TypeError(f"{key}: expected a string or a number, got {type(value).__name__}")
        if isinstance(value, str) and ("," in value or "=" in value):
            raise ValueError(f"{key}: {value!r} contains a comma or an equals sign")
        parts.append(f"{key}={value}")
    if not parts:
        return name
    name = name or "emulator"
    return name + ("," if ":" in name else ":") + ",".join(parts)


_default: Optional[Device] = None
_default_lock = threading.Lock()


def default_device() -> Device:
    """The device of functions without ``device=``: ``gdr.open()``, opened on first use."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = open()
        return _default


def set_default_device(device: Optional[Device]) -> None:
    """Use this device as the default; None: open a new one on the next use."""
    global _default
    check_type("device", device, (Device, type(None)), "a gdr.Device")
    with _default_lock:
        _default = device


def device_or_default(device: Optional[Device]) -> Device:
    """The device of an argument ``device=``, or the default device for None."""
    if device is None:
        return default_device()
    check_type("device", device, Device, "a gdr.Device")
    return device
