#!/usr/bin/env python3
"""Quantum chemistry in comparison with PySCF and libcint: the figures of docs/guides/chemistry.md.

usage: bench/chemistry.py [SECTION ...] [--threads N]

Sections (default: all but c60):
  speed      Coulomb matrix of 10 waters relative to PySCF's direct one, 6-31G*
  c60        the same of C60, for which PySCF takes many minutes
  small      the same of small molecules, where calls cost more than integrals
  accuracy   errors of the Coulomb matrix, ten molecules of up to 60 atoms, 6-31G* and cc-pVDZ
  energies   RHF and PBE energies and iterations on native and exact engines, relative to PySCF's
  integrals  two-electron integrals of pairs of shells relative to libcint, 6-31G
  boys       relative errors of boys(m, T) in kernels, on native and exact engines (needs mpmath)
  chip       clocks and Gflops of kernels on a chip
  bits       bits of a Coulomb matrix for numbers of threads, boards and ranks
Calls of both programs alternate and have the same number of threads; the times are the shortest
ones, because other load only adds time.
"""

import argparse
import hashlib
import os
import platform
import subprocess
import sys
import time

import numpy as np

WATER = np.array([[0, 0, 0.1173], [0, 0.7572, -0.4692], [0, -0.7572, -0.4692]])


