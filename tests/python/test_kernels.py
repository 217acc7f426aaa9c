"""Kernels: built-in kernels as functions, compiled and assembled kernels, jobs."""

import inspect
import os

import numpy as np
import pytest
from conftest import direct_gravity, error

import gdr

NAMES = gdr.builtin_names()


def test_every_built_in_kernel_is_a_function():
    for name in NAMES:
        function = getattr(gdr, name)
        assert callable(function) and name in gdr.__all__
        if name != "gravity":
            assert list(inspect.signature(function).parameters)[0] == "pos"
            assert function.clocks > 0 and function.flops > 0
            assert f'.kernel "{name}"' in function.assembly
            assert "(n, 3)" in function.__doc__
    with pytest.raises(AttributeError, match="gravty"):
        gdr.gravty


@pytest.mark.parametrize("name", ["gravity_potential", "gravity_long"])
def test_other_gravity_kernels_agree_with_rebound(name, cluster):
    r = getattr(gdr, name)(cluster.pos, cluster.mass, cluster.eps)
    limit = 1e-13 if name == "gravity_long" else 2e-7
    assert error(r.acc, cluster.acc) < limit and error(r.pot, cluster.pot) < limit


def test_jerk_is_the_derivative_of_the_acceleration(rng):
    pos, vel = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    mass = rng.uniform(0.5, 1.5, 60)
    r = gdr.gravity_jerk_long(pos, mass, vel, 0.3)
    h = 3e-5
    ahead, behind = (direct_gravity(pos + s * h * vel, mass, 0.3)[0] for s in (1, -1))
    assert error(r.jerk, (ahead - behind) / (2 * h)) < 1e-6
    assert error(r.acc, direct_gravity(pos, mass, 0.3)[0]) < 1e-13


def test_snap_is_the_derivative_of_the_jerk(rng):
    pos, vel = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    mass, eps, h = rng.uniform(0.5, 1.5, 60), 0.5, 1e-4
    acc = direct_gravity(pos, mass, eps)[0]
    r = gdr.gravity_snap(pos, mass, vel, acc, eps)

    def jerk(s):
        x = pos + s * h * vel + 0.5 * (s * h) ** 2 * acc
        return gdr.gravity_jerk_long(x, mass, vel + s * h * acc, eps).jerk

    assert error(r.snap, (jerk(1) - jerk(-1)) / (2 * h)) < 1e-5


def lennard_jones_sum(pos, rc):
    d = pos[:, None] - pos[None]
    r2 = (d**2).sum(-1)
    np.fill_diagonal(r2, np.inf)
    s6 = np.where(r2 < rc**2, r2, np.inf) ** -3
    f = (24 * (2 * s6**2 - s6) / r2)[..., None] * d
    return f.sum(1), 4 * (s6**2 - s6).sum(1), 24 * (2 * s6**2 - s6).sum(1)


def crystal(rng, n=5):
    grid = np.stack(np.meshgrid(*3 * [np.arange(n)], indexing="ij"), -1).reshape(-1, 3)
    return 1.1 * grid + rng.normal(scale=0.03, size=(n**3, 3))


def test_lennard_jones_agrees_with_direct_summation(rng):
    pos = crystal(rng)
    r = gdr.lennard_jones(pos, rc=2.5)
    force, u, virial = lennard_jones_sum(pos, 2.5)
    assert r._fields == ("force", "u", "virial")
    assert error(r.force, force) < 1e-5 and error(r.u, u) < 1e-5 and error(r.virial, virial) < 1e-5


def test_lennard_jones_mixed_with_one_species_is_lennard_jones(rng):
    pos = crystal(rng)
    one = gdr.lennard_jones(pos, rc=2.5)
    two = gdr.lennard_jones_mixed(pos, 1.0, 1.0, rc=2.5)
    assert error(two.force, one.force) < 1e-5


