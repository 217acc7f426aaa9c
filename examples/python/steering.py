"""A differentiable N-body run: velocities that bring bodies where they should be.

    python examples/python/steering.py --out pictures

Bodies that attract each other start in a ring at rest. Gradients of their places at the end of a
leapfrog run with respect to the velocities at its start, by `jax.grad` through every step, steer
them to the corners of a square by the end of the run.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
from typing import Any, Tuple

import numpy as np
from scipy.optimize import minimize

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    raise SystemExit("steering.py needs the package jax: pip install jax") from None

import gdr.jax

jax.config.update("jax_enable_x64", True)
SOFTENING, TIME = 0.2, 1.5


@functools.partial(jax.jit, static_argnums=4)
def leapfrog(pos: Any, vel: Any, mass: Any, dt: float, steps: int) -> Any:
    """The places after every step (steps, n, 3)."""

    def step(state: Any, _: Any) -> Any:
        x, v, a = state
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = gdr.jax.gravity(x, mass, SOFTENING).acc
        return (x, v + 0.5 * dt * a, a), x

    start = (pos, vel, gdr.jax.gravity(pos, mass, SOFTENING).acc)
    _, track = jax.lax.scan(step, start, None, length=steps)
    return track


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=int, default=40)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    n = options.bodies
    angle = 2 * np.pi * (np.arange(n) + 0.5) / n
    pos = jnp.asarray(np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)]))
    goal = 1.2 * pos / jnp.abs(pos).max(axis=1, keepdims=True)
    mass = jnp.full(n, 0.5 / n)
    dt = TIME / options.steps

    def distance(vel: Any) -> Any:
        end = leapfrog(pos, vel.reshape(n, 3), mass, dt, options.steps)[-1]
        return ((end - goal) ** 2).sum(axis=1).mean()

    miss = jax.jit(jax.value_and_grad(distance))

    def value_and_slope(vel: Any) -> Tuple[float, Any]:
        value, slope = miss(vel)
        return float(value), np.array(slope, order="F")

    rest = np.zeros(3 * n)
    found = minimize(
        value_and_slope,
        np.asarray(goal - pos, order="F").ravel() / TIME,  # where there is no gravity
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": options.iterations},
    )
    print(f"mean square distance to the goals: {float(miss(rest)[0]):.4f} from rest,")
    print(f"{found.fun:.2e} after {found.nit} iterations with {found.nfev} gradients")

    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharey=True)
    for panel, vel, title in zip(axes, (rest, found.x), ("from rest", "steered")):
        track = np.asarray(leapfrog(pos, vel.reshape(n, 3), mass, dt, options.steps))
        panel.plot(track[:, :, 0], track[:, :, 1], color="0.7", linewidth=0.7)
        panel.scatter(*goal[:, :2].T, s=40, facecolors="none", edgecolors="k", label="goals")
        panel.scatter(*track[-1, :, :2].T, s=10, c="crimson", label="end of the run")
        panel.set(title=title, xlabel="x", aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.5, 1.5))
    axes[0].legend(loc="upper right")
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "steering.png", dpi=110)


if __name__ == "__main__":
    main()
