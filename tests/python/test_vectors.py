"""Vectors and tensors: arrays of shape (n, 3) and (n, 6), in the kernel language and in Python
functions."""

import math
import pickle
import warnings

import numpy as np
import pytest
from conftest import direct_gravity, error

import gdr
from gdr import functions

GRAVITY = """
kernel gravity_vectors;
CONST eps2;
VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 acc; VARF pot;
d = xs - x;
r = rsqrt(norm2(d) + eps2);
acc += m*r*r*r*d;
pot -= m*r;
"""


@pytest.fixture(scope="module")
def stars():
    rng = np.random.default_rng(3)
    return rng.normal(size=(60, 3)), rng.uniform(1, 2, 60)


@pytest.fixture(scope="module")
def gravity():
    return gdr.compile(GRAVITY, effort=0)


@pytest.mark.parametrize("size", [2, 3])
def test_a_number_stands_for_a_vector_of_equal_numbers(size):
    law = gdr.compile(
        f"CONST vec{size} edge; VARI vec{size} x; VARJ vec{size} y; VARF f;"
        "f += norm2(minimum_image(x - y, edge));"
    )
    x = np.random.default_rng(1).uniform(0, 3, (7, size))
    d = x[:, None] - x
    want = ((d - 3 * np.round(d / 3)) ** 2).sum(axis=(1, 2))
    for edge in (3, 3.0, [3.0] * size):
        f = law(targets={"x": x}, sources={"y": x}, edge=edge).f
        assert np.allclose(f, want, rtol=1e-6)
    with pytest.raises(ValueError, match="edge: expected shape"):
        law(targets={"x": x}, sources={"y": x}, edge=[3.0] * (5 - size))


def test_a_number_is_not_both_parts_of_a_complex_parameter():
    law = gdr.compile("CONST complex z; VARI x; VARJ y; VARF complex f; f += x*y*z;")
    f = law(targets={"x": [1.0]}, sources={"y": [2.0]}, z=3 + 4j).f
    assert np.allclose(f, 6 + 8j)
    f = law(targets={"x": [1.0]}, sources={"y": [2.0]}, z=3).f
    assert np.allclose(f, 6)


def test_vectors_are_arrays_of_three(gravity, stars):
    x, m = stars
    r = gravity(targets={"x": x}, sources={"xs": x, "m": m}, eps2=0.01)
    acc, pot = direct_gravity(x, m, 0.1, targets=x)
    assert r["acc"].shape == (60, 3) and r["pot"].shape == (60,)
    assert error(r["acc"], acc) < 1e-6 and error(r["pot"], pot) < 1e-6
    (position,) = (a for a in gravity.arrays if a.name == "x")
    assert position.sizes == (3,) and position.role == "target"
    assert [v.name for v in position.elements] == ["x_0", "x_1", "x_2"]


def test_any_layout_of_vectors_is_accepted(gravity, stars):
    x, m = stars
    expected = gravity(targets={"x": x}, sources={"xs": x, "m": m}, eps2=0.01)["acc"]
    columns = {f"x_{k}": x[:, k] for k in range(3)}
    for targets in ({"x": np.asfortranarray(x)}, {"x": x.tolist()}, columns):
        got = gravity(targets=targets, sources={"xs": x, "m": m}, eps2=0.01)["acc"]
        assert (got == expected).all()
    one = gravity(targets={"x": x}, sources={"xs": [1.0, 2.0, 3.0], "m": m[:1]}, eps2=0.01)["acc"]
    assert one.shape == (60, 3)
    out = np.zeros((60, 3))
    r = gravity(
        targets={"x": x}, sources={"xs": x, "m": m}, eps2=0.01, results={"acc": out, "acc_1": None}
    )
    assert r["acc"] is out and (out == expected).all() and (r["acc_1"] == expected[:, 1]).all()


