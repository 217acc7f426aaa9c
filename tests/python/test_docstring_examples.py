"""The examples in docstrings of public functions and classes run."""

import importlib.util
import inspect
import sys

import pytest

import gdr

#: What the examples assume.
PRELUDE = """
import pathlib
import numpy as np, gdr
from gdr import linalg, nbody
random = np.random.default_rng(3)
n = 60
pos, mass, q = random.uniform(-1, 1, (n, 3)), np.full(n, 1 / n), random.normal(size=n)
charge = np.tile([1.0, -1.0], n // 2)
x, y, z = pos.T.copy()
a, b = random.normal(size=(n, n)) + n * np.eye(n), random.normal(size=(n, n))
"""
MODULES = {
    "gdr": gdr,
    "linalg": gdr.linalg,
    "functions": gdr.functions,
    "nbody": gdr.nbody,
    "sph": gdr.sph,
}
#: Public functions and classes whose docstrings have no example yet: fewer are welcome.
WITHOUT = 78
#: Examples that need what this test does not have: several processes, or a session of the debugger.
NOT_RUN = {"linalg.DistributedMatrices", "gdr.Machine", "gdr.debug"}


def examples(thing):
    """The indented blocks of a docstring, without their indentation."""
    blocks, block = [], []
    for line in [*inspect.cleandoc(thing.__doc__ or "").splitlines(), "end"]:
        if line.startswith("    "):
            block.append(line[4:])
        elif not line.strip():
            block.append("")
        else:
            blocks.append("\n".join(block).strip())
            block = []
    return [text for text in blocks if text]


def public():
    for module, where in MODULES.items():
        for name in where.__all__:
            thing = getattr(where, name)
            if callable(thing) and not isinstance(thing, gdr.ParticleKernel):
                yield f"{module}.{name}", thing


EXAMPLES = {name: examples(thing) for name, thing in public()}


def test_most_used_functions_have_examples():
    assert [name for name, found in EXAMPLES.items() if not found][WITHOUT:] == []


@pytest.mark.parametrize("name", [n for n, found in EXAMPLES.items() if found and n not in NOT_RUN])
def test_an_example_runs(name, tmp_path, monkeypatch):
    for needed in {"linalg.operator": ["scipy"]}.get(name, []):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "example.py"  # @gdr.kernel reads the source
    path.write_text(PRELUDE + "\n\n".join(EXAMPLES[name]) + "\n")
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "example", module)
    try:
        spec.loader.exec_module(module)
    finally:
        gdr.set_default_device(None)
