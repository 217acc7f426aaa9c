#!/usr/bin/env python3
"""HPL through libgdrblas: Debian's hpcc, or an HPL that the user built, on 1, 2 and 4 ranks.

usage: hpl.py LIBRARY hpcc     Debian's program
       hpl.py LIBRARY xhpl     the program that GDR_TEST_HPL names; skipped where it is not set
Every residual check must pass, and the device must have done all products of every rank.
GDR_TEST_HPL_N is the order of the matrices (160).
"""

import os
import re
import shutil
import sys
import tempfile

from support import counts, expect, run, skip

GRIDS = ((1, 1), (1, 2), (2, 2))  # rows and columns of ranks
NB = 32

HPL = """HPL of tests/blas
of the library
HPL.out      output file name (if any)
{output}            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{n}          Ns
1            # of NBs
{nb}           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{p}            Ps
{q}            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
8            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
0            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""

# hpcc only: further sizes of its transposition test.
PTRANS = """##### This line is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""


def program_and_input(kind: str) -> tuple[str, str, str]:
    """Path, name of its input file, name of the file with its results (empty: its output)."""
    if kind == "hpcc":
        path = shutil.which("hpcc")
        if path is None:
            skip("hpcc is not installed (apt-get install hpcc)")
        return path, "hpccinf.txt", "hpccoutf.txt"
    path = os.environ.get("GDR_TEST_HPL", "")
    if not path:
        skip("GDR_TEST_HPL=PATH names no HPL program of yours")
    expect(os.access(path, os.X_OK), f"GDR_TEST_HPL={path} cannot be run")
    return os.path.abspath(path), "HPL.dat", ""


def main() -> None:
    library, kind = sys.argv[1:]
    path, input_name, output_name = program_and_input(kind)
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        skip("mpirun is not installed (apt-get install openmpi-bin)")
    n = int(os.environ.get("GDR_TEST_HPL_N", "160"))
    for p, q in GRIDS:
        with tempfile.TemporaryDirectory() as folder:
            text = HPL.format(output=8 if output_name else 6, n=n, nb=NB, p=p, q=q)
            with open(os.path.join(folder, input_name), "w", encoding="ascii") as file:
                file.write(text + (PTRANS if kind == "hpcc" else ""))
            # Ranks share the cores of one machine: one thread each.
            settings = {"GDR_DEVICE": "exact:threads=1", "GDR_BLAS_THRESHOLD": "0",
                        "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            output = run([mpirun, "--oversubscribe", "-np", str(p * q), "-x",
                          f"LD_PRELOAD={library}", path], settings, cwd=folder)
            results = output
            if output_name:
                with open(os.path.join(folder, output_name), encoding="ascii") as file:
                    results = file.read()
        checks = re.findall(r"\|\|Ax-b\|\|_oo.*\s([A-Z]+)$", results, re.M)
        expect(checks != [] and set(checks) == {"PASSED"}, f"{p} x {q}: {checks}", results)
        expect("FAILED" not in results.replace("0 tests completed and failed", ""), f"{p} x {q}",
               results)
        ranks = [c for c in counts(output) if c[0] + c[1] > 0]
        expect(len(ranks) == p * q, f"{p} x {q}: {len(ranks)} ranks came here (nothing can take the "
               "place of a BLAS that is linked statically)", output)
        expect(all(c[0] > 0 and c[1] == 0 for c in ranks), f"{p} x {q}: {ranks}", output)
        print(f"passed: {kind}, N={n}, {p} x {q} ranks, products on the device "
              f"{[c[0] for c in ranks]}", flush=True)


if __name__ == "__main__":
    main()
