"""A star cluster on the ranks of an MPI job; every rank owns a part of the stars.

    mpirun -n 2 python examples/python/mpi_cluster.py [stars] [steps]

Prints the energy at both ends and a sum over all positions: the same for any number of ranks.
"""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import gdr
from gdr import nbody


def part_of(stars: nbody.Snapshot, rank: int, ranks: int) -> nbody.Snapshot:
    """This rank's stars."""
    first, end = (len(stars.mass) * r // ranks for r in (rank, rank + 1))
    return nbody.Snapshot(stars.pos[first:end], stars.vel[first:end], stars.mass[first:end])


def energy(state: nbody.State) -> float:
    """Total energy of the stars of all ranks."""
    own = state.mass * (0.5 * (state.vel**2).sum(1) + 0.5 * state.pot)
    return float(np.concatenate(MPI.COMM_WORLD.allgather(own)).sum())


def main() -> None:
    stars, steps = (int(a) for a in (sys.argv[1:] + ["512", "64"])[:2])
    comm = MPI.COMM_WORLD
    mine = part_of(nbody.plummer(stars, seed=1), comm.rank, comm.size)
    with gdr.open("mpi", comm=comm, threads=1) as device:
        dt = 1 / 256
        energies = []
        for state in nbody.leapfrog(mine, eps=1 / 32, dt=dt, t_end=steps * dt, device=device):
            if state.step in (0, steps):
                energies.append(energy(state))
        everywhere = np.concatenate(comm.allgather(state.pos))
        pairs = [report.pairs for report in device.rank_reports()]
    if comm.rank == 0:
        print(f"energy {energies[0]:.12f}, then {energies[1]:.12f}; positions {float(everywhere.sum())!r}")
        print(f"pairs of stars that each rank worked on: {pairs}", file=sys.stderr)


if __name__ == "__main__":
    main()