def test_equal_charges_repel(rng):
    r = gdr.coulomb(np.array([[0.0, 0, 0], [2.0, 0, 0]]), [1.0, 1.0])
    assert r.field[0, 0] == pytest.approx(-0.25, rel=1e-6)
    assert r.pot[1] == pytest.approx(0.5, rel=1e-6)


def test_targets_may_have_several_inputs(rng):
    pos, vel, mass = rng.normal(size=(80, 3)), rng.normal(size=(80, 3)), rng.uniform(1, 2, 80)
    targets = {"pos": rng.normal(size=(9, 3)), "vel": rng.normal(size=(9, 3))}
    r = gdr.gravity_jerk(pos, mass, vel, 0.2, targets=targets)
    assert error(r.acc, direct_gravity(pos, mass, 0.2, targets["pos"])[0]) < 1e-6
    with pytest.raises(TypeError, match="targets: missing: vel"):
        gdr.gravity_jerk(pos, mass, vel, 0.2, targets=targets["pos"])
    with pytest.raises(TypeError, match="targets: unknown: speed"):
        gdr.gravity_jerk(pos, mass, vel, 0.2, targets={**targets, "speed": 1})


def test_neighbour_lists_agree_with_direct_search(rng):
    pos = rng.uniform(size=(200, 3))
    r = gdr.gravity_neighbours(pos, 1.0, np.zeros_like(pos), radius=0.3, eps=0.0)
    d = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
    np.fill_diagonal(d, np.inf)
    assert np.array_equal(r.near, (d < 0.3).sum(1))
    assert np.array_equal(r.nearest, d.argmin(1))
    assert r.near_list.shape == (200, 128)
    for i in range(200):
        assert np.array_equal(r.near_list[i, : r.near[i]], np.flatnonzero(d[i] < 0.3))
        assert (r.near_list[i, r.near[i] :] == -1).all()


@pytest.mark.parametrize("name", ["gravity_jerk_neighbours", "gravity_hermite_neighbours"])
def test_neighbour_lists_beside_long_sums_agree_with_direct_search(name, rng):
    pos, vel, mass = rng.uniform(size=(150, 3)), rng.normal(size=(150, 3)), rng.uniform(1, 2, 150)
    radius = rng.uniform(0.1, 0.3, 150)
    kernel = getattr(gdr, name)
    assert not {"id", "slot"} & set(inspect.signature(kernel).parameters)
    r = kernel(pos, mass, vel, radius=radius, eps=0.1)
    assert error(r.acc, direct_gravity(pos, mass, 0.1)[0]) < 1e-13
    d = np.linalg.norm(pos[:, None] - pos[None], axis=-1)
    np.fill_diagonal(d, np.inf)
    assert np.array_equal(r.near, (d < radius[:, None]).sum(1))
    for i in range(150):
        assert np.array_equal(r.near_list[i, : r.near[i]], np.flatnonzero(d[i] < radius[i]))
    inside = {"pos": np.full((1, 3), 0.5), "vel": np.zeros((1, 3)), "radius": 0.4}
    if name == "gravity_hermite_neighbours":
        inside["eps"] = 0.1
        r = kernel(pos, mass, vel, targets=inside)
    else:
        r = kernel(pos, mass, vel, eps=0.1, targets=inside)
    near = np.flatnonzero(np.linalg.norm(pos - 0.5, axis=-1) < 0.4)
    assert np.array_equal(r.near_list[0, : r.near[0]], near)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda p: gdr.lennard_jones(p), TypeError, "missing: rc"),
        (lambda p: gdr.lennard_jones(p, -1.0), ValueError, "rc: expected at least 0"),
        (lambda p: gdr.lennard_jones(p, 1e200), ValueError, "rc: its square"),
        (lambda p: gdr.lennard_jones(p, 1.0, 2.0), TypeError, "lennard_jones"),
        (lambda p: gdr.lennard_jones(p, rd=1.0), TypeError, "rd"),
        (lambda p: gdr.coulomb(p, np.ones(7)), ValueError, r"charge: expected shape \(4,\)"),
        (lambda p: gdr.coulomb(p, [1, np.inf, 1, 1]), ValueError, r"charge\[1\] is infinite"),
        (lambda p: gdr.gravity_jerk(p, 1.0, p * np.nan, 0.1), ValueError, r"vel\[0, 0\]"),
        (lambda p: gdr.sph_density(p, 1.0, h="x"), TypeError, "h"),
        (lambda p: gdr.sph_density(p, 1.0, -0.1), ValueError, "h: expected at least 0"),
        (lambda p: gdr.sph_density(p, np.ones(4), np.array([1, -0.1, 1, 1])), ValueError, "h"),
        (
            lambda p: gdr.sph_density(p, 1.0, 0.1, targets={"pos": p, "h": -0.1}),
            ValueError,
            "targets: h: expected at least 0",
        ),
        (lambda p: gdr.lennard_jones_mixed(p, -0.5, 1.0, 3.0), ValueError, "sigma"),
        (lambda p: gdr.lennard_jones(p, rc=np.True_), TypeError, "rc: expected a number, got bool"),
    ],
)
def test_invalid_arguments_raise_an_error_with_the_argument(call, kind, message):
    with pytest.raises(kind, match=message):
        call(np.arange(12.0).reshape(4, 3))


