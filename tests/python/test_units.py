"""Units: quantities of astropy in functions of the library's kernels, refused everywhere else."""

import numpy as np
import pytest
from conftest import direct_gravity, error

import gdr
from gdr import linalg, nbody

units = pytest.importorskip("astropy.units", reason="the package astropy is not installed")
constants = pytest.importorskip("astropy.constants")
u = units
N = 40


@pytest.fixture(scope="module")
def stars():
    random = np.random.default_rng(5)
    pos = random.normal(size=(N, 3)) * u.kpc
    vel = random.normal(size=(N, 3)) * 100 * u.km / u.s
    return pos, random.uniform(1, 2, N) * 1e6 * u.Msun, vel


def test_forces_are_those_of_newton_in_si_units(stars):
    """The sum over pairs in SI units, with the constant of astropy."""
    pos, mass, _ = stars
    eps = 100 * u.pc
    acc, pot = gdr.gravity(pos, mass, eps)
    g = constants.G.si.value
    want = direct_gravity(pos.si.value, g * mass.si.value, eps.si.value)
    assert acc.unit == u.m / u.s**2 and pot.unit == u.m**2 / u.s**2
    assert error(acc.value, want[0]) < 1e-6
    assert error(pot.value, want[1]) < 1e-6


def test_equal_places_in_kpc_and_pc_have_equal_forces(stars):
    pos, mass, _ = stars
    places = pos[:7] + 0.1 * u.kpc
    one = gdr.gravity(pos, mass, 0.1 * u.kpc, targets=places)
    for other in (
        gdr.gravity(pos, mass, 100 * u.pc, targets=places.to(u.pc)),
        gdr.gravity(pos.to(u.pc), mass.to(u.kg), 100 * u.pc, targets=places.to(u.lyr)),
        gdr.gravity_potential(pos.to(u.au), mass, eps=0.1 * u.kpc, targets=places),
        gdr.gravity_long(pos, mass, eps=0.1 * u.kpc, targets=places.to(u.pc)),
    ):
        assert error(other.acc.to_value(one.acc.unit), one.acc.value) < 1e-6
        assert error(other.pot.to_value(one.pot.unit), one.pot.value) < 1e-6


def test_results_of_kernels_with_velocities_have_their_units(stars, native):
    pos, mass, vel = stars
    r = gdr.gravity_jerk_long(pos, mass, vel, eps=50 * u.pc, device=native)
    v = vel.unit
    assert r.acc.unit == v**2 / u.kpc and r.pot.unit == v**2 and r.jerk.unit == v**3 / u.kpc**2
    # The jerk is the derivative of the acceleration along the velocities.
    step = 1e-7 * u.kpc / v
    ends = [
        gdr.gravity_long(pos + s * step * vel, mass, eps=50 * u.pc, device=native) for s in (-1, 1)
    ]
    slope = (ends[1].acc - ends[0].acc) / (2 * step)
    assert error(r.jerk.si.value, slope.si.value) < 1e-4


def test_neighbours_are_numbers_and_distances_have_units(stars, native):
    pos, mass, vel = stars
    r = gdr.gravity_hermite_neighbours(
        pos, mass, vel, eps=0.1 * u.kpc, radius=1500 * u.pc, device=native
    )
    d = np.linalg.norm((pos[:, None] - pos[None]).to_value(u.kpc), axis=-1)
    np.fill_diagonal(d, np.inf)
    assert r.rnear2.unit == u.kpc**2
    assert np.allclose(np.sqrt(r.rnear2.value), d.min(1), rtol=1e-5)
    assert not hasattr(r.nearest, "unit")
    assert np.array_equal(r.nearest, d.argmin(1))
    assert np.array_equal(r.near, (d < 1.5).sum(1))


