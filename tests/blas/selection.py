#!/usr/bin/env python3
"""Loading of libgdrblas by link, preload, library path and alternatives, and its settings.

usage: selection.py LIBRARY FOLDER PRODUCTS SYSTEM ERRORS
LIBRARY is libgdrblas.so, FOLDER contains it as libblas.so.3, PRODUCTS (products.c) is linked with it,
SYSTEM (system.c) with the BLAS of the host; ERRORS (errors.c) passes with any host BLAS.
"""

import glob
import os
import shutil
import sys
import tempfile

from support import all_on_device, counts, expect, run

SMALL = {"GDR_DEVICE": "exact:chips=1,blocks=2"}


def on_device(output: str, what: str) -> None:
    """All products of products.c: 150 (54 of them empty), 147 without special values, and two in single precision."""
    expect(" 0 failed" in output, what, output)
    expect(all_on_device(output, 150), f"{what}: not on the device", output)
    expect(counts(output)[0].empty == 54, f"{what}: empty products", output)
    expect(all_on_device(output, 2, "sgemm"), f"{what}: sgemm", output)


def on_host(output: str) -> bool:
    """Whether the host computed all products of products.c, and the device did nothing."""
    return [c[:3] for c in counts(output)] == [(0, 94, 53)] and counts(output)[0].clocks == 0


def alternatives(folder: str, program: str, settings: dict[str, str]) -> None:
    """Selection by Debian's update-alternatives, in temporary directories."""
    tool = shutil.which("update-alternatives")
    if tool is None:
        return
    with tempfile.TemporaryDirectory() as own:
        for name in ("alternatives", "admin", "lib"):
            os.mkdir(os.path.join(own, name))
        tool_line = [tool, "--quiet", "--altdir", f"{own}/alternatives", "--admindir", f"{own}/admin",
                     "--log", f"{own}/log"]
        run([*tool_line, "--install", f"{own}/lib/libblas.so.3", "libblas.so.3",
             os.path.join(os.path.dirname(folder), "libgdrblas.so.0"), "5"], {})
        output = run([program], {**settings, "LD_LIBRARY_PATH": f"{own}/lib"})
        expect(all_on_device(output, 2) and "ok" in output, "alternatives", output)


def main() -> None:
    library, folder, program, system_program, errors = sys.argv[1:]
    device = {**SMALL, "GDR_BLAS_THRESHOLD": "0"}
    on_device(run([program, "device"], device), "linked")
    on_device(run([program, "device"], {**device, "GDR_BLAS_PRECISION": "chip"}), "chip precision")
    for name, setting in (("LD_PRELOAD", {"LD_PRELOAD": library}),
                      ("LD_LIBRARY_PATH", {"LD_LIBRARY_PATH": folder})):
        output = run([system_program], {**device, **setting})
        expect(all_on_device(output, 2), f"{name}: not on the device", output)
        expect("ok" in output, name, output)
    alternatives(folder, system_program, device)

    # A threshold above every product.
    host = run([program], {**SMALL, "GDR_BLAS_THRESHOLD": "1e15"})
    expect(on_host(host), "threshold 1e15: not on the host", host)
    # By default, small products are computed by the host.
    host = run([program], SMALL)
    expect(on_host(host), "default threshold", host)
    # No device: one warning, and the host computes.
    host = run([program], {"GDR_DEVICE": "toaster", "GDR_BLAS_THRESHOLD": "0"})
    expect(on_host(host), "unknown device", host)
    warnings = host.count('gdrblas: GDR_DEVICE: unknown device "toaster"')
    expect(warnings == 2, "one warning each of process and child", host)
    # An inner dimension that exceeds the board's memory.
    host = run([program], {"GDR_DEVICE": "exact:chips=1,blocks=2,dram=65536",
                           "GDR_BLAS_THRESHOLD": "0"})
    expect(" 0 failed" in host, "small memory", host)
    # No output without GDR_BLAS_STATS.
    expect("gdrblas" not in run([program], {**device, "GDR_BLAS_STATS": "0"}), "no output without statistics")

    # The library must refuse itself as host BLAS: calls would recurse forever.
    own = run([program], {"GDR_BLAS_HOST": library, "GDR_BLAS_THRESHOLD": "1e15"})
    expect("cannot be used: it is this library" in own and " 0 failed" in own, "itself as host BLAS", own)
    # The reference BLAS has a cblas_xerbla of its own; the program's must be called.
    for reference in glob.glob("/usr/lib/*/blas/libblas.so.3"):
        for command in ([program], [errors]):
            output = run(command, {"GDR_BLAS_HOST": reference, "GDR_BLAS_THRESHOLD": "1e15"})
            expect(" 0 failed" in output, f"host {reference}", output)
    # No BLAS at all: plain loops for products, an error for other routines.
    alone = run([program, "alone"], {"GDR_BLAS_HOST": "none", "GDR_BLAS_THRESHOLD": "1e15"})
    expect(" 0 failed" in alone and on_host(alone), "no host BLAS", alone)
    lost = run([program], {"GDR_BLAS_HOST": "none", "GDR_BLAS_THRESHOLD": "1e15"}, status=127)
    expect("gdrblas: the host's BLAS (none) has no ddot_" in lost, "a missing routine", lost)
    for name, value in (("GDR_BLAS_THRESHOLD", "many"), ("GDR_BLAS_THRESHOLD", "-1"),
                        ("GDR_BLAS_PRECISION", "half"), ("GDR_BLAS_STATS", "yes")):
        output = run([system_program], {"LD_PRELOAD": library, name: value})
        expect(f"gdrblas: {name}={value} is invalid" in output, f"{name}={value}", output)
    print("all selections work")


if __name__ == "__main__":
    main()
