"""The search of the kernel compiler: when it takes place, and its progress bar."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

import gdr
from gdr import _search

GRAVITY = """
kernel law; CONST eps2; VARI x, y, z; VARJ xj, yj, zj, m; VARF ax, ay, az, pot;
dx = xj - x; dy = yj - y; dz = zj - z;
ri = rsqrt(dx*dx + dy*dy + dz*dz + eps2);
mr = m*ri; f = mr*ri*ri; ax += f*dx; ay += f*dy; az += f*dz; pot -= mr;
"""


class FakeBars:
    """Stands for tqdm.auto: the bars that were made, and what they were told."""

    def __init__(self, monkeypatch):
        self.made = []
        bars = self

        class Bar:
            def __init__(self, total, **options):
                self.total, self.options, self.n, self.shown, self.closed = total, options, 0, [], 0
                bars.made.append(self)

            def update(self, more):
                self.n += more
                self.shown.append(self.n)

            def close(self):
                self.closed += 1

        module = types.ModuleType("tqdm.auto")
        module.tqdm = Bar
        monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
        monkeypatch.setitem(sys.modules, "tqdm.auto", module)


@pytest.fixture(autouse=True)
def without_cache(monkeypatch):
    """Every kernel is searched for, also one of an earlier test."""
    monkeypatch.setenv("GDR_CACHE_DIR", "none")


@pytest.fixture()
def bars(monkeypatch):
    monkeypatch.setattr(_search, "_FIRST_SECONDS", 0.0)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    return FakeBars(monkeypatch)


def run(kernel, device, n=30):
    rng = np.random.default_rng(1)
    targets = {name: rng.random(20) for name in ("x", "y", "z")}
    sources = {name: rng.random(n) for name in ("xj", "yj", "zj", "m")}
    return kernel(targets=targets, sources=sources, eps2=0.01, device=device)


def test_the_search_shows_a_bar_once(bars):
    kernel = gdr.compile(GRAVITY, effort=1)
    assert not bars.made
    assert kernel.flops > 0 and kernel.variables and "law" in repr(kernel)
    assert not bars.made
    clocks = kernel.clocks
    assert len(bars.made) == 1
    bar = bars.made[0]
    assert bar.total == 1.0 and bar.closed == 1 and bar.shown
    assert all(0 <= a <= b <= 1 for a, b in zip(bar.shown, bar.shown[1:]))
    assert bar.shown[-1] > 0
    # The result is kept.
    assert kernel.clocks == clocks and kernel.object and kernel.assembly
    run(kernel, gdr.open(engine="vector", threads=1))
    assert len(bars.made) == 1


def test_native_engines_do_not_search(bars):
    exact = run(gdr.compile(GRAVITY, effort=0), gdr.open(engine="vector", threads=1))
    bars.made.clear()
    with gdr.open(engine="native", threads=1) as device:
        kernel = gdr.compile(GRAVITY)
        job = device.job(kernel)
        assert job.kernel is kernel
        native = run(kernel, device)
        assert not bars.made
        clocks = device.statistics.chip_clocks
    assert clocks > 0
    for name, values in exact.items():
        np.testing.assert_allclose(native[name], values, rtol=1e-6, atol=1e-5)


def test_a_scheduled_kernel_has_the_clocks_of_the_chip_on_every_engine():
    kernel = gdr.compile(GRAVITY, effort=0)
    clocks = []
    for engine, law in (("vector", kernel), ("native", kernel.scheduled()), ("native", kernel)):
        with gdr.open(engine=engine, threads=1, partition="targets") as device:
            run(law, device, n=1000)
            clocks.append(device.statistics.chip_clocks)
    assert clocks[0] == clocks[1] < clocks[2]


def test_a_job_of_an_exact_engine_searches(bars):
    with gdr.open(engine="vector", threads=1) as device:
        device.job(gdr.compile(GRAVITY, effort=1))
    assert len(bars.made) == 1 and bars.made[0].closed == 1


@pytest.mark.parametrize("reason", ["quick", "no terminal", "NO_COLOR", "dumb", "no tqdm"])
def test_no_bar(bars, monkeypatch, reason):
    if reason == "quick":
        monkeypatch.setattr(_search, "_FIRST_SECONDS", 60.0)
    elif reason == "no terminal":
        monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    elif reason == "NO_COLOR":
        monkeypatch.setenv("NO_COLOR", "1")
    elif reason == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert gdr.compile(GRAVITY, effort=1).clocks > 0
    assert not bars.made


def test_an_error_of_the_bar_ends_the_search(bars, monkeypatch):
    class Broken:
        def __init__(self, **options):
            raise ValueError("no room")

    monkeypatch.setattr(sys.modules["tqdm.auto"], "tqdm", Broken)
    kernel = gdr.compile(GRAVITY, effort=2)
    with pytest.raises(ValueError, match="no room"):
        assert kernel.clocks
    monkeypatch.setattr(_search, "_FIRST_SECONDS", 60.0)
    assert kernel.clocks > 0


def test_a_notebook_gets_a_bar_without_a_terminal(bars, monkeypatch):
    notebook = types.ModuleType("IPython")
    notebook.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    assert gdr.compile(GRAVITY, effort=1).clocks > 0
    assert len(bars.made) == 1
