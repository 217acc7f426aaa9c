"""gdr.ase: energies, forces and stresses beside ASE's own calculators, differences and runs."""

import copy
import pickle

import numpy as np
import pytest

import gdr

pytest.importorskip("ase", reason="the package ase is not installed")
from ase import Atoms, units
from ase.build import bulk
from ase.calculators.lj import LennardJones
from ase.calculators.morse import MorsePotential
from ase.io import read
from ase.md.verlet import VelocityVerlet
from ase.optimize import BFGS

from gdr.ase import PairPotential

LJ = "s = (sigma^2/r2)^3; 4*epsilon*(s*s - s)"
ARGON = dict(epsilon=0.0103, sigma=3.4)
#: Morse's law with the polynomial of fifth order with which ASE's calculator ends it.
MORSE = """
e = exp(rho0*(1 - r/r0));
s = max(0, min(1, (rcut2 - r/r0)/(rcut2 - rcut1)));
epsilon*(e*e - 2*e)*(6*s^5 - 15*s^4 + 10*s^3);
"""
COPPER = dict(epsilon=0.35, r0=2.6, rho0=4.1, rcut1=1.5, rcut2=2.2)


def crystal(pbc=True, shape=(2, 3, 2)):
    """A displaced crystal in a triclinic cell, some atoms outside of it."""
    atoms = bulk("Ar", "fcc", a=5.26) * shape
    atoms.rattle(0.15, seed=4)
    atoms.positions[::5] += 2 * atoms.cell[0]
    atoms.pbc = pbc
    return atoms


def agree(found, expected, tolerance=1e-12):
    for name, right in expected.results.items():
        scale = max(np.abs(right).max(), 1e-300)
        assert np.abs(found.results[name] - right).max() <= tolerance * scale, name


@pytest.mark.parametrize("pbc", [True, (True, False, True), (False, False, True), False])
@pytest.mark.parametrize("ends", [dict(shift=True), dict(onset=6.0)])
def test_all_properties_are_those_of_ase_lennard_jones(pbc, ends):
    atoms = crystal(pbc)
    other = dict(smooth=True, ro=6.0) if "onset" in ends else {}
    atoms.calc = PairPotential(LJ, 9.0, **ends, **ARGON)
    right = atoms.copy()
    right.calc = LennardJones(rc=9.0, **other, **ARGON)
    right.get_stress()
    atoms.get_stress()
    assert set(right.calc.results) == set(atoms.calc.implemented_properties)
    agree(atoms.calc, right.calc)


def test_comments_in_a_law_are_no_statements():
    plain, commented = bulk("Ar", "fcc", a=5.26), bulk("Ar", "fcc", a=5.26)
    plain.calc = PairPotential(LJ, 9.0, **ARGON)
    law = (
        "/* powers; of s */ s = (sigma^2/r2)^3; // not 12; but 6\n4*epsilon*(s*s - s) // the energy"
    )
    commented.calc = PairPotential(law, 9.0, **ARGON)
    assert commented.get_potential_energy() == plain.get_potential_energy()


def test_an_atom_meets_its_own_images_in_a_cell_below_the_cutoff():
    atoms = bulk("Ar", "fcc", a=5.26)  # one atom
    atoms.calc, right = PairPotential(LJ, 14.0, shift=True, **ARGON), atoms.copy()
    right.calc = LennardJones(rc=14.0, **ARGON)
    right.get_stress()
    atoms.get_stress()
    assert right.calc.results["energy"] < -0.05
    del right.calc.results["forces"]  # zero by symmetry
    agree(atoms.calc, right.calc)


@pytest.mark.parametrize("pbc", [True, False])
def test_a_law_of_several_statements_agrees_with_ase_morse(pbc):
    atoms = bulk("Cu", "fcc", a=3.7) * (3, 3, 3)
    atoms.rattle(0.1, seed=2)
    atoms.pbc = pbc
    atoms.calc, right = PairPotential(MORSE, 2.2 * 2.6, **COPPER), atoms.copy()
    right.calc = MorsePotential(**COPPER)
    right.get_forces()
    atoms.get_forces()
    results = {n: right.calc.results[n] for n in ("energy", "forces")}
    right.calc.results = results
    agree(atoms.calc, right.calc)


