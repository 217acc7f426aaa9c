"""Gravity with an accuracy: errors, reports, arguments."""

import pickle

import numpy as np
import pytest

import gdr
from gdr import nbody


def sphere(n, seed=3):
    random = np.random.default_rng(seed)
    r = 1 / np.sqrt(random.uniform(1e-3, 0.99, n) ** (-2 / 3) - 1)
    x = random.normal(size=(n, 3))
    return x * (r / np.linalg.norm(x, axis=1))[:, None], np.full(n, 1 / n)


def rms(got, right):
    wrong = np.linalg.norm(got - right, axis=1) / np.linalg.norm(right, axis=1)
    return np.sqrt(np.mean(wrong**2))


@pytest.mark.parametrize("accuracy", [1e-2, 1e-4])
def test_a_tree_has_the_accuracy_that_is_asked_for(native, accuracy):
    pos, mass = sphere(12000)
    right = gdr.gravity(pos, mass, 0.01, device=native)
    method = "expansion" if accuracy < 1e-3 else "monopole"
    r = gdr.gravity(pos, mass, 0.01, accuracy=accuracy, method=method, device=native)
    acc, pot = r
    assert rms(acc, right.acc) <= accuracy and np.abs(pot / right.pot - 1).max() < 10 * accuracy
    assert 0 < r.tree.error <= accuracy and r.tree.samples == (512 if accuracy < 1e-3 else 256)
    assert r.tree.sources_per_target < 12000 and r.tree.theta > 0
    assert min(r.tree.build_seconds, r.tree.force_seconds, r.tree.error_seconds) > 0


def test_errors_of_the_few_particles_whose_forces_cancel_are_measured(native):
    side = np.arange(21.0)
    pos = np.stack(np.meshgrid(side, side, side, indexing="ij"), -1).reshape(-1, 3)
    mass = np.ones(len(pos))
    right = gdr.gravity(pos, mass, device=native).acc
    r = gdr.gravity(pos, mass, accuracy=1e-3, method="multipole", device=native)
    size = np.linalg.norm(right, axis=1)
    least = 1e-3 * np.sqrt(np.mean(size**2))
    wrong = np.linalg.norm(r.acc - right, axis=1) / np.maximum(size, least)
    error = np.sqrt(np.mean(wrong**2))  # 5.6e-3 without a sample of small accelerations
    assert error < 1.3e-3 and 0.5 < r.tree.error / error < 2 and r.tree.error <= 1e-3


def test_expansions_are_used_for_high_accuracies_and_on_request(native):
    pos, mass = sphere(25000)
    right = gdr.gravity(pos, mass, 1e-4, device=native)
    r = gdr.gravity(pos, mass, 1e-4, accuracy=1e-5, calls=32, device=native)
    assert rms(r.acc, right.acc) <= 1e-5 and np.abs(r.pot / right.pot - 1).max() < 1e-5
    assert r.tree.method == "expansion" and r.tree.expansion_seconds > 0
    asked = {"method": "expansion", "degree": 9, "theta": 0.6}
    r = gdr.gravity(pos, mass, 1e-4, **asked, device=native)
    assert (r.tree.method, r.tree.degree, r.tree.theta) == ("expansion", 9, 0.6)
    assert rms(r.acc, right.acc) < 1e-4
    with pytest.raises(ValueError, match="degree: expected 2 to 16"):
        gdr.gravity(pos, mass, 1e-4, method="expansion", degree=17, device=native)
    with pytest.raises(gdr.errors.UsageError, match="no jerks"):
        gdr.gravity(pos, mass, 1e-4, vel=pos, method="expansion", device=native)


def test_a_tree_at_targets_fills_arrays(native):
    pos, mass = sphere(5000)
    places = sphere(1500, 4)[0]
    acc, pot = np.empty((1500, 3)), np.empty(1500)
    r = gdr.gravity(
        pos, mass, 0.01, places, theta=0.4, method="monopole", acc=acc, pot=pot, device=native
    )
    assert r.acc is acc and r.pot is pot
    assert (r.tree.method, r.tree.degree, r.tree.theta) == ("monopole", 1, 0.4)
    right = gdr.gravity(pos, mass, 0.01, places, device=native)
    assert rms(acc, right.acc) < 1e-2


def test_few_particles_have_direct_sums(native):
    pos, mass = sphere(100)
    r = gdr.gravity(pos, mass, 0.01, accuracy=1e-2, device=native)
    assert (r.tree.method, r.tree.error, r.tree.sources_per_target) == ("direct", 0, 100)
    assert np.array_equal(r.acc, gdr.gravity(pos, mass, 0.01, device=native).acc)


