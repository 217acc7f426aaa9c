"""Optimal transport between two sets of points, by Sinkhorn iterations.

    python examples/python/transport.py --points 20000 --out pictures

The entropic plan pi_ij = a_i b_j exp((f_i + g_j - |x_i - y_j|^2) / eps) has the points' masses a and
b as its marginals. The iterations (Cuturi, NeurIPS 2013) update f and g in turn so that the sums
over j, and over i, become one. The sums of all pairs contain the present f and g, so that they are
near one and neither overflow nor underflow, while eps falls step by step (Schmitzer, SIAM J. Sci.
Comput. 41, A1443 (2019)).
"""

from __future__ import annotations

import argparse
import pathlib
from typing import Any, Tuple

import numpy as np

import gdr


@gdr.kernel
def plan(i: gdr.Particle, j: gdr.Particle, eps: float) -> None:
    """The mass that a point sends to all others, relative to its own, and where it goes."""
    d = i.x - j.x
    share = j.mass * np.exp((i.f + j.f - np.dot(d, d)) / eps)
    i.sum += share
    i.moment += share * j.x


def sinkhorn(x: Any, y: Any, eps: float, steps: int) -> Tuple[Any, Any, Any, float]:
    """Potentials f and g for points of equal mass, where the points x go, and the largest error of
    a marginal."""
    a, b = 1 / len(x), 1 / len(y)
    f, g = np.zeros(len(x)), np.zeros(len(y))
    squares = ((x.mean(0) - y.mean(0)) ** 2).sum() + x.var(0).sum() + y.var(0).sum()
    falling = np.repeat(np.geomspace(max(squares, eps), eps, steps), 3)
    for present in [*falling, *[eps] * steps]:
        to_y = plan(targets={"x": x, "f": f}, sources={"x": y, "f": g, "mass": b}, eps=present)
        f -= present * np.log(to_y.sum)
        to_x = plan(targets={"x": y, "f": g}, sources={"x": x, "f": f, "mass": a}, eps=present)
        g -= present * np.log(to_x.sum)
    last = plan(targets={"x": x, "f": f}, sources={"x": y, "f": g, "mass": b}, eps=eps)
    return f, g, last.moment / last.sum[:, None], float(abs(last.sum - 1).max())


def letter(n: int, random: Any) -> Any:
    """Points in a ring with a bar."""
    angle, radius = random.uniform(0, 2 * np.pi, n), np.sqrt(random.uniform(0.49, 1, n))
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    bar = np.column_stack([random.uniform(-0.1, 1.4, n), random.uniform(-0.15, 0.15, n)])
    return np.where(random.uniform(size=(n, 1)) < 0.75, ring, bar)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--eps", type=float, default=5e-3)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    random = np.random.default_rng(3)
    n = options.points
    x = np.column_stack([0.35 * random.normal(size=(n, 2)) + [-5, 0], np.zeros(n)])
    y = np.column_stack([letter(n, random), np.zeros(n)])
    f, g, goal, error = sinkhorn(x, y, options.eps, options.steps)
    print(f"{n} points: squared Wasserstein distance about {f.mean() + g.mean():.4f}")
    print(f"largest error of a marginal {error:.1e}")

    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 4))
    colours = np.arctan2(x[:, 1], x[:, 0] + 5)
    for part in (0, 0.5, 1):
        at = (1 - part) * x + part * goal
        axes.scatter(at[:, 0], at[:, 1], c=colours, s=1, cmap="hsv", alpha=0.7)
    axes.set(aspect="equal", xlabel="x", ylabel="y", title="points at the start, half way and at their goals")
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "transport.png", dpi=110)


if __name__ == "__main__":
    main()
