"""Reductions in kernels of Python functions, and many systems in one call, beside NumPy."""

import math

import numpy as np
import pytest

import gdr
from gdr.functions import largest, logsumexp, smallest

ENGINES = ["native", "vector"]


# Their results are tested, not the length of their loops: a short search.
@gdr.kernel(effort=0)
def neighbours(i, j):
    if i.id == j.id:
        return
    d = j.x - i.x
    i.r2, i.n = smallest((i.r2, i.n), (np.dot(d, d), j.id), 5)
    i.far = largest(i.far, d[0], 2)


@gdr.kernel(effort=0)
def conditions(i, j):
    d = j.x - i.x
    i.r2, i.n = min((i.r2, i.n), (np.dot(d, d), j.id))
    i.top, i.who = max((i.top, i.who), (j.q, j.id))
    i.any |= np.dot(d, d) < 0.25
    i.all &= np.dot(d, d) < 9
    i.product *= j.q


@gdr.kernel(effort=0, precision="long", types={"v": "vec3"})
def attention(i, j):
    i.total, i.mean, i.q_mean = logsumexp(
        (i.total, i.mean, i.q_mean), (np.dot(i.q, j.k), j.v, j.k[0])
    )
    i.plain = np.logaddexp(i.plain, j.w)


@pytest.fixture(params=ENGINES)
def device(request):
    with gdr.open(request.param) as opened:
        yield opened


def test_nearest_neighbours_are_those_of_a_stable_sort(device, rng):
    # Small integers: distances are exact, and many of them equal.
    x = rng.integers(-4, 5, (60, 3)).astype(float)
    ids = np.arange(60)
    got = neighbours(targets={"x": x, "id": ids}, sources={"x": x, "id": ids}, device=device)
    r2 = ((x[:, None] - x[None]) ** 2).sum(-1)
    np.fill_diagonal(r2, np.inf)
    order = np.argsort(r2, axis=1, kind="stable")[:, :5]
    assert (got["n"] == order).all()
    assert (got["r2"] == np.take_along_axis(r2, order, 1)).all()
    first = x[None, :, 0] - x[:, None, 0]
    np.fill_diagonal(first, -np.inf)
    assert (got["far"] == -np.sort(-first, axis=1)[:, :2]).all()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_ranks_without_a_source_are_infinite(device, count):
    x, ids = np.arange(3.0 * count).reshape(count, 3), np.arange(count) + 10
    got = neighbours(
        targets={"x": [[0.0, 0, 0]], "id": [-1]}, sources={"x": x, "id": ids}, device=device
    )
    assert (got["n"][0] == [*ids, -1, -1, -1, -1, -1][:5]).all()
    assert np.isinf(got["r2"][0, count:]).all() and np.isfinite(got["r2"][0, :count]).all()


def test_extremes_have_their_index_and_conditions_are_ones_and_zeros(device, rng):
    x, y, q = rng.normal(size=(30, 3)), rng.normal(size=(17, 3)), rng.uniform(0.5, 2, 30)
    got = conditions(targets={"x": y}, sources={"x": x, "q": q, "id": np.arange(30)}, device=device)
    r2 = ((y[:, None] - x[None]) ** 2).sum(-1)
    assert (got["n"] == r2.argmin(1)).all() and np.allclose(got["r2"], r2.min(1), rtol=1e-6)
    assert (got["who"] == q.argmax()).all()
    assert (got["any"] == (r2 < 0.25).any(1)).all() and (got["all"] == (r2 < 9).all(1)).all()
    assert np.allclose(got["product"], q.prod(), rtol=1e-6)