def test_the_result_with_a_tree_is_a_pair_with_a_report_and_can_be_pickled(native):
    pos, mass = sphere(300)
    r = gdr.gravity(pos, mass, 0.01, degree=3, theta=0.5, group_size=20, samples=50, device=native)
    assert isinstance(r, gdr.results.TreeGravity) and isinstance(r, gdr.Gravity) and len(r) == 2
    assert r.tree.degree == 3 and r.tree.samples == 50 and r.tree.groups >= 300 / 20
    again = pickle.loads(pickle.dumps(r))
    assert again.tree == r.tree and np.array_equal(again.acc, r.acc)
    assert type(gdr.gravity(pos, mass, 0.01, device=native)) is gdr.Gravity


@pytest.mark.parametrize(
    "options, message",
    [
        ({"accuracy": 0.0}, "accuracy: expected above 0 and below 1"),
        ({"accuracy": float("nan")}, "accuracy"),
        ({"theta": 1.0}, "theta: expected above 0 and at most 0.95"),
        ({"method": "quadrupole"}, "method: expected one of auto, direct"),
        ({"degree": 7}, "degree: expected 2 to 6"),
        ({"degree": 2, "method": "monopole"}, "degree: method 'monopole' has none"),
        ({"samples": 0}, "samples: expected at least 1"),
        ({"group_size": -1}, "group_size: expected at least 1"),
    ],
)
def test_wrong_options_are_refused(native, options, message):
    pos, mass = sphere(50)
    with pytest.raises(ValueError, match=message):
        gdr.gravity(pos, mass, 0.01, device=native, **options)


def test_a_particle_that_is_not_a_number_is_named(native):
    pos, mass = sphere(3000)
    pos[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"pos\[7, 1\] is not a number"):
        gdr.gravity(pos, mass, 0.01, accuracy=1e-3, device=native)


def test_velocities_give_jerks_with_and_without_a_tree(native):
    pos, mass = sphere(12000)
    vel = np.random.default_rng(1).normal(size=pos.shape)
    right = gdr.gravity(pos, mass, 0.01, vel=vel, device=native)
    assert type(right) is gdr.results.GravityJerk
    kernel = gdr.gravity_jerk_long(pos, mass, vel, 0.01, device=native)
    assert rms(right.jerk, kernel.jerk) < 1e-6 and rms(right.acc, kernel.acc) < 1e-6
    r = gdr.gravity(pos, mass, 0.01, vel=vel, accuracy=1e-3, calls=32, device=native)
    acc, jerk, pot = pickle.loads(pickle.dumps(r))
    assert isinstance(r, gdr.results.TreeGravityJerk) and r.tree.theta > 0
    assert rms(acc, right.acc) <= 1e-3 and rms(jerk, right.jerk) <= 1e-2
    assert 0.2 < rms(jerk, right.jerk) / r.tree.jerk_error < 5
    assert np.abs(pot / right.pot - 1).max() < 1e-2


def test_jerks_at_moving_targets_fill_arrays(native):
    pos, mass = sphere(3000)
    at, vel = sphere(700, 5)[0], np.ones(pos.shape)
    jerk = np.empty(at.shape)
    r = gdr.gravity(
        pos, mass, 0.1, at, vel=vel, target_vel=at, theta=0.3, jerk=jerk, device=native
    )
    right = gdr.gravity_jerk(pos, mass, vel, 0.1, targets={"pos": at, "vel": at}, device=native)
    assert r.jerk is jerk and rms(jerk, right.jerk) < 1e-2 and rms(r.acc, right.acc) < 1e-2


def test_velocities_need_one_another(native):
    pos, mass = sphere(10)
    for arguments, message in (
        ({"target_vel": pos}, "target_vel: is that of targets"),
        ({"targets": pos, "target_vel": pos}, "vel: the velocities of the sources are missing"),
        ({"targets": pos, "vel": pos}, "target_vel: the velocities of the targets are missing"),
        ({"jerk": np.empty((10, 3))}, "jerk: needs velocities"),
    ):
        with pytest.raises(TypeError, match=message):
            gdr.gravity(pos, mass, 0.1, device=native, **arguments)
    vel = pos.copy()
    vel[3, 2] = np.inf
    with pytest.raises(ValueError, match=r"vel\[3, 2\]"):
        gdr.gravity(pos, mass, 0.1, vel=vel, device=native)


