#!/usr/bin/env python3
"""Nearest neighbours, logarithms of sums of exponentials and weighted means relative to pykeops.

usage: python bench/python_reductions.py [--points 100000] [--targets 100000] [--neighbours 16]
                                         [--rounds 3] [--threads 2] [--only nearest]

Points are normally distributed in three dimensions. Times are processor seconds of all threads
(system time included), the least of the rounds, in alternation, after one call of each. The error of
neighbours is the share of indices that differ from those of exact sorting, and the largest relative
error of squared distances; of others the largest relative error, of a sample of targets in long
double. pykeops is left out where it is missing.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Callable, Dict, Tuple

import numpy as np

import gdr
from gdr.functions import logsumexp, smallest

SAMPLE = 50


def kernels(count: int) -> Tuple[Any, Any]:
    """The k nearest sources, and a softmax-weighted mean."""

    @gdr.kernel
    def nearest(i, j):
        d = j.x - i.x
        i.r2, i.n = smallest((i.r2, i.n), (np.dot(d, d), j.id), count)

    @gdr.kernel(types={"v": "vec3"})
    def attention(i, j):
        d = j.x - i.x
        i.total, i.mean = logsumexp((i.total, i.mean), (-np.dot(d, d), j.v))

    return nearest, attention


def keops_calls(
    x: Any, y: Any, v: Any, count: int, dtype: Any
) -> Dict[str, Callable[[], Tuple[Any, ...]]]:
    """The same with lazy tensors."""
    from pykeops.numpy import LazyTensor

    xi = LazyTensor(np.ascontiguousarray(x, dtype)[:, None, :])
    yj = LazyTensor(np.ascontiguousarray(y, dtype)[None, :, :])
    vj = LazyTensor(np.ascontiguousarray(v, dtype)[None, :, :])
    r2 = ((xi - yj) ** 2).sum(-1)
    return {
        "nearest": lambda: (r2.argKmin(count, dim=1),),
        "attention": lambda: ((-r2).logsumexp(dim=1)[:, 0], (-r2).sumsoftmaxweight(vj, dim=1)),
    }


def gdr_calls(
    x: Any, y: Any, v: Any, count: int, device: Any
) -> Dict[str, Callable[[], Tuple[Any, ...]]]:
    nearest, attention = kernels(count)
    targets, sources = {"x": x}, {"x": y, "id": np.arange(len(y))}

    def find() -> Tuple[Any, ...]:
        found = nearest(targets=targets, sources=sources, device=device)
        return found["n"], found["r2"]

    def attend() -> Tuple[Any, ...]:
        found = attention(targets=targets, sources={"x": y, "v": v}, device=device)
        return found["total"], found["mean"]

    return {"nearest": find, "attention": attend}


def references(x: Any, y: Any, v: Any, count: int) -> Dict[str, Tuple[Any, ...]]:
    """Of the first targets, in long double."""
    x, y, v = (np.asarray(a, np.longdouble) for a in (x[:SAMPLE], y, v))
    r2 = ((x[:, None] - y[None]) ** 2).sum(-1)
    order = np.argsort(r2, axis=1, kind="stable")[:, :count]
    most = -r2.min(1, keepdims=True)
    e = np.exp(-r2 - most)
    total = e.sum(1, keepdims=True)
    return {
        "nearest": (order, np.take_along_axis(r2, order, 1)),
        "attention": ((most + np.log(total))[:, 0], (e @ v) / total),
    }


def error_text(name: str, got: Tuple[Any, ...], want: Tuple[Any, ...]) -> str:
    if name == "nearest":
        text = f"{100 * np.mean(got[0][:SAMPLE] != want[0]):.2f} % other indices"
        if len(got) > 1:
            apart = want[1] > 0
            text += f", distances {np.abs(got[1][:SAMPLE][apart] / want[1][apart] - 1).max():.0e}"
        return text
    scales = (np.abs(w).max() for w in want)
    return "error " + ", ".join(
        f"{float(np.abs(g[:SAMPLE] - w).max() / s):.0e}" for g, w, s in zip(got, want, scales)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=100000)
    parser.add_argument("--targets", type=int, default=100000)
    parser.add_argument("--neighbours", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=["nearest", "attention"], help="leave the other one out")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    y, v = random.normal(size=(options.points, 3)), random.normal(size=(options.points, 3))
    x = y[: options.targets]
    calls: Dict[str, Dict[str, Callable[[], Tuple[Any, ...]]]] = {}
    for engine in ("native", "native-float"):
        device = gdr.open(f"{engine}:threads={options.threads}")
        calls[f"gdr {engine}"] = gdr_calls(x, y, v, options.neighbours, device)
    try:
        for dtype in ("float64", "float32"):
            calls[f"pykeops {dtype}"] = keops_calls(x, y, v, options.neighbours, dtype)
    except ImportError:
        print("pykeops is not installed")
    wanted = references(x, y, v, options.neighbours)
    if options.only:
        wanted = {options.only: wanted[options.only]}
    pairs = 1e-6 * len(x) * len(y)
    for name, want in wanted.items():
        results = {who: of[name]() for who, of in calls.items()}
        least = dict.fromkeys(calls, np.inf)
        for _ in range(options.rounds):
            for who, of in calls.items():
                begin = time.process_time()
                of[name]()
                least[who] = min(least[who], time.process_time() - begin)
        for who, seconds in least.items():
            print(
                f"{name:10} {who:18} {seconds:8.3f} s {pairs / seconds:8.0f} million pairs/s"
                f"   {error_text(name, results[who], want)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
