"""Stellar systems: snapshots, models, integrators, conserved quantities."""

import numpy as np
import pytest
from conftest import DATA, error, read_cluster

import gdr
from gdr import nbody

h5py = pytest.importorskip("h5py")


def test_the_example_snapshot_is_read():
    s = nbody.read(DATA / "plummer_1024.hdf5")
    c = read_cluster(1024)
    assert np.array_equal(s.pos, c.pos) and np.array_equal(s.mass, c.mass)
    assert len(s) == 1024 and (s.types == 1).all()


@pytest.mark.parametrize("name", ["s.hdf5", "s.txt"])
def test_snapshots_round_trip_bit_exactly(tmp_path, name, rng):
    s = nbody.merger(50, seed=2)
    s.time = 0.1 + 0.2
    nbody.write(tmp_path / name, s)
    back = nbody.read(tmp_path / name)
    for field in ("pos", "vel", "mass"):
        assert np.array_equal(getattr(back, field), getattr(s, field))
    assert back.time == s.time
    if name == "s.hdf5":
        assert np.array_equal(back.types, s.types) and np.array_equal(back.ids, s.ids)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 0 0 0 0\n", r"bad.txt:1:12: vz missing: a line is m x y z vx vy vz"),
        ("# nothing\n", "no particles"),
        ("1 0 0 0 0 0 x\n", "bad.txt:1:13: 'x' is not a number"),
        ("1 0 0 0 0 0 0\n1 0 nan 0 0 0 0\n", "bad.txt:2:5: 'nan' is not a finite number"),
    ],
)
def test_corrupt_text_raises_input_error_with_the_line(tmp_path, text, message):
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(gdr.InputError, match=message):
        nbody.read(tmp_path / "bad.txt")


def test_corrupt_hdf5_raises_an_error_with_the_dataset(tmp_path):
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["PartType1/Coordinates"] = np.zeros((3, 3))
    with pytest.raises(gdr.InputError, match="PartType1 has no dataset Velocities"):
        nbody.read(tmp_path / "a.hdf5")
    (tmp_path / "b.hdf5").write_bytes((DATA / "plummer_1024.hdf5").read_bytes()[:3000])
    with pytest.raises(gdr.InputError, match="b.hdf5: a damaged HDF5 file"):
        nbody.read(tmp_path / "b.hdf5")
    with pytest.raises(gdr.FileError, match="none.hdf5"):
        nbody.read(tmp_path / "none.hdf5")


def test_a_failed_write_keeps_the_existing_file(tmp_path, monkeypatch):
    s = nbody.plummer(5)
    nbody.write(tmp_path / "s.txt", s)
    before = (tmp_path / "s.txt").read_bytes()

    def fail(name, snapshot):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gdr.nbody.snapshot._write_text", fail)
    with pytest.raises(gdr.FileError, match="No space left"):
        nbody.write(tmp_path / "s.txt", s)
    assert (tmp_path / "s.txt").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.txt"]


def test_plummer_spheres_have_the_profile_and_energy_of_the_model():
    s = nbody.plummer(20000, seed=4)
    radii = nbody.lagrangian_radii(s, (0.25, 0.5, 0.75))
    a = 3 * np.pi / 16
    f = np.array([0.25, 0.5, 0.75]) * 0.999
    assert np.allclose(radii, a / np.sqrt(f ** (-2 / 3) - 1), rtol=0.03)
    kinetic = 0.5 * (s.mass * (s.vel**2).sum(1)).sum()
    assert kinetic == pytest.approx(0.25, rel=0.03)
    assert abs(nbody.centre_of_mass(s)).max() < 1e-12


def final(scheme, dt, native):
    """Position error of a circular orbit of two stars, without softening, after a quarter turn."""
    pos, vel = np.array([[0.5, 0, 0], [-0.5, 0, 0]]), np.array([[0, 0.5, 0], [0, -0.5, 0.0]])
    s = nbody.Snapshot(pos, vel, np.array([0.5, 0.5]))
    end = np.pi / 2
    if scheme is nbody.leapfrog:
        law = None
        for state in scheme(s, eps=0, dt=end / dt, t_end=end * (1 - 1e-9), forces=law, device=native):
            pass
    else:
        for state in scheme(s, eps=0, t_end=end, dt_max=end / dt, eta=100.0, device=native):
            pass
    assert np.array_equal(s.pos, [[0.5, 0, 0], [-0.5, 0, 0]])
    assert state.time == pytest.approx(end)
    return float(np.linalg.norm(state.pos - [[0, 0.5, 0], [0, -0.5, 0]]))


