#!/usr/bin/env python3
"""Times of sums and gradients through JAX and PyTorch relative to calls with arrays of NumPy.

usage: python bench/python_gradients.py [--points 1000] [--rounds 20] [--device native]

A Gaussian sum in three dimensions over all pairs. Each round makes every call 20 times in changing
order; times are those of the fastest round, because other load only adds time. JAX and PyTorch are
measured where they are installed, in float64. Errors are the largest differences from NumPy's sums,
relative to the largest sum.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable, Dict

import numpy as np

import gdr

LAW = """
CONST g;
VARI vec3 x; VARJ vec3 y; VARJ b; VARF s;
s += b*exp(-g*norm2(x - y));
"""
WIDTH = 0.5


def numpy_calls(x: Any, y: Any, b: Any, device: str) -> Dict[str, Callable[[], Any]]:
    law = gdr.compile(LAW)
    return {
        "NumPy arrays": lambda: law(
            targets={"x": x}, sources={"y": y, "b": b}, g=WIDTH, device=device
        ).s
    }


def jax_calls(x: Any, y: Any, b: Any, device: str) -> Dict[str, Callable[[], Any]]:
    import jax

    import gdr.jax

    jax.config.update("jax_enable_x64", True)
    law = gdr.jax.function(LAW, device=device)
    given = [jax.numpy.asarray(a) for a in (x, y, b)]
    sums = jax.jit(lambda x, y, b: law(targets={"x": x}, sources={"y": y, "b": b}, g=WIDTH).s)
    gradient = jax.jit(jax.grad(lambda *a: sums(*a).sum()))
    return {
        "jax.jit": lambda: sums(*given).block_until_ready(),
        "jax.jit, gradient by x": lambda: gradient(*given).block_until_ready(),
    }


def torch_calls(x: Any, y: Any, b: Any, device: str) -> Dict[str, Callable[[], Any]]:
    import torch

    import gdr.torch

    law = gdr.torch.function(LAW, device=device)
    tensors = [torch.from_numpy(a) for a in (x, y, b)]
    leaf = tensors[0].clone().requires_grad_()

    def sums(at: Any) -> Any:
        return law(targets={"x": at}, sources={"y": tensors[1], "b": tensors[2]}, g=WIDTH).s

    return {
        "PyTorch": lambda: sums(tensors[0]),
        "PyTorch, sums and gradient by x": lambda: torch.autograd.grad(sums(leaf).sum(), leaf)[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--device", default="native")
    options = parser.parse_args()
    n, random = options.points, np.random.default_rng(1)
    x, y, b = random.normal(size=(n, 3)), random.normal(size=(n, 3)), random.normal(size=n)
    calls = numpy_calls(x, y, b, options.device)
    for more in (jax_calls, torch_calls):
        try:
            calls.update(more(x, y, b, options.device))
        except ImportError as error:
            print(f"not measured: {error}")
    d = x[:, None] - y
    w = b * np.exp(-WIDTH * (d**2).sum(2))
    right = {1: w.sum(1), 2: -2 * WIDTH * (w[..., None] * d).sum(1)}
    errors, best = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        got = np.asarray(call())
        errors[name] = abs(got - right[got.ndim]).max() / abs(right[got.ndim]).max()
    names = list(calls)
    for k in range(options.rounds):
        for name in names[k % len(names) :] + names[: k % len(names)]:
            begin = time.perf_counter()
            for _ in range(20):
                calls[name]()
            best[name] = min(best[name], (time.perf_counter() - begin) / 20)
    print(f"{n} x {n} pairs, {options.device}")
    print(f"{'call':34} {'ms':>8} {'relative':>9} {'error':>8}")
    for name, seconds in best.items():
        relative = seconds / best["NumPy arrays"]
        print(f"{name:34} {seconds * 1e3:8.3f} {relative:9.2f} {errors[name]:8.1e}")


if __name__ == "__main__":
    main()
