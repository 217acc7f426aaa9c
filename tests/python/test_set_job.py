"""Set jobs: many sets of targets and sources in one call, compared with direct sums and jobs."""

import numpy as np
import pytest
from conftest import ROOT, direct_gravity, error, read_only

import gdr

SPRING = "CONST k; VARI xi; VARJ xj, mj; VARF force;\nforce += k*mj*(xj - xi);\n"
GRAVITY = """
kernel gravity_vectors;
CONST eps2;
VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 acc; VARF pot;
d = xs - x;
r = rsqrt(norm2(d) + eps2);
acc += m*r*r*r*d;
pot -= m*r;
"""
ENGINES = ["native", "native-float", "vector"]
TARGETS = np.array([0, 20, 20, 57, 90])
LISTS = np.array([0, 3, 4, 4, 7])
INDEX = np.array([3, 3, 89, 0, 41, 7, 8], np.int32)


@pytest.fixture(scope="module")
def springs():
    """Multiples of 1/8, so that sums have the same bits in any order."""
    i = np.arange(90)
    return i * i % 31 / 8.0, i % 5 / 4.0


@pytest.fixture(scope="module")
def spring():
    return gdr.compile(SPRING, effort=0)


@pytest.fixture(scope="module")
def gravity():
    return gdr.compile(GRAVITY, effort=0)


@pytest.fixture()
def job(native, spring):
    made = native.set_job(spring)
    made.set(k=0.5)
    return made


def lists_of(offsets, index=None):
    """The sources of each set, as arrays of indices."""
    entries = np.arange(offsets[-1]) if index is None else index
    return [entries[first:end] for first, end in zip(offsets[:-1], offsets[1:])]


def spring_forces(springs, k, *lists):
    """Plain sums: `lists` have the sources of each set."""
    x, m = springs
    force = np.zeros(90)
    for sources in lists:
        for first, end, js in zip(TARGETS[:-1], TARGETS[1:], sources):
            for j in js:
                force[first:end] += k * m[j] * (x[j] - x[first:end])
    return force


def tree(rng, n=400, groups=30):
    """Groups of a cluster with interaction lists of indices, some of them empty."""
    pos, mass = rng.normal(size=(n, 3)), rng.uniform(0.5, 1, n)
    targets = np.concatenate([[0], np.sort(rng.integers(0, n, groups - 1)), [n]])
    lengths = rng.integers(0, 50, groups)
    lengths[3] = 0
    lists = np.concatenate([[0], np.cumsum(lengths)])
    return pos, mass, targets, lists, rng.integers(0, n, lists[-1])


def test_index_lists_give_plain_sums(job, springs, native):
    x, m = springs
    native.reset_statistics()
    found = job.run({"xi": x}, TARGETS, gdr.SourceLists({"xj": x, "mj": m}, LISTS, INDEX))
    assert list(found) == ["force"]
    assert np.array_equal(found["force"], spring_forces(springs, 0.5, lists_of(LISTS, INDEX)))
    assert native.statistics.interactions == (np.diff(TARGETS) * np.diff(LISTS)).sum()


def test_ranges_and_several_lists_add_up_in_order(job, springs):
    x, m = springs
    ranges = np.array([5, 30, 30, 31, 80])
    arrays = {"xj": x, "mj": m}
    alone = job.run({"xi": x}, TARGETS, gdr.SourceLists(arrays, ranges))["force"]
    every = np.arange(90)
    own = [every[a:b] for a, b in zip(ranges[:-1], ranges[1:])]
    assert np.array_equal(alone, spring_forces(springs, 0.5, own))
    both = [gdr.SourceLists(arrays, LISTS, INDEX), gdr.SourceLists(arrays, ranges)]
    force = job.run({"xi": x}, TARGETS, both)["force"]
    assert np.array_equal(force, spring_forces(springs, 0.5, lists_of(LISTS, INDEX), own))


