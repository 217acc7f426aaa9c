"""Plots with matplotlib: stars, energies, radii; the roofline and the timeline of a device; films.

Every function but ``movie`` draws into ``ax`` (a new figure by default) and returns it.
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from .._arrays import check_type, integer, number
from .._open import Device
from .._records import Statistics, TimelineEvent
from .._system import PathLike, check_can_write, replacing, require
from .diagnostics import History, Stars, centre_of_mass
from .integrate import State
from .snapshot import Snapshot, checked

#: Link and chips of one board at 500 MHz (sources in docs/internals/board.md).
LINK_BYTES_PER_SECOND = 2.5e9
CHIP_FLOPS_PER_CLOCK = 1024  #: one addition and one multiplication on 512 PEs, single precision
CLOCK_HZ = 500e6
CHIPS = 4

#: Safe for colour blindness (after Okabe & Ito 2008), dark enough for thin lines on white.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#333333", "#56b4e9")


def _axes(ax: Any, size: Tuple[float, float]) -> Any:
    if ax is not None:
        return ax
    plt = require("matplotlib.pyplot", "a picture")
    return plt.subplots(figsize=size, layout="constrained")[1]


def _open_frame(ax: Any) -> Any:
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _label(ax: Any, text: str, point: Tuple[float, float], offset: Any, **style: Any) -> None:
    """A text at an offset in points from a point."""
    ax.annotate(text, point, xytext=offset, textcoords="offset points", **style)


def _time_label(unit: str) -> str:
    return f"time [{unit}]" if unit else "time"


def _plain_ticks(axis: Any) -> None:
    """Label 1, 2, 5, 10 on a logarithmic axis, not only powers of ten."""
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
    labels: Optional[Dict[int, str]] = None,
    unit: str = "",
    ax: Any = None,
) -> Any:
    """Stars in a plane about their centre of mass, coloured by type; ``extent``: half the width.

    ``size`` of a star is in points squared; by default few stars are larger than many. ``labels``
    name the types ({1: "first", 2: "second"}) in a legend; ``unit`` of length is shown on the axes.
    Stars without mass are drawn about their mean position.

    Examples:
        >>> ax = nbody.plots.projection(nbody.plummer(100), plane="xz", extent=2)
        >>> ax.get_title(), ax.get_xlim()
        ('t = 0', (-2.0, 2.0))
    """
    columns, size = _columns(plane), _checked_size(size)
    check_type("stars", stars, (Snapshot, State), "a Snapshot or a State")
    stars = checked("stars", stars)
    pos = stars.pos - centre_of_mass(stars)
    width = _half_width(extent, [pos[:, columns]])
    types = _types(stars)
    _check_labels(labels, types)
    ax = _axes(ax, (5.2, 5.0))
    for k, kind in enumerate(np.unique(types)):
        some, colour = pos[types == kind][:, columns], _COLOURS[k % len(_COLOURS)]
        ax.scatter(*some.T, color=colour, **_star_style(len(pos), size))
    _frame_of_stars(ax, plane, width, unit, np.unique(types), labels)
    ax.set_title(f"t = {stars.time:.3g}", loc="left" if labels else "center")
    return ax


def _columns(plane: str) -> List[int]:
    columns = ["xyz".find(c) for c in plane]
    if len(plane) != 2 or -1 in columns or columns[0] == columns[1]:
        raise ValueError(f"plane: expected two of x, y, z, got {plane!r}")
    return columns


def _half_width(extent: Optional[float], positions: Iterable[Any]) -> float:
    if extent is not None:
        return number("extent", extent, above=0)
    return max(1.1 * float(np.quantile(np.abs(pos), 0.98)) for pos in positions) or 1.0


def _checked_size(size: Any) -> Optional[float]:
    return None if size is None else number("size", size, above=0)


def _types(stars: Stars) -> Any:
    return np.ones(len(stars), int) if stars.types is None else np.array(stars.types)


def _check_labels(labels: Optional[Dict[int, str]], types: Any) -> None:
    """Raise ValueError for the label of a type that no star has."""
    kinds = [int(kind) for kind in np.unique(types)]
    unknown = [kind for kind in labels or {} if kind not in kinds]
    if unknown:
        raise ValueError(
            f"labels: no star has the type {unknown[0]!r}; the types are "
            f"{', '.join(map(str, kinds))}"
        )


def _star_style(count: int, size: Optional[float]) -> Dict[str, float]:
    """Area, edge and opacity of a star: few stars are larger and darker than many."""
    area = float(np.clip(4000 / max(1, count), 2.0, 14.0)) if size is None else size
    return {"s": area, "lw": 0, "alpha": float(np.clip(25 / np.sqrt(count), 0.3, 0.9))}


def _frame_of_stars(
    ax: Any, plane: str, width: float, unit: str, kinds: Any, labels: Optional[Dict[int, str]]
) -> None:
    """Axes of a projection, and a legend above them, where it covers no star."""
    for k, kind in enumerate(kinds):
        if labels and int(kind) in labels:
            ax.scatter(
                [], [], s=25, lw=0, color=_COLOURS[k % len(_COLOURS)], label=labels[int(kind)]
            )
    if labels:
        place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "ncols": 2}
        ax.legend(
            frameon=False,
            fontsize="small",
            handletextpad=0.1,
            columnspacing=0.8,
            **place,
            borderpad=0.2,
            borderaxespad=0.1,
        )
    x_name, y_name = (f"{c} [{unit}]" if unit else c for c in plane)
    ax.set(xlim=(-width, width), ylim=(-width, width), xlabel=x_name, ylabel=y_name)
    ax.set_aspect("equal")


class _Frame(NamedTuple):
    time: float
    pos: Any  #: in the plane, about the centre of mass


#: Programs and packages that write a film, by the ending of its file.
_WRITERS = {".gif": "pillow", ".mp4": "ffmpeg"}


def movie(
    states: Iterable[Stars],
    path: PathLike,
    *,
    plane: str = "xy",
    extent: Optional[float] = None,
    size: Optional[float] = None,
    labels: Optional[Dict[int, str]] = None,
    unit: str = "",
    fps: float = 15,
    dpi: float = 96,
) -> pathlib.Path:
    """Write a film of states or snapshots, such as those of an integrator: a GIF (requires pillow)
    or an MP4 (requires the program ffmpeg), by the ending of ``path``. Returns the path.

    Only positions are kept, so that ``states`` may be the integrator itself; ``itertools.islice``
    takes every n-th state. The other arguments are those of ``projection``; ``extent`` defaults to
    the larger width of the first and the last frame. ``fps``: frames per second, from 1/600 to 50
    in a GIF and to 1000 in an MP4; ``dpi`` (10 to 2000): pixels per inch of a picture of 5.2 inches.
    An existing file is replaced at the end. Raises ValueError for another ending, no states, or a
    label of a type that no star has; FileError if the file cannot be written, before the first
    state is computed; ImportError or FileNotFoundError if a program is missing.

    Examples:
        >>> states = nbody.leapfrog(nbody.plummer(100), eps=0.05, dt=0.01, t_end=0.05)
        >>> nbody.plots.movie(states, "cluster.gif").name
        'cluster.gif'
    """
    columns, size = _columns(plane), _checked_size(size)
    file = pathlib.Path(path)
    ending = file.suffix.lower()
    rate = number("fps", fps, least=1 / 600, most=50 if ending == ".gif" else 1000)
    dots = number("dpi", dpi, least=10, most=2000)
    if extent is not None:
        _half_width(extent, [])
    if isinstance(states, (Snapshot, State)):
        raise TypeError(
            f"states: expected several states, got a {type(states).__name__}; pass a list of them"
        )
    if ending not in _WRITERS:
        raise ValueError(
            f"path: expected a name that ends with .gif or .mp4, got {os.fspath(path)!r}"
        )
    plt = require("matplotlib.pyplot", "a film")
    animation = require("matplotlib.animation", "a film")
    if ending == ".gif":
        require("PIL", "a film in GIF")
    elif not animation.FFMpegWriter.isAvailable():
        raise FileNotFoundError(
            "a film in MP4 needs the program ffmpeg, which is not in PATH: apt-get install ffmpeg, "
            "or write a GIF"
        )
    check_can_write(os.fspath(path))
    frames, types = _frames(states, columns, labels)
    kinds = np.unique(types)
    width = _half_width(extent, [frames[0].pos, frames[-1].pos])
    # A layout engine would run again for every frame.
    figure, ax = plt.subplots(figsize=(5.2, 5.2))
    try:
        figure.subplots_adjust(left=0.13, right=0.97, bottom=0.1, top=0.93)
        _frame_of_stars(ax, plane, width, unit, kinds, labels)
        title = ax.set_title("", loc="left")
        style = _star_style(len(types), size)
        points = [
            ax.scatter([], [], color=_COLOURS[k % len(_COLOURS)], **style)
            for k in range(len(kinds))
        ]

        def draw(k: int) -> "tuple[Any, ...]":
            for kind, some in zip(kinds, points):
                some.set_offsets(frames[k].pos[types == kind])
            title.set_text(f"t = {frames[k].time:.2f}")
            return (*points, title)

        film = animation.FuncAnimation(figure, draw, frames=len(frames))
        with replacing(os.fspath(file)) as part:
            # The writers choose the format by the ending.
            temporary = part + ending
            try:
                film.save(temporary, writer=_writer(animation, ending, rate), dpi=dots)
                os.replace(temporary, part)
            finally:
                pathlib.Path(temporary).unlink(missing_ok=True)
    finally:
        plt.close(figure)
    return file


def _frames(
    states: Iterable[Stars], columns: List[int], labels: Optional[Dict[int, str]]
) -> Tuple[List[_Frame], Any]:
    """The frames of a film, and the types of its stars."""
    frames: List[_Frame] = []
    types: Any = None
    for stars in states:
        place = f"states[{len(frames)}]"
        check_type(place, stars, (Snapshot, State), "a Snapshot or a State")
        stars = checked(place, stars)
        if types is None:
            types = _types(stars)
            _check_labels(labels, types)
        if len(stars) != len(types):
            raise ValueError(
                f"states: state {len(frames)} has {len(stars)} stars, the first {len(types)}"
            )
        frames.append(_Frame(stars.time, (stars.pos - centre_of_mass(stars))[:, columns]))
    if not frames:
        raise ValueError("states: there are none")
    return frames, types


def _writer(animation: Any, ending: str, rate: float) -> Any:
    if ending == ".gif":
        return animation.PillowWriter(fps=rate)
    # Players expect this pixel format, and even numbers of pixels.
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"
    return animation.FFMpegWriter(fps=rate, extra_args=["-pix_fmt", "yuv420p", "-vf", even])


def energy_error(history: History, *, unit: str = "", ax: Any = None) -> Any:
    """Relative error of the energy over time; ``unit`` of time for the axis label.

    Examples:
        >>> history = nbody.History()
        >>> for state in nbody.leapfrog(nbody.plummer(100), eps=0.05, dt=0.01, t_end=0.1):
        ...     history.add(state)
        >>> nbody.plots.energy_error(history).get_title()
        'Energy error'
    """
    ax = _axes(ax, (5.6, 3.2))
    ax.plot(history.time, history.energy_error, color=_COLOURS[0], lw=1.2)
    ax.axhline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel=_time_label(unit), ylabel=r"$(E - E_0)\,/\,|E_0|$", title="Energy error")
    ax.ticklabel_format(axis="y", scilimits=(-2, 2))
    return _open_frame(ax)


def lagrangian_radii(
    history: History, *, unit: str = "", length_unit: str = "", ax: Any = None
) -> Any:
    """Lagrangian radii over time; units for the axis labels.

    Examples:
        >>> history = nbody.History()
        >>> for state in nbody.leapfrog(nbody.plummer(100), eps=0.05, dt=0.01, t_end=0.1):
        ...     history.add(state)
        >>> len(nbody.plots.lagrangian_radii(history).lines) == len(history.fractions)
        True
    """
    ax = _axes(ax, (5.6, 3.2))
    radii = np.array(history.radii)
    for k, fraction in enumerate(history.fractions):
        colour = _COLOURS[k % len(_COLOURS)]
        ax.plot(history.time, radii[:, k], lw=1.2, color=colour)
        end = (history.time[-1], radii[-1, k])
        _label(ax, f"{100 * fraction:g} %", end, (5, 0), va="center", color=colour)
    radius = f"radius [{length_unit}]" if length_unit else "radius"
    ax.set(xlabel=_time_label(unit), ylabel=radius, yscale="log")
    ax.set_title("Lagrangian radii (mass inside)")
    _plain_ticks(ax.yaxis)
    return _open_frame(ax)


Runs = Union[Device, Statistics]


def _boards_of(device: Device) -> Tuple[int, int]:
    """Numbers of boards and of chips per board, from the device's description."""
    found = re.search(r"(\d+) boards? of (\d+) chips?", device.description)
    return (int(found.group(1)), int(found.group(2))) if found else (1, CHIPS)