def test_energies_of_molecules_and_fields_of_charges_have_units(native):
    pos = np.array([[0.0, 0, 0], [3.0, 0, 0]]) * u.Angstrom
    depth, r0 = 0.5 * u.eV, 0.25 * u.nm
    force, energy = gdr.morse(pos, depth, 1.5 / u.Angstrom, r0, rc=1 * u.nm, device=native)
    e = np.exp(-1.5 * 0.5)
    assert energy.unit == u.eV and force.unit == u.eV / u.Angstrom
    assert np.allclose(energy.value, 0.5 * (e**2 - 2 * e), rtol=1e-6)
    field, pot = gdr.coulomb(pos, [1, -1] * constants.e.si, device=native)
    k = 1 / (4 * np.pi * constants.eps0)
    assert np.allclose(pot, [-1, 1] * (k * constants.e.si / (3 * u.Angstrom)).to(u.V), rtol=1e-6)
    assert field.unit == u.V / u.m and (field[:, 0] > 0).all()
    weights = np.array([2.0, 3.0])
    s = gdr.gauss_sum(pos, weights, 0.1 / u.Angstrom**2, device=native).s
    assert np.allclose(s, weights + weights[::-1] * np.exp(-0.9), rtol=1e-6)
    rho = gdr.sph_density(pos, 2 * u.kg, 2 * u.m, device=native).rho
    assert rho.unit == u.kg / u.Angstrom**3
    assert np.allclose(rho.si.value, 2 * 2 / (np.pi * 8), rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": 1.0}, "mass: is a number without a unit, but pos has one"),
        ({"eps": 0.1}, "eps: is a number without a unit, but pos has one"),
        ({"pos": np.ones((N, 3))}, "pos: is a number without a unit, but mass has one"),
        ({"pos": np.ones((N, 3)) * u.kg}, "pos: expected a length, got the unit kg"),
        ({"mass": 1 * u.km}, "mass: expected a mass, got the unit km"),
        ({"eps": 1 * u.s}, "eps: expected a unit of the kind m, got s"),
        ({"targets": np.ones((2, 3)) * u.s}, "targets: expected a unit of the kind m, got s"),
        ({"targets": np.ones((2, 3))}, "targets: is a number without a unit"),
        ({"acc": np.empty((N, 3))}, "acc: arrays to fill are not supported with quantities"),
        ({"pos": [1 * u.kpc, 2]}, "pos: numbers and units are mixed"),
        ({"pos": [[1 * u.kpc, 2]]}, "pos: numbers and units are mixed"),
        ({"pos": [[1 * u.kpc, 2 * u.s]]}, "pos: a list of quantities in kpc, s is no array of one"),
        ({"eps": u.Dex(1, u.dex(u.kpc))}, "eps: the logarithmic unit .* pass q.physical"),
        ({"mass": u.Magnitude(1, u.mag(u.kg))}, "mass: the logarithmic unit"),
        ({"mass": 1 * u.mag}, "mass: expected a mass, got the unit mag"),
    ],
)
def test_wrong_and_missing_units_are_errors_that_name_the_argument(stars, change, message):
    pos, mass, _ = stars
    with pytest.raises(TypeError, match=message):
        gdr.gravity(**{"pos": pos, "mass": mass, "eps": 1 * u.pc, **change})


def test_nested_lists_of_scalars_with_units_are_arrays(stars):
    pos, mass, _ = stars
    rows = [[x * u.kpc for x in row] for row in pos.value]
    rows[3][0] = rows[3][0].to(u.pc)
    want = gdr.gravity(pos, mass, 1 * u.pc)
    assert np.allclose(gdr.gravity(rows, mass, 1 * u.pc).acc, want.acc, rtol=1e-6)


def test_a_masked_element_of_astropy_is_never_used(stars):
    masked = pytest.importorskip("astropy.utils.masked")
    table = pytest.importorskip("astropy.table")
    pos, mass, _ = stars
    holes = np.zeros((N, 3), bool)
    whole = masked.Masked(pos, mask=holes.copy())
    assert np.array_equal(gdr.gravity(whole, mass).acc, gdr.gravity(pos, mass).acc)
    holes[4, 1] = True
    column = table.MaskedColumn(mass.value, mask=holes[:, 1], unit=u.Msun)
    for call, place in (
        (lambda: gdr.gravity(masked.Masked(pos, mask=holes), mass), "pos.4, 1."),
        (lambda: gdr.gravity(masked.Masked(pos.value, mask=holes), 1.0), "pos.4, 1."),
        (lambda: gdr.gravity(pos, column), "mass.4."),
        (
            lambda: gdr.gravity(pos.value, table.MaskedColumn(mass.value, mask=holes[:, 1])),
            "mass.4.",
        ),
        (lambda: gdr.gravity(pos.value, 1.0, masked.Masked(0.1, mask=True)), "eps"),
        (lambda: gdr.gravity(pos, mass, masked.Masked(1 * u.pc, mask=True)), "eps"),
        (lambda: linalg.solve(masked.Masked(np.eye(3), mask=holes[3:6]), [1, 2, 3]), "a.1, 1."),
    ):
        with pytest.raises(ValueError, match=f"^{place} is masked"):
            call()


def test_errors_of_other_kernels_name_the_argument(stars):
    pos, mass, vel = stars
    with pytest.raises(TypeError, match="vel: expected a velocity, got the unit kpc"):
        gdr.gravity_jerk(pos, mass, pos, eps=0)
    with pytest.raises(TypeError, match="targets: vel: expected a unit of the kind m / s, got kpc"):
        gdr.gravity_jerk(pos, mass, vel, eps=0, targets={"pos": pos, "vel": pos})
    with pytest.raises(TypeError, match="targets: vel: is a number without a unit"):
        gdr.gravity_jerk(pos, mass, vel, eps=0, targets={"pos": pos, "vel": vel.value})
    with pytest.raises(TypeError, match="pos: gdr.lennard_jones has reduced units"):
        gdr.lennard_jones(pos, rc=2.5)
    with pytest.raises(TypeError, match="depth: expected an energy, got the unit m"):
        gdr.morse(pos, 1 * u.m, 1 / u.kpc, 1 * u.kpc, 1 * u.kpc)


def test_a_softening_of_zero_needs_no_unit(stars):
    pos, mass, _ = stars
    assert np.array_equal(gdr.gravity(pos, mass).acc, gdr.gravity(pos, mass, 0 * u.pc).acc)


