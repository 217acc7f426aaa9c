"""Arrays of other libraries, types and layouts as arguments, and results of the same kind."""

import array
import ctypes
from typing import Any, Callable, Dict, NamedTuple

import numpy as np
import pytest

import gdr

RNG = np.random.default_rng(55)
N = 7
POS = RNG.integers(8, 64, (N, 3)) / 16.0  # float32 represents them exactly
MASS = RNG.integers(8, 64, N) / 16.0
VEL = POS[::-1].copy()

YUKAWA = gdr.compile(
    """
    CONST kappa; VARI vec3 x as pos; VARJ vec3 xs as pos; VARJ q as charge; VARF s; VARF vec3 f;
    d = xs - x; r = norm(d); skip if (r == 0);
    s += q*exp(-kappa*r)/r; f += q*d;
    """
)


@gdr.kernel
def spring(i, j, k=2.0):
    d = j.x - i.x
    i.f += k * j.m * d
    i.u += np.dot(d, d)


class Case(NamedTuple):
    call: Callable[..., Any]
    arrays: Dict[str, np.ndarray]
    #: Shapes of results that ``out=`` takes; None: the function has no such argument.
    fills: Any = None


def job(x, xs, q, **options):
    made = gdr.default_device().job(YUKAWA)
    made.set(kappa=0.5)
    made.sources(xs=xs, q=q)
    made.targets(x=x)
    return made.run(**options)


def set_job(x, xs, q, **options):
    made = gdr.default_device().set_job(YUKAWA)
    made.set(kappa=0.5)
    sources = gdr.SourceLists({"xs": xs, "q": q}, [0, 4, N])
    return made.run({"x": x}, [0, 3, N], sources, **options)


def sets(x, xs, q, **options):
    made = gdr.default_device().set_job(YUKAWA)
    made.set(kappa=0.5)
    return made.run_sets([({"x": x}, {"xs": xs, "q": q})], **options)[0]


YUKAWA_RESULTS = {"s": (N,), "f": (N, 3)}
YUKAWA_ARRAYS = {"x": POS, "xs": VEL, "q": MASS}
BOX = (8.0, 8.0, 8.0)
CASES = {
    "gravity": Case(
        lambda pos, mass, **o: gdr.gravity(pos, mass, 0.5, **o), {"pos": POS, "mass": MASS}
    ),
    "gravity with velocities": Case(
        lambda pos, mass, vel, **o: gdr.gravity(pos, mass, 0.5, vel=vel, **o),
        {"pos": POS, "mass": MASS, "vel": VEL},
    ),
    "gravity_jerk": Case(
        lambda pos, mass, vel, **o: gdr.gravity_jerk(pos, mass, vel, 0.5, **o),
        {"pos": POS, "mass": MASS, "vel": VEL},
        {"acc": (N, 3), "jerk": (N, 3), "pot": (N,)},
    ),
    "lennard_jones": Case(
        lambda pos, targets, **o: gdr.lennard_jones(pos, 9.0, targets=targets, **o),
        {"pos": POS, "targets": VEL},
        {"force": (N, 3), "u": (N,)},
    ),
    "Kernel": Case(
        lambda x, xs, q, **o: YUKAWA(targets={"x": x}, sources={"xs": xs, "q": q}, kappa=0.5, **o),
        YUKAWA_ARRAYS,
        YUKAWA_RESULTS,
    ),
    "kernel": Case(
        lambda x, m, **o: spring(targets={"x": x}, sources={"x": VEL, "m": m}, **o),
        {"x": POS, "m": MASS},
        {"f": (N, 3), "u": (N,)},
    ),
    "Job": Case(job, YUKAWA_ARRAYS, YUKAWA_RESULTS),
    "SetJob": Case(set_job, YUKAWA_ARRAYS, YUKAWA_RESULTS),
    "SetJob.run_sets": Case(sets, YUKAWA_ARRAYS),
    "PairSum": Case(
        lambda pos, q, **o: gdr.PairSum(YUKAWA, 3.0, box=BOX, skin=0, kappa=0.5)(
            pos, sources={"q": q}, **o
        ),
        {"pos": POS, "q": MASS},
        YUKAWA_RESULTS,
    ),
    "TreeSum": Case(
        lambda pos, q, **o: gdr.TreeSum(YUKAWA, kappa=0.5)(pos, sources={"q": q}, **o),
        {"pos": POS, "q": MASS},
        YUKAWA_RESULTS,
    ),
    "neighbours": Case(lambda pos: gdr.neighbours(pos, 2.0), {"pos": POS}),
    "neighbour_pairs": Case(
        lambda pos, **o: gdr.neighbour_pairs("ijdDS", pos, 2.0, box=BOX, **o), {"pos": POS}
    ),
    "ewald": Case(
        lambda pos, charge, **o: gdr.ewald(pos, charge, BOX, **o),
        {"pos": POS, "charge": MASS},
        {"energies": (N,), "force": (N, 3), "virial": (3, 3)},
    ),
    "sph.density": Case(
        lambda pos, mass, h, **o: gdr.sph.density(pos, mass, h, box=BOX, **o),
        {"pos": POS, "mass": MASS, "h": MASS},
        {"rho": (N,)},
    ),
    "sph.smoothing_lengths": Case(
        lambda pos, mass, **o: gdr.sph.smoothing_lengths(pos, mass, box=BOX, **o),
        {"pos": POS, "mass": MASS},
        {"h": (N,), "rho": (N,)},
    ),
    "sph.forces": Case(
        lambda pos, vel, mass, **o: gdr.sph.forces(pos, vel, mass, 1.0, 1.0, 1.0, 1.0, **o),
        {"pos": POS, "vel": VEL, "mass": MASS},
        {"acc": (N, 3), "dudt": (N,)},
    ),
}


