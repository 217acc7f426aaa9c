"""gdr.neighbour_pairs and gdr.neighbours in periodic boxes beside a plain loop over images, and ASE."""

import itertools

import numpy as np
import pytest

import gdr

SKEWED = np.array([[4.0, 0.0, 0.0], [3.0, 4.0, 0.0], [-2.0, 3.0, 5.0]])


def expected(pos, radius, targets, box, periodic, most):
    """The arrays i, j, d, D and S by their definition, with shifts up to ``most`` edges."""
    reach = [range(-most, most + 1) if p else range(1) for p in np.broadcast_to(periodic, 3)]
    shifts = np.array(list(itertools.product(*reach)))
    box = np.diag(box) if np.ndim(box) == 1 else np.asarray(box)
    places = pos if targets is None else targets
    rows = []
    for i, (x, r) in enumerate(zip(places, np.broadcast_to(radius, len(places)))):
        vectors = (pos - x)[:, None, :] + (shifts @ box)[None, :, :]
        near = (vectors**2).sum(axis=2) < r * r
        for j, k in np.argwhere(near):
            if targets is None and i == j and not shifts[k].any():
                continue
            rows.append((i, j, vectors[j, k], shifts[k]))
    i, j = (np.array([row[c] for row in rows], np.int64) for c in (0, 1))
    vectors, numbers = (np.array([row[c] for row in rows]).reshape(-1, 3) for c in (2, 3))
    assert np.abs(numbers).max() < most  # the loop has gone far enough
    return i, j, np.sqrt((vectors**2).sum(axis=1)), vectors, numbers


def compare(found, wanted):
    for name, one, other in zip("ijdDS", found, wanted):
        if name in "dD":
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13, err_msg=name)
        else:
            np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize("periodic", [True, False, (True, False, True), (False, True, False)])
@pytest.mark.parametrize("box", [[4.0, 5.0, 6.0], SKEWED], ids=["cuboid", "skewed"])
def test_pairs_are_those_of_a_loop_over_images(box, periodic):
    rng = np.random.default_rng(3)
    pos, targets = rng.uniform(-3, 8, (25, 3)), rng.uniform(-3, 8, (9, 3))
    for at, radius in ((None, 1.7), (None, 4.5), (targets, np.linspace(0, 3, 9))):
        wanted = expected(pos, radius, at, box, periodic, 12)
        found = gdr.neighbour_pairs("ijdDS", pos, radius, at, box=box, periodic=periodic)
        compare(found, wanted)
        lists = gdr.neighbours(pos, radius, at, box=box, periodic=periodic)
        np.testing.assert_array_equal(lists.indices, wanted[1])
        np.testing.assert_array_equal(np.diff(lists.offsets), np.bincount(wanted[0], minlength=len(lists.offsets) - 1))


def test_quantities_are_returned_in_the_order_of_their_letters():
    pos = np.random.default_rng(4).uniform(0, 3, (20, 3))
    i, j, d, vectors, shifts = gdr.neighbour_pairs("ijdDS", pos, 1.0, box=[3.0, 3.0, 3.0])
    assert i.dtype == j.dtype == shifts.dtype == np.int64
    assert d.dtype == vectors.dtype == np.float64
    assert vectors.shape == shifts.shape == (len(i), 3)
    swapped = gdr.neighbour_pairs("Sdj", pos, 1.0, box=[3.0, 3.0, 3.0])
    for one, other in zip(swapped, (shifts, d, j)):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(gdr.neighbour_pairs("D", pos, 1.0, box=3 * np.eye(3)), vectors)
    np.testing.assert_array_equal(vectors, (pos[j] - pos[i]) + 3.0 * shifts)


def test_one_particle_meets_its_images_and_none_without_particles():
    i, j, shifts = gdr.neighbour_pairs("ijS", [[7.0, 8.0, 9.0]], 1.2, box=[1.0, 1.0, 1.0])
    assert len(shifts) == 6 and not i.any() and not j.any()
    assert (np.abs(shifts).sum(axis=1) == 1).all()
    for array in gdr.neighbour_pairs("ijdDS", np.empty((0, 3)), 1.0, box=[1.0, 1.0, 1.0]):
        assert len(array) == 0
    assert gdr.neighbour_pairs("D", np.empty((0, 3)), 1.0).shape == (0, 3)


