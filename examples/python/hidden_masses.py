"""A potential fitted to measurements by its gradients: masses that nobody sees.

    python examples/python/hidden_masses.py --out pictures

Test particles at known places have measured accelerations, with noise. The places and masses of a
few bodies that cause them are found by minimising the mean square of the differences with
L-BFGS. The gradients are those of PyTorch through `gdr.torch.gravity`, by adjoint kernels.
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any, List

import numpy as np

try:
    import torch
except ImportError:
    raise SystemExit("hidden_masses.py needs PyTorch: pip install torch") from None

import gdr.torch


def fit(places: Any, measured: Any, start: Any, eps: float, steps: int) -> Any:
    """Places and masses (bodies, 4) that cause the measured accelerations, and the losses."""
    bodies = torch.tensor(start, requires_grad=True)
    optimiser = torch.optim.LBFGS([bodies], max_iter=10, line_search_fn="strong_wolfe")
    losses: List[float] = []

    def loss() -> Any:
        optimiser.zero_grad()
        acc, _ = gdr.torch.gravity(bodies[:, :3], bodies[:, 3].exp(), eps, targets=places)
        value = ((acc - measured) ** 2).mean()
        value.backward()
        return value

    for _ in range(steps):
        losses.append(float(optimiser.step(loss)))
    found = bodies.detach().numpy().copy()
    found[:, 3] = np.exp(found[:, 3])
    return found, losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    random = np.random.default_rng(11)
    masses, eps = np.array([2.0, 1.0, 0.5]), 0.2
    hidden = np.array([[-1.0, 0.4, 0.2], [0.9, 0.8, -0.3], [0.3, -1.0, 0.1]])
    places = random.uniform(-2, 2, (options.places, 3))
    measured = gdr.gravity(hidden, masses, eps, places).acc
    measured += 0.02 * random.normal(size=measured.shape)
    start = np.column_stack([0.5 * random.normal(size=(3, 3)), np.zeros(3)])
    found, losses = fit(torch.tensor(places), torch.tensor(measured), start, eps, options.steps)
    found = found[np.argsort(-found[:, 3])]
    for body, mass, right in zip(hidden, masses, found):
        miss = np.linalg.norm(right[:3] - body)
        print(f"mass {mass:g}: found {right[3]:.4f}, {miss:.4f} away from its place")
    print(f"rms difference {losses[-1] ** 0.5:.4f}; the noise of the measurements is 0.0200")

    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6))
    thin = np.abs(places[:, 2]) < 0.5
    left.quiver(*places[thin, :2].T, *measured[thin, :2].T, scale=30, color="0.6")
    left.scatter(*hidden[:, :2].T, s=200 * masses, facecolors="none", edgecolors="k", label="hidden")
    left.scatter(*found[:, :2].T, s=30, c="crimson", label="found")
    left.scatter(*start[:, :2].T, s=20, c="royalblue", marker="x", label="first guess")
    left.set(title="accelerations near the plane z = 0", xlabel="x", ylabel="y", aspect="equal")
    left.legend(loc="upper left")
    right.semilogy(losses, ".-")
    right.axhline(0.02**2, color="0.6", label="noise")
    right.set(title="mean square of the differences", xlabel="step of L-BFGS (10 iterations)")
    right.legend()
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "hidden_masses.png", dpi=110)


if __name__ == "__main__":
    main()
