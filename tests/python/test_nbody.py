"""Stellar systems: snapshots, models, integrators, conserved quantities, plots."""

import dataclasses
import gc
import re
import warnings

import numpy as np
import pytest
from conftest import DATA, ROOT, error, read_cluster

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
        ("1 0 0 0 0 0\n", r"bad.txt:1: expected seven numbers"),
        ("# nothing\n", "no particles"),
        ("1 0 0 0 0 0 x\n", "bad.txt:1"),
        ("1 0 0 0 0 0 0\n1 0 nan 0 0 0 0\n", "particle 1"),
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
    with pytest.raises(gdr.FileError, match="b.hdf5"):
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


def test_stars_without_mass_are_shown_about_their_mean_position():
    pytest.importorskip("matplotlib")
    s = nbody.Snapshot([[1.0, 0, 0], [3.0, 0, 0]], np.zeros((2, 3)), 0.0)
    assert nbody.centre_of_mass(s).tolist() == [2.0, 0.0, 0.0]
    assert "<td>2, 0, 0</td>" in s._repr_html_()
    ax = nbody.plots.projection(s)
    assert ax.collections[0].get_offsets().tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def test_a_picture_of_a_single_star_has_a_width():
    pytest.importorskip("matplotlib")
    ax = nbody.plots.projection(nbody.Snapshot([[5.0, 0, 0]], [[0.0, 0, 0]], 1.0))
    assert ax.get_xlim() == (-1.0, 1.0)


def test_snapshots_and_states_can_be_compared(native):
    """Their comparison raised an error of NumPy."""
    s = nbody.plummer(4)
    assert s == s and s != nbody.plummer(4) and s in [s]
    state = next(nbody.hermite(s, eps=0.1, t_end=1, device=native))
    assert state == state and state != s
    assert repr(state.run).startswith("<gdr.nbody.HermiteRun of 4 stars, t = 0, step 0, eps 0.1")


def test_plots_show_their_data(native):
    plt = pytest.importorskip("matplotlib.pyplot")
    history = nbody.History()
    native.reset_statistics()
    for state in nbody.leapfrog(nbody.merger(64), eps=0.1, dt=0.1, t_end=0.5, device=native):
        history.add(state)
    drawn = nbody.plots.projection(state)
    assert sum(len(c.get_offsets()) for c in drawn.collections) == 64
    ax = nbody.plots.energy_error(history)
    assert np.array_equal(ax.lines[0].get_ydata(), history.energy_error)
    ax = nbody.plots.lagrangian_radii(history)
    assert len(ax.lines) == 3
    s = native.statistics
    ax = nbody.plots.roofline(s)
    x, y = ax.lines[1].get_xydata()[0]
    assert x == pytest.approx(s.flops / (s.bytes_to_board + s.bytes_from_board))
    assert y == pytest.approx(s.predicted_gflops)
    # A predicted rate must not exceed the roofline.
    assert y <= min(2048, 2.5 * x) * 1.7
    # The roofline of a device follows its geometry: two boards of one chip.
    with gdr.open(boards=2, chips=1) as device:
        gdr.gravity(state.pos, state.mass, 0.1, device=device)
        ax = nbody.plots.roofline({"small": device})
    assert ax.lines[0].get_ydata().max() == pytest.approx(1024)
    assert any("2 links: 5 GB/s" in t.get_text() for t in ax.texts)
    ax = nbody.plots.projection(state, labels={1: "first", 2: "second"}, unit="kpc")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["first", "second"]
    assert ax.get_xlabel() == "x [kpc]"
    with gdr.open() as device:
        device.record_timeline()
        gdr.gravity(state.pos, state.mass, 0.1, device=device)
        ax = nbody.plots.timeline(device)
        measured = nbody.plots.timeline(device, measured=True)
        predicted = device.statistics.predicted_seconds
    assert [t.get_text() for t in ax.get_yticklabels()][:2] == ["link write", "chip 0"]
    assert "predicted" in ax.get_xlabel()
    assert [t.get_text() for t in measured.get_yticklabels()] == ["host", "board"]
    assert "measured" in measured.get_xlabel()
    # The modelled axis ends with the modelled time, whatever the host took.
    scale = {"s": 1.0, "ms": 1e3, "µs": 1e6}[ax.get_xlabel().split("[")[1].rstrip("]")]
    ends = [p.vertices[:, 0].max() for c in ax.collections for p in c.get_paths()]
    assert max(ends) == pytest.approx(predicted * scale, rel=1e-9)
    plt.close("all")


