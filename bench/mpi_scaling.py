#!/usr/bin/env python3
"""Strong scaling of forces over MPI ranks: the same job on 1, 2, 4, ... ranks, in turns.

Runs the program of examples/mpi_nbody.cpp and prints a table: the best time of each number of ranks,
the speed-up over one rank, and the efficiency; all ranks have as many threads. Then what overlapping
hides: the time for which boards stand still for sources from other ranks, against that of the same
job with GDR_MPI_OVERLAP=0, where they begin when all is there (medians of the turns). The last column
is the energy, which has the same bits in every line (but for the order of its sum over ranks).

usage: mpi_scaling.py PROGRAM [--ranks 1,2,4] [--threads 1] [--particles 16384] [--steps 2]
                      [--turns 3] [--device mpi:engine=native] [--launcher "mpirun -n"]
"""

import argparse
import os
import re
import shlex
import statistics
import subprocess
import sys
from typing import NamedTuple


class Run(NamedTuple):
    """What one run printed: times in seconds."""

    seconds: float
    waiting: float
    energy: str


def run_once(options, ranks: int, overlap: bool) -> Run:
    command = shlex.split(options.launcher) + [str(ranks), options.program]
    device = f"{options.device},threads={options.threads}" if ":" in options.device else (
        f"{options.device}:threads={options.threads}")
    command += [str(options.particles), str(options.steps), device]
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads),
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       GDR_MPI_OVERLAP="1" if overlap else "0")
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"in ([0-9.]+) s; energy (-?[0-9.]+)", run.stdout)
    waited = re.search(r"in ([0-9.]+) s of which the boards stood still", run.stdout)
    if run.returncode != 0 or not found or not waited:
        sys.exit(f"{shlex.join(command)}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return Run(float(found[1]), float(waited[1]), found[2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--particles", type=int, default=16384)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--device", default="mpi:engine=native")
    parser.add_argument("--launcher", default="mpirun --oversubscribe --bind-to none -n")
    options = parser.parse_args()
    numbers = [int(text) for text in options.ranks.split(",")]
    runs: dict[tuple[int, bool], list[Run]] = {}
    for _ in range(options.turns):
        for ranks in numbers:
            for overlap in (True, False):
                runs.setdefault((ranks, overlap), []).append(run_once(options, ranks, overlap))
    best = {key: min(of_key) for key, of_key in runs.items()}
    one = best[numbers[0], True].seconds * numbers[0]
    print(f"{options.particles} particles, {options.steps} steps, {options.threads} threads a rank")
    print("ranks     seconds   speed-up  efficiency   waiting  not hidden   hidden  energy")
    for ranks in numbers:
        seconds, _, energy = best[ranks, True]
        waiting, whole = (statistics.median(r.waiting for r in runs[ranks, overlap])
                          for overlap in (True, False))
        hidden = f"{100 * (1 - waiting / whole):6.0f} %" if ranks > 1 and whole > 0 else "       -"
        print(f"{ranks:5} {seconds:11.4f} {one / seconds:10.2f} {one / seconds / ranks:11.2f}"
              f" {waiting:9.6f} {whole:11.6f} {hidden}  {energy}")


if __name__ == "__main__":
    main()
