"""Pictures with matplotlib: stars, energies, radii; the roofline and the time line of a device.

Every function draws into ``ax`` (a new figure by default) and returns it.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from .._device import Device, Statistics, TimelineEvent
from .._optional import need
from .diagnostics import History, Stars, centre_of_mass

#: One board at 500 MHz (docs/board.md has the sources): its link and its chips.
LINK_BYTES_PER_SECOND = 2.5e9
CHIP_FLOPS_PER_CLOCK = 1024  #: 512 PEs, an addition and a multiplication each, in single precision
CLOCK_HZ = 500e6
CHIPS = 4

_COLOURS = ("#1f5a8a", "#c4532d", "#3a7d44", "#7a4f9a", "#8a6d1f", "#4b4b4b")


def _axes(ax: Any, size: Tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    plt = need("matplotlib.pyplot", "a picture")
    return plt.subplots(figsize=size, layout="constrained")[1]


def _open_frame(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _plain_ticks(axis: Any) -> None:
    """1, 2, 5, 10 on a logarithmic axis, where matplotlib would name powers of ten alone."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.12g}"))
    axis.set_minor_formatter(NullFormatter())


def projection(
    stars: Stars,
    *,
    plane: str = "xy",
    extent: Optional[float] = None,
    size: Optional[float] = None,
    ax: Any = None,
) -> Any:
    """Stars in a plane about their centre of mass, coloured by type; ``extent``: half the width.

    ``size`` of a star is in points squared; by default few stars are larger than many.
    """
    axes = ["xyz".find(c) for c in plane]
    if len(plane) != 2 or -1 in axes or axes[0] == axes[1]:
        raise ValueError(f"plane: two of x, y, z are wanted, not {plane!r}")
    ax = _axes(ax, (5.2, 5.0))
    pos = stars.pos - centre_of_mass(stars)
    width = extent or 1.1 * float(np.quantile(np.abs(pos[:, axes]), 0.98))
    types = np.ones(len(pos), int) if stars.types is None else np.asarray(stars.types)
    alpha = float(np.clip(20 / np.sqrt(len(pos)), 0.2, 0.85))
    area = float(np.clip(3000 / max(1, len(pos)), 1.5, 12.0)) if size is None else size
    for k, kind in enumerate(np.unique(types)):
        some = pos[types == kind]
        x, y = some[:, axes[0]], some[:, axes[1]]
        ax.scatter(x, y, s=area, lw=0, alpha=alpha, color=_COLOURS[k % len(_COLOURS)])
    ax.set(xlim=(-width, width), ylim=(-width, width), xlabel=plane[0], ylabel=plane[1])
    ax.set_aspect("equal")
    ax.set_title(f"t = {stars.time:.3g}")
    return ax


def energy_error(history: History, *, ax: Any = None) -> Any:
    """The relative error of the energy over time."""
    ax = _axes(ax, (5.6, 3.2))
    ax.plot(history.time, history.energy_error, color=_COLOURS[0], lw=1.2)
    ax.axhline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel="time", ylabel=r"$(E - E_0)\,/\,|E_0|$", title="Energy")
    ax.ticklabel_format(axis="y", scilimits=(-2, 2))
    _open_frame(ax)
    return ax


