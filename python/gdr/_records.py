"""Records of a device: statistics, timeline events, board tests and rank reports."""

from __future__ import annotations

import dataclasses
from typing import Tuple

from ._display import html_table


@dataclasses.dataclass(frozen=True)
class Statistics:
    """Counts and times of a device since it was opened or reset.

    Clocks, bytes and predicted seconds depend only on the program and the amounts of data: they are
    equal for all engines and numbers of threads.

    Examples:
        >>> device = gdr.open("exact")
        >>> acc, pot = gdr.gravity(pos, mass, eps=0.1, device=device)
        >>> found = device.statistics
        >>> found.runs, found.interactions, found.compute_clocks, found.bytes_to_board
        (1, 3600, 275, 10440)
        >>> round(found.predicted_gflops, 1), found.host_gflops > 0
        (19.4, True)
    """

    runs: int  #: started loops
    interactions: int  #: computed pairs: targets times sources
    flops: float  #: interactions times the kernel's operations per interaction
    compute_clocks: int  #: clocks of the PEs; chips run in parallel
    chip_clocks: int  #: clocks of the PEs and ports
    bytes_to_board: int
    bytes_from_board: int
    predicted_seconds: float  #: predicted time on the real board, including transfers
    host_seconds: float  #: measured wall time in the emulator
    engine: str
    isa: str
    threads: int
    fast_runs: int  #: section runs on a block in host arithmetic
    fallback_runs: int  #: section runs on a block in the fallback arithmetic
    gpu_runs: int  #: of fast_runs, those whose loop ran on a GPU
    fallback_reason: str  #: why the loaded kernel needs the fallback: instruction, line, reason
    compile_seconds: float  #: time of JIT compilation
    failed_boards: int  #: boards removed after a failure since the device was opened
    checks: int  #: background tests of all boards (option health_check)
    #: Failed ranks, by their numbers when the device was opened.
    failed_ranks: Tuple[int, ...]
    # Measured times of runs; their sum exceeds host_seconds by the overlap.
    conversion_seconds: float  #: conversion of job arrays on the host, including between runs
    transfer_seconds: float  #: copies by the host to and from the boards' memory
    board_seconds: float  #: execution of command lists, summed over boards
    overlap_seconds: float  #: time saved by overlapping the phases of runs

    def _repr_html_(self) -> str:
        rows = [(f.name, getattr(self, f.name)) for f in dataclasses.fields(self)]
        rows += [("predicted_gflops", f"{self.predicted_gflops:.6g}")]
        return html_table("Statistics", rows)

    @property
    def predicted_gflops(self) -> float:
        """Predicted Gflops of the real board; 0 before the first run."""
        return self.flops / self.predicted_seconds * 1e-9 if self.predicted_seconds > 0 else 0.0

    @property
    def host_gflops(self) -> float:
        """Measured Gflops of the emulation; 0 before the first run."""
        return self.flops / self.host_seconds * 1e-9 if self.host_seconds > 0 else 0.0


@dataclasses.dataclass(frozen=True)
class TimelineEvent:
    """A busy interval, in seconds.

    Two clocks run independently, because an emulated chip needs more or less time than a real one.
    Events that are not ``measured`` are on the modelled clock of the real board, whose command
    lists follow each other at once: ``part`` is "link write", "link read", "chip N", or "board" (a
    board of another process, one event for each list). ``measured`` events are on the clock of
    this host, from the start of the timeline: "board" (a command list), "host" (work of the
    library, such as "convert sources").

    Examples:
        >>> device = gdr.open("exact")
        >>> device.record_timeline()
        >>> acc, pot = gdr.gravity(pos, mass, eps=0.1, device=device)
        >>> sorted({event.part for event in device.timeline() if not event.measured})
        ['chip 0', 'chip 1', 'chip 2', 'chip 3', 'link read', 'link write']
    """

    board: int
    part: str
    what: str
    begin: float
    end: float
    measured: bool = False
    rank: int = 0


@dataclasses.dataclass(frozen=True)
class RankReport:
    """Work of one rank of a device "mpi" since the device was opened.

    Examples:
        >>> report = gdr.RankReport(0, "node1", 1, 2, 3600, 5120, 2048, 0, 4096, 0.5, 0.1, 8192, 0.01, 0.0)
        >>> report.host, report.pairs, f"{report.waiting_seconds / report.seconds:.0%} of the time waiting"
        ('node1', 3600, '20% of the time waiting')
    """

    rank: int
    host: str  #: host name
    boards: int  #: emulated boards in its process
    threads: int
    pairs: int  #: interactions computed by its boards
    bytes_to_board: int  #: bytes over its boards' links
    bytes_from_board: int
    bytes_received: int  #: bytes from other ranks during runs
    sources_bytes: int  #: memory of sources in its last run
    seconds: float  #: wall time of runs
    waiting_seconds: float  #: part of ``seconds`` spent waiting for other ranks
    memory_bytes: int  #: memory for communication with other ranks in its last run
    sources_seconds: float  #: duration of source transfers
    sources_waiting: float  #: part of ``sources_seconds`` during which boards were idle


@dataclasses.dataclass(frozen=True)
class StreamStatistics:
    """A TCP stream to a board of another host, since the board was opened.

    Examples:
        >>> gdr.open("exact").streams()
        []
    """

    board: str  #: name of the board
    stream: int  #: number of the stream, from 0
    bytes_sent: int  #: to the board, with headers and repetitions
    bytes_received: int  #: from the board
    connections: int  #: connections: more than one if some broke
    repeated_frames: int  #: frames sent again after a connection broke
    retransmitted_packets: int  #: by TCP, on the current connection
    round_trip_seconds: float  #: measured by TCP; 0: not connected
    delivery_rate: float  #: measured by TCP, bits per second; 0: unknown
    pacing_rate: float  #: limit of the rate, bits per second; 0: none


@dataclasses.dataclass(frozen=True)
class BoardTest:
    """Result of the test of one board.

    Examples:
        >>> [(test.passed, test.failure) for test in gdr.open("exact:boards=2").test()]
        [(True, ''), (True, '')]
    """

    board: str  #: name of the board
    failure: str  #: description of the failure; empty if the board passed
    seconds: float  #: duration of the test

    @property
    def passed(self) -> bool:
        """Whether the board passed."""
        return not self.failure
