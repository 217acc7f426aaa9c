"""What a device tells about itself: counts, events, tests, and the reports of its ranks."""

from __future__ import annotations

import dataclasses
from typing import Tuple


@dataclasses.dataclass(frozen=True)
class Statistics:
    """What a device did since it was opened or reset.

    Clocks, bytes and predicted seconds depend on the program and the volumes alone: they are the
    same in every engine and for every number of threads.
    """

    runs: int  #: loops started
    interactions: int  #: pairs asked for: targets times sources
    flops: float  #: interactions times the kernel's count
    compute_clocks: int  #: clocks of the PEs (chips work side by side)
    chip_clocks: int  #: with the ports
    bytes_to_board: int
    bytes_from_board: int
    predicted_seconds: float  #: on the real board, transfers included
    host_seconds: float  #: measured: wall time inside the emulator
    engine: str
    isa: str
    threads: int
    fast_runs: int  #: sections run on a block in host numbers
    fallback_runs: int  #: the slow way instead
    fallback_reason: str  #: why the kernel now loaded took the slow way: instruction, line, what
    compile_seconds: float  #: spent making machine code
    lost_boards: int  #: that failed and were taken out since the device was opened
    checks: int  #: tests of all boards in the background (option check)
    #: Ranks that ended while others went on, by the numbers they had when the device was opened.
    lost_ranks: Tuple[int, ...]
    # Measured, of runs: together they are more than host_seconds where they overlapped.
    conversion_seconds: float  #: the host converting arrays of jobs, also between runs
    transfer_seconds: float  #: the host copying to and from memory that boards reach
    board_seconds: float  #: boards at work on command lists, all boards together
    overlap_seconds: float  #: that the parts of runs took less together than in turns

    @property
    def predicted_gflops(self) -> float:
        """Gflops on the real board (0 before any run)."""
        return self.flops / self.predicted_seconds * 1e-9 if self.predicted_seconds > 0 else 0.0

    @property
    def host_gflops(self) -> float:
        """Gflops of this emulation (0 before any run)."""
        return self.flops / self.host_seconds * 1e-9 if self.host_seconds > 0 else 0.0


@dataclasses.dataclass(frozen=True)
class TimelineEvent:
    """Something that was busy, in seconds on the real board since the record began.

    ``part`` is "link write", "link read", "chip N", or "host": the time measured here between the
    end of one command list and the beginning of the next. Of a board elsewhere it is "board": the
    driver knows when a list began and what it takes by the model, one event for each.
    """

    board: int
    part: str
    what: str
    begin: float
    end: float


@dataclasses.dataclass(frozen=True)
class RankReport:
    """What one rank of a device "mpi" did since the device was opened."""

    rank: int
    host: str  #: name of its machine
    boards: int  #: emulated in its process
    threads: int
    pairs: int  #: targets times sources that its boards worked on
    bytes_to_board: int  #: over its boards' links
    bytes_from_board: int
    bytes_received: int  #: from other ranks, for runs
    sources_bytes: int  #: of sources that it held for its last run
    seconds: float  #: wall time in runs
    waiting_seconds: float  #: of these, for other ranks: what no computing hid
    memory_bytes: int  #: of everything that it held of others and for others in its last run
    sources_seconds: float  #: from the beginning of transfers of sources to their end
    sources_waiting: float  #: of these, boards stood still for them


@dataclasses.dataclass(frozen=True)
class BoardTest:
    """What a test of one board found."""

    board: str  #: which one
    failure: str  #: what went wrong; empty: nothing
    seconds: float  #: that the test took

    @property
    def passed(self) -> bool:
        """Whether nothing went wrong."""
        return not self.failure
