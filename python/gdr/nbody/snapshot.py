"""Snapshots: GADGET-style HDF5 (needs h5py), and text with a line ``m x y z vx vy vz`` each."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
from typing import Any, List, Optional, Union

import numpy as np

from .._arrays import Floats, Ints, check_finite, floats, ints, number
from ..errors import FileError, InputError

PathLike = Union[str, "os.PathLike[str]"]
_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
_TYPES = 6


@dataclasses.dataclass
class Snapshot:
    """The particles of a simulation at one time, in the units of the user.

    ``pos`` and ``vel`` have shape (n, 3), ``mass`` and ``ids`` (n,). ``types`` are GADGET's particle
    types. Arrays are checked when a snapshot is made: TypeError or ValueError names the argument.
    """

    pos: Floats
    vel: Floats
    mass: Floats
    time: float = 0.0
    ids: Optional[Ints] = None
    types: Optional[Ints] = None

    def __post_init__(self) -> None:
        self.pos = floats("pos", self.pos, ("n", 3))
        n = len(self.pos)
        if n == 0:
            raise ValueError("pos: there are no particles")
        self.vel = floats("vel", self.vel, (n, 3))
        if np.ndim(self.mass) == 0:
            self.mass = np.full(n, number("mass", self.mass))
        self.mass = floats("mass", self.mass, (n,))
        for name in ("pos", "vel", "mass"):
            check_finite(name, getattr(self, name))
        self.time = number("time", self.time)
        self.ids = np.arange(1, n + 1) if self.ids is None else ints("ids", self.ids, (n,))
        self.types = np.ones(n, np.int64) if self.types is None else ints("types", self.types, (n,))
        if ((self.types < 0) | (self.types >= _TYPES)).any():
            raise ValueError(f"types: 0 to {_TYPES - 1} are known")

    def __len__(self) -> int:
        return len(self.mass)


def read(path: PathLike) -> Snapshot:
    """Read a snapshot of either format, told by its content.

    Raises FileError for a file that cannot be read, InputError for one that is no snapshot or holds
    a NaN; the message names file, dataset or line.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            magic = file.read(len(_HDF5_MAGIC))
    except OSError as error:
        raise FileError(f"{name}: {error.strerror}") from None
    return _read_gadget(name) if magic == _HDF5_MAGIC else _read_text(name)


def _read_gadget(name: str) -> Snapshot:
    import h5py

    try:
        file = h5py.File(name, "r")
    except OSError as error:
        raise FileError(f"{name}: {error}") from None
    with file:
        groups = [k for k in range(_TYPES) if f"PartType{k}" in file]
        header: Any = file["Header"].attrs if "Header" in file else {}
        parts: List[Any] = []
        for k in groups:
            group = file[f"PartType{k}"]
            for needed in ("Coordinates", "Velocities"):
                if needed not in group:
                    raise InputError(f"{name}: PartType{k} has no dataset {needed}")
            pos = np.asarray(group["Coordinates"], np.float64)
            if pos.ndim != 2 or pos.shape[1] != 3:
                raise InputError(f"{name}: PartType{k}/Coordinates has shape {pos.shape}")
            n = len(pos)
            vel = np.asarray(group["Velocities"], np.float64)
            if vel.shape != pos.shape:
                raise InputError(f"{name}: PartType{k}/Velocities has shape {vel.shape}")
            if "Masses" in group:
                mass = np.asarray(group["Masses"], np.float64)
            elif "MassTable" in header and np.size(header["MassTable"]) > k:
                mass = np.full(n, float(np.asarray(header["MassTable"])[k]))
            else:
                raise InputError(f"{name}: PartType{k} has no Masses, and no MassTable gives one")
            ids = np.asarray(group["ParticleIDs"]) if "ParticleIDs" in group else None
            parts.append((pos, vel, mass, ids, np.full(n, k)))
        if not parts or not sum(len(p[0]) for p in parts):
            raise InputError(f"{name}: there are no particles (PartType0 to PartType{_TYPES - 1})")
        columns = list(zip(*parts))
        known = all(ids is not None for ids in columns[3])
        try:
            return Snapshot(
                np.concatenate(columns[0]),
                np.concatenate(columns[1]),
                np.concatenate(columns[2]),
                float(np.asarray(header.get("Time", 0.0))),
                np.concatenate(columns[3]).astype(np.int64) if known else None,
                np.concatenate(columns[4]),
            )
        except (ValueError, TypeError) as error:
            raise InputError(f"{name}: {error}") from None


def _read_text(name: str) -> Snapshot:
    rows: List[List[float]] = []
    time = 0.0
    try:
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{name}: this is neither an HDF5 file nor text") from None
    for k, line in enumerate(lines, 1):
        words = line.split("#")
        if line.startswith("#gdr:") and "=" in line:
            key, value = line[5:].split("=", 1)
            if key.strip() == "time":
                time = float(value)
        fields = words[0].split()
        if not fields:
            continue
        if len(fields) != 7:
            raise InputError(f"{name}:{k}: seven numbers are wanted (m x y z vx vy vz)")
        try:
            rows.append([float(f) for f in fields])
        except ValueError as error:
            raise InputError(f"{name}:{k}: {error}") from None
    if not rows:
        raise InputError(f"{name}: there are no particles")
    table = np.array(rows)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        raise InputError(f"{name}: particle {bad[0][0]}: a number is not finite")
    return Snapshot(table[:, 1:4].copy(), table[:, 4:7].copy(), table[:, 0].copy(), time)


def write(path: PathLike, snapshot: Snapshot) -> None:
    """Write a snapshot: ``.hdf5`` and ``.h5`` in GADGET's layout, anything else as text.

    The file appears when it is complete: a failure leaves what was there. Raises FileError.
    """
    name = os.fspath(path)
    folder = pathlib.Path(name).resolve().parent
    handle, temporary = None, ""
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".snapshot")
        os.close(handle)
        if name.endswith((".hdf5", ".h5")):
            _write_gadget(temporary, snapshot)
        else:
            _write_text(temporary, snapshot)
        os.chmod(temporary, 0o644)
        os.replace(temporary, name)
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or error}") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def _write_gadget(name: str, s: Snapshot) -> None:
    import h5py

    assert s.types is not None and s.ids is not None
    counts = np.bincount(s.types, minlength=_TYPES).astype(np.int32)
    with h5py.File(name, "w") as file:
        header = file.create_group("Header").attrs
        header["NumPart_ThisFile"] = counts
        header["NumPart_Total"] = counts.astype(np.uint32)
        header["NumPart_Total_HighWord"] = np.zeros(_TYPES, np.uint32)
        header["MassTable"] = np.zeros(_TYPES)
        header["Time"] = s.time
        header["NumFilesPerSnapshot"] = 1
        for k in np.flatnonzero(counts):
            chosen = s.types == k
            group = file.create_group(f"PartType{k}")
            group["Coordinates"] = s.pos[chosen]
            group["Velocities"] = s.vel[chosen]
            group["Masses"] = s.mass[chosen]
            group["ParticleIDs"] = s.ids[chosen]


def _write_text(name: str, s: Snapshot) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write("# m x y z vx vy vz\n")
        file.write(f"#gdr: time = {s.time!r}\n")
        for row in np.column_stack([s.mass, s.pos, s.vel]).tolist():
            file.write(" ".join(repr(x) for x in row) + "\n")
