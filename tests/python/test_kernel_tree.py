"""gdr.TreeSum beside direct sums."""

from typing import Any, Dict, List, Tuple

import numpy as np
import pytest

import gdr

N = 20000
POSITIONS = """
VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz;
"""
YUKAWA = f"""
CONST kappa; VARJ qj as charge; VARF fx, fy, fz, pot;
{POSITIONS}
skip if (r2 == 0);
rinv = rsqrt(r2);
u = qj*exp(-(kappa*(r2*rinv)))*rinv;
f = u*(kappa + rinv)*rinv;
fx += f*dx; fy += f*dy; fz += f*dz; pot += u;
"""
MATERN = f"""
CONST scale; VARJ wj; VARF s;
{POSITIONS}
r = scale*sqrt(5*r2);
s += wj*(1 + r + r*r*0.3333333333333333)*exp(-r);
"""
STOKESLET = f"""
VARJ vec3 force; VARF vec3 u;
{POSITIONS}
skip if (r2 == 0);
rinv = rsqrt(r2);
along = (force.x*dx + force.y*dy + force.z*dz)*rinv*rinv;
u.x += rinv*(force.x + along*dx);
u.y += rinv*(force.y + along*dy);
u.z += rinv*(force.z + along*dz);
"""
#: Kernel, parameters, charges with their shapes, vectors of results.
Law = Tuple[Any, Dict[str, float], Dict[str, Tuple[int, ...]], List[List[str]]]
LAWS: Dict[str, Law] = {
    "yukawa": (YUKAWA, {"kappa": 2.0}, {"qj": (N,)}, [["fx", "fy", "fz"], ["pot"]]),
    "matern": (MATERN, {"scale": 2.0}, {"wj": (N,)}, [["s"]]),
    "stokeslet": (STOKESLET, {}, {"force": (N, 3)}, [["u"]]),
    "coulomb": (gdr.coulomb, {}, {"qj": (N,)}, [["ex", "ey", "ez"], ["pot"]]),
    "gauss_sum": (gdr.gauss_sum, {"gamma": 8.0}, {"qj": (N,)}, [["s"]]),
}


def cube(n: int = N, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).uniform(size=(n, 3))


def charges_of(shapes: Dict[str, Tuple[int, ...]]) -> Dict[str, np.ndarray]:
    random = np.random.default_rng(2)
    return {name: random.normal(size=shape) + 0.3 for name, shape in shapes.items()}


def stacked(found: Any, names: List[str]) -> np.ndarray:
    return np.concatenate([np.asarray(found[k]).reshape(len(found[k]), -1) for k in names], axis=1)


def error(found: Any, right: Any, names: List[str]) -> float:
    a, b = stacked(found, names), stacked(right, names)
    return float(np.sqrt(((a - b) ** 2).sum() / (b**2).sum()))