def test_a_leapfrog_to_an_accuracy_conserves_energy_and_reports_its_error(native):
    stars = nbody.plummer(12000, seed=4)
    options = {"eps": 0.02, "dt": 1 / 32, "t_end": 0.25, "device": native}
    states = list(nbody.leapfrog(stars, accuracy=1e-3, **options))
    right = list(nbody.leapfrog(stars, **options))
    assert right[0].tree is None
    assert all(0 < state.tree.error <= 1e-3 for state in states)
    first, last = nbody.energies(states[0]), nbody.energies(states[-1])
    assert last.total == pytest.approx(first.total, rel=3e-4)
    assert last.total == pytest.approx(nbody.energies(right[-1]).total, rel=3e-4)
    moved = np.linalg.norm(right[-1].pos - stars.pos, axis=1).mean()
    assert np.linalg.norm(states[-1].pos - right[-1].pos, axis=1).mean() < 1e-4 * moved


def test_the_choice_of_a_tree_is_kept_until_its_error_is_too_large(native):
    stars = nbody.plummer(12000, seed=4)
    steps = nbody.leapfrog(stars, eps=0.02, dt=2e-3, t_end=0.1, accuracy=1e-3, device=native)
    choices = []
    for state in steps:
        choices.append((state.tree.degree, state.tree.theta))
        if state.step == 40:
            state.pos *= np.linspace(1, 100, len(stars))[:, None]  # another system
    assert len(set(choices[:32])) <= 4 and len(set(choices)) >= 2
    assert state.tree.error <= 1e-3


def test_energies_of_a_snapshot_to_an_accuracy(native):
    stars = nbody.plummer(30000, seed=4)
    right = nbody.energies(stars, eps=0.02, device=native)
    found = nbody.energies(stars, eps=0.02, accuracy=1e-3, device=native)
    assert found.total == pytest.approx(right.total, rel=2e-4) and found.total != right.total
    assert found.kinetic == right.kinetic


@pytest.mark.parametrize("accuracy", [0, 1, float("nan"), "high"])
def test_a_leapfrog_refuses_a_wrong_accuracy(native, accuracy):
    with pytest.raises((TypeError, ValueError), match="accuracy"):
        nbody.leapfrog(nbody.plummer(8), eps=1, dt=1, t_end=1, accuracy=accuracy, device=native)


def test_few_stars_have_direct_sums_at_any_accuracy(native):
    stars = nbody.plummer(100, seed=4)
    options = {"eps": 0.02, "dt": 1 / 32, "t_end": 0.25, "device": native}
    *_, found = nbody.leapfrog(stars, accuracy=1e-2, **options)
    *_, right = nbody.leapfrog(stars, **options)
    assert found.tree.method == "direct" and np.array_equal(found.pos, right.pos)


def test_large_blocks_of_hermite_have_trees_and_a_file_continues_the_run(native, tmp_path):
    stars = nbody.plummer(12000, seed=4)
    options = {"eps": 0.05, "dt_max": 1 / 16, "device": native, "accuracy": 1e-3}
    *_, half, end = nbody.hermite(stars, t_end=1 / 8, **options)
    assert half.run.accuracy == 1e-3 and half.run.tree_degree > 0 and half.run.tree_theta > 0
    assert end.blocks.tree_steps >= 24000 and 0 < end.blocks.tree_error <= 1e-3
    first, last = nbody.energies(half), nbody.energies(end)
    assert last.total == pytest.approx(first.total, rel=1e-4)
    for name in ("half.hdf5", "half.txt"):
        nbody.write(tmp_path / name, half)
        read = nbody.read(tmp_path / name)
        assert read.run.tree_theta == half.run.tree_theta
        *_, again = nbody.hermite(read, t_end=1 / 8, device=native)
        assert again.step == 2 and np.array_equal(again.pos, end.pos)
    direct = nbody.hermite(half, t_end=1 / 8, device=native, accuracy=0)
    assert next(direct).step == 0  # another accuracy: a new run
    with pytest.raises(ValueError, match="accuracy"):
        nbody.hermite(stars, t_end=1, eps=0.1, accuracy=1.0, device=native)


@pytest.mark.parametrize("method", ["multipole", "expansion"])
def test_a_close_pair_whose_force_overflows_ends_a_tree_of_a_chosen_method(native, method):
    pos = np.random.default_rng(3).normal(size=(6000, 3))
    pos[0] = 0
    pos[1] = [1e-120, 0, 0]
    with pytest.raises(gdr.InputError, match="particle [01]"):
        gdr.gravity(pos, np.ones(6000), 0.0, accuracy=1e-3, method=method, device=native)
