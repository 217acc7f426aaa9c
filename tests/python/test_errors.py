"""Errors: every C++ category raises the corresponding exception class."""

import re

import numpy as np
import pytest
from conftest import ROOT

import gdr

CATEGORIES = {
    "Usage": (gdr.UsageError, ValueError),
    "Input": (gdr.InputError, ValueError),
    "Program": (gdr.ProgramError, ValueError),
    "Io": (gdr.FileError, OSError),
    "Device": (gdr.DeviceError, RuntimeError),
    "Unsupported": (gdr.UnsupportedError, RuntimeError),
    "Internal": (gdr.InternalError, RuntimeError),
}


def numbers_of_cpp():
    text = (ROOT / "emulator/include/gdr/error.hpp").read_text()
    body = re.search(r"enum class ErrorCategory \{(.*?)\};", text, re.S)[1]
    return {name: int(value) for name, value in re.findall(r"^\s*(\w+) = (\d+),", body, re.M)}


def test_every_error_category_raises_its_class():
    numbers = numbers_of_cpp()
    assert set(numbers) == set(CATEGORIES)
    for name, number in numbers.items():
        kind, usual = CATEGORIES[name]
        assert issubclass(kind, usual) and issubclass(kind, gdr.Error) and kind.category == name
        with pytest.raises(gdr.Error) as caught:
            gdr._core.raise_error(number, f"something {name}")
        assert type(caught.value) is kind and str(caught.value) == f"something {name}"
        with pytest.raises(usual):
            gdr._core.raise_error(number, "again")
    assert issubclass(gdr.RankFailure, gdr.DeviceError)
    assert issubclass(gdr.linalg.LinAlgError, (gdr.InputError, np.linalg.LinAlgError))
    assert issubclass(gdr.linalg.LinAlgError, np.linalg.LinAlgError)


def closed_device():
    device = gdr.open("emulator", chips=1)
    device.close()
    return device


NATURAL = {
    "an option": ("Usage", lambda: gdr.open(engine="vectr")),
    "particles at one place": (
        "Input",
        lambda: gdr.gravity([[0, 0, 0], [1e-150, 0, 0]], 1.0),
    ),
    "a program": ("Program", lambda: gdr.compile("f += x;")),
    "bytes": ("Program", lambda: gdr.from_object(b"nothing", "mine")),
    "a program that does not fit": (
        "Program",
        lambda: gdr.Machine(registers=2).load(gdr.builtin("gravity_jerk")),
    ),
    "no file": ("Io", lambda: gdr.load("/nowhere/k.gdk")),
    "no assembly": ("Io", lambda: gdr.load("/nowhere/k.gds")),
    "no object": ("Io", lambda: gdr.load("/nowhere/k.gdo")),
    "no folder": ("Io", lambda: gdr.builtin("morse").save("/nowhere/k.gdo")),
    "a closed device": ("Device", lambda: gdr.gravity(np.eye(3), 1.0, device=closed_device())),
    "no server": ("Device", lambda: gdr.open("board:unix:/nowhere/socket", queue_timeout=0)),
    "an engine that cannot be stepped": ("Unsupported", lambda: gdr.Machine(engine="native")),
    "shrinking without MPI": ("Unsupported", lambda: gdr.default_device().shrink()),
}


@pytest.mark.parametrize("what", NATURAL)
def test_library_errors_raise_the_class_of_their_category(what):
    name, provoke = NATURAL[what]
    with pytest.raises(gdr.Error) as caught:
        provoke()
    assert type(caught.value) is CATEGORIES[name][0], caught.value
    assert len(str(caught.value)) > 10


def test_a_failed_save_keeps_the_existing_file(tmp_path):
    path = tmp_path / "k.gdo"
    gdr.builtin("morse").save(path)
    before = path.read_bytes()
    (tmp_path / "folder").mkdir()
    with pytest.raises(gdr.FileError, match="folder"):
        gdr.builtin("morse").save(tmp_path / "folder")
    assert path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "k.gdo"]
