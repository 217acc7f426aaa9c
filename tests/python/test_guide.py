"""The Python code blocks of docs/guides/python.md run, in their order."""

import importlib.util
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, mpi_environment

from gdr import _mpi

#: Definitions that the guide assumes.
PRELUDE = """
import functools
import numpy as np, gdr
from gdr import linalg
# Searches for the chip's shortest loops would take most of the time.
gdr.compile = functools.partial(gdr.compile, effort=0)
gdr.kernel = functools.partial(gdr.kernel, effort=0)
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
REOPEN = "if device.closed: device = gdr.open('emulator', chips=1)\n"


def blocks(page):
    text = (ROOT / page).read_text()
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorial/getting-started.md",
        "docs/guides/chemistry.md",
        "docs/guides/debugging.md",
    ],
)
def test_every_block_of_an_introduction_runs(page, tmp_path):
    if "chemistry" in page:
        pytest.importorskip("pyscf", reason="the package pyscf is not installed")
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


def test_the_first_program_of_the_readme_prints_what_its_comment_says(tmp_path):
    first = blocks("README.md")[0]
    program = tmp_path / "page.py"
    program.write_text(first)
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=240, check=True
    )
    assert done.stdout.strip() == re.search(r"# (\d+\.\d+): ", first)[1]
    assert len(first.splitlines()) <= 10 and len(first) < 600
    introduction = (ROOT / "README.md").read_text().partition("\n## ")[0]
    assert len(introduction.splitlines()) <= 40


def test_every_code_block_of_the_guide_runs(tmp_path):
    pytest.importorskip("scipy")
    pytest.importorskip("h5py")
    pytest.importorskip("matplotlib")
    try:
        import mpi4py  # noqa: F401

        mpi = bool(_mpi.plugins())
    except ImportError:
        mpi = False
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = [PRELUDE]
    guide = blocks("docs/guides/python.md")
    assert len(guide) >= 12
    for block in guide:
        if "MPI" in block and not mpi:
            continue
        if "astropy" in block and importlib.util.find_spec("astropy") is None:
            continue
        # A shorter run; b is a vector in the block about distributed matrices.
        block = block.replace("dt=1/1024", "dt=1/16")
        names = "b = b[:, 0]\n" if "DistributedMatrices" in block else ""
        program.append(REOPEN + names + block)
    path = tmp_path / "guide.py"
    path.write_text("\n".join(program))
    launch = [shutil.which("mpirun"), "-n", "1"] if mpi and shutil.which("mpirun") else []
    done = subprocess.run(
        [*launch, sys.executable, path],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
        check=False,
        env={**mpi_environment(), "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "end.hdf5").exists()
