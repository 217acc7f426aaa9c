"""The examples in docstrings of public functions, classes and methods run, and print what they say."""

import doctest
import importlib
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
    "chemistry": gdr.chemistry,
    "plots": gdr.nbody.plots,
}
#: Modules that can be imported only where another package is installed.
for optional in ("ase", "jax", "torch", "rebound"):
    try:
        MODULES[optional] = importlib.import_module(f"gdr.{optional}")
    except ImportError:
        pass
PLOTS = ["energy_error", "lagrangian_radii", "movie", "projection", "roofline", "timeline"]
#: Examples without ``>>>`` that need what this test does not have: several processes, a name.
NOT_RUN = {"linalg.DistributedMatrices", "ase.PairPotential"}
NEEDED = {
    "linalg.operator": ["scipy"],
    "linalg.LU": ["scipy"],
    "linalg.Cholesky": ["scipy"],
    **{f"chemistry.{name}": ["pyscf"] for name in ("accelerate", "electrostatic_potential", "shells")},
    **{f"plots.{name}": ["matplotlib"] for name in PLOTS},
    "plots.movie": ["matplotlib", "PIL"],
}


def blocks(thing):
    """The indented blocks of a docstring without ``>>>``, without their indentation."""
    found, block = [], []
    for line in [*inspect.cleandoc(thing.__doc__ or "").splitlines(), "end"]:
        if line.startswith("    "):
            block.append(line[4:])
        elif not line.strip():
            block.append("")
        else:
            found.append("\n".join(block).strip())
            block = []
    return [text for text in found if text and not text.startswith(">>> ")]


def sessions(thing):
    """The statements after ``>>>`` in a docstring, with what they print."""
    return doctest.DocTestParser().get_examples(inspect.cleandoc(thing.__doc__ or ""))


def methods(of):
    """The public methods that a class of the package defines, or inherits from one that is not public."""
    for name in dir(of) if inspect.isclass(of) else ():
        method = getattr(of, name)
        if (
            not name.startswith("_")
            and inspect.isfunction(method)
            and method.__module__.startswith("gdr")
        ):
            yield name, method


def public():
    """What needs an example by its name: all but the kernels, which are one class, and functions of ``math``."""
    for module, where in MODULES.items():
        for name in getattr(where, "__all__", PLOTS):
            thing = getattr(where, name)
            if (
                callable(thing)
                and not isinstance(thing, gdr.ParticleKernel)
                and thing.__module__ != "math"
            ):
                yield f"{module}.{name}", thing


NAMES = dict(public())
WITH_METHODS = {
    **NAMES,
    **{f"{name}.{m}": method for name, thing in NAMES.items() for m, method in methods(thing)},
}
#: Methods of the base of kernels, which other modules use, and that of a calculator, which ASE calls.
INTERNAL = "names whole_names arguments default_params interface_rows array_named elements_named takes_one_number"
INTERNAL += " other_names param_named columns calculate"
#: Methods that several classes inherit are run once.
DISTINCT = {id(thing): name for name, thing in reversed(WITH_METHODS.items())}


def test_public_names_have_examples():
    assert [
        name for name, thing in NAMES.items() if not blocks(thing) and not sessions(thing)
    ] == []


def test_public_methods_are_called_in_examples_of_their_class():
    missing = []
    for name, thing in NAMES.items():
        within = dict(methods(thing))
        code = ""
        for documented in (thing, *within.values()):
            code += "\n".join([*blocks(documented), *(e.source for e in sessions(documented))])
        missing += [
            f"{name}.{m}" for m in within if m not in INTERNAL.split() and f".{m}(" not in code
        ]
    assert missing == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of its own, and the default device of before."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gdr.set_default_device(None)


@pytest.mark.parametrize("name", [n for n, t in NAMES.items() if blocks(t) and n not in NOT_RUN])
def test_an_example_runs(name, folder, monkeypatch):
    for needed in NEEDED.get(name, []):
        pytest.importorskip(needed)
    path = folder / "example.py"  # @gdr.kernel reads the source
    path.write_text(PRELUDE + "\n\n".join(blocks(NAMES[name])) + "\n")
    spec = importlib.util.spec_from_file_location("example", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "example", module)
    spec.loader.exec_module(module)


def installed(folder):
    """What an installation has, as far as the functions of its folders look."""
    for name in (
        "include/gdr.h",
        "lib/libgdr.so",
        "lib/cmake/gdr/gdrConfig.cmake",
        "lib/pkgconfig/gdr.pc",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return str(folder / "lib")


@pytest.mark.parametrize("name", [n for n in DISTINCT.values() if sessions(WITH_METHODS[n])])
def test_an_example_prints_what_it_says(name, folder, monkeypatch):
    for needed in NEEDED.get(name, []):
        pytest.importorskip(needed)
    if name.startswith("gdr.get_"):
        library = installed(folder)
        monkeypatch.setattr(gdr._core, "library_folder", lambda: library)
    # Functions of examples seem to be of this module, whose sources Python's inspect finds.
    variables = {"__name__": "gdr"}
    exec(PRELUDE, variables)
    text = inspect.cleandoc(WITH_METHODS[name].__doc__)
    test = doctest.DocTestParser().get_doctest(text, variables, name, None, 0)
    printed = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    failed = runner.run(test, out=printed.append).failed
    assert not failed, "".join(printed)
