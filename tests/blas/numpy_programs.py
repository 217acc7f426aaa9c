#!/usr/bin/env python3
"""NumPy over libgdrblas: Debian's, which uses libblas.so.3, and wheels, which bring their own BLAS.

usage: numpy_programs.py LIBRARY FOLDER debian|wheels
FOLDER has the library as libblas.so.3. GDR_TEST_WHEELS names a Python with wheels of NumPy.
"""

import os
import subprocess
import sys

from support import counts, expect, run, skip

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "numpy_program.py")


def main() -> None:
    library, folder, kind = sys.argv[1:]
    variants = {"LD_PRELOAD": library}
    if kind == "debian":
        python = "/usr/bin/python3"
        known = subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False)
        if not os.path.exists(python) or known.returncode != 0:
            skip("Debian's NumPy is not installed (apt-get install python3-numpy)")
        variants["LD_LIBRARY_PATH"] = folder
    else:
        python = os.environ.get("GDR_TEST_WHEELS", "")
        if not python:
            skip("GDR_TEST_WHEELS=PATH names no Python with wheels of NumPy")
    for name, value in variants.items():
        # PYTHONPATH may contain another NumPy than Debian's.
        path = os.environ.get("PYTHONPATH", "") if kind == "wheels" else ""
        settings = {name: value, "GDR_BLAS_THRESHOLD": "1000", "PYTHONPATH": path,
                    "GDR_DEVICE": "exact:chips=1,blocks=2"}
        output = run([python, PROGRAM], settings)
        expect("ok" in output, name, output)
        for routine in ("dgemm", "sgemm"):
            done = counts(output, routine)
            expect(len(done) == 1 and done[0][0] >= 2, f"{name}: {routine} {done}", output)
        print(f"passed: {kind}, {name}: {output.splitlines()[0]}")


if __name__ == "__main__":
    main()