@pytest.mark.parametrize("scale", [1, 1e3, 1e6])
def test_weighted_means_are_right_for_exponents_of_any_size(device, rng, scale):
    q, k, v = rng.normal(size=(9, 3)), rng.normal(size=(50, 3)) * scale, rng.normal(size=(50, 3))
    w = rng.normal(size=50) * scale
    got = attention(targets={"q": q}, sources={"k": k, "v": v, "w": w}, device=device)
    s = q.astype(np.longdouble) @ k.T
    most = s.max(1, keepdims=True)
    e = np.exp(s - most)
    mean = (e @ v) / e.sum(1, keepdims=True)
    # An error of an exponent is one of all weights.
    tolerance = 1e-14 * (1 + 10 * scale)
    assert np.abs(got["total"] - (most[:, 0] + np.log(e.sum(1)))).max() < tolerance
    assert np.abs(got["mean"] - mean).max() < tolerance
    q_mean = (e @ k[:, 0]) / e.sum(1)
    assert np.abs(got["q_mean"] - q_mean).max() < tolerance * scale
    assert np.allclose(got["plain"], np.logaddexp.reduce(w), rtol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_results_do_not_depend_on_boards_chips_and_blocks(rng, engine):
    x, ids = rng.normal(size=(150, 3)), np.arange(150)
    own = {"x": x, "id": ids}
    found = []
    for shape in ("threads=1", "boards=3,threads=2", "chips=1,blocks=3", "chips=2,blocks=5,pes=3"):
        with gdr.open(f"emulator:engine={engine},{shape}") as device:
            found.append(neighbours(targets=own, sources=own, device=device))
            more = attention(targets={"q": x}, sources={"k": x, "v": x, "w": 9.0}, device=device)
            found[-1].update(more)
    for got in found[1:]:
        assert all((got[name] == values).all() for name, values in found[0].items())


def test_python_functions_of_kernels_reduce_single_pairs():
    i = gdr.Particle(x=np.zeros(3), id=-1, r2=[math.inf] * 5, n=[-1] * 5, far=[-math.inf] * 2)
    for number, x in enumerate([3.0, -1.0, 2.0]):
        neighbours.function(i, gdr.Particle(x=np.array([x, 0, 0]), id=number))
    assert i.n == [1, 2, 0, -1, -1] and i.r2[:3] == [1, 4, 9] and i.far == [3, 2]
    a = gdr.Particle(q=np.ones(3), total=-math.inf, mean=np.zeros(3), q_mean=0.0, plain=-math.inf)
    for x in (0.5, -3.0, -math.inf):
        attention.function(a, gdr.Particle(k=np.array([x, 0, 0]), v=np.full(3, x), w=x))
    weights = np.exp([0.5, -3.0])
    assert a.total == pytest.approx(np.log(weights.sum()))
    assert a.mean == pytest.approx(np.full(3, (weights @ [0.5, -3.0]) / weights.sum()))


def test_labels_and_offsets_give_the_bits_of_single_calls(device, rng):
    x, y, q = rng.normal(size=(80, 3)), rng.normal(size=(50, 3)), rng.uniform(0.5, 2, 80)
    of_targets, of_sources = rng.integers(0, 7, 50) * 10 - 20, rng.integers(0, 9, 80) * 10 - 20
    sources = {"x": x, "q": q, "id": np.arange(80)}
    many = conditions(
        targets={"x": y}, sources=sources, batch=(of_targets, of_sources), device=device
    )
    for label in np.unique(of_targets):
        t, s = of_targets == label, of_sources == label
        one = conditions(
            targets={"x": y[t]}, sources={k: a[s] for k, a in sources.items()}, device=device
        )
        for name, values in one.items():
            assert (many[name][t] == values).all(), name
    targets, order = np.sort(of_targets), np.argsort(of_sources, kind="stable")
    ordered = {k: a[order] for k, a in sources.items()}
    labels = np.unique(of_targets)
    cuts = tuple(
        np.append(np.searchsorted(a, labels), np.searchsorted(a, labels[-1], "right"))
        for a in (targets, np.sort(of_sources))
    )
    if set(of_sources[of_sources <= labels[-1]]) <= set(labels):
        by_offsets = conditions(targets={"x": y}, sources=ordered, offsets=cuts, device=device)
        by_labels = conditions(
            targets={"x": y}, sources=sources, batch=(targets, of_sources), device=device
        )
        for name, values in by_offsets.items():
            assert (by_labels[name] == values).all()


def test_targets_whose_label_no_source_has_have_results_of_no_source(device):
    got = conditions(
        targets={"x": np.zeros((3, 3))},
        sources={"x": np.ones((2, 3)), "q": [2.0, 3.0], "id": [4, 5]},
        batch=([1, 7, 1], [7, 8]),
        device=device,
    )
    assert got["n"].tolist() == [-1, 4, -1] and got["product"].tolist() == [1, 2, 1]
    out = np.full(3, 9.0)
    filled = conditions(
        targets={"x": np.zeros((3, 3))},
        sources={"x": np.ones((2, 3)), "q": [2.0, 3.0], "id": [4, 5]},
        batch=([8, 7, 8], [7, 8]),
        results={"product": out},
        device=device,
    )
    assert filled["product"] is out and out.tolist() == [3, 2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": [1, 2]}, "batch[0]: expected shape"),
        ({"batch": np.zeros(3, int)}, "batch: expected a pair"),
        ({"batch": ([1, 1], [1, 1, 1])}, "targets: x has 3 values, but batch[0] has 2 labels"),
        ({"batch": ([1, 1, 1], [1, 1])}, "sources: x has 3 values, but batch[1] has 2 labels"),
        ({"batch": ([1.5, 1, 1], [1, 1, 1])}, "batch[0]: expected integers"),
        ({"offsets": ([0, 3], [0, 2, 3])}, "offsets"),
        ({"offsets": ([0, 3], [0, 3]), "batch": ([1], [1])}, "one of them"),
    ],
)
def test_wrong_labels_are_errors_that_name_them(arguments, message):
    x = np.zeros((3, 3))
    with pytest.raises((TypeError, ValueError, gdr.UsageError)) as raised:
        conditions(targets={"x": x}, sources={"x": x, "q": 1.0, "id": np.arange(3)}, **arguments)
    assert message in str(raised.value)


def wrong_count(i, j):
    i.d = smallest(i.d, j.x, 65)


def different_counts(i, j):
    i.d = smallest(i.d, j.x, 3)
    i.d = smallest(i.d, j.x, 4)


def other_result(i, j):
    i.d = smallest(i.e, j.x, 3)


def divided(i, j):
    i.d /= j.x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (wrong_count, "a constant, 1 to 64"),
        (different_counts, "4 elements here, and 3 before"),
        (other_result, "a result supports"),
        (divided, "a result supports +=, -= and *="),
    ],
)
def test_wrong_reductions_are_errors_at_their_line(function, message):
    with pytest.raises(gdr.ProgramError) as raised:
        gdr.kernel(function)
    assert message in str(raised.value)
