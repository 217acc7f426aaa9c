"""gdr.neighbours beside a plain double loop."""

import numpy as np
import pytest

import gdr


def expected(pos, radius, targets, left_out):
    """Offsets and indices by their definition."""
    lists = []
    for i, (x, r) in enumerate(zip(targets, np.broadcast_to(radius, len(targets)))):
        d = pos - x
        near = d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] < r * r
        lists.append(np.flatnonzero(near & ~left_out(i)))
    return np.cumsum([0] + [len(one) for one in lists]), np.concatenate(lists)


def compare(found, offsets, indices):
    assert isinstance(found, gdr.Neighbours)
    assert found.offsets.dtype == found.indices.dtype == np.int64
    np.testing.assert_array_equal(found.offsets, offsets)
    np.testing.assert_array_equal(found.indices, indices)


@pytest.fixture
def pos():
    return np.random.default_rng(7).normal(size=(900, 3))


def test_particles_are_not_in_their_own_lists(pos):
    radius = np.linspace(0, 3, len(pos))
    numbers = np.arange(len(pos))
    compare(
        gdr.neighbours(pos, radius), *expected(pos, radius, pos, lambda i: numbers == i)
    )
    compare(gdr.neighbours(pos, 0.5), *expected(pos, 0.5, pos, lambda i: numbers == i))


def test_targets_and_ids_may_be_given(pos):
    targets = pos[::3] + 0.01
    ids, target_ids = np.arange(900) % 50, np.arange(300) % 7
    compare(gdr.neighbours(pos, 1.0, targets), *expected(pos, 1.0, targets, lambda i: False))
    compare(
        gdr.neighbours(pos, 1.0, targets, ids=ids, target_ids=target_ids, threads=2),
        *expected(pos, 1.0, targets, lambda i: ids == target_ids[i]),
    )
    compare(
        gdr.neighbours(pos, 1.0, ids=ids), *expected(pos, 1.0, pos, lambda i: ids == ids[i])
    )


def test_lists_of_no_particles_are_empty():
    found = gdr.neighbours(np.empty((0, 3)), 1.0)
    compare(found, [0], [])
    compare(gdr.neighbours(np.empty((0, 3)), 1.0, np.zeros((2, 3))), [0, 0, 0], [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(radius=-1.0), "radius is -1.0"),
        (dict(radius=float("nan")), "radius is nan"),
        (dict(radius=[1.0, 2.0, -3.0, 1.0]), r"radius\[2\] is -3.0"),
        (dict(radius=[1.0, 2.0]), r"radius: expected shape \(4,\)"),
        (dict(radius=1.0, pos=np.zeros((4, 2))), r"pos: expected shape \(n, 3\)"),
        (dict(radius=1.0, pos=[[0, 0, np.nan]] * 4), r"pos\[0, 2\] is not a number"),
        (dict(radius=1.0, targets=[[0, np.inf, 0]]), r"targets\[0, 1\] is infinite"),
        (dict(radius=1.0, ids=[1, 2]), r"ids: expected shape \(4,\)"),
        (dict(radius=1.0, target_ids=[1, 2]), "target_ids: without targets"),
        (dict(radius=1.0, targets=[[0, 0, 0]], ids=[1, 2, 3, 4]), "give both ids and target_ids"),
        (dict(radius=1.0, threads=-1), "threads: expected at least 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        gdr.neighbours(**{"pos": np.zeros((4, 3)), **arguments})


def test_ids_must_be_integers():
    with pytest.raises(TypeError, match="ids: expected integers"):
        gdr.neighbours(np.zeros((2, 3)), 1.0, ids=[0.5, 1.5])