@pytest.mark.parametrize("engine", ["native", "exact", "native-mixed", "native-float"])
def test_functions_of_the_library_warn_of_results_that_are_not_finite(engine):
    rng = np.random.default_rng(52)
    pos = rng.normal(size=(8, 3))
    with gdr.open(engine=engine) as device:
        with pytest.warns(RuntimeWarning, match="'lennard_jones': results are not finite: 'force'"):
            gdr.lennard_jones(1e-30 * pos, 1.0, device=device)
        with pytest.warns(RuntimeWarning, match="'sph_density': results are not finite: 'rho'"):
            gdr.sph_density(pos, 1.0, 0.0, device=device)


@pytest.mark.parametrize(
    "value", [True, np.True_, np.array(True), np.complex128(1 + 2j), np.str_("1"), np.array("1")]
)
def test_a_parameter_is_a_number_and_no_truth_value_or_text(device, value):
    """np.True_ counted as 1, and of a complex number the real part."""
    spring = gdr.compile(SPRING)
    x = np.ones(4)
    with pytest.raises(TypeError, match="k: expected a number, got"):
        spring(targets={"x": x}, sources={"xs": x, "q": x}, k=value, device=device)
    with pytest.raises(TypeError, match="k: expected a number, got"):
        device.job(spring).set(k=value)


def test_an_integer_beyond_the_range_of_doubles_is_no_parameter():
    with pytest.raises(ValueError, match="k: the number is out of the range of float64"):
        gdr.compile(SPRING)(targets={"x": [1.0]}, sources={"xs": [1.0], "q": [1.0]}, k=10**400)


SPRING = """
kernel spring; flops 3;
CONST k; VARI x; VARJ xs, q; VARF f;
f += k*q*(xs - x);
"""


def test_a_compiled_kernel_can_be_called():
    spring = gdr.compile(SPRING)
    assert spring.name == "spring" and spring.flops == 3 and spring.clocks >= 1
    assert [v.name for v in spring.variables] == ["k", "x", "xs", "q", "f"] or spring.names(
        "result"
    ) == ("f",)
    x, q = np.linspace(0, 1, 40), np.arange(40.0)
    f = spring(targets={"x": x}, sources={"xs": x, "q": q}, params={"k": 2.0})["f"]
    assert error(f, (2 * q * (x[None] - x[:, None])).sum(1)) < 1e-6
    with pytest.raises(gdr.UsageError, match="missing params: k"):
        spring(targets={"x": x}, sources={"xs": x, "q": q})
    with pytest.raises(gdr.UsageError, match="qq"):
        spring(targets={"x": x}, sources={"xs": x, "qq": q}, params={"k": 2.0})


