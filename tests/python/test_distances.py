"""Positions whose distances have squares that a double cannot represent."""

import numpy as np
import pytest

import gdr

MASS = np.ones(3)
TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
LAWS = {
    "coulomb": lambda x, **how: gdr.coulomb(x, MASS, **how),
    "gravity_jerk": lambda x, **how: gdr.gravity_jerk(x, MASS, x, **how),
    "gravity_potential": lambda x, **how: gdr.gravity_potential(x, MASS, **how),
    "gravity": lambda x, **how: gdr.gravity(x, MASS, **how),
}


@pytest.mark.parametrize("device", ["native", "vector"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("scale", [1e-155, 1e-160, 1e-200])
def test_distances_whose_square_underflows_are_an_error_not_a_zero(law, scale, device):
    with pytest.raises(gdr.InputError, match=r"distance of p\D*0\D* and \D*1\D* is so small"):
        LAWS[law](TRIANGLE * scale, device=device)


@pytest.mark.parametrize("device", ["native", "vector"])
@pytest.mark.parametrize("law", LAWS)
def test_distances_whose_square_overflows_are_an_error_on_every_engine(law, device):
    with pytest.raises(gdr.InputError, match="1.* is too distant: .*; scale the units"):
        LAWS[law](TRIANGLE * 1e160, device=device)


def test_lennard_jones_particles_that_nearly_coincide_are_an_error():
    with pytest.raises(gdr.InputError, match=r"pos\[0\] and pos\[1\] is so small"):
        gdr.lennard_jones(TRIANGLE * 1e-160, rc=2.5)
    with pytest.raises(gdr.InputError, match=r"targets\[1\] and pos\[2\] is so small"):
        gdr.lennard_jones(TRIANGLE, rc=2.5, targets=np.array([[5.0, 0, 0], [1e-170, 2, 0]]))


def test_the_softening_of_a_law_allows_any_small_distance():
    r = gdr.gravity_potential(TRIANGLE * 1e-200, MASS, eps=0.5)
    assert np.allclose(r.pot, -2 / 0.5)
    r = gdr.gravity_softened(TRIANGLE * 1e-200, MASS, np.full(3, 0.5))
    assert np.isfinite(r.pot).all()


def test_particles_at_one_place_and_at_tiny_coordinates_have_forces():
    x = np.array([[0.0, 0, 0], [0, 0, 0], [1e-300, 3, 0]])
    assert np.allclose(gdr.coulomb(x, MASS).pot, [1 / 3, 1 / 3, 2 / 3])
    strided = np.asfortranarray(np.hstack([x, x]))[:, ::2][:, [0, 1, 2]]
    assert gdr.coulomb(strided[::-1], MASS).pot.shape == (3,)


def test_particles_beyond_the_cutoff_may_be_at_any_distance():
    x = np.array([[0.0, 0, 0], [1.1, 0, 0], [1e200, 0, 0]])
    near = gdr.lennard_jones(x[:2], rc=2.5)
    for device in ("native", "vector"):
        r = gdr.lennard_jones(x, rc=2.5, device=device)
        assert np.allclose(r.u[:2], near.u) and r.u[2] == 0
    rho = gdr.sph_density(x * 1e-180, 1.0, 0.5).rho
    assert np.isfinite(rho).all() and (rho > 0).all()


def test_numbers_that_are_not_finite_have_their_own_message():
    for bad, what in ((np.inf, "is infinite"), (np.nan, "not a number")):
        x = TRIANGLE.copy()
        x[1, 2] = bad
        with pytest.raises(ValueError, match=what):
            gdr.coulomb(x, MASS)
        with pytest.raises(ValueError, match=what):
            gdr.gravity(x, MASS)
