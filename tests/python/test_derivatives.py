"""gdr.jax and gdr.torch: sums of kernels and their derivatives inside of JAX and PyTorch."""

import gc
import math

import numpy as np
import pytest
from conftest import error

import gdr

RNG = np.random.default_rng(55)
N, M = 5, 6

try:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.test_util import check_grads

    import gdr.jax
except ImportError:
    jax = None
try:
    import torch

    import gdr.torch
except ImportError:
    torch = None

needs_jax = pytest.mark.skipif(jax is None, reason="the package jax is not installed")
needs_torch = pytest.mark.skipif(torch is None, reason="the package torch is not installed")


@gdr.kernel
def morse(i, j, depth=1.5, width=0.8):
    d = j.x - i.x
    e = np.exp(-width * (np.linalg.norm(d) - 1.2))
    i.u += depth * (e * e - 2 * e) * i.w


VECTORS = "VARI vec3 x; VARJ vec3 y; d = x - y; r2 = norm2(d);"
#: Kernels, with the parameters of a call, and the same sums by NumPy or JAX's NumPy.
KERNELS = {
    "Gaussian": (
        "CONST a; VARJ b; VARF s;" + VECTORS + "s += b*exp(-a*r2);",
        {"a": 0.7},
        lambda np, d, t, s, p: {"s": (s["b"] * np.exp(-p["a"] * (d**2).sum(2))).sum(1)},
    ),
    "Laplace": (
        "CONST a; VARJ b; VARF s;" + VECTORS + "s += b*exp(-a*sqrt(r2));",
        {"a": 0.7},
        lambda np, d, t, s, p: {"s": (s["b"] * np.exp(-p["a"] * np.sqrt((d**2).sum(2)))).sum(1)},
    ),
    "Cauchy": (
        "CONST a; VARJ b; VARF s;" + VECTORS + "s += b/(1 + r2/(a*a));",
        {"a": 1.7},
        lambda np, d, t, s, p: {"s": (s["b"] / (1 + (d**2).sum(2) / p["a"] ** 2)).sum(1)},
    ),
    "Yukawa": (
        "CONST kappa; VARI w; VARJ q; VARF u;" + VECTORS + "r = sqrt(r2); u += w*q*exp(-kappa*r)/r;",
        {"kappa": 0.4},
        lambda np, d, t, s, p: {
            "u": (
                t["w"][:, None]
                * s["q"]
                * np.exp(-p["kappa"] * np.sqrt((d**2).sum(2)))
                / np.sqrt((d**2).sum(2))
            ).sum(1)
        },
    ),
    "forces": (
        "CONST eps; VARJ m; VARF vec3 f; VARF pot;"
        + VECTORS
        + "r = rsqrt(r2 + eps*eps); f -= m*r^3*d; pot -= m*r;",
        {"eps": 0.3},
        lambda np, d, t, s, p: {
            "f": -(
                s["m"][:, None] * d / ((d**2).sum(2) + p["eps"] ** 2)[..., None] ** 1.5
            ).sum(1),
            "pot": -(s["m"] / np.sqrt((d**2).sum(2) + p["eps"] ** 2)).sum(1),
        },
    ),
    "Lennard-Jones": (
        "CONST sigma2; VARF u;" + VECTORS + "s = sigma2/(r2 + 1); u += 4*(s^6 - s^3);",
        {"sigma2": 1.2},
        lambda np, d, t, s, p: {
            "u": (
                4
                * (
                    (p["sigma2"] / ((d**2).sum(2) + 1)) ** 6
                    - (p["sigma2"] / ((d**2).sum(2) + 1)) ** 3
                )
            ).sum(1)
        },
    ),
    "vector values": (
        "CONST a; VARJ vec3 b; VARF vec3 v;" + VECTORS + "v += exp(-a*r2)*b;",
        {"a": 0.6},
        lambda np, d, t, s, p: {
            "v": (np.exp(-p["a"] * (d**2).sum(2))[..., None] * s["b"]).sum(1)
        },
    ),
    "anisotropic": (
        "CONST vec3 a; VARJ b; VARF s; VARI vec3 x; VARJ vec3 y; d = x - y; e = a*d;"
        "s += b*tanh(dot(e, d));",
        {"a": (0.5, 0.8, 1.1)},
        lambda np, d, t, s, p: {"s": (s["b"] * np.tanh((d**2 * np.asarray(p["a"])).sum(2))).sum(1)},
    ),
    "cut-off": (
        "CONST rc2; VARJ b; VARF s;" + VECTORS + "if (r2 < rc2) { s += b*(1 - r2/rc2)^3; }",
        {"rc2": 3.0},
        lambda np, d, t, s, p: {
            "s": (
                s["b"]
                * np.where(
                    (d**2).sum(2) < p["rc2"], (1 - (d**2).sum(2) / p["rc2"]) ** 3, 0.0
                )
            ).sum(1)
        },
    ),
    "powers": (
        "CONST n; VARJ b; VARF s;" + VECTORS + "s += b*log(1 + pow(r2 + 1, n))*cos(r2);",
        {"n": 0.6},
        lambda np, d, t, s, p: {
            "s": (
                s["b"]
                * np.log(1 + ((d**2).sum(2) + 1) ** p["n"])
                * np.cos((d**2).sum(2))
            ).sum(1)
        },
    ),
    "weighted means": (
        "CONST a; VARJ b; VARF l, m;" + VECTORS + "l logsumexp= -a*r2 : m = b;",
        {"a": 0.7},
        lambda np, d, t, s, p: {
            "l": np.log(np.exp(-p["a"] * (d**2).sum(2)).sum(1)),
            "m": (np.exp(-p["a"] * (d**2).sum(2)) * s["b"]).sum(1)
            / np.exp(-p["a"] * (d**2).sum(2)).sum(1),
        },
    ),
    "product": (
        "CONST a; VARJ b; VARF p;" + VECTORS + "p *= 1 + a*b*exp(-r2);",
        {"a": 0.4},
        lambda np, d, t, s, p: {"p": (1 + p["a"] * s["b"] * np.exp(-(d**2).sum(2))).prod(1)},
    ),
    "attention": (
        "VARI vec3 x; VARJ vec3 y, v; VARF l; VARF vec3 m; d = x - y; l logsumexp= -norm2(d) : m = v;",
        {},
        lambda np, d, t, s, p: {
            "l": np.log(np.exp(-(d**2).sum(2)).sum(1)),
            "m": np.exp(-(d**2).sum(2)) @ s["v"] / np.exp(-(d**2).sum(2)).sum(1)[:, None],
        },
    ),
}
COMPILED = {name: gdr.compile(text) for name, (text, *_) in KERNELS.items()}


