"""Snapshots: GADGET's HDF5 format (requires h5py), or text with lines ``m x y z vx vy vz``."""

from __future__ import annotations

import dataclasses
import os
import re
from typing import Any, Dict, List, NoReturn, Optional

import numpy as np

from .._arrays import AnyArray, Floats, Ints, check_finite, check_shape, floats, ints, number
from .._display import counted, html_table
from .._system import PathLike, replacing, require
from .._units import refuse_units
from ..errors import FileError, InputError
from ._storage import missing_data, missing_filter
from .run import ARRAYS, NUMBERS, WIDTH, HermiteRun, check_arrays, checked_number, run_of

_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
#: The length of the first record of a binary snapshot, in either byte order.
_GADGET_BINARY = tuple(
    beginning for n in (8, 256) for beginning in (n.to_bytes(4, "little"), n.to_bytes(4, "big"))
)
MAX_TYPES = 16
DEFAULT_TYPES = 6  #: particle types in every header
#: Beginnings of lines of text with the state of a run.
_STATE, _BLOCK_STEPS = "#gdr:", "#hermite4:"
_STAR = "time step x y z vx vy vz ax ay az jx jy jz"
#: Header attributes that are preserved.
KEPT_ATTRIBUTES = ("BoxSize", "Redshift", "Omega0", "OmegaLambda", "HubbleParam")


@dataclasses.dataclass(repr=False, eq=False)
class Snapshot:
    """The particles of a simulation at one time, in the units of the user.

    ``pos`` and ``vel`` have shape (n, 3), ``mass`` and ``ids`` (n,). ``types`` are GADGET's
    particle types. ``header`` preserves attributes of files that are not used here (BoxSize,
    Redshift, Omega0, OmegaLambda, HubbleParam). ``run`` is the state of the run with block steps
    that the snapshot is from: ``hermite`` continues it unless time, positions, velocities or
    masses have been changed. The constructor checks the arrays: TypeError or ValueError names the
    argument.
    """

    pos: Floats
    vel: Floats
    mass: Floats
    time: float = 0.0
    ids: Optional[Ints] = None
    types: Optional[Ints] = None
    header: Dict[str, float] = dataclasses.field(default_factory=dict)
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
    if array.dtype != np.uint64:
        return ints(name, array, (n,))
    check_shape(name, array, (n,))
    return array if (array >= 2**63).any() else array.astype(np.int64)


