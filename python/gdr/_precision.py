"""Warnings about runs in doubles on the engines among floats."""

from __future__ import annotations

import re
import sys
import warnings
import weakref
from typing import Any, Set

from . import _core
from ._interface import CompiledKernel

_FLOAT_ENGINES = frozenset(("native-float", "native-mixed", "native-fast", "gpu-float"))
_PREFIX = "doubles instead of floats"

#: The reasons that a warning has named, by kernel.
_told: weakref.WeakKeyDictionary[CompiledKernel, Set[str]] = weakref.WeakKeyDictionary()


class FloatRuns:
    """Warns once for each kernel and reason if an engine among floats computed in doubles."""

    def __init__(self, device: _core.Device, kernel: CompiledKernel) -> None:
        self._device = device
        self._kernel = kernel
        self._engine: str = device.statistics()["engine"]
        self._in_floats = self._engine in _FLOAT_ENGINES

    def check(self) -> None:
        """Call after a run."""
        if not self._in_floats:
            return
        statistics: Any = self._device.statistics()
        for part in statistics["fallback_reason"].split("; "):
            if part.startswith(_PREFIX):
                self._tell(re.sub(r"^ in \d+ runs?", "", part[len(_PREFIX) :]).lstrip(": "))

    def _tell(self, reason: str) -> None:
        told = _told.setdefault(self._kernel, set())
        if reason in told:
            return
        told.add(reason)
        text = f"kernel {self._kernel.core.name!r} was computed in doubles, not in floats as the "
        text += f"engine {self._engine!r} does: {reason}; the results are right, but slower"
        warnings.warn(text, RuntimeWarning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """The stack level of the first caller outside of this package, as seen by ``_tell``."""
    package = __name__.partition(".")[0]
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        frame = frame.f_back
        level += 1
    return level
