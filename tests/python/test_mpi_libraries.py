"""Which MPI library mpi4py and gdr use, and communicators as arguments."""

import pathlib

import pytest
from rank_programs import BUILT, python

import gdr
from gdr import _mpi


def test_invalid_communicators_raise_an_error(monkeypatch):
    monkeypatch.setattr(_mpi, "prepare", lambda: None)
    for wrong in ("world", object(), True, 1.5):
        with pytest.raises(TypeError, match="comm: expected an mpi4py communicator"):
            gdr.open("mpi", comm=wrong)
    with pytest.raises(gdr.UsageError, match='requires a device of kind "mpi", not "emulator"'):
        gdr.open("emulator", comm=0)


FAKE = """
def Get_library_version():
    return "MPICH Version:\\t4.0.2\\nMPICH Release date: once\\0"
class Comm:
    def py2f(self):
        return 0x44000000
COMM_WORLD = Comm()
"""
MISMATCH = r"""
import sys, warnings
sys.path.insert(0, sys.argv[1])
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    if sys.argv[2] == "mpi4py first":
        from mpi4py import MPI
        assert not caught
        import gdr
    else:
        import gdr
        assert not caught
        from mpi4py import MPI
assert [w.category for w in caught] == [gdr.MpiMismatchWarning], caught
text = str(caught[0].message)
assert text.startswith("mpi4py uses MPICH 4.0.2, but gdr was built with another MPI (lib")
assert "pip install" in text
assert type(MPI.__spec__.loader).__module__.endswith(("importlib_external", "importlib"))
assert not any(type(f).__module__ == "gdr._mpi" for f in sys.meta_path)
try:
    gdr.open("mpi", comm=MPI.COMM_WORLD)
except gdr.UnsupportedError as error:
    assert str(error) == text
else:
    sys.exit("no error was raised")
gdr.open("emulator").close()
"""


@pytest.mark.skipif(not BUILT, reason="gdr was built without MPI")
@pytest.mark.parametrize("first", ["mpi4py first", "gdr first"])
def test_a_different_mpi_warns_as_soon_as_both_are_imported(tmp_path, first):
    package = tmp_path / "mpi4py"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "MPI.py").write_text(FAKE)
    python("-c", MISMATCH, tmp_path, first)


def test_opening_mpi_without_the_plugin_raises_an_error_with_the_remedy(monkeypatch):
    monkeypatch.setattr(_mpi, "plugins", lambda: [])
    with pytest.raises(gdr.UnsupportedError, match="built without MPI.*pip install"):
        gdr.open("mpi")
    monkeypatch.undo()
    monkeypatch.setenv("GDR_MPI_LIBRARY", "/nowhere/libgdr_mpi.so")
    with pytest.raises(gdr.UnsupportedError, match="/nowhere/libgdr_mpi.so"):
        gdr.open("mpi")


def test_mpi_sonames_are_read_from_elf_files(tmp_path):
    module = pathlib.Path(gdr._core.__file__)
    assert _mpi.needed_mpi(module) is None
    for plugin in _mpi.plugins():
        assert _mpi.needed_mpi(plugin).startswith("libmpi"), plugin
    text = tmp_path / "text.so"
    for content in (b"", b"\x7fELF\x02\x01", b"no library at all", b"\0mylibmpi.so.40\0"):
        text.write_bytes(content)
        assert _mpi.needed_mpi(text) is None