def direct_sums(law: Any, pos: np.ndarray, charges: Dict[str, np.ndarray], **params: float) -> Any:
    """All pairs, through a call whose number of particles needs no tree."""
    parts = [
        gdr.TreeSum(law, **params)(pos, targets={"pos": some}, sources=charges)
        for some in np.array_split(pos, len(pos) // 900 + 1)
    ]
    return {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}


@pytest.mark.parametrize("name", list(LAWS))
def test_all_particles_have_the_accuracy_that_was_asked_for(name: str):
    law, params, shapes, vectors = LAWS[name]
    charges = charges_of(shapes)
    pos = cube()
    right = direct_sums(law, pos, charges, **params)
    for accuracy in (1e-2, 1e-4):
        tree = gdr.TreeSum(law, accuracy, **params)
        found = tree(pos, sources=charges)
        report = tree.report
        assert report is not None
        assert report.error <= accuracy
        assert report.reason or report.degree > 0
        # Direct sums have none.
        named = [", ".join(names) for names in vectors] if report.degree > 0 else []
        assert list(report.errors) == named
        for names in vectors:
            assert error(found, right, names) <= 1.2 * accuracy
    tree = gdr.TreeSum(law, 1e-3, degree=3, **params)
    found = tree(pos, sources=charges)
    assert tree.report is not None
    assert tree.report.degree == 3
    assert tree.report.sources_per_target < N
    for names in vectors:
        assert error(found, right, names) <= 1.2e-3


def test_trees_of_kernels_and_their_charges():
    kernel = gdr.compile(YUKAWA)
    tree = kernel.tree(1e-2, kappa=1.0)
    assert isinstance(tree, gdr.TreeSum)
    assert tree.charges == ("qj",)
    assert tree.report is None
    assert gdr.compile(STOKESLET).tree().charges == ("force_0", "force_1", "force_2")
    assert gdr.TreeSum(gdr.gravity_jerk).charges == ("mj", "vxj", "vyj", "vzj")
    assert "yukawa" not in repr(tree) and "TreeSum" in repr(tree)


def test_a_python_function_has_a_tree():
    @gdr.kernel
    def soft(i, j, eps2=0.01):
        dx, dy, dz = j.x - i.x, j.y - i.y, j.z - i.z
        f = j.q / (dx * dx + dy * dy + dz * dz + eps2)
        i.ex += f * dx
        i.ey += f * dy
        i.ez += f * dz

    pos = cube(3000)
    charge = np.random.default_rng(4).normal(size=3000)
    tree = soft.tree(1e-3, degree=3, eps2=0.01)
    found = tree(pos, sources={"q": charge})
    right = soft.tree(eps2=0.01)(pos, sources={"q": charge})
    assert tree.charges == ("q",)
    assert tree.report is not None
    assert tree.report.degree == 3
    assert list(tree.report.errors) == ["ex, ey, ez"]
    assert error(found, right, ["ex", "ey", "ez"]) <= 1.2e-3


def test_few_particles_are_summed_directly():
    tree = gdr.TreeSum(YUKAWA, kappa=1.0)
    pos, charge = cube(500), np.ones(500)
    found = tree(pos, sources={"qj": charge})
    d = pos[:, None] - pos
    r = np.linalg.norm(d, axis=2) + np.eye(500)
    pot = (np.exp(-r) / r * (1 - np.eye(500))).sum(1)
    np.testing.assert_allclose(found.pot, pot, rtol=1e-6)
    assert tree.report is not None
    assert tree.report.degree == 0
    assert tree.report.error == 0
    assert tree.report.reason == "there are few particles"
    assert tree(np.empty((0, 3)), sources={"qj": []}).pot.shape == (0,)
    one = tree(np.zeros((1, 3)), sources={"qj": [1.0]}, targets=[[0.0, 0.0, 2.0]])
    np.testing.assert_allclose(one.pot, [np.exp(-2.0) / 2], rtol=1e-6)


def test_planes_lines_and_points():
    for flat in (1, 2, 3):
        pos = cube(4000)
        pos[:, 3 - flat :] = 0.5
        charge = np.random.default_rng(5).normal(size=4000)
        tree = gdr.TreeSum(MATERN, 1e-4, degree=4, scale=1.0)
        found = tree(pos, sources={"wj": charge})
        right = gdr.TreeSum(MATERN, scale=1.0)(pos, sources={"wj": charge})
        assert error(found, right, ["s"]) < 1.2e-4


def test_numbers_of_particles_and_targets():
    pos, charge = cube(3000), np.ones(3000)
    tree = gdr.TreeSum(gdr.gravity_jerk, 1e-3, degree=3, eps2=1e-4)
    zero = np.zeros(3000)
    velocity = dict.fromkeys(("vxj", "vyj", "vzj"), zero)
    own = {name: zero for name in ("vxi", "vyi", "vzi")}
    found = tree(pos, sources={"mj": charge, **velocity}, targets=own)
    acc, pot = gdr.gravity(pos, charge, 0.01)
    # Particles do not act on themselves: that would be 1 / eps = 100 each.
    assert np.sqrt(np.mean((found.pot - pot) ** 2)) < 1e-3 * np.sqrt(np.mean(pot**2))
    ids = np.arange(3000) // 2
    bonded = gdr.TreeSum(gdr.coulomb, 1e-3, degree=3)
    found = bonded(pos, sources={"qj": charge, "idj": ids}, targets={"idi": ids})
    assert bonded.report is not None
    assert "equal numbers" in bonded.report.reason
    some = gdr.TreeSum(gdr.coulomb, 1e-3, degree=3)
    elsewhere = some(pos, sources={"qj": charge}, targets=cube(100, 9) + 0.5)
    assert elsewhere.pot.shape == (100,)


def test_the_same_bits_on_any_number_of_threads():
    law, params, shapes, vectors = LAWS["stokeslet"]
    charges, pos = charges_of(shapes), cube()
    found = []
    for threads in (1, 2, 3):
        with gdr.open("native", threads=threads) as device:
            tree = gdr.TreeSum(law, 1e-3, device=device, **params)
            found.append(tree(pos, sources=charges).u)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_results_are_selected_and_filled():
    tree = gdr.TreeSum(YUKAWA, degree=2, theta=0.5, kappa=1.0)
    pos, charge = cube(2000), np.ones(2000, np.float32)
    whole = tree(pos, sources={"qj": charge})
    filled = np.full(2000, np.nan, np.float32)
    tree(pos, sources={"qj": charge}, results={"pot": filled})
    np.testing.assert_allclose(filled, whole.pot, rtol=1e-6)
    assert tree.report is not None
    assert list(tree.report.errors) == ["pot"]
    assert list(tree(pos, sources={"qj": charge}, results=["fx"])) == ["fx"]


def test_errors_name_the_argument_or_the_variable():
    with pytest.raises(gdr.UnsupportedError, match='"fx" has no variable of the source'):
        gdr.TreeSum(gdr.lennard_jones)
    with pytest.raises(gdr.UnsupportedError, match='"rho" depends on "hj"'):
        gdr.TreeSum(gdr.sph_density)
    with pytest.raises(gdr.UnsupportedError, match="no text"):
        gdr.TreeSum(gdr.from_object(gdr.compile(YUKAWA).object))
    for wrong in (0, 1, -1e-3, float("nan")):
        with pytest.raises(ValueError, match="accuracy"):
            gdr.TreeSum(YUKAWA, wrong)
    for large in (0.76, 1.0):  # targets next to a cluster would have errors that no sample shows
        with pytest.raises(ValueError, match="theta must be above 0 and at most 0.75"):
            gdr.TreeSum(YUKAWA, theta=large)
    with pytest.raises(ValueError, match="degree must be 1 to 8"):
        gdr.TreeSum(YUKAWA, degree=9)
    wrong_kernel: Any = 3
    with pytest.raises(TypeError, match="kernel"):
        gdr.TreeSum(wrong_kernel)
    tree = gdr.TreeSum(YUKAWA, degree=2)
    pos, charge = cube(2000), np.ones(2000)
    with pytest.raises(gdr.UsageError, match="missing params: kappa"):
        tree(pos, sources={"qj": charge})
    tree.set(kappa=1.0)
    with pytest.raises(gdr.UsageError, match="qj"):
        tree(pos)
    charge[7] = np.nan
    with pytest.raises(ValueError, match=r"qj\[7\] is not a number"):
        tree(pos, sources={"qj": charge})
    pos[3, 1] = np.inf
    with pytest.raises(ValueError, match="pos"):
        tree(pos, sources={"qj": np.ones(2000)})
