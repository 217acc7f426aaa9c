"""Kernel functions and `gdr force` give bit-identical forces."""

import inspect
import subprocess

import numpy as np
import pytest
from conftest import COMMAND

import gdr

h5py = pytest.importorskip("h5py")
pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason="the command gdr was not built")

DATASETS = {"acc": "Acceleration", "pot": "Potential", "jerk": "Jerk", "snap": "Snap"}
DATASETS["pn"] = "PostNewtonian"
COLUMNS = {"force": ("fx", "fy", "fz"), "field": ("ex", "ey", "ez")}
#: Lengths, which the command takes as squares; `eps` is --eps.
EPS, LENGTHS = 0.25, {"rc": 2.5, "radius": 0.75}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """Stars; two have the same position, one has no mass."""
    random = np.random.default_rng(4)
    pos = random.integers(-40, 40, (60, 3)) / 16.0
    pos[7] = pos[3]
    vel = random.integers(-40, 40, (60, 3)) / 16.0
    mass = random.integers(8, 32, 60) / 16.0
    mass[11] = 0.0
    path = tmp_path_factory.mktemp("stars") / "stars.txt"
    rows = np.column_stack([mass, pos, vel]).tolist()
    path.write_text("".join(" ".join(map(repr, row)) + "\n" for row in rows))
    return path, {"pos": pos, "vel": vel, "mass": mass}


@pytest.mark.parametrize("name", gdr.builtin_names())
def test_python_forces_are_bit_identical_to_the_command(name, snapshot, tmp_path):
    path, stars = snapshot
    kernel = gdr.builtin(name)
    given, sets = dict(stars), []
    for variable in kernel.variables:
        stem = variable.name.rstrip("ij") if variable.role in ("source", "target") else ""
        argument = {"q": "charge", "s": "sigma", "e": "root_epsilon", "h": "h"}.get(stem)
        argument = argument or {"c": "sound", "rho": "rho", "p": "p"}.get(stem)
        if argument:
            given[argument] = 0.625
            sets.append(f"{variable.name}=0.625")
        elif stem == "e2":
            sets.append(f"{variable.name}={EPS**2!r}")
        elif stem == "t" or stem.startswith(("a2", "j6", "s18")):  # of sources that move
            given[stem] = 0.125
            sets.append(f"{variable.name}=0.125")
        elif stem == "dt":
            given["dt"] = 0.375
            sets.append(f"{variable.name}=0.375")
        elif stem in ("hi2", "h2") or variable.name == "hi2":
            given["radius"] = LENGTHS["radius"]
            sets.append(f"{variable.name}={LENGTHS['radius'] ** 2!r}")
        elif variable.role == "param" and variable.name == "rc2":
            given["rc"] = LENGTHS["rc"]
            sets.append(f"rc2={LENGTHS['rc'] ** 2!r}")
        elif variable.role == "param" and variable.name != "eps2":
            given[variable.name] = 0.375
            sets.append(f"{variable.name}=0.375")
    given["eps"] = EPS
    if name == "gravity_snap":
        given["acc"] = gdr.gravity(stars["pos"], stars["mass"], EPS).acc
    if name == "gravity":
        del given["vel"]  # with velocities, jerks are computed with another kernel
    out = tmp_path / "forces.hdf5"
    command = [COMMAND, "force", path, "--eps", str(EPS), "--kernel", name, "-o", out]
    for one in sets:
        command += ["--set", one]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    function = getattr(gdr, name)
    known = inspect.signature(function).parameters
    result = function(**{k: v for k, v in given.items() if k in known})
    compared = 0
    with h5py.File(out) as forces:
        for field in result._fields:
            got = getattr(result, field)
            if field in COLUMNS:
                want = np.column_stack([forces[column][:] for column in COLUMNS[field]])
            else:
                want = forces[DATASETS.get(field, field)][:]
            assert np.array_equal(got, want), field
            compared += 1
    assert compared == len(result._fields) > 0