def roofline(
    runs: Union[Runs, Mapping[str, Runs]],
    *,
    chips: Optional[int] = None,
    boards: Optional[int] = None,
    clock: float = CLOCK_HZ,
    ax: Any = None,
) -> Any:
    """Roofline of boards: attainable performance over operational intensity, with points for runs.

    ``runs``: a device or its statistics, or a dictionary of them by name. Points are predicted
    rates of real boards over the operations per byte on their links. ``boards`` and ``chips`` per
    board default to those of the first device, or one board of four chips.

    Examples:
        >>> device = gdr.open("exact")
        >>> found = gdr.gravity(pos, mass, 0.01, device=device)
        >>> nbody.plots.roofline({"gravity": device}).get_xscale()
        'log'
    """
    named = {"this run": runs} if isinstance(runs, (Device, Statistics)) else dict(runs)
    found = next((_boards_of(r) for r in named.values() if isinstance(r, Device)), (1, CHIPS))
    boards = found[0] if boards is None else integer("boards", boards, least=1)
    chips = found[1] if chips is None else integer("chips", chips, least=1)
    clock = number("clock", clock, above=0)
    peak, link = boards * chips * CHIP_FLOPS_PER_CLOCK * clock, boards * LINK_BYTES_PER_SECOND
    points = {name: _point(name, r) for name, r in named.items()}
    ax = _axes(ax, (5.6, 4.0))
    ridge = peak / link
    least = min([ridge / 30] + [x / 2 for x, _ in points.values()])
    most = max([ridge * 30] + [x * 2 for x, _ in points.values()])
    x = np.geomspace(least, most, 200)
    limits = np.minimum(peak, link * x) / 1e9
    ax.loglog(x, limits, color="0.25", lw=1.5)
    ax.fill_between(x, limits, color="0.95", zorder=0)
    above = {"color": "0.25", "va": "bottom", "ha": "right"}
    roof = f"{_count(boards * chips, 'chip')}: {peak / 1e9:,.0f} Gflops"
    _label(ax, roof, (most, peak / 1e9), (0, 4), **above)
    slope = f"{'link' if boards == 1 else _count(boards, 'link')}: {link / 1e9:g} GB/s"
    _label(ax, slope, (0.6 * ridge, link * 0.6 * ridge / 1e9), (-8, -2), **above)
    for k, (name, (intensity, rate)) in enumerate(points.items()):
        place, colour = (intensity, rate / 1e9), _COLOURS[k % len(_COLOURS)]
        ax.plot(*place, "o", color=colour, ms=7)
        _label(ax, f"{name}:\n{rate / 1e9:,.0f} Gflops", place, (8, -2), va="top", color=colour)
    ax.set(
        xlabel="operations per byte on the link",
        ylabel="Gflops (predicted)",
        title=f"Roofline of {_count(boards, 'board') if boards > 1 else 'a board'}",
        xlim=(least, most),
        # The label below a point has two lines.
        ylim=(min([limits[0]] + [0.25e-9 * rate for _, rate in points.values()]), peak / 1e9 * 3),
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.12g}")
    return _open_frame(ax)


