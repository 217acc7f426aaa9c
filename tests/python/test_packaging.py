"""Contents of the source archive and the package: files, modules, cited pages."""

import fnmatch
import importlib
import importlib.util
import pathlib
import pkgutil
import re

from conftest import ROOT

import gdr

EXCLUDED = re.compile(r"^sdist\.exclude = \[(.*)\]$", re.MULTILINE)


def test_no_source_file_matches_an_exclude_pattern():
    """The pattern build* once excluded kernels/compiler/front/builder.hpp."""
    found = EXCLUDED.search((ROOT / "pyproject.toml").read_text())
    patterns = re.findall(r'"([^"]+)"', found.group(1))
    assert patterns and all(p.startswith("/") for p in patterns)
    directories = ["emulator", "kernels", "libgdr", "python", "examples", "tests", "cmake", "docs", "bench"]
    names = [d for d in directories if (ROOT / d).is_dir()]
    names += [p.name for p in ROOT.iterdir() if p.is_file()]
    assert len(names) > 12
    for name in names:
        assert not any(fnmatch.fnmatch("/" + name, pattern) for pattern in patterns), name


PACKAGE = pathlib.Path(gdr.__file__).parent


def test_every_module_that_is_found_can_be_imported():
    """The MPI plugin in the package's folder was once taken for a module, gdr.libgdr_mpi."""
    found = [m.name for m in pkgutil.walk_packages(gdr.__path__, "gdr.")]
    assert {"gdr.nbody.plots", "gdr._core", "gdr.linalg"} <= set(found)
    for name in found:
        package = name.rpartition(".")[2]
        if package in ("jax", "torch") and importlib.util.find_spec(package) is None:
            continue  # optional: its absence has a test of its own
        if name != "gdr.__main__":
            importlib.import_module(name)
    # Of a wheel only the module is installed beside the others.
    rules = (ROOT / "python" / "CMakeLists.txt").read_text()
    beside = re.findall(r"install\((?:TARGETS|FILES) (\S+)[^)]*DESTINATION \. ", rules)
    assert beside == ["gdr_python"]


def test_pages_that_the_package_cites_are_in_it():
    cited = set()
    for path in PACKAGE.rglob("*.py"):
        cited |= set(re.findall(r"docs/[\w/.-]+\.md", path.read_text()))
    assert len(cited) >= 6
    for page in sorted(cited):
        assert (PACKAGE / page).exists(), page
    assert "docs/ DESTINATION docs" in (ROOT / "python" / "CMakeLists.txt").read_text()
