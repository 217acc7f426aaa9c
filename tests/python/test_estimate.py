"""Estimates of the time of a call, compared with the call."""

import time

import numpy as np
import pytest

import gdr

PARTICLES = 8000


@pytest.fixture(scope="module")
def native():
    """A device with one thread, whose times depend less on other programs."""
    with gdr.open("native", threads=1) as device:
        yield device


def within(factor, estimate, call):
    """Whether a call takes an estimated time, within a factor. Other programs lengthen an estimate,
    or the call, or both: the shortest of some estimates must not be above the longest of some calls,
    and the shortest processor time, which is that on an idle host, not above the estimate. Each
    estimate has another value of a param, and is measured anew. A measurement takes milliseconds,
    and on a host with many programs several in a row can be interrupted."""
    shortest, longest, found = np.inf, 0.0, []
    for attempt in range(8):
        found.append(estimate(0.01 * (1 + attempt)).seconds)
        begin = time.perf_counter(), time.process_time()
        call()
        longest = max(longest, time.perf_counter() - begin[0])
        shortest = min(shortest, time.process_time() - begin[1])
        if attempt > 0 and min(found) / factor < longest and shortest < factor * min(found):
            return True
    return False


def cluster(n):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)), np.full(n, 1 / n)


def test_direct_sums_take_the_estimated_time(native):
    pos, mass = cluster(PARTICLES)
    assert within(
        2,
        lambda eps: gdr.estimate("gravity", PARTICLES, eps=eps, device=native),
        lambda: gdr.gravity(pos, mass, 0.01, device=native),
    )


def test_few_targets_take_the_estimated_time(native):
    x = np.random.default_rng(2).random(300_000)
    law = gdr.compile("VARI x; VARJ y; CONST k; VARF f; f += 1/(k + (x - y)^2);")
    assert within(
        3,
        lambda k: gdr.estimate(law, 10, len(x), k=k, device=native),
        lambda: law(targets={"x": x[:10]}, sources={"y": x}, k=1.0, device=native),
    )


@pytest.mark.parametrize("targets", [100, 4096])
def test_sums_on_the_exact_engine_take_the_estimated_time(targets):
    pos, mass = cluster(8192)
    with gdr.open("exact", threads=1) as device:
        assert within(
            3,
            lambda eps: gdr.estimate("gravity", targets, 8192, eps=eps, device=device),
            lambda: gdr.gravity(pos, mass, 0.01, targets=pos[:targets], device=device),
        )


def test_a_tree_is_chosen_where_it_is_faster(native):
    direct = gdr.estimate("gravity", 1_000_000, device=native)
    tree = gdr.estimate("gravity", 1_000_000, accuracy=1e-3, device=native)
    assert tree.tree and not direct.tree
    assert tree.seconds < direct.seconds / 5
    pos, mass = cluster(60_000)
    assert within(
        3,
        lambda eps: gdr.estimate("gravity", 60_000, accuracy=1e-3, eps=eps, device=native),
        lambda: gdr.gravity(pos, mass, 0.01, accuracy=1e-3, device=native),
    )
    assert not gdr.estimate("gravity", 500, accuracy=1e-3, device=native).tree


def test_trees_of_many_particles_take_the_estimated_time(native):
    n, rng = 150_000, np.random.default_rng(3)
    direction = rng.normal(size=(n, 3))
    radius = 1 / np.sqrt(rng.uniform(0.001, 0.999, n) ** (-2 / 3) - 1)  # of a Plummer sphere
    pos = direction * (radius / np.linalg.norm(direction, axis=1))[:, None]
    mass = np.full(n, 1 / n)
    assert within(
        2,
        lambda eps: gdr.estimate("gravity", n, accuracy=1e-3, eps=eps, device=native),
        lambda: gdr.gravity(pos, mass, 0.01, accuracy=1e-3, device=native),
    )


def test_a_kernel_with_charges_has_an_estimate_with_a_tree(native):
    law = gdr.compile(
        "VARI vec3 xi as pos; VARJ vec3 xj as pos; VARJ qj; CONST kappa; VARF u;"
        "r = norm(xj - xi); skip if (r == 0); u += qj*exp(-kappa*r)/r;"
    )
    found = gdr.estimate(law, 1_000_000, accuracy=1e-2, kappa=0.5, device=native)
    assert found.tree and found.seconds < gdr.estimate(law, 1_000_000, device=native).seconds
    with pytest.raises(gdr.UnsupportedError, match="charge"):
        gdr.estimate("lennard_jones", 1000, accuracy=1e-3, rc=2.5, device=native)


def test_further_estimates_measure_nothing(native):
    gdr.estimate("coulomb", 50_000, device=native)
    before = native.statistics.interactions
    again = gdr.estimate("coulomb", 70_000, device=native)
    assert native.statistics.interactions == before
    assert again.pairs == 4.9e9
    assert again.low <= again.seconds <= again.high


@pytest.mark.parametrize("name", gdr.builtin_names())
def test_every_kernel_of_the_library_has_an_estimate(name, native):
    found = gdr.estimate(name, 100, 50, device=native)
    assert 0 < found.low <= found.seconds <= found.high


def test_no_particles_take_hardly_any_time(native):
    for targets, sources in ((0, 100), (100, 0), (0, 0), (0, 10**7), (10**7, 0)):
        found = gdr.estimate("gravity", targets, sources, device=native)
        assert 0 <= found.low <= found.seconds <= found.high < 60 and found.pairs == 0


def test_the_text_is_a_sentence(native):
    text = str(gdr.estimate("gravity", 1000, device=native))
    assert text.startswith("about ") and " to " in text and text.endswith("for 1e+06 pairs")
    assert str(gdr.results.Estimate(3e5, 2e5, 4e5, 1e15, True, 0.0)).endswith("with a tree")


def test_wrong_arguments_are_named(native):
    with pytest.raises(TypeError, match="kernel: expected a gdr.Kernel"):
        gdr.estimate(3, 100)
    with pytest.raises(gdr.UsageError, match="gravty"):
        gdr.estimate("gravty", 100)
    with pytest.raises((TypeError, ValueError), match="targets"):
        gdr.estimate("gravity", -1)
    with pytest.raises(TypeError, match="sources"):
        gdr.estimate("gravity", 10, 2.5)
    with pytest.raises(ValueError, match="accuracy"):
        gdr.estimate("gravity", 10, accuracy=2)
    with pytest.raises(gdr.UsageError, match="nosuch"):
        gdr.estimate("gravity", 10, nosuch=1.0, device=native)
