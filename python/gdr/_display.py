"""Display of objects in notebooks, as HTML tables."""

from __future__ import annotations

import html
from typing import Any, Iterable, Sequence

import numpy as np


def html_table(title: str, rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """A table of texts with a title; numbers and texts are escaped."""

    def row(cells: Sequence[Any], tag: str) -> str:
        texts = (html.escape(str(cell)) for cell in cells)
        return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    top = f"<thead>{row(head, 'th')}</thead>" if head else ""
    return f"<div><b>{html.escape(title)}</b><table>{top}<tbody>{body}</tbody></table></div>"


def array_row(name: str, array: Any) -> Sequence[str]:
    """Name, shape, type and range of an array."""
    values = np.asarray(array)
    unit = getattr(array, "unit", "")
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    spread = (
        f"{finite.min():.6g} to {finite.max():.6g} {unit}" if finite.size else "no finite value"
    )
    return name, " x ".join(map(str, values.shape)), str(values.dtype), spread.strip()


#: Columns of ``array_row``.
ARRAY_HEAD = ("name", "shape", "type", "range")


def counted(n: int, what: str) -> str:
    """A number with its noun: "1 star", "2 stars"."""
    return f"{n} {what}" + ("" if n == 1 else "s")


def tuple_table(arrays: Any) -> str:
    """A table of the arrays of a named tuple."""
    rows = (array_row(*item) for item in zip(arrays._fields, arrays))
    return html_table(type(arrays).__name__, rows, ARRAY_HEAD)


def seconds_text(seconds: float) -> str:
    """A time in the unit that suits it: "1.6 min"."""
    units = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
    size, name = next((u for u in units if seconds >= u[0]), units[-1])
    value = seconds / size
    return f"{value:.0f} {name}" if value >= 10 else f"{value:.2g} {name}"