def named(result):
    """The arrays of a result by name."""
    if isinstance(result, dict):
        return result
    found = result._asdict() if hasattr(result, "_asdict") else dict(enumerate(result))
    return {name: a for name, a in found.items() if not isinstance(a, (float, int))}


def libraries():
    """Functions that make arrays of other libraries, and types of these arrays."""
    found = {}
    try:
        import torch

        found["PyTorch"] = torch.from_numpy, torch.Tensor
    except ImportError:
        pass
    try:
        import jax

        found["JAX"] = jax.numpy.asarray, jax.Array
    except ImportError:
        pass
    try:
        import array_api_strict as strict

        found["array_api_strict"] = strict.asarray, type(strict.asarray([1.0]))
    except ImportError:
        pass
    return found


LIBRARIES = libraries()


@pytest.mark.parametrize("library", ["PyTorch", "JAX", "array_api_strict"])
@pytest.mark.parametrize("name", CASES)
def test_arrays_of_a_library_give_results_of_that_library(name, library):
    if library not in LIBRARIES:
        pytest.skip(f"{library} is not installed")
    convert, kind = LIBRARIES[library]
    case = CASES[name]
    want = named(case.call(**case.arrays))
    for numbers in (np.float32, np.float64):
        given = {k: convert(a.astype(numbers)) for k, a in case.arrays.items()}
        got = named(case.call(**given))
        assert got.keys() == want.keys()
        for key, value in got.items():
            assert isinstance(value, kind), key
            right, value = want[key], np.asarray(value)
            if right.dtype.kind == "f":
                expected = next(iter(given.values())).dtype  # JAX may have no float64
                assert str(expected).endswith(str(value.dtype)), (key, numbers)
                if value.dtype == np.float32:
                    right = right.astype(np.float32)
            assert np.array_equal(value, right, equal_nan=True), (key, numbers)


@pytest.mark.parametrize("name", [n for n in CASES if n != "neighbours"])
def test_dtype_chooses_the_type_of_results(name):
    case = CASES[name]
    want = named(case.call(**case.arrays))
    for given in (np.float64, np.float32):
        arrays = {k: a.astype(given) for k, a in case.arrays.items()}
        assert all(a.dtype != np.float32 for a in named(case.call(**arrays)).values())
        for dtype in (np.float32, "float32", np.dtype("f4")):
            for key, got in named(case.call(**arrays, dtype=dtype)).items():
                right = want[key].astype(np.float32) if want[key].dtype.kind == "f" else want[key]
                assert got.dtype == right.dtype and np.array_equal(got, right), key
    for wrong in (np.int64, "float16", "half", complex, 4, object):
        with pytest.raises(TypeError, match="dtype: expected float32 or float64, got"):
            case.call(**case.arrays, dtype=wrong)


FILLED = [name for name, case in CASES.items() if case.fills]


def layouts(shape, dtype):
    yield np.full(shape, 7, dtype)
    yield np.asfortranarray(np.full(shape, 7, dtype))
    yield np.full((2 * shape[0], *shape[1:]), 7, dtype)[::2]
    yield np.full(shape, 7, dtype)[::-1]


