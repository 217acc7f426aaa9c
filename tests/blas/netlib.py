#!/usr/bin/env python3
"""Debian's BLAS level-3 test programs (package libblas-test) with every xGEMM on the device.

usage: netlib.py LIBRARY d|s
The whole input runs on a small device, parts of it on a whole board and through CBLAS; GDR_TEST_ITERATIONS
(any value) runs all of it there, too, which takes minutes.
"""

import glob
import os
import re
import sys
import tempfile

from support import all_on_device, expect, run, skip

CALLS = 17496  # products of Debian's input; for CBLAS as many in each layout
FEWER_CALLS = 2**3 * 9 * 2  # of `shorter`: shapes, transposes, values of beta
SMALL = "exact:chips=1,blocks=1"
BOARD = "exact"


def shorter(text: str) -> str:
    """The same test with fewer sizes; counts and values are on separate lines."""
    text = re.sub(r"^6( +NUMBER OF VALUES OF N\s*\n).*?( +VALUES OF N)", r"2\g<1>3 9\2", text,
                  flags=re.M)
    text = re.sub(r"^3( +NUMBER OF VALUES OF ALPHA\s*\n).*?( +VALUES OF ALPHA)", r"1\g<1>0.7\2",
                  text, flags=re.M)
    return re.sub(r"^3( +NUMBER OF VALUES OF BETA\s*\n).*?( +VALUES OF BETA)", r"2\g<1>0.0 1.3\2",
                  text, flags=re.M)


def passes(program: str, text: str, settings: dict[str, str], routine: str, calls: int) -> None:
    """Every routine passes, error exits included, and the device did the work of these shapes."""
    # Thousands of products of a millisecond: passive waiting avoids that threads compete on a busy
    # host.
    settings = {"OMP_WAIT_POLICY": "passive", **settings}
    with tempfile.TemporaryDirectory() as folder:
        what = " ".join([os.path.basename(program), settings["GDR_DEVICE"],
                         settings["GDR_BLAS_PRECISION"]])
        output = run([program], {**settings, "GDR_BLAS_THRESHOLD": "0"}, input=text, cwd=folder)
        for path in glob.glob(os.path.join(folder, "*.out")):
            with open(path, encoding="ascii") as summary:
                output += summary.read()
    name = f"cblas_{routine}" if "cblat" in program else routine.upper()
    computed = re.findall(rf"{name} +PASSED THE .*COMPUTATIONAL TESTS \( *(\d+) CALLS\)", output)
    expect(sum(map(int, computed)) == calls, f"{what}: {computed}", output)
    expect(re.search(rf"{name} +PASSED THE TESTS OF ERROR-EXITS", output) is not None,
           f"{what}: error exits", output)
    expect("FAIL" not in output and "SUSPECT" not in output, what, output)
    expect(all_on_device(output, calls, routine), f"{what}: device", output)
    print(f"passed: {what}, {calls} calls of {routine} on the device", flush=True)


def main() -> None:
    folder = next(iter(glob.glob("/usr/lib/*/blas/xblat3d")), None)
    if folder is None:
        skip("Debian's BLAS tests are not installed (apt-get install libblas-test)")
    folder = os.path.dirname(folder)

    def text(name: str) -> str:
        with open(os.path.join(folder, name), encoding="ascii") as file:
            return file.read()

    library, letter = sys.argv[1:]
    routine = f"{letter}gemm"
    fortran, c = f"{folder}/xblat3{letter}", f"{folder}/x{letter}cblat3"
    fortran_input, c_input = text(f"{letter}blat3.in"), text(f"{letter}in3")
    # For floats both precisions are the same.
    precisions = ("full", "chip") if letter == "d" else ("full",)
    for precision in precisions:
        way = {"LD_PRELOAD": library, "GDR_BLAS_PRECISION": precision}
        small, board = {**way, "GDR_DEVICE": SMALL}, {**way, "GDR_DEVICE": BOARD}
        passes(fortran, fortran_input, small, routine, CALLS)
        passes(fortran, shorter(fortran_input), board, routine, FEWER_CALLS)
        passes(c, shorter(c_input), small, routine, 2 * FEWER_CALLS)
        if "GDR_TEST_ITERATIONS" in os.environ:
            passes(fortran, fortran_input, board, routine, CALLS)
            passes(c, c_input, small, routine, 2 * CALLS)


if __name__ == "__main__":
    main()