def waters(count):
    """A cluster of water molecules on a grid, with random directions."""
    rng = np.random.default_rng(1)
    atoms = []
    edge = int(np.ceil(count ** (1 / 3)))
    for k in range(count):
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        place = 3.0 * np.array([k // edge**2, k // edge % edge, k % edge])
        atoms += list(zip("OHH", (WATER @ rotation.T + place).tolist()))
    return atoms


def ring(count, radius, hydrogens):
    """A planar ring of carbon atoms, each with a hydrogen atom."""
    angles = 2 * np.pi * np.arange(count) / count
    unit = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    return [("C", x) for x in (radius * unit).tolist()] + [
        ("H", x) for x in (hydrogens * unit).tolist()
    ]


def chain(count):
    """An alkane of `count` carbon atoms."""
    atoms = []
    for k in range(count):
        side = 1 if k % 2 else -1
        x, y = 1.26 * k, 0.43 * side
        atoms.append(("C", [x, y, 0]))
        atoms += [("H", [x, y + 0.63 * side, 0.89]), ("H", [x, y + 0.63 * side, -0.89])]
    first, last = atoms[0][1], atoms[3 * (count - 1)][1]
    sides = -1, (1 if (count - 1) % 2 else -1)
    atoms.append(("H", [first[0] - 0.89, first[1] - 0.63 * sides[0], 0]))
    atoms.append(("H", [last[0] + 0.89, last[1] - 0.63 * sides[1], 0]))
    return atoms


def fullerene():
    """C60 with bonds of 1.43 Angstrom."""
    phi = (1 + 5**0.5) / 2
    corners = set()
    for base in ((0, 1, 3 * phi), (1, 2 + phi, 2 * phi), (2, 1 + 2 * phi, phi)):
        for turn in range(3):
            for signs in np.ndindex(2, 2, 2):
                corner = [(1 - 2 * s) * x for s, x in zip(signs, np.roll(base, turn))]
                corners.add(tuple(round(x, 10) + 0.0 for x in corner))
    return [("C", [1.43 / 2 * x for x in corner]) for corner in sorted(corners)]


TEN = {
    "hydrogen": [("H", [0, 0, 0]), ("H", [0, 0, 0.74])],
    "lithium hydride": [("Li", [0, 0, 0]), ("H", [0, 0, 1.6])],
    "carbon monoxide": [("C", [0, 0, 0]), ("O", [0, 0, 1.128])],
    "water": waters(1),
    "benzene": ring(6, 1.3970, 2.4810),
    "butane": chain(4),
    "4 waters": waters(4),
    "octane": chain(8),
    "10 waters": waters(10),
    "20 waters": waters(20),
}


def alternating(works, repeats, seconds=60):
    """Results, and the least wall and processor times of calls that alternate."""
    walls, cpus = np.full(len(works), np.inf), np.full(len(works), np.inf)
    results = [None] * len(works)
    begin = time.perf_counter()
    for repeat in range(repeats):
        if repeat > 0 and time.perf_counter() - begin > seconds:
            break
        for k, work in enumerate(works):
            wall, cpu = time.perf_counter(), time.process_time()
            results[k] = work()
            walls[k] = min(walls[k], time.perf_counter() - wall)
            cpus[k] = min(cpus[k], time.process_time() - cpu)
    return results, walls, cpus


def direct_coulomb(mol):
    """PySCF's direct Coulomb matrix of the density of the first iteration, and that density."""
    from pyscf import scf
    from pyscf.scf import _vhf

    mf = scf.RHF(mol)
    density = mf.init_guess_by_minao()
    screening = mf.init_direct_scf(mol)
    return density, lambda: _vhf.direct(
        density, mol._atm, mol._bas, mol._env, vhfopt=screening, with_k=False, cart=mol.cart
    )[0]


def compare(name, atoms, basis, device, repeats):
    import pyscf

    import gdr

    mol = pyscf.M(atom=atoms, basis=basis, verbose=0)
    density, direct = direct_coulomb(mol)
    coulomb = gdr.chemistry.Coulomb(mol, device=device)
    coulomb.matrix(density)  # compiles the kernels
    (expected, made), walls, cpus = alternating(
        (direct, lambda: coulomb.matrix(density)), repeats
    )
    print(
        f"{name:16} {basis:8} {mol.natm:3} {mol.nao:4} {1e3 * walls[0]:10.2f} "
        f"{1e3 * cpus[0]:10.2f} {1e3 * walls[1]:9.2f} {1e3 * cpus[1]:9.2f} "
        f"{walls[0] / walls[1]:6.1f} {cpus[0] / cpus[1]:6.1f} "
        f"{np.abs(made - expected).max():9.1e}",
        flush=True,
    )


def print_coulomb_header():
    print(
        f"{'J of':16} {'basis':8} {'N':>3} {'n':>4} {'PySCF ms':>10} {'cpu ms':>10} "
        f"{'gdr ms':>9} {'cpu ms':>9} {'ratio':>6} {'cpu':>6} {'max error':>9}"
    )


def speed(device, _):
    print_coulomb_header()
    compare("10 waters", waters(10), "6-31g*", device, 5)


def c60(device, _):
    print_coulomb_header()
    compare("C60", fullerene(), "6-31g*", device, 1)


def small(device, _):
    print_coulomb_header()
    for name in ("hydrogen", "lithium hydride", "carbon monoxide", "water", "benzene", "4 waters"):
        compare(name, TEN[name], "6-31g*", device, 40)


def accuracy(device, _):
    print_coulomb_header()
    for basis in ("6-31g*", "cc-pvdz"):
        for name, atoms in TEN.items():
            compare(name, atoms, basis, device, 1)


def energies(device, options):
    """Each system of the table on engines that finish it in seconds."""
    import pyscf
    from pyscf import dft, scf

    import gdr

    def pbe(mol):
        return dft.RKS(mol, xc="pbe")

    systems = [
        ("hydrogen", "sto-3g", scf.RHF, "RHF", "native vector reference"),
        ("hydrogen", "6-31g", scf.RHF, "RHF", "native vector reference"),
        ("lithium hydride", "sto-3g", scf.RHF, "RHF", "native vector reference"),
        ("water", "sto-3g", scf.RHF, "RHF", "native vector"),
        ("water", "6-31g", scf.RHF, "RHF", "native vector"),
        ("benzene", "sto-3g", scf.RHF, "RHF", "native vector"),
        ("benzene", "6-31g", scf.RHF, "RHF", "native"),
        ("water", "6-31g", pbe, "PBE", "native vector"),
        ("benzene", "sto-3g", pbe, "PBE", "native"),
    ]
    print(f"{'system':15} {'basis':8} {'':4} {'engine':10} {'energy':>17} {'error':>9} iterations")
    for name, basis, method, title, engines in systems:
        mol = pyscf.M(atom=TEN[name], basis=basis, verbose=0)
        plain = method(mol)
        plain.kernel()
        for engine in engines.split():
            with gdr.open("emulator", engine=engine, threads=options.threads) as other:
                chosen = device if engine == "native" else other
                mf = gdr.chemistry.accelerate(method(mol), device=chosen)
                mf.kernel()
            print(
                f"{name:15} {basis:8} {title:4} {engine:10} {mf.e_tot:17.10f} "
                f"{abs(mf.e_tot - plain.e_tot):9.1e} {mf.cycles} and {plain.cycles}",
                flush=True,
            )


def integrals(device, _):
    import pyscf

    import gdr

    print(f"{'(ab|cd) of':12} {'n':>4} {'libcint/s':>10} {'gdr/s':>10} {'ratio':>6} {'max error':>9}")
    for name in ("water", "benzene"):
        mol = pyscf.M(atom=TEN[name], basis="6-31g", verbose=0)
        coulomb = gdr.chemistry.Coulomb(mol, device=device)
        ends = mol.ao_loc_nr()
        made = np.empty((mol.nao,) * 4)

        def pairs():
            for c in range(mol.nbas):
                for d in range(c + 1):
                    block = coulomb.integrals(c, d)
                    made[ends[c] : ends[c + 1], ends[d] : ends[d + 1]] = block
            return made

        # Both compute all a, b for c >= d.
        (expected, _), walls, cpus = alternating(
            (lambda: mol.intor("int2e", aosym="s2ij"), pairs), 5 if name == "water" else 3
        )
        lower = np.tril_indices(mol.nao)
        error = np.abs(made[lower] - expected.reshape(-1, mol.nao, mol.nao)).max()
        rates = expected.size / cpus
        print(
            f"{name:12} {mol.nao:4} {rates[0]:10.2e} {rates[1]:10.2e} {rates[1] / rates[0]:6.2f} "
            f"{error:9.1e}  (by processor time)",
            flush=True,
        )


def boys(device, options):
    import mpmath

    import gdr

    mpmath.mp.dps = 40
    arguments = np.concatenate([[0], np.logspace(-6, 4, 201)])
    exact = [
        [float(mpmath.hyp1f1(m + 0.5, m + 1.5, -mpmath.mpf(t)) / (2 * m + 1)) for m in range(9)]
        for t in arguments.tolist()
    ]
    functions = "".join(f"f[{m}] += one*boys({m}, t);" for m in range(9))
    text = "precision long; VARI long t; VARJ long one; VARF long f[9];" + functions
    kernel = gdr.compile(f"kernel boys_functions; {text}", effort=0)
    for engine in ("native", "vector"):
        with gdr.open("emulator", engine=engine, threads=options.threads) as other:
            job = other.job(kernel)
            job.sources(one=np.ones(1))
            job.targets(t=arguments)
            made = job.run()["f"].reshape(len(arguments), 9)
        errors = np.abs(made / exact - 1).max(0)
        print(f"{engine}, boys(0, T) to boys(8, T):", *(f"{e:.1e}" for e in errors), flush=True)


def chip(_device, _):
    import gdr

    print(f"{'kernel':8} {'words':6} {'clocks':>7} {'operations':>10} {'Gflops':>7}")
    for orders in ((0, 0), (1, 1)):
        for precision in ("long", "short"):
            kernel = gdr.compile(gdr.chemistry.kernel_text(*orders, precision=precision))
            rate = kernel.flops / kernel.clocks * 512 * 0.5
            print(
                f"({orders[0]}|{orders[1]})    {precision:6} {kernel.clocks:7.2f} "
                f"{kernel.flops:10g} {rate:7.1f}"
            )


def digest(device):
    """A digest of the bits of Coulomb matrices of 4 waters."""
    import pyscf

    import gdr

    mol = pyscf.M(atom=waters(4), basis="6-31g*", verbose=0)
    density = np.random.default_rng(1).normal(size=(mol.nao, mol.nao))
    made = gdr.chemistry.Coulomb(mol, device=device).matrix(density)
    return hashlib.sha256(made.tobytes()).hexdigest()[:16]


def bits(_device, _):
    import gdr

    for name in ("threads=1", "threads=2", "threads=3", "threads=2,boards=2"):
        with gdr.open(f"emulator:engine=native,{name}") as device:
            print(f"{name:20} {digest(device)}", flush=True)
    for ranks in (1, 2, 4):
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(ranks)]
        command += [sys.executable, os.path.abspath(__file__), "rank"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        found = sorted(set(ended.stdout.split())) if ended.returncode == 0 else [ended.stderr]
        print(f"{f'{ranks} ranks':20}", *found, flush=True)


SECTIONS = [speed, c60, small, accuracy, energies, integrals, boys, chip, bits]


def processor():
    """The processor's name."""
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
        return f"{len(names)} x {names[0]}"
    except (OSError, IndexError):
        return platform.processor()


def main():
    names = [section.__name__ for section in SECTIONS]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(names))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    import gdr

    if options.sections == ["rank"]:
        with gdr.open("mpi:engine=native,threads=1") as device:
            print(digest(device))
        return
    for name in options.sections:
        if name not in names:
            parser.error(f"there is no section {name}; sections: {', '.join(names)}")
    import pyscf

    pyscf.lib.num_threads(options.threads)
    print(f"{processor()}, {options.threads} threads, PySCF {pyscf.__version__}")
    with gdr.open("emulator", engine="native", threads=options.threads) as device:
        print(device)
        for section in SECTIONS:
            if section.__name__ in (options.sections or set(names) - {"c60"}):
                print(f"\n{section.__name__}")
                section(device, options)


if __name__ == "__main__":
    main()