@pytest.mark.parametrize("name", FILLED)
def test_out_fills_arrays_of_any_layout(name):
    case = CASES[name]
    want = named(case.call(**case.arrays))
    for result, shape in case.fills.items():
        for dtype in (np.float64, np.float32):
            for target in layouts(shape, dtype):
                got = named(case.call(**case.arrays, out={result: target}))
                assert got[result] is target
                assert np.array_equal(target, want[result].astype(dtype)), (result, dtype)
                for other in want:
                    assert np.array_equal(got[other], want[other].astype(got[other].dtype))


@pytest.mark.parametrize("name", FILLED)
def test_out_takes_the_results_of_an_earlier_call(name):
    case = CASES[name]
    first = case.call(**case.arrays)
    right = {key: a.copy() for key, a in named(first).items()}
    for a in named(first).values():
        a[...] = 0
    again = case.call(**case.arrays, out=first)
    for key, a in named(again).items():
        assert a is named(first)[key] and np.array_equal(a, right[key])


@pytest.mark.parametrize("name", FILLED)
def test_unsuitable_arrays_to_fill_are_refused_by_name(name):
    case = CASES[name]
    result, shape = next(iter(case.fills.items()))
    fits = np.zeros(shape)
    for kind, wrong in (
        (TypeError, fits.tolist()),
        (TypeError, fits.astype(np.int64)),
        (TypeError, fits.astype(fits.dtype.newbyteorder())),
        (ValueError, np.broadcast_to(0.0, shape)),
        (ValueError, np.zeros((shape[0] + 1, *shape[1:]))),
    ):
        with pytest.raises(kind, match=rf"^{result}: "):
            case.call(**case.arrays, out={result: wrong})
    with pytest.raises((TypeError, gdr.UsageError), match="no result 'nothing'"):
        case.call(**case.arrays, out={"nothing": fits})
    with pytest.raises(TypeError, match="^out: expected a dictionary"):
        case.call(**case.arrays, out="text")


def test_out_in_the_memory_of_an_argument_is_refused():
    pos = POS.copy()
    with pytest.raises(ValueError, match="^force: overlaps"):
        gdr.lennard_jones(pos, 9.0, out={"force": pos})
    with pytest.raises(ValueError, match="^force: overlaps pos"):
        gdr.ewald(pos, MASS, BOX, out={"force": pos})
    with pytest.raises(ValueError, match="^rho: overlaps mass"):
        gdr.sph.density(POS, (m := MASS.copy()), 1.0, out={"rho": m})


def test_tensors_are_filled_and_arrays_of_jax_are_not():
    if "PyTorch" in LIBRARIES:
        import torch

        for dtype in (torch.float64, torch.float32):
            acc, pot = torch.zeros((N, 3), dtype=dtype), torch.zeros(N, dtype=dtype)
            got = gdr.gravity(POS, MASS, 0.5, acc=acc, pot=pot)
            assert got.acc is acc and got.pot is pot
            right = torch.from_numpy(gdr.gravity(POS, MASS, 0.5).acc).to(dtype)
            assert torch.equal(acc, right)
    if "JAX" in LIBRARIES:
        import jax.numpy as jnp

        with pytest.raises(TypeError, match="^acc: arrays of JAX cannot be filled"):
            gdr.gravity(POS, MASS, 0.5, acc=jnp.zeros((N, 3)))


def test_tensors_that_numpy_cannot_read_are_refused_with_a_reason():
    torch = pytest.importorskip("torch")
    pos = torch.from_numpy(POS)
    with pytest.raises(TypeError, match=r"^pos: a tensor that requires a gradient; use gdr.torch"):
        gdr.gravity(pos.clone().requires_grad_(), MASS)
    with pytest.raises(TypeError, match="^pos: a tensor with the layout torch.sparse_coo"):
        gdr.gravity(pos.to_sparse(), MASS)
    with pytest.raises(TypeError, match="^mass: a tensor on the device meta"):
        gdr.gravity(POS, torch.zeros(N, device="meta"))
    half = gdr.gravity(pos.bfloat16(), MASS, 0.5)
    assert half.acc.dtype == torch.float32
    right = gdr.gravity(pos.bfloat16().double().numpy(), MASS, 0.5).acc
    assert np.array_equal(half.acc.numpy(), right.astype(np.float32))
    turned = torch.from_numpy(POS.T.copy()).T  # another stride
    assert torch.equal(gdr.gravity(turned, MASS, 0.5).acc, gdr.gravity(pos, MASS, 0.5).acc)