@pytest.mark.parametrize(
    ("scheme", "order", "steps"), [(nbody.leapfrog, 2, 16), (nbody.hermite, 4, 8)]
)
def test_integration_errors_scale_with_the_order(scheme, order, steps, native):
    """Errors scale with the second or fourth power of the step."""
    coarse, fine = final(scheme, steps, native), final(scheme, 2 * steps, native)
    assert coarse / fine == pytest.approx(2**order, rel=0.3)


def test_leapfrog_conserves_energy_and_angular_momentum(native):
    s = nbody.plummer(200, seed=1)
    history = nbody.History()
    before = nbody.angular_momentum(s)
    for state in nbody.leapfrog(s, eps=1 / 16, dt=1 / 256, t_end=0.25, device=native):
        history.add(state)
    assert len(history.time) == 65 and history.time[-1] == 0.25
    assert abs(history.energy_error).max() < 1e-4
    assert np.allclose(nbody.angular_momentum(state), before, atol=1e-8)
    e = nbody.energies(state)
    assert e.total == e.kinetic + e.potential and 0.5 < e.virial_ratio < 1.5


def test_leapfrog_accepts_user_defined_forces():
    """Harmonic oscillators, with forces computed by NumPy."""
    s = nbody.Snapshot(np.eye(3), np.zeros((3, 3)), np.ones(3))
    states = nbody.leapfrog(
        s, eps=0, dt=0.01, t_end=np.pi, forces=lambda x, v: (-x, 0.5 * (x**2).sum(1))
    )
    for state in states:
        pass
    assert error(state.pos, np.eye(3) * np.cos(state.time)) < 1e-3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: nbody.leapfrog(s, eps=0.1, dt=0.0, t_end=1.0), "dt"),
        (lambda s: nbody.leapfrog(s, eps=-1, dt=0.1, t_end=1.0), "eps"),
        (lambda s: nbody.leapfrog(s, eps=0.1, dt=0.1, t_end=-1.0), "t_end"),
        (lambda s: nbody.hermite(s, eps=0.1, t_end=1.0, eta=0), "eta"),
        (lambda s: nbody.hermite(s, eps=0.1, t_end=1.0, eta_start=-1), "eta_start"),
        (lambda s: nbody.hermite(s, eps=0.1, t_end=1.0, dt_max=0), "dt_max"),
        (lambda s: nbody.hermite(s, eps=0.1, t_end=1.0, dt_min=0.5), "dt_min: 0.5 is above"),
        (lambda s: nbody.plummer(0), "n: "),
        (lambda s: nbody.merger(10, mass_ratio=2), "mass_ratio"),
        (lambda s: nbody.lagrangian_radii(s, (0.0,)), "fractions"),
        (lambda s: nbody.Snapshot(s.pos, s.vel[:2], s.mass), "vel: expected shape"),
        (lambda s: nbody.Snapshot(s.pos * np.nan, s.vel, s.mass), r"pos\[0, 0\]"),
        (lambda s: nbody.plots.projection(s, plane="xx"), "plane"),
        (lambda s: nbody.plots.timeline([]), "record_timeline"),
    ],
)
def test_invalid_arguments_raise_an_error_with_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call(nbody.plummer(4))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s: setattr(s, "pos", s.pos * Kiloparsec()), TypeError, "pos: has the unit kpc"),
        (lambda s: setattr(s, "vel", s.vel[:2]), ValueError, r"vel: expected shape \(4, 3\)"),
        (lambda s: setattr(s, "mass", s.mass * 1j), TypeError, "mass: expected real numbers"),
        (lambda s: s.pos.__setitem__((2, 1), np.nan), ValueError, r"pos\[2, 1\] is not a number"),
        (lambda s: setattr(s, "time", "now"), TypeError, "time: expected a number, got str"),
    ],
)
def test_unsuitable_arrays_that_were_assigned_to_a_snapshot_are_named(
    change, error, message, native, tmp_path
):
    """Units were dropped by hermite, and failed elsewhere with errors that named no argument."""
    stars = nbody.plummer(4)
    for stars in (nbody.plummer(4), next(nbody.leapfrog(stars, eps=1, dt=1, t_end=1))):
        change(stars)
        for argument, call in (
            ("snapshot", lambda: nbody.leapfrog(stars, eps=1, dt=1, t_end=1, device=native)),
            ("snapshot", lambda: nbody.hermite(stars, eps=1, t_end=1, device=native)),
            ("stars", lambda: nbody.energies(stars, eps=1, device=native)),
            ("snapshot", lambda: nbody.write(tmp_path / "a.txt", stars)),
            ("stars", lambda: nbody.plots.projection(stars)),
            (r"states\[0\]", lambda: nbody.plots.movie([stars], tmp_path / "a.gif")),
        ):
            with pytest.raises(error, match=rf"^{argument}\.{message}"):
                call()
    assert not list(tmp_path.iterdir())


