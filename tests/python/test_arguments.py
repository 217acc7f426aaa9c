"""Every public function with every kind of array: supported kinds give equal results, others raise
a TypeError or ValueError that names the argument."""

import inspect
import re
from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np
import pytest
from conftest import read_only

import gdr
from gdr import linalg

RNG = np.random.default_rng(99)
N = 6


class Carrier:
    """An array type that NumPy can only convert through `__array__`."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if isinstance(self.array, Exception):
            raise self.array
        return self.array


def sixteenths(*shape: int) -> np.ndarray:
    """Positive numbers that float32 represents exactly."""
    return RNG.integers(8, 64, shape) / 16.0


class Case(NamedTuple):
    call: Callable[..., Any]
    arrays: Dict[str, np.ndarray]  # by argument name in messages
    finite: bool = True  # NaN and infinities raise ValueError
    stacks: bool = False  # further dimensions are stacks
    double: bool = True  # float32 is converted to float64


PAIR_LAW = """
VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARF u;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
u += exp(-(dx*dx + dy*dy + dz*dz));
"""
TREE_LAW = """
VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj as charge; VARF s;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
s += qj*exp(-(dx*dx + dy*dy + dz*dz));
"""
MATRIX = sixteenths(4, 4) + 8 * np.eye(4)
SYMMETRIC = MATRIX + MATRIX.T
STACK = np.stack([MATRIX, 2 * MATRIX])
CASES: Dict[str, Case] = {
    "gravity": Case(
        lambda pos, mass, targets: gdr.gravity(pos, mass, 0.5, targets),
        {"pos": sixteenths(N, 3), "mass": sixteenths(N), "targets": sixteenths(4, 3)},
    ),
    "gravity with softening of each particle": Case(
        lambda pos, mass, eps, targets, target_eps: gdr.gravity(
            pos, mass, eps, targets, target_eps=target_eps
        ),
        {
            **{"pos": sixteenths(N, 3), "mass": sixteenths(N), "eps": sixteenths(N)},
            **{"targets": sixteenths(4, 3), "target_eps": sixteenths(4)},
        },
    ),
    "gravity with velocities": Case(
        lambda pos, mass, vel, targets, target_vel: gdr.gravity(
            pos, mass, 0.5, targets, vel=vel, target_vel=target_vel
        ),
        {
            **{"pos": sixteenths(N, 3), "mass": sixteenths(N), "vel": sixteenths(N, 3)},
            **{"targets": sixteenths(4, 3), "target_vel": sixteenths(4, 3)},
        },
    ),
    "neighbours": Case(
        lambda pos, radius, targets: gdr.neighbours(pos, radius, targets=targets).indices,
        {"pos": sixteenths(N, 3), "radius": sixteenths(4), "targets": sixteenths(4, 3)},
    ),
    "neighbour_pairs": Case(
        lambda pos, radius, box: gdr.neighbour_pairs("ijdDS", pos, radius, box=box),
        {"pos": sixteenths(N, 3), "radius": sixteenths(N), "box": 1 + sixteenths(3)},
    ),
    "PairSum": Case(
        lambda pos, cutoff, box: gdr.PairSum(PAIR_LAW, cutoff, box=box, skin=0)(pos).u,
        {"pos": sixteenths(N, 3), "cutoff": sixteenths(N), "box": 1 + sixteenths(3)},
    ),
    "sph.density": Case(
        lambda pos, mass, h, box: gdr.sph.density(pos, mass, h, box=box),
        {
            "pos": sixteenths(N, 3),
            "mass": sixteenths(N),
            "h": sixteenths(N),
            "box": 1 + sixteenths(3),
        },
    ),
    "sph.smoothing_lengths": Case(
        lambda pos, mass: gdr.sph.smoothing_lengths(pos, mass, box=(4, 4, 4)),
        {"pos": sixteenths(N, 3), "mass": sixteenths(N)},
    ),
    "sph.forces": Case(
        lambda **given: gdr.sph.forces(**given),
        {
            **{name: sixteenths(N, 3) for name in ("pos", "vel")},
            **{name: sixteenths(N) for name in ("mass", "h", "rho", "pressure", "sound")},
        },
    ),
    "ewald": Case(
        lambda pos, charge, box: gdr.ewald(pos, charge, box),
        {"pos": sixteenths(N, 3), "charge": sixteenths(N), "box": 1 + sixteenths(3)},
    ),
    "TreeSum": Case(
        lambda pos, qj: gdr.TreeSum(TREE_LAW)(pos, sources={"qj": qj}).s,
        {"pos": sixteenths(N, 3), "qj": sixteenths(N)},
    ),
    "matmul": Case(linalg.matmul, {"a": MATRIX, "b": MATRIX}, False, True, False),
    "MatrixProduct": Case(
        lambda a, b: linalg.MatrixProduct()(a, b), {"a": MATRIX, "b": MATRIX}, False, False, False
    ),
    "lu": Case(lambda a: linalg.lu(a).factors, {"a": MATRIX}),
    "LU.solve": Case(lambda b: linalg.lu(MATRIX).solve(b), {"b": sixteenths(4, 2)}),
    "solve": Case(linalg.solve, {"a": MATRIX, "b": sixteenths(4)}),
    "cholesky": Case(lambda a: linalg.cholesky(a).factor, {"a": SYMMETRIC}),
    "Cholesky.solve": Case(lambda b: linalg.cholesky(SYMMETRIC).solve(b), {"b": sixteenths(4)}),
    "solve_triangular": Case(linalg.solve_triangular, {"a": MATRIX, "b": sixteenths(4)}),
    "batch_matmul": Case(linalg.batch_matmul, {"a": STACK, "b": STACK}, False),
    "batch_lu": Case(lambda a: linalg.batch_lu(a).factors, {"a": STACK}),
    "BatchLU.solve": Case(lambda b: linalg.batch_lu(STACK).solve(b), {"b": sixteenths(2, 4)}),
    "batch_solve": Case(linalg.batch_solve, {"a": STACK, "b": sixteenths(2, 4)}),
    "operator": Case(lambda a: linalg.operator(a) @ np.ones(4), {"a": MATRIX}, double=False),
    "Kernel": Case(
        lambda xi, xj: gdr.builtin("lennard_jones")(
            targets={"xi": xi, "yi": 0, "zi": 0}, sources={"xj": xj, "yj": 1, "zj": 2.0}, rc2=9.0
        ),
        {"xi": sixteenths(N), "xj": sixteenths(5)},
    ),
    "kernel": Case(
        lambda x, y: pull(targets={"x": x}, sources={"x": y}, k=2.0),
        {"x": sixteenths(N), "y": sixteenths(5)},
    ),
    "Job": Case(lambda xi, xj: run_job(xi, xj), {"xi": sixteenths(N), "xj": sixteenths(5)}),
    "SetJob": Case(lambda xi, xj: run_set_job(xi, xj), {"xi": sixteenths(N), "xj": sixteenths(5)}),
    "SetJob.run_sets": Case(
        lambda xi, xj: run_single_sets(xi, xj), {"xi": sixteenths(N), "xj": sixteenths(5)}
    ),
    "Machine": Case(lambda xi, xj: run_machine(xi, xj), {"xi": sixteenths(N), "xj": sixteenths(5)}),
    "debug": Case(lambda xi, xj: run_debugger(xi, xj), {"xi": sixteenths(N), "xj": sixteenths(5)}),
}


@gdr.kernel
def pull(i, j, k):
    i.f += k * (j.x - i.x)


_GRID = []


def _grid():
    if not _GRID:
        _GRID.append(linalg.DistributedMatrices(block=2))
    return _GRID[0]


CASES["DistributedMatrices"] = Case(
    lambda a, b: _grid().solve(_grid().from_array(a), b), {"a": MATRIX, "b": sixteenths(4)}
)


def run_job(xi, xj):
    job = gdr.default_device().job(gdr.builtin("lennard_jones"))
    job.set(rc2=9.0)
    job.sources(xj=np.zeros(5), yj=1.0, zj=2)
    job.update_sources(0, xj=xj)
    job.targets(xi=xi, yi=0, zi=0)
    return job.run()


def set_job():
    job = gdr.default_device().set_job(gdr.builtin("lennard_jones"))
    job.set(rc2=9.0)
    return job


def run_set_job(xi, xj):
    sources = gdr.SourceLists({"xj": xj, "yj": 1.0, "zj": 2}, [0, 2, 4], [1, 4, 3, 3])
    return set_job().run({"xi": xi, "yi": 0, "zi": 0}, [0, 4, N], sources)


def run_single_sets(xi, xj):
    return set_job().run_sets([({"xi": xi, "yi": 0, "zi": 0}, {"xj": xj, "yj": 1.0, "zj": 2})])[0]


def run_machine(xi, xj):
    machine = gdr.Machine(blocks=1, pes=2)
    machine.load(gdr.builtin("lennard_jones"))
    machine.set(rc2=9.0)
    machine.sources(xj=xj, yj=1.0, zj=2)
    machine.targets(xi=xi, yi=0, zi=0)
    machine.run()
    return machine.results()


def run_debugger(xi, xj):
    debugger = gdr.debug(
        gdr.builtin("lennard_jones"),
        targets={"xi": xi, "yi": 0, "zi": 0},
        sources={"xj": xj, "yj": 1.0, "zj": 2},
        rc2=9.0,
        device="emulator:blocks=1,pes=2",
    )
    debugger.run()
    return debugger.results()


def particle_case(name: str) -> Case:
    function = getattr(gdr, name)
    vectors = ("pos", "vel", "acc")
    arrays, numbers = {}, {}
    for argument in inspect.signature(function).parameters:
        if argument in ("targets", "out", "dtype", "device"):
            continue
        if argument in function._parameters:
            numbers[argument] = 0.5
        else:
            arrays[argument] = sixteenths(N, 3) if argument in vectors else sixteenths(N)
    return Case(lambda **given: function(**given, **numbers), arrays)


CASES.update({name: particle_case(name) for name in gdr.builtin_names() if name != "gravity"})

#: Public names without array arguments.
WITHOUT_ARRAYS = {
    *("Device", "ParticleKernel", "FunctionKernel", "Variable", "Statistics", "RankReport"),
    *("TimelineEvent", "BoardTest", "ArrayVariable", "Gravity", "SourceLists", "assemble"),
    *("Particle", "ResultArrays", "Neighbours", "get_cmake_dir", "get_include"),
    *("get_library_dir", "get_pkgconfig_dir", "get_prefix"),
    *("builtin", "Debugger", "StreamStatistics"),
    *("builtin_names", "compile", "grad"),
    *("default_device", "from_object", "load", "open", "set_default_device"),
    *("BatchLU", "Cholesky", "LU", "LinAlgError", "DistributedLU", "DistributedMatrix"),
    *("GridTimes", "PairStatistics", "TreeSumReport"),
    *("Estimate", "estimate", "quiet"),
}


def test_every_public_function_has_a_case():
    for module in (gdr, linalg):
        for name in module.__all__:
            thing = getattr(module, name)
            error = isinstance(thing, type) and issubclass(thing, (Exception, Warning))
            if callable(thing) and not error:
                assert name in CASES or name in WITHOUT_ARRAYS, name


def flat(result: Any) -> Tuple[np.ndarray, ...]:
    if isinstance(result, dict):
        return tuple(result.values())
    return result if isinstance(result, tuple) else (result,)


GOOD = {
    "a list": lambda a: a.tolist(),
    "an object with __array__": Carrier,
    "a memoryview": lambda a: memoryview(np.ascontiguousarray(a)),
    "Fortran order": np.asfortranarray,
    "a larger stride": lambda a: np.repeat(a, 3, axis=0)[::3],
    "a negative stride": lambda a: a[::-1].copy()[::-1],
    "swapped bytes": lambda a: a.astype(a.dtype.newbyteorder()),
    "read-only": lambda a: read_only(a.copy()),
    "an empty mask": lambda a: np.ma.masked_array(a, mask=np.zeros(a.shape, bool)),
    "a subclass": lambda a: a.view(np.recarray),
}


@pytest.mark.parametrize("name", CASES)
def test_supported_array_kinds_give_equal_results(name):
    case = CASES[name]
    want = flat(case.call(**case.arrays))
    kinds = dict(GOOD)
    if case.double:
        kinds["float32"] = lambda a: a.astype(np.float32)
    for kind, change in kinds.items():
        given = {argument: change(array) for argument, array in case.arrays.items()}
        for got, right in zip(flat(case.call(**given)), want):
            assert np.array_equal(got, right, equal_nan=True), kind


def broken(value):
    def change(a):
        a = a.copy()
        a.flat[-1] = value
        return a

    return change


BAD = {
    "None": (TypeError, lambda a: None),
    "a string": (TypeError, lambda a: "three"),
    "strings": (TypeError, lambda a: a.astype(str)),
    "objects": (TypeError, lambda a: a.astype(object)),
    "complex numbers": (TypeError, lambda a: a + 1j),
    "dates": (TypeError, lambda a: a.astype("datetime64[s]")),
    "tables with text": (TypeError, lambda a: a.astype([("x", float), ("name", "U8")])),
    "long doubles": (TypeError, lambda a: a.astype(np.longdouble)),
    "integers beyond 64 bits": (TypeError, lambda a: [2**70] * len(a)),
    "a ragged list": (TypeError, lambda a: [[1.0, 2.0], [3.0]]),
    "a dictionary": (TypeError, lambda a: {"x": a}),
    "a function": (TypeError, lambda a: len),
    "objects in __array__": (TypeError, lambda a: Carrier(a.astype(object))),
    "an __array__ that fails": (TypeError, lambda a: Carrier(RuntimeError("on another device"))),
    "a masked element": (ValueError, lambda a: np.ma.masked_array(a, mask=a == a.flat[0])),
}
NOT_FINITE = {
    "a NaN": (ValueError, broken(np.nan)),
    "an infinity": (ValueError, broken(-np.inf)),
}


@pytest.mark.parametrize("name", CASES)
def test_invalid_arrays_raise_an_error_with_the_argument(name):
    case = CASES[name]
    bad = {**BAD, **(NOT_FINITE if case.finite else {})}
    if not case.stacks:
        bad["too many dimensions"] = (ValueError, lambda a: a[None, None, None])
    for argument, array in case.arrays.items():
        for what, (kind, change) in bad.items():
            if argument in ("targets", "target_eps", "box") and what == "None" and name != "ewald":
                continue  # None is valid: no targets, no lengths of theirs, open space
            try:
                case.call(**{**case.arrays, argument: change(array)})
            except kind as error:
                shown = "x" if name == "kernel" else argument
                assert re.search(rf"(^|\W){shown}\w?(\W|$)", str(error)), f"{what}: {error}"
            else:
                pytest.fail(f"{argument}: {what} was accepted")


def test_integers_not_representable_in_float64_raise_value_error():
    pos = np.zeros((3, 3), np.int64)
    pos[1, 2] = 2**60
    gdr.gravity(pos, 1.0, 1.0)
    pos[2, 0] = 2**53 + 1
    with pytest.raises(ValueError, match=r"pos\[2, 0\] is 9007199254740993, which float64 cannot"):
        gdr.gravity(pos, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"xj\[0\] is -9007199254740993"):
        one_source().update_sources(0, xj=[-(2**53) - 1])
    ids = gdr.compile("kernel k; VARI int i; VARJ int j; VARF int f; f += i - j;")
    far = 2**33 + 1  # within the 36 bits of a short
    assert ids(targets={"i": [far]}, sources={"j": [far - 3]})["f"][0] == 3


P = sixteenths(N, 3)
NUMBERS: Dict[str, Callable[[Any], Any]] = {
    "eps": lambda v: gdr.gravity_jerk(P, 1.0, P, v),
    "rc": lambda v: gdr.lennard_jones(P, v),
    "rc2": lambda v: gdr.default_device().job(gdr.builtin("lennard_jones")).set(rc2=v),
    "k": lambda v: pull(targets={"x": P[:, 0]}, sources={"x": P[:, 0]}, k=v),
    "alpha": lambda v: linalg.matmul(MATRIX, MATRIX, alpha=v),
    "beta": lambda v: linalg.matmul(MATRIX, MATRIX, out=np.zeros((4, 4)), beta=v),
    "device_flops": lambda v: linalg.lu(MATRIX, device_flops=v),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_invalid_numbers_raise_an_error_with_the_argument(name):
    for value in (None, "1", b"1", True, 1j, [1.0, 2.0], np.ones(2), object()):
        with pytest.raises(TypeError, match=rf"^{name}: expected a number"):
            NUMBERS[name](value)
    for value in (np.nan, np.inf, -np.inf, np.float64("nan")):
        with pytest.raises(ValueError, match=rf"^{name}: expected a finite number"):
            NUMBERS[name](value)
    for value in (1, np.float32(1), np.int64(1), np.array(1.0)):
        NUMBERS[name](value)


INTEGERS: Dict[str, Callable[[Any], Any]] = {
    "block": lambda v: linalg.lu(MATRIX, block=v),
    "rounds": lambda v: gdr.default_device().test(v + 1 if type(v) is int else v),
    "rows": lambda v: linalg.DistributedMatrices(rows=v),
    "instructions": lambda v: stepped().run(v),
    "address": lambda v: stepped().write("local", 0, v, 1),
    "pe": lambda v: stepped().write("local", 0, 1, 1, pe=v),
}


def stepped():
    machine = gdr.Machine(blocks=1, pes=2)
    machine.load(gdr.builtin("lennard_jones"))
    return machine


def one_source():
    job = gdr.default_device().job(gdr.builtin("lennard_jones"))
    job.sources(xj=[0.0], yj=0, zj=0)
    return job


@pytest.mark.parametrize("name", INTEGERS)
def test_invalid_integers_raise_an_error_with_the_argument(name):
    for value in (None, "1", 1.0, True, [1], np.ones(2)):
        if name == "instructions" and value is None:
            continue  # None is valid: all instructions
        with pytest.raises(TypeError, match=rf"^{name}: expected an integer"):
            INTEGERS[name](value)
    with pytest.raises(ValueError, match=rf"^{name}: expected at least \d, got -"):
        INTEGERS[name](-2)
    with pytest.raises(ValueError, match=rf"^{name}: expected at most \d+, got "):
        INTEGERS[name](2**70)
    INTEGERS[name](0)


RESULTS: Dict[str, Tuple[Callable[[Any], Any], np.ndarray]] = {
    "acc": (lambda out: gdr.gravity(P, 1.0, acc=out), np.empty((N, 3))),
    "jerk": (lambda out: gdr.gravity(P, 1.0, vel=P, jerk=out), np.empty((N, 3))),
    "pot": (lambda out: gdr.gravity(P, 1.0, pot=out), np.empty(N)),
    "out": (lambda out: linalg.matmul(MATRIX, MATRIX, out=out), np.empty((4, 4))),
    "u": (lambda out: lennard_jones_job().run({"u": out}), np.empty(N)),
}


def lennard_jones_job():
    job = gdr.default_device().job(gdr.builtin("lennard_jones"))
    job.set(rc2=1.0)
    job.sources(xj=P[:, 0], yj=0, zj=0)
    job.targets(xi=P[:, 0], yi=0, zi=0)
    return job


@pytest.mark.parametrize("name", RESULTS)
def test_invalid_output_arrays_raise_an_error_with_the_argument(name):
    call, fits = RESULTS[name]
    call(fits)
    for kind, out in (
        (TypeError, fits.tolist()),
        (TypeError, Carrier(fits)),
        (TypeError, fits.astype(np.int64)),
        (TypeError, fits.astype(complex)),
        (TypeError, fits.astype(object)),
        (TypeError, fits.astype(fits.dtype.newbyteorder())),
        (ValueError, read_only(fits.copy())),
        (ValueError, np.broadcast_to(np.float64(0), fits.shape)),
        (ValueError, np.empty((7, *fits.shape[1:]))),
        (ValueError, np.empty((*fits.shape, 1))),
    ):
        with pytest.raises(kind, match=rf"^{name}: "):
            call(out)


def test_output_arrays_overlapping_inputs_raise_value_error():
    buffer = np.zeros((N + 1, 3))
    for arguments in (
        {"pos": buffer[1:], "mass": 1.0, "acc": buffer[:-1]},
        {"pos": P, "mass": buffer.ravel()[:N], "acc": buffer[:N]},
        {"pos": P, "mass": 1.0, "acc": buffer[:N], "pot": buffer.ravel()[:N]},
        {"pos": P, "mass": 1.0, "targets": buffer[:2], "pot": buffer.ravel()[:2]},
    ):
        with pytest.raises(ValueError, match="(acc|pot): overlaps (pos|mass|pot|targets)"):
            gdr.gravity(**arguments)


def test_sources_and_targets_of_wrong_type_raise_type_error():
    kernel = gdr.builtin("lennard_jones")
    expected = "expected a dictionary of arrays, or a number"
    side = {"xi": [0.0], "yi": 0, "zi": 0}
    for wrong in ([1.0], "three", None, 2.5, True):
        with pytest.raises(TypeError, match=f"sources: {expected}"):
            kernel(sources=wrong, targets=side, rc2=1.0)
        with pytest.raises(TypeError, match=f"targets: {expected}"):
            kernel(sources=3, targets=wrong, rc2=1.0)
    with pytest.raises(TypeError, match="params: expected a dictionary"):
        kernel(sources=3, targets=side, params=[1.0])
