"""gdr.rebound: gravity of REBOUND's simulations beside REBOUND's own."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import gdr

pytest.importorskip("rebound", reason="the package rebound is not installed")
import rebound

if not hasattr(rebound.Simulation, "_gravity_custom"):
    pytest.skip("REBOUND before version 5", allow_module_level=True)

import gdr.rebound


#: So many particles are computed by this library, and fewer by REBOUND.
MANY = 80


def cluster(n=MANY, seed=3):
    """Particles with masses of very different size, one of them zero, one negative."""
    random = np.random.default_rng(seed)
    sim = rebound.Simulation()
    sim.G = 1.7
    for k in range(n):
        mass = 1.0 if k == 0 else 10 ** random.uniform(-6, -2)
        mass = {5: 0.0, 6: -1e-3}.get(k, mass)
        x, v = random.normal(size=3), 0.1 * random.normal(size=3)
        sim.add(m=mass, x=x[0], y=x[1], z=x[2], vx=v[0], vy=v[1], vz=v[2])
    return sim


def accelerations(sim):
    """Those that the gravity of the simulation computes in a step."""
    if sim._gravity_custom:
        sim.gravity = "custom"
    rebound.clibrebound.reb_simulation_update_acceleration(ctypes.byref(sim))
    sim.gravity = "basic"
    return np.array([[p.ax, p.ay, p.az] for p in sim.particles]).reshape(-1, 3)


@pytest.mark.parametrize("ignore", [0, 1, 2])
@pytest.mark.parametrize("active", [-1, 0, 1, 2, 40, 79, 80])
@pytest.mark.parametrize("test_type", [0, 1])
def test_sums_are_those_of_basic_gravity_with_test_particles_and_ignored_terms(
    active, test_type, ignore
):
    sim = cluster()
    sim.N_active, sim.testparticle_type, sim.gravity_ignore = active, test_type, ignore
    sim.softening = 0.05
    if active in (1, 2):  # few pairs, if there are no more particles
        for k in range(3000):
            sim.add(m=1e-9, x=2 + 0.001 * k, y=(0.7 * k) % 1, z=(0.3 * k) % 1)
    right = accelerations(sim)
    gdr.rebound.attach(sim)
    found = accelerations(sim)
    scale = np.maximum(np.abs(right).max(axis=1, keepdims=True), 1e-12)
    assert np.abs((found - right) / scale).max() < 1e-13
    assert ((found == 0) == (right == 0)).all()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 54])
@pytest.mark.parametrize("ignore", [0, 1, 2])
def test_few_particles_have_the_bits_of_basic_gravity(n, ignore):
    sim = cluster(n)
    sim.gravity_ignore = ignore
    right = accelerations(sim)
    gdr.rebound.attach(sim)
    assert np.array_equal(accelerations(sim), right)


def figure_eight():
    """Three equal masses on one curve. Chenciner and Montgomery 2000, Ann. Math. 152, 881. The force
    on one of them is exactly zero: with an error IAS15 chooses tiny steps."""
    sim = rebound.Simulation()
    x, v = np.array([0.97000436, -0.24308753]), np.array([0.93240737, 0.86473146])
    sim.add(m=1, x=x[0], y=x[1], vx=v[0] / 2, vy=v[1] / 2)
    sim.add(m=1, x=-x[0], y=-x[1], vx=v[0] / 2, vy=v[1] / 2)
    sim.add(m=1, vx=-v[0], vy=-v[1])
    return sim


def test_ias15_keeps_its_accuracy_on_the_figure_eight():
    period = 6.32591398
    ends = []
    for attached in (False, True):
        sim = figure_eight()
        sim.integrator = "ias15"
        calls = gdr.rebound.attach(sim) if attached else None
        energy = sim.energy()
        sim.integrate(20 * period)
        assert abs(sim.energy() / energy - 1) < 1e-14
        ends.append(np.array([p.xyz for p in sim.particles]))
    assert calls.calls.count > 1000 and calls.calls.error == 0
    assert np.array_equal(ends[0], ends[1])
    # The curve is periodic; its published numbers have eight digits.
    assert np.abs(ends[1][2]).max() < 1e-5


def planets(n=9, small=MANY):
    """A star, planets of several masses, and many small bodies outside of them."""
    sim = rebound.Simulation()
    sim.add(m=1)
    for k in range(n):
        sim.add(m=3e-4 / (k + 1), a=1.0 * 1.35**k, e=0.02 + 0.005 * k, inc=0.01 * k, f=2.4 * k)
    for k in range(small):
        sim.add(m=1e-9, a=1.35**n * (1.5 + 0.01 * k), e=0.01, inc=0.03, f=2.4 * k)
    sim.move_to_com()
    sim.dt = 0.01 * 2 * np.pi
    return sim


def test_ias15_keeps_its_accuracy_with_many_bodies():
    ends = []
    for attached in (False, True):
        sim = planets()
        sim.integrator = "ias15"
        if attached:
            gdr.rebound.attach(sim)
        energy = sim.energy()
        sim.integrate(30 * 2 * np.pi)
        assert abs(sim.energy() / energy - 1) < 5e-14
        ends.append(np.array([p.xyz for p in sim.particles]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-10


@pytest.mark.parametrize("coordinates", ["jacobi", "democraticheliocentric", "whds", "barycentric"])
def test_whfast_keeps_its_accuracy_in_all_coordinates(coordinates):
    ends, errors = [], []
    for attached in (False, True):
        sim = planets()
        sim.integrator = "whfast"
        sim.integrator.coordinates = coordinates
        if attached:
            calls = gdr.rebound.attach(sim)
        energy = sim.energy()
        sim.integrate(100 * 2 * np.pi, exact_finish_time=0)
        assert sim.gravity == "basic"
        assert not attached or calls.calls.count > 9000
        ends.append(np.array([p.xyz for p in sim.particles]))
        errors.append(sim.energy() / energy - 1)
    assert 1e-12 < abs(errors[0]) < 1e-4
    assert abs(errors[1] - errors[0]) < 1e-12
    assert np.abs(ends[0] - ends[1]).max() < 1e-8


@pytest.mark.parametrize("integrator", ["leapfrog", "saba", "janus", "bs"])
def test_other_integrators_end_where_they_do_with_basic_gravity(integrator):
    ends = []
    for attached in (False, True):
        sim = planets(4)
        sim.integrator = integrator
        calls = gdr.rebound.attach(sim) if attached else None
        sim.integrate(30.0)
        ends.append(np.array([p.xyz for p in sim.particles]))
    assert calls.calls.count > 100
    assert np.abs(ends[0] - ends[1]).max() < 1e-10


def disc(n, seed=2):
    """A star and small bodies with masses."""
    random = np.random.default_rng(seed)
    sim = rebound.Simulation()
    sim.add(m=1)
    a, f, inc = random.uniform(1, 2, n), random.uniform(0, 2 * np.pi, n), random.rayleigh(0.01, n)
    for k in range(n):
        sim.add(m=1e-3 / n, a=a[k], f=f[k], inc=inc[k])
    sim.softening = 1e-4
    sim.dt = 0.02
    return sim


def test_a_tree_has_the_wanted_error_in_a_disc():
    sim = disc(6000)
    sim.gravity_ignore = 2
    direct = gdr.rebound.attach(sim)
    right = accelerations(sim)
    assert direct.calls == gdr.rebound.Calls(1, 0, 0)
    trees = gdr.rebound.attach(sim, accuracy=1e-3)
    found = accelerations(sim)
    scale = np.sqrt((right**2).sum(1))[1:]
    errors = np.sqrt(((found - right) ** 2).sum(1))[1:] / scale
    assert 0 < trees.calls.error < 1e-3
    assert 0 < np.sqrt((errors**2).mean()) < 2e-3
    assert trees.calls.sources_per_target < 3000


def test_a_run_with_a_tree_has_the_energy_of_one_with_direct_sums():
    energies = []
    for theta in (None, 0.5):
        sim = disc(2000)
        sim.integrator = "whfast"
        sim.integrator.coordinates = "democraticheliocentric"
        trees = gdr.rebound.attach(sim, theta=theta)
        sim.integrate(1.0)
        energies.append(sim.energy())
    assert 0 < trees.calls.sources_per_target < 1000
    assert abs(energies[1] / energies[0] - 1) < 2e-6


@pytest.mark.parametrize("small", [0, MANY])  # computed by REBOUND and by this library
def test_additional_forces_are_called_once_and_added_whenever_they_are_set(small):
    ends = []
    for when in ("basic", "before", "after"):
        sim = planets(3, small)
        sim.integrator = "leapfrog"
        count = [0]

        def drag(pointer, count=count):
            count[0] += 1
            for p in pointer.contents.particles:
                p.ax -= 0.01
                p.ay += 0.02 * p.m

        if when == "after":
            gdr.rebound.attach(sim)
        sim.additional_forces = drag
        if when == "before":
            gdr.rebound.attach(sim)
        sim.integrate(5.0)
        ends.append((count[0], np.array([p.xyz for p in sim.particles])))
    for count, end in ends[1:]:
        assert count == ends[0][0] and np.allclose(end, ends[0][1], rtol=0, atol=1e-12)


def test_particles_may_be_added_and_removed():
    ends = []
    for attached in (False, True):
        sim = planets(3)
        if attached:
            gdr.rebound.attach(sim)
        sim.integrate(3.0)
        for k in range(300):  # REBOUND moves its particles to another place
            sim.add(m=1e-9, a=9 + 0.05 * k, f=k)
        sim.integrate(5.0)
        sim.remove(2)
        sim.integrate(6.0)
        ends.append(np.array([p.xyz for p in sim.particles]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-11


def test_two_simulations_and_one_that_is_attached_again_do_not_mix():
    first, second = planets(3), cluster()
    one, two = gdr.rebound.attach(first), gdr.rebound.attach(second)
    again = gdr.rebound.attach(first)
    del one
    gc.collect()
    accelerations(first), accelerations(second), accelerations(second)
    assert again.calls.count == 1 and two.calls.count == 2
    first.integrator = "leapfrog"
    first.steps(2)  # with REBOUND's gravity, because the integrator is another
    assert again.calls.count == 1
    again = gdr.rebound.attach(first)
    first.steps(2)
    assert again.calls.count == 2
    again.detach(first)
    first.steps(2)
    assert again.calls.count == 2
    with pytest.raises(ValueError, match="sim: this is not the simulation that was attached"):
        again.detach(second)


def test_only_the_last_attachment_of_a_simulation_can_be_detached():
    sim = planets(3)
    sim.integrator = "leapfrog"
    first, last = gdr.rebound.attach(sim), gdr.rebound.attach(sim, theta=0.5)
    with pytest.raises(ValueError, match="sim: another attachment has replaced this one"):
        first.detach(sim)
    sim.steps(2)
    assert first.calls.count == 0 and last.calls.count == 2
    last.detach(sim)
    last.detach(sim)
    first.detach(sim)
    assert not sim._gravity_custom and sim.gravity == "basic"
    sim.steps(2)
    assert last.calls.count == 2


@pytest.mark.parametrize("small", [0, MANY])
def test_additional_forces_may_detach(small):
    ends = []
    for attached in (False, True):
        sim = planets(3, small)
        sim.integrator = "ias15"
        calls = gdr.rebound.attach(sim) if attached else None

        def end(pointer, sim=sim, calls=calls):
            if calls:
                calls.detach(sim)

        sim.additional_forces = end
        sim.steps(3)
        assert sim.gravity == "basic" and not sim._gravity_custom
        ends.append(np.array([p.xyz for p in sim.particles]))
    assert calls.calls.count == 1
    assert np.allclose(ends[0], ends[1], rtol=0, atol=1e-12)


def test_a_custom_gravity_of_the_user_is_not_replaced():
    function = dict(rebound.Simulation._fields_)["_gravity_custom"]
    own = function(lambda sim: None)
    for gravity in ("custom", "basic"):
        sim = planets(3)
        sim._gravity_custom = own
        sim.gravity = gravity
        with pytest.raises(gdr.UnsupportedError, match="has a custom gravity already"):
            gdr.rebound.attach(sim)
        assert sim.gravity == gravity
        address = ctypes.cast(sim._gravity_custom, ctypes.c_void_p).value
        assert address == ctypes.cast(own, ctypes.c_void_p).value
        sim._gravity_custom = function()
        sim.gravity = "basic"
        gdr.rebound.attach(sim).detach(sim)
        assert not sim._gravity_custom


def test_a_simulation_keeps_its_gravity_without_the_attachment():
    sim = cluster()
    right = accelerations(sim)
    gdr.rebound.attach(sim)
    gc.collect()
    assert np.allclose(accelerations(sim), right, rtol=1e-12)


def test_what_was_attached_ends_with_the_simulation():
    sim = cluster()
    core = weakref.ref(gdr.rebound.attach(sim)._core)
    accelerations(sim)
    assert core() is not None
    del sim
    gc.collect()
    assert core() is None


def test_a_copy_and_a_file_have_the_gravity_of_rebound_until_they_are_attached(tmp_path):
    sim = planets(3)
    sim.integrator = "leapfrog"
    calls = gdr.rebound.attach(sim)
    sim.integrate(1.0)
    sim.save_to_file(str(tmp_path / "sim.bin"))
    others = [sim.copy(), rebound.Simulation(str(tmp_path / "sim.bin"))]
    sim.integrate(2.0)
    count = calls.calls.count
    for other in others:
        assert other.gravity == "basic"
        other.integrate(2.0)
        assert np.allclose(other.particles[2].xyz, sim.particles[2].xyz, rtol=1e-13)
    assert calls.calls.count == count
    others[0].integrate(3.0)
    again = gdr.rebound.attach(others[1])
    others[1].integrate(3.0)
    assert again.calls.count > 0
    assert np.allclose(others[0].particles[2].xyz, others[1].particles[2].xyz, rtol=1e-13)


def test_another_gravity_of_the_user_is_used():
    sim = planets(3)
    sim.integrator = "leapfrog"
    calls = gdr.rebound.attach(sim)
    sim.gravity = "none"
    sim.steps(3)
    assert calls.calls.count == 0 and sim.particles[1].ax == 0 and sim.gravity == "none"


def test_errors_of_the_routine_end_the_integration():
    def run(change, message, integrator="leapfrog"):
        sim = planets(3)
        sim.integrator = integrator
        gdr.rebound.attach(sim)
        change(sim)
        with pytest.raises(RuntimeError, match="gdr.rebound: " + message):
            sim.integrate(1.0)

    for integrator in ("leapfrog", "whfast", "ias15"):
        run(
            lambda sim: setattr(sim.particles[2], "x", np.nan),
            "the position of particle . is not finite",
            integrator,
        )
    run(lambda sim: setattr(sim, "N_ghost_x", 1), "ghost boxes are not supported")
    run(lambda sim: sim.add_variation(), "variational particles are not supported")


def test_a_closed_device_ends_the_integration():
    sim = planets(3)
    sim.integrator = "leapfrog"
    with gdr.open("native") as device:
        gdr.rebound.attach(sim, device=device)
    with pytest.raises(RuntimeError, match="gdr.rebound: the device has been closed"):
        sim.integrate(1.0)


def test_exact_engines_compute_too():
    sim = planets(4)
    right = accelerations(sim)
    gdr.rebound.attach(sim, device="exact")
    assert np.allclose(accelerations(sim), right, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (dict(accuracy=2), ValueError, "accuracy: expected above 0 and below 1"),
        (dict(accuracy="x"), TypeError, "accuracy: expected a number"),
        (dict(theta=-1), ValueError, "theta: expected a number above 0"),
        (dict(theta=1), ValueError, "theta: expected at most 0.95"),
        (dict(theta=0.5, accuracy=1e-3), ValueError, "theta: the accuracy is not used"),
    ],
)
def test_wrong_arguments_are_named(given, error, message):
    with pytest.raises(error, match=message):
        gdr.rebound.attach(planets(2), **given)


def test_what_has_gravity_of_its_own_is_refused():
    with pytest.raises(TypeError, match="sim: expected a rebound.Simulation, got str"):
        gdr.rebound.attach("sim")
    sim = planets(2)
    sim.integrator = "mercurius"
    with pytest.raises(gdr.UnsupportedError, match="integrator mercurius has gravity of its own"):
        gdr.rebound.attach(sim)
    sim = planets(2)
    sim.add_variation()
    with pytest.raises(gdr.UnsupportedError, match="variational particles"):
        gdr.rebound.attach(sim)
