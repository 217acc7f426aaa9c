#!/usr/bin/env python3
"""Sums and gradients of a Gaussian law: through JAX and PyTorch, and relative to pykeops.

usage: python bench/python_gradients.py [--points 1000] [--rounds 20] [--device native]
                                        [--large 20000] [--float-device native-float] [--threads 1]

The first table compares calls through JAX and PyTorch with calls with arrays of NumPy, in float64,
over all pairs of a few points: each round makes every call 20 times in changing order. The second one
is in float32 and over all pairs of `--large` points (0: left out): sums, the gradient of the sum of
all of them by the targets (an adjoint kernel; pykeops's `Grad`), and both through PyTorch. JAX,
PyTorch and pykeops are measured where they are installed.

Times are seconds of the processor, of all threads, and in the first table also elapsed ones; the
lower quartile of the rounds. Errors are the largest differences from sums in double, in the second
table in long double and of 50 targets, relative to the largest value.
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from typing import Any, Callable, Dict, List, Tuple

import numpy as np

import gdr

LAW = """
CONST g;
VARI vec3 x; VARJ vec3 y; VARJ b; VARF s;
s += b*exp(-g*norm2(x - y));
"""
WIDTH = 0.5


def numpy_calls(x: Any, y: Any, b: Any, device: Any) -> Dict[str, Callable[[], Any]]:
    law = gdr.compile(LAW)
    return {
        "NumPy arrays": lambda: law(
            targets={"x": x}, sources={"y": y, "b": b}, g=WIDTH, device=device
        ).s
    }


def jax_calls(x: Any, y: Any, b: Any, device: Any) -> Dict[str, Callable[[], Any]]:
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


def torch_calls(x: Any, y: Any, b: Any, device: Any) -> Dict[str, Callable[[], Any]]:
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


def lower_quartile(seconds: List[float]) -> float:
    return sorted(seconds)[len(seconds) // 4]


def interleaved(
    calls: Dict[str, Callable[[], Any]], rounds: int, repeats: int
) -> Dict[str, Tuple[float, float]]:
    """Processor and elapsed seconds of each call."""
    times: Dict[str, List[Tuple[float, float]]] = {name: [] for name in calls}
    names = list(calls)
    for k in range(rounds):
        for name in names[k % len(names) :] + names[: k % len(names)]:
            begin = time.process_time(), time.perf_counter()
            for _ in range(repeats):
                calls[name]()
            used = time.process_time() - begin[0], time.perf_counter() - begin[1]
            times[name].append((used[0] / repeats, used[1] / repeats))
    return {
        name: (lower_quartile([t for t, _ in of]), lower_quartile([t for _, t in of]))
        for name, of in times.items()
    }


def with_installed(calls: Dict[str, Any], *more: Callable[[], Dict[str, Any]]) -> Dict[str, Any]:
    """The calls with those of libraries that are installed, and work with the NumPy here."""
    for make in more:
        try:
            calls.update(make())
        except (ImportError, RuntimeError) as error:
            print(f"not measured: {error}")
    return calls


def error_of(got: Any, right: Dict[int, Any]) -> float:
    got = np.asarray(got)
    want = right[got.ndim]
    return float(abs(got[: len(want)] - want).max() / abs(want).max())


def sums_and_gradient(x: Any, y: Any, b: Any) -> Dict[int, Any]:
    """The sums (one number for each target) and the gradient (a vector), by number of dimensions."""
    d = x[:, None] - y
    w = b * np.exp(-WIDTH * (d**2).sum(2))
    return {1: w.sum(1), 2: -2 * WIDTH * (w[..., None] * d).sum(1)}


def small_calls(options: argparse.Namespace) -> None:
    n, random = options.points, np.random.default_rng(1)
    x, y, b = random.normal(size=(n, 3)), random.normal(size=(n, 3)), random.normal(size=n)
    device = gdr.open(options.device, threads=options.threads)
    given = x, y, b, device
    calls = with_installed(
        numpy_calls(*given), partial(jax_calls, *given), partial(torch_calls, *given)
    )
    right = sums_and_gradient(x, y, b)
    errors = {name: error_of(call(), right) for name, call in calls.items()}
    found = interleaved(calls, options.rounds, 20)
    print(f"{n} x {n} pairs, float64, {options.device}")
    print(f"{'call':34} {'cpu ms':>8} {'relative':>9} {'elapsed':>8} {'relative':>9} {'error':>8}")
    base = found["NumPy arrays"]
    for name, (used, elapsed) in found.items():
        print(
            f"{name:34} {used * 1e3:8.3f} {used / base[0]:9.2f} {elapsed * 1e3:8.3f}"
            f" {elapsed / base[1]:9.2f} {errors[name]:8.1e}"
        )


def numpy_gradients(x: Any, y: Any, b: Any, device: Any) -> Dict[str, Callable[[], Any]]:
    law = gdr.compile(LAW)
    adjoint, ones = law.adjoint(targets="x"), np.ones(len(x), np.float32)
    at, of = {"x": x}, {"y": y, "b": b}
    return {
        "gdr, sums": lambda: law(targets=at, sources=of, g=WIDTH, device=device).s,
        "gdr, gradient": lambda: (
            adjoint(targets={"x": x, "s_bar": ones}, sources=of, g=WIDTH, device=device).x_bar
        ),
    }


def torch_gradients(x: Any, y: Any, b: Any, device: Any) -> Dict[str, Callable[[], Any]]:
    calls = torch_calls(x, y, b, device)
    return {"gdr.torch, sums and gradient": calls["PyTorch, sums and gradient by x"]}


def keops_gradients(x: Any, y: Any, b: Any) -> Dict[str, Callable[[], Any]]:
    from pykeops.numpy import Genred

    law = "Exp(-g * SqDist(x, y)) * b"
    names = ["x = Vi(3)", "y = Vj(3)", "b = Vj(1)", "g = Pm(1)"]
    sums = Genred(law, names, axis=1)
    gradient = Genred(f"Grad({law}, x, e)", [*names, "e = Vi(1)"], axis=1)
    given = x, y, b[:, None], np.full(1, WIDTH, np.float32)
    ones = np.ones((len(x), 1), np.float32)
    return {
        "pykeops, sums": lambda: sums(*given, backend="CPU")[:, 0],
        "pykeops, gradient": lambda: gradient(*given, ones, backend="CPU"),
    }


def keops_in_torch(x: Any, y: Any, b: Any) -> Dict[str, Callable[[], Any]]:
    import torch
    from pykeops.torch import LazyTensor

    leaf = torch.from_numpy(x).clone().requires_grad_()
    yj, bj = torch.from_numpy(y)[None], torch.from_numpy(b)[None, :, None]

    def call() -> Any:
        d2 = ((LazyTensor(leaf[:, None]) - LazyTensor(yj)) ** 2).sum(-1)
        sums = ((-WIDTH * d2).exp() * LazyTensor(bj)).sum(1)
        return torch.autograd.grad(sums.sum(), leaf)[0]

    return {"pykeops.torch, sums and gradient": call}


def large_gradients(options: argparse.Namespace) -> None:
    n, random = options.large, np.random.default_rng(1)
    x, y = (random.normal(size=(n, 3)).astype(np.float32) for _ in "xy")
    b = random.normal(size=n).astype(np.float32)
    device = gdr.open(options.float_device, threads=options.threads)
    calls = with_installed(
        numpy_gradients(x, y, b, device),
        partial(torch_gradients, x, y, b, device),
        partial(keops_gradients, x, y, b),
        partial(keops_in_torch, x, y, b),
    )
    right = sums_and_gradient(*(a.astype(np.longdouble) for a in (x[:50], y, b)))
    errors = {name: error_of(call(), right) for name, call in calls.items()}
    found = interleaved(calls, options.large_rounds, 1)
    print(f"{n} x {n} pairs, float32, {options.float_device}")
    print(f"{'call':34} {'cpu s':>8} {'million/s':>9} {'error':>8}   relative")
    for name, (used, _) in found.items():
        line = f"{name:34} {used:8.3f} {n * n / used / 1e6:9.0f} {errors[name]:8.1e}"
        if name == "gdr, gradient":
            line += f"   {used / found['gdr, sums'][0]:.2f} of the time of sums"
        peer = name.replace("gdr", "pykeops")
        if peer != name and peer in found:
            line += f"   {found[peer][0] / used:.1f} of the speed of pykeops"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--device", default="native")
    parser.add_argument("--large", type=int, default=20000)
    parser.add_argument("--large-rounds", type=int, default=3)
    parser.add_argument("--float-device", default="native-float")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    if options.points:
        small_calls(options)
    if options.large:
        large_gradients(options)


if __name__ == "__main__":
    main()
