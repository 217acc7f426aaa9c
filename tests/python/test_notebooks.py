"""The notebooks of examples/ run, and are stored without output.

Those of SIMULATIONS take longer; test_simulation_notebooks.py runs them.
"""

import os
import shutil

import pytest
from conftest import ROOT

from gdr import _mpi

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
SIMULATIONS = ["benzene", "galaxy_merger", "molecules", "vortex_rings"]


def run_notebook(path, monkeypatch, folder):
    """Runs a notebook from its first to its last cell, with IPython's files in a folder."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("IPYTHONDIR", str(folder))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "store notebooks without output"
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()


def test_all_notebooks_are_found():
    assert len(NOTEBOOKS) >= 9
    assert {path.stem for path in NOTEBOOKS} >= set(SIMULATIONS)


@pytest.mark.parametrize(
    "path", [p for p in NOTEBOOKS if p.stem not in SIMULATIONS], ids=lambda p: p.stem
)
def test_the_notebook_runs_from_the_first_to_the_last_cell(path, monkeypatch, tmp_path):
    if path.stem == "mpi":
        pytest.importorskip("mpi4py")
        if not (_mpi.plugins() and shutil.which("mpirun")):
            pytest.skip("gdr was built without MPI, or there is no mpirun")
    run_notebook(path, monkeypatch, tmp_path)
