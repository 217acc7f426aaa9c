"""Gravity: accuracy against REBOUND and direct summation, signs, self-interaction, arguments."""

import numpy as np
import pytest
from conftest import direct_gravity, error, read_cluster, read_only

import gdr


@pytest.mark.parametrize("n", [1024, 4096])
def test_accelerations_agree_with_rebound(n):
    c = read_cluster(n)
    acc, pot = gdr.gravity(c.pos, c.mass, c.eps)
    assert error(acc, c.acc) < 1e-7
    assert error(pot, c.pot) < 1e-8
    worst = np.linalg.norm(acc - c.acc, axis=1) / np.linalg.norm(c.acc, axis=1)
    assert worst.max() < 1e-5


def test_exact_engines_are_bit_identical(cluster):
    results = []
    for engine in ("vector", "reference"):
        with gdr.open("emulator", engine=engine) as device:
            results.append(gdr.gravity(cluster.pos[:96], cluster.mass[:96], 0.01, device=device))
    assert np.array_equal(results[0].acc, results[1].acc)
    assert np.array_equal(results[0].pot, results[1].pot)


def test_the_native_engine_has_the_same_accuracy(cluster):
    with gdr.open(engine="native") as device:
        acc, pot = gdr.gravity(cluster.pos, cluster.mass, cluster.eps, device=device)
    assert error(acc, cluster.acc) < 1e-7
    assert error(pot, cluster.pot) < 1e-8


def test_two_stars_attract_each_other_with_negative_potentials():
    pos = np.array([[0.0, 0, 0], [2.0, 0, 0]])
    acc, pot = gdr.gravity(pos, [1.0, 3.0])
    assert np.allclose(acc, [[0.75, 0, 0], [-0.25, 0, 0]], rtol=1e-6)
    assert np.allclose(pot, [-1.5, -0.5], rtol=1e-6)


def test_a_particle_acts_on_a_target_at_its_position_and_not_on_itself():
    pos = np.zeros((1, 3))
    assert gdr.gravity(pos, 2.0, 0.5).pot[0] == 0
    acc, pot = gdr.gravity(pos, 2.0, 0.5, targets=pos)
    assert pot[0] == pytest.approx(-4.0, rel=1e-6)
    assert not acc.any()
    assert gdr.gravity(pos, 2.0, 0.0, targets=pos).pot[0] == 0


def test_forces_at_target_positions_agree_with_direct_summation(rng):
    pos, mass, places = rng.normal(size=(300, 3)), rng.uniform(1, 2, 300), rng.normal(size=(77, 3))
    acc, pot = gdr.gravity(pos, mass, 0.05, places)
    right = direct_gravity(pos, mass, 0.05, places)
    assert error(acc, right[0]) < 1e-7
    assert error(pot, right[1]) < 1e-7
    assert gdr.gravity(pos, mass, 0.05, np.empty((0, 3))).acc.shape == (0, 3)
    assert not gdr.gravity(np.empty((0, 3)), [], 0.05, places).pot.any()


def test_results_are_written_to_the_given_arrays(cluster):
    acc, pot = np.empty((1024, 3)), np.empty(1024)
    given = gdr.gravity(cluster.pos, cluster.mass, cluster.eps, acc=acc, pot=pot)
    assert given.acc is acc and given.pot is pot
    assert error(acc, cluster.acc) < 1e-7


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.astype(np.float32),
        np.asfortranarray,
        lambda p: np.repeat(p, 2, axis=0)[::2],
        lambda p: p.astype(">f8"),
        lambda p: p[::-1][::-1],
        lambda p: p.tolist(),
    ],
)
def test_forces_are_independent_of_the_array_layout(rng, change):
    pos = rng.integers(-64, 64, (50, 3)) / 16.0  # representable in float32
    want = gdr.gravity(pos, 1.0, 0.1)
    got = gdr.gravity(change(pos), 1.0, 0.1)
    assert np.array_equal(got.acc, want.acc) and np.array_equal(got.pot, want.pot)


GOOD = np.zeros((4, 3)) + np.arange(4)[:, None]


def broken(value):
    pos = GOOD.copy()
    pos[2, 1] = value
    return pos


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"pos": GOOD[:, :2]}, ValueError, r"pos: expected shape \(n, 3\), got \(4, 2\)"),
        ({"pos": GOOD.astype(complex)}, TypeError, "pos: .*complex128"),
        ({"pos": GOOD.astype(np.longdouble)}, TypeError, "pos: float64 cannot represent"),
        ({"pos": "stars"}, TypeError, "pos"),
        ({"pos": None}, TypeError, "pos: expected an array"),
        ({"pos": [[1, 2, 3], [4, 5]]}, TypeError, "pos"),
        ({"pos": broken(np.nan)}, ValueError, r"pos\[2, 1\] is not a number"),
        ({"pos": broken(-np.inf)}, ValueError, r"pos\[2, 1\] is infinite"),
        ({"mass": [1.0, 2.0]}, ValueError, r"mass: expected shape \(4,\), got \(2,\)"),
        ({"mass": [1, 2, np.nan, 4]}, ValueError, r"mass\[2\] is not a number"),
        ({"mass": "heavy"}, TypeError, "mass"),
        ({"eps": -1.0}, ValueError, "softening"),
        ({"eps": np.nan}, ValueError, "eps"),
        ({"eps": None}, TypeError, "eps"),
        ({"targets": np.zeros(3)}, ValueError, r"targets: expected shape \(m, 3\)"),
        ({"targets": broken(np.nan)}, ValueError, r"targets\[2, 1\] is not a number"),
        ({"acc": np.empty((4, 2))}, ValueError, r"acc: expected shape \(4, 3\)"),
        ({"acc": np.empty((4, 3), np.float16)}, TypeError, "acc: expected float64 or float32"),
        ({"acc": read_only(np.empty((4, 3)))}, ValueError, "acc: the array is read-only"),
        ({"pot": [0.0] * 4}, TypeError, "pot: expected an array of NumPy"),
        ({"device": 3}, TypeError, "device: expected a gdr.Device"),
    ],
)
def test_invalid_arguments_raise_an_error_with_the_argument(arguments, kind, message):
    with pytest.raises(kind, match=message):
        gdr.gravity(**{"pos": GOOD, "mass": 1.0, "eps": 0.1, **arguments})


def test_a_non_finite_result_raises_input_error():
    with pytest.raises(gdr.InputError, match="particle 0"):
        gdr.gravity([[0, 0, 0], [1e-150, 0, 0]], 1.0)
