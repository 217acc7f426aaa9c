"""The ranks that share a device "mpi": collective argument checks and reductions."""

from __future__ import annotations

import contextlib
from typing import ContextManager, Iterator, Optional, TypeVar

from . import _core
from .errors import Error

Raised = TypeVar("Raised", bound=BaseException)

_NO_AGREEMENT: ContextManager[None] = contextlib.nullcontext()


class RankGroup:
    """The ranks of one open device; one rank for every device but "mpi"."""

    def __init__(self, core: _core.Device) -> None:
        self.core = core
        self._collective = core.ranks > 1

    def argument_checks(self) -> ContextManager[None]:
        """Context of the argument checks of a collective call: an error on one rank is raised on
        all ranks, which would otherwise wait for that rank."""
        return self._agreement() if self._collective else _NO_AGREEMENT

    @contextlib.contextmanager
    def _agreement(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            with contextlib.suppress(Error):  # this rank raises the original error
                self.core.agree(str(error), isinstance(error, TypeError))
            raise mark_collective(error)
        self.core.agree(None, False)

    def offset(self, n: int) -> int:
        """Sum of ``n`` over the ranks before this one; collective."""
        if not self._collective:
            return 0
        return int(sum(self.core.gather(float(n))[: self.core.rank]))

    def minimum(self, value: float) -> float:
        """The minimum over all ranks; collective."""
        return min(self.core.gather(value)) if self._collective else value


def mark_collective(error: Raised, source: Optional[BaseException] = None) -> Raised:
    """Mark an error that all ranks raise, so that ``Device.retry_on_rank_failure`` does not take it for a
    failure of this rank alone. With ``source``: only if that error is marked."""
    if source is None or getattr(source, "_collective", False):
        setattr(error, "_collective", True)
    return error
