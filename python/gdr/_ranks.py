"""The ranks that share a device "mpi": collective argument checks and reductions."""

from __future__ import annotations

import contextlib
import zlib
from typing import ContextManager, Iterator, Optional, TypeVar

import numpy as np

from . import _core
from ._arrays import Floats
from .errors import Error

Raised = TypeVar("Raised", bound=BaseException)

_ALONE: ContextManager[None] = contextlib.nullcontext()


class RankGroup:
    """The ranks of one open device; one rank for every device but "mpi"."""

    def __init__(self, core: _core.Device) -> None:
        self.core = core
        self._collective = core.ranks > 1

    @property
    def collective(self) -> bool:
        """Whether several ranks make the same calls."""
        return self._collective

    def argument_checks(self) -> ContextManager[None]:
        """Context of the argument checks of a collective call: an error on one rank is raised on
        all ranks, which would otherwise wait for that rank."""
        return self._agreement() if self._collective else _ALONE

    @contextlib.contextmanager
    def _agreement(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            with contextlib.suppress(Error):  # this rank raises the original error
                self.core.agree(str(error) or type(error).__name__, _category(error))
            mark_collective(error)
            raise
        self.core.agree(None, "")

    def gather(self, value: float) -> Floats:
        """The values of all ranks, in rank order; collective."""
        return np.frombuffer(self.core.gather_bytes(np.float64(value).tobytes()))

    def check_equal(self, what: str, text: str) -> None:
        """Raise TypeError on all ranks if a property of an argument differs between them;
        collective on a device of several ranks."""
        if self._collective and len(set(self.gather(zlib.crc32(text.encode())))) > 1:
            raise mark_collective(TypeError(f"{what}: differ between ranks: {text or 'none'} here"))

    def offset(self, n: int) -> int:
        """Sum of ``n`` over the ranks before this one; collective."""
        return int(self.gather(n)[: self.core.rank].sum()) if self._collective else 0

    def total(self, value: float) -> float:
        """The sum over all ranks; collective."""
        return float(self.gather(value).sum()) if self._collective else value

    def minimum(self, value: float) -> float:
        """The minimum over all ranks; collective."""
        return float(self.gather(value).min()) if self._collective else value


def _category(error: BaseException) -> str:
    """The category of an error on the other ranks; interruptions are no fault of the arguments."""
    if isinstance(error, TypeError):
        return "usage"
    return "input" if isinstance(error, Exception) else "device"


def mark_collective(error: Raised, source: Optional[BaseException] = None) -> Raised:
    """Mark an error that all ranks raise, so that ``Device.retry_on_rank_failure`` does not take it
    for a failure of this rank alone. With ``source``: only if that error is marked."""
    if source is None or getattr(source, "_collective", False):
        setattr(error, "_collective", True)
    return error