def test_wrong_shapes_are_errors_that_name_the_array(gravity, stars):
    x, m = stars
    sources = {"xs": x, "m": m}
    with pytest.raises(ValueError, match=r"x: expected shape \(60, 3\), got \(60, 2\)"):
        gravity(targets={"x": x[:, :2]}, sources=sources, eps2=0.01)
    bad = x.copy()
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"x\[4, 1\] is not a number"):
        gravity(targets={"x": bad}, sources=sources, eps2=0.01)
    with pytest.raises(gdr.UsageError, match='"x_1" is given twice'):
        gravity(targets={"x": x, "x_1": x[:, 1]}, sources=sources, eps2=0.01)


def test_params_may_be_vectors_and_tables():
    kernel = gdr.compile(
        "CONST vec3 b; CONST table t[2]; VARI x; VARJ vec3 y; VARJ int k; VARF f, g[2];\n"
        "f += t[k]*dot(b, y)*x; g[1] += x;",
        effort=0,
    )
    y = np.arange(6.0).reshape(2, 3)
    inputs = {"targets": {"x": [1.0, 2.0]}, "sources": {"y": y, "k": [0, 1]}}
    r = kernel(**inputs, b=(1, 10, 100), t=[2.0, 3.0])
    assert r["f"].tolist() == [2 * 210.0 + 3 * 543.0, 2 * (2 * 210.0 + 3 * 543.0)]
    assert r["g"].shape == (2, 2) and r["g"][:, 1].tolist() == [2.0, 4.0]
    assert kernel(**inputs, b_0=1, b_1=10, b_2=100, t=[2.0, 3.0])["f"][0] == r["f"][0]
    with pytest.raises(gdr.UsageError, match="missing params: t"):
        kernel(**inputs, b=(1, 10, 100))
    with pytest.raises(ValueError, match=r"b: expected shape \(3,\), got \(2,\)"):
        kernel(**inputs, b=(1, 10), t=[2.0, 3.0])


@gdr.kernel(effort=0)
def plummer(i, j, eps2):
    d = j.x - i.x
    w = j.m / (np.dot(d, d) + eps2) ** 1.5
    i.acc += w * d
    i.spin += np.cross(d, j.v)
    i.radius += np.linalg.norm(d)


def test_a_function_of_vectors_is_a_kernel(stars):
    x, m = stars
    v = x[::-1].copy()
    r = plummer(targets={"x": x}, sources={"x": x, "m": m, "v": v}, eps2=0.01)
    d = x[None] - x[:, None]
    assert error(r["acc"], direct_gravity(x, m, 0.1)[0]) < 1e-6
    assert error(r["spin"], np.cross(d, v[None]).sum(1)) < 1e-6
    assert error(r["radius"], np.linalg.norm(d, axis=2).sum(1)) < 1e-6
    assert "VARI vec3 xi as pos;" in plummer.text and "VARF radius;" in plummer.text


AXIS = np.array([0.0, 0.0, 2.0])


def shifted(d, along):
    """A function of vectors."""
    if d[0] > 0:
        return d + along
    return d - 2 * along


@gdr.kernel(types={"q": "sym3", "dx": "long vec3"}, effort=0)
def everything(i, j, b=(1.0, 2.0, 3.0)):
    dx = i.x - j.x
    s = np.array([dx[0], b[1], -1.0]) @ dx
    dx[2] += 1.0
    u = shifted(dx, b) if s > 0 else AXIS
    u0, u1, u2 = u
    for k in range(3):
        i.f[k] += s * u[k]
    i.f[0] -= u0 + u1 * u2
    i.g += j.q @ dx + np.where(s > 1, dx, -dx)
    i.trace += np.trace(np.outer(dx, dx)) + math.sqrt(functions.norm2(u))