def test_traced_arrays_of_jax_are_refused_with_a_reason():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="^pos: a value that jax.jit, jax.grad or jax.vmap traces"):
        jax.jit(lambda x: gdr.gravity(x, MASS).acc)(POS)


def test_arrays_of_two_libraries_in_one_call_are_refused():
    if len(LIBRARIES) < 2:
        pytest.skip("needs two libraries")
    (one, _), (other, _), *_ = LIBRARIES.values()
    with pytest.raises(TypeError, match=r"^mass: is an array of \w+, but pos is one of \w+"):
        gdr.gravity(one(POS), other(MASS))


def test_tensors_are_read_without_copies():
    torch = pytest.importorskip("torch")
    from gdr._array_kinds import numpy_view

    tensor = torch.from_numpy(POS)
    assert np.shares_memory(numpy_view("pos", tensor), POS)
    assert np.shares_memory(numpy_view("pos", tensor[:, 1]), POS)


class OnlyDLPack:
    """An array with DLPack and nothing else."""

    def __init__(self, values: np.ndarray, device: int = 1) -> None:
        self.values, self.device = values, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.values.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.device, 0


def test_objects_with_dlpack_or_a_buffer_are_arguments():
    want = gdr.gravity(POS, MASS, 0.5)
    mass = MASS.tolist()
    for given in (
        OnlyDLPack(MASS.copy()),
        memoryview(MASS),
        array.array("d", mass),
        array.array("f", mass),
        (ctypes.c_double * N)(*mass),
        tuple(mass),
        [np.float32(m) for m in mass],
    ):
        got = gdr.gravity(POS, given, 0.5)
        assert type(got.acc) is np.ndarray and np.array_equal(got.acc, want.acc)
    with pytest.raises(TypeError, match="^mass: an array in the memory of another device"):
        gdr.gravity(POS, OnlyDLPack(MASS.copy(), device=2), 0.5)


def test_truth_values_are_the_numbers_0_and_1():
    chosen = MASS > 2
    assert chosen.any() and not chosen.all()
    want = gdr.gravity(POS, chosen.astype(float), 0.5)
    for given in (chosen, chosen.tolist(), np.repeat(chosen, 2)[::2]):
        assert np.array_equal(gdr.gravity(POS, given, 0.5).acc, want.acc)
    charged = spring(targets={"x": POS}, sources={"x": VEL, "m": chosen})
    assert np.array_equal(charged.f, spring(targets={"x": POS}, sources={"x": VEL, "m": chosen * 1}).f)


def test_record_arrays_are_targets_and_sources():
    stars = np.zeros(N, [("id", "i4"), ("x", "f8", 3), ("m", "f4"), ("name", "U8")])
    stars["x"], stars["m"] = POS, MASS
    want = spring(targets={"x": POS}, sources={"x": POS, "m": MASS})
    for table in (stars, stars.view(np.recarray)):
        got = spring(targets=table, sources=table)
        assert np.array_equal(got.f, want.f)
    columns = np.zeros(N, [("xi", "f8"), ("xj", "f8"), ("yj", "f8"), ("zj", "f8")])
    columns["xi"], columns["xj"] = POS[:, 0], POS[:, 1]
    lj = gdr.builtin("lennard_jones")
    got = lj(targets={"xi": columns["xi"], "yi": 0, "zi": 0}, sources=columns, rc2=9.0)
    right = lj(
        targets={"xi": POS[:, 0], "yi": 0, "zi": 0},
        sources={"xj": POS[:, 1], "yj": 0, "zj": 0},
        rc2=9.0,
    )
    assert np.array_equal(got.u, right.u)
    with pytest.raises(TypeError, match="sources: missing: m"):
        spring(targets=stars, sources=stars[["x", "id"]])