@pytest.mark.parametrize("engine", ENGINES)
def test_sets_have_the_bits_of_jobs_and_nearly_direct_sums(engine, gravity, rng):
    pos, mass, targets, lists, index = tree(rng)
    with gdr.open(engine=engine) as device:
        together = device.set_job(gravity)
        together.set(eps2=0.01)
        sources = gdr.SourceLists({"xs": pos, "m": mass}, lists, index)
        found = together.run({"x": pos}, targets, sources)
        one = device.job(gravity)
        one.set(eps2=0.01)
        for first, end, js in zip(targets[:-1], targets[1:], lists_of(lists, index)):
            one.sources(xs=pos[js], m=mass[js])
            one.targets(x=pos[first:end])
            alone = one.run()
            assert np.array_equal(found["acc"][first:end], alone["acc"])
            assert np.array_equal(found["pot"][first:end], alone["pot"])
            if end > first and len(js) > 0:
                acc, pot = direct_gravity(pos[js], mass[js], 0.1, pos[first:end])
                assert error(found["acc"][first:end], acc) < 1e-4
                assert error(found["pot"][first:end], pot) < 1e-4


@pytest.mark.parametrize("engine", ENGINES)
def test_sets_with_arrays_of_their_own_give_the_results_of_flattened_lists(engine, gravity, rng):
    pos, mass, targets, lists, index = tree(rng, groups=12)
    with gdr.open(engine=engine) as device:
        job = device.set_job(gravity)
        job.set(eps2=0.01)
        flat = job.run({"x": pos}, targets, gdr.SourceLists({"xs": pos, "m": mass}, lists, index))
        sets = []
        for first, end, js in zip(targets[:-1], targets[1:], lists_of(lists, index)):
            half = len(js) // 2
            parts = [{"xs": pos[part], "m": mass[part]} for part in (js[:half], js[half:])]
            sets.append(({"x": pos[first:end]}, parts if first % 2 else parts[:1]))
            if first % 2 == 0:
                sets[-1] = ({"x": pos[first:end]}, {"xs": pos[js], "m": mass[js]})
        found = job.run_sets(sets)
        assert np.array_equal(np.concatenate([f["acc"] for f in found]), flat["acc"])
        assert np.array_equal(np.concatenate([f["pot"] for f in found]), flat["pot"])
        some = job.run_sets(sets[:2], ["pot"])
        assert [list(f) for f in some] == [["pot"], ["pot"]]
        assert job.run_sets([]) == []


def test_results_are_filled_in_the_arrays_that_are_passed(job, springs):
    x, m = springs
    sources = gdr.SourceLists({"xj": x, "mj": m}, LISTS, INDEX)
    want = job.run({"xi": x}, TARGETS, sources)["force"]
    out = np.full(180, -7.0)
    strided = out[::2]
    assert job.run({"xi": x}, TARGETS, sources, {"force": strided})["force"] is strided
    assert np.array_equal(out[::2], want) and (out[1::2] == -7).all()
    narrow = np.empty(90, np.float32)
    job.run({"xi": x}, TARGETS, sources, {"force": narrow})
    assert np.array_equal(narrow, want.astype(np.float32))


def test_items_outside_of_all_sets_are_zero_or_unchanged(job, springs):
    x, m = springs
    sources = gdr.SourceLists({"xj": x, "mj": m}, [0, 3, 5])
    force = job.run({"xi": x}, [10, 20, 40], sources)["force"]
    assert (force[:10] == 0).all() and (force[40:] == 0).all() and (force[10:40] != 0).any()
    out = np.full(90, -7.0)
    job.run({"xi": x}, [10, 20, 40], sources, {"force": out})
    assert np.array_equal(out[10:40], force[10:40])
    assert (out[:10] == -7).all() and (out[40:] == -7).all()


def test_no_sets_and_empty_sets_are_valid(job, springs):
    x, m = springs
    arrays = {"xj": x, "mj": m}
    assert (job.run({"xi": x}, [0], gdr.SourceLists(arrays, [0]))["force"] == 0).all()
    assert (job.run({"xi": x}, [0, 90], [])["force"] == 0).all()
    empty = gdr.SourceLists({"xj": [], "mj": []}, [0, 0, 0], [])
    assert (job.run({"xi": x}, [0, 45, 90], empty)["force"] == 0).all()
    assert job.run({"xi": []}, [0, 0], gdr.SourceLists(arrays, [0, 90]))["force"].shape == (0,)


