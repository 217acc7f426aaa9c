"""The notebooks of examples/ run, and are stored without output."""

import os
import shutil

import pytest
from conftest import ROOT

from gdr import _mpi

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_all_notebooks_are_found():
    assert len(NOTEBOOKS) >= 9


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebook_runs_from_the_first_to_the_last_cell(path, monkeypatch, tmp_path):
    if path.stem == "benzene":
        pytest.importorskip("pyscf", reason="the package pyscf is not installed")
    if path.stem == "mpi":
        pytest.importorskip("mpi4py")
        if not (_mpi.plugins() and shutil.which("mpirun")):
            pytest.skip("gdr was built without MPI, or there is no mpirun")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "store notebooks without output"
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