class Kiloparsec:
    """A stand-in for a unit: its product with an array has the attributes of a quantity."""

    __array_ufunc__ = None

    def __rmul__(self, values):
        return Length(values)


class Length:
    unit = "kpc"

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def to_value(self, unit):
        return self.values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)


@pytest.mark.parametrize("scheme", [nbody.leapfrog, nbody.hermite])
def test_a_unit_assigned_to_the_latest_state_is_an_error(scheme, native):
    more = {"dt": 1 / 16} if scheme is nbody.leapfrog else {}
    run = scheme(nbody.plummer(4), eps=0.1, t_end=0.25, device=native, **more)
    state = next(run)
    state.vel = state.vel * Kiloparsec()
    with pytest.raises(TypeError, match="^state.vel: has the unit kpc"):
        next(run)


@pytest.mark.parametrize(
    ("forces", "message"),
    [
        (lambda x, v: -x, "forces: expected a function that returns accelerations and potentials"),
        (lambda x, v: (-x[0], x[:, 0]), r"forces: acc: expected shape \(3, 3\), got \(3,\)"),
        (lambda x, v: (-x, x), r"forces: pot: expected shape \(3,\), got \(3, 3\)"),
        (lambda x, v: (-x * np.nan, x[:, 0]), r"forces: acc\[0, 0\] is not a number"),
        (lambda x, v: (-x * Kiloparsec(), x[:, 0]), "forces: acc: has the unit kpc"),
    ],
)
def test_unsuitable_results_of_the_users_forces_are_errors(forces, message):
    s = nbody.Snapshot(np.eye(3), np.zeros((3, 3)), 1.0)
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        next(nbody.leapfrog(s, eps=0, dt=0.1, t_end=1, forces=forces))


def test_snapshots_and_states_can_be_compared(native):
    """Their comparison raised an error of NumPy."""
    s = nbody.plummer(4)
    assert s == s and s != nbody.plummer(4) and s in [s]
    state = next(nbody.hermite(s, eps=0.1, t_end=1, device=native))
    assert state == state and state != s
    assert repr(state.run).startswith("<gdr.nbody.HermiteRun of 4 stars, t = 0, step 0, eps 0.1")


# -- block steps of the Hermite scheme ---------------------------------------------------------


# -- typical runs ------------------------------------------------------------------------------


def test_earlier_states_are_not_modified(native):
    s = nbody.plummer(8, seed=1)
    for steps in (
        nbody.leapfrog(s, eps=0.1, dt=0.1, t_end=0.5, device=native),
        nbody.hermite(s, eps=0.1, t_end=0.5, dt_max=0.1, eta=1.0, device=native),
    ):
        kept = list(steps)
        assert len(kept) == 6 and np.array_equal(kept[0].pos, s.pos)
        assert all((a.pos != b.pos).any() for a, b in zip(kept, kept[1:]))
        again = [energy.total for energy in map(nbody.energies, kept)]
        assert again[0] != again[-1]


@pytest.mark.parametrize("n", [49, 98, 103, 107])
def test_a_step_that_divides_the_interval_takes_no_extra_step(n):
    """Because of rounding n * (1 / n) is less than 1 for these numbers."""
    assert n * (1 / n) < 1
    s = nbody.Snapshot(np.eye(3), np.zeros((3, 3)), 1.0)
    steps = nbody.leapfrog(s, eps=0, dt=1 / n, t_end=1, forces=lambda x, v: (-x, -x[:, 0]))
    assert sum(1 for _ in steps) == n + 1


def test_a_restarted_run_is_bit_identical(native, tmp_path):
    s = nbody.merger(12, seed=1)
    whole = list(nbody.leapfrog(s, eps=0.1, dt=0.125, t_end=1, device=native))
    half = whole[4]
    nbody.write(tmp_path / "half.hdf5", half)
    for start in (half, nbody.read(tmp_path / "half.hdf5")):
        for state in nbody.leapfrog(start, eps=0.1, dt=0.125, t_end=1, device=native):
            pass
        assert state.time == 1 and np.array_equal(state.pos, whole[-1].pos)


def test_gravitational_constant_scales_time_and_energy(native):
    """With a quarter of G and half the velocities the same orbit takes twice the time."""
    s = nbody.plummer(6, seed=3)
    slow = nbody.Snapshot(s.pos, s.vel / 2, s.mass)
    for scheme, step in ((nbody.leapfrog, "dt"), (nbody.hermite, "dt_max")):
        more = {"eta": 100.0} if scheme is nbody.hermite else {}
        for one in scheme(s, eps=0.1, t_end=0.5, device=native, **{step: 1 / 16}, **more):
            pass
        for two in scheme(slow, eps=0.1, t_end=1, G=0.25, device=native, **{step: 1 / 8}, **more):
            pass
        assert np.allclose(one.pos, two.pos, rtol=0, atol=1e-7)
        assert nbody.energies(two).total == pytest.approx(nbody.energies(one).total / 4, rel=1e-6)