@pytest.mark.parametrize("condition", ["(-a) < d", "d > -a", "(-e) < d", "(-a) < d && d <= b"])
@pytest.mark.parametrize("precision", ["short", "long"])
def test_comparisons_with_a_negated_value_are_correct(condition, precision):
    """A negated operand once inverted the comparison: -0.5 < 0.6 was false."""
    kernel = gdr.compile(
        f"kernel t; precision {precision}; CONST a, b; VARI x, ei; VARJ y; VARF f, g;"
        f"d = y - x; e = ei*1; f += ({condition}) ? 1 : 0; g += a + b + e;"
    )
    y = np.array([0.6, -0.4, -0.6, 0.0])
    for one in y:
        got = kernel(
            targets={"x": [0.0], "ei": [0.5]}, sources={"y": [one]}, params={"a": 0.5, "b": 0.8}
        )["f"]
        assert got[0] == (one > -0.5)


def test_assembly_assembles_to_the_same_object(tmp_path):
    kernel = gdr.builtin("morse")
    assert gdr.assemble(kernel.assembly).object == kernel.object
    kernel.save(tmp_path / "morse.gdo")
    assert gdr.load(tmp_path / "morse.gdo").object == kernel.object
    assert gdr.from_object(kernel.object).name == "morse"


def test_compiler_messages_show_the_line_and_a_caret():
    with pytest.raises(gdr.ProgramError, match=r"mine:2:\d+: error") as raised:
        gdr.compile("VARI x; VARJ y; VARF f;\nf += x*z;\n", "mine")
    assert "f += x*z" in str(raised.value) and "^" in str(raised.value)
    with pytest.raises(gdr.ProgramError, match=r"mine:2:\d+: error\[GDR") as raised:
        gdr.assemble(".kernel k\n fadd $nowhere $r0 $r1\n", "mine")
    assert "^" in str(raised.value)
    with pytest.raises(gdr.ProgramError):
        gdr.from_object(b"no object at all")
    with pytest.raises(TypeError, match="text"):
        gdr.compile(b"bytes")


def test_a_job_sets_runs_updates_and_checks_its_arrays(device, rng):
    x = rng.normal(size=(64, 3))
    job = device.job(gdr.builtin("lennard_jones"))
    job.set(rc2=1e6)
    job.sources(xj=x[:, 0], yj=x[:, 1], zj=x[:, 2])
    job.targets(xi=x[:, 0], yi=x[:, 1], zi=x[:, 2])
    whole = job.run(["fx", "u"])
    assert sorted(whole) == ["fx", "u"]
    fx = np.empty((64, 2))
    job.run({"fx": fx[:, 1]})
    assert np.array_equal(fx[:, 1], whole["fx"])
    job.start(["u"])
    assert np.array_equal(job.wait()["u"], whole["u"]) and job.ready
    job.update_sources(3, xj=[5.0])
    x[3, 0] = 5.0
    job.update_sources([60, 7], xj=[4.0, -6.0])
    x[[60, 7], 0] = [4.0, -6.0]
    for places, kind in (([64], gdr.UsageError), ([-1], ValueError), ([0.5], TypeError)):
        with pytest.raises(kind):
            job.update_sources(places, xj=0.0)
    with pytest.raises(ValueError, match="first"):
        job.update_sources([[1]], xj=0.0)
    job.targets(xi=x[:, 0], yi=x[:, 1], zi=x[:, 2])
    assert error(job.run(["u"])["u"], lennard_jones_sum(x, 1e3)[1]) < 1e-5
    for results, kind, message in (
        ({"fx": np.empty(63)}, ValueError, "fx"),
        ({"fx": np.empty(64, int)}, TypeError, "fx"),
        (["fxx"], gdr.UsageError, "fxx"),
        ("fx", TypeError, "results"),
    ):
        with pytest.raises(kind, match=message):
            job.run(results)
    for arrays, kind, message in (
        ({"xj": x[:, 0]}, gdr.UsageError, "yj"),
        ({"xj": x[:, 0], "yj": x[:9, 1], "zj": x[:, 2]}, ValueError, "yj"),
        ({"xj": x[:, 0] * np.nan, "yj": x[:, 1], "zj": x[:, 2]}, ValueError, r"xj\[0\]"),
        ({"xj": x[:, 0] + 1j, "yj": x[:, 1], "zj": x[:, 2]}, TypeError, "xj"),
        ({}, gdr.UsageError, "number of sources"),
    ):
        with pytest.raises(kind, match=message):
            job.sources(**arrays)


