"""Directories of the C++ library, in the build tree and in installations of every layout."""

import os
import pathlib
import subprocess
import sys

import pytest

import gdr
from gdr import _installation


def test_library_dir_has_the_library():
    folder = pathlib.Path(gdr.get_library_dir())
    assert any(folder.glob("libgdr.so*"))


@pytest.mark.parametrize("function", [gdr.get_prefix, gdr.get_include])
def test_without_installed_headers_an_error_says_what_to_install(monkeypatch, tmp_path, function):
    (tmp_path / "lib").mkdir()
    monkeypatch.setattr(_installation._core, "library_folder", lambda: str(tmp_path / "lib"))
    with pytest.raises(gdr.FileError, match="headers of gdr are not installed.*libgdr-dev"):
        function()
    for without in (gdr.get_cmake_dir, gdr.get_pkgconfig_dir):
        with pytest.raises(gdr.FileError, match="make install"):
            without()


@pytest.mark.parametrize("libraries", ["lib", "lib64", "lib/x86_64-linux-gnu"])
def test_directories_of_an_installation(monkeypatch, tmp_path, libraries):
    folder = tmp_path / libraries
    (folder / "cmake" / "gdr").mkdir(parents=True)
    (folder / "pkgconfig").mkdir()
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "gdr.h").touch()
    monkeypatch.setattr(_installation._core, "library_folder", lambda: str(folder))
    assert gdr.get_prefix() == str(tmp_path)
    assert gdr.get_include() == str(tmp_path / "include")
    assert gdr.get_cmake_dir() == str(folder / "cmake" / "gdr")
    assert gdr.get_pkgconfig_dir() == str(folder / "pkgconfig")


def module(*arguments):
    command = [sys.executable, "-m", "gdr", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))


def test_the_module_prints_directories():
    result = module("--library-dir")
    assert (result.returncode, result.stdout) == (0, gdr.get_library_dir() + "\n")
    assert module().returncode == 2 and "demo or show" in module().stderr
    assert module("--prefix", "--include-dir").returncode == 2