def arguments(name):
    """Targets, sources and parameters of a call, as arrays of NumPy."""
    sides = {}
    for role, count in (("target", N), ("source", M)):
        sides[role] = {
            v: RNG.normal(size=(count, 3)) if COMPILED[name].array_named(v) else RNG.normal(size=count)
            for v in COMPILED[name].whole_names(COMPILED[name].names(role))
        }
    params = {k: np.asarray(v, float) for k, v in KERNELS[name][1].items()}
    return sides["target"], sides["source"], params


def reference(np, name, targets, sources, params):
    d = targets["x"][:, None] - sources["y"]
    return KERNELS[name][2](np, d, targets, sources, params)


@needs_jax
@pytest.mark.parametrize("name", KERNELS)
def test_sums_and_their_gradients_in_jax_are_those_of_jax_itself(name):
    law, call = gdr.jax.function(COMPILED[name]), arguments(name)

    def total(sums):
        return sum((jnp.sin(1.0 + jnp.arange(a.size)).reshape(a.shape) * a).sum() for a in sums.values())

    def ours(targets, sources, params):
        return total(law(targets=targets, sources=sources, **params))

    def theirs(targets, sources, params):
        return total(reference(jnp, name, targets, sources, params))

    assert abs(jax.jit(ours)(*call) - theirs(*call)) < 1e-12
    got, want = (jax.jit(jax.grad(f, argnums=(0, 1, 2)))(*call) for f in (ours, theirs))
    for one, right in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want)):
        assert np.allclose(one, right, rtol=1e-9, atol=1e-11)
    changes = jax.tree_util.tree_map(lambda a: np.asarray(RNG.normal(size=a.shape)), call)
    got, want = (jax.jvp(f, call, changes)[1] for f in (ours, theirs))
    assert abs(got - want) < 1e-9 * (1 + abs(want))

    def slope(f):  # the derivative along the changes of a gradient: second derivatives, both ways
        return jax.jvp(jax.grad(f), call[:1] + call[1:], changes)[1]

    for one, right in zip(*(jax.tree_util.tree_leaves(slope(f)) for f in (ours, theirs))):
        assert np.allclose(one, right, rtol=1e-8, atol=1e-10)
    again = [
        jax.grad(lambda t, f=f: (jax.grad(f)(t, *call[1:])["x"] ** 2).sum())(call[0])
        for f in (ours, theirs)
    ]
    for one, right in zip(*map(jax.tree_util.tree_leaves, again)):
        assert np.allclose(one, right, rtol=1e-8, atol=1e-10)


