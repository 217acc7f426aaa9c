"""Jobs that functions on arrays use again, because making one takes longer than a small call."""

from __future__ import annotations

from typing import List, Tuple

from ._interface import CompiledKernel
from ._job import Job
from ._ranks import RankGroup

#: Jobs that are kept, and the items up to which one is: its data stay in memory.
_MAX_JOBS, _MAX_ITEMS = 16, 16384


class JobPool:
    """Idle jobs of a device, by kernel. Threads may share it: operations on a list are atomic."""

    def __init__(self, ranks: RankGroup) -> None:
        self._ranks = ranks
        self._idle: List[Tuple[CompiledKernel, Job]] = []

    def take(self, kernel: CompiledKernel) -> Job:
        """A job of this kernel for one call, whose data are arbitrary."""
        for entry in tuple(self._idle):
            if entry[0] is kernel:
                try:
                    self._idle.remove(entry)
                except ValueError:  # another thread took it
                    continue
                return entry[1]
        return Job(self._ranks, kernel)

    def give(self, job: Job) -> None:
        """Keep a job after a call without an error, if it is small."""
        if self._ranks.collective or job.target_count + job.source_count > _MAX_ITEMS:
            return
        self._idle.append((job.kernel, job))
        if len(self._idle) > _MAX_JOBS:
            try:
                self._idle.pop(0)
            except IndexError:  # other threads took all
                pass
