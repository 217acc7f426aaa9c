"""Warnings of the engines among floats about runs in doubles."""

import math
import warnings

import numpy as np
import pytest

import gdr

X = np.linspace(0.1, 2.0, 40)


def boys_0(t):
    """The Boys function of order 0."""
    return np.sqrt(np.pi / t) / 2 * np.vectorize(math.erf)(np.sqrt(t))


def run(kernel, engine):
    with gdr.open(engine=engine) as device:
        return kernel(targets={"x": X}, sources={"q": X}, device=device)["r"]


@pytest.mark.parametrize("engine", ["native-float", "native-mixed", "native-fast"])
def test_a_float_engine_that_computes_in_doubles_says_so_once(engine):
    kernel = gdr.compile("VARI x; VARJ q; VARF r; r += boys(0, 0.2*x*q);")
    with pytest.warns(RuntimeWarning, match="computed in doubles, not in floats") as told:
        result = run(kernel, engine)
    assert [w.filename for w in told] == [__file__]
    assert engine in str(told[0].message)
    right = boys_0(0.2 * np.outer(X, X)).sum(axis=1)
    assert np.allclose(result, right, rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(kernel, engine)


def test_kernels_in_floats_and_the_engine_native_give_no_warning():
    floats = gdr.compile("VARI x; VARJ q; VARF r; r += exp(-x*q);")
    doubles = gdr.compile("VARI x; VARJ q; VARF r; r += boys(0, 0.2*x*q);")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = np.exp(-np.outer(X, X)).sum(axis=1)
        assert np.allclose(run(floats, "native-float"), right, rtol=1e-6)
        run(doubles, "native")


LAWS = {
    "tan(0.3*x*q)": lambda a: np.tan(0.3 * a),
    "asin(0.2*x*q)": lambda a: np.arcsin(0.2 * a),
    "acos(0.2*x*q)": lambda a: np.arccos(0.2 * a),
    "atan(x*q)": np.arctan,
    "atan2(x*q, q + x*q)": lambda a: np.arctan2(a, X + a),
    "cbrt(x*q)": np.cbrt,
    "pow(x*q, 1.7)": lambda a: a**1.7,
    "pow(x, q)": lambda a: X[:, None] ** X,
    "pow(x*q, p)": lambda a: a**0.7,
    "pow(2.2, x*q)": lambda a: 2.2**a,
    "pow(p, x*q)": lambda a: 0.7**a,
    "(exp(-x*q) < 0.3 ? 1 : 2)": lambda a: np.where(np.exp(-a) < 0.3, 1, 2),
    "log(x + 2)": lambda a: np.log(X[:, None] + 2) + 0 * a,
}


@pytest.mark.parametrize("engine", ["native-float", "native-mixed", "native-fast"])
@pytest.mark.parametrize("precision", ["short", "long"])
@pytest.mark.parametrize("law", LAWS)
def test_functions_are_computed_in_floats_without_a_warning(law, precision, engine):
    text = f"precision {precision}; VARI x; VARJ q; CONST p; VARF r; r += {law};"
    with warnings.catch_warnings(), gdr.open(engine=engine) as device:
        warnings.simplefilter("error")
        values = {"p": 0.7} if "p)" in law or "(p" in law else {}
        kernel = gdr.compile(text if values else text.replace("CONST p; ", ""))
        result = kernel(targets={"x": X}, sources={"q": X}, device=device, **values)["r"]
    right = LAWS[law](np.outer(X, X)).sum(axis=1)
    assert np.allclose(result, right, rtol=2e-6)


def test_numbers_beyond_the_range_of_floats_are_named_once():
    kernel = gdr.compile("VARI x; VARJ q; VARF r; r += (1e30*x)*(1e30*q);")
    with pytest.warns(RuntimeWarning, match="beyond the range of floats"):
        run(kernel, "native-float")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(kernel, "native-float")


def test_sets_warn_as_jobs_do():
    kernel = gdr.compile("VARI x; VARJ q; VARF r; r += boys(1, 0.2*x*q);")
    with gdr.open(engine="native-float") as device:
        job = device.set_job(kernel)
        with pytest.warns(RuntimeWarning, match="computed in doubles"):
            job.run_sets([({"x": X}, {"q": X})])