@needs_torch
@pytest.mark.parametrize("name", KERNELS)
def test_gradients_of_first_and_second_order_in_pytorch_pass_gradcheck(name):
    law, (targets, sources, params) = gdr.torch.function(COMPILED[name]), arguments(name)
    keys = [(side, key) for side, d in enumerate((targets, sources, params)) for key in d]
    given = [torch.tensor(v, requires_grad=True) for d in (targets, sources, params) for v in d.values()]

    def call(*tensors):
        sides = {}, {}, {}
        for (side, key), tensor in zip(keys, tensors):
            sides[side][key] = tensor
        return tuple(law(targets=sides[0], sources=sides[1], **sides[2]).values())

    want = reference(np, name, targets, sources, params)
    for one, right in zip(call(*given), want.values()):
        assert np.allclose(one.detach().numpy(), right, rtol=1e-12, atol=1e-13)
    assert torch.autograd.gradcheck(call, given, atol=1e-6)
    assert torch.autograd.gradgradcheck(call, given, atol=1e-5)


@needs_torch
def test_gradients_of_some_of_the_results_and_of_targets_without_sources():
    text = "CONST rc; VARI x; VARJ y; VARF u, v, l; d = x - y; u += d*d; v += x*y;"
    text += "if (abs(d) < rc) { l logsumexp= d; }"
    law = gdr.compile(text)
    x = torch.tensor([0.5, 100.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.25, 1.0], dtype=torch.float64)
    found = gdr.torch.function(law, ["u"])(targets={"x": x}, sources={"y": y}, rc=10.0)
    assert list(found) == ["u"]
    found["u"].sum().backward()
    assert torch.allclose(x.grad, 2 * (2 * x.detach() - y.sum()))
    x.grad = None
    found = gdr.torch.function(law)(targets={"x": x}, sources={"y": y}, rc=10.0)
    assert found["l"][1] == -math.inf
    found["l"][0].backward()
    assert x.grad.tolist() == pytest.approx([1.0, 0.0])


@needs_jax
def test_functions_of_python_and_gravity_are_differentiated_in_jax():
    x, w = RNG.normal(size=(N, 3)), RNG.normal(size=N)
    y = RNG.normal(size=(M, 3))
    law = gdr.jax.function(morse, ["u"])

    def energy(x, width):
        return law(targets={"x": x, "w": w}, sources={"x": y}, width=width).u.sum()

    check_grads(energy, (x, 0.8), order=2, rtol=1e-4, atol=1e-5)
    mass = RNG.uniform(1, 2, N)
    acc, pot = gdr.jax.gravity(x, mass, 0.1)
    right = gdr.gravity(x, mass, 0.1)
    assert error(np.asarray(acc), right.acc) < 1e-13 and error(np.asarray(pot), right.pot) < 1e-13

    def potential(x):
        return 0.5 * (mass * gdr.jax.gravity(x, mass, 0.1).pot).sum()

    force = -jax.grad(potential)(x) / mass[:, None]
    assert error(np.asarray(force), right.acc) < 1e-12
    away = gdr.jax.gravity(x, mass, 0.1, y)
    assert error(np.asarray(away.acc), gdr.gravity(x, mass, 0.1, y).acc) < 1e-13
    check_grads(
        lambda x, m, e: gdr.jax.gravity(x, m, e).acc, (x, mass, 0.3), order=2, rtol=1e-4, atol=1e-4
    )


