"""GADGET's HDF5 format, in one file or several. The command ``gdr`` reads the same files
(libgdr/io/gadget.cpp), which ``tests/python/test_snapshot_layouts.py`` compares."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, Dict, List, NoReturn, Optional, Tuple, Union

import numpy as np

from .._arrays import AnyArray, Floats
from .._system import require
from ..errors import Error, FileError, InputError
from ._storage import missing_data, missing_filter, open_in_writer
from .run import ARRAYS, NUMBERS, HermiteRun, check_arrays, checked_number, run_of

MAX_TYPES = 16
DEFAULT_TYPES = 6  #: particle types in every header
#: Header attributes that are preserved.
KEPT_ATTRIBUTES = ("BoxSize", "Redshift", "Omega0", "OmegaLambda", "HubbleParam")
#: What files of one snapshot have in common, in the header.
_COMMON = (
    "NumFilesPerSnapshot",
    "Time",
    "Redshift",
    "BoxSize",
    "NumPart_Total",
    "NumPart_Total_HighWord",
)
#: A number of the header, or several: the three edges of a box.
HeaderValue = Union[float, Tuple[float, ...]]


def _damaged(name: str, error: Exception) -> str:
    return f"{name}: a damaged HDF5 file, or one cut short ({error}); fetch it again"


class _File:
    """One file; error messages contain its name and the place of the error."""

    def __init__(self, name: str) -> None:
        h5py = require("h5py", "a snapshot in HDF5")
        self.name = name
        self.empty = h5py.Empty
        try:
            self.file = h5py.File(name, "r")
        except OSError as error:
            writer = open_in_writer(name, str(error))
            if writer:
                raise FileError(writer) from None
            if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError)):
                raise FileError(f"{name}: {error}") from None
            raise InputError(_damaged(name, error)) from None
        self.header: Any = self.file["Header"].attrs if "Header" in self.file else {}

    def fail(self, where: str, message: str) -> NoReturn:
        raise InputError(f"{self.name}: {where} {message}")

    def attribute(self, name: str) -> Optional[AnyArray]:
        """An attribute of the header, as a flat array; None where it is missing or empty."""
        if name not in self.header:
            return None
        stored = self.header[name]
        if isinstance(stored, self.empty):
            return None
        values = np.ravel(np.asarray(stored))
        if values.dtype.kind not in "iuf":
            self.fail(f"Header/{name}", "is not a number")
        return values if len(values) else None

    def integers(self, name: str) -> Optional[List[int]]:
        """The integers of an attribute of the header, which may be stored as floats."""
        values = self.attribute(name)
        if values is None:
            return None
        if (
            values.dtype.kind == "f"
            and not (np.isfinite(values) & (values == values.round())).all()
        ):
            self.fail(f"Header/{name}", f"is {values.tolist()}: expected integers")
        return [int(value) for value in values]

    def stored(self, name: str) -> Any:
        """The dataset of this name."""
        try:
            found = self.file[name]
        except KeyError:
            self.fail(name, "is a link to something that does not exist")
        if not hasattr(found, "dtype"):
            self.fail(name, "is not a dataset")
        return found

    def dataset(self, name: str, shape: Any) -> AnyArray:
        """A dataset of numbers with this shape; one column may also be stored as a matrix."""
        try:
            stored = self.stored(name)
            if stored.shape is None:
                self.fail(name, "has no values")
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
        """Number of particles of a type: none where the dataset has no values, or no shape."""
        group = f"PartType{kind}"
        counts = self.integers("NumPart_ThisFile")
        expected = None if counts is None else counts[kind] if kind < len(counts) else 0
        found = 0
        if f"{group}/Coordinates" in self.file:
            stored = self.stored(f"{group}/Coordinates")
            if stored.size:
                if len(stored.shape) != 2 or stored.shape[1] != 3:
                    self.fail(f"{group}/Coordinates", f"has shape {stored.shape}; expected (n, 3)")
                found = int(stored.shape[0])
        elif group in self.file:
            others = ("Velocities", "Masses", "ParticleIDs")
            holds = any(f"{group}/{name}" in self.file for name in others)
            if expected or (expected is None and holds):
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

    def velocities(self, kind: int, n: int, wanted: bool) -> AnyArray:
        """Velocities, or zeros where they are not wanted."""
        name = f"PartType{kind}/Velocities"
        if not wanted:
            return np.zeros((n, 3))
        if name not in self.file:
            self.fail(
                f"PartType{kind}",
                "has no dataset Velocities; gdr.nbody.read(..., velocities=False) reads it with "
                "velocities of zero",
            )
        return self.dataset(name, (n, 3)).astype(np.float64)

    def part(self, kind: int, n: int, velocities: bool) -> Dict[str, AnyArray]:
        """All particles of a type, by the arguments of Snapshot."""
        group = f"PartType{kind}"
        columns = {
            "pos": self.dataset(f"{group}/Coordinates", (n, 3)).astype(np.float64),
            "vel": self.velocities(kind, n, velocities),
            "mass": self.masses(kind, n),
            "types": np.full(n, kind),
        }
        if f"{group}/ParticleIDs" in self.file:
            ids = columns["ids"] = self.dataset(f"{group}/ParticleIDs", (n,))
            if ids.dtype.kind not in "iu":
                self.fail(f"{group}/ParticleIDs", f"has type {ids.dtype}; expected integers")
        return columns


def _names(first: _File) -> List[str]:
    """Names of all files of the snapshot that this file belongs to: of ``snap.3.hdf5``
    snap.0.hdf5, ..., of ``snap.003.hdf5`` snap.000.hdf5, ...."""
    files = first.integers("NumFilesPerSnapshot")
    count = 1 if files is None else files[0]
    if count <= 1:
        return [first.name]
    folder, base = os.path.split(first.name)
    numbered = re.fullmatch(r"(.*\.)(\d{1,9})(\.[^.]+)?", base)
    if numbered is None or int(numbered.group(2)) >= count:
        first.fail(
            "Header/NumFilesPerSnapshot:",
            f"this is one of {count} files of a snapshot; the name of the file must have the form "
            f"snapshot.0.hdf5, with a number from 0 to {count - 1}",
        )
    stem, digits, end = numbered.group(1), numbered.group(2), numbered.group(3) or ""

    def name(k: int, width: int) -> str:
        return os.path.join(folder, f"{stem}{k:0{width}}{end}")

    # Numbers of two or more digits may be filled with zeros.
    filled = len(digits) > 1 and (digits[0] == "0" or not os.path.exists(name(0, 1)))
    names = []
    for k in range(count):
        names.append(name(k, len(digits) if filled else 1))
        if not os.path.exists(names[-1]):
            raise FileError(
                f"{first.name}: one of {count} files of a snapshot; '{names[-1]}' is missing"
            )
    return names


def _check_same_snapshot(first: _File, other: _File) -> None:
    """Files of one snapshot have the same time, size and numbers of particles."""
    for key in _COMMON:
        there, here = first.attribute(key), other.attribute(key)
        if here is not None and not np.isfinite(here).all():
            other.fail(f"Header/{key}", "is not a finite number")
        if there is None and here is None:
            continue
        if there is None or here is None or not np.array_equal(there, here):
            texts = [
                "missing" if values is None else ", ".join(str(v) for v in values.tolist())
                for values in (here, there)
            ]
            other.fail(
                f"Header/{key}",
                f"is {texts[0]}, but {texts[1]} in '{first.name}': they are files of different "
                "snapshots",
            )


def _check_total(first: _File, types: AnyArray) -> None:
    total = first.integers("NumPart_Total")
    if total is None:
        return
    high = first.integers("NumPart_Total_HighWord")
    found = np.bincount(types, minlength=MAX_TYPES)
    for kind, low in enumerate(total[:MAX_TYPES]):
        expected = low + (high[kind] << 32 if high is not None and kind < len(high) else 0)
        if expected != found[kind]:
            first.fail(
                "Header/NumPart_Total",
                f"gives {expected} particles of type {kind}, but its files have {found[kind]}",
            )


def _joined_ids(file: _File, parts: List[AnyArray]) -> AnyArray:
    """The ids of all types and files, in one type of integers that represents all of them."""
    if len({ids.dtype.kind for ids in parts}) == 1:
        return np.concatenate(parts)
    large = any(ids.dtype.kind == "u" and (ids.astype(np.uint64) >= 2**63).any() for ids in parts)
    negative = any(ids.dtype.kind == "i" and (ids < 0).any() for ids in parts)
    if large and negative:
        file.fail(
            "ParticleIDs:",
            "negative ids of one type and ids from 2^63 on of another do not fit one type of "
            "number; renumber them",
        )
    return np.concatenate([ids.astype(np.uint64 if large else np.int64) for ids in parts])


def _header_value(values: AnyArray) -> HeaderValue:
    numbers = tuple(float(value) for value in values)
    return numbers[0] if len(numbers) == 1 else numbers


def _parts(first: _File, names: List[str], velocities: bool) -> List[Dict[str, AnyArray]]:
    """The particles of each type in each file, ordered by type."""
    parts: List[Dict[str, AnyArray]] = []
    for each in names:
        one = first if os.path.basename(each) == os.path.basename(first.name) else _File(each)
        with one.file if one is not first else contextlib.nullcontext():
            _check_same_snapshot(first, one)
            counts = [one.count(kind) for kind in range(MAX_TYPES)]
            parts += [one.part(kind, n, velocities) for kind, n in enumerate(counts) if n]
    if not parts:
        first.fail("PartType0, PartType1, ...:", "no particles")
    parts.sort(key=lambda part: int(part["types"][0]))
    if len({"ids" in part for part in parts}) > 1:
        first.fail("ParticleIDs:", "some particles have ids and some have none")
    return parts


def read_gadget(name: str, velocities: bool) -> Tuple[Dict[str, Any], Optional[HermiteRun]]:
    """The particles of all types and all files of a snapshot, ordered by type, as the arguments of
    ``Snapshot``, and the run with block steps that wrote it."""
    try:
        return _read(name, velocities)
    except Error:
        raise
    except (OSError, RuntimeError, KeyError) as error:
        raise InputError(_damaged(name, error)) from None


def _read(name: str, velocities: bool) -> Tuple[Dict[str, Any], Optional[HermiteRun]]:
    first = _File(name)
    with first.file:
        names = _names(first)
        parts = _parts(first, names, velocities)
        members: Dict[str, Any] = {
            key: np.concatenate([part[key] for part in parts]) for key in parts[0] if key != "ids"
        }
        if "ids" in parts[0]:
            members["ids"] = _joined_ids(first, [part["ids"] for part in parts])
        if len(names) > 1:
            _check_total(first, members["types"])
        time = first.attribute("Time")
        members["time"] = 0.0 if time is None else float(time[0])
        kept = {key: first.attribute(key) for key in KEPT_ATTRIBUTES}
        members["header"] = {
            key: _header_value(value) for key, value in kept.items() if value is not None
        }
        run = first.run(members["mass"]) if len(names) == 1 and velocities else None
        return members, run


def write_gadget(name: str, s: Any, run: Optional[HermiteRun]) -> None:
    """Write a snapshot to one file, with the state of a run."""
    h5py = require("h5py", "a snapshot in HDF5")
    assert s.types is not None and s.ids is not None
    counts = np.bincount(s.types, minlength=DEFAULT_TYPES)
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
