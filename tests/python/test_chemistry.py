"""gdr.chemistry: compared with PySCF and libcint."""

import numpy as np
import pytest

import gdr
from gdr import chemistry

pytest.importorskip("pyscf", reason="the package pyscf is not installed")
from pyscf import df, dft, gto, scf

WATER = "O 0 0 .1173; H 0 .7572 -.4692; H 0 -.7572 -.4692"
BENZENE = "; ".join(
    f"{atom} {r * np.cos(k * np.pi / 3):.12f} {r * np.sin(k * np.pi / 3):.12f} 0"
    for atom, r in (("C", 1.3970), ("H", 2.4810))
    for k in range(6)
)
MOLECULES = {
    "hydrogen": "H 0 0 0; H 0 0 .74",
    "water": WATER,
    "carbon monoxide": "C 0 0 0; O 0 0 1.128",
    "ammonia": "N 0 0 .11; H 0 .94 -.26; H .81 -.47 -.26; H -.81 -.47 -.26",
    "lithium hydride": "Li 0 0 0; H 0 0 1.6",
    "helium hydride": f"He 0 0 0; H 0 0 {1.4632 * 0.52917721092}",  # 1.4632 Bohr
}


def molecule(atoms, basis, **options):
    return gto.M(atom=atoms, basis=basis, verbose=0, **options)


def random_density(n, seed=1):
    density = np.random.default_rng(seed).normal(size=(n, n))
    return density + density.T


@pytest.mark.parametrize("basis", ["6-31g*", "cc-pvdz"])
@pytest.mark.parametrize("name", sorted(MOLECULES.keys() - {"helium hydride"}))  # an ion
def test_coulomb_matrices_equal_those_of_pyscf(name, basis, native):
    mol = molecule(MOLECULES[name], basis)
    density = random_density(mol.nao)
    expected = scf.hf.get_jk(mol, density, with_k=False)[0]
    made = chemistry.Coulomb(mol, device=native).matrix(density)
    assert np.abs(made - expected).max() < 1e-10


def test_cartesian_d_functions_have_the_order_and_norm_of_pyscf(native):
    mol = molecule(WATER, "6-31g*", cart=True)
    density = random_density(mol.nao)
    expected = scf.hf.get_jk(mol, density, with_k=False)[0]
    made = chemistry.Coulomb(mol, device=native).matrix(density)
    assert np.abs(made - expected).max() < 1e-10


def test_two_electron_integrals_equal_those_of_libcint(native):
    mol = molecule(WATER, "6-31g")
    expected = mol.intor("int2e")
    coulomb = chemistry.Coulomb(mol, device=native)
    offsets = mol.ao_loc_nr()
    for c in range(mol.nbas):
        for d in range(c + 1):
            made = coulomb.integrals(c, d)
            rows = slice(offsets[c], offsets[c + 1])
            columns = slice(offsets[d], offsets[d + 1])
            right = expected[:, :, rows, columns].transpose(2, 3, 0, 1)
            assert np.abs(made - right).max() < 1e-11


def test_nuclear_attraction_equals_that_of_libcint(native):
    mol = molecule(WATER, "cc-pvdz")
    coulomb = chemistry.Coulomb(mol, device=native)
    made = coulomb.nuclear_attraction(mol.atom_coords(), mol.atom_charges())
    assert np.abs(made - mol.intor("int1e_nuc")).max() < 1e-11


def test_potentials_equal_those_of_libcint(native, rng):
    mol = molecule(WATER, "6-31g*")
    density = random_density(mol.nao)
    points = rng.normal(scale=3, size=(40, 3))
    charges = gto.fakemol_for_charges(points)
    electrons = np.einsum("abp,ab->p", df.incore.aux_e2(mol, charges), density)
    made = chemistry.Coulomb(mol, device=native).potential(density, points)
    assert np.abs(made - electrons).max() < 1e-10
    distance = np.linalg.norm(points[:, None] - mol.atom_coords(), axis=-1)
    total = (mol.atom_charges() / distance).sum(1) - electrons
    made = chemistry.electrostatic_potential(mol, density, points, device=native)
    assert np.abs(made - total).max() < 1e-10


@pytest.mark.parametrize(
    "atoms, basis, energy",
    [
        (MOLECULES["hydrogen"], "sto-3g", -1.1167593074),
        (MOLECULES["hydrogen"], "6-31g", -1.1267553172),
        (WATER, "sto-3g", -74.9630231385),
        (WATER, "6-31g", -75.9839744727),
        (BENZENE, "sto-3g", -227.8906005669),
    ],
)
def test_energies_need_the_same_iterations_as_without_device(atoms, basis, energy, native):
    mol = molecule(atoms, basis)
    plain = scf.RHF(mol)
    plain.kernel()
    mf = chemistry.accelerate(scf.RHF(mol), device=native)
    assert abs(mf.kernel() - energy) < 1e-9
    assert mf.cycles == plain.cycles


