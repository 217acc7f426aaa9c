"""Optional packages: extras in pyproject.toml, and errors that name what is missing."""

import json
import re
import subprocess
import sys

import pytest
from conftest import ROOT

#: Packages by module, where the names differ.
PACKAGES = {"PIL": "pillow", "IPython": "ipykernel"}


def extras():
    """The extras of pyproject.toml, without a parser for Python 3.9 and 3.10."""
    text = (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]\n")[2]
    lines = text.partition("\n[")[0].splitlines()
    pairs = [re.fullmatch(r"(\w+) = \[(.*)\]", line) for line in lines]
    return {p[1]: set(re.findall(r'"([^"]+)"', p[2])) for p in pairs if p}


def imports(text):
    return set(re.findall(r"^\s*(?:import|from) (\w+)", text, re.M))


def test_all_has_what_the_notebooks_and_the_other_extras_use():
    found = extras()
    for name in ("linalg", "chemistry", "nbody", "units", "mpi"):
        assert found[name] <= found["all"], name
    used = set()
    for path in (ROOT / "examples" / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            if cell["cell_type"] == "code":
                used |= imports("".join(cell["source"]))
    own = {"gdr", "numpy"} | set(sys.stdlib_module_names if sys.version_info >= (3, 10) else used)
    packages = {PACKAGES.get(module, module) for module in used - own}
    assert packages <= found["all"]
    assert "ipykernel" in found["all"]


MISSING = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "{module}":
            raise ModuleNotFoundError("No module named {module}", name=name)

sys.meta_path.insert(0, Absent())
import gdr, numpy as np
from gdr import linalg, nbody
stars = nbody.plummer(4)
try:
    {call}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("scipy", "linalg.operator(np.eye(2))"),
        ("scipy", "linalg.lu(np.eye(2)).inverse_operator()"),
        ("h5py", "nbody.write('stars.hdf5', stars)"),
        ("matplotlib", "nbody.plots.projection(stars)"),
        ("matplotlib", "nbody.plots.timeline([gdr.TimelineEvent(0, 'chip 0', 'run', 0, 1)])"),
        ("PIL", "nbody.plots.movie([stars], 'film.gif')"),
        ("tqdm", "list(nbody.leapfrog(stars, eps=1, dt=1, t_end=1, progress=True))"),
        ("pyscf", "gdr.chemistry.accelerate(None)"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(module, call, tmp_path):
    if module == "PIL":
        pytest.importorskip("matplotlib")
    program = MISSING.format(module=module, call=call)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    package = PACKAGES.get(module, module)
    assert f"needs {package}, which cannot be imported" in done.stdout
    assert done.stdout.rstrip().endswith(f"pip install {package}")
