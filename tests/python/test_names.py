"""The same words in functions, kernels, jobs and sums: names of quantities, of variables, of functions."""

import numpy as np
import pytest

import gdr

N = 40


@pytest.fixture()
def stars(rng):
    return {"pos": rng.normal(size=(N, 3)), "mass": rng.random(N)}


def test_quantities_are_names_in_kernels_jobs_and_set_jobs(native, stars):
    pos, mass = stars["pos"], stars["mass"]
    expected = gdr.gravity(pos, mass, 0.1, targets=pos[:7], device=native)
    kernel = gdr.builtin("gravity")
    r = kernel(targets={"pos": pos[:7]}, sources=stars, eps=0.1, device=native)
    assert np.array_equal(np.stack([r.ax, r.ay, r.az], 1), expected.acc)
    job = native.job(kernel)
    job.set(eps=0.1)
    job.sources(stars)
    job.targets({"pos": pos[:7]})
    assert np.array_equal(job.run().pot, expected.pot)
    job.sources(pos=pos, mass=mass)
    job.targets(pos=pos[:7])
    assert np.array_equal(job.run().pot, expected.pot)
    job.update_sources(3, {"mass": [2.0]})
    changed = mass.copy()
    changed[3] = 2.0
    again = gdr.gravity(pos, changed, 0.1, targets=pos[:7], device=native)
    assert np.array_equal(job.run().pot, again.pot)
    sets = native.set_job(kernel)
    sets.set(eps=0.1)
    lists = gdr.SourceLists(stars, [0, N, N])
    found = sets.run({"pos": pos[:7]}, [0, 7, 7], lists)
    assert np.array_equal(found.pot, expected.pot)


def test_names_without_the_last_letter_and_names_of_variables(native, stars):
    kernel = gdr.compile("VARI x; VARI yi; VARJ xj, q; VARF f; f += q*(xj - x)*yi;")
    x, q = stars["pos"][:, 0], stars["mass"]
    plain = kernel(targets={"x": x, "yi": 2.0}, sources={"xj": x, "q": q}, device=native).f
    for targets in ({"x": x, "y": 2.0}, {"x": x, "yi": 2.0}):
        for sources in ({"x": x, "q": q}, {"xj": x, "q": q}):
            assert np.array_equal(kernel(targets=targets, sources=sources, device=native).f, plain)


def test_jobs_of_a_python_function_take_its_names(native, stars):
    @gdr.kernel
    def law(i, j, k=1.0):
        d = j.x - i.x
        i.f += k * j.q * d * np.dot(d, d)

    pos, q = stars["pos"], stars["mass"]
    expected = law(targets={"x": pos}, sources={"x": pos, "q": q}, k=2.0, device=native).f
    job = native.job(law)
    job.set(k=2.0)
    job.sources({"x": pos, "q": q})
    job.targets({"x": pos})
    assert np.array_equal(job.run().f, expected)


def test_squares_are_given_as_they_are(native, stars):
    pos = stars["pos"] * 3
    expected = gdr.lennard_jones(pos, rc=2.5, device=native)
    for word in ({"rc": 2.5}, {"rc2": 6.25}):
        found = gdr.PairSum("lennard_jones", 2.5, device=native, **word)(pos)
        np.testing.assert_allclose(found.u, expected.u, rtol=1e-12)
    pairs = gdr.PairSum("lennard_jones", 2.5, device=native)
    np.testing.assert_allclose(pairs(pos, rc=2.5).u, expected.u, rtol=1e-12)
    with pytest.raises(ValueError, match="rc: expected at least 0"):
        pairs(pos, rc=-1.0)
    with pytest.raises(gdr.UsageError, match='"rc2" is given twice'):
        pairs(pos, rc=1.0, rc2=1.0)
    with pytest.raises(ValueError, match="eps: its square is out of range"):
        native.job(gdr.builtin("gravity")).set(eps=1e-200)


def test_tables_have_any_of_the_names(native, stars):
    pos, mass = stars["pos"], stars["mass"]
    expected = gdr.gravity(pos, mass, 0.1, targets=pos, device=native).pot
    rows = np.zeros(N, [("pos", float, 3), ("mass", float), ("name", "S4")])
    rows["pos"], rows["mass"] = pos, mass
    kernel = gdr.builtin("gravity")
    for table in (rows, rows.view(np.recarray)):
        found = kernel(targets=table, sources=table, eps=0.1, device=native)
        assert np.array_equal(found.pot, expected)
        job = native.job(kernel)
        job.set(eps=0.1)
        job.sources(table)
        job.targets(table)
        assert np.array_equal(job.run().pot, expected)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": pos[:, 0], "y": pos[:, 1], "z": pos[:, 2], "mass": mass})
    found = kernel(targets=frame, sources=frame, eps=0.1, device=native)
    assert np.array_equal(found.pot, expected)


