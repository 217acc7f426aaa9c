"""Progress bars of long calls."""

from __future__ import annotations

import importlib
import os
import sys
import time
import warnings
from typing import Any, Optional

#: Sums of a device that take less show no bar.
FIRST_SECONDS = 2.0
#: Pairs of 3e5 particles, from which a tree is worth a thought for every law that it takes.
_PAIRS_OF_TREES = 9e10

_quiet = os.environ.get("GDR_QUIET", "0") not in ("", "0")


def quiet(on: bool = True) -> bool:
    """Show no progress bars (False: show them again). Returns what was chosen before. The
    environment variable GDR_QUIET=1 does the same for a whole program.

    Examples:
        >>> before = gdr.quiet()
        >>> gdr.quiet(before)
        True
    """
    global _quiet
    before, _quiet = _quiet, bool(on)
    return before


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _on_terminal() -> bool:
    return (
        hasattr(sys.stderr, "isatty")
        and sys.stderr.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") != "dumb"
    )


class _TextBar:
    """The bar on a terminal where tqdm is not installed."""

    def __init__(self, description: str, start: float) -> None:
        self.n = 0.0
        self._description, self._start, self._last = description, start, 0.0

    def update(self, share: float) -> None:
        self.n += share
        now = time.monotonic()
        if now - self._last < 0.2 or self.n <= 0:
            return
        self._last = now
        elapsed = now - self._start
        left = elapsed / self.n - elapsed
        line = f"{self._description}: {self.n:4.0%} [{elapsed:.0f} s, {left:.0f} s left]"
        sys.stderr.write(f"\r{line}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class Bar:
    """A bar on a terminal or in a notebook, of tqdm if that is installed, else a line of text on a
    terminal; removed at the end. It appears after some seconds."""

    def __init__(self, description: str, seconds: float) -> None:
        self._description = description
        self._start = time.monotonic()
        self._first = self._start + seconds
        self._bar: Any = None
        self._wanted = not _quiet and (_in_notebook() or _on_terminal())

    def __call__(self, share: float) -> None:
        """Show that this share is done."""
        if not self._wanted or share <= 0 or time.monotonic() < self._first:
            return
        if self._bar is None:
            self._bar = self._opened()
        if self._bar is not None:
            # A sum that is repeated begins anew.
            self._bar.update(max(0.0, share - self._bar.n))

    def _opened(self) -> Optional[Any]:
        shape = "{desc}: {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]"
        with warnings.catch_warnings():
            # A notebook without widgets shows a text bar, and tqdm warns about it.
            warnings.simplefilter("ignore")
            try:
                bars: Any = importlib.import_module("tqdm.auto")
            except ImportError:
                if _on_terminal():
                    return _TextBar(self._description, self._start)
                self._wanted = False
                return None
            return bars.tqdm(total=1.0, desc=self._description, bar_format=shape, leave=False)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def run_bar(pairs: float) -> Bar:
    """The bar of a sum over so many pairs that a device has begun."""
    text = f"{pairs:.1e} pairs"
    if pairs >= _PAIRS_OF_TREES:
        text += " (a tree may take less: accuracy=1e-3, kernel.tree)"
    return Bar(text, FIRST_SECONDS)
