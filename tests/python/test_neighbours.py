"""gdr.neighbours beside a plain double loop."""

import os
import signal
import threading
import time

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


def test_empty_lists_of_ids_are_accepted():
    compare(gdr.neighbours(np.empty((0, 3)), 1.0, ids=[]), [0], [])
    none = np.empty((0, 3))
    compare(gdr.neighbours(np.eye(3), 1.0, none, ids=[1, 2, 3], target_ids=[]), [0], [])


def test_unsigned_ids_are_accepted_below_two_to_the_63():
    pos, ids = np.eye(3), np.array([1, 2**63 - 1, 1], np.uint64)
    numbers = ids.astype(np.int64)
    compare(gdr.neighbours(pos, 2.0, ids=ids), *expected(pos, 2.0, pos, lambda i: numbers == numbers[i]))
    with pytest.raises(ValueError, match=r"ids\[1\] is 9223372036854775808; expected less than 2\^63"):
        gdr.neighbours(pos, 2.0, ids=ids + np.uint64(1))


def test_ctrl_c_stops_a_search_and_the_next_one_works():
    """Lists of all 20000 particles have 400 million members, which take a second of a core or more."""
    pos = np.random.default_rng(1).normal(size=(20000, 3))
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.process_time()  # not that of the clock, which goes on while other programs run
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        gdr.neighbours(pos, np.inf, threads=1)
    assert time.process_time() - begin < 1.0
    assert len(gdr.neighbours(pos[:100], np.inf).indices) == 9900


def test_notebooks_show_a_table_of_the_lists():
    table = gdr.neighbours(np.eye(3), 2.0)._repr_html_()
    assert "Neighbours" in table and "<td>offsets</td><td>4</td><td>int64</td><td>0 to 6</td>" in table


def test_lists_of_all_pairs_that_exceed_the_memory_are_refused_with_their_size():
    rng = np.random.default_rng(52)
    pos = rng.normal(size=(500_000, 3))
    with pytest.raises(gdr.InputError, match=r"2.5e\+11 pairs, .* 4e\+03 GB .*use smaller radii"):
        gdr.neighbours(pos, np.inf)
