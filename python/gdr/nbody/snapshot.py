"""Snapshots: GADGET's HDF5 format (requires h5py), its binary ones, TIPSY's, or text with lines
``m x y z vx vy vz``."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from .. import _core
from .._arrays import Floats, Ints, check_finite, check_shape, floats, ints, number
from .._display import counted, html_table
from .._system import PathLike, replacing
from .._units import refuse_units
from ..errors import Error, InputError
from ._hdf5 import File, damaged, write_gadget
from .run import HermiteRun, run_of, stored_run

MAX_TYPES = 16
#: A number of the header, or several: the three edges of a box.
HeaderValue = Union[float, Tuple[float, ...]]


@dataclasses.dataclass(repr=False, eq=False)
class Snapshot:
    """The particles of a simulation at one time, in the units of the user.

    ``pos`` and ``vel`` have shape (n, 3), ``mass`` and ``ids`` (n,). ``types`` are GADGET's
    particle types. ``header`` preserves attributes of files that are not used here (BoxSize, a
    number or a tuple of three edges; Redshift, Omega0, OmegaLambda, HubbleParam). ``run`` is the
    state of the run with block steps that the snapshot is from: ``hermite`` continues it unless
    time, positions, velocities or masses have been changed. The constructor checks the arrays:
    TypeError or ValueError names the argument.

    Examples:
        >>> pair = nbody.Snapshot(pos=[[-1, 0, 0], [1, 0, 0]], vel=np.zeros((2, 3)), mass=[1, 1])
        >>> pair
        <gdr.nbody.Snapshot of 2 stars, t = 0, mass 2>
    """

    pos: Floats
    vel: Floats
    mass: Floats
    time: float = 0.0
    ids: Optional[Ints] = None
    types: Optional[Ints] = None
    header: Dict[str, HeaderValue] = dataclasses.field(default_factory=dict)
    run: Optional[HermiteRun] = None

    def __post_init__(self) -> None:
        self.pos = floats("pos", self.pos, ("n", 3))
        n = len(self.pos)
        if n == 0:
            raise ValueError("pos: no particles")
        self.vel = floats("vel", self.vel, (n, 3))
        if np.ndim(self.mass) == 0:
            self.mass = np.full(n, number("mass", self.mass))
        self.mass = floats("mass", self.mass, (n,))
        for name in ("pos", "vel", "mass"):
            check_finite(name, getattr(self, name))
        self.time = number("time", self.time)
        self.ids = np.arange(1, n + 1) if self.ids is None else _ids("ids", self.ids, n)
        self.types = np.ones(n, np.int64) if self.types is None else ints("types", self.types, (n,))
        if ((self.types < 0) | (self.types >= MAX_TYPES)).any():
            raise ValueError(f"types: expected 0 to {MAX_TYPES - 1}")

    def __len__(self) -> int:
        return len(self.mass)

    def __repr__(self) -> str:
        return f"<gdr.nbody.Snapshot of {describe(self)}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self)[1:-1], star_rows(self))


def describe(stars: Any) -> str:
    """Number of stars, time, mass and types of a snapshot or a state."""
    text = f"{counted(len(stars), 'star')}, t = {stars.time:.6g}, mass {stars.mass.sum():.6g}"
    kinds, counts = np.unique([] if stars.types is None else stars.types, return_counts=True)
    if len(kinds) > 1:
        text += ", " + ", ".join(f"{n} of type {int(kind)}" for kind, n in zip(kinds, counts))
    return text


def mean_position(stars: Any) -> Floats:
    """Mean position, weighted with the masses unless their sum is zero."""
    weights = stars.mass if stars.mass.sum() != 0 else None
    centre: Floats = np.average(stars.pos, axis=0, weights=weights)
    return centre


def checked(name: str, stars: Any) -> Any:
    """A snapshot or a state whose arrays may have been replaced since it was made, with arrays of
    float64: the same object if it has them. TypeError or ValueError names the argument and the
    array: for a wrong shape or type, a unit, and a value that is not finite."""
    made: Dict[str, Any] = {"pos": floats(f"{name}.pos", stars.pos, ("n", 3))}
    n = len(made["pos"])
    vectors, scalars = (n, 3), (n,)
    for array, shape in (("vel", vectors), ("mass", scalars), ("acc", vectors), ("pot", scalars)):
        if hasattr(stars, array):  # a snapshot has no forces
            made[array] = floats(f"{name}.{array}", getattr(stars, array), shape)
    for array, values in made.items():
        check_finite(f"{name}.{array}", values)
    made["time"] = number(f"{name}.time", stars.time)
    if stars.types is not None:
        made["types"] = ints(f"{name}.types", stars.types, (n,))
        if ((made["types"] < 0) | (made["types"] >= MAX_TYPES)).any():
            raise ValueError(f"{name}.types: expected 0 to {MAX_TYPES - 1}")
    if stars.ids is not None:
        made["ids"] = _ids(f"{name}.ids", stars.ids, n)
    changed = {key: value for key, value in made.items() if value is not getattr(stars, key)}
    return dataclasses.replace(stars, **changed) if changed else stars


def star_rows(stars: Any) -> List[Any]:
    """Rows of a table about stars."""
    centre = mean_position(stars)
    radius = np.linalg.norm(stars.pos - centre, axis=1)
    speed = np.sqrt((stars.vel**2).sum(1).mean())
    return [
        ("centre of mass", ", ".join(f"{x:.4g}" for x in centre)),
        ("radius, median and largest", f"{np.median(radius):.4g}, {radius.max():.4g}"),
        ("speed, rms", f"{speed:.4g}"),
    ]


def _ids(name: str, given: Any, n: Any) -> Any:
    """Ids as int64, or as uint64 if int64 cannot represent them."""
    refuse_units(name, given)
    array = np.asarray(given)
    if array.dtype.kind != "u":
        return ints(name, array, (n,))
    check_shape(name, array, (n,))
    large = array.dtype.itemsize == 8 and (array >= 2**63).any()
    return array.astype(np.uint64 if large else np.int64, copy=False)


def read(path: PathLike, *, velocities: bool = True, omit: Sequence[int] = ()) -> Snapshot:
    """Read a snapshot; the format is detected from the content: GADGET's HDF5 format (with h5py) or
    binary formats 1 and 2, TIPSY's, or text.

    GADGET files may have no header; masses may be in its MassTable. The name of one file of a
    multi-file snapshot (``name.0.hdf5``, ``name.1.hdf5``, ..., or ``name.000.hdf5``, ...) selects
    all files. A dataset without values has no particles. ``velocities=False`` does not read
    velocities, which some files lack: those of the snapshot are then zero. Particles of the types
    in ``omit`` are left out; nothing of them is read or checked.

    Raises FileError for a file that cannot be read, InputError for one that is not a snapshot,
    lacks velocities or contains a NaN, and for files of different snapshots, ImportError if h5py is
    required and missing; the message names file, dataset or line.

    Examples:
        >>> nbody.write("stars.txt", nbody.plummer(100, seed=1))
        >>> nbody.read("stars.txt")
        <gdr.nbody.Snapshot of 100 stars, t = 0, mass 1>
    """
    name = os.fspath(path)
    omitted = [int(kind) for kind in ints("omit", omit, ("n",))]
    if any(not 0 <= kind < MAX_TYPES for kind in omitted):
        raise ValueError(f"omit: expected types of particles, 0 to {MAX_TYPES - 1}, got {omitted}")
    try:
        found = _core.read_snapshot(os.fsencode(name), File, velocities, omitted)
    except Error:
        raise
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError(damaged(name, error)) from None
    pos, vel, mass, ids, counts, time, header, run = found
    stars = Snapshot(
        pos,
        vel if velocities else np.zeros_like(pos),
        mass,
        time,
        ids=ids,
        types=np.repeat(np.arange(len(counts)), counts),
        header={key: _header_value(values) for key, values in header.items()},
    )
    if run is not None and velocities:
        stars.run = run_of(run, stars.mass)
    return stars


def _header_value(values: List[float]) -> HeaderValue:
    return values[0] if len(values) == 1 else tuple(values)


def write(path: PathLike, snapshot: Any) -> None:
    """Write a snapshot or the state of a run: ``.hdf5`` and ``.h5`` in GADGET's format, other
    extensions as text (without types and ids).

    A state of ``hermite``, and a snapshot with ``run``, is written with the state of its run, unless
    stars have been changed since: ``hermite`` and ``gdr nbody`` continue the run from the file. HDF5
    files are ordered by type, which changes the last bits of sums if the stars were not.

    The file is written atomically: after a failure an existing file is unchanged. Raises FileError.

    Examples:
        >>> stars = nbody.plummer(100, seed=1)
        >>> nbody.write("stars.txt", stars)
        >>> bool((nbody.read("stars.txt").pos == stars.pos).all())
        True
    """
    if not isinstance(snapshot, Snapshot):
        if not callable(getattr(snapshot, "snapshot", None)):
            what = type(snapshot).__name__
            raise TypeError(f"snapshot: expected a Snapshot or a State, got {what}")
    snapshot = checked("snapshot", snapshot)
    if not isinstance(snapshot, Snapshot):
        snapshot = snapshot.snapshot()
    name = os.fspath(path)
    with replacing(name) as part:
        if name.endswith((".hdf5", ".h5")):
            write_gadget(part, snapshot, _valid_run(snapshot))
        else:
            _write_text(part, snapshot)


def _valid_run(s: Snapshot) -> Optional[HermiteRun]:
    return s.run if s.run is not None and s.run.describes(s) else None


def _write_text(name: str, s: Snapshot) -> None:
    run = _valid_run(s)
    # Readers compare the time with that of the run.
    time, stored = (s.time, None) if run is None else (run.time, stored_run(run))
    pos, vel, mass = (np.ascontiguousarray(values) for values in (s.pos, s.vel, s.mass))
    text = _core.text_snapshot(time, pos, vel, mass, stored)
    with open(name, "wb") as file:
        file.write(text)
