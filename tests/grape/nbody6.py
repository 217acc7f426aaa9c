#!/usr/bin/env python3
"""NBODY6 and NBODY6++GPU under libgpunb_nbody6 and libgpunb_nbody6pp, beside their own libraries.

usage: nbody6.py LIBRARY_FOLDER GDR_FOLDER

GDR_TEST_NBODY6 and GDR_TEST_NBODY6PP are the folders of their sources
(https://github.com/nbodyx/Nbody6, https://github.com/nbodyx/Nbody6ppGPU); without either, or
without compilers, nothing is tested (status 77). The programs are built once, in a new folder;
their own library for SSE or AVX, and ours, are then two files of the same name. Both run the
shortest input that the program comes with, cut to some time units, with several seeds and one
thread, alternating. Small differences grow in such systems, so that single runs say little: the
median of the energy errors of all intervals with our library must not exceed four times that with
the program's own. Times are those of the processor, and are printed: the sum over the seeds, as
single runs meet close binaries that take long, or do not.
"""

import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
SEEDS = (1, 2, 3, 4, 5, 6)
FORTRAN = "gfortran -std=legacy -fallow-argument-mismatch -w"
# GCC since 2010 lacks what some of the sources take for granted.
CXX = "g++ -DHUGE=1e30f -fpermissive -w -include cmath"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(*command, cwd):
    """Runs a command that must succeed."""
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}")


def link(work, objects, flags, own_sources, own_flags, ours):
    """The program, linked with libforce.so, and folders with this library: theirs and ours."""
    for name in ("own", "ours"):
        (work / name).mkdir()
    own = work / "own/libforce.so"
    run(*CXX.split(), *own_flags, "-fopenmp", "-fPIC", "-shared", *own_sources, "-o", own,
        "-Wl,-soname,libforce.so", cwd=work)  # fmt: skip
    (work / "ours/libforce.so").symlink_to(ours)
    program = work / "program"
    run("gfortran", *flags, *objects, "-fopenmp", "-lstdc++", own, "-o", program, cwd=work)
    return program


def objects_of(folder, *others):
    """Object files, but for those of the force library."""
    return [p for p in sorted(folder.glob("*.o")) if not p.name.startswith(others)]


def nbody6(sources, work, ours):
    shutil.copytree(sources, work / "nbody6", symlinks=True)
    gpu2 = work / "nbody6/GPU2"
    (gpu2 / "Build").mkdir(exist_ok=True)
    # Its makefile wants this file, which is in the folder of another version.
    shutil.copy(work / "nbody6/Block/newton.f", work / "nbody6/Ncode")
    run("make", "sse", f"FC={FORTRAN}", f"GC={FORTRAN}", f"CXX={CXX}", "MKOPTIONS=",
        "chainmode=chain", "ksblock=off", cwd=gpu2)  # fmt: skip
    objects = objects_of(gpu2 / "Build", "gpunb", "gpupot")
    own = [gpu2 / "lib/gpunb.sse.cpp", gpu2 / "lib/gpupot.sse.cpp"]
    program = link(work, objects, [], own, ["-O3", "-march=core2"], ours)
    lines = (gpu2 / "run/1k/input").read_text().splitlines()
    # The third number is the seed, and the sixth of the next line the end.
    lines[2] = replaced(lines[2], 5, "20.0")
    return program, lines, 3


def nbody6pp(sources, work, ours):
    shutil.copytree(sources, work / "nbody6pp")
    top = work / "nbody6pp"
    run("sh", "./configure", "--disable-mpi", "--disable-gpu", "--enable-simd=avx",
        f"--prefix={work}", cwd=top)  # fmt: skip
    run("make", "-C", "build", "-j2", f"FC={FORTRAN}", cwd=top)
    objects = objects_of(top / "build", "reg.avx", "pot.avx")
    objects = [p for p in objects if not p.name.startswith(("lib", "nb6"))]
    own = [top / "src/Main/reg.avx.cpp", top / "src/Main/pot.avx.cpp"]
    own_flags = ["-O3", "-march=native", "-mavx", "-DOMP", f"-I{top / 'include'}"]
    program = link(work, objects, ["-mcmodel=medium"], own, own_flags, ours)
    lines = (top / "samples/N2k_B500_T30.input").read_text().splitlines()
    lines[2] = replaced(lines[2], 5, "2.0")
    return program, lines, 3


def replaced(line, k, word):
    words = line.split()
    words[k] = word
    return " ".join(words)


def simulate(program, lines, seed_word, seed, library, gdr, work):
    """Energy errors of the intervals of a run, and the processor's time."""
    folder = work / f"run_{library.name}_{seed}"
    folder.mkdir()
    lines = [*lines[:1], replaced(lines[1], seed_word, str(seed)), *lines[2:]]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [program],
        cwd=folder,
        input="\n".join(lines) + "\n",
        env=os.environ
        | {"OMP_NUM_THREADS": "1", "OMP_STACKSIZE": "512M", "LD_LIBRARY_PATH": f"{library}:{gdr}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (stack(), stack())),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "gdr:" in done.stderr:
        sys.exit(f"{program}: {done.stderr[-3000:]}")
    errors = [
        abs(float(e))
        for e in re.findall(r"ADJUST:.*?\sDE\s+(?:=\s*)?([-+.\dE]+)", done.stdout)
    ]
    if not errors:
        sys.exit(f"{program}: no energies in\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return errors[1:], after.ru_utime - before.ru_utime


def stack():
    """The most that this process may give: the programs keep large arrays on it."""
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    return hard if hard != resource.RLIM_INFINITY else 1 << 30


def compare(name, program, lines, seed_word, gdr, work):
    errors, seconds = {}, {}
    for library in ("own", "ours"):
        errors[library], seconds[library] = [], 0.0
    for seed in SEEDS:
        for library in ("own", "ours"):
            found, spent = simulate(program, lines, seed_word, seed, work / library, gdr, work)
            errors[library] += found
            seconds[library] += spent
    medians = {library: statistics.median(errors[library]) for library in errors}
    print(
        f"{name}: median energy error {medians['ours']:.1e}, with its own library "
        f"{medians['own']:.1e}; {seconds['ours']:.2f} s, {seconds['own']:.2f} s with its own: "
        f"{seconds['own'] / seconds['ours']:.2f} times as fast"
    )
    if not medians["ours"] < 4 * medians["own"]:
        sys.exit(f"{name}: the energy errors are larger than with its own library")


def main():
    libraries, gdr = (Path(folder).resolve() for folder in sys.argv[1:3])
    programs = {
        "NBODY6": ("GDR_TEST_NBODY6", nbody6, "libgpunb_nbody6.so"),
        "NBODY6++GPU": ("GDR_TEST_NBODY6PP", nbody6pp, "libgpunb_nbody6pp.so"),
    }
    found = {name: row for name, row in programs.items() if row[0] in os.environ}
    if not found:
        skip("neither GDR_TEST_NBODY6 nor GDR_TEST_NBODY6PP is set")
    for tool in ("g++", "gfortran", "make"):
        if shutil.which(tool) is None:
            skip(f"there is no {tool}")
    if " avx " not in Path("/proc/cpuinfo").read_text():
        skip("this CPU has no AVX, which the programs' own libraries use")
    for name, (variable, build, library) in found.items():
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            sources = Path(os.environ[variable]).resolve()
            compare(name, *build(sources, work, libraries / library), gdr, work)


if __name__ == "__main__":
    main()