def _point(name: str, run: Runs) -> Tuple[float, float]:
    """Operations per byte and operations per second of a run."""
    s = run.statistics if isinstance(run, Device) else run
    moved = s.bytes_to_board + s.bytes_from_board
    if s.flops <= 0 or moved <= 0 or s.predicted_seconds <= 0:
        raise ValueError(f"runs: {name!r} has no operations, transfers or predicted time")
    return s.flops / moved, s.flops / s.predicted_seconds


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("s" if number > 1 else "")


def timeline(
    events: Union[Device, Sequence[TimelineEvent]],
    *,
    board: int = 0,
    rank: int = 0,
    measured: bool = False,
    ax: Any = None,
) -> Any:
    """Busy intervals from a device that records, or from its ``timeline()``.

    By default those of a board's link and chips in predicted time on the real board; with
    ``measured`` those of the host and its emulation of that board, in the time of this host.
    ``rank``: of the process whose board it is, on a device "mpi".

    Examples:
        >>> device = gdr.open("exact")
        >>> device.record_timeline()
        >>> found = gdr.gravity(pos, mass, 0.01, device=device)
        >>> nbody.plots.timeline(device, measured=True).get_xlabel() != ""
        True
    """
    listed = events.timeline() if isinstance(events, Device) else list(events)
    board, rank = integer("board", board), integer("rank", rank)
    shown = [
        e
        for e in listed
        if e.measured == measured
        and e.rank == rank
        and (e.board == board or (measured and e.part != "board"))
    ]
    if not shown:
        if not listed:
            raise ValueError("events: there are none; call device.record_timeline() before the run")
        places = sorted({(e.measured, e.rank, e.board) for e in listed})
        found = "; ".join(
            f"board {b} of rank {r}, {'measured' if m else 'predicted'}" for m, r, b in places
        )
        clock = "measured" if measured else "predicted"
        raise ValueError(
            f"events: none of board {board} of rank {rank}, {clock}; there are those of {found}"
        )
    rows = _rows(shown, measured)
    boards = {(e.rank, e.board) for e in listed if e.measured == measured}
    ax = _axes(ax, (7.6, 0.42 * len(rows) + 1.4))
    longest = max(e.end for e in shown)
    unit, name = (1.0, "s") if longest >= 1 else (1e3, "ms") if longest >= 1e-3 else (1e6, "µs")
    # In the order of the rows, from the top.
    kinds: List[str] = list(dict.fromkeys(e.what for row in rows for e in shown if e.part == row))
    others = [w for w in kinds if w != "run"]
    colours = {w: _COLOURS[1 + k % (len(_COLOURS) - 1)] for k, w in enumerate(others)}
    colours["run"] = _COLOURS[0]
    for what in kinds:
        for j, row in enumerate(rows):
            bars = [
                (e.begin * unit, (e.end - e.begin) * unit)
                for e in shown
                if e.what == what and e.part == row
            ]
            if bars:
                ax.broken_barh(bars, (j - 0.36, 0.72), facecolors=colours[what], lw=0)
        ax.plot([], [], color=colours[what], lw=6, label=what)
    ax.set_yticks(range(len(rows)), rows)
    ax.invert_yaxis()
    if measured:
        label, title = f"measured time on this host [{name}]", "Host and emulated board"
    else:
        label, title = f"predicted time on the real board [{name}]", "Link and chips"
    if len(boards) > 1:
        title += f": board {board}"
        title += f" of rank {rank}" if len({r for r, _ in boards}) > 1 else ""
    ax.set(xlabel=label, title=title)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.tick_params(axis="y", length=0)
    return _open_frame(ax)


def _rows(events: List[TimelineEvent], measured: bool) -> List[str]:
    """The parts of a board, from the top; unknown ones are the last."""
    parts = list(dict.fromkeys(e.part for e in events))
    if measured:
        first = ["host", "board"]
    elif "board" in parts:
        first = ["board"]
    else:
        chips = [p for p in parts if re.fullmatch(r"chip \d+", p)]
        first = ["link write", *sorted(chips, key=lambda p: int(p.split()[1])), "link read"]
    return list(dict.fromkeys([*first, *parts]))
