"""Pictures and films of stellar systems, and the demo."""

import gc
import re
import warnings

import numpy as np
import pytest
from conftest import ROOT

import gdr
from gdr import nbody


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