def test_translated_vectors_agree_with_numpy():
    rng = np.random.default_rng(8)
    x, y, q = rng.normal(size=(20, 3)), rng.normal(size=(30, 3)), rng.normal(size=(30, 6))
    b = np.array([0.5, -1.0, 2.0])
    r = everything(targets={"x": x}, sources={"x": y, "q": q}, b=b)
    f, g, trace = np.zeros((20, 3)), np.zeros((20, 3)), np.zeros(20)
    for i in range(20):
        for j in range(30):
            xx, xy, xz, yy, yz, zz = q[j]
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            d = x[i] - y[j]
            s = np.array([d[0], b[1], -1.0]) @ d
            d[2] += 1.0
            u = shifted(d, b) if s > 0 else AXIS
            f[i] += s * u
            f[i, 0] -= u[0] + u[1] * u[2]
            g[i] += tensor @ d + (d if s > 1 else -d)
            trace[i] += d @ d + np.linalg.norm(u)
    assert error(r["f"], f) < 1e-5 and error(r["g"], g) < 1e-5 and error(r["trace"], trace) < 1e-5
    assert everything.defaults == {"b": (1.0, 2.0, 3.0)}
    assert everything(targets={"x": x}, sources={"x": y, "q": q})["f"].shape == (20, 3)