def test_parameters_of_pairs_of_species_and_mixing_rules_agree_with_a_plain_sum():
    random = np.random.default_rng(8)
    atoms = Atoms(
        "Ar10Kr7Ne5", random.permutation(np.mgrid[:3, :3, :3].reshape(3, -1).T)[:22] * 3.7
    )
    atoms.rattle(0.2, seed=3)
    sigma = {"Ar": 3.4, "Kr": 3.65, "Ne": 2.8}
    epsilon = {"Ar": 0.0103, "Kr": 0.014, "Ne": 0.003, ("Kr", "Ar"): 0.011}
    rules = {"sigma": "arithmetic", "epsilon": "geometric"}
    atoms.calc = PairPotential(LJ, 8.0, shift=True, mixing=rules, sigma=sigma, epsilon=epsilon)
    energy, forces = 0.0, np.zeros((22, 3))
    for i, a in enumerate(atoms.symbols):
        for j, b in enumerate(atoms.symbols):
            d = atoms.positions[i] - atoms.positions[j]
            r = np.sqrt(d @ d)
            if i == j or r >= 8:
                continue
            e = 0.011 if {a, b} == {"Ar", "Kr"} else np.sqrt(epsilon[a] * epsilon[b])
            s, c = ((sigma[a] + sigma[b]) / 2 / r) ** 6, ((sigma[a] + sigma[b]) / 16) ** 6
            energy += 2 * e * (s * s - s - c * c + c)
            forces[i] += 24 * e * (2 * s * s - s) / r**2 * d
    assert atoms.get_potential_energy() == pytest.approx(energy, rel=1e-13)
    assert np.abs(atoms.get_forces() - forces).max() < 1e-13 * np.abs(forces).max()
    # One species of a calculator for three.
    alone = Atoms("Kr2", [[0, 0, 0], [0, 0, 4]], calculator=atoms.calc)
    s, c = (3.65 / 4) ** 6, (3.65 / 8) ** 6
    right = 4 * 0.014 * (s * s - s - c * c + c)
    assert alone.get_potential_energy() == pytest.approx(right, rel=1e-13)


@pytest.mark.parametrize("shape", [(2, 2, 2), (1, 1, 1)])
def test_stress_and_forces_are_differences_of_energies(shape):
    atoms = crystal(True, shape)
    atoms.calc = PairPotential("depth*exp(-a*r)*(1 - b/r)", 7.0, onset=5.0, depth=3.0, a=0.9, b=2.0)
    stress, forces = atoms.get_stress(voigt=False), atoms.get_forces()
    h, volume = 1e-5, atoms.get_volume()

    def energy(strain, moved=None):
        other = atoms.copy()
        other.calc = atoms.calc
        other.set_cell(atoms.cell @ (np.eye(3) + strain), scale_atoms=True)
        if moved is not None:
            other.positions += moved
        return other.get_potential_energy()

    for a in range(3):
        for b in range(a, 3):
            e = np.zeros((3, 3))
            e[a, b] += h / 2
            e[b, a] += h / 2
            slope = (energy(e) - energy(-e)) / (2 * h * volume)
            assert slope == pytest.approx(stress[a, b], abs=1e-8 * np.abs(stress).max())
    moved = np.zeros_like(atoms.positions)
    moved[0, 1] = h
    none = np.zeros((3, 3))
    slope = -(energy(none, moved) - energy(none, -moved)) / (2 * h)
    assert slope == pytest.approx(forces[0, 1], abs=1e-7)