@pytest.mark.parametrize("engine", ["vector", "reference"])
@pytest.mark.parametrize(
    "name, basis, charge, energy",
    [
        ("hydrogen", "6-31g", 0, -1.1267553172),
        ("helium hydride", "sto-3g", 1, -2.8418364993),
        ("lithium hydride", "sto-3g", 0, -7.8618647698),
    ],
)
def test_exact_engines_give_the_energies_of_pyscf(name, basis, charge, energy, engine):
    mol = molecule(MOLECULES[name], basis, charge=charge)
    plain = scf.RHF(mol)
    assert abs(plain.kernel() - energy) < 1e-9
    with gdr.open("emulator", engine=engine, chips=1, blocks=2, pes=4) as small:
        mf = chemistry.accelerate(scf.RHF(mol), device=small)
        assert abs(mf.kernel() - energy) < 1e-9
    assert mf.cycles == plain.cycles


@pytest.mark.parametrize("method", ["RKS", "UKS", "UHF"])
def test_other_methods_have_the_energies_of_pyscf(method, native):
    mol = molecule(WATER, "6-31g", charge=0 if method == "RKS" else 1, spin=method != "RKS")
    make = {
        "RKS": lambda: dft.RKS(mol, xc="pbe"),
        "UKS": lambda: dft.UKS(mol, xc="b3lyp"),
        "UHF": lambda: scf.UHF(mol),
    }[method]
    plain = make()
    plain.kernel()
    mf = chemistry.accelerate(make(), device=native)
    assert abs(mf.kernel() - plain.e_tot) < 1e-9
    assert mf.cycles == plain.cycles
    if method == "RKS":
        assert abs(mf.e_tot - -76.2981055403) < 1e-8


def test_direct_calculations_pass_differences_of_densities(native):
    mol = molecule(WATER, "6-31g*")
    plain = scf.RHF(mol)
    plain.max_memory = 0
    plain.kernel()
    mf = scf.RHF(mol)
    mf.max_memory = 0
    mf = chemistry.accelerate(mf, device=native)
    assert abs(mf.kernel() - plain.e_tot) < 1e-9
    assert mf._eri is None
    assert mf.cycles == plain.cycles


def test_a_new_geometry_takes_effect(native):
    mol = molecule(MOLECULES["hydrogen"], "6-31g")
    mf = chemistry.accelerate(scf.RHF(mol), device=native)
    mf.kernel()
    stretched = molecule("H 0 0 0; H 0 0 1.0", "6-31g")
    assert abs(mf.reset(stretched).kernel() - scf.RHF(stretched).kernel()) < 1e-9


def test_the_original_object_is_unchanged(native):
    plain = scf.RHF(molecule(WATER, "sto-3g"))
    kind = type(plain)
    made = chemistry.accelerate(plain, device=native)
    assert type(plain) is kind and isinstance(made, kind)


def test_f_shells_are_rejected_with_the_atom(native):
    mol = molecule(WATER, "cc-pvtz")
    with pytest.raises(gdr.UnsupportedError, match=r"atom 0 \(O\).* f shell.*s, p and d"):
        chemistry.accelerate(scf.RHF(mol), device=native)


def test_a_linearly_dependent_basis_is_rejected(native):
    mol = molecule("He 0 0 0; He 0 0 1e-6", "6-31g")
    for make in (
        lambda: chemistry.accelerate(scf.RHF(mol), device=native),
        lambda: chemistry.Coulomb(mol, device=native),
    ):
        with pytest.raises(gdr.UnsupportedError, match="linearly dependent.*smallest eigenvalue"):
            make()


def test_complex_orbitals_are_rejected(native):
    mol = molecule(MOLECULES["hydrogen"], "sto-3g")
    mf = chemistry.accelerate(scf.RHF(mol), device=native)
    with pytest.raises(gdr.UnsupportedError, match="real orbitals"):
        mf.get_j(dm=np.eye(2) * (1 + 0j))
    with pytest.raises(gdr.UnsupportedError, match="real orbitals"):
        chemistry.Coulomb(mol, device=native).matrix(np.eye(2) * 1j)


def test_other_methods_are_rejected(native):
    mol = molecule(MOLECULES["hydrogen"], "sto-3g")
    for mf in (scf.GHF(mol), scf.RHF(mol).density_fit()):
        with pytest.raises(gdr.UnsupportedError, match="RHF, UHF, RKS and UKS"):
            chemistry.accelerate(mf, device=native)


def test_shells_are_checked_and_named(native):
    good = chemistry.Shell((0, 0, 0), 0, [1.0], [[1.0]])
    with pytest.raises(gdr.InputError, match="shell 1: coefficients"):
        chemistry.Coulomb([good, good._replace(coefficients=[[1.0, 2.0]])], device=native)
    with pytest.raises(ValueError, match=r"density"):
        chemistry.Coulomb([good], device=native).matrix(np.eye(2))
    with pytest.raises(IndexError, match="no shell 3"):
        chemistry.Coulomb([good], device=native).integrals(0, 3)