def test_columns_of_dataframes_are_arrays_and_dataframes_are_tables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": POS[:, 0], "b": POS[:, 1], "c": POS[:, 2], "m": MASS})
    frame["label"] = "star"
    want = gdr.gravity(POS, MASS, 0.5)
    assert np.array_equal(gdr.gravity(frame[["a", "b", "c"]], frame["m"], 0.5).acc, want.acc)
    nullable = frame[["a", "b", "c", "m"]].convert_dtypes()
    assert np.array_equal(gdr.gravity(nullable[["a", "b", "c"]], nullable["m"], 0.5).acc, want.acc)
    missing = nullable["m"].copy()
    missing[3] = pandas.NA
    with pytest.raises(ValueError, match=r"^mass\[3\] is not a number"):
        gdr.gravity(POS, missing, 0.5)
    whole = pandas.Series([1, 2, None, 4, 5, 6, 7], dtype="Int64")
    with pytest.raises(ValueError, match=r"^mass\[2\] is (missing|not a number)"):
        gdr.gravity(POS, whole, 0.5)
    assert np.array_equal(
        gdr.gravity(POS, whole.fillna(3), 0.5).acc, gdr.gravity(POS, np.arange(1.0, 8), 0.5).acc
    )
    with pytest.raises(TypeError, match="^mass: expected"):
        gdr.gravity(POS, frame["label"], 0.5)

    @gdr.kernel
    def pull(i, j):
        i.f += j.m * (j.a - i.a)

    assert np.array_equal(
        pull(targets=frame, sources=frame).f,
        pull(targets={"a": POS[:, 0]}, sources={"a": POS[:, 0], "m": MASS}).f,
    )


def test_results_in_float32_take_no_array_of_float64(native):
    """Kernels write float32 themselves."""
    import tracemalloc

    n = 200_000
    x = np.zeros((n, 3))
    sources = {"x": np.ones((2, 3)), "m": 1.0}
    spring(targets={"x": x[:2]}, sources=sources, device=native)
    tracemalloc.start()
    try:
        got = spring(targets={"x": x}, sources=sources, dtype=np.float32, device=native)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert got.f.dtype == np.float32 and got.f[0, 0] == 4
    assert peak < 1.5 * got.f.nbytes + got.u.nbytes + 2 * n


def test_a_job_returns_arrays_of_the_library_of_its_last_arrays():
    torch = pytest.importorskip("torch")
    made = gdr.default_device().job(YUKAWA)
    made.set(kappa=0.5)
    made.sources(xs=torch.from_numpy(VEL), q=MASS)
    made.targets(x=POS)
    assert isinstance(made.run().s, torch.Tensor)
    made.start(["s"])
    assert isinstance(made.wait().s, torch.Tensor)
    made.sources(xs=VEL, q=MASS)
    assert isinstance(made.run().s, np.ndarray)


def test_a_vector_that_numpy_repeats_is_one_for_all_items():
    """Its array has the stride 0; other memory was read for all but the first item."""
    one, repeated = VEL[0], np.broadcast_to(VEL[0], (N, 3))
    want = spring(targets={"x": np.tile(one, (N, 1))}, sources={"x": POS, "m": MASS})
    got = spring(targets={"x": repeated}, sources={"x": POS, "m": MASS})
    assert np.array_equal(got.f, want.f)
    want = spring(targets={"x": POS}, sources={"x": np.tile(one, (N, 1)), "m": MASS})
    assert np.array_equal(spring(targets={"x": POS}, sources={"x": repeated, "m": MASS}).f, want.f)


def test_systems_of_one_call_fill_arrays_and_return_those_of_the_library():
    labels = np.array([3, 1, 3, 1, 2, 2, 3])
    alone = {"x": POS}, {"x": VEL, "m": MASS}
    for batch in ((labels, labels[::-1].copy()), (np.sort(labels), np.sort(labels))):
        want = spring(targets=alone[0], sources=alone[1], batch=batch)
        near = batch[0][:, None] == batch[1]
        right = 2 * ((VEL - POS[:, None]) * (near * MASS)[..., None]).sum(1)
        assert np.allclose(want.f, right, rtol=1e-12)
        for dtype in (np.float64, np.float32):
            filled = np.zeros((2 * N, 3), dtype)[::2]
            got = spring(targets=alone[0], sources=alone[1], batch=batch, out={"f": filled}, dtype=dtype)
            assert got.f is filled and got.u.dtype == dtype
            assert np.array_equal(filled, want.f.astype(dtype))
        if "PyTorch" in LIBRARIES:
            tensor = LIBRARIES["PyTorch"][0](POS)
            got = spring(targets={"x": tensor}, sources={"x": VEL, "m": MASS}, batch=batch)
            assert isinstance(got.f, LIBRARIES["PyTorch"][1])
            assert np.array_equal(got.f.numpy(), want.f)
