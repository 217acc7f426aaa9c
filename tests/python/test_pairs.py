"""gdr.PairSum beside a plain sum over all pairs and images."""

import itertools

import numpy as np
import pytest

import gdr

LAW = """
precision long;
CONST scale;
VARI xi, yi, zi as pos; VARI ci;
VARJ xj, yj, zj as pos; VARJ qj;
VARF fx, u; VARF int n;
dx = xj - xi; dy = yj - yi; dz = zj - zi;
w = scale*ci*qj*recip(dx*dx + dy*dy + dz*dz + 0.25);
fx += w*dx; u += w; n += 1;
"""
TILTED = np.array([[2.0, 0.1, -0.2], [0.9, 1.7, 0.3], [-0.7, 0.6, 2.2]])


def plain(pos, targets, charge, factor, cutoff, vectors, periodic, scale=1.0, images=5):
    """fx, u and the number of pairs by their definition."""
    same = targets is None
    targets = pos if same else targets
    fx, u, n = np.zeros(len(targets)), np.zeros(len(targets)), np.zeros(len(targets), int)
    counts = [range(-images, images + 1) if p else (0,) for p in periodic]
    for shift in itertools.product(*counts):
        d = pos[None] - targets[:, None] + np.array(shift) @ vectors
        r2 = (d**2).sum(axis=2)
        near = r2 < np.broadcast_to(cutoff, len(targets))[:, None] ** 2
        if same and not any(shift):
            np.fill_diagonal(near, False)
        w = np.where(near, scale * factor[:, None] * charge[None] / (r2 + 0.25), 0)
        fx += (w * d[:, :, 0]).sum(axis=1)
        u += w.sum(axis=1)
        n += near.sum(axis=1)
    return fx, u, n


def compare(found, expected):
    fx, u, n = expected
    np.testing.assert_array_equal(found.n, n)
    np.testing.assert_allclose(found.fx, fx, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.u, u, rtol=0, atol=1e-11)


@pytest.fixture
def system():
    random = np.random.default_rng(3)
    return random.uniform(-2, 2, (70, 3)), random.normal(size=70), random.normal(size=70)


@pytest.mark.parametrize("periodic", [(True, True, True), (True, False, True), (False,) * 3])
@pytest.mark.parametrize("cutoff", [0.6, 3.1])
def test_sums_agree_with_plain_sums_over_images(system, periodic, cutoff):
    pos, charge, factor = system
    pairs = gdr.PairSum(LAW, cutoff, box=TILTED, periodic=periodic, scale=2.0)
    found = pairs(pos, sources={"qj": charge}, targets={"ci": factor})
    compare(found, plain(pos, None, charge, factor, cutoff, TILTED, periodic, 2.0))


def test_targets_radii_and_the_box_may_change(system):
    pos, charge, factor = system
    targets, factors = pos[:20] + 0.1, factor[:20]
    radii = np.linspace(0.1, 1.5, 20)
    pairs = gdr.PairSum(gdr.compile(LAW), radii, scale=1.0)
    sources = {"qj": charge}
    found = pairs(pos, sources=sources, targets={"pos": targets, "ci": factors})
    compare(found, plain(pos, targets, charge, factors, radii, TILTED, (False,) * 3))
    box = np.array([3.0, 2.5, 2.8])
    found = pairs(
        pos, sources=sources, targets={"pos": targets, "ci": factors}, cutoff=0.8, box=box
    )
    compare(found, plain(pos, targets, charge, factors, 0.8, np.diag(box), (True,) * 3))
    assert pairs.statistics.lists_made == pairs.statistics.runs == 2
    pairs(pos, sources=sources, targets={"pos": targets, "ci": factors})
    assert pairs.statistics.lists_made == 2


def test_a_kernel_of_the_library_needs_its_parameters_only():
    pos = np.random.default_rng(1).uniform(0, 10, (300, 3))
    pairs = gdr.PairSum(gdr.lennard_jones, 2.5, rc2=2.5**2)
    whole = gdr.lennard_jones(pos, 2.5)
    found = pairs(pos)
    np.testing.assert_allclose(found.u, whole.u, rtol=1e-9)
    np.testing.assert_allclose(found.fx, whole.force[:, 0], rtol=1e-9, atol=1e-9)
    only = pairs(pos, results=["u"])
    assert list(only) == ["u"]


def test_the_name_of_a_kernel_of_the_library_is_a_law():
    assert gdr.PairSum("lennard_jones", 2.0).kernel.name == "lennard_jones"
    with pytest.raises(gdr.UsageError, match="did you mean .*lennard_jones"):
        gdr.PairSum("lennard_jone", 2.0)
    with pytest.raises(gdr.ProgramError, match="not a statement"):
        gdr.TreeSum("gravity;")


def test_a_lattice_has_the_same_energy_in_any_number_of_cells():
    law = "VARI xi,yi,zi as pos; VARJ xj,yj,zj as pos; VARF e; dx=xj-xi; dy=yj-yi; dz=zj-zi;"
    law += "e += exp(-(dx*dx + dy*dy + dz*dz));"
    one = gdr.PairSum(law, 6.0, box=(1, 1, 1))(np.zeros((1, 3)))
    cells = np.array(list(itertools.product(range(3), repeat=3)), float)
    many = gdr.PairSum(law, 6.0, box=(3, 3, 3))(cells)
    theta = np.exp(-(np.arange(-6, 7) ** 2.0)).sum()
    np.testing.assert_allclose(one.e, theta**3 - 1, rtol=1e-7)
    np.testing.assert_allclose(many.e, one.e[0], rtol=1e-7)


