"""Every Python block of README, tutorial and guide runs, from the first to the last."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

from gdr import _mpi

#: What the guide takes for granted.
GIVEN = """
import numpy as np, gdr
from gdr import linalg
random = np.random.default_rng(3)
n = 20
pos, vel, places = random.normal(size=(n, 3)), random.normal(size=(n, 3)), np.eye(3)
mass, ids, m = np.ones(n), np.arange(n), np.ones(n)
own_pos, own_mass = pos, mass
x, y, z = pos.T.copy()
speeds = places
a, b = random.normal(size=(n, n)) + n * np.eye(n), random.normal(size=(n, n))
a1, a2, a3 = a, a + 1, a + 2
c = np.zeros((n, n))
s = a @ a.T
t = np.tril(a)
stack, sides = random.normal(size=(5, 7, 7)) + 4 * np.eye(7), random.normal(size=(5, 7))
device = gdr.open("emulator", chips=1)
"""
AGAIN = "if device.closed: device = gdr.open('emulator', chips=1)\n"


def blocks(page):
    text = (ROOT / page).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial/getting-started.md"])
def test_every_block_of_an_introduction_runs(page, tmp_path):
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks(page)))
    done = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_block_of_the_guide_runs(tmp_path):
    pytest.importorskip("scipy")
    pytest.importorskip("h5py")
    pytest.importorskip("matplotlib")
    try:
        import mpi4py  # noqa: F401

        mpi = bool(_mpi.parts())
    except ImportError:
        mpi = False
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = [GIVEN]
    guide = blocks("docs/guides/python.md")
    assert len(guide) >= 12
    for block in guide:
        if "MPI" in block and not mpi:
            continue
        # A shorter run, and right sides of one column where the guide's b is a vector.
        block = block.replace("dt=1/1024", "dt=1/16")
        names = "b = b[:, 0]\n" if "DistributedMatrices" in block else ""
        program.append(AGAIN + names + block)
    path = tmp_path / "guide.py"
    path.write_text("\n".join(program))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_COMM", "PMIX_"))}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    launch = [shutil.which("mpirun"), "-n", "1"] if mpi and shutil.which("mpirun") else []
    done = subprocess.run(
        [*launch, sys.executable, path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
        check=False,
        env={**clean, **root, "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "end.hdf5").exists()
