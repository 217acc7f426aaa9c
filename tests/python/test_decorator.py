"""Python functions as kernels: what they compute, and what is said of those that cannot be."""

import math

import numpy as np
import pytest
from conftest import direct_gravity, error

import gdr

SOFTENING2 = 0.01


@gdr.kernel(types={"id": "int"}, flops=38)
def gravity(i, j):
    """Gravity, with a constant from outside of the function."""
    if i.id == j.id:
        return
    dx, dy, dz = j.x - i.x, j.y - i.y, j.z - i.z
    rinv = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING2)
    mr3 = j.m * rinv**3
    i.ax += mr3 * dx
    i.ay += mr3 * dy
    i.az += mr3 * dz
    i.pot -= j.m * rinv


def test_it_computes_what_the_function_says(rng):
    x, m, ids = rng.normal(size=(100, 3)), rng.uniform(1, 2, 100), np.arange(100)
    stars = {"id": ids, "x": x[:, 0], "y": x[:, 1], "z": x[:, 2]}
    r = gravity(targets=stars, sources={**stars, "m": m})
    acc, pot = direct_gravity(x, m, 0.1)
    got = np.column_stack([r["ax"], r["ay"], r["az"]])
    assert error(got, acc) < 1e-6 and error(r["pot"], pot) < 1e-6
    assert gravity.flops == 38 and gravity.clocks > 10 and "fmul" in gravity.assembly
    assert gravity.__doc__.startswith("Gravity")


@gdr.kernel(precision="long")
def everything(i, j, a, b):
    d = j.x - i.x
    s = 0.5 * d
    s *= 3
    near = abs(d) < a and not (d == 0) or d > 100
    if near:
        w = 2.0
        i.near += 1.0
    elif d > b:
        w = 3.0
    else:
        w = -d
    for k in range(1, 4):
        i.sum += k * w
    i.low = min(i.low, d)
    i.high = max(d, i.high)
    i.mixed += (d if -a < d <= b else 1.0) + s


def test_conditions_loops_and_extremes(rng):
    x, y = rng.normal(size=40), rng.normal(size=50)
    a, b = 0.5, 0.8
    r = everything(targets={"x": x}, sources={"x": y}, a=a, b=b)
    d = y[None] - x[:, None]
    near = (abs(d) < a) & (d != 0) | (d > 100)
    w = np.where(near, 2.0, np.where(d > b, 3.0, -d))
    assert np.array_equal(r["near"], near.sum(1))
    assert error(r["sum"], 6 * w.sum(1)) < 1e-12
    assert error(r["low"], d.min(1)) < 1e-12 and error(r["high"], d.max(1)) < 1e-12
    want = (np.where((-a < d) & (d <= b), d, 1.0) + 1.5 * d).sum(1)
    assert error(r["mixed"], want) < 1e-12


def refuse(function, message, marked):
    with pytest.raises(gdr.ProgramError, match=message) as raised:
        gdr.kernel(function)
    lines = str(raised.value).splitlines()
    assert "test_decorator.py:" in lines[0]
    begin = lines[2].index("^")
    assert lines[1][begin : lines[2].rindex("^") + 1] == marked


def test_what_cannot_be_translated_is_shown():
    def loops(i, j):
        while j.x > 0:
            i.f += 1

    def calls(i, j):
        i.f += math.sin(j.x)

    def reads(i, j):
        i.f += j.x
        i.g += i.f

    def assigns(i, j):
        i.f = j.x

    def source(i, j):
        j.x = i.x

    def unknown(i, j):
        i.f += j.x * undefined_name  # noqa: F821

    def power(i, j):
        i.f += j.x ** 0.3

    def strings(i, j):
        i.f += "text"

    def whole(i, j):
        i.f += j

    def parameter(i, j, k):
        k = 2.0
        i.f += k * j.x

    refuse(loops, "no counterpart", "while j.x > 0:")
    refuse(calls, "of functions a kernel has", "math.sin")
    refuse(reads, "results are not read", "i.f")
    refuse(assigns, "a result is added to", "i.f = j.x")
    refuse(source, "only reads", "j.x")
    refuse(unknown, "not known here", "undefined_name")
    refuse(power, "halves|half of one", "0.3")
    refuse(strings, "a number is wanted", '"text"')
    refuse(whole, "stands for a particle", "j")
    refuse(parameter, "is an argument", "k")


def test_errors_of_the_compiler_name_the_line_of_the_function():
    def wrong(i, j):
        i.f += j.x + t  # noqa: F821
        t = j.x

    with pytest.raises(gdr.ProgramError, match=r"test_decorator.py:\d+ \(read as wrong:\d+:\d+\)"):
        gdr.kernel(wrong)


def test_arguments_of_the_decorator_and_of_the_call():
    for keywords, message in (({"precision": "double"}, "precision"), ({"types": {"x": "f8"}}, "x")):
        with pytest.raises(ValueError, match=message):
            gdr.kernel(**keywords)(lambda i, j: None)
    with pytest.raises(TypeError, match="plain function"):
        gdr.kernel(3)
    with pytest.raises(TypeError, match="sources: missing: m"):
        stars = {"id": [1], "x": [0.0], "y": [0.0], "z": [0.0]}
        gravity(targets=stars, sources=stars)
    with pytest.raises(gdr.UsageError, match="params are missing: b"):
        everything(targets={"x": [0.0]}, sources={"x": [0.0]}, a=1.0)