def read(path: PathLike) -> Snapshot:
    """Read a snapshot; the format is detected from the content.

    GADGET files may have no header; masses may be in its MassTable. The name of one file of a
    multi-file snapshot (``name.0.hdf5``, ``name.1.hdf5``, ...) selects all files.

    Raises FileError for a file that cannot be read, InputError for one that is not a snapshot or
    contains a NaN, ImportError if h5py is required and missing; the message names file, dataset or
    line.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            magic = file.read(len(_HDF5_MAGIC))
    except OSError as error:
        raise FileError(f"{name}: {error.strerror}") from None
    if magic[:4] in _GADGET_BINARY:
        raise InputError(
            f"{name}: a snapshot in GADGET's binary format (1 or 2), which is not read; convert it "
            "to HDF5 first (SnapFormat=3 of GADGET)"
        )
    return _read_gadget(name) if magic == _HDF5_MAGIC else _read_text(name)


def _read_text(name: str) -> Snapshot:
    rows: List[List[float]] = []
    steps: List[List[float]] = []
    numbers: Dict[str, float] = {}
    try:
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{name}: neither an HDF5 file nor text") from None
    for k, line in enumerate(lines, 1):
        if line.startswith(_STATE) and "=" in line:
            key, value = line[len(_STATE) :].split("=", 1)
            numbers[key.strip()] = _number(name, k, key.strip(), value)
        if line.startswith(_BLOCK_STEPS):
            fields, expected, meaning = line[len(_BLOCK_STEPS) :].split(), WIDTH, _STAR
            to = steps
        else:
            fields, expected, meaning = line.split("#")[0].split(), 7, "m x y z vx vy vz"
            to = rows
            if not fields:
                continue
        if len(fields) != expected:
            count = "seven" if expected == 7 else str(expected)
            raise InputError(f"{name}:{k}: expected {count} numbers ({meaning})")
        try:
            to.append([float(f) for f in fields])
        except ValueError as error:
            raise InputError(f"{name}:{k}: {error}") from None
    if not rows:
        raise InputError(f"{name}: no particles")
    table = np.array(rows)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        raise InputError(f"{name}: particle {bad[0][0]}: a number is not finite")
    mass = table[:, 0].copy()
    time = numbers.get("time", 0.0)
    stars = Snapshot(table[:, 1:4].copy(), table[:, 4:7].copy(), mass, time)
    if steps:
        stars.run = _text_run(name, numbers, steps, stars)
    return stars


def _text_run(
    name: str, numbers: Dict[str, float], steps: List[List[float]], stars: Snapshot
) -> Optional[HermiteRun]:
    """The run with block steps of a file; None if its stars have been changed."""
    if len(steps) != len(stars):
        raise InputError(
            f"{name}: {len(steps)} lines '{_BLOCK_STEPS}' for {len(stars)} particles; remove them "
            f"to begin a new run"
        )
    found = {}
    for key, (_, text) in NUMBERS.items():
        if text not in numbers:
            raise InputError(
                f"{name}: no line '{_STATE} {text} = ...'; remove the lines '{_BLOCK_STEPS}' to "
                "begin a new run"
            )
    table = np.array(steps)
    try:
        for key, (_, text) in NUMBERS.items():
            found[key] = checked_number(f"'{_STATE} {text} = ...'", key, numbers[text])
        check_arrays({key: f"'{_BLOCK_STEPS}' {key}" for key in ARRAYS}, table)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {error}") from None
    run = run_of(found, table, stars.mass)
    return run if run.describes(stars) else None


def _number(name: str, line: int, key: str, text: str) -> float:
    try:
        # The energy of extreme masses and speeds overflows; such a run can continue nevertheless.
        return float(text) if key == "start_energy" else number(key, float(text))
    except ValueError:
        raise InputError(f"{name}:{line}: the {key} is {text.strip()!r}, not a number") from None


def write(path: PathLike, snapshot: Any) -> None:
    """Write a snapshot or the state of a run: ``.hdf5`` and ``.h5`` in GADGET's format, other
    extensions as text (without types and ids).

    A state of ``hermite``, and a snapshot with ``run``, is written with the state of its run, unless
    stars have been changed since: ``hermite`` and ``gdr nbody`` continue the run from the file. HDF5
    files are ordered by type, which changes the last bits of sums if the stars were not.

    The file is written atomically: after a failure an existing file is unchanged. Raises FileError.
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
            _write_gadget(part, snapshot)
        else:
            _write_text(part, snapshot)


def _valid_run(s: Snapshot) -> Optional[HermiteRun]:
    return s.run if s.run is not None and s.run.describes(s) else None


def _write_text(name: str, s: Snapshot) -> None:
    run = _valid_run(s)
    with open(name, "w", encoding="utf-8") as file:
        file.write("# m x y z vx vy vz\n")
        # Readers compare the time with that of the run.
        file.write(f"{_STATE} time = {s.time if run is None else run.time!r}\n")
        if run is not None:
            for key, (_, text) in NUMBERS.items():
                file.write(f"{_STATE} {text} = {getattr(run, key)!r}\n")
        for row in np.column_stack([s.mass, s.pos, s.vel]).tolist():
            file.write(" ".join(repr(x) for x in row) + "\n")
        if run is not None:
            for row in np.column_stack(run.arrays).tolist():
                file.write(f"{_BLOCK_STEPS} " + " ".join(repr(x) for x in row) + "\n")


# -- GADGET's HDF5 format --------------------------------------------------------------------------


