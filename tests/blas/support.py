"""Shared helpers of the tests of libgdrblas: running a program with it, and parsing its statistics."""

import os
import re
import subprocess
import sys

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


def counts(output: str, routine: str = "dgemm") -> list[tuple[int, int, float]]:
    """(device, host, flops) of each process that printed statistics of a routine."""
    line = rf"^gdrblas: {routine} device=(\d+) host=(\d+) flops=(\d+)$"
    return [(int(d), int(h), float(f)) for d, h, f in re.findall(line, output, re.M)]


def expect(true: bool, what: str, output: str = "") -> None:
    if not true:
        sys.exit(f"FAILED: {what}\n{output[-4000:]}")