def test_numbers_apply_to_all_items(job, springs):
    x, _ = springs
    sources = gdr.SourceLists({"xj": x, "mj": 2}, LISTS, INDEX)
    found = job.run({"xi": 1.0}, TARGETS, sources)["force"]
    assert found.shape == (90,)
    assert found[0] == 0.5 * 2 * (x[INDEX[:3]] - 1.0).sum()
    constant = gdr.SourceLists({"xj": 3, "mj": 2}, LISTS, INDEX)
    assert job.run({"xi": 1.0}, TARGETS, constant)["force"][0] == 0.5 * 3 * 2 * 2.0


def test_started_sets_compute_in_the_background(job, springs):
    x, m = (a.copy() for a in springs)
    job.start({"xi": x}, TARGETS, gdr.SourceLists({"xj": x, "mj": m}, LISTS, INDEX.copy()))
    x[:] = 9
    m[:] = 9
    found = job.wait()["force"]
    assert job.ready
    assert np.array_equal(found, spring_forces(springs, 0.5, lists_of(LISTS, INDEX)))


def test_kinds_of_offsets_and_index_give_equal_results(job, springs):
    x, m = springs
    want = spring_forces(springs, 0.5, lists_of(LISTS, INDEX))
    for change in (
        lambda a: a.tolist(),
        lambda a: a.astype(np.int64),
        lambda a: a.astype(np.uint16),
        lambda a: np.repeat(a, 3)[::3],
        lambda a: a.astype(">i4"),
        lambda a: read_only(a.copy()),
    ):
        sources = gdr.SourceLists({"xj": x, "mj": m}, change(LISTS), change(INDEX))
        assert np.array_equal(job.run({"xi": x}, change(TARGETS), sources)["force"], want)


def run_with(job, springs, targets=None, offsets=TARGETS, results=None, **sources):
    x, m = springs
    given = {"arrays": {"xj": x, "mj": m}, "offsets": LISTS, "index": INDEX, **sources}
    return job.run(
        {"xi": x} if targets is None else targets, offsets, gdr.SourceLists(**given), results
    )


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"offsets": [0, 3, 2, 4, 5]}, ValueError, r"^offsets\[2\] is 2, less than"),
        ({"offsets": [-1, 3, 4, 5, 6]}, ValueError, r"^offsets\[0\] is -1, which is negative"),
        (
            {"offsets": [0, 20, 20, 57, 91]},
            ValueError,
            "^offsets: the last one is 91, .* 90 targets",
        ),
        ({"offsets": []}, (TypeError, ValueError), "^offsets: "),
        ({"offsets": np.zeros(0, int)}, ValueError, "^offsets: expected one more offset"),
        ({"offsets": [0.0, 90.0]}, TypeError, "^offsets: expected integers"),
        ({"offsets": [[0, 90]]}, ValueError, "^offsets: expected shape"),
        ({"offsets": None}, TypeError, "^offsets: "),
        ({"offsets": [0, 90]}, ValueError, r"^sources.offsets: expected 2 values"),
        ({"index": [1, 2, 3]}, ValueError, r"^sources.offsets: the last one is 7, .* 3 entries"),
        ({"index": [0, 1, 2, 3, 4, 5, -1]}, ValueError, r"^sources.index: .* from 0 to"),
        ({"index": np.zeros(7)}, TypeError, "^sources.index: expected integers"),
        (
            {"index": None, "offsets": TARGETS, "arrays": {"xj": [1.0], "mj": [1.0]}},
            ValueError,
            "the last one is 7, but there are 1 sources",
        ),
        (
            {"index": [90] * 7},
            gdr.InputError,
            r"set 0, segment 0: index\[0\] is 90, but the arrays have 90 items",
        ),
        ({"arrays": {"xj": np.zeros(90)}}, gdr.UsageError, 'no array is given for source variable "mj"'),
        ({"arrays": {"xj": np.zeros(90), "mj": 1, "z": 1}}, gdr.UsageError, 'unknown source variable "z"'),
        ({"arrays": {"xj": np.zeros(90), "mj": [1.0]}}, ValueError, "^mj: expected 90 values"),
        ({"arrays": {"xj": np.zeros(90), "mj": np.nan}}, ValueError, r"^mj\[0\] is not a number"),
        ({"arrays": [1]}, TypeError, "^sources.arrays: expected a dictionary"),
        ({"targets": {"xi": np.full(90, np.inf)}}, ValueError, r"^xi\[0\] is infinite"),
        ({"targets": {"xi": np.zeros((90, 3))}}, ValueError, "^xi: expected shape"),
        ({"targets": {}}, gdr.UsageError, 'no array is given for target variable "xi"'),
        ({"targets": [1.0]}, TypeError, "^targets: expected a dictionary"),
        ({"results": ["forces"]}, gdr.UsageError, 'unknown result "forces"'),
        ({"results": "force"}, TypeError, "^results: "),
        ({"results": {"force": np.zeros(89)}}, ValueError, "^force: expected shape"),
        ({"results": {"force": np.zeros(90, int)}}, TypeError, "^force: expected float64"),
    ],
)
def test_invalid_arguments_raise_errors_that_name_them(job, springs, changes, kind, message):
    want = run_with(job, springs)["force"]
    with pytest.raises(kind, match=message):
        run_with(job, springs, **changes)
    assert np.array_equal(run_with(job, springs)["force"], want)