class _File:
    """One file; error messages contain its name and the place of the error."""

    def __init__(self, name: str) -> None:
        h5py = require("h5py", "a snapshot in HDF5")
        self.name = name
        try:
            self.file = h5py.File(name, "r")
        except OSError as error:
            if "lock file" in str(error) or "already open for write" in str(error):
                raise FileError(
                    f"{name} is open in a program that writes it; wait until it has closed the file "
                    f"({error})"
                ) from None
            raise FileError(f"{name}: {error}") from None
        self.header: Any = self.file["Header"].attrs if "Header" in self.file else {}

    def fail(self, where: str, message: str) -> NoReturn:
        raise InputError(f"{self.name}: {where} {message}")

    def attribute(self, name: str) -> Optional[AnyArray]:
        """An attribute of the header, as a flat array; None where it is missing or empty."""
        if name not in self.header:
            return None
        values = np.ravel(np.asarray(self.header[name]))
        if values.dtype.kind not in "iuf":
            self.fail(f"Header/{name}", "is not a number")
        return values if len(values) else None

    def dataset(self, name: str, shape: Any) -> AnyArray:
        """A dataset of numbers with this shape; one column may also be stored as a matrix."""
        try:
            stored = self.file[name]
            missing = missing_data(stored, self.name)
            if missing:
                self.fail(name, missing)
            values = np.asarray(stored)
        except (OSError, RuntimeError) as error:
            lacking = missing_filter(self.file[name])
            if lacking:
                self.fail(name, lacking)
            raise FileError(f"{self.name}: {name} cannot be read: {error}") from None
        if values.dtype.kind not in "iuf":
            self.fail(name, "is not numeric")
        if len(shape) == 1 and values.shape == (*shape, 1):
            values = values[:, 0]
        if values.shape != shape:
            self.fail(name, f"has shape {values.shape}; expected {shape}")
        return values

    def count(self, kind: int) -> int:
        """Number of particles of a type."""
        group = f"PartType{kind}"
        counts = self.attribute("NumPart_ThisFile")
        expected = None if counts is None else int(counts[kind]) if kind < len(counts) else 0
        found = 0
        if f"{group}/Coordinates" in self.file:
            shape = self.file[f"{group}/Coordinates"].shape
            if len(shape) != 2 or shape[1] != 3:
                self.fail(f"{group}/Coordinates", f"has shape {shape}; expected (n, 3)")
            found = int(shape[0])
        elif group in self.file and (expected or (expected is None and len(self.file[group]))):
            self.fail(group, "has no dataset Coordinates")
        if expected is not None and found != expected:
            self.fail(
                "Header/NumPart_ThisFile",
                f"gives {expected} particles of type {kind}, but {group} has {found}",
            )
        return found

    def run(self, mass: Floats) -> Optional[HermiteRun]:
        """The run with block steps that wrote the file; None if another program wrote it."""
        attributes = self.file["GDR"].attrs if "GDR" in self.file else {}
        if NUMBERS["now"][0] not in attributes:
            return None
        numbers: Dict[str, float] = {}
        for key, (name, _) in NUMBERS.items():
            if name not in attributes:
                self.fail("GDR", f"has no attribute {name}")
            numbers[key] = self.run_number(key, name, attributes)
        columns = []
        for name, width in ARRAYS.values():
            if f"GDR/{name}" not in self.file:
                self.fail("GDR", f"has no dataset {name}")
            shape = (len(mass),) if width == 1 else (len(mass), width)
            columns.append(self.dataset(f"GDR/{name}", shape).astype(np.float64))
        table = np.column_stack(columns)
        try:
            check_arrays({key: f"GDR/{name}" for key, (name, _) in ARRAYS.items()}, table)
        except ValueError as error:
            raise InputError(f"{self.name}: {error}") from None
        return run_of(numbers, table, mass)

    def run_number(self, key: str, name: str, attributes: Any) -> float:
        """An attribute of the group GDR: one number in the range of that parameter of a run."""
        try:
            values = np.ravel(np.asarray(attributes[name]))
            if values.size != 1 or values.dtype.kind not in "iuf":
                raise TypeError(f"GDR/{name}: expected a number, got {attributes[name]!r}")
            return checked_number(f"GDR/{name}", key, values[0].item())
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise InputError(f"{self.name}: {error}") from None

    def masses(self, kind: int, n: int) -> AnyArray:
        """Masses from the dataset, or from the header's MassTable."""
        name = f"PartType{kind}/Masses"
        if name in self.file:
            return self.dataset(name, (n,)).astype(np.float64)
        table = self.attribute("MassTable")
        if table is None or kind >= len(table) or table[kind] == 0:
            self.fail(f"PartType{kind}", "has no dataset Masses and no mass in MassTable")
        return np.full(n, float(table[kind]))

    def part(self, kind: int, n: int) -> Dict[str, AnyArray]:
        """All particles of a type, by the arguments of Snapshot."""
        group = f"PartType{kind}"
        if f"{group}/Velocities" not in self.file:
            self.fail(group, "has no dataset Velocities")
        columns = {
            "pos": self.dataset(f"{group}/Coordinates", (n, 3)).astype(np.float64),
            "vel": self.dataset(f"{group}/Velocities", (n, 3)).astype(np.float64),
            "mass": self.masses(kind, n),
            "types": np.full(n, kind),
        }
        if f"{group}/ParticleIDs" in self.file:
            ids = columns["ids"] = self.dataset(f"{group}/ParticleIDs", (n,))
            if ids.dtype.kind not in "iu":
                self.fail(f"{group}/ParticleIDs", f"has type {ids.dtype}; expected integers")
        return columns


