"""Dependencies between the modules of the package."""

import ast
import importlib
import pathlib
import re
import subprocess
import sys

import pytest

SOURCES = pathlib.Path(__file__).parents[2] / "python"


def modules_in_order():
    """The modules of python/README.md, each of which may import only those before it."""
    table = (SOURCES / "README.md").read_text().partition("| modules | contents |\n")[2]
    rows = table.partition("\n\n")[0].splitlines()
    return [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]


def is_type_checking(node):
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def imported(module):
    """Modules of the package that a module imports, also within functions, but not for types."""
    tree = ast.parse((SOURCES / "gdr" / f"{module}.py").read_text())
    tree.body = [node for node in tree.body if not is_type_checking(node)]
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names |= {node.module} if node.module else {alias.name for alias in node.names}
    return names


#: Methods of a class that make an object of a module below it: Kernel.tree.
IN_METHODS = {("_kernel", "_trees")}


def test_modules_import_only_modules_above_them():
    order = modules_in_order()
    modules = {file.stem for file in (SOURCES / "gdr").glob("[!_]*.py")}
    modules |= {file.stem for file in (SOURCES / "gdr").glob("_[!_]*.py")}
    assert sorted(order) == sorted(modules), "python/README.md lists every module once"
    for place, module in enumerate(order):
        below = imported(module) & set(order[place:])
        below -= {other for by, other in IN_METHODS if by == module}
        assert not below, f"{module} imports {sorted(below)}, which python/README.md lists below it"


@pytest.mark.parametrize("module", ["_device", "_job", "_set_job", "_kernel"])
def test_devices_jobs_and_kernels_do_not_import_one_another(module):
    assert not imported(module) & {"_device", "_job", "_set_job", "_kernel"}


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_imports_no_optional_module():
    """It took 0.17 s; programs that start often import the package, too."""
    loaded = set(run("import sys, gdr; print(*sys.modules)").split())
    assert {"gdr.nbody.snapshot", "gdr.linalg"} <= loaded
    optional = {"gdr.chemistry", "gdr.nbody.plots"}
    optional |= {"matplotlib", "astropy", "h5py", "scipy", "PIL", "tqdm", "mpi4py", "pyscf"}
    assert not loaded & optional


@pytest.mark.parametrize(("module", "name"), [("gdr", "chemistry"), ("gdr.nbody", "plots")])
def test_modules_that_are_imported_when_used_are_like_others(module, name):
    run(f"import {module} as m; assert {name!r} in dir(m) and m.{name}.__name__ == '{module}.{name}'")
    run(f"from {module} import {name}; assert {name}.__name__ == '{module}.{name}'")
    run(f"from {module} import *; assert {name}.__name__ == '{module}.{name}'")
    run(f"import sys, pydoc, {module} as m; assert {name!r} in pydoc.render_doc(m)")
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        importlib.import_module(module).nothing


def test_dir_lists_the_public_names_and_no_imports():
    import gdr

    for module in (gdr, gdr.nbody):
        assert {name for name in dir(module) if not name.startswith("__")} == set(module.__all__)
