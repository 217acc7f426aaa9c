"""The search of the kernel compiler, when something needs it, with a progress bar."""

from __future__ import annotations

import importlib
import os
import sys
import time
import warnings
from typing import Any

from . import _core

#: Shorter searches show no bar.
_FIRST_SECONDS = 1.0


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class _Bar:
    """A tqdm bar on a terminal or in a notebook, if tqdm is installed; removed at the end."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bar: Any = None
        self._wanted = _in_notebook() or (
            hasattr(sys.stderr, "isatty")
            and sys.stderr.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def __call__(self, share: float) -> None:
        """Show this share of the search."""
        if not self._wanted or time.monotonic() - self._start < _FIRST_SECONDS:
            return
        if self._bar is None:
            self._open()
        if self._bar is not None:
            self._bar.update(share - self._bar.n)

    def _open(self) -> None:
        shape = "{desc}: {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]"
        with warnings.catch_warnings():
            # A notebook without widgets shows a text bar, and tqdm warns about it.
            warnings.simplefilter("ignore")
            try:
                bars: Any = importlib.import_module("tqdm.auto")
            except ImportError:
                self._wanted = False
                return
            self._bar = bars.tqdm(total=1.0, desc="compiling", bar_format=shape, leave=False)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def scheduled(kernel: _core.Kernel) -> _core.Kernel:
    """The kernel after the search; Ctrl-C cancels it. Other threads run meanwhile."""
    bar = _Bar()
    try:
        return kernel.scheduled(bar)
    finally:
        bar.close()


def prepared(device: _core.Device, kernel: _core.Kernel) -> _core.Kernel:
    """The kernel as jobs of this device run it: after the search if the engine needs it."""
    bar = _Bar()
    try:
        return device.prepare(kernel, bar)
    finally:
        bar.close()
