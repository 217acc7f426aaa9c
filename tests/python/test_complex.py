"""Complex numbers in kernels: arrays of complex128 and complex64, operations, derivatives, engines."""

import numpy as np
import pytest
from conftest import error

import gdr

HELMHOLTZ = """
CONST k; VARI vec3 x; VARJ vec3 xs; VARJ complex q; VARF complex u;
r = norm(x - xs);
u += q*exp(complex(0, k*r))/r;
"""
ENGINES = ("native", "vector", "reference", "native-float")


@pytest.fixture(scope="module")
def kernel():
    return gdr.compile(HELMHOLTZ, effort=0)


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(4)
    x, xs = rng.normal(size=(23, 3)), 5 + rng.normal(size=(31, 3))
    return x, xs, rng.normal(size=31) + 1j * rng.normal(size=31)


def helmholtz(x, xs, q, k):
    r = np.linalg.norm(x[:, None] - xs, axis=2)
    return (q * np.exp(1j * k * r) / r).sum(axis=1)


def relative(a, b):
    return abs(a - b).max() / abs(b).max()


@pytest.mark.parametrize("engine", ENGINES)
def test_helmholtz_kernels_agree_with_numpy_on_every_engine(kernel, points, engine):
    x, xs, q = points
    u = kernel(targets={"x": x}, sources={"xs": xs, "q": q}, k=2.5, device=engine)["u"]
    assert u.dtype == np.complex128 and u.shape == (23,)
    exact = engine == "native"
    assert relative(u, helmholtz(x, xs, q, 2.5)) < (1e-13 if exact else 2e-6)


def test_complex_variables_take_complex_real_and_paired_arrays(kernel, points):
    x, xs, q = points
    targets = {"x": x}

    def at(given, **options):
        return kernel(targets=targets, sources={"xs": xs, "q": given}, k=1.0, **options)["u"]

    expected = at(q)
    pairs = np.stack([q.real, q.imag], axis=1)
    for given in (q, q.tolist(), pairs, np.repeat(q, 2)[::2], np.asfortranarray(pairs)):
        assert (at(given) == expected).all()
    assert relative(at(q.astype(np.complex64)), expected) < 1e-6
    for real in (q.real, q.real.astype(np.float32), np.arange(31)):
        assert relative(at(real), at(np.asarray(real, complex))) == 0
    assert relative(at(2 - 1j), helmholtz(x, xs, 2 - 1j, 1.0)) < 1e-13
    assert relative(at(3), helmholtz(x, xs, 3.0, 1.0)) < 1e-13
    assert kernel(targets=targets, sources={"xs": xs[:0], "q": q[:0]}, k=1.0)["u"].tolist() == [0] * 23
    one = kernel(targets=targets, sources={"xs": xs[:1], "q": q[:1]}, k=1.0)["u"]
    assert relative(one, helmholtz(x, xs[:1], q[:1], 1.0)) < 1e-13


def test_results_are_filled_and_narrowed_as_complex_numbers(kernel, points):
    x, xs, q = points
    given = {"targets": {"x": x}, "sources": {"xs": xs, "q": q}, "k": 1.0}
    expected = kernel(**given)["u"]
    narrow = kernel(**given, dtype="float32")["u"]
    assert narrow.dtype == np.complex64 and relative(narrow, expected) < 1e-6
    for dtype in (np.complex128, np.complex64):
        wide = np.zeros((23, 2), dtype)
        for out in (np.zeros(23, dtype), wide[:, 0]):
            kernel(**given, out=out)
            assert relative(out, expected) < 1e-6
        assert (wide[:, 1] == 0).all()
    with pytest.raises(TypeError, match="u: expected complex128 or complex64, got float64"):
        kernel(**given, out=np.zeros(23))


def test_wrong_complex_arrays_are_errors(kernel, points):
    x, xs, q = points
    with pytest.raises(TypeError, match="xs: expected real numbers, got complex128"):
        kernel(targets={"x": x}, sources={"xs": xs + 0j, "q": q}, k=1.0)
    with pytest.raises(ValueError, match="31 values"):
        kernel(targets={"x": x}, sources={"xs": xs, "q": q[:30]}, k=1.0)
    for bad in (np.nan, complex(0, np.inf)):
        with pytest.raises(ValueError, match="q"):
            kernel(targets={"x": x}, sources={"xs": xs, "q": np.full(31, bad)}, k=1.0)
    with pytest.raises(ValueError, match="cannot represent"):
        kernel(targets={"x": x}, sources={"xs": xs, "q": np.full(31, 2**53 + 1)}, k=1.0)


