"""Shared fixtures and helpers: devices, star clusters with reference forces, MPI environment."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import tempfile
import time
from typing import Dict, Iterator, NamedTuple

import numpy as np
import pytest

import gdr

# A shell that starts tests in the background lets them ignore SIGINT, with which some interrupt calls.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests and the processes that they start share the kernels that they compile, but use none of another run, nor leave
# some to the user.
_kernels = tempfile.TemporaryDirectory(prefix="gdr-kernels-")
os.environ["GDR_CACHE_DIR"] = _kernels.name

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Packages from PyPI that Debian does not have (`make test` installs them); its own come first.
PEERS = ROOT / "build/peer-packages/lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
sys.path.append(str(PEERS))
DATA = ROOT / "examples" / "data"
#: The command gdr of the same build.
COMMAND = pathlib.Path(gdr._core.library_folder()) / "gdr"


def first_seed() -> int:
    """The seed of random tests: GDR_TEST_SEED, else one of the day (UTC). pytest shows it if they fail."""
    seed = int(os.environ.get("GDR_TEST_SEED", int(time.time()) // 86400 * 10000))
    print(f"random tests with GDR_TEST_SEED={seed}")
    return seed


class Cluster(NamedTuple):
    """A snapshot with REBOUND's accelerations and potentials, summed in double precision."""

    pos: np.ndarray
    mass: np.ndarray
    eps: float
    acc: np.ndarray
    pot: np.ndarray


def read_cluster(n: int) -> Cluster:
    h5py = pytest.importorskip("h5py")
    with h5py.File(DATA / f"plummer_{n}.hdf5") as snapshot:
        pos = snapshot["PartType1/Coordinates"][:]
        mass = snapshot["PartType1/Masses"][:]
    with h5py.File(DATA / f"plummer_{n}_reference.hdf5") as reference:
        eps = float(reference.attrs["softening"])
        return Cluster(pos, mass, eps, reference["Acceleration"][:], reference["Potential"][:])


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    return read_cluster(1024)


@pytest.fixture()
def device() -> Iterator[gdr.Device]:
    with gdr.open("exact") as opened:
        yield opened


@pytest.fixture(scope="module")
def native() -> Iterator[gdr.Device]:
    """A device with the fastest engine."""
    with gdr.open(engine="native") as opened:
        yield opened


@pytest.fixture(scope="session")
def rng() -> np.random.Generator:
    return np.random.default_rng(20240817)


def direct_gravity(pos, mass, eps, targets=None):
    """Direct summation in double precision: the reference of all devices."""
    positions = pos if targets is None else targets
    d = pos[None] - positions[:, None]
    r2 = (d**2).sum(-1) + eps**2
    with np.errstate(divide="ignore"):
        inverse = np.where(r2 > 0, 1 / np.sqrt(r2), 0.0)
    if targets is None:
        np.fill_diagonal(inverse, 0.0)
    acc = (mass[None, :, None] * d * inverse[..., None] ** 3).sum(1)
    return acc, -(mass * inverse).sum(1)


def error(got, want) -> float:
    """Relative error: rms of the difference over rms of the reference."""
    return float(np.sqrt(((got - want) ** 2).sum() / (want**2).sum()))


def read_only(array):
    """The same array, made read-only."""
    array.flags.writeable = False
    return array


def mpi_environment() -> Dict[str, str]:
    """The environment of a program under mpirun, without variables of an enclosing MPI job."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMIX_"))}
    return {**clean, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
