"""The demonstration: a merger of two star clusters with forces from the emulated chip."""

from __future__ import annotations

import pathlib
from typing import Any, Iterator, List, Sequence

import numpy as np

from . import nbody
from ._arrays import integer, number
from ._open import Device, open
from ._system import PathLike, require
from .nbody import History, Snapshot

FRAMES = 48
CLUSTERS = {1: "first cluster", 2: "second cluster"}
UNIT = "N-body unit"


def demo(
    *,
    stars: int = 1024,
    t_end: float = 14.0,
    out: PathLike = "out/demo",
    device_name: str = "",
    progress: bool = True,
) -> Iterator[pathlib.Path]:
    """Integrate the merger of two Plummer spheres; write merger.png and merger.gif, and yield their
    paths. Requires matplotlib and pillow, and tqdm for the progress bar.

    ``device_name``: a name for ``gdr.open``; the native engine by default.
    """
    require("matplotlib", "the demonstration").use("Agg")
    require("PIL", "the animation")
    count, end = integer("stars", stars, 2), number("t_end", t_end, above=0)
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with open(device_name) if device_name else open(engine="native") as device:
        history, frames = _run(device, count, end, progress)
        yield _picture(folder / "merger.png", history, frames, device)
    yield _animation(folder / "merger.gif", frames)


def _run(
    device: Device, stars: int, end: float, progress: bool
) -> "tuple[History, List[Snapshot]]":
    eps, dt = 1 / 32, 1 / 64
    steps = int(np.ceil(end / dt))
    every = max(1, steps // FRAMES)
    history, frames = History(), []
    start = nbody.merger(
        stars, mass_ratio=0.6, separation=(3.0, 0.8, 0.0), velocity=(-0.4, 0.0, 0.0)
    )
    for state in nbody.leapfrog(start, eps=eps, dt=dt, t_end=end, progress=progress, device=device):
        if state.step % every == 0 or state.step == steps:
            history.add(state)
            frames.append(state.snapshot())
    return history, frames


def _picture(path: pathlib.Path, history: History, frames: List[Snapshot], device: Device) -> Any:
    import matplotlib.pyplot as plt

    figure: Any = plt.figure(figsize=(11, 7.4), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=(1, 0.85))
    extent = _extent(frames)
    for ax, k in zip(top.subplots(1, 3), (0, len(frames) // 3, -1)):
        labels = None if k else CLUSTERS
        nbody.plots.projection(frames[k], extent=extent, labels=labels, unit=UNIT, ax=ax)
    title = f"{len(frames[0])} stars in two clusters that merge"
    figure.suptitle(title, fontsize="large")
    left, middle, right = bottom.subplots(1, 3)
    nbody.plots.energy_error(history, unit=UNIT, ax=left)
    nbody.plots.lagrangian_radii(history, unit=UNIT, length_unit=UNIT, ax=middle)
    nbody.plots.roofline(device, ax=right)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def _extent(frames: List[Snapshot]) -> float:
    return 1.1 * float(np.quantile(np.abs(frames[0].pos[:, :2]), 0.99))


def _animation(path: pathlib.Path, frames: List[Snapshot]) -> pathlib.Path:
    return nbody.plots.movie(frames, path, extent=_extent(frames), labels=CLUSTERS, unit=UNIT)


def draw_snapshots(files: Sequence[PathLike], output: PathLike) -> pathlib.Path:
    """Draw the stars of snapshots side by side, on one scale, to a picture."""
    require("matplotlib", "a picture").use("Agg")
    import matplotlib.pyplot as plt

    snapshots = [nbody.read(name) for name in files]
    width = max(_extent([s]) for s in snapshots)
    count = len(snapshots)
    figure, axes = plt.subplots(
        1, count, figsize=(3.6 * count + 0.4, 3.9), layout="constrained", squeeze=False
    )
    for name, snapshot, ax in zip(files, snapshots, axes[0]):
        nbody.plots.projection(snapshot, extent=width, ax=ax)
        ax.set_title(f"{pathlib.Path(name).name}, t = {snapshot.time:.3g}")
    figure.savefig(output, dpi=110)
    plt.close(figure)
    return pathlib.Path(output)