def lagrangian_radii(history: History, *, ax: Any = None) -> Any:
    """Radii that hold fractions of the mass, over time."""
    ax = _axes(ax, (5.6, 3.2))
    radii = np.array(history.radii)
    for k, fraction in enumerate(history.fractions):
        colour = _COLOURS[k % len(_COLOURS)]
        ax.plot(history.time, radii[:, k], lw=1.2, color=colour)
        ax.annotate(
            f"{100 * fraction:g} %",
            (history.time[-1], radii[-1, k]),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
    ax.set(xlabel="time", ylabel="radius", yscale="log", title="Lagrangian radii (mass inside)")
    _plain_ticks(ax.yaxis)
    _open_frame(ax)
    return ax


def roofline(
    runs: Union[Statistics, Dict[str, Statistics]],
    *,
    chips: int = CHIPS,
    clock: float = CLOCK_HZ,
    ax: Any = None,
) -> Any:
    """What a board can do at a number of operations for each byte over its link, and runs on it.

    ``runs``: statistics of a device, or some by name. Points are predicted rates on the real board,
    over the bytes that crossed its link in the faster direction's time.
    """
    ax = _axes(ax, (5.6, 4.0))
    named = {"this run": runs} if isinstance(runs, Statistics) else dict(runs)
    peak = chips * CHIP_FLOPS_PER_CLOCK * clock
    points = {}
    for name, s in named.items():
        moved = s.bytes_to_board + s.bytes_from_board
        if s.flops <= 0 or moved <= 0 or s.predicted_seconds <= 0:
            raise ValueError(f"runs: {name!r} did nothing that could be drawn")
        points[name] = (s.flops / moved, s.flops / s.predicted_seconds)
    ridge = peak / LINK_BYTES_PER_SECOND
    least = min([ridge / 30] + [x / 2 for x, _ in points.values()])
    most = max([ridge * 30] + [x * 2 for x, _ in points.values()])
    x = np.geomspace(least, most, 200)
    limits = np.minimum(peak, LINK_BYTES_PER_SECOND * x) / 1e9
    ax.loglog(x, limits, color="0.25", lw=1.5)
    ax.fill_between(x, limits, color="0.95", zorder=0)
    roof = f"{chips} chip{'s' if chips > 1 else ''}: {peak / 1e9:,.0f}"
    above = {"textcoords": "offset points", "color": "0.25", "va": "bottom"}
    ax.annotate(roof, (most, peak / 1e9), xytext=(0, 4), ha="right", **above)
    slope = f"link: {LINK_BYTES_PER_SECOND / 1e9:g} GB/s"
    below_ridge = 0.6 * ridge
    place = (below_ridge, LINK_BYTES_PER_SECOND * below_ridge / 1e9)
    ax.annotate(slope, place, xytext=(-8, -2), ha="right", **above)
    for k, (name, (intensity, rate)) in enumerate(points.items()):
        colour = _COLOURS[k % len(_COLOURS)]
        ax.plot(intensity, rate / 1e9, "o", color=colour, ms=7, label=f"{name}: {rate / 1e9:,.0f}")
    ax.set(
        xlabel="operations for each byte over the link",
        ylabel="Gflops (predicted)",
        title="Roofline of a board",
        xlim=(least, most),
        ylim=(min([limits[0]] + [0.6e-9 * rate for _, rate in points.values()]), peak / 1e9 * 3),
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    ax.legend(frameon=False, loc="lower right")
    _open_frame(ax)
    return ax


def timeline(
    events: Union[Device, Sequence[TimelineEvent]], *, board: int = 0, ax: Any = None
) -> Any:
    """When host, link and chips are busy: a device that records, or its ``timeline()``."""
    listed = events.timeline() if isinstance(events, Device) else list(events)
    shown = [e for e in listed if e.board == board]
    if not shown:
        raise ValueError(
            f"events: nothing was recorded for board {board}; call device.record_timeline() first"
        )
    rows = ["host", "link write"]
    rows += sorted(
        {e.part for e in shown if e.part.startswith("chip")}, key=lambda p: int(p.split()[1])
    )
    rows.append("link read")
    ax = _axes(ax, (7.6, 0.42 * len(rows) + 1.4))
    unit, name = _time_unit(max(e.end for e in shown))
    kinds: List[str] = sorted({e.what for e in shown})
    for k, what in enumerate(kinds):
        for j, row in enumerate(rows):
            bars = [
                (e.begin * unit, (e.end - e.begin) * unit)
                for e in shown
                if e.what == what and e.part == row
            ]
            if bars:
                colour = "0.6" if row == "host" else _COLOURS[k % len(_COLOURS)]
                ax.broken_barh(bars, (j - 0.36, 0.72), facecolors=colour, lw=0)
        colour = "0.6" if what == "between lists" else _COLOURS[k % len(_COLOURS)]
        ax.plot([], [], color=colour, lw=6, label=what)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()
    ax.set(xlabel=f"time on the real board ({name})", title="Time line")
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.tick_params(axis="y", length=0)
    _open_frame(ax)
    return ax


def _time_unit(longest: float) -> Tuple[float, str]:
    for unit, name in ((1.0, "s"), (1e3, "ms")):
        if longest * unit >= 1:
            return unit, name
    return 1e6, "µs"