def test_kernel_texts_compile_and_have_the_variables_of_their_orders():
    kernel = gdr.compile(chemistry.kernel_text(1, 2, precision="short"))
    roles = [v.role for v in kernel.variables]
    assert (roles.count("target"), roles.count("source"), roles.count("result")) == (4, 14, 4)
    assert "v[15]" in chemistry.kernel_text(4, 0, part=1)
    with pytest.raises(gdr.UsageError, match="part 1"):
        chemistry.kernel_text(3, 0, part=1)
    with pytest.raises(gdr.UsageError, match="0 to 4"):
        chemistry.kernel_text(5, 0)


def test_a_range_separated_interaction_of_the_molecule_is_not_ignored(native):
    # Energies of PySCF 2.14 for the Coulomb, long-range and short-range interaction.
    mol = molecule("He 0 0 0", "6-31g")
    mf = chemistry.accelerate(scf.RHF(mol), device=native)
    for omega, energy in ((0, -2.8551604262), (0.3, -3.6633864432), (-0.3, -3.1728526319)):
        mol.set_range_coulomb(omega)
        assert abs(chemistry.accelerate(scf.RHF(mol), device=native).kernel() - energy) < 1e-9
        plain = scf.RHF(mol).get_j(dm=np.eye(mol.nao))
        assert np.abs(mf.get_j(dm=np.eye(mol.nao)) - plain).max() < 1e-12


@pytest.mark.parametrize("omega", [1e-4, 0.3, 2.0, 1e6, -1e-4, -0.3, -2.0, -1e6])
@pytest.mark.parametrize("cart", [False, True])
def test_coulomb_matrices_of_a_range_separated_interaction_equal_those_of_pyscf(
    omega, cart, native
):
    mol = molecule(WATER, "6-31g*", cart=cart)
    density = random_density(mol.nao)
    mol.set_range_coulomb(omega)
    expected = scf.hf.get_jk(mol, density, with_k=False)[0]
    made = chemistry.Coulomb(mol, device=native)
    assert np.abs(made.matrix(density) - expected).max() < 1e-10
    listed = chemistry.Coulomb(chemistry.shells(mol), device=native, omega=omega)
    assert np.array_equal(listed.matrix(density), made.matrix(density))
    integrals = mol.intor("int2e")[:, :, 0, :1].transpose(2, 0, 1)[None]
    assert np.abs(made.integrals(0, 0)[..., 0, :] - integrals[..., 0, :]).max() < 1e-11


def test_nuclei_and_potentials_keep_the_coulomb_interaction(native):
    # As PySCF's int1e_nuc: the range separation is that of the interaction of electrons.
    mol = molecule(WATER, "6-31g")
    density, points = random_density(mol.nao), [[0.5, 1, 2], [3, 0, 0]]
    full = chemistry.electrostatic_potential(mol, density, points, device=native)
    mol.set_range_coulomb(0.3)
    coulomb = chemistry.Coulomb(mol, device=native)
    made = coulomb.nuclear_attraction(mol.atom_coords(), mol.atom_charges())
    assert np.abs(made - mol.intor("int1e_nuc")).max() < 1e-11
    made = chemistry.electrostatic_potential(mol, density, points, device=native)
    assert np.array_equal(made, full)


def test_an_omega_of_a_call_replaces_that_of_the_molecule(native):
    mol = molecule(WATER, "6-31g")
    density = random_density(mol.nao)
    mf = chemistry.accelerate(scf.RHF(mol), device=native)
    for omega in (None, 0.2, -0.2, 0):
        vj, vk = scf.RHF(mol).get_jk(mol, density, omega=omega)
        made = mf.get_jk(mol, density, omega=omega)
        assert np.abs(made[0] - vj).max() < 1e-10
        assert np.abs(made[1] - vk).max() < 1e-10
    mol.set_range_coulomb(0.4)
    full = chemistry.Coulomb(mol, device=native, omega=0).matrix(density)
    assert np.array_equal(mf.get_j(mol, density, omega=0), full)


@pytest.mark.parametrize("xc", ["camb3lyp", "hse06"])
def test_range_separated_functionals_have_the_energies_of_pyscf(xc, native):
    mol = molecule(WATER, "6-31g")
    expected = dft.RKS(mol, xc=xc).kernel()
    assert abs(chemistry.accelerate(dft.RKS(mol, xc=xc), device=native).kernel() - expected) < 1e-9


def test_values_of_omega_that_are_not_supported_are_errors(native):
    shell = chemistry.Shell((0, 0, 0), 0, [1.0], [[1.0]])
    for omega in (np.nan, np.inf, 1e-40, -1e40):
        with pytest.raises(ValueError, match="omega"):
            chemistry.Coulomb([shell], device=native, omega=omega)
    with pytest.raises(TypeError, match="omega"):
        chemistry.Coulomb([shell], device=native, omega="0.3")