@pytest.mark.parametrize(
    "line, message",
    [
        ("i.f += i.x[3] * np.dot(i.x, j.x)", "the index must be 0, 1 or 2"),
        ("i.f += np.dot(i.x, np.array([1.0, j.m, 2.0, 3.0]))", "two or three elements"),
        ("i.f += np.dot(i.x, j.x) + j.x", "shapes|cannot be added"),
        ("i.f += np.dot(j.x, (1, 2, 3, 4))", "2 or 3 numbers"),
        ("a, b = np.cross(i.x, j.x); i.f += a*b", "a vector of two components is required"),
    ],
)
def test_untranslatable_vectors_are_errors_with_the_line(line, message, tmp_path):
    import importlib.util

    path = tmp_path / "law.py"
    path.write_text(f"import numpy as np\n\ndef law(i, j):\n    {line}\n")
    spec = importlib.util.spec_from_file_location("law", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(gdr.ProgramError, match=message) as caught:
        gdr.kernel(module.law)
    assert "law.py:4" in str(caught.value)


@gdr.kernel(precision="long", effort=0)
def periodic(i, j, box, cell):
    d = functions.minimum_image(i.x - j.x, box)
    i.r2 += np.dot(d, d)
    i.d += functions.minimum_image(i.x - j.x, 4.0, 1.0, 5.0, -1.0, 0.5, 6.0) + d * cell


def test_minimum_images_agree_with_python():
    rng = np.random.default_rng(4)
    x, y, box = rng.uniform(0, 20, (9, 3)), rng.uniform(0, 20, (7, 3)), np.array([5.0, 6.0, 7.0])
    r = periodic(targets={"x": x}, sources={"x": y}, box=box, cell=0.5)
    cell = (4.0, 1.0, 5.0, -1.0, 0.5, 6.0)
    pairs = [(a - b) for a in x for b in y]
    images = [functions.minimum_image(d, box) for d in pairs]
    r2 = np.array([functions.norm2(d) for d in images]).reshape(9, 7).sum(1)
    total = [functions.minimum_image(d, *cell) + 0.5 * e for d, e in zip(pairs, images)]
    assert error(r["r2"], r2) < 1e-13
    assert error(r["d"], np.array(total).reshape(9, 7, 3).sum(1)) < 1e-12


def test_the_box_of_a_vector_is_a_vector_without_a_declaration():
    def image(d, edges):
        return functions.minimum_image(d, edges)

    @gdr.kernel(effort=0)
    def boxed(i, j, box):
        d = image(i.x - j.x, box)
        i.r2 += np.dot(d, d)

    @gdr.kernel(effort=0)
    def line(i, j, box):
        i.f += functions.minimum_image(i.x - j.x, box)

    @gdr.kernel(effort=0)
    def cube(i, j, edge):
        d = functions.minimum_image(i.x - j.x, edge)
        if np.dot(d, d) < 0.25 * edge * edge:
            i.r2 += np.dot(d, d)

    @gdr.kernel(effort=0)
    def default(i, j, edge=4.0):
        d = functions.minimum_image(i.x - j.x, edge)
        i.r2 += np.dot(d, d)

    assert boxed.names("param") == ("box_0", "box_1", "box_2")
    for number in line, cube, default:
        assert len(number.names("param")) == 1
    x, y = np.array([[0.5, 3.0, 3.0]]), np.zeros((1, 3))
    assert boxed(targets={"x": x}, sources={"x": y}, box=(2, 4, 8))["r2"][0] == 0.25 + 1 + 9
    assert boxed(targets={"x": x}, sources={"x": y}, box=4)["r2"][0] == 0.25 + 1 + 1
    assert default(targets={"x": x}, sources={"x": y})["r2"][0] == 0.25 + 1 + 1
    with pytest.raises(ValueError, match=r"expected shape \(3,\)"):
        boxed(targets={"x": x}, sources={"x": y}, box=(2, 4))


@gdr.kernel(precision="long", effort=0)
def mathematics(i, j):
    t = math.log(i.x) + np.sin(i.x) * math.cos(j.y) - math.atan2(i.x, j.y)
    i.f += t + math.erf(i.x) + np.arcsin(0.3 * j.y) + round(i.x) + math.floor(j.y)
    i.g += math.tanh(j.y) + np.cbrt(i.x)


def test_functions_of_math_and_numpy_are_those_of_the_language():
    x, y = np.array([0.7, 1.9]), np.array([0.3, -0.8, 2.2])
    r = mathematics(targets={"x": x}, sources={"y": y})
    for k, a in enumerate(x):
        f = sum(math.log(a) + math.sin(a) * math.cos(b) - math.atan2(a, b) for b in y)
        f += sum(math.erf(a) + math.asin(0.3 * b) + round(a) + math.floor(b) for b in y)
        assert abs(r["f"][k] - f) < 1e-12 * abs(f)
        g = (np.tanh(y) + np.cbrt(a)).sum()
        assert abs(r["g"][k] - g) < 1e-12 * abs(g)


def test_saved_kernels_keep_the_names_of_arguments(tmp_path, stars):
    x, m = stars
    targets, sources = {"x": x}, {"x": x, "m": m, "v": x}
    expected = plummer(targets=targets, sources=sources, eps2=0.01)
    exact = plummer(targets=targets, sources=sources, eps2=0.01, device="exact")
    plummer.save(tmp_path / "plummer.gdo")
    (tmp_path / "plummer.gds").write_text(plummer.assembly)
    copies = [
        gdr.load(tmp_path / "plummer.gdo"),
        gdr.load(tmp_path / "plummer.gds"),
        gdr.from_object(plummer.object),
        pickle.loads(pickle.dumps(gdr.from_object(plummer.object))),
        pickle.loads(pickle.dumps(plummer)),
    ]
    for kernel in copies:
        got = kernel(targets=targets, sources=sources, eps2=0.01, device="exact")
        assert got.keys() == exact.keys()
        assert all((got[name] == exact[name]).all() for name in exact)
        got = kernel(targets=targets, sources=sources, eps2=0.01)
        assert all((got[name] == expected[name]).all() for name in expected)
        assert kernel.object == plummer.object
    with pytest.raises(TypeError, match="sources: unknown: mass; missing: m"):
        copies[0](targets=targets, sources={"x": x, "mass": m, "v": x}, eps2=0.01)


@gdr.kernel(effort=0)
def bare(i, j):
    d = j.x - i.x
    i.f += d * functions.rsqrt(np.dot(d, d)) ** 3
    i.count += 1


def test_kernels_of_the_library_warn_of_results_that_are_not_finite():
    close = np.array([[0, 0, 0], [1e-30, 0, 0]])
    with pytest.warns(RuntimeWarning, match="'force' for 2 of 2 targets") as caught:
        gdr.lennard_jones(close, rc=2.5)
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="'rho' for 2 of 2 targets"):
        gdr.sph_density(close, 1.0, 0.0)


def test_results_that_are_not_finite_raise_one_warning(stars):
    x, _ = stars
    with pytest.warns(RuntimeWarning, match="'f' for 60 of 60 targets") as caught:
        bare(targets={"x": x}, sources={"x": x})
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "exclude the pair of a particle with itself" in str(caught[0].message)
    assert "outside of the domain of a function" in str(caught[0].message)
    assert "'count'" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bare(targets={"x": x}, sources={"x": x + 10})


