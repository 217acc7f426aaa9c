#!/usr/bin/env python3
"""Rate of gdr.gravity relative to the library's own call, in alternation in one process.

usage: python bench/python_gravity.py [--particles 16384] [--rounds 15] [--device NAME]

The library is called through its C interface (which passes pointers to gdr::Gravity::compute and
adds nothing), on a device of its own. Each round measures both, in changing order; the ratio is that
of the medians. The script sleeps between calls: each side has its own OpenMP threads, which spin after
their work and would take a core from the other side. CPU times give the same ratio on a shared host.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time

import numpy as np

import gdr


class Library:
    """The C interface of the library that the package has loaded."""

    def __init__(self, device: str) -> None:
        self.c = ctypes.CDLL("libgdr.so.0")
        self.c.gdr_last_error.restype = ctypes.c_char_p
        self.device, self.gravity = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.c.gdr_device_open(device.encode(), ctypes.byref(self.device)))
        self.check(self.c.gdr_gravity_create(self.device, ctypes.byref(self.gravity)))

    def check(self, status: int) -> None:
        if status != 0:
            raise SystemExit(self.c.gdr_last_error().decode())

    def compute(self, pos, mass, eps, acc, pot) -> None:
        def pointer(a):
            return ctypes.c_void_p(a.ctypes.data)

        self.check(
            self.c.gdr_gravity_compute(
                self.gravity,
                ctypes.c_size_t(len(mass)),
                pointer(pos),
                pointer(mass),
                ctypes.c_double(eps),
                pointer(acc),
                pointer(pot),
            )
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", type=int, default=16384)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="emulator:engine=native")
    options = parser.parse_args()
    n = options.particles
    random = np.random.default_rng(1)
    pos, mass = random.normal(size=(n, 3)), np.full(n, 1 / n)
    acc, pot, acc2, pot2 = np.empty((n, 3)), np.empty(n), np.empty((n, 3)), np.empty(n)
    library, device = Library(options.device), gdr.open(options.device)

    def by_library() -> None:
        library.compute(pos, mass, 0.01, acc, pot)

    def by_python() -> None:
        gdr.gravity(pos, mass, 0.01, acc=acc2, pot=pot2, device=device)

    times, cpu = ({by_library: [], by_python: []} for _ in range(2))
    for round_ in range(options.rounds + 1):
        for call in (by_library, by_python)[:: 1 if round_ % 2 else -1]:
            time.sleep(0.05)
            begin, worked = time.perf_counter(), time.process_time()
            call()
            if round_ > 0:  # the first one makes machine code
                times[call].append(time.perf_counter() - begin)
                cpu[call].append(time.process_time() - worked)
    assert np.array_equal(acc, acc2) and np.array_equal(pot, pot2)
    of_library, of_python = (statistics.median(times[c]) for c in (by_library, by_python))
    least = min(times[by_library]) / min(times[by_python])
    print(
        f"{n} particles, {options.device}: library {of_library * 1e3:.2f} ms, "
        f"python {of_python * 1e3:.2f} ms; rate of python {of_library / of_python:.3f} of the "
        f"library's (medians), {least:.3f} (shortest); CPU time "
        f"{statistics.median(cpu[by_library]) / statistics.median(cpu[by_python]):.3f}"
    )


if __name__ == "__main__":
    main()
