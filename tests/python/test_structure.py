"""Dependencies between the modules of the package."""

import ast
import pathlib
import re

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


def test_modules_import_only_modules_above_them():
    order = modules_in_order()
    assert "_kernel" in order and "_forces" in order
    for place, module in enumerate(order):
        below = imported(module) & set(order[place:])
        assert not below, f"{module} imports {sorted(below)}, which python/README.md lists below it"


@pytest.mark.parametrize("module", ["_device", "_job", "_set_job", "_kernel"])
def test_devices_jobs_and_kernels_do_not_import_one_another(module):
    assert not imported(module) & {"_device", "_job", "_set_job", "_kernel"}
