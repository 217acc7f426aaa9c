"""A Gaussian process on many points: conjugate gradients with a kernel as the operator.

    python examples/python/regression.py --points 100000 --out pictures

Measures a function with noise at random places of the unit square, and predicts it on a grid. The
covariance of two places is a Wendland function of their distance, which is zero beyond its support:
`gdr.PairSum` computes the product with the matrix of all covariances in O(n). With `--gaussian` it
is a Gaussian of the same width, summed over all pairs.
"""

from __future__ import annotations

import argparse
import pathlib
import time
from typing import Any, Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

import gdr

#: The Wendland function phi_{3,1}, and a Gaussian with the same curvature at zero. Wendland, Adv.
#: Comput. Math. 4, 389 (1995).
WENDLAND = """
CONST support;
VARI vec3 x as pos; VARJ vec3 y as pos; VARJ b; VARF s;
q = norm(x - y)/support;
s += b*(1 - q)^4*(1 + 4*q);
"""
GAUSSIAN = """
CONST support;
VARI vec3 x; VARJ vec3 y; VARJ b; VARF s;
s += b*exp(-10*norm2(x - y)/support^2);
"""


def truth(places: Any) -> Any:
    """The function that is measured."""
    x, y = places[:, 0], places[:, 1]
    return np.sin(12 * x * x) * np.cos(9 * y) + np.exp(-60 * ((x - 0.7) ** 2 + (y - 0.3) ** 2))


def covariances(places: Any, support: float, gaussian: bool) -> Callable[..., Any]:
    """The product of the covariances of the places, or of others with them, with a vector."""
    if gaussian:
        law = gdr.compile(GAUSSIAN)

        def all_pairs(b: Any, at: Any = places) -> Any:
            return law(targets={"x": at}, sources={"y": places, "b": b}, support=support).s

        return all_pairs
    near = gdr.PairSum(WENDLAND, support, skin=0.0, support=support)

    def pairs_within_support(b: Any, at: Any = None) -> Any:
        sums = near(places, sources={"b": b}, targets=at).s
        return sums + b if at is None else sums  # a particle does not meet itself

    return pairs_within_support


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=20000)
    parser.add_argument("--noise", type=float, default=0.3)
    parser.add_argument("--support", type=float, default=0.2)
    parser.add_argument("--gaussian", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    random = np.random.default_rng(5)
    n = options.points
    places = np.column_stack([random.uniform(size=(n, 2)), np.zeros(n)])
    values = truth(places) + options.noise * random.normal(size=n)

    product = covariances(places, options.support, options.gaussian)
    noise2 = options.noise**2
    matrix = LinearOperator((n, n), matvec=lambda b: product(b) + noise2 * b, dtype=float)
    begin, steps = time.perf_counter(), 0

    def count(_: Any) -> None:
        nonlocal steps
        steps += 1

    weights, failed = cg(matrix, values, maxiter=2000, callback=count)
    seconds = time.perf_counter() - begin
    side = 128
    axis = (np.arange(side) + 0.5) / side
    grid = np.stack([*np.meshgrid(axis, axis), np.zeros((side, side))], -1).reshape(-1, 3)
    predicted = product(weights, grid)
    error = np.sqrt(np.mean((predicted - truth(grid)) ** 2))
    print(f"{n} points, {steps} steps in {seconds:.1f} s{', not converged' if failed else ''}")
    print(f"rms error of the prediction {error:.4f}, of a measurement {options.noise:g}")

    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
    shown = slice(0, 20000)
    dots = left.scatter(*places[shown, :2].T, c=values[shown], s=2, cmap="coolwarm", vmin=-2, vmax=2)
    left.set(title="measurements", xlabel="x", ylabel="y", aspect="equal")
    right.pcolormesh(axis, axis, predicted.reshape(side, side), cmap="coolwarm", vmin=-2, vmax=2)
    right.contour(axis, axis, truth(grid).reshape(side, side), colors="k", linewidths=0.4)
    right.set(title="prediction, and contours of the function", xlabel="x", aspect="equal")
    figure.colorbar(dots, ax=[left, right])
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "regression.png", dpi=110)


if __name__ == "__main__":
    main()