def test_misspelt_arrays_of_builtin_kernels_get_a_suggestion(device):
    x = np.ones(4)
    sources = {"xj": x, "yj": x, "zj": x, "mj": x}
    gravity = gdr.builtin("gravity")
    job, set_job = device.job(gravity), device.set_job(gravity)
    wrong = "unknown target variable \"xii\"; did you mean 'xi'. .known: xi, yi, zi, idi."
    for call in (
        lambda: gravity(targets={"xii": x}, sources=sources, eps2=0.1),
        lambda: job.targets(xii=x),
        lambda: set_job.run({"xii": x}, [0, 4], gdr.SourceLists(sources, [0, 4])),
    ):
        with pytest.raises(gdr.UsageError, match=wrong):
            call()
    with pytest.raises(gdr.UsageError, match="unknown source variable \"mjj\"; did you mean 'mj'"):
        job.sources(xj=x, yj=x, zj=x, mjj=x)
    with pytest.raises(gdr.UsageError, match="no array is given for the target variables xi, yi, zi$"):
        gravity(targets={}, sources=sources, eps2=0.1)
    for call in (lambda: job.set(esp2=1.0), lambda: set_job.set(esp2=1.0)):
        with pytest.raises(gdr.UsageError, match='unknown param "esp2"; did you mean "eps2"'):
            call()
    with pytest.raises(gdr.UsageError, match="unknown params: esp2; did you mean 'eps2'"):
        gravity(targets={"xi": x, "yi": x, "zi": x}, sources=sources, esp2=0.1)
    pos = np.zeros((4, 3))
    with pytest.raises(TypeError, match="unexpected keyword argument 'veloc'; did you mean 'vel'"):
        gdr.gravity_jerk(pos, 1.0, veloc=pos, eps=0.1)


def test_arrays_of_any_stride_are_read_correctly(device):
    """Arrays with a stride of zero and with a negative stride."""
    spring = gdr.compile(SPRING)
    x = np.arange(10.0)
    same = np.broadcast_to(np.float64(3.0), 10)
    f = spring(targets={"x": x[::-1]}, sources={"xs": x, "q": same}, params={"k": 1.0})["f"]
    assert np.allclose(f, [(3 * (x - v)).sum() for v in x[::-1]])


