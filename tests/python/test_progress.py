"""Progress bars of sums that take some seconds."""

import io
import time

import numpy as np
import pytest

import gdr
from gdr import _progress


LAW = "kernel law; VARI x; VARJ xj; VARF s; d = x - xj; s += 1/(1 + d*d);"


class Bars:
    """Stands for Bar: the shares that the bars showed."""

    def __init__(self, monkeypatch):
        self.made = []
        bars = self

        class Bar:
            def __init__(self, description, seconds):
                self.description, self.seconds, self.shares, self.closed = (
                    description,
                    seconds,
                    [],
                    0,
                )
                bars.made.append(self)

            def __call__(self, share):
                self.shares.append(share)

            def close(self):
                self.closed += 1

        monkeypatch.setattr(_progress, "Bar", Bar)


@pytest.fixture()
def bars(monkeypatch):
    return Bars(monkeypatch)


@pytest.fixture(scope="module")
def native():
    """A device with one thread, so that sums take long on hosts with many cores, too."""
    with gdr.open("native", threads=1) as device:
        yield device


def particles(n):
    random = np.random.default_rng(1)
    return random.normal(size=(n, 3)), np.full(n, 1 / n)


def check(bars):
    (bar,) = bars.made
    assert bar.seconds == _progress.FIRST_SECONDS and bar.closed == 1
    assert all(0 < share <= 1 for share in bar.shares)
    assert bar.shares == sorted(bar.shares) and bar.shares[0] < 1


def test_direct_sums_of_gravity_show_their_progress(native, bars):
    pos, mass = particles(40_000)
    gdr.gravity(pos, mass, 0.01, device=native)
    check(bars)
    assert bars.made[0].description == "1.6e+09 pairs"


def test_a_kernel_that_is_called_shows_its_progress(native, bars):
    kernel = gdr.compile(LAW)
    x = np.random.default_rng(2).random(60_000)
    kernel(targets={"x": x}, sources={"xj": x}, device=native)
    check(bars)


def test_sets_show_their_progress(native, bars):
    kernel = gdr.compile(LAW)
    x = np.random.default_rng(2).random(60_000)
    offsets = np.arange(0, 60_001, 1500)
    lists = gdr.SourceLists({"xj": x}, np.arange(41) * 60_000, np.tile(np.arange(60_000), 40))
    native.set_job(kernel).run({"x": x}, offsets, lists)
    check(bars)


def test_short_sums_have_no_bar(native, bars):
    pos, mass = particles(100)
    gdr.gravity(pos, mass, 0.01, device=native)
    assert bars.made == []


def test_an_exception_of_a_bar_cancels_the_sum_and_the_device_can_be_used(native, monkeypatch):
    pos, mass = particles(40_000)

    class Failing:
        def __call__(self, share):
            raise KeyboardInterrupt

        def close(self):
            pass

    monkeypatch.setattr(_progress, "Bar", lambda *arguments: Failing())
    with pytest.raises(KeyboardInterrupt):
        gdr.gravity(pos, mass, 0.01, device=native)
    assert np.isfinite(gdr.gravity(pos[:100], mass[:100], 0.01, device=native).acc).all()


def test_a_call_of_many_short_sums_has_no_bar_that_stays(native, bars):
    pos, mass = particles(1024)
    stars = gdr.nbody.Snapshot(pos, np.zeros_like(pos), mass)
    for _ in gdr.nbody.hermite(stars, t_end=1 / 16, eps=0.05, device=native):
        pass
    # Each bar belongs to one sum, and is closed with it.
    assert all(bar.closed == 1 and bar.shares == sorted(bar.shares) for bar in bars.made)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, share=0.25):
    """What a bar that is due writes on a terminal without tqdm, before and with its end."""
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    bar = _progress.Bar("1e+10 pairs", 0.0)
    time.sleep(0.01)
    bar(share)
    text = out.getvalue()
    bar.close()
    return text, out.getvalue()


def test_a_terminal_without_tqdm_shows_a_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm.auto", None)
    text, all_of_it = shown(monkeypatch)
    assert text.startswith("\r1e+10 pairs:  25% [") and text.count("s left]") == 1
    assert all_of_it.endswith("\r\x1b[K")


def test_quiet_and_output_that_is_no_terminal_show_no_bar(monkeypatch):
    assert gdr.quiet() is False
    try:
        assert shown(monkeypatch) == ("", "")
    finally:
        assert gdr.quiet(False) is True
    out = io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    bar = _progress.Bar("x", 0.0)
    bar(0.5)
    bar.close()
    assert out.getvalue() == ""


def test_the_bar_of_more_than_3e5_particles_points_to_trees():
    assert "tree" not in _progress.run_bar(1e10)._description
    assert "accuracy=1e-3" in _progress.run_bar(1e11)._description
