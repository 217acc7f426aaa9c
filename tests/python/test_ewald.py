"""gdr.ewald: constants of crystals, and the sum over shells of images."""

import numpy as np
import pytest

import gdr


def rock_salt(edge: int):
    """Charges of a rock salt crystal whose nearest distance is 1."""
    n = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), -1).reshape(-1, 3)
    return n.astype(float), np.where(n.sum(1) % 2, -1.0, 1.0)


def test_crystals_have_their_madelung_constants():
    pos, charge = rock_salt(4)
    found = gdr.ewald(pos, charge, (4, 4, 4), accuracy=1e-13)
    assert -2 * found.energy / 64 == pytest.approx(1.7475645946331822, rel=1e-10)
    np.testing.assert_allclose(found.energies, found.energy / 64, rtol=1e-10)
    np.testing.assert_allclose(found.force, 0, atol=1e-10)
    np.testing.assert_allclose(found.virial, found.energy / 3 * np.eye(3), rtol=1e-10, atol=1e-8)
    half = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    pair = gdr.ewald([[0, 0, 0], [1, 1, 1]], [1, -1], half, accuracy=1e-13)
    assert -pair.energy == pytest.approx(1.7475645946331822, rel=1e-10)


def test_a_dipole_far_from_its_images_is_a_pair():
    found = gdr.ewald([[0.0, 0, 0], [1.0, 0, 0]], [1.0, -1.0], (60, 60, 60), accuracy=1e-10)
    # The images of a dipole p in a conductor add the energy -2 pi p^2 / (3 V), and less of higher
    # moments.
    assert found.energy == pytest.approx(-1 - 2 * np.pi / (3 * 60**3), abs=1e-8)
    assert found.force[0, 0] == pytest.approx(1.0, abs=1e-4)


def test_options_divide_the_sum_and_appear_in_the_result():
    random = np.random.default_rng(2)
    pos, charge = random.uniform(0, 5, (50, 3)), random.normal(size=50)
    chosen = gdr.ewald(pos, charge, (5, 6, 7), accuracy=1e-12)
    given = gdr.ewald(pos, charge, (5, 6, 7), accuracy=1e-12, alpha=1.1)
    assert given.alpha == 1.1 and given.waves != chosen.waves
    np.testing.assert_allclose(given.force, chosen.force, atol=1e-10)
    short = gdr.ewald(pos, charge, (5, 6, 7), alpha=1.1, cutoff=2.0, wave_cutoff=5.0)
    assert (short.alpha, short.cutoff, short.wave_cutoff) == (1.1, 2.0, 5.0)
    assert short.error == pytest.approx(np.abs(short.force - chosen.force).max(), rel=3)


def test_wrong_arguments_are_named():
    pos, charge = rock_salt(2)
    for box, said in (((2, 2, 0), "box"), ((2, 2, np.nan), "box"), (None, "box")):
        with pytest.raises((TypeError, ValueError), match=said):
            gdr.ewald(pos, charge, box)
    with pytest.raises(ValueError, match="accuracy"):
        gdr.ewald(pos, charge, (2, 2, 2), accuracy=1.0)
    with pytest.raises(ValueError, match="alpha: expected a positive"):
        gdr.ewald(pos, charge, (2, 2, 2), alpha=0.0)
    for name in ("accuracy", "alpha", "cutoff", "wave_cutoff"):
        with pytest.raises(TypeError, match=f"^{name}: expected a number"):
            gdr.ewald(pos, charge, (2, 2, 2), **{name: "1"})
        with pytest.raises(ValueError, match=f"^{name}: expected a finite number"):
            gdr.ewald(pos, charge, (2, 2, 2), **{name: np.nan})
    with pytest.raises(ValueError, match="same place"):
        gdr.ewald(np.zeros((3, 3)), 1.0, (2, 2, 2))
    empty = gdr.ewald(np.zeros((0, 3)), np.zeros(0), (2, 2, 2))
    assert empty.energy == 0 and empty.force.shape == (0, 3)