def test_file_names_may_contain_any_bytes(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.gdk"
    with open(path, "wb") as file:
        file.write(SPRING.encode())
    for name in (path, os.fsdecode(path)):
        kernel = gdr.load(name)
        assert kernel.object == gdr.compile(SPRING).object and "spring" in repr(kernel)
    with pytest.raises(gdr.FileError, match="none"):
        gdr.load(os.fsencode(tmp_path) + b"/\xff-none.gdk")
    kernel.save(os.fsdecode(path) + ".gdo")
    assert gdr.load(path + b".gdo").object == kernel.object
    for wrong in ("\udcff", "VARI x; \ud800"):
        with pytest.raises(ValueError, match="text: not valid text"):
            gdr.compile(wrong)
    with pytest.raises(ValueError, match="name: not valid text"):
        gdr.open("\udcff")


def test_empty_lists_and_unsigned_ids_are_accepted(device):
    job = device.job(gdr.builtin("gravity"))
    job.set(eps2=1.0)
    job.sources(xj=[], yj=[], zj=[], mj=[], idj=[])
    job.targets(xi=[0.5], yi=[0], zi=[0], idi=np.array([3], np.uint64))
    assert job.run()["pot"][0] == 0
    job.sources(xj=[0], yj=[0], zj=[0], mj=[1], idj=np.array([3], np.uint64))
    assert job.run()["pot"][0] == 0
    with pytest.raises(TypeError, match="idj: expected int64, .* uint64"):
        job.sources(xj=[0], yj=[0], zj=[0], mj=[1], idj=np.array([2**63], np.uint64))


def test_effort_never_lengthens_the_loop_and_keeps_the_results():
    text = """
VARI x; VARJ y; VARJ q; VARF f; VARF g;
d = x - y; r = rsqrt(d*d + 0.01);
f += q*d*r*r*r; g += exp(-(d*d))*recip(1 + d*d);
"""
    quick, thorough = gdr.compile(text, effort=0), gdr.compile(text, effort=4)
    assert quick.clocks >= thorough.clocks
    x, q = np.linspace(-1, 1, 40), np.linspace(1, 2, 40)
    first, second = (k(targets={"x": x}, sources={"y": x, "q": q}) for k in (quick, thorough))
    for name in ("f", "g"):
        np.testing.assert_allclose(first[name], second[name], rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="effort: expected at most 9"):
        gdr.compile(text, effort=10)

    @gdr.kernel(effort=0)
    def spring(i, j):
        i.f += i.x - j.x

    assert spring.clocks > 0
    with pytest.raises(TypeError, match="effort: expected an integer"):
        gdr.kernel(effort="much")(spring)


# -- optional ids ------------------------------------------------------------------------------


def test_ids_are_optional_in_jobs_sets_and_kernel_functions(cluster):
    n = 50
    x, y, z = cluster.pos[:n].T
    m, none = cluster.mass[:n], {}
    at, of = {"xi": x, "yi": y, "zi": z}, {"xj": x, "yj": y, "zj": z, "mj": m}
    with gdr.open(engine="native") as device:
        job, sets = (make(gdr.builtin("gravity")) for make in (device.job, device.set_job))
        for each in (job, sets):
            each.set(eps2=0.01)

        def by_job(target_ids, source_ids):
            job.sources(**of, **source_ids)
            job.targets(**at, **target_ids)
            return job.run(["pot"])["pot"]

        def by_sets(target_ids, source_ids):
            lists = gdr.SourceLists({**of, **source_ids}, [0, n])
            return sets.run({**at, **target_ids}, [0, n], lists, ["pot"])["pot"]

        for compute in (by_job, by_sets):
            every = compute({"idi": np.full(n, -1)}, {"idj": np.full(n, -2)})
            others = compute({"idi": np.arange(n)}, {"idj": np.arange(n)})
            assert np.allclose(every - others, -m / 0.1)
            assert np.array_equal(compute(none, none), every)
            assert np.array_equal(compute({"idi": np.arange(n)}, none), every)
            assert np.array_equal(compute(none, {"idj": np.arange(n)}), every)
        job.sources(**of, idj=np.arange(n))
        job.targets(**at, idi=np.arange(n))
        job.update_sources(0, mj=m)
        assert np.array_equal(job.run(["pot"])["pot"], others)


def test_ids_are_optional_in_calls_of_python_functions(device):
    @gdr.kernel(types={"id": "int"})
    def count(i, j):
        if i.id == j.id:
            return
        i.n += 1.0 + 0 * (j.x - i.x)

    x, ids = np.arange(5.0), np.arange(5)

    def n(targets, sources):
        return count(targets={"x": x, **targets}, sources={"x": x, **sources}, device=device)["n"]

    assert (n({"id": ids}, {"id": ids}) == 4).all()
    for one, two in (({}, {}), ({"id": ids}, {}), ({}, {"id": ids})):
        assert (n(one, two) == 5).all()
    with pytest.raises(TypeError, match="targets: missing: x$"):
        count(targets={"id": ids}, sources={"x": x}, device=device)
    values = {v.name: v.default_value for v in count.variables}
    assert values["idi"] == -1 and values["idj"] == -2 and values["xi"] is None


@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_a_number_that_is_not_finite_is_found_wherever_it_is(order):
    rng = np.random.default_rng(7)

    def arrays():
        pos = np.asarray(rng.normal(size=(40, 3)), order="F" if order == "F" else "C")
        mass = np.ones(40)
        return (np.repeat(pos, 2, axis=0)[::2], mass) if order == "strided" else (pos, mass)

    fine = gdr.gravity_jerk(*arrays(), np.zeros((40, 3)), 0.1)
    assert np.isfinite(fine.acc).all() and np.isfinite(fine.jerk).all()
    for value in (np.nan, np.inf, -np.inf):
        for place in ((0, 0), (17, 1), (39, 2)):
            pos, mass = arrays()
            pos[place] = value
            with pytest.raises(ValueError, match=rf"^pos\[{place[0]}, {place[1]}\] is"):
                gdr.gravity_jerk(pos, mass, np.zeros((40, 3)), 0.1)
    # Numbers whose squares are infinite are finite.
    pos, mass = arrays()
    mass[3] = 1e200
    gdr.gravity_jerk(pos, mass, np.zeros((40, 3)), 0.1)


def test_ids_that_are_kept_from_call_to_call_are_those_of_each_call():
    pos, vel = np.random.default_rng(8).normal(size=(2, 30, 3))
    mass = np.ones(30)
    for n in (30, 7, 30, 12):
        alone = gdr.gravity_jerk(pos[:n], mass[:n], vel[:n], 0.1)
        at = {"pos": pos[:n] + 0.0, "vel": vel[:n]}
        beside = gdr.gravity_jerk(pos[:n], mass[:n], vel[:n], 0.1, targets=at)
        # Targets that are no sources are attracted by all, also from the same place.
        own = 1 / 0.1
        np.testing.assert_allclose(beside.acc, alone.acc, rtol=1e-12)
        np.testing.assert_allclose(np.abs(beside.pot - alone.pot), own, rtol=1e-9)


@pytest.mark.parametrize("name", gdr.builtin_names())
def test_softening_is_zero_unless_it_is_given(name):
    function = getattr(gdr, name)
    if not isinstance(function, gdr.ParticleKernel) or "eps" not in function._parameters:
        pytest.skip("no softening for all particles")
    rng = np.random.default_rng(4)
    given = {}
    for argument, variables in {**function._source_arguments, **function._target_arguments}.items():
        given[argument] = rng.uniform(0.5, 1.5, (7, 3) if len(variables) == 3 else 7)
    for argument in function._parameters:
        given[argument] = 2.0
    del given["eps"]
    found, right = function(**given), function(**given, eps=0.0)
    for one, other in zip(found, right):
        assert np.array_equal(one, other)
    # Arguments that need a conversion are read in another way.
    listed = {key: np.asarray(value).tolist() for key, value in given.items()}
    for one, other in zip(function(**listed), right):
        assert np.array_equal(one, other)


def test_raw_words_of_longs_pass_under_the_short_name_of_their_variable():
    kernel = gdr.assemble(
        ".kernel k\nivar long li raw\njvar long lj raw\n"
        "fvar long own raw pass\nfvar long last raw pass\n"
        ".start\n    upass $lr40v li\n    upass own $lr40v\n    upass last 0\n"
        ".body\n    vlen 1\n    bget $lr0 lj\n    vlen 4\n    upass last $lr0\n"
    )
    words = np.array([[1, 2], [3, 4], [5, 0x7F]], np.uint64)
    for target, source in (("li", "lj"), ("l", "l"), ("li", "l")):
        found = kernel(targets={target: words}, sources={source: words[::-1]})
        assert np.array_equal(found["own"], words)
        assert np.array_equal(found["last"], words[[0, 0, 0]])
