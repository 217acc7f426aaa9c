#!/usr/bin/env python3
"""Real clients of the GRAPE-6 interface under libg6: phiGRAPE and ph4 of AMUSE.

usage: clients.py LIBRARY_FOLDER GDR_FOLDER

GDR_TEST_AMUSE is the folder of AMUSE's sources (https://github.com/amusecode/amuse); without it, or
without compilers for C, C++, Fortran and MPI, nothing is tested (status 77). Both programs integrate a
Plummer model of 1024 particles to T = 1, once with libg6 and once with the same functions in plain
loops among doubles (plain_g6.c): energy errors must be equal to three digits. ph4 also runs with its
own loops, which predict with fewer derivatives. The times are printed.
GDR_TEST_PHANTOM_GRAPE is the folder of Phantom-GRAPE's sources (https://github.com/ccsoni/Phantom-GRAPE):
if it is set, and this CPU has AVX2, phiGRAPE also runs with its library, which is mixed precision.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
PHIGRAPE = """allgather_ap cmcorr corrector cputime energy get_min_t gravity initgrape initmpi
initpars output predictor readbodydata readpars readrestartfile selectactive selectsync
sendbodies2grape sendbodydata sendinpdata sumforces sync timestep update_grape update_loc_p writebh
writerestartfile predict_potential main""".split()
PH4 = "jdata idata scheduler grape gpu util diag debug close_encounter two_body".split()
PH4_PLAIN = "kepler hdyn smallN smallN_unpert analyze".split()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(*command, cwd=None, **variables):
    """Standard output of a command, which must succeed."""
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        env=os.environ | {k: str(v) for k, v in variables.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def timed(*command, **options):
    start = time.perf_counter()
    text = run(*command, **options)
    return text, time.perf_counter() - start


def phantom_grape(work):
    """Phantom-GRAPE's GRAPE-6 library for this CPU, or None."""
    folder = os.environ.get("GDR_TEST_PHANTOM_GRAPE")
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    sets = {"avx512dq": ("avx512", "libpg6_avx512"), "avx2": ("avx2", "libpg6")}
    found = [value for flag, value in sets.items() if f" {flag}" in flags]
    if not folder or not found:
        return None
    name, library = found[0]
    shutil.copytree(Path(folder).resolve() / "PG6", work / "PG6")
    run("make", "-C", work / "PG6" / library, f"instruction_set={name}", "libpg6.a")
    return work / "PG6" / library / "libpg6.a"


def check(name, ours, plain, seconds, plain_seconds):
    """Compares energy errors, of energies at the beginning and at the end."""
    error, plain_error = ours[1] - ours[0], plain[1] - plain[0]
    print(
        f"{name}: energy error {error:.6e}, with plain loops {plain_error:.6e}; "
        f"{seconds:.2f} s, {plain_seconds:.2f} s with plain loops"
    )
    if not abs(ours[0] / plain[0] - 1) < 1e-12:
        sys.exit(f"{name}: the energies at the beginning are {ours[0]} and {plain[0]}")
    if not abs(error - plain_error) < 5e-4 * abs(plain_error):
        sys.exit(f"{name}: the energy errors are not equal to three digits")


def plain_g6(work):
    source = Path(__file__).resolve().parent / "plain_g6.c"
    run("gcc", "-std=c99", "-O3", "-fno-math-errno", "-c", source, "-o", work / "plain_g6.o")
    return work / "plain_g6.o"


