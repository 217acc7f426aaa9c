"""Snapshots: GADGET's HDF5 format (requires h5py), or text with lines ``m x y z vx vy vz``."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import tempfile
from typing import Any, Dict, List, Optional, Union

import numpy as np

from .._arrays import Floats, Ints, check_finite, check_shape, floats, ints, number
from ..errors import FileError, InputError

PathLike = Union[str, "os.PathLike[str]"]
_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
MAX_TYPES = 16
#: Header attributes that are preserved.
KEPT_ATTRIBUTES = ("BoxSize", "Redshift", "Omega0", "OmegaLambda", "HubbleParam")


@dataclasses.dataclass
class Snapshot:
    """The particles of a simulation at one time, in the units of the user.

    ``pos`` and ``vel`` have shape (n, 3), ``mass`` and ``ids`` (n,). ``types`` are GADGET's
    particle types. ``header`` preserves attributes of files that are not used here (BoxSize,
    Redshift, Omega0, OmegaLambda, HubbleParam). The constructor checks the arrays: TypeError or ValueError
    names the argument.
    """

    pos: Floats
    vel: Floats
    mass: Floats
    time: float = 0.0
    ids: Optional[Ints] = None
    types: Optional[Ints] = None
    header: Dict[str, float] = dataclasses.field(default_factory=dict)

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
        self.ids = np.arange(1, n + 1) if self.ids is None else _ids(self.ids, n)
        self.types = np.ones(n, np.int64) if self.types is None else ints("types", self.types, (n,))
        if ((self.types < 0) | (self.types >= MAX_TYPES)).any():
            raise ValueError(f"types: expected 0 to {MAX_TYPES - 1}")

    def __len__(self) -> int:
        return len(self.mass)


def _ids(given: Any, n: int) -> Any:
    """Ids as int64, or as uint64 if int64 cannot represent them."""
    array = np.asarray(given)
    if array.dtype != np.uint64:
        return ints("ids", array, (n,))
    check_shape("ids", array, (n,))
    return array if (array >= 2**63).any() else array.astype(np.int64)


def read(path: PathLike) -> Snapshot:
    """Read a snapshot; the format is detected from the content.

    GADGET files may have no header; masses may be in its MassTable. The name of one file of a
    multi-file snapshot (``name.0.hdf5``, ``name.1.hdf5``, ...) selects all files.

    Raises FileError for a file that cannot be read, InputError for one that is not a snapshot or
    contains a NaN, ImportError if h5py is required and missing; the message names file, dataset or
    line.
    """
    from ._gadget import read_gadget

    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            magic = file.read(len(_HDF5_MAGIC))
    except OSError as error:
        raise FileError(f"{name}: {error.strerror}") from None
    return read_gadget(name) if magic == _HDF5_MAGIC else _read_text(name)


def _read_text(name: str) -> Snapshot:
    rows: List[List[float]] = []
    time = 0.0
    try:
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{name}: neither an HDF5 file nor text") from None
    for k, line in enumerate(lines, 1):
        words = line.split("#")
        if line.startswith("#gdr:") and "=" in line:
            key, value = line[5:].split("=", 1)
            if key.strip() == "time":
                time = _time(name, k, value)
        fields = words[0].split()
        if not fields:
            continue
        if len(fields) != 7:
            raise InputError(f"{name}:{k}: expected seven numbers (m x y z vx vy vz)")
        try:
            rows.append([float(f) for f in fields])
        except ValueError as error:
            raise InputError(f"{name}:{k}: {error}") from None
    if not rows:
        raise InputError(f"{name}: no particles")
    table = np.array(rows)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        raise InputError(f"{name}: particle {bad[0][0]}: a number is not finite")
    return Snapshot(table[:, 1:4].copy(), table[:, 4:7].copy(), table[:, 0].copy(), time)


def _time(name: str, line: int, text: str) -> float:
    try:
        return number("time", float(text))
    except ValueError:
        raise InputError(f"{name}:{line}: the time is {text.strip()!r}, not a number") from None


def write(path: PathLike, snapshot: Any) -> None:
    """Write a snapshot or the state of a run: ``.hdf5`` and ``.h5`` in GADGET's format, other
    extensions as text (without types and ids).

    The file is written atomically: after a failure an existing file is unchanged. Raises FileError.
    """
    if not isinstance(snapshot, Snapshot):
        if not callable(getattr(snapshot, "snapshot", None)):
            what = type(snapshot).__name__
            raise TypeError(f"snapshot: expected a Snapshot or a State, got {what}")
        snapshot = snapshot.snapshot()
    from ._gadget import write_gadget

    name = os.fspath(path)
    folder = pathlib.Path(name).resolve().parent
    handle, temporary = None, ""
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".snapshot")
        os.close(handle)
        if name.endswith((".hdf5", ".h5")):
            write_gadget(temporary, snapshot)
        else:
            _write_text(temporary, snapshot)
        os.chmod(temporary, 0o644)
        os.replace(temporary, name)
    except OSError as error:
        raise FileError(f"{name}: {error.strerror or error}") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def _write_text(name: str, s: Snapshot) -> None:
    with open(name, "w", encoding="utf-8") as file:
        file.write("# m x y z vx vy vz\n")
        file.write(f"#gdr: time = {s.time!r}\n")
        for row in np.column_stack([s.mass, s.pos, s.vel]).tolist():
            file.write(" ".join(repr(x) for x in row) + "\n")
