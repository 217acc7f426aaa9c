"""What a dataset of HDF5 lacks: the HDF5 library reads missing parts as zeros, without an error."""

from __future__ import annotations

import os
import shlex
from typing import Any, Iterator, List, Optional

from .._system import require

#: Filters of the package hdf5plugin.
_PLUGINS = {307, 32001, 32004, 32008, 32013, 32015, 32017, 32018, 32024, 32026, 32028, 32033}
#: Virtual datasets whose sources are virtual in turn.
_MOST_LEVELS = 8


def missing_data(dataset: Any, file_name: str, level: int = 0) -> Optional[str]:
    """Why numbers of this dataset would be read as zeros, or cannot be read: parts in other files
    that are missing, or numbers that were never written. None if it is complete."""
    if dataset.size is None or dataset.size == 0:
        return None
    if dataset.is_virtual:
        return _missing_sources(dataset, file_name, level)
    if dataset.external:
        return _missing_raw_files(dataset)
    if dataset.chunks is None:
        if dataset.id.get_storage_size() < dataset.size * dataset.dtype.itemsize:
            return f"has {dataset.size} numbers, which were never written"
        return None
    expected = 1
    for size, chunk in zip(dataset.shape, dataset.chunks):
        expected *= -(-size // chunk)
    written = dataset.id.get_num_chunks()
    if written < expected:
        return f"has {expected} chunks of numbers, of which {expected - written} were never written"
    return None


def missing_filter(dataset: Any) -> Optional[str]:
    """The first filter of a dataset that this h5py lacks; None if it has all."""
    h5z = require("h5py", "a snapshot in HDF5").h5z
    properties = dataset.id.get_create_plist()
    for index in range(properties.get_nfilters()):
        number, _, _, name = properties.get_filter(index)
        if not h5z.filter_avail(number):
            text = name.decode(errors="replace").split(";")[0].strip()
            advice = (
                "install hdf5plugin and import it before gdr.nbody.read"
                if number in _PLUGINS
                else "hdf5plugin lacks it, too: ask the file's author for one that is packed by "
                "gzip, or name the folder of the filter's plugin in HDF5_PLUGIN_PATH"
            )
            packed = f"is packed by filter {number} ({text or 'without a name'})"
            return f"{packed}, which this h5py lacks; {advice}"
    return None


def open_in_writer(name: str, error: str) -> Optional[str]:
    """What to say about a file that another program has open for writing, as HDF5's error tells;
    None for other errors."""
    if "lock file" in error:
        return f"{name} is open in a program that writes it; wait until it has closed the file"
    if "already open for write" in error:
        return (
            f"{name} is open in a program that writes it, or that program ended without closing it; "
            "wait until it has closed the file, or, if it has ended, run "
            f"h5clear -s {shlex.quote(name)} (of the package hdf5-tools)"
        )
    return None


def _candidates(name: str, file_name: str) -> Iterator[str]:
    """Where the HDF5 library looks for the source file of a virtual dataset."""
    inside = os.path.basename(name) if os.path.isabs(name) else name
    if os.path.isabs(name):
        yield name
    for prefix in os.environ.get("HDF5_VDS_PREFIX", "").split(":"):
        if prefix:
            yield os.path.join(prefix, inside)
    yield os.path.join(os.path.dirname(file_name), inside)
    yield inside
    yield os.path.join(os.path.dirname(os.path.realpath(file_name)), inside)


def _missing_sources(dataset: Any, file_name: str, level: int) -> Optional[str]:
    if level >= _MOST_LEVELS:
        return "is made of parts that are made of parts, and so on"
    covered, unlimited = 0, False
    for source in dataset.virtual_sources():
        found = _missing_source(dataset, source, file_name, level)
        if found:
            return found
        points = source.vspace.get_select_npoints()
        unlimited = unlimited or points < 0 or points > dataset.size
        covered += points
    if not unlimited and covered < dataset.size:
        return f"is made of parts that hold {covered} of its {dataset.size} numbers"
    return None


def _missing_source(dataset: Any, source: Any, file_name: str, level: int) -> Optional[str]:
    h5py = require("h5py", "a snapshot in HDF5")
    where = f"'{source.dset_name}' in '{source.file_name}'"
    if "%" in source.file_name + source.dset_name:
        return f"is made of parts with numbered names ({where}), which are not read"
    if source.file_name == ".":
        return _missing_part(dataset.file, source, where, file_name, level)
    paths: List[str] = [p for p in _candidates(source.file_name, file_name) if os.path.isfile(p)]
    if not paths:
        return f"is made of parts in other files, of which '{source.file_name}' is missing"
    try:
        with h5py.File(paths[0], "r") as file:
            return _missing_part(file, source, where, paths[0], level)
    except OSError as error:
        return f"is made of parts, of which {where} cannot be opened ({error})"


def _missing_part(file: Any, source: Any, where: str, path: str, level: int) -> Optional[str]:
    h5py = require("h5py", "a snapshot in HDF5")
    part = file.get(source.dset_name)
    if not isinstance(part, h5py.Dataset):
        return f"is made of parts, of which {where} cannot be opened"
    if (part.size or 0) < source.vspace.get_select_npoints():
        return f"is made of parts, of which {where} is too short"
    missing = missing_data(part, path, level + 1)
    return f"is made of parts, of which {where} {missing}" if missing else None


def _missing_raw_files(dataset: Any) -> Optional[str]:
    wanted, there = dataset.size * dataset.dtype.itemsize, 0
    for name, offset, size in dataset.external:
        if not os.path.isabs(name):
            name = os.path.join(os.environ.get("HDF5_EXTFILE_PREFIX", ""), name)
        if not os.path.isfile(name):
            return f"is stored in other files, of which '{name}' is missing"
        there += min(max(os.path.getsize(name) - offset, 0), size)
    return None if there >= wanted else "is stored in other files, which are too short"
