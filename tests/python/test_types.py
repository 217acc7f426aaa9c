"""Types: mypy --strict on the package and the examples; the stub of the extension module."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import gdr

pytest.importorskip("mypy")
PACKAGE = pathlib.Path(gdr.__file__).parent


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A mypy cache for all tests, so that NumPy is analysed once."""
    return tmp_path_factory.mktemp("mypy")


def run(arguments, tmp_path, cache):
    environment = dict(os.environ, MYPY_CACHE_DIR=str(cache))
    if PACKAGE.parent.name != "site-packages":  # mypy finds installed packages
        environment["MYPYPATH"] = environment["PYTHONPATH"] = str(PACKAGE.parent)
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_package_and_examples_pass_strict_mypy(tmp_path, cache):
    config = str(ROOT / "pyproject.toml")
    examples = [str(p) for p in sorted((ROOT / "examples" / "python").glob("*.py"))]
    mypy = ["mypy", "--strict", "--config-file", config]
    run([*mypy, "-p", "gdr"], tmp_path, cache)
    run([*mypy, *examples], tmp_path, cache)


def test_the_stub_matches_the_extension_module(tmp_path, cache):
    """Names, kinds and nesting are compared; pybind11 hides signatures."""
    allowed = tmp_path / "allowed"
    # pybind11 adds a metaclass, and __init__ to classes without a constructor.
    allowed.write_text("gdr\\._core\\.[A-Z]\\w*\ngdr\\._core\\.\\w+\\.__(init|new)__\n")
    run(
        [
            "mypy.stubtest",
            "gdr._core",
            "--ignore-unused-allowlist",
            "--allowlist",
            str(allowed),
            "--mypy-config-file",
            str(ROOT / "pyproject.toml"),
        ],
        tmp_path,
        cache,
    )


PROGRAM = """
from typing import List, Optional, Tuple

import numpy as np

import gdr
from gdr import linalg

with gdr.open("emulator", engine="vector", boards=2, self_test=False) as device:
    a = np.eye(4)
    f: linalg.LU = linalg.lu(a, overwrite_a=True, device=device)
    x: gdr._arrays.Floats = f.solve(a[0])
    number: int = device.retry_on_rank_failure(lambda: 3)
    tests: List[gdr.BoardTest] = device.test(rounds=2)
    lost: Tuple[int, ...] = device.statistics.failed_ranks
    product = linalg.MatrixProduct(device, precision="chip")
    product(a, a, reuse="both")
    grid = linalg.DistributedMatrices(device, block=2)
    whole: gdr._arrays.Floats = grid.matmul(grid.from_array(a), grid.zeros((4, 4))).to_array()
    machine = gdr.Machine(blocks=1, pes=2)
    overflow: bool = machine.flags().overflow
    job: gdr.Job = device.job(gdr.builtin("morse"))
    found: gdr.ResultArrays = job.run()
    force: gdr._arrays.AnyArray = found.fx
    r: gdr.results.PairVirial = gdr.lennard_jones(a[:, :3], rc=2.5, device=device)
    energy: float = float(r.u.sum() + r.virial.sum())
    near: gdr._arrays.Ints = gdr.sph_density(a[:, :3], 1.0, 0.5).near
    error: float = gdr.gravity(a[:, :3], 1.0, accuracy=1e-3, device=device).tree.error
    error += gdr.gravity(a[:, :3], 1.0, 0.1, theta=0.5, device=device).tree.error
    error += gdr.gravity(a[:, :3], 1.0, 0.1, method="direct", degree=None).tree.error
    perhaps: Optional[float] = None
    either: gdr.Gravity = gdr.gravity(a[:, :3], 1.0, accuracy=perhaps, device=device)
    for state in gdr.nbody.leapfrog(gdr.nbody.plummer(8), eps=1, dt=1, t_end=1, accuracy=0.1):
        error += state.tree.error if state.tree is not None else 0


@gdr.kernel
def law(i: gdr.Particle, j: gdr.Particle, k: float) -> None:
    i.f += k * (j.x - i.x)


value: gdr._arrays.AnyArray = law(targets={"x": a[0]}, sources={"x": a[0]}, k=1.0).f
"""


def test_user_programs_are_type_checked(tmp_path, cache):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    strict = ["mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), str(program)]
    run(strict, tmp_path, cache)
    wrong = (
        "gdr.linalg.lu([1], block='x')\ngdr.open(3)\ngdr.morse([1]).virial\ngdr.no_kernel([1])\n"
        "gdr.gravity([1], 1).tree\ngdr.gravity([1], 1, accuracy='high')\n"
    )
    program.write_text("import gdr\n\n" + wrong)
    with pytest.raises(AssertionError, match="Found 6 errors"):
        run(strict, tmp_path, cache)


def test_no_source_of_package_and_examples_ignores_types():
    for folder in (ROOT / "python", ROOT / "examples", ROOT / "tests" / "python"):
        for path in [*folder.rglob("*.py"), *folder.rglob("*.ipynb")]:
            assert "type: " + "ignore" not in path.read_text(), path
