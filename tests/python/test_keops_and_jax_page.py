"""Every block of docs/guides/keops-and-jax.md runs, and its sums are those of NumPy."""

import importlib.util
import re

import numpy as np
import pytest
from conftest import ROOT

TEXT = (ROOT / "docs" / "guides" / "keops-and-jax.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", TEXT, re.M | re.S)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The names that each block leaves, by its number."""
    pytest.importorskip("scipy")
    path = tmp_path_factory.mktemp("page") / "page.py"
    parts = [f"{block}\nnamespaces.append(dict(globals()))\n" for block in BLOCKS]
    path.write_text("namespaces = []\n" + "\n".join(parts))
    spec = importlib.util.spec_from_file_location("page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.namespaces


def pairs(n):
    """Differences and their squares for the arrays of the page."""
    d = n["x"][:, None] - n["y"]
    return d, (d**2).sum(2)


def spline(q):
    return np.maximum(2 - q, 0) ** 3 / 4 - np.maximum(1 - q, 0) ** 3


def periodic(n):
    box = np.array([6.0, 7.0, 8.0])
    d, _ = pairs(n)
    d = d - box * np.round(d / box)
    r = np.sqrt((d**2).sum(2))
    return ((n["b"] * np.exp(-0.5 * r) / r**2)[..., None] * d).sum(1)


def vortices(n):
    d, r2 = pairs(n)
    return (np.cross(n["y"] ** 2, d) / (4 * np.pi * (r2 + 0.04) ** 1.5)[..., None]).sum(1)


def lennard_jones(n):
    x = 2 * n["x"]
    s = ((x[:, None] - x) ** 2).sum(2)
    np.fill_diagonal(s, np.inf)
    return (4 * (s**-6 - s**-3)).sum(1)


def distances(p, q):
    return np.sqrt(((p[:, None] - q) ** 2).sum(2)).mean()


def energy(n):
    x, y = n["x"], n["y"]
    return 2 * distances(x, y) - distances(x, x) - distances(y, y)


def weights(n):
    x = n["x"]
    matrix = np.exp(-2 * ((x[:, None] - x) ** 2).sum(2)) + 0.1 * np.eye(len(x))
    return np.linalg.solve(matrix, np.sin(x[:, 0]))


def flock(n):
    near = pairs(n)[1] < 1.5**2
    return near @ n["y"] ** 2 / np.maximum(near.sum(1), 1)[:, None]


def attention(n):
    scores = 0.5 * n["q"] @ n["k"].T
    w = np.exp(scores - scores.max(1, keepdims=True))
    return w @ n["y"] / w.sum(1)[:, None]


def kinds(n):
    return n["EPSILON"][np.arange(50)[:, None] % 2, np.arange(40) % 2]


def systems(n):
    weights = np.exp(-0.5 * ((n["places"][:, None] - n["places"]) ** 2).sum(2))
    return np.where(n["system"][:, None] == n["system"], weights, 0) @ n["charges"]


#: The number of the block, the expression of its result, and the same by NumPy.
SUMS = [
    (1, lambda n: n["sums"], lambda n: np.exp(-0.5 * pairs(n)[1]) @ n["b"]),
    (2, lambda n: n["sums"], lambda n: np.exp(-0.5 * np.sqrt(pairs(n)[1])) @ n["b"]),
    (3, lambda n: n["sums"], lambda n: (1 + 0.5 * pairs(n)[1]) ** -1.3 @ n["b"]),
    (4, lambda n: n["energy"], energy),
    (5, lambda n: n["speeds"], lambda n: np.exp(-0.5 * pairs(n)[1]) @ n["y"] ** 2),
    (
        6,
        lambda n: n["sums"],
        lambda n: np.exp(-0.1 * ((n["x8"][:, None] - n["y8"]) ** 2).sum(2)) @ n["b"],
    ),
    (7, lambda n: n["sums"], lambda n: np.exp(-pairs(n)[0] ** 2 @ [0.5, 1.0, 2.0]) @ n["b"]),
    (8, lambda n: n["neighbours"], lambda n: pairs(n)[1].argmin(1)),
    (9, lambda n: n["within"], lambda n: (pairs(n)[1] < 1).sum(1)),
    (10, lambda n: n["weights"], weights),
    (11, lambda n: n["pot"], lambda n: -((pairs(n)[1] + 0.01) ** -0.5) @ n["b"] ** 2),
    (12, lambda n: n["u"], lennard_jones),
    (13, lambda n: n["rho"], lambda n: 0.1 / np.pi * spline(np.sqrt(pairs(n)[1])).sum(1)),
    (
        14,
        lambda n: n["e"],
        lambda n: ((n["b"] * pairs(n)[1] ** -1.5)[..., None] * pairs(n)[0]).sum(1),
    ),
    (15, lambda n: n["f"], periodic),
    (16, lambda n: n["v"], vortices),
    (17, lambda n: n["mean"], flock),
    (18, lambda n: n["u"], lambda n: (kinds(n) / (1 + pairs(n)[1])).sum(1)),
    (19, lambda n: n["attended"], attention),
    (20, lambda n: n["potentials"], systems),
]


def test_the_page_has_ten_formulas_and_ten_programs():
    assert len(BLOCKS) == 21
    titles = re.findall(r"^\*\*(\d+)\. ", TEXT, re.M)
    assert titles == 2 * [str(k) for k in range(1, 11)]


@pytest.mark.parametrize(("block", "result", "reference"), SUMS, ids=[str(row[0]) for row in SUMS])
def test_sums_of_a_block_are_those_of_numpy(names, block, result, reference):
    n = names[block]
    tolerance = 1e-3 if block == 10 else 1e-12
    assert np.allclose(result(n), reference(n), rtol=tolerance, atol=tolerance)
