"""Python functions as kernels: results, and errors of decorator and call."""

import copy
import functools
import importlib.util
import math
import os
import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import direct_gravity, error, first_seed

import gdr

SOFTENING2 = 0.01


@gdr.kernel(types={"id": "int"}, flops=38)
def gravity(i, j):
    """Gravity, with a global constant."""
    if i.id == j.id:
        return
    dx, dy, dz = j.x - i.x, j.y - i.y, j.z - i.z
    rinv = 1 / math.sqrt(dx * dx + dy * dy + dz * dz + SOFTENING2)
    mr3 = j.m * rinv**3
    i.ax += mr3 * dx
    i.ay += mr3 * dy
    i.az += mr3 * dz
    i.pot -= j.m * rinv


def test_decorated_function_computes_gravity(rng):
    x, m, ids = rng.normal(size=(100, 3)), rng.uniform(1, 2, 100), np.arange(100)
    stars = {"id": ids, "x": x[:, 0], "y": x[:, 1], "z": x[:, 2]}
    r = gravity(targets=stars, sources={**stars, "m": m})
    acc, pot = direct_gravity(x, m, 0.1)
    got = np.column_stack([r["ax"], r["ay"], r["az"]])
    assert error(got, acc) < 1e-6 and error(r["pot"], pot) < 1e-6
    assert gravity.flops == 38 and gravity.clocks > 10 and "fmul" in gravity.assembly
    assert gravity.__doc__.startswith("Gravity")


@gdr.kernel(precision="long")
def everything(i, j, a, b):
    d = j.x - i.x
    s = 0.5 * d
    s *= 3
    near = abs(d) < a and not (d == 0) or d > 100
    if near:
        w = 2.0
        i.near += 1.0
    elif d > b:
        w = 3.0
    else:
        w = -d
    for k in range(1, 4):
        i.sum += k * w
    i.low = min(i.low, d)
    i.high = max(d, i.high)
    i.mixed += (d if -a < d <= b else 1.0) + s


def test_conditions_loops_and_extremes_are_translated(rng):
    x, y = rng.normal(size=40), rng.normal(size=50)
    a, b = 0.5, 0.8
    r = everything(targets={"x": x}, sources={"x": y}, a=a, b=b)
    d = y[None] - x[:, None]
    near = (abs(d) < a) & (d != 0) | (d > 100)
    w = np.where(near, 2.0, np.where(d > b, 3.0, -d))
    assert np.array_equal(r["near"], near.sum(1))
    assert error(r["sum"], 6 * w.sum(1)) < 1e-12
    assert error(r["low"], d.min(1)) < 1e-12 and error(r["high"], d.max(1)) < 1e-12
    want = (np.where((-a < d) & (d <= b), d, 1.0) + 1.5 * d).sum(1)
    assert error(r["mixed"], want) < 1e-12


def test_powers_take_any_exponent_and_int_truncates():
    def law(i, j, beta):
        r2 = (j.x - i.x) ** 2
        i.free += (1 + r2) ** -beta
        i.named += pow(1 + r2, beta)
        i.fixed += (0.1 + r2) ** -0.85
        i.cell += int(j.x * 4)

    x = np.linspace(-1, 1, 9)
    got = gdr.kernel(law)(targets={"x": x}, sources={"x": x}, beta=1.3)
    r2 = (x[None, :] - x[:, None]) ** 2
    assert np.allclose(got["free"], ((1 + r2) ** -1.3).sum(1), rtol=1e-6)
    assert np.allclose(got["named"], ((1 + r2) ** 1.3).sum(1), rtol=1e-6)
    assert np.allclose(got["fixed"], ((0.1 + r2) ** -0.85).sum(1), rtol=1e-6)
    assert np.array_equal(got["cell"], np.full(9, np.trunc(x * 4).sum()))


