#!/usr/bin/env python3
"""Processor time and memory of one calculation over the number of particles: direct sums, trees of
two accuracies, a cut-off.

usage: python bench/particle_costs.py [--particles 1000,3000,...] [--memory 1000000]
                                      [--device native:threads=1] [--output FILE.json]

Gravity of a Plummer sphere (softening 1e-4) and forces of a Lennard-Jones liquid (bench/python_cutoff.py)
whose lists serve. Processor seconds, the least of two calls; direct sums of more than 30000 particles
from 1000 targets. Memory: the growth of the largest resident memory of a process of its own in
one call, for each particle. docs/generator/figures.py draws FILE.json.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from liquid import CUTOFF, lattice
from python_tree import plummer

import gdr

SIZES = "1000,3000,10000,30000,100000,300000,1000000"
MOST_DIRECT = 30000
EPS = 1e-4
ACCURACIES = {"tree, 1e-3": 1e-3, "tree, 1e-5": 1e-5}
CUT = "cut-off"


def least(call) -> "tuple[float, object]":
    """Processor seconds of the faster of two calls, and its result."""
    best, result = float("inf"), None
    for _ in range(2):
        begin = time.process_time()
        result = call()
        best = min(best, time.process_time() - begin)
    return best, result


def direct_seconds(pos, mass, device) -> float:
    n = len(pos)
    if n <= MOST_DIRECT:
        return least(lambda: gdr.gravity(pos, mass, EPS, device=device))[0]
    targets = pos[np.random.default_rng(2).choice(n, 1000, replace=False)]
    return least(lambda: gdr.gravity(pos, mass, EPS, targets, device=device))[0] * n / 1000


def cutoff_call(n: int, device):
    """The number of particles, and a call with lists that serve."""
    pos, edge = lattice(max(2, round((n / 4) ** (1 / 3))))
    pos += np.random.default_rng(3).normal(0, 0.05, pos.shape)
    pairs = gdr.PairSum(
        gdr.lennard_jones, CUTOFF, box=(edge,) * 3, skin=0.3, device=device, rc2=CUTOFF**2
    )
    return len(pos), lambda: pairs(pos)


def costs(n: int, device) -> "list[dict]":
    pos, mass = plummer(n), np.full(n, 1 / n)
    rows = [{"what": "direct sums", "particles": n, "seconds": direct_seconds(pos, mass, device)}]
    for what, accuracy in ACCURACIES.items():
        seconds, found = least(
            lambda a=accuracy: gdr.gravity(pos, mass, EPS, accuracy=a, device=device)
        )
        tree = {"method": found.tree.method, "error": found.tree.error}
        rows.append({"what": what, "particles": n, "seconds": seconds, **tree})
    count, call = cutoff_call(n, device)
    call()
    rows.append({"what": CUT, "particles": count, "seconds": least(call)[0]})
    return rows


def resident(name: str) -> int:
    """Bytes of resident memory, ``VmRSS``, or of the largest, ``VmHWM``, by Linux."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return 1024 * int(status.split(f"{name}:")[1].split()[0])


def memory_of(what: str, n: int, device) -> float:
    """Bytes of each particle in a call of this process."""
    if what == CUT:
        n, call = cutoff_call(n, device)
    else:
        pos, mass = plummer(n), np.full(n, 1 / n)
        acc, pot = np.zeros((n, 3)), np.zeros(n)
        options = {"acc": acc, "pot": pot, "device": device}
        few = slice(0, 2000)
        gdr.gravity(pos[few], mass[few], EPS, device=device)  # code and buffers of the device
        call = lambda: gdr.gravity(pos, mass, EPS, accuracy=ACCURACIES[what], **options)  # noqa: E731
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")  # forgets the largest
    before = resident("VmRSS")
    call()
    return (resident("VmHWM") - before) / n


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", default=SIZES)
    parser.add_argument("--memory", type=int, default=1000000)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    parser.add_argument("--device", default="native:threads=1")
    parser.add_argument("--output")
    options = parser.parse_args()
    device = gdr.open(options.device)
    if options.memory_of:
        print(memory_of(options.memory_of, options.memory, device))
        return
    result = {"device": device.description, "isa": device.statistics.isa, "costs": [], "memory": {}}
    for n in (int(float(v)) for v in options.particles.split(",")):
        for row in costs(n, device):
            result["costs"].append(row)
            print(*row.values(), flush=True)
    for what in [*ACCURACIES, CUT]:
        again = [__file__, "--memory-of", what, "--memory", str(options.memory)]
        done = subprocess.run(
            [sys.executable, *again, "--device", options.device],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        result["memory"][what] = round(float(done.stdout))
        print(what, result["memory"][what], "bytes for each of", options.memory, flush=True)
    result["processor"] = processor()
    if options.output:
        Path(options.output).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def processor() -> str:
    """The host's processor as Linux names it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