def _names(first: _File) -> List[str]:
    """Names of all files of the snapshot that this file belongs to."""
    files = first.attribute("NumFilesPerSnapshot")
    count = 1 if files is None else int(files[0])
    if count <= 1:
        return [first.name]
    folder, base = os.path.split(first.name)
    numbered = re.fullmatch(r"(.*\.)(\d+)(\.[^.]+)", base)
    if numbered is None or int(numbered.group(2)) >= count:
        first.fail(
            "Header/NumFilesPerSnapshot",
            f"is {count}; the file name must have the form snapshot.0.hdf5",
        )
    stem, end = numbered.group(1), numbered.group(3)
    return [os.path.join(folder, f"{stem}{k}{end}") for k in range(count)]


def _check_total(first: _File, types: AnyArray) -> None:
    total = first.attribute("NumPart_Total")
    if total is None:
        return
    high = first.attribute("NumPart_Total_HighWord")
    found = np.bincount(types, minlength=MAX_TYPES)
    for kind, low in enumerate(total):
        above = int(high[kind]) << 32 if high is not None and kind < len(high) else 0
        if int(low) + above != found[kind]:
            first.fail(
                "Header/NumPart_Total",
                f"gives {int(low) + above} particles of type {kind}, but its files have "
                f"{found[kind]}",
            )


def _read_gadget(name: str) -> Snapshot:
    """Read the particles of all types and all files of a snapshot, ordered by type."""
    first = _File(name)
    with first.file:
        names = _names(first)
        parts: List[Dict[str, AnyArray]] = []
        for each in names:
            one = first if os.path.basename(each) == os.path.basename(name) else _File(each)
            counts = [one.count(kind) for kind in range(MAX_TYPES)]
            parts += [one.part(kind, n) for kind, n in enumerate(counts) if n]
            if one is not first:
                one.file.close()
        if not parts:
            first.fail("PartType0, PartType1, ...:", "no particles")
        parts.sort(key=lambda part: int(part["types"][0]))
        if len({"ids" in part for part in parts}) > 1:
            first.fail("ParticleIDs:", "some particles have ids and some have none")
        members: Dict[str, Any] = {
            key: np.concatenate([part[key] for part in parts]) for key in parts[0]
        }
        if len(names) > 1:
            _check_total(first, members["types"])
        kept = {key: first.attribute(key) for key in ("Time", *KEPT_ATTRIBUTES)}
        header = {key: float(value[0]) for key, value in kept.items() if value is not None}
        try:
            stars = Snapshot(time=header.pop("Time", 0.0), header=header, **members)
        except (ValueError, TypeError) as error:
            raise InputError(f"{name}: {error}") from None
        run = first.run(stars.mass) if len(names) == 1 else None
        if run is not None and run.describes(stars):  # no other program has moved the stars
            stars.run = run
        return stars


def _write_gadget(name: str, s: Snapshot) -> None:
    """Write a snapshot to one file."""
    h5py = require("h5py", "a snapshot in HDF5")
    assert s.types is not None and s.ids is not None
    counts = np.bincount(s.types, minlength=DEFAULT_TYPES)
    run = _valid_run(s)
    with h5py.File(name, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = counts.astype(np.int32)
        header["NumPart_Total"] = counts.astype(np.uint32)
        header["NumPart_Total_HighWord"] = np.zeros(len(counts), np.uint32)
        header["MassTable"] = np.zeros(len(counts))
        # Readers compare the time with that of the run.
        header["Time"] = s.time if run is None else run.time
        header["NumFilesPerSnapshot"] = 1
        for key, value in s.header.items():
            header[key] = value
        for k in np.flatnonzero(counts):
            chosen = s.types == k
            group = file.create_group(f"PartType{k}")
            group["Coordinates"] = s.pos[chosen]
            group["Velocities"] = s.vel[chosen]
            group["Masses"] = s.mass[chosen]
            group["ParticleIDs"] = s.ids[chosen]
        if run is not None:
            state = file.create_group("GDR")
            run = run.ordered(np.argsort(s.types, kind="stable"))
            for key, (name_in_file, _) in NUMBERS.items():
                state.attrs[name_in_file] = getattr(run, key)
            for key, (name_in_file, _) in ARRAYS.items():
                state[name_in_file] = getattr(run, key)