def test_a_python_function_is_a_law_with_its_own_names():
    @gdr.kernel
    def yukawa(i, j, kappa):
        dx, dy, dz = j.x - i.x, j.y - i.y, j.z - i.z
        r = gdr.functions.sqrt(dx * dx + dy * dy + dz * dz)
        i.pot += j.q * gdr.functions.exp(-kappa * r) / r

    pos = np.array([[0, 0, 0], [1, 0, 0], [3.0, 0, 0]])
    pairs = gdr.PairSum(yukawa, 1.5, box=(4, 4, 4), kappa=1.0)
    found = pairs(pos, sources={"q": np.array([1.0, 2.0, 4.0])}, results=["pot"])
    expected = np.exp(-1) * np.array([6, 1, 1])
    np.testing.assert_allclose(found.pot, expected, rtol=1e-6)


def test_a_cutoff_longer_than_all_distances_means_all_pairs():
    pos = np.random.default_rng(2).normal(size=(100, 3))
    law = "VARI vec3 xi as pos; VARJ vec3 xj as pos; VARF int n; n += 1;"
    for cutoff in (1e3, 1e30, 1e200, np.inf):
        assert (gdr.PairSum(law, cutoff)(pos).n == 99).all()


def test_vectors_minima_lists_and_arrays_count_pairs_within_the_cutoff_only(system):
    law = """
    VARI vec3 x as pos; VARI w[2];
    VARJ vec3 y as pos; VARJ int slot as index; VARJ float_q;
    VARF vec3 f; VARF nearest; VARF int who; VARF list near[64]; VARF total[2];
    d = y - x; r2 = norm2(d);
    f += float_q*d; total[0] += w[0]*float_q; total[1] += w[1];
    nearest min= r2 : who = slot;
    near append= slot;
    """
    pos, charge, factor = system
    weights = np.stack([factor, 2 * factor], axis=1)
    targets = {"w": weights}
    for device in ("emulator:engine=native", "emulator:engine=vector"):
        pairs = gdr.PairSum(law, 1.1, device=device)
        sources = {"float_q": charge.astype(np.float32)}
        results = ["f", "total", "nearest", "who", "near", "near[]"]
        found = pairs(pos, sources=sources, targets=targets, results=results)
        d = pos[None] - pos[:, None]
        r2 = (d**2).sum(axis=2)
        near = (r2 < 1.1**2) & ~np.eye(len(pos), dtype=bool)
        f = np.where(near[:, :, None], charge[None, :, None] * d, 0).sum(axis=1)
        np.testing.assert_allclose(found.f, f, atol=1e-5)
        np.testing.assert_allclose(found.total[:, 1], weights[:, 1] * near.sum(axis=1), rtol=1e-6)
        some = near.any(axis=1)
        least = np.where(near, r2, np.inf)
        np.testing.assert_array_equal(found.who[some], least.argmin(axis=1)[some])
        for i, count in enumerate(near.sum(axis=1)):
            assert found.near[i] == count
            listed = found["near[]"][i][:count]
            assert sorted(listed) == list(np.flatnonzero(near[i]))


def test_no_particles_have_no_results():
    pairs = gdr.PairSum(LAW, 1.0, scale=1.0)
    empty = np.empty((0, 3))
    assert len(pairs(empty, sources={"qj": []}, targets={"ci": []}).u) == 0
    assert len(pairs(empty, sources={"qj": []}, targets={"ci": []}, cutoff=[]).u) == 0
    with pytest.raises(gdr.UsageError, match="0 cut-offs for 2 targets"):
        pairs(np.zeros((2, 3)), sources={"qj": [1, 2]}, targets={"ci": [1, 2]})


def test_wrong_arguments_are_named(system):
    pos, charge, factor = system
    with pytest.raises(ValueError, match="cutoff is 0"):
        gdr.PairSum(LAW, 0.0)
    with pytest.raises(ValueError, match=r"box\[1\] is -1.0"):
        gdr.PairSum(LAW, 1.0, box=(1, -1, 1))
    with pytest.raises(ValueError, match="infinite"):
        gdr.PairSum(LAW, np.inf, box=(1, 1, 1))
    with pytest.raises(ValueError, match="line or plane"):
        gdr.PairSum(LAW, 1.0, box=[[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    with pytest.raises(TypeError, match="periodic"):
        gdr.PairSum(LAW, 1.0, box=(1, 1, 1), periodic=(True, False))
    pairs = gdr.PairSum(LAW, 1.0)
    with pytest.raises(gdr.UsageError, match="missing params: scale"):
        pairs(pos, sources={"qj": charge}, targets={"ci": factor})
    pairs.set(scale=1.0)
    with pytest.raises(gdr.UsageError, match="ci"):
        pairs(pos, sources={"qj": charge})
    pos[7, 1] = np.nan
    with pytest.raises(ValueError, match="pos"):
        pairs(pos, sources={"qj": charge}, targets={"ci": factor})
    with pytest.raises(gdr.UnsupportedError, match="no text"):
        gdr.PairSum(gdr.from_object(gdr.compile(LAW).object), 1.0)