def phigrape(amuse, link, work):
    """Total energies are those of the first and last line of energy.dat, in the third column."""
    source = amuse / "src/amuse_phigrape/src"
    stopcond = amuse / "lib/stopcond"
    for path in [*source.iterdir(), stopcond / "stopcond.inc", stopcond / "stopcond.h"]:
        shutil.copy(path, work)
    # All digits of energies, of which it writes seven.
    output = (work / "output.F").read_text()
    if "I8,12E15.6" not in output:
        sys.exit("phiGRAPE: output.F does not have the expected format")
    (work / "output.F").write_text(output.replace("I8,12E15.6", "I8,12E23.15"))
    run("gcc", "-O2", "-w", "-DNOMPI", "-c", stopcond / "stopcond.c", "-I.", cwd=work)
    run("gcc", "-O2", "-w", "-DNOMPI", "-c", "wtimef.c", cwd=work)
    for name in PHIGRAPE:
        run("gfortran", "-O2", "-DNOMPI", "-w", "-fallow-argument-mismatch", "-std=legacy", "-c",
            name + ".F", cwd=work)  # fmt: skip
    objects = [name + ".o" for name in [*PHIGRAPE, "stopcond", "wtimef"]]
    run("gfortran", "-o", "ours", *objects, *link, "-lm", cwd=work)
    run("gfortran", "-o", "plain", *objects, plain_g6(work), "-lm", cwd=work)
    lines = (amuse / "src/amuse_ph4/src/plummer1k.in").read_text().splitlines()
    rows = [line.split() for line in lines if len(line.split()) >= 8]
    data = [f"{k} {' '.join(row[1:8])}" for k, row in enumerate(rows)]
    (work / "data.inp").write_text("\n".join(["0", str(len(rows)), "0.0", *data]) + "\n")
    (work / "phiGRAPE.inp").write_text(
        "0.01\n1.\n1.\n.125\n10000.\n1.\n10.\n.125\n0.01\n0.02\n0 0\n0\ndata.inp\n"
    )

    def energies_and_seconds(program, **variables):
        _, spent = timed(program, cwd=work, **variables)
        lines = (work / "energy.dat").read_text().splitlines()
        for old in work.glob("*.dat"):
            old.unlink()
        return [float(lines[k].split()[2]) for k in (0, -1)], spent

    (ours, spent), (plain, plain_spent) = map(energies_and_seconds, ("./ours", "./plain"))
    check("phiGRAPE", ours, plain, spent, plain_spent)
    if phantom := phantom_grape(work):
        run("gfortran", "-o", "phantom", *objects, phantom, "-fopenmp", "-lstdc++", "-lm", cwd=work)
        # Runs alternate; the shortest times are those without other load. Phantom-GRAPE has the
        # number of threads that is best for it.
        runs = [
            [
                energies_and_seconds("./phantom", OMP_NUM_THREADS=1),
                energies_and_seconds("./phantom"),
                energies_and_seconds("./ours"),
            ]
            for _ in range(5)
        ]
        alone, several, ours = (min(seconds for _, seconds in column) for column in zip(*runs))
        theirs = min(alone, several)
        print(
            f"phiGRAPE: {theirs:.3f} s with Phantom-GRAPE, energy {runs[0][0][0][1]:.9f}; "
            f"{ours:.3f} s with libg6: {theirs / ours:.2f} times as fast"
        )


def ph4(amuse, link, work):
    """Total energies are those of the first and last line with E."""
    source = amuse / "src/amuse_ph4/src"
    stopcond = amuse / "lib/stopcond"
    run("mpicc", "-O2", "-w", "-DMPILIB", "-c", stopcond / "stopcond.c", "-I", stopcond, cwd=work)
    for name in [*PH4, *PH4_PLAIN]:
        flags = ["-DGPU"] if name in PH4 else []
        run("mpicxx", "-O3", "-w", *flags, "-I", stopcond, "-I", source, "-c",
            source / (name + ".cc"), cwd=work)  # fmt: skip
    for name in ("nstab", "f2c"):
        run("gcc", "-O2", "-w", "-I", source, "-c", source / (name + ".c"), cwd=work)
    objects = [name + ".o" for name in [*PH4, *PH4_PLAIN, "nstab", "f2c", "stopcond"]]
    for program, library in (("ours", link), ("plain", [plain_g6(work)])):
        run("mpicxx", "-O3", "-w", "-DGPU", "-I", stopcond, "-I", source,
            source / "parallel_hermite_4.cc", *objects, *library, "-o", program, cwd=work)  # fmt: skip
    command = ["-f", source / "plummer1k.in", "-t", "1", "-d", "0.5", "-e", "0.01"]

    def energies_and_seconds(program, *options):
        text = run(program, *command, *options, cwd=work)
        energies = re.findall(r"^E = ([-+.\de]+)", text, re.M)
        errors = re.findall(r"E-E0 = ([-+.\de]+)", text)
        start = float(energies[0])
        seconds = float(re.findall(r"elapsed_time = ([.\de+-]+)", text)[-1])
        return (start, start + float(errors[-1])), seconds

    (ours, spent), (plain, plain_spent) = map(energies_and_seconds, ("./ours", "./plain"))
    check("ph4", ours, plain, spent, plain_spent)
    own, own_spent = energies_and_seconds("./ours", "-g")
    print(
        f"ph4: {own_spent:.2f} s with its own loops, energy error {own[1] - own[0]:.6e}: "
        f"{own_spent / spent:.2f} times as fast with libg6"
    )
    if not abs(ours[1] - own[1]) < 1e-6:
        sys.exit("ph4: the energy differs from that with its own loops by more than 1e-6")


def main():
    if "GDR_TEST_AMUSE" not in os.environ:
        skip("GDR_TEST_AMUSE is not set")
    amuse = Path(os.environ["GDR_TEST_AMUSE"]).resolve()
    for tool in ("gcc", "gfortran", "mpicc", "mpicxx"):
        if shutil.which(tool) is None:
            skip(f"there is no {tool}")
    libraries, gdr = (Path(folder).resolve() for folder in sys.argv[1:3])
    link = [f"-L{libraries}", "-lg6", f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{gdr}"]
    for test in (phigrape, ph4):
        with tempfile.TemporaryDirectory() as work:
            test(amuse, link, Path(work))


if __name__ == "__main__":
    main()
