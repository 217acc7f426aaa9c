"""The example of a Lennard-Jones liquid, and the runs of its benchmark: energy is conserved."""

import importlib.util

import numpy as np
import pytest
from conftest import ROOT

import gdr


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_liquid_conserves_its_energy_and_melts():
    liquid = module(ROOT / "examples" / "python" / "liquid.py")
    _, temperature, pressure, energy = np.array(list(liquid.simulate(5, 300))).T
    assert np.std(energy) < 1e-3
    assert abs(np.polyfit(np.arange(len(energy)), energy, 1)[0]) * len(energy) < 1e-3
    assert temperature[-10:].mean() == pytest.approx(0.72, abs=0.08)
    assert 0 < pressure[-10:].mean() < 3


def test_runs_of_the_benchmark_are_the_plain_leapfrog():
    liquid = module(ROOT / "bench" / "liquid.py")
    pos, edge = liquid.lattice(3)
    random = np.random.default_rng(5)
    pos += random.normal(0, 0.05, pos.shape)
    vel = random.normal(size=pos.shape)
    device = gdr.open("emulator:engine=native")
    one = liquid.Gdr(liquid.LAW, pos, vel, edge, 0.3, device)
    two = liquid.Gdr(gdr.lennard_jones, pos, vel, edge, 0.3, device, rc2=6.25)
    np.testing.assert_allclose(one.acc, two.acc, atol=1e-10)

    def forces(x):
        d = x[:, None] - x
        d -= edge * np.round(d / edge)  # the cut-off is below half of the box
        r2 = (d**2).sum(-1)
        s = np.where((r2 > 0) & (r2 < 6.25), 1 / np.where(r2 > 0, r2, 1), 0)
        return ((24 * (2 * s**6 - s**3) * s)[..., None] * d).sum(1)

    assert edge > 5
    a = forces(pos)
    for _ in range(20):
        vel = vel + liquid.STEP / 2 * a
        pos = pos + liquid.STEP * vel
        a = forces(pos)
        vel = vel + liquid.STEP / 2 * a
    one.run(20)
    np.testing.assert_allclose(one.pos, pos, atol=1e-9)
    assert one.pairs.statistics.lists_made < 10