def test_a_run_at_constant_energy_keeps_it_and_uses_lists_again():
    atoms = bulk("Ar", "fcc", a=5.4, cubic=True) * (3, 3, 3)
    random = np.random.default_rng(5)
    momenta = random.normal(0, np.sqrt(39.95 * units.kB * 60), (len(atoms), 3))
    atoms.set_momenta(momenta - momenta.mean(axis=0))
    atoms.calc = PairPotential(LJ, 8.0, onset=6.5, **ARGON)
    energies = []
    run = VelocityVerlet(atoms, timestep=2 * units.fs)
    run.attach(lambda: energies.append(atoms.get_total_energy()), interval=5)
    run.run(300)
    (pairs,) = atoms.calc._sums.values()
    assert pairs.statistics.lists_made < pairs.statistics.runs / 4
    assert np.ptp(energies) < 2e-6 * len(atoms)  # the temperature is 5e-3 eV


def test_an_optimisation_finds_the_minimum_of_a_cluster():
    atoms = Atoms("Ar13", np.random.default_rng(1).normal(0, 0.05, (13, 3)))
    golden = (1 + 5**0.5) / 2
    corners = [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    corners = [np.roll(c, k) for c in corners for k in range(3)]
    atoms.positions[1:] += np.array(corners) * 2.0
    atoms.calc = PairPotential("s = r2^-3; 4*(s*s - s)", 50.0)
    atoms.positions /= 3.4
    BFGS(atoms, logfile=None).run(fmax=1e-7, steps=300)
    # The icosahedron: Hoare and Pal 1971, Adv. Phys. 20, 161; Cambridge Cluster Database: -44.326801
    assert atoms.get_potential_energy() == pytest.approx(-44.326801, abs=1e-6)


def test_changes_of_parameters_cells_numbers_and_directions_take_effect():
    atoms = crystal()
    atoms.calc = calc = PairPotential(LJ, 8.0, **ARGON)
    first = atoms.get_potential_energy()
    assert calc.set(epsilon=2 * 0.0103) == {"epsilon": 2 * 0.0103}
    assert atoms.get_potential_energy() == pytest.approx(2 * first, rel=1e-14)
    for change in (
        lambda: atoms.set_cell(1.01 * atoms.cell, scale_atoms=True),
        lambda: atoms.set_pbc((True, True, False)),
        lambda: atoms.pop(3),
        lambda: atoms.set_pbc(False),
    ):
        change()
        fresh = atoms.copy()
        fresh.calc = PairPotential(LJ, 8.0, epsilon=2 * 0.0103, sigma=3.4)
        fresh.get_stress()
        atoms.get_stress()
        agree(calc, fresh.calc, 1e-13)


def test_copies_and_pickles_compute_the_same(tmp_path):
    atoms = crystal()
    atoms.calc = PairPotential(LJ, 8.0, shift=True, sigma={"Ar": 3.4}, epsilon=0.0103, skin=0.5)
    energy = atoms.get_potential_energy()
    for calc in (copy.deepcopy(atoms.calc), pickle.loads(pickle.dumps(atoms.calc))):
        other = atoms.copy()
        other.calc = calc
        assert other.get_potential_energy() == energy
        assert calc.parameters == atoms.calc.parameters
    atoms.write(tmp_path / "atoms.traj")


def test_atoms_without_a_cell_have_no_stress_and_no_atoms_no_energy():
    atoms = Atoms("Ar2", [[0, 0, 0], [0, 0, 4]])
    atoms.calc = PairPotential(LJ, 8.0, **ARGON)
    assert atoms.get_potential_energy() < 0
    with pytest.raises(NotImplementedError):
        atoms.get_stress()
    empty = Atoms(calculator=PairPotential(LJ, 8.0, **ARGON))
    assert empty.get_potential_energy() == 0 and empty.get_forces().shape == (0, 3)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (dict(law=3), TypeError, "law: expected a text, got int"),
        (dict(law="e = r;"), ValueError, "law: it must end with an expression"),
        (dict(law=""), ValueError, "law: it must end with an expression"),
        (dict(law="nothing*sigma*epsilon*r"), gdr.ProgramError, "nothing"),
        (dict(cutoff=0), ValueError, "cutoff: expected a number above 0"),
        (dict(cutoff=np.nan), ValueError, "cutoff: expected a finite number"),
        (dict(onset=9), ValueError, "onset is 9.0; it must be below the cut-off, 8.0"),
        (dict(onset=-1), ValueError, "onset: expected a number above 0"),
        (dict(onset=5, shift=True), ValueError, "shift: an onset makes"),
        (dict(shift=1), TypeError, "shift: expected True or False"),
        (dict(epsilon="x"), TypeError, "epsilon: expected a number"),
        (dict(epsilon={}), ValueError, "epsilon: the dictionary is empty"),
        (dict(epsilon={"Qq": 1}), ValueError, "epsilon: 'Qq' is neither a species"),
        (dict(epsilon={3: 1}), ValueError, "epsilon: 3 is neither a species"),
        (dict(epsilon={"Ar": np.inf}), ValueError, r"epsilon\['Ar'\]: expected a finite number"),
        (
            dict(epsilon={"Ar-Kr": 1, "Kr-Ar": 2}),
            ValueError,
            "epsilon: Ar-Kr has two values, 1.0 and 2.0",
        ),
        (
            dict(epsilon={"Ar": 1, "Kr": -1}, mixing={"epsilon": "geometric"}),
            ValueError,
            "epsilon: 1.0 of Ar and -1.0 of Kr have no geometric mean",
        ),
        (dict(mixing={"epsilon": "mean"}), ValueError, r"mixing\['epsilon'\]: expected one of"),
        (dict(mixing={"q": "geometric"}), ValueError, "mixing: 'q' is no parameter"),
        (dict(r2=3.0), ValueError, "r2: this is no name of a parameter"),
        (dict(skin=-1.0), ValueError, "skin"),
        (dict(mixing="abc"), TypeError, "mixing: expected a dictionary, got str"),
        (dict(device=3), TypeError, "device: expected a gdr.Device or a name"),
        (dict(onsett=5.0), TypeError, "onsett: not in the law.*; did you mean 'onset'"),
        (dict(skinn=5.0), TypeError, "skinn: not in the law.*; did you mean 'skin'"),
    ],
)
def test_wrong_arguments_are_named(given, error, message):
    arguments = {"law": LJ, "cutoff": 8.0, **ARGON, **given}
    with pytest.raises(error, match=message):
        PairPotential(**arguments)
    calc = PairPotential(LJ, 8.0, **ARGON)
    before = copy.deepcopy(calc.parameters)
    atoms = Atoms("Ar2", [[0, 0, 0], [0, 0, 4]], calculator=calc)
    energy = atoms.get_potential_energy()
    with pytest.raises(error, match=message):
        calc.set(**given)
    assert calc.parameters == before and atoms.get_potential_energy() == energy