def test_misspelt_parameters_get_a_suggestion():
    def law(i, j, beta):
        i.f += beta * (j.x - i.x)

    x = np.ones(3)
    given = {"targets": {"x": x}, "sources": {"x": x}}
    wrong = "missing params: beta; unknown: bta; did you mean 'beta'"
    with pytest.raises(gdr.UsageError, match=wrong):
        gdr.kernel(law)(**given, bta=1)
    with pytest.raises(gdr.UsageError, match="unknown params: beat; did you mean 'beta'"):
        gdr.kernel(law)(**given, beta=1, beat=2)
    with pytest.raises(ValueError, match="'bet'; did you mean 'beta'"):
        gdr.kernel(types={"bet": "long"})(law)

    def misspelt(i, j, beta):
        i.f += bta * (j.x - i.x)  # noqa: F821

    with pytest.raises(gdr.ProgramError, match="'bta' is not defined; did you mean 'beta'"):
        gdr.kernel(misspelt)


def test_wrong_names_of_arrays_are_named_with_the_right_ones():
    """Not reported as a missing number of targets or sources."""

    @gdr.kernel
    def spring(i, j, k=1.0):
        i.f += k * j.charge * (j.x - i.x)

    @gdr.kernel
    def total(i, j):
        i.sum += j.charge

    x = np.ones(4)
    sources = {"x": x, "charge": x}
    for call, kind, message in (
        (
            lambda: spring(targets={"y": x}, sources=sources),
            TypeError,
            r"targets: unknown: y; missing: x \(known: x\)",
        ),
        (
            lambda: spring(targets={"x": x}, sources={"x": x, "chrage": x}),
            TypeError,
            r"sources: unknown: chrage; missing: charge; did you mean 'charge'\? "
            r"\(known: charge, x\)",
        ),
        (
            lambda: total(targets={"x": x}, sources={"charge": x}),
            gdr.UsageError,
            r'unknown target variable "x" \(there are none\): pass the number of targets',
        ),
        (
            lambda: total(targets=4, sources=4),
            TypeError,
            "sources: missing: charge; pass a dictionary of arrays",
        ),
        (
            lambda: total(targets={}, sources={"charge": x}),
            gdr.UsageError,
            "the number of targets is unknown: pass it, because the kernel needs no target variable",
        ),
    ):
        with pytest.raises(kind, match=message):
            call()


def test_functions_without_source_raise_an_error():
    with pytest.raises(gdr.ProgramError, match="a lambda cannot be translated"):
        gdr.kernel(lambda i, j: None)
    names = {}
    exec("def made(i, j):\n    i.f += j.x\n", {}, names)
    with pytest.raises(gdr.ProgramError, match="made: its source cannot be read"):
        gdr.kernel(names["made"])

    @functools.wraps(cubic)
    def wrapper(i, j):
        i.f += j.x

    for changed in (wrapper, functools.lru_cache(cubic)):
        with pytest.raises(TypeError, match="put gdr.kernel below that one"):
            gdr.kernel(changed)
    with pytest.raises(TypeError, match="@staticmethod above @gdr.kernel"):
        gdr.kernel(Laws().method)


class Laws:
    """A kernel may be a static method."""

    def method(self, i, j):
        i.f += j.x

    @staticmethod
    @gdr.kernel(precision="long")
    def difference(i, j):
        """A docstring with lines that are
        indented less than the function."""
        i.f += j.x - i.x


def test_a_function_changed_on_disk_raises_an_error(tmp_path):
    module = load(tmp_path, "def first(i, j):\n    i.f += j.x\n")
    (tmp_path / "laws.py").write_text("def other(i, j):\n    i.f -= j.x\n")
    with pytest.raises(gdr.ProgramError, match="changed after it was imported"):
        gdr.kernel(module.first)


def test_invalid_arguments_of_decorator_and_call_raise_errors():
    stars = {"id": [1], "x": [0.0], "y": [0.0], "z": [0.0]}
    for keywords, message in (
        ({"precision": "double"}, "precision"),
        ({"types": {"x": "f8"}}, "x"),
    ):
        with pytest.raises(ValueError, match=message):
            gdr.kernel(**keywords)(lambda i, j: None)
    with pytest.raises(TypeError, match="plain function"):
        gdr.kernel(3)
    with pytest.raises(ValueError, match="types: the kernel has no variable 'idd'"):
        gdr.kernel(types={"idd": "int"})(Laws.difference.function)
    with pytest.raises(TypeError, match="takes all particles in one call"):
        gravity(stars, stars)
    with pytest.raises(TypeError, match="sources: missing: m"):
        gravity(targets=stars, sources=stars)
    with pytest.raises(gdr.UsageError, match="missing params: b"):
        everything(targets={"x": [0.0]}, sources={"x": [0.0]}, a=1.0)


