#!/usr/bin/env python3
"""Strong scaling of forces over MPI ranks: the same job on 1, 2, 4, ... ranks, in alternation.

Runs the program of examples/mpi_nbody.cpp and prints a table: the best time of each number of ranks,
the speed-up over one rank, and the efficiency; all ranks have as many threads. The last column is the
energy, which is the same in every line up to the order of its sum over ranks.

usage: mpi_scaling.py PROGRAM [--ranks 1,2,4] [--threads 1] [--particles 16384] [--steps 2]
                      [--turns 3] [--device mpi:engine=native] [--launcher "mpirun -n"]
"""

import argparse
import os
import re
import shlex
import subprocess
import sys


def seconds_of(options, ranks: int) -> tuple[float, str]:
    """Time of one run, and the energy that it printed."""
    command = shlex.split(options.launcher) + [str(ranks), options.program]
    device = f"{options.device},threads={options.threads}" if ":" in options.device else (
        f"{options.device}:threads={options.threads}")
    command += [str(options.particles), str(options.steps), device]
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads),
                       OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"in ([0-9.]+) s; energy (-?[0-9.]+)", run.stdout)
    if run.returncode != 0 or not found:
        sys.exit(f"{shlex.join(command)}: status {run.returncode}\n{run.stdout}{run.stderr}")
    return float(found[1]), found[2]


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
    best: dict[int, tuple[float, str]] = {}
    for _ in range(options.turns):
        for ranks in numbers:
            now = seconds_of(options, ranks)
            best[ranks] = min(best.get(ranks, now), now)
    one = best[numbers[0]][0] * numbers[0]
    print(f"{options.particles} particles, {options.steps} steps, {options.threads} threads a rank")
    print("ranks     seconds   speed-up  efficiency  energy")
    for ranks in numbers:
        seconds, energy = best[ranks]
        print(f"{ranks:5} {seconds:11.4f} {one / seconds:10.2f} {one / seconds / ranks:11.2f}"
              f"  {energy}")


if __name__ == "__main__":
    main()
