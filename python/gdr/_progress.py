"""Progress bars of long calls."""

from __future__ import annotations

import importlib
import os
import sys
import time
import warnings
from typing import Any


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class Bar:
    """A tqdm bar on a terminal or in a notebook, if tqdm is installed; removed at the end. It
    appears after some seconds."""

    def __init__(self, description: str, seconds: float) -> None:
        self._description = description
        self._first = time.monotonic() + seconds
        self._bar: Any = None
        self._wanted = _in_notebook() or (
            hasattr(sys.stderr, "isatty")
            and sys.stderr.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def __call__(self, share: float) -> None:
        """Show that this share is done."""
        if not self._wanted or share <= 0 or time.monotonic() < self._first:
            return
        if self._bar is None:
            self._open()
        if self._bar is not None:
            # A sum that is repeated begins anew.
            self._bar.update(max(0.0, share - self._bar.n))

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
            self._bar = bars.tqdm(total=1.0, desc=self._description, bar_format=shape, leave=False)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
