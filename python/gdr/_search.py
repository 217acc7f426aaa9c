"""The search of the kernel compiler, when something needs it, with a progress bar."""

from __future__ import annotations

from . import _core
from ._progress import Bar

#: Shorter searches show no bar.
_FIRST_SECONDS = 1.0


def scheduled(kernel: _core.Kernel) -> _core.Kernel:
    """The kernel after the search; Ctrl-C cancels it. Other threads run meanwhile."""
    bar = Bar("compiling", _FIRST_SECONDS)
    try:
        return kernel.scheduled(bar)
    finally:
        bar.close()


def prepared(device: _core.Device, kernel: _core.Kernel) -> _core.Kernel:
    """The kernel as jobs of this device run it: after the search if the engine needs it."""
    bar = Bar("compiling", _FIRST_SECONDS)
    try:
        return device.prepare(kernel, bar)
    finally:
        bar.close()
