#!/usr/bin/env python3
"""Coulomb matrices in comparison with PySCF, in one run.

usage: bench/chemistry.py [--accuracy] [--large] [--threads N]

Prints for each molecule the times of PySCF's direct Coulomb matrix and of gdr.chemistry on the native
engine, for the density of the first iteration, and the largest difference. Both use the same number of
threads. --accuracy: ten molecules of up to 60 atoms in 6-31G* and cc-pVDZ. --large: also C60, for
which PySCF takes many minutes.
"""

import argparse
import os
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


def measured(work, repeats):
    """Result, and the least wall and processor time of some calls."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return result, min(walls), min(cpus)


def compare(name, atoms, basis, device):
    import pyscf
    from pyscf import scf
    from pyscf.scf import _vhf

    import gdr

    mol = pyscf.M(atom=atoms, basis=basis, verbose=0)
    mf = scf.RHF(mol)
    density = mf.init_guess_by_minao()
    screening = mf.init_direct_scf(mol)

    def direct():
        return _vhf.direct(
            density, mol._atm, mol._bas, mol._env, vhfopt=screening, with_k=False, cart=mol.cart
        )[0]

    small = mol.natm < 60
    expected, wall, cpu = measured(direct, 3 if small else 1)
    coulomb = gdr.chemistry.Coulomb(mol, device=device)
    coulomb.matrix(density)  # compiles the kernels
    made, own_wall, own_cpu = measured(lambda: coulomb.matrix(density), 3)
    print(
        f"{name:16} {basis:8} {mol.natm:3} {mol.nao:4} {wall:9.3f} {cpu:9.3f} {own_wall:9.3f} "
        f"{own_cpu:9.3f} {wall / own_wall:6.1f} {cpu / own_cpu:6.1f} "
        f"{np.abs(made - expected).max():9.1e}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--accuracy", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    import pyscf

    import gdr

    pyscf.lib.num_threads(options.threads)
    print(
        f"{options.threads} threads; seconds (wall, processor) of PySCF {pyscf.__version__} and gdr"
    )
    print(
        f"{'molecule':16} {'basis':8} {'N':>3} {'n':>4} {'PySCF':>9} {'cpu':>9} {'gdr':>9} {'cpu':>9} "
        f"{'ratio':>6} {'cpu':>6} {'max error':>9}"
    )
    with gdr.open("emulator", engine="native", threads=options.threads) as device:
        for basis in ("6-31g*", "cc-pvdz") if options.accuracy else ():
            for name, atoms in TEN.items():
                compare(name, atoms, basis, device)
        if not options.accuracy:
            compare("10 waters", waters(10), "6-31g*", device)
        if options.large:
            compare("C60", fullerene(), "6-31g*", device)


if __name__ == "__main__":
    main()
