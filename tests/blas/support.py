"""Shared helpers of the tests of libgdrblas: running a program with it, and parsing its statistics."""

import os
import re
import subprocess
import sys
from typing import NamedTuple

SKIPPED = 77  # CTest's SKIP_RETURN_CODE
TIMEOUT_S = 280


def skip(why: str) -> None:
    """End the test as skipped, with one line."""
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def environment(settings: dict[str, str]) -> dict[str, str]:
    """This process's environment without the library's variables, with `settings` added."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GDR_", "LD_"))}
    return {**kept, "GDR_BLAS_STATS": "1", "OMP_NUM_THREADS": "2", **settings}


def run(command: list[str], settings: dict[str, str], status: int = 0, **more) -> str:
    """Output and errors of a command that must end with `status`."""
    done = subprocess.run(command, env=environment(settings), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False,
                          **more)
    if done.returncode != status:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


class Counts(NamedTuple):
    """Statistics of a routine in one process."""

    device: int
    host: int
    empty: int
    flops: int
    clocks: int
    bytes_to_board: int
    bytes_from_board: int
    predicted_seconds: float


def counts(output: str, routine: str = "dgemm") -> list[Counts]:
    """The statistics of each process that printed some of a routine."""
    names = " ".join(rf"{name}=(\d+)" for name in Counts._fields[:-1])
    line = rf"^gdrblas: {routine} {names} predicted_seconds=([\d.e+-]+)$"
    return [Counts(*map(int, found[:-1]), float(found[-1])) for found in re.findall(line, output, re.M)]


def all_on_device(output: str, calls: int, routine: str = "dgemm") -> bool:
    """Whether one process made so many calls, all but the empty products on the device, whose work is counted."""
    found = counts(output, routine)
    if len(found) != 1 or found[0].host != 0 or found[0].device + found[0].empty != calls:
        return False
    one = found[0]
    works = (one.clocks, one.bytes_to_board, one.bytes_from_board, one.predicted_seconds)
    return all((work > 0) == (one.device > 0) for work in works)


def expect(true: bool, what: str, output: str = "") -> None:
    if not true:
        sys.exit(f"FAILED: {what}\n{output[-4000:]}")