def test_labels_of_plots_cover_neither_axes_nor_data(native):
    """The label of a slow run was once printed over the axis."""
    plt = pytest.importorskip("matplotlib.pyplot")
    native.reset_statistics()
    gdr.gravity(nbody.plummer(16).pos, 1.0, 0.1, device=native)
    ax = nbody.plots.roofline(native)
    ax.figure.canvas.draw()
    box = ax.get_window_extent()
    for text in ax.texts:
        assert text.get_window_extent().y0 > box.y0, text.get_text()
    drawn = nbody.plots.projection(nbody.merger(64), labels={1: "first", 2: "second"})
    drawn.figure.canvas.draw()
    legend = drawn.get_legend().get_window_extent()
    assert legend.y0 >= drawn.get_window_extent().y1 - 1
    assert not legend.overlaps(drawn.title.get_window_extent()) or not drawn.title.get_text()
    plt.close("all")


def test_a_film_has_a_frame_for_each_state(native, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    path = tmp_path / "film.gif"
    run = nbody.leapfrog(nbody.merger(32), eps=0.1, dt=0.25, t_end=1, device=native)
    names = {1: "first", 2: "second"}
    assert nbody.plots.movie(run, path, labels=names, unit="kpc", fps=10, dpi=50) == path
    assert sorted(p.name for p in tmp_path.iterdir()) == ["film.gif"]
    with pillow.open(path) as film:
        assert film.n_frames == 5 and film.info["duration"] == 100
        film.seek(0)
        first = np.asarray(film.convert("RGB"), int)
        film.seek(4)
        assert (first != np.asarray(film.convert("RGB"), int)).any()


def test_errors_of_films_name_the_argument(tmp_path, monkeypatch):
    animation = pytest.importorskip("matplotlib.animation")
    stars = nbody.merger(8)
    with pytest.raises(ValueError, match="path: expected a name that ends with .gif or .mp4"):
        nbody.plots.movie([stars], tmp_path / "film.avi")
    with pytest.raises(ValueError, match="states: there are none"):
        nbody.plots.movie([], tmp_path / "film.gif")
    with pytest.raises(ValueError, match="states: state 1 has 4 stars, the first 8"):
        nbody.plots.movie([stars, nbody.plummer(4)], tmp_path / "film.gif")
    with pytest.raises(ValueError, match="plane"):
        nbody.plots.movie([stars], tmp_path / "film.gif", plane="xx")
    monkeypatch.setattr(animation.FFMpegWriter, "isAvailable", classmethod(lambda c: False))
    with pytest.raises(FileNotFoundError, match="apt-get install ffmpeg"):
        nbody.plots.movie([stars], tmp_path / "film.mp4")
    assert not list(tmp_path.iterdir())


def test_a_film_that_cannot_be_written_consumes_no_state(tmp_path, native):
    """It failed only after the integration, with a warning of matplotlib."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    run = nbody.leapfrog(nbody.plummer(4), eps=0.1, dt=0.1, t_end=1, device=native)
    (tmp_path / "folder.gif").mkdir()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for path in (tmp_path / "none" / "film.gif", tmp_path / "folder.gif"):
            with pytest.raises(gdr.FileError, match=f"{path.name}: cannot be written"):
                nbody.plots.movie(run, path)
        gc.collect()
    assert next(run).step == 0 and not found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fps": 0}, "fps: expected at least 0.00166667, got 0"),
        ({"fps": 1000}, "fps: expected at most 50, got 1000"),
        ({"dpi": 1e6}, "dpi: expected at most 2000"),
        ({"dpi": 0.5}, "dpi: expected at least 10"),
        ({"size": -1}, "size: expected a number above 0"),
        ({"extent": 0}, "extent: expected a number above 0"),
        ({"labels": {9: "x"}}, "labels: no star has the type 9; the types are 1, 2"),
        ({"states": nbody.plummer(3)}, "states: expected several states, got a Snapshot"),
        ({"states": [3]}, r"states\[0\]: expected a Snapshot or a State, got int"),
    ],
)
def test_arguments_of_films_out_of_range_are_named(tmp_path, arguments, message):
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        nbody.plots.movie(
            **{"states": [nbody.merger(8)], "path": tmp_path / "film.gif", **arguments}
        )
    assert not list(tmp_path.iterdir())


def test_the_ending_of_a_film_may_have_capital_letters(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("PIL")
    path = nbody.plots.movie([nbody.merger(8)], tmp_path / "film.GIF", dpi=10, fps=50)
    assert path.read_bytes()[:4] == b"GIF8"
    assert [p.name for p in tmp_path.iterdir()] == ["film.GIF"]


def test_labels_of_a_picture_are_those_of_types_that_stars_have():
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="labels: no star has the type 9; the types are 1, 2"):
        nbody.plots.projection(nbody.merger(8), labels={1: "first", 9: "x"})


def test_a_timeline_shows_one_board_of_one_rank():
    pytest.importorskip("matplotlib")

    def event(begin, end, board=0, rank=0, part="chip 0"):
        return gdr.TimelineEvent(board, part, "run", begin, end, rank=rank)

    def ends(ax):
        return sorted(p.vertices[:, 0].max() for c in ax.collections for p in c.get_paths())

    events = [event(0, 1), event(1, 3, rank=1), event(2, 5, board=1), event(0, 6, rank=1)]
    ax = nbody.plots.timeline(events)
    assert ends(ax) == [1] and ax.get_title() == "Link and chips: board 0 of rank 0"
    assert ends(nbody.plots.timeline(events, rank=1)) == [3, 6]
    ax = nbody.plots.timeline([events[0], events[2]], board=1)
    assert ends(ax) == [5] and ax.get_title() == "Link and chips: board 1"
    assert nbody.plots.timeline(events[:1]).get_title() == "Link and chips"
    with pytest.raises(ValueError, match="none of board 2 of rank 0, predicted; there are those of "
                       "board 0 of rank 0, predicted; board 1 of rank 0, predicted; board 0 of"):
        nbody.plots.timeline(events, board=2)
    with pytest.raises(ValueError, match="none of board 0 of rank 0, measured; there are those of"):
        nbody.plots.timeline(events, measured=True)
    ax = nbody.plots.timeline([event(0, 1), event(1, 2, part="chip"), event(2, 4, part="DMA")])
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["link write", "chip 0", "link read", "chip", "DMA"] and ends(ax) == [1, 2, 4]


def test_a_film_in_mp4_is_written_by_ffmpeg(tmp_path):
    animation = pytest.importorskip("matplotlib.animation")
    if not animation.FFMpegWriter.isAvailable():
        pytest.skip("the program ffmpeg is not installed")
    path = nbody.plots.movie([nbody.merger(8), nbody.merger(8, seed=1)], tmp_path / "film.mp4")
    assert b"ftyp" in path.read_bytes()[:16]


def test_the_clusters_of_the_demo_in_the_guide_merge(native):
    """The distance of their centres decreases to less than an eighth."""
    from gdr import demo

    guide = (ROOT / "docs" / "guides" / "python.md").read_text()
    options = re.search(r"^python -m gdr demo (.*)$", guide, re.M)[1]
    stars = int(re.search(r"--stars (\d+)", options)[1])
    assert "--t-end" not in options
    frames = demo._run(native, stars, 14.0, False)[1]

    def apart(s):
        return np.linalg.norm(np.subtract(*(np.median(s.pos[s.types == k], 0) for k in (1, 2))))

    assert apart(frames[0]) > 2.5 and apart(frames[-1]) < apart(frames[0]) / 8
    # As do those of the film, in the example of the guide.
    names = {"nbody": nbody}
    for line in re.findall(r"^(?:clusters|run) = nbody.*$", guide, re.M):
        exec(line, names)
    last = list(names["run"])[-1]
    assert apart(last) < apart(names["clusters"]) / 8


def test_the_demo_writes_a_picture_and_an_animation(tmp_path):
    pytest.importorskip("PIL")
    from gdr.demo import demo

    paths = list(demo(stars=64, t_end=0.25, out=tmp_path, progress=False))
    assert [p.name for p in paths] == ["merger.png", "merger.gif"]
    assert paths[0].read_bytes()[:4] == b"\x89PNG" and paths[1].read_bytes()[:4] == b"GIF8"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stars": 0}, "stars: expected at least 2, got 0"),
        ({"stars": 2.5}, "stars: expected an integer"),
        ({"t_end": 0}, "t_end: expected a number above 0"),
    ],
)
def test_wrong_arguments_of_the_demo_are_named_before_anything_is_written(
    tmp_path, arguments, message
):
    pytest.importorskip("PIL")
    from gdr.demo import demo

    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        next(demo(out=tmp_path / "demo", progress=False, **arguments))
    assert not list(tmp_path.iterdir())


# -- block steps of the Hermite scheme ---------------------------------------------------------


def test_block_steps_conserve_energy(native):
    s = nbody.read(DATA / "plummer_1024.hdf5")
    history = nbody.History()
    for state in nbody.hermite(s, eps=1 / 64, t_end=0.25, device=native):
        history.add(state)
    assert history.time == [0, 0.0625, 0.125, 0.1875, 0.25]
    assert abs(history.energy_error).max() < 1e-6
    blocks = state.blocks
    assert 10 < blocks.mean_block < 500
    assert blocks.mean_block == blocks.particle_steps / blocks.block_steps
    assert blocks.smallest_step < blocks.largest_step <= 1 / 16 and blocks.limited_steps == 0


def test_states_have_the_forces_at_their_positions(native):
    s = nbody.plummer(50, seed=2)
    for state in nbody.hermite(s, eps=0.1, t_end=0.3, G=2.0, device=native):
        acc, pot = gdr.gravity(state.pos, s.mass * 2, 0.1, device=native)
        assert error(state.acc, acc) < 1e-7 and error(state.pot, pot) < 1e-7
    assert state.time == 0.3 and state.step == 5


def test_the_steps_follow_eta_and_dt_min(native):
    s = nbody.plummer(50, seed=2)

    def last(**more):
        return list(nbody.hermite(s, eps=0.01, t_end=0.25, device=native, **more))[-1].blocks

    usual = last()
    assert last(eta=0.005).particle_steps > 1.5 * usual.particle_steps
    assert last(eta_start=1e-6).smallest_step < usual.smallest_step
    limited = last(dt_min=1 / 64)
    assert limited.smallest_step == 1 / 64 and limited.limited_steps > 0


def test_changes_of_the_latest_state_change_the_run(native):
    s = nbody.plummer(20, seed=1)

    def run(change):
        for state in nbody.hermite(s, eps=0.1, t_end=0.25, device=native):
            if state.step == 2:
                change(state)
        return state

    def kick(state):
        state.vel[0] += 10.0

    moved, same = run(kick), run(lambda state: None)
    assert np.linalg.norm(moved.pos[0] - same.pos[0]) > 0.5


def same_stars(a, b):
    """Whether two states, and all that determines how their runs go on, have the same bits."""
    return all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in ("pos", "vel", "acc", "pot")
    ) and all(np.array_equal(x, y) for x, y in zip(a.run.arrays, b.run.arrays))


HERMITE = {"eps": 0.01, "G": 1.5, "eta": 0.01, "dt_min": 2.0**-20}


@pytest.mark.parametrize("engine", ["native", "vector"])
@pytest.mark.parametrize("name", ["half.hdf5", "half.txt"])
def test_a_run_with_block_steps_continues_with_the_same_bits(engine, name, tmp_path):
    s = nbody.merger(24, seed=1)
    s.time = 3.0
    with gdr.open(engine=engine) as device:
        whole = list(nbody.hermite(s, t_end=3.25, device=device, **HERMITE))
        assert [state.step for state in whole] == [0, 1, 2, 3, 4]
        half = list(nbody.hermite(s, t_end=3.125, device=device, **HERMITE))[-1]
        nbody.write(tmp_path / name, half)
        read = nbody.read(tmp_path / name)
        assert read.run.start_time == 3 and read.run.cycle == 2 and read.run.now == 0
        for start in (half, half.snapshot(), read):
            for parameters in ({}, HERMITE):
                rest = list(nbody.hermite(start, t_end=3.25, device=device, **parameters))
                assert [state.step for state in rest] == [2, 3, 4]
                assert [state.time for state in rest] == [state.time for state in whole[2:]]
                assert all(same_stars(a, b) for a, b in zip(rest, whole[2:]))
                assert rest[-1].run.start_energy == whole[-1].run.start_energy
        # The initial conditions alone give other steps, and so other bits.
        fresh = nbody.Snapshot(half.pos, half.vel, half.mass, half.time)
        new = list(nbody.hermite(fresh, t_end=3.25, device=device, **HERMITE))[-1]
        assert new.step == 2 and not np.array_equal(new.pos, whole[-1].pos)


@pytest.mark.parametrize(
    ("dt_max", "middle", "end"), [(0.07, 0.21, 0.91), (0.07, 0.63, 0.91), (0.3, 0.9, 1.8)]
)
def test_intervals_that_are_no_binary_fractions_continue_on_the_same_times(
    native, tmp_path, dt_max, middle, end
):
    """The sum of the intervals is less or more than the time of the state by a rounding error."""
    s = nbody.plummer(20, seed=3)
    run = {"eps": 0.1, "dt_max": dt_max, "device": native}
    whole = list(nbody.hermite(s, t_end=end, **run))
    part = list(nbody.hermite(s, t_end=middle, **run))[-1]
    assert part.time == middle != part.run.time
    nbody.write(tmp_path / "a.txt", part)
    for start in (part, nbody.read(tmp_path / "a.txt")):
        assert len(list(nbody.hermite(start, t_end=middle, device=native))) == 1
        rest = list(nbody.hermite(start, t_end=end, device=native))
        assert [state.step for state in rest] == list(range(part.step, len(whole)))
        assert same_stars(rest[-1], whole[-1]) and rest[-1].time == whole[-1].time == end


def test_other_parameters_or_changed_stars_begin_a_new_run(native, tmp_path):
    s = nbody.plummer(20, seed=1)
    half = list(nbody.hermite(s, eps=0.1, t_end=0.125, device=native))[-1]

    def first(start, **parameters):
        return next(nbody.hermite(start, device=native, **{"t_end": 0.25, **parameters}))

    assert first(half).step == first(half, dt_max=1 / 16, eta=0.02).step == 2
    changes = ({"eps": 0.2}, {"eta": 0.01}, {"eta_start": 0.1}, {"G": 2.0}, {"dt_max": 1 / 32})
    for change in (*changes, {"dt_min": 1e-9}, {"t_end": 0.26}):
        new = first(half, **change)
        assert new.step == 0 and new.run.start_time == 0.125 and new.run.cycle == 0
    assert first(half, eta=0.01).run.eta_start == 0.005
    for field in ("pos", "vel", "mass"):
        changed = half.snapshot()
        getattr(changed, field)[0] *= 2
        assert first(changed).step == 0
        nbody.write(tmp_path / "a.hdf5", changed)  # the file has no state of a run either
        assert nbody.read(tmp_path / "a.hdf5").run is None
    changed = half.snapshot()
    changed.time = 0.0
    assert first(changed).step == 0
    with pytest.raises(TypeError, match="eps: required for a snapshot that has no state of a run"):
        nbody.hermite(s, t_end=1.0, device=native)
    with pytest.raises(ValueError, match="t_end: 0.1 is before the state's time, 0.125"):
        nbody.hermite(half, t_end=0.1, device=native)


@pytest.mark.parametrize(
    ("name", "value"),
    [("G", -1.0), ("eta", 0.0), ("eps", -0.1), ("eta_start", -1.0), ("dt_min", np.nan)],
)
def test_invalid_parameters_of_a_run_are_named(native, name, value):
    state = next(nbody.hermite(nbody.plummer(4), eps=0.1, t_end=1, device=native))
    state.run = dataclasses.replace(state.run, **{name: value})
    with pytest.raises(ValueError, match=f"^snapshot.run.{name}: expected"):
        nbody.hermite(state, t_end=1, device=native)


def test_a_run_with_moved_stars_continues_with_the_same_bits(native):
    s = nbody.plummer(20, seed=1)

    def states(start, t_end):
        for state in nbody.hermite(start, eps=0.1, t_end=t_end, device=native):
            yield state
            if state.step == 1:
                state.vel[0] += 1.0

    whole = list(states(s, 0.25))
    rest = list(states(list(states(s, 0.125))[-1], 0.25))
    assert rest[-1].step == 4 and same_stars(rest[-1], whole[-1])
    energies = [state.run.start_energy for state in whole]
    assert energies[0] == energies[1] == pytest.approx(nbody.energies(whole[0]).total, rel=1e-12)
    assert energies[2] == energies[4] and energies[2] - energies[1] > 0.02


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
    with pytest.raises(TypeError, match="eps: required for a snapshot"):
        nbody.energies(s)


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
