"""Softening of each particle, choices of earlier trees, and the progress bar of gravity."""

import numpy as np
import pytest
from conftest import error
from test_search import FakeBars

import gdr
from gdr import _gravity


def plain_sums(pos, mass, eps, targets=None, target_eps=None, vel=None, target_vel=None):
    """Sums in long doubles: accelerations, jerks (if there are velocities) and potentials."""
    at = pos if targets is None else targets
    own = eps if targets is None else target_eps
    pos, at, mass, eps = (np.asarray(a, np.longdouble) for a in (pos, at, mass, eps))
    d = pos[None] - at[:, None]
    square = np.broadcast_to(eps[None] ** 2, d.shape[:2])
    if own is not None:
        square = (square + np.asarray(own, np.longdouble)[:, None] ** 2) / 2
    r2 = (d**2).sum(axis=2) + square
    if targets is None:
        np.fill_diagonal(r2, np.inf)
    r2[r2 == 0] = np.inf
    f = mass / r2**1.5
    acc, pot = (f[..., None] * d).sum(axis=1), -(mass / np.sqrt(r2)).sum(axis=1)
    if vel is None:
        return acc, pot
    v = np.asarray(vel, np.longdouble)[None]
    v = v - np.asarray(vel if targets is None else target_vel, np.longdouble)[:, None]
    along = 3 * (d * v).sum(axis=2) / r2
    jerk = (f[..., None] * (v - along[..., None] * d)).sum(axis=1)
    return acc, jerk, pot


def stars(rng, n):
    return (
        rng.normal(size=(n, 3)),
        rng.uniform(1, 2, n),
        rng.uniform(0, 0.5, n) * (rng.random(n) > 0.1),
    )


@pytest.mark.parametrize("n", [1, 2, 57])
@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("engine", ["native", "exact"])
def test_direct_sums_with_a_length_of_each_particle(rng, n, moving, engine):
    pos, mass, eps = stars(rng, n)
    places, lengths = rng.normal(size=(13, 3)), rng.uniform(0, 0.4, 13)
    velocities = {"vel": rng.normal(size=(n, 3))} if moving else {}
    at = {"target_vel": rng.normal(size=(13, 3))} if moving else {}
    with gdr.open(engine) as device:
        cases = [
            (gdr.gravity(pos, mass, eps, device=device, **velocities), {}),
            *(
                (
                    gdr.gravity(pos, mass, eps, places, device=device, **more, **velocities, **at),
                    {"targets": places, **more, **at},
                )
                for more in ({}, {"target_eps": lengths})
            ),
        ]
    for got, arguments in cases:
        for result, right in zip(got, plain_sums(pos, mass, eps, **arguments, **velocities)):
            assert error(result, right.astype(float)) < 1e-6 or not right.any()


def test_one_length_and_lengths_of_targets(rng):
    pos, mass, _ = stars(rng, 40)
    places, lengths = rng.normal(size=(5, 3)), np.linspace(0, 0.4, 5)
    got = gdr.gravity(pos, mass, 0.2, places, target_eps=lengths)
    right = plain_sums(pos, mass, np.full(40, 0.2), places, lengths)
    assert error(got.acc, right[0].astype(float)) < 1e-7
    same = gdr.gravity(pos, mass, 0.2)
    assert error(gdr.gravity(pos, mass, np.full(40, 0.2)).pot, same.pot) < 1e-12
    assert error(gdr.gravity(pos, mass, np.float64(0.2)).acc, same.acc) == 0


@pytest.mark.parametrize("moving", [False, True])
def test_momentum_is_conserved(rng, moving):
    pos, mass, eps = stars(rng, 300)
    got = gdr.gravity(pos, mass, eps, vel=rng.normal(size=(300, 3)) if moving else None)
    size = (mass[:, None] * abs(got.acc)).sum()
    assert abs((mass[:, None] * got.acc).sum(axis=0)).max() < 1e-12 * size


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("wanted", [1e-2, 1e-4])
def test_trees_with_a_length_of_each_particle(rng, moving, wanted):
    n = 5000
    pos, mass, eps = stars(rng, n)
    eps *= rng.random(n) ** 8  # few large ones
    vel = rng.normal(size=(n, 3)) if moving else None
    right = gdr.gravity(pos, mass, eps, vel=vel)
    got = gdr.gravity(pos, mass, eps, vel=vel, accuracy=wanted, method="multipole")
    assert got.tree.method == "multipole" and got.tree.error <= wanted
    assert error(got.acc, right.acc) <= wanted
    assert error(got.pot, right.pot) <= wanted


