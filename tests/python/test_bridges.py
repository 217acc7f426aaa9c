"""Snapshots and forces together with yt, pynbody and AMUSE, where these are installed."""

import warnings

import numpy as np
import pytest

import gdr
from gdr import nbody

h5py = pytest.importorskip("h5py")
N = 100


@pytest.fixture()
def snapshot(tmp_path):
    """A snapshot file, and its stars in the order of their ids."""
    stars = nbody.plummer(N, seed=3)
    stars.header.update(BoxSize=0.0, Redshift=0.0, Omega0=0.0, OmegaLambda=0.0, HubbleParam=1.0)
    path = tmp_path / "stars.hdf5"
    nbody.write(path, stars)
    return path, stars


def test_pynbody_reads_snapshots_and_its_arrays_have_forces(snapshot):
    pynbody = pytest.importorskip("pynbody", reason="the package pynbody is not installed")
    path, stars = snapshot
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file has no units: those of GADGET are used
        loaded = pynbody.load(str(path))
        order = np.argsort(loaded["iord"])
        pos, mass = loaded["pos"][order], loaded["mass"][order]
        vel = loaded["vel"][order]
    assert np.array_equal(pos.view(np.ndarray), stars.pos)
    assert np.array_equal(vel.view(np.ndarray), stars.vel)
    with pytest.raises(TypeError, match="pos: quantities of pynbody .* are not supported"):
        gdr.gravity(pos, mass, 0.1)
    forces = gdr.gravity(pos.view(np.ndarray), mass.view(np.ndarray), 0.1)
    assert np.array_equal(forces.acc, gdr.gravity(stars.pos, stars.mass, 0.1).acc)


def test_yt_reads_snapshots_and_its_arrays_have_forces(snapshot):
    yt = pytest.importorskip("yt", reason="the package yt is not installed")
    yt.set_log_level("error")
    path, stars = snapshot
    units = {"length": (1.0, "kpc"), "velocity": (1.0, "km/s"), "mass": (1e10, "Msun")}
    data = yt.load(str(path), unit_base=units, bounding_box=[[-100, 100]] * 3).all_data()
    order = np.argsort(np.asarray(data["all", "ParticleIDs"]))
    pos = data["all", "particle_position"].to("code_length")[order]
    assert np.allclose(np.asarray(pos), stars.pos, rtol=1e-12)
    mass = data["all", "particle_mass"].to("code_mass")[order]
    with pytest.raises(TypeError, match="pos: quantities of (yt|unyt) .* are not supported"):
        gdr.gravity(pos, mass, 0.1)
    forces = gdr.gravity(pos.value, mass.value, 0.1)
    want = gdr.gravity(stars.pos, stars.mass, 0.1)
    assert np.allclose(forces.acc, want.acc, rtol=1e-6)


def test_particles_of_amuse_have_forces():
    reason = "the package amuse-framework is not installed"
    nbody_system = pytest.importorskip("amuse.units.nbody_system", reason=reason)
    models = pytest.importorskip("amuse.ic.plummer", reason=reason)
    stars = models.new_plummer_model(N)
    with pytest.raises(TypeError, match="pos: quantities of amuse .* are not supported"):
        gdr.gravity(stars.position, stars.mass, 0.1)
    pos = stars.position.value_in(nbody_system.length)
    mass = stars.mass.value_in(nbody_system.mass)
    acc = gdr.gravity(pos, mass, 0.1).acc
    # The forces on all stars add up to zero.
    assert acc.shape == (N, 3) and np.abs((mass[:, None] * acc).sum(0)).max() < 1e-6
