"""Every notebook runs from its first cell to its last."""

import os
import shutil

import pytest
from conftest import ROOT

from gdr import _mpi

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_they_are_there():
    assert len(NOTEBOOKS) >= 7


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_it_runs(path, monkeypatch, tmp_path):
    if path.stem == "mpi":
        pytest.importorskip("mpi4py")
        if not (_mpi.parts() and shutil.which("mpirun")):
            pytest.skip("gdr was built without MPI, or there is no mpirun")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        assert not cell.get("outputs"), "a notebook is kept without what it printed"
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
