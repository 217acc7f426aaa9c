#!/usr/bin/env python3
"""Neighbours in a periodic box relative to copies of particles as ghosts, matscipy and vesin.

usage: python bench/python_neighbours.py [--sizes 4000,32000,256000] [--radius 2.8] [--rounds 5]

Particles of a Lennard-Jones liquid (density 0.8442: a lattice with noise) in a cube. Times are
processor seconds in one thread, the least of the rounds, in alternation; a pair is one entry of the
lists. All must find the same number of pairs. matscipy and vesin are left out where they are missing.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import Any, Callable, Dict

import numpy as np

import gdr


def liquid(n: int) -> Any:
    """Positions and the edge of the box."""
    edge = (n / 0.8442) ** (1 / 3)
    side = int(np.ceil(n ** (1 / 3)))
    random = np.random.default_rng(1)
    places = np.array(list(itertools.product(range(side), repeat=3)))
    pos = (places[random.permutation(len(places))[:n]] + 0.5) * edge / side
    return (pos + random.normal(scale=0.1, size=pos.shape)) % edge, edge


def with_ghosts(pos: Any, edge: float, radius: float) -> int:
    """Lists of all particles among the particles and copies of those near the faces."""
    places = [pos]
    for shift in itertools.product((-1, 0, 1), repeat=3):
        if any(shift):
            moved = pos + edge * np.array(shift)
            places.append(moved[((moved > -radius) & (moved < edge + radius)).all(axis=1)])
    everything = np.concatenate(places)
    ids = np.arange(len(everything))
    lists = gdr.neighbours(everything, radius, pos, ids=ids, target_ids=ids[: len(pos)], threads=1)
    return len(lists.indices)


def calls_for(pos: Any, edge: float, radius: float) -> Dict[str, Callable[[], int]]:
    """Calls that return the number of pairs."""
    box = [edge] * 3
    calls: Dict[str, Callable[[], int]] = {
        "gdr.neighbours": lambda: len(gdr.neighbours(pos, radius, box=box, threads=1).indices),
        "gdr.neighbour_pairs ijdDS": lambda: len(
            gdr.neighbour_pairs("ijdDS", pos, radius, box=box, threads=1)[0]
        ),
        "gdr.neighbours with ghosts": lambda: with_ghosts(pos, edge, radius),
    }
    try:
        from matscipy.neighbours import neighbour_list

        calls["matscipy ijdDS"] = lambda: len(
            neighbour_list(
                "ijdDS", positions=pos, cell=np.diag(box), pbc=np.ones(3, bool), cutoff=radius
            )[0]
        )
    except ImportError:
        print("matscipy is not installed")
    try:
        from vesin import NeighborList

        search = NeighborList(cutoff=radius, full_list=True)
        calls["vesin ijdDS"] = lambda: len(
            search.compute(points=pos, box=np.diag(box), periodic=True, quantities="ijdDS")[0]
        )
    except ImportError:
        print("vesin is not installed")
    return calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="4000,32000,256000")
    parser.add_argument("--radius", type=float, default=2.8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for n in map(int, options.sizes.split(",")):
        calls = calls_for(*liquid(n), options.radius)
        least = dict.fromkeys(calls, np.inf)
        pairs = {name: call() for name, call in calls.items()}
        for _ in range(options.rounds):
            for name, call in calls.items():
                begin = time.process_time()
                call()
                least[name] = min(least[name], time.process_time() - begin)
        assert len(set(pairs.values())) == 1, pairs
        for name, seconds in least.items():
            print(
                f"{n:8d} {name:28} {1e3 * seconds:9.1f} ms {1e9 * seconds / pairs[name]:7.1f} ns a pair"
                f"   {seconds / least['gdr.neighbours']:6.2f} times gdr.neighbours",
                flush=True,
            )


if __name__ == "__main__":
    main()
