"""Warnings of the engines among floats about runs in doubles."""

import warnings

import numpy as np
import pytest

import gdr

X = np.linspace(0.1, 2.0, 40)


def run(kernel, engine):
    with gdr.open(engine=engine) as device:
        return kernel(targets={"x": X}, sources={"q": X}, device=device)["r"]


@pytest.mark.parametrize("engine", ["native-float", "native-mixed", "native-fast"])
def test_a_float_engine_that_computes_in_doubles_says_so_once(engine):
    kernel = gdr.compile("VARI x; VARJ q; VARF r; r += asin(0.2*x*q);")
    with pytest.warns(RuntimeWarning, match="computed in doubles, not in floats") as told:
        result = run(kernel, engine)
    assert [w.filename for w in told] == [__file__]
    assert engine in str(told[0].message)
    right = np.arcsin(0.2 * np.outer(X, X)).sum(axis=1)
    assert np.allclose(result, right, rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(kernel, engine)


def test_kernels_in_floats_and_the_engine_native_give_no_warning():
    floats = gdr.compile("VARI x; VARJ q; VARF r; r += exp(-x*q);")
    doubles = gdr.compile("VARI x; VARJ q; VARF r; r += asin(0.2*x*q);")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        right = np.exp(-np.outer(X, X)).sum(axis=1)
        assert np.allclose(run(floats, "native-float"), right, rtol=1e-6)
        run(doubles, "native")


def test_numbers_beyond_the_range_of_floats_are_named_once():
    kernel = gdr.compile("VARI x; VARJ q; VARF r; r += (1e30*x)*(1e30*q);")
    with pytest.warns(RuntimeWarning, match="beyond the range of floats"):
        run(kernel, "native-float")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(kernel, "native-float")


def test_sets_warn_as_jobs_do():
    kernel = gdr.compile("VARI x; VARJ q; VARF r; r += acos(0.2*x*q);")
    with gdr.open(engine="native-float") as device:
        job = device.set_job(kernel)
        with pytest.warns(RuntimeWarning, match="computed in doubles"):
            job.run_sets([({"x": X}, {"q": X})])
