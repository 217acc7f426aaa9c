#!/usr/bin/env python3
"""Times that a new user sees: gdr --version, import gdr, and the first force call of a process.

usage: PYTHONPATH=build/release/python bench/first_minutes.py GDR [--repeat N]

Each runs in a new process; the shortest of N times counts, since other load only adds time. The import
is timed with NumPy loaded before, and as a whole. The first call computes the forces of 1024 stars,
opens the device and generates its code.
"""

import argparse
import subprocess
import sys
import time

IMPORT = """
import time
begin = time.perf_counter()
import numpy
middle = time.perf_counter()
import gdr
print(time.perf_counter() - middle, time.perf_counter() - begin)
"""

FIRST_CALL = """
import time
import gdr
from gdr import nbody
stars = nbody.plummer(1024, seed=1)
begin = time.perf_counter()
gdr.gravity(stars.pos, stars.mass, 0.01, device=gdr.open({device!r}))
print(time.perf_counter() - begin)
"""


def seconds_of(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [time.perf_counter() - begin]


def printed_by(code):
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    return [float(word) for word in done.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gdr", help="the command gdr")
    parser.add_argument("--repeat", type=int, default=7, help="processes of each kind (default 7)")
    options = parser.parse_args()

    def shortest(measure, *arguments):
        return [min(times) for times in zip(*(measure(*arguments) for _ in range(options.repeat)))]

    (version,) = shortest(seconds_of, [options.gdr, "--version"])
    alone, whole = shortest(printed_by, IMPORT)
    rows = [("gdr --version", version, 0.02), ("import gdr, with NumPy", whole, None),
            ("import gdr, after NumPy", alone, 0.15)]  # fmt: skip
    for device in ("emulator", "emulator:engine=native"):
        (call,) = shortest(printed_by, FIRST_CALL.format(device=device))
        rows.append((f"first force call, {device}", call, 0.05))
    for name, seconds, required in rows:
        limit = f" (required {1e3 * required:.0f})" if required else ""
        print(f"{name:42} {1e3 * seconds:7.1f} ms{limit}")


if __name__ == "__main__":
    main()
