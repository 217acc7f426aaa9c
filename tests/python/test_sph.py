"""gdr.sph: beside the kernels that take all pairs, and the density of a lattice."""

import numpy as np
import pytest

import gdr


def gas(n=300, seed=4):
    random = np.random.default_rng(seed)
    state = {"pos": random.uniform(0, 1, (n, 3)), "vel": random.normal(size=(n, 3))}
    for name in ("mass", "rho", "pressure", "sound"):
        state[name] = random.uniform(0.5, 1.5, n)
    state["h"] = 0.05 * 8 ** random.uniform(0, 1, n) ** 3
    return state


def test_open_space_agrees_with_the_kernels_of_all_pairs():
    g = gas()
    rho, near = gdr.sph.density(g["pos"], g["mass"], g["h"])
    all_pairs = gdr.sph_density(g["pos"], g["mass"], g["h"])
    np.testing.assert_allclose(rho, all_pairs.rho, rtol=1e-12)
    np.testing.assert_array_equal(near, all_pairs.near)
    found = gdr.sph.forces(**g, alpha=0.8, beta=1.5, eta=0.02)
    right = gdr.sph_force(
        g["pos"],
        g["mass"],
        vel=g["vel"],
        h=g["h"],
        sound=g["sound"],
        rho=g["rho"],
        p=g["pressure"] / g["rho"] ** 2,
        alpha=0.8,
        beta=1.5,
        eta=0.02,
    )
    np.testing.assert_allclose(found.acc, right.acc, atol=1e-10 * np.abs(right.acc).max())
    np.testing.assert_allclose(found.dudt, right.dudt, atol=1e-10 * np.abs(right.dudt).max())
    np.testing.assert_allclose(found.mumax, np.maximum(right.mumax, 0), rtol=1e-12)


@pytest.mark.parametrize("periodic", [True, (True, False, True)])
def test_a_box_has_the_images_of_its_particles(periodic):
    g = gas(100)
    shifts = np.stack(np.meshgrid(*[[0, -1, 1]] * 3, indexing="ij"), -1).reshape(-1, 3)
    shifts = shifts[(shifts[:, ~np.broadcast_to(periodic, 3)] == 0).all(axis=1)]
    images = {k: np.concatenate([v] * len(shifts)) for k, v in g.items()}
    images["pos"] = np.concatenate([g["pos"] + s for s in shifts])
    right = gdr.sph.forces(**images)
    found = gdr.sph.forces(**g, box=(1, 1, 1), periodic=periodic)
    np.testing.assert_allclose(found.acc, right.acc[:100], atol=1e-10 * np.abs(right.acc).max())


def test_smoothing_lengths_of_a_lattice_and_of_a_sphere():
    n = 6
    pos = np.stack(np.meshgrid(*[np.arange(n) / n] * 3, indexing="ij"), -1).reshape(-1, 3)
    found = gdr.sph.smoothing_lengths(pos, 1.0 / n**3, box=(1, 1, 1))
    np.testing.assert_allclose(found.rho, 1.0, rtol=0.01)
    np.testing.assert_allclose(found.h, 1.2 / n, rtol=0.01)
    random = np.random.default_rng(1)
    radius = random.uniform(0, 1, (2000, 1)) ** 2  # density as r^-2.5
    direction = random.normal(size=(2000, 3))
    pos = radius * direction / np.linalg.norm(direction, axis=1)[:, None]
    found = gdr.sph.smoothing_lengths(pos, 1.0, tolerance=1e-5)
    np.testing.assert_allclose(found.h, 1.2 * found.rho ** (-1 / 3), rtol=1e-5)
    rho = gdr.sph_density(pos, 1.0, found.h).rho
    np.testing.assert_allclose(found.rho, rho, rtol=1e-10)
    assert found.h.max() > 50 * found.h.min()
    again = gdr.sph.smoothing_lengths(pos, 1.0, h=found.h, tolerance=1e-4)
    assert again.iterations == 1


def test_wrong_arguments_are_named():
    g = gas(20)
    pos, mass, h = g["pos"], g["mass"], g["h"]
    with pytest.raises(ValueError, match="too few particles"):
        gdr.sph.smoothing_lengths(pos[:2], 1.0)
    with pytest.raises(ValueError, match=r"h\[0\] is -"):
        gdr.sph.density(pos, mass, -h)
    with pytest.raises(ValueError, match="mass: expected shape"):
        gdr.sph.density(pos, mass[:3], h)
    with pytest.raises(ValueError, match="box"):
        gdr.sph.density(pos, mass, h, box=(1, 1, 0))
    with pytest.raises(ValueError, match="tolerance is 0"):
        gdr.sph.smoothing_lengths(pos, mass, tolerance=0.0)
    with pytest.raises(TypeError, match="iterations: expected an integer"):
        gdr.sph.smoothing_lengths(pos, mass, iterations=1.0)
    with pytest.raises(gdr.DeviceError):
        device = gdr.open("emulator")
        device.close()
        gdr.sph.density(pos, mass, h, device=device)
    assert gdr.sph.density(np.zeros((0, 3)), 1.0, 1.0).rho.shape == (0,)
