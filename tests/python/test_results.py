"""Types of results: one for each kernel of the library, with its fields."""

import inspect
import pickle
import re
import typing

import numpy as np
import pytest

import gdr


@pytest.mark.parametrize("name", gdr.builtin_names())
def test_the_type_of_the_results_has_the_fields_of_the_kernel(name):
    law = gdr.ParticleKernel(name)
    kind = gdr.results.RESULTS[name]
    assert kind._fields == tuple(law._results)
    types = {v.name: v.type for v in law.kernel.variables}
    hints = typing.get_type_hints(kind)
    for field, names in law._results.items():
        first = names[0].replace("[]", "_0")
        expected = {"float64": gdr._arrays.Floats, "int64": gdr._arrays.Ints}[types[first]]
        assert hints[field] == expected, field


def test_every_kernel_is_declared_for_type_checkers():
    text = inspect.getsource(gdr)
    for name in gdr.builtin_names():
        kind = gdr.results.RESULTS[name].__name__
        assert name == "gravity" or f"    {name}: ParticleKernel[results.{kind}]\n" in text


def test_results_are_named_tuples_that_can_be_pickled(native):
    r = gdr.sph_density(np.eye(3), 1.0, 1.0, device=native)
    assert isinstance(r, gdr.results.SphDensity) and r.near.dtype == np.int64
    again = pickle.loads(pickle.dumps(r))
    assert type(again) is type(r) and np.array_equal(again.rho, r.rho)
    assert isinstance(gdr.gravity(np.eye(3), 1.0), gdr.Gravity)


def test_results_of_own_kernels_are_attributes_and_items(native):
    kernel = gdr.compile("VARI xi; VARJ xj; VARF f; VARF values; f += xj - xi; values += 1;")
    arrays = {"targets": {"xi": [1.0]}, "sources": {"xj": [2.0, 4.0]}}
    r = kernel(**arrays, device=native)
    assert isinstance(r, gdr.ResultArrays) and isinstance(r, dict)
    assert r.f.tolist() == [4.0] and list(r) == ["f", "values"]
    assert callable(r.values) and r["values"].tolist() == [2.0]  # the method of dictionaries
    job = native.job(kernel)
    job.targets(xi=[1.0])
    job.sources(xj=[2.0])
    assert job.run().f.tolist() == [1.0]
    job.start(["f"])
    assert job.wait().f.tolist() == [1.0]
    copy = pickle.loads(pickle.dumps(r))
    assert isinstance(copy, gdr.ResultArrays) and copy.f.tolist() == [4.0]


def test_an_attribute_of_results_cannot_hide_an_item(native):
    r = gdr.ResultArrays(f=np.zeros(2))
    with pytest.raises(AttributeError, match=r"use r\['f'\] = "):
        r.f = np.ones(2)
    r["f"] = np.ones(2)
    copy = r.copy()
    assert r.f.tolist() == [1.0, 1.0] and isinstance(copy, gdr.ResultArrays)
    assert copy is not r and copy.f is r.f


def test_results_of_kernels_of_the_library_are_shown_as_tables(native):
    table = gdr.gravity(np.eye(3), 1.0, 0.5, device=native)._repr_html_()
    assert "Gravity" in table and "<td>acc</td><td>3 x 3</td><td>float64</td>" in table
    for kind in gdr.results.RESULTS.values():
        assert callable(kind._repr_html_), kind


def test_a_particle_calls_the_function_of_a_kernel():
    @gdr.kernel
    def law(i: gdr.Particle, j: gdr.Particle) -> None:
        i.f += j.x - i.x

    one = gdr.Particle(x=1.0, f=0.0)
    law.function(one, gdr.Particle(x=3.0))
    assert one.f == 2.0 and repr(one) == "gdr.Particle(x=1.0, f=2.0)"
    with pytest.raises(AttributeError, match="the particle has no attribute 'y'"):
        one.y


def test_help_of_a_kernel_has_its_formula():
    assert "u(r) = depth (e^2 - 2 e)" in gdr.morse.__doc__
    assert "acc_i = + sum m_j d" in gdr.ParticleKernel("gravity").__doc__
    for name in gdr.builtin_names():
        assert len(gdr.ParticleKernel(name)._formula().splitlines()) >= 2, name


def test_help_names_arguments_and_not_the_squares_in_kernels():
    for name in sorted(gdr.results.RESULTS.keys() - {"gravity"}):
        kernel = getattr(gdr, name)
        text = kernel.__doc__
        squared = [v.name for v in kernel.kernel.variables if v.squared]
        assert not squared or not re.search(rf"\b({'|'.join(squared)})\b", text), text
    assert "rc is the cut-off radius." in gdr.lennard_jones.__doc__
    assert "rc: the cut-off radius." in gdr.morse.__doc__
    assert "r^2 = d^2 + eps^2" in gdr.gravity_jerk.__doc__
