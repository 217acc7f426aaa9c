"""The kernels of examples/kernels, compared with NumPy in double precision."""

from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pytest
from conftest import error

import gdr

FOLDER = Path(__file__).parents[2] / "examples" / "kernels"
Arrays = Dict[str, Any]


def pairs(x: Any, xs: Any) -> Any:
    """Differences target - source, and distances, which are infinite for a particle itself."""
    d = x[:, None] - xs[None]
    r = np.sqrt((d**2).sum(-1))
    return d, np.where(r == 0, np.inf, r)


def dot(a: Any, b: Any) -> Any:
    return (a * b).sum(-1)


def unit_vectors(rng: Any, n: int) -> Any:
    v = rng.normal(size=(n, 3))
    return v / np.linalg.norm(v, axis=1)[:, None]


def vortex_ring(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d = i["x"][:, None] - j["xs"]
    core = (dot(d, d) + p["delta2"]) ** -1.5 * j["circulation"] / (4 * np.pi)
    return {"u": (np.cross(j["t"][None], d) * core[..., None]).sum(1)}


def stokeslet(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d = i["x"][:, None] - j["xs"]
    r2 = dot(d, d)
    u = (r2 + 2 * p["eps2"])[..., None] * j["f"] + dot(j["f"], d)[..., None] * d
    return {"u": (u * (p["scale"] * (r2 + p["eps2"]) ** -1.5)[..., None]).sum(1)}


def dipole_dipole(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d, r = pairs(i["x"], j["xs"])
    n, m, q = d / r[..., None], i["m"][:, None], j["p"][None]
    field = (3 * dot(q, n)[..., None] * n - q) / r[..., None] ** 3
    pn, mn = dot(q, n)[..., None], dot(m, n)[..., None]
    force = 3 / r[..., None] ** 4 * (pn * m + mn * q + dot(m, q)[..., None] * n - 5 * mn * pn * n)
    return {
        "energy": -dot(m, field).sum(1),
        "torque": np.cross(m, field).sum(1),
        "force": force.sum(1),
    }


def quadrupole(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d = i["x"][:, None] - j["xs"]
    r = np.sqrt(dot(d, d) + p["eps2"])
    xx, xy, xz, yy, yz, zz = j["q"].T
    q = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).transpose(2, 0, 1)
    qd = np.einsum("jab,ijb->ija", q, d)
    dqd = dot(d, qd)
    a = -(j["mass"] / r**3)[..., None] * d + qd / r[..., None] ** 5
    a -= 2.5 * (dqd / r**7)[..., None] * d
    return {"a": a.sum(1), "potential": (-j["mass"] / r - dqd / (2 * r**5)).sum(1)}


def gay_berne(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d, r = pairs(i["x"], j["xs"])
    r = np.where(r**2 > p["cutoff2"], np.inf, r)
    n = d / r[..., None]
    un, vn = dot(i["u"][:, None], n), dot(j["v"], n)
    uv = dot(i["u"][:, None], j["v"])

    def g(c: float) -> Any:
        return 1 - c / 2 * ((un + vn) ** 2 / (1 + c * uv) + (un - vn) ** 2 / (1 - c * uv))

    with np.errstate(all="ignore"):
        scaled = 1 / (r - g(p["chi"]) ** -0.5 + 1)
        epsilon = g(p["chip"]) ** 2 / np.sqrt(1 - (p["chi"] * uv) ** 2)
        return {"energy": np.where(np.isinf(r), 0, 4 * epsilon * (scaled**12 - scaled**6)).sum(1)}


def stillinger_weber(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    big_a, big_b, a = 7.049556277, 0.6022245584, 1.80
    d, r = pairs(i["x"], j["xs"])
    inside = r < a
    r = np.where(inside, r, 1.0)

    def v(r: Any) -> Any:
        return big_a * (big_b / r**4 - 1) * np.exp(1 / (r - a))

    h = 1e-6
    slope = (v(r + h) - v(r - h)) / (2 * h)  # the force is minus the gradient
    force = np.where(inside, -slope / r, 0.0)[..., None] * d
    return {"energy": np.where(inside, v(r) / 2, 0).sum(1), "force": force.sum(1)}


def yukawa_jerk(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    def acceleration(t: float) -> Any:
        x, xs = i["x"] + t * i["v"], j["xs"] + t * j["vs"]
        d, r = pairs(x, xs)
        kr = p["k"] * r
        with np.errstate(invalid="ignore"):
            w = np.where(np.isinf(r), 0, j["m"] * np.exp(-kr) * (1 + kr) / r**3)
        return (w[..., None] * d).sum(1)

    h = 1e-5
    return {"a": acceleration(0), "jerk": (acceleration(h) - acceleration(-h)) / (2 * h)}


def thin_plate_spline(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d, r = pairs(i["x"], j["xs"])
    r = np.where(np.isinf(r), 1.0, r)
    zero = (d == 0).all(-1)
    s = np.where(zero, 0, j["weight"] * r**2 * np.log(r))
    return {
        "s": s.sum(1),
        "gradient": ((j["weight"] * (2 * np.log(r) + 1))[..., None] * d).sum(1),
    }


def gaussian_kde(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d = i["x"][:, None] - j["xs"]
    w = j["w"] * np.exp(-0.5 * p["inverse_h2"] * dot(d, d))
    return {"density": w.sum(1), "gradient": -p["inverse_h2"] * (w[..., None] * d).sum(1)}


def lennard_jones_periodic(i: Arrays, j: Arrays, p: Arrays) -> Arrays:
    d = i["x"][:, None] - j["xs"]
    d -= p["box"] * np.rint(d / p["box"])
    r2 = dot(d, d)
    s = np.where((r2 == 0) | (r2 > p["cutoff2"]), 0, 1 / np.where(r2 == 0, 1, r2))
    force = (24 * (2 * s**6 - s**3) * s)[..., None] * d
    return {"energy": 2 * (s**6 - s**3).sum(1), "force": force.sum(1)}


def lattice(rng: Any, spacing: float, edge: int = 4) -> Any:
    """Particles near the points of a cubic lattice, without close pairs."""
    points = np.stack(np.meshgrid(*[np.arange(edge)] * 3), axis=-1).reshape(-1, 3)
    return spacing * points + 0.05 * spacing * rng.uniform(-1, 1, size=(len(points), 3))


def tensors(rng: Any, n: int) -> Any:
    """Traceless symmetric tensors: xx, xy, xz, yy, yz, zz."""
    q = rng.normal(size=(n, 6))
    q[:, 5] = -q[:, 0] - q[:, 3]
    return q


def chi_of(kappa: float) -> float:
    return (kappa**2 - 1) / (kappa**2 + 1)


#: Targets, sources and parameters for each kernel; particles interact with themselves where the
#: kernel excludes that.
INPUTS: Dict[str, Callable[[Any], Any]] = {
    "vortex_ring": lambda g: (
        {"x": g.normal(size=(50, 3))},
        {
            "xs": g.normal(size=(64, 3)),
            "t": g.normal(size=(64, 3)),
            "circulation": g.uniform(1, 2, 64),
        },
        {"delta2": 0.01},
    ),
    "stokeslet": lambda g: (
        {"x": g.normal(size=(50, 3))},
        {"xs": g.normal(size=(64, 3)), "f": g.normal(size=(64, 3))},
        {"eps2": 0.01, "scale": 1 / (8 * np.pi)},
    ),
    "dipole_dipole": lambda g: (
        {"x": (x := lattice(g, 1.0)), "m": (m := unit_vectors(g, 64))},
        {"xs": x, "p": m},
        {},
    ),
    "quadrupole": lambda g: (
        {"x": g.normal(size=(50, 3)) + 5},
        {"xs": g.normal(size=(40, 3)), "mass": g.uniform(1, 2, 40), "q": tensors(g, 40)},
        {"eps2": 0.01},
    ),
    "gay_berne": lambda g: (
        {"x": (x := lattice(g, 3.2, 3)), "u": (u := unit_vectors(g, 27))},
        {"xs": x, "v": u},
        {"chi": chi_of(3.0), "chip": (5**0.5 - 1) / (5**0.5 + 1), "cutoff2": 25.0},
    ),
    "stillinger_weber": lambda g: ({"x": (x := lattice(g, 1.1))}, {"xs": x}, {}),
    "yukawa_jerk": lambda g: (
        {"x": (x := lattice(g, 1.0)), "v": (v := g.normal(size=(64, 3)))},
        {"xs": x, "vs": v, "m": g.uniform(1, 2, 64)},
        {"k": 0.7},
    ),
    "thin_plate_spline": lambda g: (
        {"x": (x := g.normal(size=(60, 3)))},
        {"xs": x, "weight": g.uniform(1, 2, 60)},
        {},
    ),
    "gaussian_kde": lambda g: (
        {"x": g.normal(size=(50, 3))},
        {"xs": g.normal(size=(64, 3)), "w": g.uniform(1, 2, 64)},
        {"inverse_h2": 4.0},
    ),
    "lennard_jones_periodic": lambda g: (
        {"x": (x := lattice(g, 1.1))},
        {"xs": x},
        {"box": np.array([4.4, 4.5, 4.6]), "cutoff2": 4.0},
    ),
}


def test_every_example_kernel_is_compared():
    assert sorted(INPUTS) == sorted(f.stem for f in FOLDER.glob("*.gdk"))


@pytest.mark.parametrize("name", sorted(INPUTS))
def test_an_example_kernel_agrees_with_numpy(name, rng, native):
    text = (FOLDER / f"{name}.gdk").read_text()
    kernel = gdr.compile(text, name, effort=0)
    targets, sources, params = INPUTS[name](rng)
    wanted = globals()[name](targets, sources, params)
    for device in (None, native):
        got = kernel(targets=targets, sources=sources, params=params, device=device)
        assert got.keys() == wanted.keys()
        for result, value in wanted.items():
            assert got[result].shape == value.shape
            assert error(got[result], value) < 3e-6, result
