"""Adjoint kernels of products and of the k smallest values, against differences, on every engine."""

import numpy as np
import pytest
from conftest import error

import gdr

LAW = """
precision long;
CONST a; VARI x; VARJ y; VARJ int id; VARF p; VARF near[3], far[2]; VARF int n[3], m[2];
d = x - y;
p *= 1 + a*exp(-d*d);
near smallest= d*d : n = id;
far largest= a*x*y : m = id;
"""
ENGINES = {"native": 1e-6, "vector": 1e-6, "native-float": 1e-4}


@pytest.fixture(scope="module")
def law():
    return gdr.compile(LAW, effort=0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(12)
    return rng.normal(size=7), rng.normal(size=9)


def results(x, y, a):
    d = x[:, None] - y
    near = np.sort(d * d, axis=1)[:, :3]
    far = -np.sort(-a * x[:, None] * y, axis=1)[:, :2]
    return {"p": (1 + a * np.exp(-d * d)).prod(1), "near": near, "far": far}


def difference(weights, x, y, a, dx=0.0, dy=0.0, da=0.0):
    """The slope of the weighted sum of all results along a direction."""
    h = 1e-5

    def total(s):
        found = results(x + s * dx, y + s * dy, a + s * da)
        return sum((weights[k] * found[k]).sum() for k in found)

    return (total(h) - total(-h)) / (2 * h)


@pytest.mark.parametrize("engine", ENGINES)
def test_products_and_ranked_values_have_gradients(law, data, engine):
    (x, y), a, ids = data, 0.75, np.arange(9)
    rng = np.random.default_rng(3)
    weights = {"p": rng.normal(size=7), "near": rng.normal(size=(7, 3)), "far": rng.normal(size=(7, 2))}
    found = law(targets={"x": x}, sources={"y": y, "id": ids}, a=a)
    known = {k: found[k] for k in ("p", "n", "m")}
    of_targets = {"x": x, **known, **{f"{k}_bar": w for k, w in weights.items()}}
    options = {"a": a, "device": engine}
    by_x = law.adjoint(targets="x", params="a")
    got = by_x(targets=of_targets, sources={"y": y, "id": ids}, **options)
    right = [difference(weights, x, y, a, dx=e) for e in np.eye(7)]
    assert error(got["x_bar"], np.array(right)) < ENGINES[engine]
    right = difference(weights, x, y, a, da=1.0)
    assert abs(got["a_bar"].sum() - right) < ENGINES[engine] * max(1, abs(right))
    by_y = law.adjoint(sources="y", params="a")
    got = by_y(targets={"y": y, "id": ids}, sources=of_targets, **options)
    assert abs(got["a_bar"].sum() - right) < ENGINES[engine] * max(1, abs(right))
    right = [difference(weights, x, y, a, dy=e) for e in np.eye(9)]
    assert error(got["y_bar"], np.array(right)) < ENGINES[engine]


def test_a_factor_of_zero_has_no_derivative(data):
    kernel = gdr.compile("VARI x; VARJ y; VARF p; p *= x*y;", effort=0).adjoint(sources="y")
    with pytest.warns(RuntimeWarning, match="not finite"):
        got = kernel(targets={"y": [0.0, 3.0]}, sources={"x": [2.0], "p": [0.0], "p_bar": [1.0]})
    assert np.isnan(got["y_bar"][0]) and got["y_bar"][1] == 0


def test_values_without_an_index_have_no_adjoint():
    with pytest.raises(gdr.UnsupportedError, match=r"VARF int n\[2\];"):
        gdr.compile("VARI x; VARJ y; VARF f[2]; f smallest= x*y;", effort=0).adjoint(targets="x")