def test_other_invalid_arguments_raise_errors(job, springs, native, spring):
    x, m = springs
    sources = gdr.SourceLists({"xj": x, "mj": m}, LISTS, INDEX)
    for wrong in (None, {"xj": x}, 3):
        with pytest.raises(TypeError, match="^sources: expected gdr.SourceLists"):
            job.run({"xi": x}, TARGETS, wrong)
    with pytest.raises(TypeError, match=r"^sources\[1\]: expected gdr.SourceLists"):
        job.run({"xi": x}, TARGETS, [sources, {}])
    with pytest.raises(ValueError, match=r"^sources\[1\].offsets: expected 5 values"):
        job.run({"xi": x}, TARGETS, [sources, gdr.SourceLists({"xj": x, "mj": m}, [0, 1])])
    buffer = np.zeros(90)
    with pytest.raises(ValueError, match="^force: overlaps xi"):
        job.run({"xi": buffer}, TARGETS, sources, {"force": buffer})
    with pytest.raises(ValueError, match="^force: overlaps mj"):
        again = gdr.SourceLists({"xj": x, "mj": buffer}, LISTS, INDEX)
        job.run({"xi": x}, TARGETS, [again, sources], {"force": buffer})
    with pytest.raises(gdr.UsageError, match='param "kk"'):
        job.set(kk=1)
    with pytest.raises(TypeError, match="^kernel: "):
        native.set_job("gravity")
    with pytest.raises(gdr.UnsupportedError, match="has outputs"):
        native.set_job(gdr.load(str(ROOT / "tests" / "capi" / "reaction.gds")))


def test_errors_of_sets_name_the_set(job, springs):
    x, m = springs
    good = ({"xi": x}, {"xj": x, "mj": m})
    bad = x.copy()
    bad[3] = np.nan
    for wrong, kind, message in (
        (({"xi": bad}, good[1]), ValueError, r"^sets\[1\]: xi\[3\] is not a number"),
        (({"xi": x}, [{"xj": x, "mj": [1.0]}]), ValueError, r"^sets\[1\]: mj: expected 90"),
        (({"xi": 1.0}, good[1]), gdr.UsageError, r"^sets\[1\]: the number of targets is unknown"),
        (({"xi": x}, 3), TypeError, r"^sets\[1\]: sources: expected a dictionary"),
        (({"xi": x},), ValueError, r"^sets\[1\]: expected a pair"),
        (7, TypeError, r"^sets\[1\]: expected a pair"),
        (({"xi": x}, {"xj": x}), gdr.UsageError, 'set 1, segment 0: no array .* "mj"'),
    ):
        with pytest.raises(kind, match=message):
            job.run_sets([good, wrong])
    with pytest.raises(TypeError, match="^results: expected a list of names"):
        job.run_sets([good], {"force": x.copy()})
    with pytest.raises(TypeError, match="^sets: "):
        job.run_sets(3)


def test_a_closed_device_raises_device_error(spring, springs):
    with gdr.open(engine="native") as device:
        job = device.set_job(spring)
    x, m = springs
    with pytest.raises(gdr.DeviceError):
        job.run({"xi": x}, TARGETS, gdr.SourceLists({"xj": x, "mj": m}, LISTS, INDEX))
