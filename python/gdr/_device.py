"""Open devices: description, statistics, tests, ranks and timeline."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Hashable, List, TypeVar, Union

from . import _core
from ._arrays import integer
from ._display import html_table
from ._ranks import RankGroup
from ._records import BoardTest, RankReport, Statistics, StreamStatistics, TimelineEvent

T = TypeVar("T")


class OpenDevice:
    """Operations of a device that concern no kernel; ``gdr.Device`` adds jobs."""

    def __init__(self, core: _core.Device) -> None:
        self._core = core
        self._ranks = RankGroup(core)
        self._objects: Dict[Hashable, Any] = {}

    def close(self) -> None:
        """Close the device and cancel runs of its jobs. Closing it twice has no effect.

        Examples:
            >>> device = gdr.open("exact")
            >>> device.close()
            >>> device.closed
            True
        """
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

    def _repr_html_(self) -> str:
        if self.closed:
            return html_table("gdr.Device, closed", [])
        s = self.statistics
        rows = [
            ("interactions", f"{s.interactions:,}"),
            ("bytes to and from the boards", f"{s.bytes_to_board:,}; {s.bytes_from_board:,}"),
            ("predicted on the real board", f"{s.predicted_seconds:.4g} s"),
            ("", f"{s.predicted_gflops:.4g} Gflops"),
            ("measured on this host", f"{s.host_seconds:.4g} s"),
        ]
        return html_table(self.description, rows)

    @property
    def statistics(self) -> Statistics:
        """Counts and times since the device was opened or ``reset_statistics``."""
        return Statistics(**self._core.statistics())

    def reset_statistics(self) -> None:
        """Set all counts and times to zero.

        Examples:
            >>> device = gdr.open()
            >>> acc, pot = gdr.gravity(pos, mass, eps=0.1, device=device)
            >>> device.reset_statistics()
            >>> device.statistics.runs
            0
        """
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
        "mpi".

        Examples:
            >>> gdr.open().rank_reports()
            []
        """
        return [RankReport(*report) for report in self._core.rank_reports()]

    def interrupt(self) -> None:
        """Cancel the work in progress on this device, started by any thread: its call raises
        DeviceError some milliseconds later (a tenth of a second in the slower engines). Queued work
        and the device's data are not affected.

        Examples:
            >>> import threading
            >>> device = gdr.open()
            >>> threading.Timer(10.0, device.interrupt).cancel()  # start() would end a call after ten seconds
            >>> device.interrupt()  # without work in progress it has no effect
            >>> acc, pot = gdr.gravity(pos, mass, eps=0.1, device=device)
        """
        self._core.interrupt()

    def test(self, rounds: int = 1) -> List[BoardTest]:
        """Test every board: memories, arithmetic, reduction network and a matrix product,
        ``rounds`` times with different numbers.

        A board that fails is removed, and the remaining boards take over its work; raises
        DeviceError if no board remains. The option ``health_check=SECONDS`` of ``gdr.open`` runs
        these tests in the background.

        Examples:
            >>> [test.passed for test in gdr.open("exact:boards=2").test(rounds=2)]
            [True, True]
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

        Examples:
            >>> gdr.open().shrink()
            Traceback (most recent call last):
                ...
            gdr.errors.UnsupportedError: this device has one process; only devices of kind mpi can lose ranks
        """
        return self._core.shrink()

    def retry_on_rank_failure(self, work: Callable[[], T]) -> T:
        """Call ``work()``, and after a rank failure ``shrink()`` and ``work()`` again, until an
        attempt succeeds on all remaining ranks; return its result. Collective.

        ``work`` must read ``rank`` and ``ranks`` in every attempt and must not change the inputs of
        the next attempt. If the MPI does not support rank failures, it is called once.

        Examples:
            >>> device = gdr.open()
            >>> device.retry_on_rank_failure(lambda: gdr.gravity(pos, mass, eps=0.1, device=device)).acc.shape
            (60, 3)
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

    def streams(self) -> List[StreamStatistics]:
        """The TCP streams to boards of other hosts, by board; none for other boards.

        Examples:
            >>> gdr.open("exact").streams()
            []
        """
        return [StreamStatistics(*stream) for stream in self._core.streams()]

    def timeline(self) -> List[TimelineEvent]:
        """The events recorded so far, modelled and measured ones, in their order by board.

        Examples:
            >>> device = gdr.open("exact:boards=1,chips=1")
            >>> device.record_timeline()
            >>> acc, pot = gdr.gravity(pos, mass, eps=0.1, device=device)
            >>> next(event.what for event in device.timeline() if event.part == "chip 0")
            'write param'
        """
        return [TimelineEvent(*event) for event in self._core.timeline()]

    def write_trace(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the events recorded so far to a file that https://ui.perfetto.dev opens.

        Modelled and measured times are separate groups of tracks. Raises OSError if the file
        cannot be written.

        Examples:
            >>> device = gdr.open("exact")
            >>> device.record_timeline()
            >>> acc, pot = gdr.gravity(pos, mass, eps=0.1, device=device)
            >>> device.write_trace("trace.json")
            >>> pathlib.Path("trace.json").read_text()[:15]
            '{"displayTimeUn'
        """
        self._core.write_trace(os.fspath(path))

    def _cached(self, make: Callable[..., T], *options: Hashable) -> T:
        """The object ``make(core, *options)`` of this device, created on first use."""
        key = (make, options)
        if key not in self._objects:
            self._objects[key] = make(self._core, *options)
        made: T = self._objects[key]
        return made
