"""Python programs on MPI ranks, for tests."""

import shutil
import subprocess
import sys
import textwrap

import pytest
from conftest import mpi_environment

from gdr import _mpi

BUILT = bool(_mpi.plugins())
MPIRUN = shutil.which("mpirun")


def python(*arguments, ranks=0, environment=()):
    """Run Python, under mpirun if ranks are given, and return the completed process."""
    try:
        import mpi4py  # noqa: F401  (importing mpi4py.MPI would initialise MPI in this process)
    except ImportError:
        if ranks:
            pytest.skip("mpi4py is not installed (python3-mpi4py)")
    if ranks and not (BUILT and MPIRUN):
        pytest.skip("gdr was built without MPI, or mpirun is not installed")
    launch = [MPIRUN, "--oversubscribe", "-n", str(ranks)] if ranks else []
    done = subprocess.run(
        [*launch, sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**mpi_environment(), "OMP_NUM_THREADS": "1", **dict(environment)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def script(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(text))
    return path