def test_errors_use_the_word_that_was_given(native, stars):
    kernel = gdr.builtin("gravity")
    bad = np.array(stars["pos"])
    bad[4, 1] = np.nan
    with pytest.raises(ValueError, match=r"pos\[4, 1\] is not a number"):
        kernel(targets={"pos": bad}, sources=stars, eps=0.1, device=native)
    job = native.job(kernel)
    with pytest.raises(ValueError, match="mass: expected"):
        job.sources({"pos": stars["pos"], "mass": np.ones(3)})
    with pytest.raises(gdr.UsageError, match='"xj" is given twice'):
        job.sources({"pos": stars["pos"], "xj": np.ones(N), "mass": 1.0})
    with pytest.raises(TypeError, match="mass: given twice"):
        job.sources(stars, mass=1.0)
    with pytest.raises(gdr.UsageError, match="unknown source variable .weight"):
        job.sources({"pos": stars["pos"], "weight": 1.0})
    with pytest.raises(TypeError, match="number of sources"):
        job.sources("pos")
    with pytest.raises(gdr.UsageError, match="missing params: rc2; unknown: cutof"):
        gdr.builtin("lennard_jones")(targets={"pos": bad}, sources=stars, cutof=2, device=native)


def test_softening_is_optional_everywhere(native, stars):
    pair = gdr.nbody.Snapshot([[-1, 0, 0], [1, 0, 0]], [[0, -0.5, 0], [0, 0.5, 0]], mass=[1, 1])
    assert gdr.nbody.energies(pair, device=native) == gdr.nbody.energies(pair, eps=0, device=native)
    steps = [list(run)[-1].pos for run in (
        gdr.nbody.leapfrog(pair, dt=0.01, t_end=0.1, device=native),
        gdr.nbody.leapfrog(pair, dt=0.01, t_end=0.1, eps=0, device=native),
    )]
    assert np.array_equal(*steps)
    (*_, last) = gdr.nbody.hermite(pair, t_end=0.25, device=native)
    assert last.run.eps == 0
    # A kernel, whose job may have been used with another one before.
    kernel, pos = gdr.builtin("gravity"), stars["pos"]
    for eps in ({"eps": 0.5}, {}, {"eps2": 0.25}, {}):
        found = kernel(targets={"pos": pos + 1}, sources=stars, device=native, **eps)
        right = gdr.gravity(pos, stars["mass"], 0.5 if eps else 0, pos + 1, device=native)
        assert np.array_equal(found.pot, right.pot)


def test_names_of_quantities_that_no_variable_is_declared_to_hold(native, stars):
    """Without declarations names such as xi and eps2 mean nothing, and errors say what to write."""
    law = "CONST eps2; VARI xi, yi, zi; VARJ xj, yj, zj, mj; VARF f;"
    kernel = gdr.compile(law + "f += mj*(xj - xi)*(yj - yi)*(zj - zi)*eps2;")
    pos, mass = stars["pos"], stars["mass"]
    targets = {"xi": pos[:, 0], "yi": pos[:, 1], "zi": pos[:, 2]}
    sources = {"x": pos[:, 0], "y": pos[:, 1], "z": pos[:, 2], "m": mass}
    wrong = [
        ({"pos": pos}, sources, {"eps2": 1}, 'unknown target variable "pos".* declare .* `as pos`'),
        (targets, {**sources, "mass": mass}, {"eps2": 1}, 'unknown source variable "mass".* `as mass`'),
        (targets, sources, {}, "missing params: eps2"),
        (targets, sources, {"eps": 1}, "missing params: eps2; unknown: eps.* `as eps`"),
    ]
    for of_targets, of_sources, params, message in wrong:
        with pytest.raises(gdr.UsageError, match=message):
            kernel(targets=of_targets, sources=of_sources, device=native, **params)
    for sum_of_pairs in (lambda: gdr.PairSum(kernel, 1.0), lambda: gdr.TreeSum(kernel)):
        with pytest.raises(gdr.UnsupportedError, match="declare them: `VARI xi, yi, zi as pos;"):
            sum_of_pairs()
