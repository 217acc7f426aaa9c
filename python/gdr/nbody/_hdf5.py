"""HDF5 files through h5py: one that the library's reader of snapshots reads (libgdr/io), and
writing."""

from __future__ import annotations

import os
from typing import Any, List, NoReturn, Optional, Tuple

import numpy as np

from .._arrays import AnyArray
from .._system import require
from ..errors import FileError, InputError
from ._storage import missing_data, missing_filter, open_in_writer
from .run import ARRAYS, OPTIONAL, HermiteRun, stored_run

DEFAULT_TYPES = 6  #: particle types in every header


def damaged(name: str, error: Exception) -> str:
    """The message for an error of the HDF5 library about a file."""
    return f"{name}: a damaged HDF5 file, or one cut short ({error}); fetch it again"


class File:
    """A file open for reading: ``StoredFile`` of libgdr/io/stored_file.hpp. Error messages contain
    its name and the place of the error."""

    def __init__(self, name: bytes) -> None:
        h5py = require("h5py", "a snapshot in HDF5")
        self.name = os.fsdecode(name)
        self.empty = h5py.Empty
        self.all = h5py.h5s.ALL
        try:
            self.file = h5py.File(self.name, "r")
        except OSError as error:
            writer = open_in_writer(self.name, str(error))
            if writer:
                raise FileError(writer) from None
            if isinstance(error, (FileNotFoundError, PermissionError, IsADirectoryError)):
                raise FileError(f"{self.name}: {error}") from None
            raise InputError(damaged(self.name, error)) from None

    def close(self) -> None:
        self.file.close()

    def fail(self, where: str, message: str) -> NoReturn:
        raise InputError(f"{self.name}: {where} {message}")

    def has(self, path: str) -> bool:
        """Whether there is a group or a dataset of this name, or a link, even to nothing."""
        return path in self.file

    def stored(self, name: str) -> Any:
        """The dataset of this name."""
        try:
            found = self.file[name]
        except KeyError:
            self.fail(name, "is a link to something that does not exist")
        if not hasattr(found, "dtype"):
            self.fail(name, "is not a dataset")
        return found

    def shape(self, dataset: str) -> Tuple[int, ...]:
        """(0,) for a dataset without a shape."""
        shape: Optional[Tuple[int, ...]] = self.stored(dataset).shape
        return (0,) if shape is None else shape

    def kind(self, dataset: str) -> str:
        """The kind of numbers: "f", "i", "u", or another one."""
        return str(self.stored(dataset).dtype.kind)

    def check(self, dataset: str) -> None:
        """Raises InputError unless the dataset holds numbers, all of which were written."""
        stored = self.stored(dataset)
        missing = missing_data(stored, self.name)
        if missing:
            self.fail(dataset, missing)
        if stored.dtype.kind not in "iuf":
            self.fail(dataset, "does not hold numbers")

    def read(self, dataset: str, into: AnyArray) -> None:
        """Fills an array with all numbers of a dataset, converted to its type."""
        stored = self.stored(dataset)
        if stored.size != into.size:
            self.fail(dataset, f"has {stored.size} numbers; expected {into.size}")
        try:
            stored.id.read(self.all, self.all, into)
        except (OSError, RuntimeError) as error:
            lacking = missing_filter(stored)
            if lacking:
                self.fail(dataset, lacking)
            raise FileError(f"{self.name}: {dataset} cannot be read: {error}") from None

    def attribute(self, owner: str, name: str) -> Optional[List[float]]:
        """The numbers of an attribute; None where it, or its group, is missing or empty."""
        if owner not in self.file or name not in self.file[owner].attrs:
            return None
        where = f"{owner}/{name}"
        try:
            stored = self.file[owner].attrs[name]
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            self.fail(where, f"cannot be read: {error}")
        if isinstance(stored, self.empty):
            return None
        values = np.ravel(np.asarray(stored))
        if values.dtype.kind not in "iuf":
            self.fail(where, "does not hold a number")
        numbers: List[float] = values.astype(np.float64).tolist()
        return numbers or None


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
            numbers, arrays = stored_run(run.ordered(np.argsort(s.types, kind="stable")))
            for key, value in numbers.items():
                if value != 0 or key not in OPTIONAL:
                    state.attrs[key] = value
            for key, values in zip(ARRAYS.values(), arrays):
                state[key] = values
