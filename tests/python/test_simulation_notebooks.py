"""The notebooks of examples/ with simulations run from the first to the last cell."""

import pytest
from test_notebooks import NOTEBOOKS, SIMULATIONS, run_notebook


@pytest.mark.parametrize(
    "path", [p for p in NOTEBOOKS if p.stem in SIMULATIONS], ids=lambda p: p.stem
)
def test_the_simulation_runs_from_the_first_to_the_last_cell(path, monkeypatch, tmp_path):
    if path.stem == "benzene":
        pytest.importorskip("pyscf", reason="the package pyscf is not installed")
    run_notebook(path, monkeypatch, tmp_path)
