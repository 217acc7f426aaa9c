"""mypy --strict on the package and the examples, and the stub against the module."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import gdr

pytest.importorskip("mypy")
PACKAGE = pathlib.Path(gdr.__file__).parent


def run(arguments, tmp_path):
    environment = dict(os.environ, MYPY_CACHE_DIR=str(tmp_path))
    if PACKAGE.parent.name != "site-packages":  # where mypy finds it by itself
        environment["MYPYPATH"] = environment["PYTHONPATH"] = str(PACKAGE.parent)
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_and_programs_that_use_it(tmp_path):
    config = str(ROOT / "pyproject.toml")
    examples = [str(p) for p in sorted((ROOT / "examples" / "python").glob("*.py"))]
    mypy = ["mypy", "--strict", "--config-file", config]
    run([*mypy, "-p", "gdr"], tmp_path)
    run([*mypy, *examples], tmp_path)


def test_the_stub_says_what_the_module_has(tmp_path):
    """Signatures of pybind11 are not seen by Python: names, kinds and nesting are compared."""
    allowed = tmp_path / "allowed"
    # What pybind11's classes have of their own: a metaclass, and __init__ where none is bound.
    allowed.write_text("gdr\\._core\\.[A-Z]\\w*\ngdr\\._core\\.\\w+\\.__(init|new)__\n")
    run(
        [
            "mypy.stubtest",
            "gdr._core",
            "--ignore-unused-allowlist",
            "--allowlist",
            str(allowed),
            "--mypy-config-file",
            str(ROOT / "pyproject.toml"),
        ],
        tmp_path,
    )