def test_energies_agree_with_a_double_precision_sum():
    s = nbody.read(DATA / "plummer_1024.hdf5")
    eps = read_cluster(1024).eps
    r2 = ((s.pos[None] - s.pos[:, None]) ** 2).sum(-1) + eps**2
    pairs = np.triu(s.mass[:, None] * s.mass / np.sqrt(r2), 1).sum()
    e = nbody.energies(s, eps=eps)
    assert e.potential == pytest.approx(-pairs, rel=1e-7)
    assert e.kinetic == pytest.approx(0.5 * (s.mass[:, None] * s.vel**2).sum(), rel=1e-14)
    assert nbody.energies(s, eps=eps, G=2).potential == pytest.approx(-2 * pairs, rel=1e-7)
    assert nbody.energies(s) == nbody.energies(s, eps=0)


def test_lagrangian_radii_enclose_the_mass_fractions(rng):
    s = nbody.Snapshot(rng.normal(size=(200, 3)), np.zeros((200, 3)), rng.uniform(0.1, 2, 200))
    for fraction, radius in zip((0.05, 0.5, 1.0), nbody.lagrangian_radii(s, (0.05, 0.5, 1.0))):
        r = np.linalg.norm(s.pos - nbody.centre_of_mass(s), axis=1)
        inside, below = s.mass[r <= radius].sum(), s.mass[r < radius].sum()
        assert below < fraction * s.mass.sum() * (1 + 1e-12) and inside >= 0.999999 * (
            fraction * s.mass.sum()
        )


def test_energy_errors_scale_with_the_order(native):
    """On an eccentric orbit half the step gives a quarter or a sixteenth of the error."""
    pos, vel = np.array([[1.0, 0, 0], [-1.0, 0, 0]]), np.array([[0, 0.4, 0], [0, -0.4, 0]])
    s = nbody.Snapshot(pos, vel, 1.0)

    def worst(states):
        history = nbody.History()
        for state in states:
            history.add(state)
        return abs(history.energy_error).max()

    for order, steps in (
        (2, lambda dt: nbody.leapfrog(s, eps=0.2, dt=dt, t_end=8, device=native)),
        (4, lambda dt: nbody.hermite(s, eps=0.2, dt_max=dt, eta=1e3, t_end=8, device=native)),
    ):
        assert worst(steps(1 / 32)) / worst(steps(1 / 64)) == pytest.approx(2**order, rel=0.25)


def test_the_progress_bar_shows_the_time_and_closes(native, capsys):
    pytest.importorskip("tqdm")
    s = nbody.plummer(8, seed=1)
    s.time = 2.0

    def run(**more):
        return nbody.leapfrog(s, eps=0.1, dt=2**-8, t_end=3, device=native, progress=True, **more)

    outer = 0
    for state in run():
        outer += 1
        if state.step == 100:  # a nested run that ends early
            for inner in run():
                if inner.step == 10:
                    break
    shown = capsys.readouterr().err
    assert outer == 257 and "t = 3 of 3" in shown and "100%" in shown
    # The bar is updated less often than once per step.
    assert shown.count("\r") < 200

    def fails(pos, vel):
        raise ArithmeticError("the law of this run")

    with pytest.raises(ArithmeticError, match="the law of this run"):
        list(run(forces=fails))
    assert len(list(nbody.leapfrog(s, eps=1, dt=1, t_end=2, device=native, progress=True))) == 1


def test_a_vanishing_step_raises_floating_point_error(native):
    vel = np.array([[0, 1.0, 0], [0, -1.0, 0]])
    s = nbody.Snapshot(np.array([[1e-9, 0, 0], [-1e-9, 0, 0]]), vel, 1.0, time=1e6)
    with pytest.raises(FloatingPointError, match="use a larger eps") as raised:
        for _ in nbody.hermite(s, eps=0, t_end=1e6 + 1, device=native):
            pass
    assert isinstance(raised.value, gdr.errors.StepTooShort)


def test_arguments_other_than_snapshots_raise_type_error(tmp_path):
    with pytest.raises(TypeError, match="snapshot: expected a Snapshot or a State"):
        nbody.leapfrog(np.zeros((3, 3)), eps=1, dt=1, t_end=1)
    with pytest.raises(TypeError, match="snapshot: expected a Snapshot or a State"):
        nbody.write(tmp_path / "a.txt", [1, 2])