def test_a_misspelt_change_is_refused():
    calc = PairPotential(LJ, 8.0, **ARGON)
    with pytest.raises(TypeError, match="sigm: not in the law, .*; did you mean 'sigma'"):
        PairPotential(LJ, 8.0, epsilon=0.0103, sigm=3.4)
    names = r"\(known: a, epsilon, q, sigmas, law, cutoff, shift, onset, mixing, skin, device\)"
    with pytest.raises(TypeError, match="sigma: .* mean 'sigmas'.* " + names):
        PairPotential("b = a/r; b*sigmas + epsilon*min(q, r)", 8.0, epsilon=1, sigma=3, a=1, q=2)
    with pytest.raises(TypeError, match="sigm: not in the law, .*sigma"):
        calc.set(sigm=3.0)
    assert "sigm" not in calc.parameters


@pytest.mark.parametrize("ends", [{}, dict(shift=True), dict(onset=6.0)])
@pytest.mark.parametrize("by_species", [False, True])
def test_parameters_may_have_any_name(ends, by_species):
    names = ["d", "i", "j", "xi", "xj", "shift2", "end2", "onset2", "u", "f", "inside", "width"]
    names += ["energy", "force", "virial", "law_d", "pair_d", "pair_i", "pair_shift"]
    values = {name: 0.1 * k for k, name in enumerate(names)}
    given = {n: {"Ar": v} if by_species else v for n, v in values.items()}
    plain, other = crystal(), crystal()
    plain.calc = PairPotential("q/r2 - r", 8.0, q=sum(values.values()), **ends)
    other.calc = PairPotential(f"({' + '.join(names)})/r2 - r", 8.0, **ends, **given)
    plain.get_stress()
    other.get_stress()
    agree(other.calc, plain.calc)


