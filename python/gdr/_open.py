"""Devices by name, with jobs of kernels; the default device."""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import _core, _mpi
from ._arrays import check_text, check_type
from ._device import OpenDevice
from ._interface import CompiledKernel
from ._job import Job
from ._job_pool import JobPool
from ._search import prepared
from ._set_job import SetJob


class Device(OpenDevice):
    """An open device, from ``gdr.open``. Use it as a context manager, or call ``close``.

        device = gdr.open("native", threads=1)
        job = device.job(gdr.builtin("gravity"))
        device.close()

    Several devices may be open. Threads may share a device: their calls run one after another.
    Started jobs of different queues overlap (``queues=2``).
    While a board works other Python threads run, and Ctrl-C cancels the work within about a second
    (longer in the reference engine).
    """

    def __init__(self, name: str, communicator: Optional[int] = None) -> None:
        # Opening a board may wait for another process to release it, and Ctrl-C must cancel that
        # wait: it happens in another thread. MPI requires this one.
        interruptible = _kind(name) in ("board", "auto")
        super().__init__(_core.Device(name, communicator, interruptible))
        self._pool = JobPool(self._ranks)

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def target_slots(self, kernel: CompiledKernel) -> int:
        """Number of targets that all boards hold at once, with targets spread over the blocks.

        Examples:
            >>> gdr.open("exact:boards=1,chips=1").target_slots(gdr.builtin("gravity"))
            2048
        """
        check_type("kernel", kernel, CompiledKernel, "a gdr.Kernel")
        return self._core.target_slots(prepared(self._core, kernel.core))

    def job(self, kernel: CompiledKernel) -> Job:
        """A job: a kernel on this device with its parameters, sources and targets.

        Examples:
            >>> gdr.default_device().job(gdr.builtin("gravity"))
            <gdr.Job of kernel gravity: 0 targets, 0 sources>
        """
        return Job(self._ranks, kernel)

    def set_job(self, kernel: CompiledKernel) -> SetJob:
        """A job on many independent sets of targets and sources, computed in one call. Raises
        UnsupportedError for a kernel with outputs, which have one value for each source.

        Examples:
            >>> gdr.default_device().set_job(gdr.builtin("gravity")).run_sets([])
            []
        """
        return SetJob(self._ranks, kernel)


def open(name: str = "", *, comm: Any = None, **options: Union[str, int, float]) -> Device:
    """Open a device by name.

        with gdr.open("exact") as device:
            acc, pot = gdr.gravity(pos, mass, eps=0.01, device=device)

    ``gdr.open()`` opens the device named by the environment variable GDR_DEVICE, else an emulator
    with the engine "native": doubles, at the speed of this CPU. ``gdr.open("exact")`` computes the
    words and bits of the emulated machine; "native" and other engines are names of devices, too.
    ``gdr.open("emulator", engine="native", boards=2)`` is ``gdr.open("emulator:engine=native,
    boards=2")``: engine ("native", "exact" or "vector", "reference", "native-mixed", "native-float",
    "native-fast", "gpu", "gpu-float", "gpu-exact"), isa, boards, queues (jobs of different queues overlap;
    emulated boards only), threads, partition ("auto", "targets", "sources"), health_check (seconds between tests of all
    boards in the background), and the geometry: chips, blocks, pes, registers, local, bm,
    instructions, dram, clock. Boards of another process ("board:0", "board:unix:/path/to/socket", "auto" for the first
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
#: Whether default_device opened the default device, and not the user.
_opened_here = False
#: Devices of the process that was forked: closing them would wait for threads of that process.
_of_parents: List[Device] = []


def _after_fork() -> None:
    """In a forked child: the next use opens a default device again, unless the user set one. The
    lock may have been held by a thread that the child does not have."""
    global _default, _default_lock
    _default_lock = threading.Lock()
    if _default is not None and _opened_here:
        _of_parents.append(_default)
        _default = None


os.register_at_fork(after_in_child=_after_fork)
_by_name: Dict[Tuple[int, str], Device] = {}  # by process, as a child cannot use its parent's

#: What an argument ``device=`` takes: an open device, or a name for ``gdr.open``.
DeviceLike = Union[Device, str]


def default_device() -> Device:
    """The device of functions without ``device=``: ``gdr.open()``, opened on first use, and again
    in a forked child, as processes of ``multiprocessing`` are.

    Examples:
        >>> gdr.default_device() is gdr.default_device()
        True
    """
    global _default, _opened_here
    with _default_lock:
        if _default is None or _default.closed:
            _default = open()
            _opened_here = True
        return _default


def set_default_device(device: Optional[Device]) -> None:
    """Use this device as the default; None: open a new one on the next use.

    Examples:
        >>> gdr.set_default_device(gdr.open("exact"))
        >>> gdr.default_device().statistics.engine
        'vector'
        >>> gdr.set_default_device(None)
    """
    global _default, _opened_here
    check_type("device", device, (Device, type(None)), "a gdr.Device")
    with _default_lock:
        _default, _opened_here = device, False


def device_or_default(device: Optional[DeviceLike]) -> Device:
    """The device of an argument ``device=``: an open one, or the one of a name of ``gdr.open``, as
    "native" or "exact", which is opened on first use and stays open; the default one for None."""
    if device is None:
        return default_device()
    if isinstance(device, str):
        with _default_lock:
            key = (os.getpid(), device)
            if key not in _by_name or _by_name[key].closed:
                _by_name[key] = open(device)
            return _by_name[key]
    check_type("device", device, Device, "a gdr.Device or a name, as 'exact'")
    return device