@needs_jax
def test_vmap_computes_each_element():
    name = "Gaussian"
    law, (_, sources, _) = gdr.jax.function(COMPILED[name]), arguments(name)
    widths, xs = np.array([0.3, 0.7, 1.1]), RNG.normal(size=(3, N, 3))

    def one(x, a):
        return law(targets={"x": x}, sources=sources, a=a).s

    for got in (jax.vmap(one)(xs, widths), jax.jit(jax.vmap(one))(xs, widths)):
        want = [reference(np, name, {"x": x}, sources, {"a": a})["s"] for x, a in zip(xs, widths)]
        assert np.allclose(got, want, rtol=1e-12)
    slopes = jax.vmap(jax.grad(lambda x, a: one(x, a).sum(), argnums=(0, 1)))(xs, widths)
    for k in range(3):
        alone = jax.grad(lambda x, a: one(x, a).sum(), argnums=(0, 1))(xs[k], widths[k])
        assert np.array_equal(slopes[0][k], alone[0]) and np.array_equal(slopes[1][k], alone[1])
    hessian = jax.hessian(lambda a: one(xs[0], a).sum())(0.7)
    step = 1e-3
    left, middle, right = (one(xs[0], 0.7 + h).sum() for h in (-step, 0, step))
    assert abs(hessian - (left - 2 * middle + right) / step**2) < 1e-4


def calls_of(monkeypatch, compute):
    """A value, and the number of calls of kernels that it took."""
    count = []
    whole = gdr.jax.Law.compute

    def counted(*given):
        count.append(given)
        return whole(*given)

    monkeypatch.setattr(gdr.jax.Law, "compute", counted)
    value = jax.block_until_ready(compute())
    monkeypatch.undo()
    return value, len(count)


def close(a, b):
    """Whether arrays agree, but for the roundings of sums in another order."""
    return np.allclose(np.asarray(a), np.asarray(b), rtol=1e-12, atol=1e-12)


#: Axes of targets, sources and weights of a batch of 4: which of them differ between the elements.
BATCHES = {
    "targets": (0, None, None),
    "sources": (None, 0, None),
    "a source's number": (None, None, 0),
    "all": (0, 0, 0),
    "another axis": (1, None, 1),
}