def test_jobs_and_params_are_complex(points):
    x, xs, q = points
    kernel = gdr.compile(
        "CONST complex c; VARI x; VARJ complex w[2]; VARF complex f; f += c*x*w[0]*w[1];", effort=0
    )
    assert ("f", "result", "complex128") in kernel.interface_rows()
    w = np.stack([q, q[::-1]], axis=1)
    expected = (2 - 1j) * x[:, 0] * (w[:, 0] * w[:, 1]).sum()
    with gdr.open("native") as device:
        job = device.job(kernel)
        job.set(c=2 - 1j)
        job.sources(w=w)
        job.targets(x=x[:, 0])
        assert relative(job.run()["f"], expected) < 1e-13
        job.start()
        assert relative(job.wait()["f"], expected) < 1e-13
        job.set(c=3)
        assert relative(job.run()["f"], 3 / (2 - 1j) * expected) < 1e-13
    labels = np.arange(23) % 2, np.arange(31) % 2
    found = kernel(targets={"x": x[:, 0]}, sources={"w": w}, c=1j, batch=labels)["f"]
    parts = np.array([(w[k::2, 0] * w[k::2, 1]).sum() for k in (0, 1)])
    assert relative(found, 1j * x[:, 0] * parts[labels[0]]) < 1e-13


def test_functions_with_complex_numbers(points):
    x, xs, q = points

    @gdr.kernel(types={"q": "complex"}, effort=0)
    def waves(i, j, k=2.5):
        r = np.linalg.norm(i.x - j.x)
        z = j.q * np.exp(1j * k * r) / r
        i.u += z
        i.power += abs(z) ** 2 + 0 * z.real
        i.turned += np.conj(z) * (1 - 2j) + z.conjugate() ** 2
        i.parts += np.real(z) - 3 * z.imag
        i.chosen += z if r > 5 else 1.0

    found = waves(targets={"x": x}, sources={"x": xs, "q": q})
    r = np.linalg.norm(x[:, None] - xs, axis=2)
    z = q * np.exp(2.5j * r) / r
    assert found.u.dtype == complex and found.power.dtype == float
    assert relative(found.u, z.sum(1)) < 1e-12
    assert error(found.power, (abs(z) ** 2).sum(1)) < 1e-12
    assert relative(found.turned, (z.conj() * (1 - 2j) + z.conj() ** 2).sum(1)) < 1e-12
    assert error(found.parts, (z.real - 3 * z.imag).sum(1)) < 1e-11
    assert relative(found.chosen, np.where(r > 5, z, 1).sum(1)) < 1e-12


def test_attributes_that_are_added_to_complex_numbers_may_be_real():
    @gdr.kernel(effort=0)
    def mixed(i, j):
        i.f += 1j * j.a + j.b - i.c

    kinds = {name: kind for name, _, kind in mixed.interface_rows()}
    assert sorted(kinds.values()) == ["complex128", "float64", "float64", "float64"]
    f = mixed(targets={"c": [1.0, 2.0]}, sources={"a": [3.0], "b": [5.0]}).f
    assert f.tolist() == [4 + 3j, 3 + 3j]


def test_adjoints_of_complex_results_have_complex_weights(kernel, points):
    x, xs, q = points
    g = np.linspace(1, 2, 23) - 1j * np.linspace(0, 1, 23)
    by_q = kernel.adjoint(sources="q")
    found = by_q(targets={"xs": xs}, sources={"x": x, "u_bar": g}, k=2.5)["q_bar"]
    r = np.linalg.norm(x[:, None] - xs, axis=2)
    expected = (g[:, None] * np.conj(np.exp(2.5j * r) / r)).sum(0)
    assert found.dtype == complex and relative(found, expected) < 1e-12

    def weighted(shift):
        moved = helmholtz(x + shift, xs, q, 2.5)
        return g.real * moved.real + g.imag * moved.imag

    by_x = kernel.adjoint(targets="x")
    found = by_x(targets={"x": x, "u_bar": g}, sources={"xs": xs, "q": q}, k=2.5)["x_bar"]
    for k in range(3):
        step = np.eye(3)[k] * 1e-6
        slope = (weighted(step) - weighted(-step)) / 2e-6
        assert error(found[:, k], slope) < 1e-7


def test_objects_keep_complex_variables(kernel, points, tmp_path):
    x, xs, q = points
    kernel.save(tmp_path / "waves.gdo")
    loaded = gdr.load(tmp_path / "waves.gdo")
    u = loaded(targets={"x": x}, sources={"xs": xs, "q": q}, k=2.5)["u"]
    assert u.dtype == complex and relative(u, helmholtz(x, xs, q, 2.5)) < 1e-6
