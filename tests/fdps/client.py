#!/usr/bin/env python3
"""Compiles examples/fdps_nbody.cpp against FDPS and runs it, in both forms of the interface.

usage: client.py COMPILER LIBRARY SOURCE_DIR

The environment variable GDR_FDPS names FDPS's folder, with src/particle_simulator.hpp; the test is
skipped where it is not set.
"""

import os
import pathlib
import subprocess
import sys
import tempfile


def main() -> int:
    compiler, library, source = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    fdps = os.environ.get("GDR_FDPS", "")
    if not fdps:
        print("GDR_FDPS=PATH names no folder of FDPS")
        return 77
    if not pathlib.Path(fdps, "src/particle_simulator.hpp").exists():
        print(f"GDR_FDPS={fdps} has no src/particle_simulator.hpp")
        return 1
    # Threads that poll would compete with those of other tests.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    with tempfile.TemporaryDirectory() as folder:
        for threads in ([], ["-fopenmp", "-DPARTICLE_SIMULATOR_THREAD_PARALLEL"]):
            program = pathlib.Path(folder, "nbody")
            subprocess.run(
                [compiler, "-std=c++20", "-O2", "-w", *threads, f"-I{fdps}/src"]
                + [f"-I{source}/{path}/include" for path in ("libgdr", "emulator")]
                + [source / "examples/fdps_nbody.cpp", library, "-o", program]
                + [f"-Wl,-rpath,{library.parent}"],
                check=True,
            )
            for form in ("particle", "index"):
                for engine in ("native", "native-float"):
                    subprocess.run(
                        [program, "2000", "4", "128", form],
                        env=environment | {"GDR_DEVICE": f"emulator:engine={engine}"},
                        check=True,
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