@needs_jax
@pytest.mark.parametrize("axes", BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("name", ["Gaussian", "log-sum-exp", "nearest"])
def test_vmap_over_targets_and_sources_is_one_call(monkeypatch, name, axes):
    texts = {
        "Gaussian": COMPILED["Gaussian"],
        "log-sum-exp": gdr.compile(
            "CONST a; VARJ b; VARF s, mean;" + VECTORS + "s logsumexp= -a*r2 : mean = b;"
        ),
        "nearest": gdr.compile(
            "CONST a; VARJ b; VARJ int n; VARF s; VARF int k;" + VECTORS + "s min= a*b*b*r2 : k = n;"
        ),
    }
    law = gdr.jax.function(texts[name])
    result = "mean" if name == "log-sum-exp" else "s"
    number = {"n": np.arange(M)} if name == "nearest" else {}

    def one(x, y, b, a=0.7):
        return law(targets={"x": x}, sources={"y": y, "b": b, **number}, a=a)[result]

    random = np.random.default_rng(5)
    sizes = (N, 3), (M, 3), (M,)
    given = [
        random.normal(size=size if k is None else (*size[:k], 4, *size[k:]))
        for k, size in zip(axes, sizes)
    ]

    def elements():
        for e in range(4):
            yield [v if k is None else np.take(v, e, k) for k, v in zip(axes, given)]

    def total(x, y, b, a=0.7):
        return (one(x, y, b, a) ** 2).sum()

    many, count = calls_of(monkeypatch, lambda: jax.vmap(one, axes)(*given))
    assert count == 1
    assert close(many, [one(*e) for e in elements()])
    slope = jax.grad(total, argnums=(0, 1, 2))
    found, count = calls_of(monkeypatch, lambda: jax.vmap(slope, axes)(*given))
    assert count <= 3  # the sums, and their adjoints by targets and by sources
    alone = [slope(*e) for e in elements()]
    for k in range(3):
        assert close(found[k], [g[k] for g in alone])
    # The derivative with respect to a parameter, which the elements share, and that of their sum.
    by_number = jax.vmap(jax.grad(total, argnums=3), (*axes, None))(*given, 0.7)
    apart = np.array([jax.grad(total, argnums=3)(*e, 0.7) for e in elements()])
    assert close(by_number, apart)
    whole = jax.grad(lambda *g: jax.vmap(total, (*axes, None))(*g).sum(), argnums=(0, 1, 2, 3))
    of_sum = whole(*given, 0.7)
    assert close(of_sum[3], apart.sum())
    for k, axis in enumerate(axes):
        expected = sum(g[k] for g in alone) if axis is None else np.moveaxis(found[k], 0, axis)
        assert close(of_sum[k], expected)
    if axes == (0, 0, 0) and name != "nearest":  # forwards, and of second order
        check_grads(lambda *g: jax.vmap(total, axes)(*g), given, order=2, rtol=1e-4, atol=1e-4)


@needs_jax
def test_vmap_of_an_empty_batch_is_empty():
    law = gdr.jax.function(gdr.compile("VARI vec3 x; VARJ vec3 xs; VARF u; u += norm2(x - xs);"))
    found = jax.vmap(lambda x: law(targets={"x": x}, sources={"xs": jnp.ones((4, 3))})["u"])(
        jnp.ones((0, 5, 3))
    )
    assert found.shape == (0, 5)


@needs_jax
def test_vmap_of_vmap_and_of_gravity_is_one_call(monkeypatch):
    law, b = gdr.jax.function(COMPILED["Gaussian"]), np.ones(M)
    xs, ys = RNG.normal(size=(2, 3, N, 3)), RNG.normal(size=(3, M, 3))

    def one(x, y):
        return law(targets={"x": x}, sources={"y": y, "b": b}, a=0.5).s

    over = jax.vmap(jax.vmap(one), (0, None))
    found, count = calls_of(monkeypatch, lambda: jax.jit(over)(xs, ys))
    assert count == 1
    assert np.array_equal(found, [[one(x, y) for x, y in zip(part, ys)] for part in xs])
    stars, mass = RNG.normal(size=(4, N, 3)), RNG.uniform(1, 2, N)
    found, count = calls_of(
        monkeypatch, lambda: jax.vmap(lambda x: gdr.jax.gravity(x, mass, 0.1).acc)(stars)
    )
    assert count == 1
    assert close(found, [gdr.jax.gravity(x, mass, 0.1).acc for x in stars])
    hessians = jax.vmap(jax.hessian(lambda x: gdr.jax.gravity(x, mass, 0.1).pot.sum()))(stars)
    assert close(hessians[2], jax.hessian(lambda x: gdr.jax.gravity(x, mass, 0.1).pot.sum())(stars[2]))


@needs_jax
def test_numbers_and_types_of_arguments_in_jax():
    law = gdr.jax.function(COMPILED["Gaussian"])
    x, y = RNG.normal(size=(N, 3)), RNG.normal(size=(M, 3))
    one = law(targets={"x": x}, sources={"y": y, "b": 2.0}, a=0.5).s
    many = law(targets={"x": x}, sources={"y": y, "b": np.full(M, 2.0)}, a=0.5).s
    assert np.array_equal(one, many) and one.dtype == jnp.float64
    narrow = law(
        targets={"x": jnp.asarray(x, "f4")}, sources={"y": y, "b": 2.0}, a=0.5
    ).s
    assert narrow.dtype == jnp.float32 and error(np.asarray(narrow), many) < 1e-6
    slope = jax.grad(lambda b: law(targets={"x": x}, sources={"y": y, "b": b}, a=0.5).s.sum())(2.0)
    assert abs(slope - many.sum() / 2) < 1e-12
    for counts in ((0, M), (N, 0)):
        got = law(targets={"x": x[: counts[0]]}, sources={"y": y[: counts[1]], "b": np.ones(counts[1])}, a=1.0)
        assert got.s.shape == counts[:1] and not np.asarray(got.s).any()


def invalid(function, make):
    """Calls with wrong arguments, and the messages."""
    law = function(COMPILED["Gaussian"])
    x, y, b = (make(RNG.normal(size=s)) for s in ((N, 3), (M, 3), (M,)))
    sources = {"y": y, "b": b}
    yield lambda: law(targets={}, sources=sources, a=1.0), TypeError, "targets: expected a dictionary"
    yield lambda: law(targets={"x": x}, sources=sources), gdr.UsageError, "missing params: a"
    yield lambda: law(targets={"x": x}, sources=sources, b=1.0), gdr.UsageError, "unknown"
    yield lambda: law(targets={"z": x}, sources=sources, a=1.0), gdr.UsageError, "no variable 'z'"
    yield lambda: law(targets={"x": x[:, :2]}, sources=sources, a=1.0), ValueError, "x: expected shape"
    wrong = {"y": y, "b": b[:3]}
    yield lambda: law(targets={"x": x}, sources=wrong, a=1.0), ValueError, "b: expected 6 sources, got 3"
    yield lambda: law(targets={"x": x[0]}, sources=sources, a=1.0), TypeError, "x: the number of targets"
    yield lambda: function(COMPILED["Gaussian"], ["t"])(
        targets={"x": x}, sources=sources, a=1.0
    ), gdr.UsageError, "unknown result 't'"
    yield lambda: function("s += 1"), gdr.ProgramError, "s"
    yield lambda: function(3), TypeError, "kernel: expected a gdr.Kernel"


@pytest.mark.parametrize("library", ["JAX", "PyTorch"])
def test_invalid_arguments_are_errors_with_their_names(library):
    if (jax if library == "JAX" else torch) is None:
        pytest.skip(f"{library} is not installed")
    pairs = (gdr.jax.function, jnp.asarray) if library == "JAX" else (gdr.torch.function, torch.tensor)
    for call, kind, message in invalid(*pairs):
        with pytest.raises(kind, match=message):
            call()


@needs_jax
def test_a_number_that_is_not_finite_is_an_error_when_the_program_runs():
    law, x = gdr.jax.function(COMPILED["Gaussian"]), np.zeros((N, 3))
    f = jax.jit(lambda x: law(targets={"x": x}, sources={"y": x, "b": 1.0}, a=1.0).s)
    f(x)
    x[2, 1] = math.nan
    with pytest.raises(Exception, match=r"[xy]\[2, 1\] is not a number"):
        f(x).block_until_ready()


@needs_jax
def test_laws_whose_programs_are_gone_leave_no_functions_behind(monkeypatch):
    from gdr import _xla

    monkeypatch.setattr(_xla, "_MAX_RETIRED", 3)
    x, points = jnp.arange(3.0), np.zeros((N, 3))
    gauss = gdr.jax.function(COMPILED["Gaussian"])
    kept = jax.jit(lambda x: gauss(targets={"x": x}, sources={"y": x, "b": 1.0}, a=1.0).s)
    want = np.asarray(kept(points))

    def slope(k):
        law = gdr.jax.function(f"kernel k{k}; VARI x; VARJ y; VARF f; f += {k}*x*y;")
        total = jax.grad(lambda x: law(targets={"x": x}, sources={"y": x}).f.sum())
        return jax.jit(total)(x)[0]

    counts = []
    for k in range(1, 13):
        assert slope(k) == pytest.approx(2 * k * 3.0)
        if k % 4 == 0:  # JAX keeps programs in caches of its own
            gdr.jax._compiled.cache_clear()
            gdr._laws.law_of.cache_clear()
            jax.clear_caches()
            gc.collect()
            counts.append(len(_xla._functions))
    assert counts[2] == counts[1]
    assert np.array_equal(kept(points), want)


@needs_torch
def test_tensors_of_gravity_have_gradients():
    x, mass = RNG.normal(size=(N, 3)), RNG.uniform(1, 2, N)
    tensor = torch.tensor(x, requires_grad=True)
    acc, pot = gdr.torch.gravity(tensor, torch.tensor(mass), 0.1)
    right = gdr.gravity(x, mass, 0.1)
    assert error(acc.detach().numpy(), right.acc) < 1e-13
    (0.5 * (torch.tensor(mass) * pot).sum()).backward()
    assert error(-tensor.grad.numpy() / mass[:, None], right.acc) < 1e-12
    narrow = gdr.torch.gravity(torch.tensor(x, dtype=torch.float32), 1.0, 0.1)
    assert narrow.acc.dtype == torch.float32
    away = gdr.torch.gravity(torch.tensor(x), torch.tensor(mass), 0.0, torch.zeros((2, 3)).double())
    assert error(away.pot.numpy(), gdr.gravity(x, mass, 0.0, np.zeros((2, 3))).pot) < 1e-13


@needs_torch
def test_an_optimiser_of_pytorch_finds_the_parameter_of_a_law():
    law = gdr.torch.function(morse, ["u"])
    x, y = torch.tensor(RNG.normal(size=(40, 3))), torch.tensor(RNG.normal(size=(40, 3)))

    def sums(width):
        return law(targets={"x": x, "w": 1.0}, sources={"x": y}, width=width).u

    wanted = sums(0.9)
    width = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([width], line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = ((sums(width) - wanted) ** 2).mean()
        value.backward()
        return value

    for _ in range(5):
        optimiser.step(loss)
    assert abs(float(width) - 0.9) < 1e-6
