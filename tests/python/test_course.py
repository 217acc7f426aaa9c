"""The course of examples/course: its solutions are right, its exercises are unsolved, and the
checker finds usual mistakes."""

import functools
import importlib.util
import pathlib
import subprocess

import numpy as np
import pytest
from conftest import COMMAND, ROOT

import gdr

COURSE = ROOT / "examples" / "course"
ALL = range(1, 7)


@pytest.fixture
def check(monkeypatch):
    spec = importlib.util.spec_from_file_location("check", COURSE / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = str(pathlib.Path(COMMAND).parent)
    monkeypatch.setenv("PATH", folder, prepend=":")
    return module


@pytest.mark.parametrize("number", ALL)
def test_each_solution_is_accepted_and_each_exercise_is_not(check, number):
    assert check.verdict(number, COURSE / "solutions") is None
    assert check.verdict(number, COURSE / "exercises")


@pytest.mark.parametrize(
    "number, right, wrong, message",
    [
        (1, "m0.neg $lr8v $lr6", "m0.neg $lr6 $lr8v", "charge of target"),
        (1, "[m0] fadd", "fadd", "charge of target"),
        (2, "fmul  $lr16v $lr8v $r2", "fmul  $lr16v $r2 $lr8v", "moment of target"),
        (3, "fadd  u u $th", "fadd  u u $th\n    nop", "clocks"),
        (4, "fmin at", "fmax at", "d2 of target"),
        (4, "index d2", "iadd", "id of target"),
        (5, "r2 == 0 || ", "", "energy of target"),
        (5, "0.5*u", "u", "energy of target"),
        (6, "4096", "8192", "bottleneck"),
        (5, "r2 >= rc*rc", "r2 > rc*rc", "target"),
        (6, "409.6", '"many"', "not a number"),
    ],
)
def test_the_checker_says_what_is_wrong(
    check, tmp_path, monkeypatch, number, right, wrong, message
):
    name = check.EXERCISES[number][0]
    text = (COURSE / "solutions" / name).read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))
    # The checker compares the values of laws, not their clocks: a short search.
    monkeypatch.setattr(gdr, "compile", functools.partial(gdr.compile, effort=0))
    found = check.verdict(number, tmp_path)
    assert found is not None and message in found


def test_the_checker_is_a_program(check, capsys, tmp_path):
    assert check.main(["1", "--folder", str(COURSE / "solutions")]) == 0
    assert "1_masks.gds        solved" in capsys.readouterr().out
    assert check.main(["1", "--folder", str(tmp_path)]) == 1
    assert "not yet: " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        check.main(["7"])


def test_the_worked_histogram_is_that_of_numpy():
    rng = np.random.default_rng(3)
    edges = np.sort(rng.normal(size=30))
    values, weights = rng.normal(size=1000), rng.uniform(size=1000)
    kernel = gdr.compile((COURSE / "worked/histogram.gdk").read_text(), "histogram")
    found = kernel(
        targets={"low": edges[:-1], "high": edges[1:]},
        sources={"value": values, "weight": weights},
    )
    last = values != edges[-1]
    np.testing.assert_array_equal(found.count, np.histogram(values[last], edges)[0])
    expected = np.histogram(values[last], edges, weights=weights[last])[0]
    np.testing.assert_allclose(found.sum, expected, rtol=1e-12, atol=1e-12)


def test_the_worked_maximum_is_that_of_all_processors(tmp_path):
    rng = np.random.default_rng(5)
    x, m, xj = rng.normal(size=3000), rng.uniform(size=3000), rng.normal(size=20)
    for name, columns in (("targets", (x, m)), ("sources", (xj,))):
        np.savetxt(tmp_path / name, np.column_stack(columns), "%.17g")
    command = [COMMAND, "asm", str(COURSE / "worked/maximum.gds"), "-o", str(tmp_path / "m.gdo")]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [COMMAND, "run", str(tmp_path / "m.gdo"), "--exact", "--targets", str(tmp_path / "targets"),
         "--sources", str(tmp_path / "sources")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [float(line) for line in done.stdout.splitlines() if not line.startswith("#")]
    np.testing.assert_allclose(found, (m * (x - xj[:, None]) ** 2).max(1), rtol=1e-13)