def test_minima_without_a_source_raise_no_warning():
    kernel = gdr.compile("VARI x; VARJ y; VARF least; least min= x*y;", effort=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(targets={"x": [1.0]}, sources={"y": []})["least"][0] == np.inf


LAW_IN_A_PLANE = """
CONST box; VARI vec2 x; VARJ vec2 xs; VARJ m; VARF vec2 acc; VARF pot;
d = minimum_image(x - xs, box);
u = m*log(norm2(d) + 0.01);
acc -= grad(u, x); pot += u;
"""


def gravity_in_a_plane(x, m, box):
    """Forces and energies of LAW_IN_A_PLANE."""
    d = x[:, None] - x[None]
    d -= box * np.round(d / box)
    r2 = (d * d).sum(-1) + 0.01
    return -(m[None, :, None] * 2 * d / r2[..., None]).sum(1), (m * np.log(r2)).sum(1)


@pytest.fixture(scope="module")
def discs():
    rng = np.random.default_rng(8)
    return rng.uniform(-1, 1, (37, 2)), rng.uniform(1, 2, 37)


def test_vectors_of_two_components_are_arrays_of_two(discs):
    x, m = discs
    kernel = gdr.compile(LAW_IN_A_PLANE, effort=0)
    assert next(a for a in kernel.arrays if a.name == "x").sizes == (2,)
    acc, pot = gravity_in_a_plane(x, m, 2.0)
    for given in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        got = kernel(targets={"x": given}, sources={"xs": given, "m": m}, box=2.0)
        assert got["acc"].shape == (37, 2)
        assert error(got["acc"], acc) < 1e-6 and error(got["pot"], pot) < 1e-6
    empty = kernel(targets={"x": np.empty((0, 2))}, sources={"xs": x, "m": m}, box=2.0)
    assert empty["acc"].shape == (0, 2)
    with pytest.raises(ValueError, match=r"x: expected shape \(37, 2\), got \(37, 3\)"):
        kernel(targets={"x": np.zeros((37, 3))}, sources={"xs": x, "m": m}, box=2.0)


def test_functions_of_vectors_of_two_components(discs):
    @gdr.kernel(types={"x": "vec2", "box": "vec2"}, effort=0)
    def plane(i, j, box):
        d = functions.minimum_image(i.x - j.x, box)
        u = j.m * np.log(d @ d + 0.01)
        i.acc -= functions.grad(u, i.x)
        i.pot += u
        i.turn += np.cross(i.x, j.x) + 0 * np.linalg.norm(d)
        i.first += d[0] + np.array([0.0, 3.0])[1] * d[1]

    x, m = discs
    got = plane(targets={"x": x}, sources={"x": x, "m": m}, box=2.0)
    acc, pot = gravity_in_a_plane(x, m, 2.0)
    assert error(got["acc"], acc) < 1e-6 and error(got["pot"], pot) < 1e-6
    turn = (x[:, None, 0] * x[None, :, 1] - x[:, None, 1] * x[None, :, 0]).sum(1)
    assert error(got["turn"], turn) < 1e-6
    d = x[:, None] - x[None]
    d -= 2 * np.round(d / 2)
    assert error(got["first"], (d[..., 0] + 3 * d[..., 1]).sum(1)) < 1e-6


def test_the_shape_of_two_follows_from_constants_and_arrays():
    @gdr.kernel(effort=0)
    def shifted(i, j):
        i.s += np.dot(i.x - j.x, (3.0, 4.0))
        a, b = j.y
        i.t += a - b
        i.u += np.dot(np.array([i.h, j.m]), j.z)

    sizes = {a.name: a.sizes for a in shifted.arrays}
    assert set(sizes.values()) == {(2,)} and len(sizes) == 4, sizes


def test_two_numbers_as_a_default_are_a_vector():
    @gdr.kernel(precision="long", effort=0)
    def shifted(i, j, c=(10.0, 20.0)):
        d = i.x - j.x + c
        i.s += np.dot(d, d)

    x, y = np.array([[1.0, 2.0], [0.0, 5.0]]), np.array([[0.5, 1.0]])
    for given, c in ({}, (10, 20)), ({"c": (1, 2)}, (1, 2)), ({"c": 3.0}, (3, 3)):
        got = shifted(targets={"x": x}, sources={"x": y}, **given)["s"]
        assert error(got, ((x - y + np.array(c)) ** 2).sum(1)) < 1e-13


PAIR = np.array([2.0, 3.0])


def test_negative_indices_need_vectors_of_three():
    def last_of(d):
        return d[-1]

    def last(i, j):
        i.s += (i.x - j.x)[-1]

    def last_by_function(i, j):
        i.s += last_of(i.x - j.x)

    for function in last, last_by_function:
        with pytest.raises(gdr.ProgramError, match="of two components from 0"):
            gdr.kernel(function, types={"x": "vec2"})

    @gdr.kernel(precision="long", effort=0)
    def beside_tables(i, j):
        d = i.x - j.x
        d[-2] += 1.0
        i.s += PAIR[j.k] * d[-1] + d[-2] + last_of(d)
        i.f[-1] += d[0]

    @gdr.kernel(types={"p": "vec2"}, precision="long", effort=0)
    def beside_planes(i, j):
        i.s += (i.x - j.x)[-1] * np.dot(i.p, i.p)

    x, y, p = np.array([[1.0, 2.0, 4.0]]), np.array([[0.5, 7.0, 1.0]]), np.array([[1.0, 2.0]])
    got = beside_tables(targets={"x": x}, sources={"x": y, "k": [1]})
    assert got["s"].tolist() == [3 * 3 - 4 + 3] and got["f"].tolist() == [[0, 0, 0.5]]
    got = beside_planes(targets={"x": x, "p": p}, sources={"x": y})
    assert got["s"].tolist() == [3 * 5]


def test_a_number_stands_for_vectors_and_not_for_longer_arrays(discs):
    @gdr.kernel(types={"x": "vec2"}, effort=0)
    def square(i, j, box):
        d = functions.minimum_image(i.x - j.x, box)
        i.u += np.dot(d, d)

    x, _ = discs
    inputs = {"targets": {"x": x}, "sources": {"x": x}}
    for kernel in square, pickle.loads(pickle.dumps(square)):
        same = kernel(**inputs, box=1.0)["u"] == square(**inputs, box=(1.0, 1.0))["u"]
        assert same.all()
    weights = {"targets": {"x": x, "u_bar": 1.0}, "sources": {"x": x}}
    adjoint = square.adjoint(targets="x")
    assert (adjoint(**weights, box=1.0)["x_bar"] == adjoint(**weights, box=(1, 1))["x_bar"]).all()
    plain = gdr.compile("CONST c[4]; VARI x; VARJ y; VARF f; f += x*y*c[0] + c[1];", effort=0)
    with pytest.raises(ValueError, match=r"c: expected shape \(4,\), got \(\)"):
        plain(targets={"x": [1.0]}, sources={"y": [1.0]}, c=2.0)


def test_messages_count_complex_numbers():
    kernel = gdr.compile("VARI complex z; VARJ w; VARF f; f += z.re*w;", effort=0)
    for kind in np.complex128, np.complex64:
        with pytest.raises(ValueError, match=r"z\[1\] is not a number"):
            kernel(targets={"z": np.array([1, complex(0, np.nan)], kind)}, sources={"w": [1.0]})


def test_adjoints_of_vectors_of_two_components(discs):
    x, m = discs
    text = "VARI vec2 x; VARJ vec2 xs; VARJ m; VARF pot; pot += m*exp(-norm2(x - xs));"
    kernel = gdr.compile(text, effort=0)
    weights = np.linspace(1, 2, 37)
    adjoint = kernel.adjoint(targets="x")
    got = adjoint(targets={"x": x, "pot_bar": weights}, sources={"xs": x, "m": m})
    d = x[:, None] - x[None]
    right = -2 * (m[None, :, None] * np.exp(-(d * d).sum(-1))[..., None] * d).sum(1)
    assert error(got["x_bar"], right * weights[:, None]) < 1e-6
