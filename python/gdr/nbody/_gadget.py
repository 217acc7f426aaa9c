"""Snapshots in GADGET's HDF5 format."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, List, NoReturn, Optional

import numpy as np

from .._arrays import AnyArray
from .._optional import require
from ..errors import FileError, InputError
from .snapshot import KEPT_ATTRIBUTES, MAX_TYPES, Snapshot

_DEFAULT_TYPES = 6  #: particle types in every header


class _File:
    """One file; error messages contain its name and the place of the error."""

    def __init__(self, name: str) -> None:
        h5py = require("h5py", "a snapshot in HDF5")
        self.name = name
        try:
            self.file = h5py.File(name, "r")
        except OSError as error:
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
            values = np.asarray(self.file[name])
        except (OSError, RuntimeError) as error:
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

    def masses(self, kind: int, n: int) -> AnyArray:
        """Masses from the dataset, or from the header's MassTable."""
        name = f"PartType{kind}/Masses"
        if name in self.file:
            return self.dataset(name, (n,)).astype(np.float64)
        table = self.attribute("MassTable")
        if table is None or kind >= len(table) or table[kind] == 0:
            self.fail(f"PartType{kind}", "has no dataset Masses and no mass in MassTable")
        return np.full(n, float(table[kind]))

    def part(self, kind: int, n: int) -> Dict[str, Any]:
        """All particles of a type."""
        group = f"PartType{kind}"
        if f"{group}/Velocities" not in self.file:
            self.fail(group, "has no dataset Velocities")
        ids = None
        if f"{group}/ParticleIDs" in self.file:
            ids = self.dataset(f"{group}/ParticleIDs", (n,))
            if ids.dtype.kind not in "iu":
                self.fail(f"{group}/ParticleIDs", f"has type {ids.dtype}; expected integers")
        return {
            "pos": self.dataset(f"{group}/Coordinates", (n, 3)).astype(np.float64),
            "vel": self.dataset(f"{group}/Velocities", (n, 3)).astype(np.float64),
            "mass": self.masses(kind, n),
            "ids": ids,
            "types": np.full(n, kind),
        }


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


def read_gadget(name: str) -> Snapshot:
    """Read the particles of all types and all files of a snapshot, ordered by type."""
    first = _File(name)
    with first.file:
        names = _names(first)
        parts: List[Dict[str, Any]] = []
        for each in names:
            one = first if os.path.basename(each) == os.path.basename(name) else _File(each)
            counts = [one.count(kind) for kind in range(MAX_TYPES)]
            parts += [one.part(kind, n) for kind, n in enumerate(counts) if n]
            if one is not first:
                one.file.close()
        if not parts:
            first.fail("PartType0, PartType1, ...:", "no particles")
        parts.sort(key=lambda part: int(part["types"][0]))
        columns = {key: [part[key] for part in parts] for key in parts[0]}
        known = [ids is not None for ids in columns["ids"]]
        if any(known) and not all(known):
            first.fail("ParticleIDs:", "some particles have ids and some have none")
        types = np.concatenate(columns["types"])
        if len(names) > 1:
            _check_total(first, types)
        time = first.attribute("Time")
        kept = {key: first.attribute(key) for key in KEPT_ATTRIBUTES}
        try:
            return Snapshot(
                np.concatenate(columns["pos"]),
                np.concatenate(columns["vel"]),
                np.concatenate(columns["mass"]),
                0.0 if time is None else float(time[0]),
                np.concatenate(columns["ids"]) if all(known) else None,
                types,
                {key: float(value[0]) for key, value in kept.items() if value is not None},
            )
        except (ValueError, TypeError) as error:
            raise InputError(f"{name}: {error}") from None


def write_gadget(name: str, s: Snapshot) -> None:
    """Write a snapshot to one file."""
    h5py = require("h5py", "a snapshot in HDF5")
    assert s.types is not None and s.ids is not None
    counts = np.bincount(s.types, minlength=_DEFAULT_TYPES)
    with h5py.File(name, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = counts.astype(np.int32)
        header["NumPart_Total"] = counts.astype(np.uint32)
        header["NumPart_Total_HighWord"] = np.zeros(len(counts), np.uint32)
        header["MassTable"] = np.zeros(len(counts))
        header["Time"] = s.time
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
