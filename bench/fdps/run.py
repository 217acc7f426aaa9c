#!/usr/bin/env python3
"""Forces of FDPS's sample nbody from a device, beside those of PIKG's generated kernel: the table of
docs/guides/fdps.md.

usage: bench/fdps/run.py FDPS BUILD [--pikg PIKG] [--particles N ...] [--ranks R] [--calls C]

FDPS is the folder of its sources (https://github.com/FDPS/FDPS), BUILD a build of GDR. PIKG is the
folder of the kernel generator (https://github.com/FDPS/PIKG, needs ruby), whose AVX-512 kernel the host
must support; without it only the sample's loop in double is compared. One thread; CPU time of the
fastest call, trees and interaction lists included. With --ranks (and MPI) so many ranks of one thread
share the particles; wall-clock time of the fastest step, with decomposition and exchange. The error is the
rms difference of the accelerations to the sample's loop in double, on the same interaction lists, relative to
their rms.
"""

import argparse
import array
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
AVX512 = ["-mavx512f", "-mavx512dq", "-mfma", "-ffast-math"]


def compiled(work, name, fdps, ranks, *options):
    program = work / name
    compiler = ["g++"] if ranks == 1 else ["mpicxx", "-DPARTICLE_SIMULATOR_MPI_PARALLEL"]
    sample = fdps / "sample/c++/nbody/user-defined.hpp"
    shutil.copy(sample, work)
    subprocess.run(
        [*compiler, "-std=c++20", "-O3", "-w", f"-I{work}", f"-I{fdps}/src", HERE / "forces.cpp"]
        + ["-o", program, *options],
        check=True,
    )
    return program


def error_of(path, reference):
    """The rms difference of the accelerations (three of four numbers), relative to their rms."""
    numbers = []
    for file in (path, reference):
        numbers.append(array.array("d"))
        numbers[-1].frombytes(file.read_bytes())
    difference = size = 0.0
    for k, (a, b) in enumerate(zip(*numbers)):
        if k % 4 != 3:
            difference += (a - b) ** 2
            size += b * b
    return math.sqrt(difference / size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("fdps", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--pikg", type=pathlib.Path)
    parser.add_argument("--particles", type=int, nargs="+", default=[8192, 100000])
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--calls", type=int, help="default: 200000 divided by the particles, at least 4")
    options = parser.parse_args()
    launch = []
    if options.ranks > 1:
        launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(options.ranks)]
    library = options.build.resolve() / "libgdr"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        programs = {"sample's loop, double": [compiled(work, "sample", options.fdps, options.ranks)]}
        if options.pikg:
            subprocess.run(
                [options.pikg.resolve() / "bin/pikg", "--conversion-type", "AVX-512"]
                + ["--epi-name", "Epi", "--epj-name", "Epj", "--force-name", "Force"]
                + ["--kernel-name", "CalcGravityEpEp", "-o", work / "kernel_pikg.hpp"]
                + ["-i", options.fdps / "sample/c++/nbody/kernel_epep.pikg"],
                check=True,
            )
            flags = ["-DUSE_PIKG_KERNEL", "-DPIKG_USE_FDPS_VECTOR", f"-I{options.pikg}/inc"]
            flags += AVX512
            programs["PIKG, float"] = [compiled(work, "pikg", options.fdps, options.ranks, *flags)]
        flags = ["-DUSE_GDR", *(f"-I{SOURCE}/{part}/include" for part in ("libgdr", "emulator"))]
        flags += [f"-L{library}", "-lgdr", "-fopenmp", f"-Wl,-rpath,{library}"]
        ours = compiled(work, "ours", options.fdps, options.ranks, *flags)
        forms = (("native-float", "index"), ("native-float", "particle"), ("native", "index"))
        for engine, form in forms:
            device = f"emulator:engine={engine},threads=1"
            programs[f"{engine}, {form} form"] = [ours, device, form]
        for particles in options.particles:
            calls = options.calls or max(4, 200000 // particles)
            seconds = {}
            for name, (program, *arguments) in programs.items():
                file = work / "forces.bin"
                text = subprocess.run(
                    [*launch, program, str(particles), str(calls), file, *arguments],
                    check=True, capture_output=True, text=True,
                    env=os.environ | {"OMP_NUM_THREADS": "1"},
                ).stdout  # fmt: skip
                seconds[name] = float(re.search(r"^seconds (\S+)$", text, re.M).group(1))
                if name.startswith("sample"):
                    shutil.copy(file, work / "reference.bin")
                error = error_of(file, work / "reference.bin")
                line = f"{particles:8}  {name:28} {1e3 * seconds[name]:8.2f} ms, error {error:.1e}"
                if options.pikg and "form" in name:
                    line += f", {seconds['PIKG, float'] / seconds[name]:.2f} of PIKG's rate"
                print(line, flush=True)


if __name__ == "__main__":
    main()
