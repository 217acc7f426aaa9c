#!/usr/bin/env python3
"""Debian's test programs of all levels and types, Fortran and C, over libgdrblas as libblas.so.3:
every routine that is not ours must arrive at the host's BLAS unchanged. They must say what they say
over the reference BLAS.

usage: netlib_all.py LIBRARY FOLDER
"""

import glob
import os
import sys
import tempfile

from support import expect, run, skip


def verdicts(tests: str, settings: dict[str, str]) -> list[str]:
    """The lines with verdicts of all programs, in order."""
    output = ""
    with tempfile.TemporaryDirectory() as folder:
        for letter in "sdcz":
            for program, text in ((f"xblat1{letter}", None), (f"xblat2{letter}", f"{letter}blat2.in"),
                                  (f"xblat3{letter}", f"{letter}blat3.in"), (f"x{letter}cblat1", None),
                                  (f"x{letter}cblat2", f"{letter}in2"),
                                  (f"x{letter}cblat3", f"{letter}in3")):
                lines = ""
                if text is not None:
                    with open(os.path.join(tests, text), encoding="ascii") as file:
                        lines = file.read()
                output += run([os.path.join(tests, program)], settings, input=lines, cwd=folder)
        for path in sorted(glob.glob(os.path.join(folder, "*.out"))):
            with open(path, encoding="ascii") as summary:
                output += summary.read()
    return [line.rstrip() for line in output.splitlines()
            if any(word in line for word in ("PASS", "FAIL", "SUSPECT", "gdrblas:"))
            and "device=" not in line]


def main() -> None:
    _, folder = sys.argv[1:]
    reference = next(iter(glob.glob("/usr/lib/*/blas/libblas.so.3")), None)
    if reference is None or not os.path.exists(os.path.join(os.path.dirname(reference), "xblat3d")):
        skip("Debian's BLAS tests are not installed (apt-get install libblas-test)")
    tests = os.path.dirname(reference)
    wanted = verdicts(tests, {"LD_LIBRARY_PATH": tests})
    expect(len(wanted) > 500 and not any("FAIL" in line for line in wanted), "the reference", str(wanted))
    for host in ({}, {"GDR_BLAS_HOST": reference}):
        found = verdicts(tests, {"LD_LIBRARY_PATH": folder, **host})
        wrong = [line for line in found if line not in wanted] or found[len(wanted):]
        expect(found == wanted, f"host {host}: {len(found)} verdicts of {len(wanted)}; {wrong[:20]}")
        print(f"passed: {len(found)} verdicts, host {host or 'as found'}", flush=True)


if __name__ == "__main__":
    main()