def test_lines_may_end_as_on_windows():
    plain, other = crystal(), crystal()
    plain.calc = PairPotential(LJ, 9.0, **ARGON)
    law = "\r\ns = (sigma^2/r2)^3; // powers\r\n4*epsilon*(s*s - s);\r\n"
    other.calc = PairPotential(law, 9.0, **ARGON)
    assert other.get_potential_energy() == plain.get_potential_energy()


def test_dictionaries_of_the_caller_are_copied():
    sigma, mixing = {"Ar": 3.4, ("Kr", "Ar"): 3.5}, {"sigma": "arithmetic"}
    calc = PairPotential(LJ, 8.0, epsilon=1.0, sigma=sigma, mixing=mixing)
    sigma["Ar"] = "x"
    mixing.clear()
    assert calc.parameters["sigma"] == {"Ar": 3.4, "Ar-Kr": 3.5}
    assert calc.parameters["mixing"] == {"sigma": "arithmetic"}
    assert calc.set(mixing=None) == {"mixing": {}}
    assert calc.set(mixing=None) == {}


def test_parameters_by_pairs_are_written_with_atoms(tmp_path):
    values = {"Ar": 3.4, "Kr": 3.6, ("Ar", "Kr"): 3.5}
    atoms = Atoms("ArKr", [[0, 0, 0], [0, 0, 4]])
    atoms.calc = PairPotential(LJ, 8.0, epsilon=1.0, sigma=values)
    energy = atoms.get_potential_energy()
    atoms.write(tmp_path / "atoms.traj")
    assert read(tmp_path / "atoms.traj").get_potential_energy() == energy


def test_the_law_and_the_device_can_be_changed():
    atoms = crystal()
    sigma = {"Ar": 3.4}
    atoms.calc = PairPotential(LJ, 8.0, epsilon=1, sigma=sigma, mixing={"sigma": "arithmetic"})
    atoms.get_potential_energy()
    atoms.calc.set(law="depth*exp(-r)", depth=2.0)
    assert not {"epsilon", "sigma"} & set(atoms.calc.parameters)
    right = atoms.copy()
    right.calc = PairPotential("depth*exp(-r)", 8.0, depth=2.0)
    energy = right.get_potential_energy()
    assert atoms.get_potential_energy() == energy
    assert atoms.calc.set(device="exact") == {"device": "exact"}
    assert atoms.get_potential_energy() == pytest.approx(energy, rel=1e-6)
    assert atoms.get_potential_energy() != energy
    assert "device" not in atoms.calc.parameters


def test_atoms_without_parameters_or_at_one_place_are_named():
    calc = PairPotential(LJ, 8.0, sigma=3.4, epsilon={"Ar": 1.0, "Kr": 1.4})
    with pytest.raises(gdr.InputError, match="no parameters for Xe, only for Ar, Kr"):
        Atoms("ArXe", [[0, 0, 0], [0, 0, 4]], calculator=calc).get_forces()
    with pytest.raises(gdr.InputError, match="epsilon: there is no value for Ar-Kr; give one"):
        Atoms("ArKr", [[0, 0, 0], [0, 0, 4]], calculator=calc).get_forces()
    near = Atoms("Ar3", [[0, 0, 4], [0, 0, 0], [0, 0, 0]], calculator=calc)
    with pytest.raises(gdr.InputError, match="the energy of atom 1 is not finite"):
        with pytest.warns(RuntimeWarning, match="results are not finite"):
            near.get_forces()
    with pytest.raises(ValueError, match=r"positions\[1, 2\] is not a number"):
        Atoms("Ar2", [[0, 0, 0], [0, 0, np.nan]], calculator=calc).get_forces()