def test_quantities_without_dimension_are_numbers(stars):
    pos = stars[0].value
    want = gdr.gravity(pos, 1.0, 0.25)
    got = gdr.gravity(pos * u.one, 1 * u.one, 0.25 * u.one)
    assert type(got.acc) is np.ndarray
    assert np.array_equal(got.acc, want.acc)
    with pytest.raises(TypeError, match="a: has the unit %"):
        linalg.solve(np.eye(3) * u.percent, [1, 2, 3])


def test_a_column_of_a_table_has_its_unit(stars):
    table = pytest.importorskip("astropy.table")
    pos, mass, _ = stars
    columns = table.Table({"m": mass.value})
    columns["m"].unit = u.Msun
    assert np.array_equal(gdr.gravity(pos, columns["m"]).acc, gdr.gravity(pos, mass).acc)


@gdr.kernel
def spring(i, j, k):
    i.f += k * (j.x - i.x)


X = np.arange(4.0)
QUANTITY = X * u.m


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: spring(targets={"x": QUANTITY}, sources={"x": X}, k=1.0), "targets: x"),
        (lambda: spring(targets={"x": X}, sources={"x": X}, k=1.0 * u.m), "k"),
        (lambda: gdr.default_device().job(gdr.builtin("morse")).sources(xj=QUANTITY), "xj"),
        (lambda: gdr.default_device().job(gdr.builtin("morse")).set(depth=1 * u.eV), "depth"),
        (
            lambda: gdr.builtin("morse")(
                targets={"xi": X, "yi": 0, "zi": 0},
                sources={"xj": X, "yj": 0, "zj": 0},
                params={"depth": 1, "steep": 1, "r0": 1, "rc2": 4},
                results={"u": np.zeros(4) * u.eV},
            ),
            "u",
        ),
        (lambda: gdr.default_device().set_job(gdr.builtin("morse")).set(depth=1 * u.eV), "depth"),
        (lambda: gdr.neighbours(np.eye(3) * u.pc, 1.0), "pos"),
        (lambda: gdr.neighbours(np.eye(3), 1 * u.pc), "radius"),
        (lambda: linalg.matmul(np.eye(4) * u.m, np.eye(4)), "a"),
        (lambda: linalg.matmul(np.eye(4), np.eye(4), out=np.eye(4) * u.m), "out"),
        (lambda: linalg.matmul(np.eye(4), np.eye(4), alpha=2 * u.m), "alpha"),
        (lambda: linalg.solve(np.eye(4), QUANTITY), "b"),
        (lambda: linalg.lu(np.eye(4) * u.m), "a"),
        (lambda: linalg.lu(np.eye(4)).solve(QUANTITY), "b"),
        (lambda: linalg.cholesky(np.eye(4) * u.m), "a"),
        (lambda: linalg.solve_triangular(np.eye(4), QUANTITY), "b"),
        (lambda: linalg.batch_matmul(np.ones((2, 2, 2)) * u.m, np.ones((2, 2, 2))), "a"),
        (lambda: linalg.batch_solve(np.ones((2, 2, 2)) * u.m, np.ones((2, 2))), "a"),
        (lambda: linalg.operator(np.eye(4) * u.m), "a"),
        (lambda: linalg.DistributedMatrices().from_array(np.eye(4) * u.m), "a"),
        (
            lambda: gdr.chemistry.Coulomb([gdr.chemistry.Shell(QUANTITY[:3], 0, [1.0], [1.0])]),
            "shell 0",
        ),
        (lambda: nbody.Snapshot(np.ones((4, 3)) * u.pc, np.ones((4, 3)), 1.0), "pos"),
        (lambda: nbody.Snapshot(np.ones((4, 3)), np.ones((4, 3)), 1 * u.Msun), "mass"),
        (lambda: list(nbody.leapfrog(nbody.plummer(4), eps=1 * u.pc, dt=1, t_end=1)), "eps"),
        (lambda: list(nbody.hermite(nbody.plummer(4), eps=0.1, t_end=1 * u.Myr)), "t_end"),
        (lambda: nbody.plots.roofline({}, clock=500 * u.MHz), "clock"),
        (lambda: nbody.merger(4, separation=[1, 2, 3] * u.kpc), "separation"),
        (lambda: gdr.functions.minimum_image(QUANTITY[:3], 2.0), "d"),
        (
            lambda: gdr.Machine(blocks=1, pes=2).write("local", 0, 0, 1 * u.m, format="float"),
            "value",
        ),
    ],
)
def test_units_are_never_dropped(call, name):
    with pytest.raises(TypeError, match=rf"^{name}\b"):
        call()


def test_a_list_of_quantities_is_refused_where_numbers_are_expected():
    rows = [[1.0, 2.0] * u.m, [3.0, 4.0] * u.m]
    with pytest.raises(TypeError, match="a: has the unit m"):
        linalg.solve(rows, [1.0, 2.0])


def test_a_constant_with_a_unit_is_an_error_in_a_kernel():
    strength = 2 * u.m

    def law(i, j):
        i.f += strength * (j.x - i.x)

    with pytest.raises(gdr.ProgramError, match="a quantity in m: a kernel has no units"):
        gdr.kernel(law)