# -- typical code ------------------------------------------------------------------------------

COEFFICIENTS = np.array([1.0, 2.5, -3.0])
SETTINGS = SimpleNamespace(debug=False, scale=2.0)


def cubic(q, h=2.0):
    """A function of numbers with several returns."""
    if q < 0.5:
        return 1 - 6 * q**2 + 6 * q**3
    elif q < 1:
        u = 1 - q
        return h * u**3
    return 0


def scaled(q, *, scale):
    q = abs(q)
    for k in range(2):
        q += k / 4
    return scale * cubic(q, h=3)


def shapes(i, j, eps=0.5, *, weight=2.0):
    """Most supported statements and expressions in one kernel."""
    import math as m
    from numpy import hypot, pi, where

    d: float = j.x - i.x
    a = b = np.abs(d) ** (3 / 2) + eps
    a, b = b + 1, a
    lower, upper = -0.5, 0.5
    i.f += hypot(a, b) * pi / m.pi + where(d < 0, 1.0, weight)
    for k, c in enumerate(COEFFICIENTS):
        for k in range(2):
            i.f += c * k * d
    for left, right in ((1, 2), (3, 4)):
        i.f += left * right * np.square(d)
    if SETTINGS.debug:
        print(d)
    i.g += scaled(d, scale=SETTINGS.scale) + cubic(abs(d))
    n: int = 2
    i.g += n * len(COEFFICIENTS) * 10**12 / 1e12
    i.low = min(i.low, d, m.fabs(d) - 1)
    if abs(d) <= upper:
        i.f += 3
        if d > lower / 2:
            i.g += d
        return None
    if d <= 0:
        return
    i.f += d
    return


class Target:
    """A target that records assignments; results start at zero."""

    def __init__(self, **inputs):
        self.__dict__.update(inputs)

    def __getattr__(self, name):
        return 0.0


def by_python(function, targets, sources, *results, **params):
    """Results by calling the function for every pair."""
    kept = []
    for k in range(len(next(iter(targets.values())))):
        i = Target(**{name: float(array[k]) for name, array in targets.items()})
        for low in [r for r in results if r == "low"]:
            setattr(i, low, math.inf)
        for n in range(len(next(iter(sources.values())))):
            pair = {name: float(array[n]) for name, array in sources.items()}
            function(i, SimpleNamespace(**pair), **params)
        kept.append([getattr(i, name) for name in results])
    return np.array(kept).T


def test_a_kernel_agrees_with_calling_its_function(rng):
    x, y = rng.normal(size=7), rng.normal(size=9)
    made = gdr.kernel(precision="long")(shapes)
    got = made(targets={"x": x}, sources={"x": y}, weight=1.5)
    want = by_python(shapes, {"x": x}, {"x": y}, "f", "g", "low", weight=1.5)
    for name, column in zip(("f", "g", "low"), want):
        assert np.abs(got[name] - column).max() < 1e-11 * np.abs(column).max(), name
    r = Laws.difference(targets={"x": x}, sources={"x": y})
    assert error(r["f"], (y[None] - x[:, None]).sum(1)) < 1e-13


def test_non_ascii_names_survive_pickling_and_copying(rng):
    @gdr.kernel(precision="long")
    def ünïcode(i, j, ε=2.0):
        δx = j.x - i.x
        i.φ += ε * δx

    x = rng.normal(size=5)
    want = 3 * (x.sum() - 5 * x)
    for made in (ünïcode, pickle.loads(pickle.dumps(ünïcode)), copy.copy(ünïcode)):
        assert error(made(targets={"x": x}, sources={"x": x}, ε=3.0)["φ"], want) < 1e-12
        assert made.defaults == {"ε": 2.0}