def test_pairs_are_those_of_ase():
    pytest.importorskip("ase")
    from ase.neighborlist import primitive_neighbor_list

    rng = np.random.default_rng(5)
    for box, periodic in (
        (np.diag([4.0, 5.0, 6.0]), (True, True, True)),
        (SKEWED, (True, True, True)),
        (SKEWED, (True, False, True)),
        (np.diag([4.0, 5.0, 6.0]), (False, False, True)),
    ):
        pos = rng.uniform(-4, 9, (50, 3))
        for radius in (1.1, 3.9, 7.5):
            theirs = primitive_neighbor_list("ijdDS", periodic, box, pos, radius)
            order = np.lexsort((*theirs[4].T[::-1], theirs[1], theirs[0]))
            ours = gdr.neighbour_pairs("ijdDS", pos, radius, box=box, periodic=periodic)
            compare(ours, [array[order] for array in theirs])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(box=[1.0, 2.0]), r"box: expected shape \(3,\), got \(2,\)"),
        (dict(box=np.ones((2, 3))), r"box: expected shape \(3, 3\)"),
        (dict(box=[1.0, np.nan, 1.0]), r"box\[1\] is not a number"),
        (dict(box=[1.0, 0.0, 1.0]), r"box\[1\] is 0.0; a length must be positive"),
        (dict(box=-2.0), r"box\[0\] is -2.0; a length must be positive"),
        (dict(box=np.inf), "box: expected a finite number"),
        (dict(box=np.ones((3, 3))), "line or plane of the other vectors"),
        (dict(box=[1.0, 1.0, 1.0], radius=np.inf), "^radius is infinite"),
        (dict(box=[1.0, 1.0, 1.0], radius=[1, 1, np.inf, 1]), r"^radius\[2\] is infinite"),
        (dict(box=[1.0, 1.0, 1.0], pos=[[0, 0, 0], [0, 1e12, 0]]), r"^pos\[1\] is more than 1e"),
        (dict(box=[1.0, 1.0, 1.0], radius=1e5), "images of the box"),
        (dict(box=[1.0, 1.0, 1.0], radius=-1.0), "radius is -1"),
        (dict(quantities="ix"), "quantities: expected some of the letters"),
        (dict(quantities=""), "quantities: expected some of the letters"),
        (dict(quantities="ii"), "quantities: expected some of the letters"),
        (dict(pos=[[0.0, np.nan, 0.0]], box=[1.0, 1.0, 1.0]), r"pos\[0, 1\] is not a number"),
    ],
)
def test_wrong_boxes_and_quantities_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        gdr.neighbour_pairs(**{"quantities": "ij", "pos": np.zeros((4, 3)), "radius": 1.0, **arguments})


def test_one_length_is_the_edge_of_a_cube():
    pos = np.random.default_rng(4).uniform(0, 3, (20, 3))
    for edge in (3.0, np.float32(3.0), 3):
        for periodic in (True, (True, False, True)):
            got = gdr.neighbour_pairs("ijD", pos, 1.2, box=edge, periodic=periodic)
            want = gdr.neighbour_pairs("ijD", pos, 1.2, box=(3, 3, 3), periodic=periodic)
            assert len(want[0]) > 0
            assert all(np.array_equal(a, b) for a, b in zip(got, want))
    charge = np.resize([1.0, -1.0], 20)
    assert gdr.ewald(pos, charge, 3.0).energy == gdr.ewald(pos, charge, (3, 3, 3)).energy


def test_wrong_types_of_boxes_and_directions_are_refused():
    pos = np.zeros((2, 3))
    for periodic in (1, "xyz", (True, False), None):
        with pytest.raises(TypeError, match="periodic: expected a bool or three bools"):
            gdr.neighbours(pos, 1.0, box=[1.0, 1.0, 1.0], periodic=periodic)
    for box in ("cube", True):
        with pytest.raises(TypeError, match="box: "):
            gdr.neighbours(pos, 1.0, box=box)
    with pytest.raises(TypeError, match="quantities: expected a string"):
        gdr.neighbour_pairs(3, pos, 1.0)


def test_runs_with_a_cutoff_beyond_the_periodic_images_are_refused():
    kernel = gdr.compile(
        "CONST vec3 box; CONST rc; VARI vec3 x; VARJ vec3 xs; VARF n;\n"
        "if (norm2(minimum_image(x - xs, box)) < rc*rc) { n += 1; }"
    )
    pos = np.random.default_rng(6).uniform(0, 4, (30, 3))
    job = gdr.open("emulator:engine=native").job(kernel)
    job.sources(xs=pos)
    job.targets(x=pos)
    job.set(box=[4.0, 5.0, 6.0], rc=2.0)
    found = job.run().n
    lists = gdr.neighbours(pos, 2.0, box=[4.0, 5.0, 6.0])
    np.testing.assert_array_equal(found, np.diff(lists.offsets) + 1)  # and the particle itself
    job.set(rc=2.5)
    with pytest.raises(gdr.InputError, match=r"half of the shortest edge \(box_0 = 4\).*limit rc\*rc"):
        job.run()