@pytest.mark.parametrize(
    "eps, more, kind, message",
    [
        (np.full(3, 0.1), {}, ValueError, "eps"),
        (np.full(4, -0.1), {}, ValueError, "particle 0: its softening must be finite"),
        ([0.1, np.nan, 0.1, 0.1], {}, ValueError, "eps"),
        (0.1, {"target_eps": np.full(4, 0.1)}, TypeError, "target_eps: is that of targets"),
        (0.1, {"targets": np.ones((2, 3)), "target_eps": np.ones(3)}, ValueError, "target_eps"),
        (np.full((4, 1), 0.1), {}, ValueError, "eps"),
    ],
)
def test_wrong_lengths_are_refused(eps, more, kind, message):
    with pytest.raises(kind, match=message):
        gdr.gravity(np.arange(12.0).reshape(4, 3), 1.0, eps, **more)


def test_the_choice_of_an_earlier_tree_is_used_again_while_it_is_accurate(rng):
    n = 30000
    pos = rng.normal(size=(n, 3))
    first = gdr.gravity(pos, 1 / n, 0.01, accuracy=1e-2)
    assert first.tree.method != "direct"
    moved = pos + 1e-3 * rng.normal(size=pos.shape)
    again = gdr.gravity(moved, 1 / n, 0.01, accuracy=1e-2, earlier=first.tree)
    assert again.tree.error <= 1e-2
    assert (again.tree.method, again.tree.theta) == (first.tree.method, first.tree.theta)
    fixed = gdr.gravity(
        moved, 1 / n, 0.01, method=first.tree.method, theta=first.tree.theta,
        degree=first.tree.degree if first.tree.degree > 1 else None,
    )  # fmt: skip
    assert np.array_equal(again.acc, fixed.acc)
    # A choice that is not accurate enough is replaced.
    better = gdr.gravity(moved, 1 / n, 0.01, accuracy=1e-3, earlier=first.tree)
    assert better.tree.error <= 1e-3
    plain = gdr.gravity(moved, 1 / n, 0.01, accuracy=1e-3)
    assert np.array_equal(better.acc, plain.acc)
    with pytest.raises(TypeError, match="theta: earlier has one"):
        gdr.gravity(pos, 1.0, theta=0.5, earlier=first.tree)
    with pytest.raises(TypeError, match="earlier: expected the tree"):
        gdr.gravity(pos, 1.0, accuracy=1e-2, earlier=first)


def test_an_earlier_choice_of_expansions_keeps_the_reach_of_the_softening(rng):
    n = 20000
    pos = rng.uniform(size=(n, 3))
    charge = np.where(np.arange(n) % 2, 1.0, -1.0)
    first = gdr.gravity(pos, charge, 0.003, accuracy=1e-2, method="expansion")
    again = gdr.gravity(pos, charge, 0.003, accuracy=1e-2, earlier=first.tree)
    assert again.tree.sources_per_target == first.tree.sources_per_target
    assert np.array_equal(again.acc, first.acc)
    # Expansions have no jerks: another method is chosen.
    moving = gdr.gravity(pos, charge, 0.003, vel=pos, accuracy=1e-2, earlier=first.tree)
    assert moving.tree.method != "expansion" and moving.tree.error <= 1e-2


def test_long_sums_with_a_tree_show_a_bar(monkeypatch, rng):
    import sys

    monkeypatch.setattr(_gravity, "FIRST_SECONDS", 0.0)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bars = FakeBars(monkeypatch)
    pos = rng.normal(size=(60000, 3))
    gdr.gravity(pos, 1.0, 0.01, accuracy=1e-6, method="multipole", degree=4)
    assert len(bars.made) == 1 and bars.made[0].closed == 1
    assert bars.made[0].shown == sorted(bars.made[0].shown)
    assert 0 <= bars.made[0].shown[-1] <= 1
    gdr.gravity(pos[:100], 1.0, 0.01)
    assert len(bars.made) == 1