def load(folder, text):
    (folder / "laws.py").write_text(text)
    spec = importlib.util.spec_from_file_location("laws", folder / "laws.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_expression(draw, depth, names):
    """A random expression with bounded values and without poles."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice([*names, "i.x", "j.x", "j.q", repr(round(draw.uniform(-2, 2), 3)), "C"])
    a, b, c, e = (random_expression(draw, depth - 1, names) for _ in range(4))
    forms = ["({a} + {b})", "({a} - {b})", "({a} * {b})", "-{a}", "({a})**2", "abs({a})"]
    forms += ["({a}) / (({b})**2 + 1)", "math.sqrt(({a})**2 + 0.5)", "math.exp(-({a})**2)"]
    forms += ["min({a}, {b})", "max({a}, {b}, {c})", "(({a})**2 + 1) ** (-3 / 2)", "half({a})"]
    forms += ["({a} if {b} < {c} else {e})", "({a} if {b} < {c} and not {c} <= {e} else 1.0)"]
    return draw.choice(forms).format(a=a, b=b, c=c, e=e)


def random_function(draw, name):
    lines = [f"def {name}(i, j, p):"]
    names = ["p"]
    for k in range(1):
        lines.append(f"    t{k} = {random_expression(draw, 1, names)}")
        names.append(f"t{k}")
        some = draw.choice(names[1:])
        value = random_expression(draw, 2, names)
        condition = f"{random_expression(draw, 1, names)} < {random_expression(draw, 1, names)}"
        lines += draw.choice(
            [
                [f"    {some} {draw.choice(['+=', '-=', '*='])} {value}"],
                [
                    f"    if {condition}:",
                    f"        {some} = {value}",
                    "    else:",
                    "        i.f += 1",
                ],
                [f"    if {condition}:", f"        i.f += {value}", "        return"],
                [f"    for k in range({draw.randint(0, 3)}):", f"        {some} += k * {value}"],
                [f"    i.f -= {value}"],
            ]
        )
    lines.append(f"    i.f += {random_expression(draw, 1, names)}")
    return "\n".join(lines) + "\n"


def test_random_kernels_agree_with_calling_their_functions(tmp_path, rng):
    """Longer runs: GDR_TEST_ITERATIONS=200 GDR_TEST_SEED=7 (some seconds per kernel)."""
    draw = random.Random(first_seed())
    head = (
        "import math\nC = 0.75\n\ndef half(q):\n    if q > 0:\n        return q / 2\n    return q\n"
    )
    count = int(os.environ.get("GDR_TEST_ITERATIONS", "8"))
    module = load(tmp_path, head + "".join(random_function(draw, f"f{k}") for k in range(count)))
    x, y, q = rng.uniform(-1, 1, size=(3, 6))
    for k in range(count):
        function = getattr(module, f"f{k}")
        made = gdr.kernel(precision="long")(function)
        targets = {name: x for name in made._caller_names.targets}
        sources = {name: {"x": y, "q": q}[name] for name in made._caller_names.sources}
        got = made(targets=targets or 6, sources=sources or 6, p=0.3)["f"]
        want = by_python(function, targets or {"x": x}, {"x": y, "q": q}, "f", p=0.3)[0]
        assert np.abs(got - want).max() <= 1e-9 * (1 + np.abs(want).max()), made.text


STEPS = np.sin(np.arange(20.0))
EPSILON = [[1.0, 0.8], [0.8, 0.5]]


def step(distance):
    return STEPS[int(distance)]


@gdr.kernel
def tabulated(i, j, scale=7.0):
    d = abs(j.x - i.x)
    i.s += STEPS[int(d * scale)] * EPSILON[i.kind][j.kind]
    i.t += step(3 * d) + EPSILON[i.kind, j.kind]
    i.own += EPSILON[i.kind][1]


def test_constant_arrays_are_tables_with_an_index_that_depends_on_the_pair(rng):
    x, kind = rng.uniform(0, 2, 30), rng.integers(0, 2, 30)
    particles = {"x": x, "kind": kind}
    d, e = abs(x - x[:, None]), np.array(EPSILON)[kind][:, kind]
    assert "VARI int kindi" in tabulated.text
    for device in ("native", "exact"):
        got = tabulated(targets=particles, sources=particles, device=device)
        assert error(got.s, (STEPS[(d * 7).astype(int)] * e).sum(1)) < 1e-6
        assert error(got.t, (STEPS[(d * 3).astype(int)] + e).sum(1)) < 1e-6
        assert error(got.own, 30 * np.array(EPSILON)[kind, 1]) < 1e-6


def test_tables_and_defaults_hold_in_jobs_sums_and_copies(rng):
    x, kind = rng.uniform(0, 2, 10), rng.integers(0, 2, 10)
    particles = {"x": x, "kind": kind}
    want = tabulated(targets=particles, sources=particles).s
    job = gdr.default_device().job(tabulated)
    job.sources(xj=x, kindj=kind)
    job.targets(xi=x, kindi=kind)
    assert np.array_equal(job.run().s, want)
    job.set(scale=1.0)
    assert not np.array_equal(job.run().s, want)
    sets = gdr.default_device().set_job(tabulated)
    got = sets.run_sets([({"xi": x, "kindi": kind}, {"xj": x, "kindj": kind})])
    assert np.array_equal(got[0].s, want)
    copied = pickle.loads(pickle.dumps(tabulated))
    assert np.array_equal(copied(targets=particles, sources=particles).s, want)
    debugger = gdr.debug(
        tabulated, targets=particles, sources=particles, device="emulator:blocks=1,pes=3"
    )
    debugger.run()
    assert error(debugger.results()["s"], want) < 1e-6

    @gdr.kernel
    def charged(i, j, kappa=0.5):
        r2 = (j.x - i.x) ** 2 + (j.y - i.y) ** 2 + (j.z - i.z) ** 2
        i.u += j.q * STEPS[min(int(r2), 19)] * kappa

    pos = rng.normal(size=(20, 3))
    near = gdr.PairSum(charged, 3.0, skin=0)(pos, sources={"q": 1.0})
    r2 = ((pos - pos[:, None]) ** 2).sum(2)
    inside = (r2 < 9) & ~np.eye(20, dtype=bool)
    assert error(near.u, (0.5 * STEPS[np.minimum(r2.astype(int), 19)] * inside).sum(1)) < 1e-12


def declarations(kernel):
    return [line for line in kernel.text.splitlines() if line.startswith(("CONST", "VARI", "VARJ"))]


def test_the_text_declares_the_quantities_of_usual_attributes():
    assert declarations(gravity) == [
        "VARI int idi = -1 as id;",
        "VARI xi as pos;",
        "VARI yi as pos;",
        "VARI zi as pos;",
        "VARJ int idj = -2 as id;",
        "VARJ xj as pos;",
        "VARJ yj as pos;",
        "VARJ zj as pos;",
        "VARJ mj as mass;",
    ]

    @gdr.kernel(types={"slot": "int", "v": "vec3", "m": "int"})
    def reads_components_in_any_order(i, j, eps2, eps=0.5):
        q = (j.z - i.z) * (j.x - i.x) * j.m + (j.y - i.y) * j.slot
        i.f += (q * j.w + eps2 * eps) * np.dot(j.v, j.v) * j.vx

    assert declarations(reads_components_in_any_order) == [
        "CONST eps2 as eps^2;",
        "CONST eps as eps;",
        "VARI xi as pos;",
        "VARI yi as pos;",
        "VARI zi as pos;",
        "VARJ xj as pos;",
        "VARJ yj as pos;",
        "VARJ zj as pos;",
        "VARJ int mj;",
        "VARJ int slotj as index;",
        "VARJ wj;",
        "VARJ vec3 vj as vel;",
        "VARJ vxj;",
    ]

    @gdr.kernel(types={"x": "vec2"})
    def flat(i, j):
        i.f += np.dot(i.x, j.x) * j.y * j.id

    assert declarations(flat) == ["VARI vec2 xi;", "VARJ vec2 xj;", "VARJ yj;", "VARJ idj;"]


def test_quantities_of_other_attributes_are_given_to_the_decorator(rng):
    @gdr.kernel(quantities={"r": "pos", "c": "pos", "s2": "eps^2"})
    def law(i, j, s2):
        d = j.c - i.r
        i.f += d * j.x * math.sqrt(np.dot(d, d) + s2)

    assert declarations(law) == [
        "CONST s2 as eps^2;",
        "VARI vec3 ri as pos;",
        "VARJ vec3 cj as pos;",
        "VARJ xj;",
    ]
    pos, x = rng.normal(size=(30, 3)), rng.normal(size=30)
    found = gdr.PairSum(law, 1.5, skin=0, s2=0.5)(pos, sources={"x": x}).f
    d = pos - pos[:, None]
    r2 = (d**2).sum(2)
    weight = np.where(r2 < 1.5**2, x * np.sqrt(r2 + 0.5), 0)
    assert error(found, (d * weight[:, :, None]).sum(1)) < 1e-12
    for quantities, message in (
        ({"q": "pos"}, r"quantities: the kernel has no input 'q'.*\(known: c, r, s2, x\)"),
        ({"f": "mass"}, "no input 'f'"),
        ({"r": "pos^3"}, "quantities: 'r': expected the name of a quantity, .* got 'pos\\^3'"),
        ({"r": 3}, "got 3"),
        ({"r": "pos; x"}, "expected the name of a quantity"),
    ):
        with pytest.raises(ValueError, match=message):
            gdr.kernel(quantities=quantities)(law.function)


def test_vectors_of_a_python_function_are_positions_in_sums_and_trees(rng):
    @gdr.kernel
    def soft(i, j, eps2=0.01):
        d = j.x - i.x
        i.f += j.q * d / (np.dot(d, d) + eps2)

    pos, q = rng.normal(size=(50, 3)), rng.normal(size=50)
    d = pos - pos[:, None]
    r2 = (d**2).sum(2)
    weights = q / (r2 + 0.01)
    got = gdr.PairSum(soft, 2.0, skin=0)(pos, sources={"q": q}).f
    assert error(got, (d * (weights * (r2 < 4))[:, :, None]).sum(1)) < 1e-12
    got = soft.tree(eps2=0.01)(pos, sources={"q": q}).f
    assert error(got, (d * weights[:, :, None]).sum(1)) < 1e-6


def test_exponents_may_be_parameters_and_attributes(rng):
    @gdr.kernel
    def powers(i, j, n=2.5):
        r = abs(j.x - i.x) + 0.1
        i.a += r**n + pow(r, i.p)

    x = rng.uniform(0, 1, 12)
    r = abs(x - x[:, None]) + 0.1
    got = powers(targets={"x": x, "p": x}, sources={"x": x}, n=1.7)
    assert error(got.a, (r**1.7 + r ** x[:, None]).sum(1)) < 1e-14


@pytest.mark.parametrize(
    ("table", "index", "message"),
    [
        ([1.0, 2.0], "int(j.x)][int(j.x)", "this table takes 1 index"),
        ([[1.0, 2.0]], "int(j.x)", "this table takes 2 indices"),
        ([1.0, np.nan], "int(j.x)", "the elements of a table must be finite"),
        ([], "int(j.x)", "a table is a constant array of numbers with one or two indices"),
        (["a"], "int(j.x)", "a table is a constant array of numbers with one or two indices"),
        (np.ones((2, 2, 2)), "int(j.x)", "a table is a constant array of numbers"),
        ([1.0, 2.0], "int(j.x):", "the index of a table is an integer, without a slice"),
        ([1.0, 2.0], "j.x + 0.5", "int"),
    ],
)
def test_invalid_tables_are_errors_with_the_line(tmp_path, table, index, message):
    path = tmp_path / "tables.py"
    path.write_text(f"def law(i, j):\n    i.f += TABLE[{index}]\n")
    spec = importlib.util.spec_from_file_location("tables", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.TABLE = table
    with pytest.raises(gdr.ProgramError, match=message) as raised:
        gdr.kernel(module.law)
    assert "tables.py:2" in str(raised.value)
