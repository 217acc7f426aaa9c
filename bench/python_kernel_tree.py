#!/usr/bin/env python3
"""Times and errors of gdr.TreeSum for laws of users, relative to direct sums on the same device.

usage: python bench/python_kernel_tree.py [--particles 300000] [--accuracy 1e-4] [--device NAME]
           [--law yukawa,matern,stokeslet] [--degree P] [--theta T] [--group-size G] [--leaf-size L]
           [--plummer] [--mean M]

Particles are uniform in a cube, or a Plummer sphere. Charges are normally distributed with a
variance of 1 and a mean of 0.5, or M: with 0 they cancel over large distances, and relative errors
are larger. Processor seconds (user and system) of whole calls. Direct sums are those of 2000 random
targets, from which the processor time for all targets is computed: the column `direct`, and
`direct/` over the time of the tree. Errors are those of these targets, root mean square relative to
that of the result: of the vector, then of the potential.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import gdr

POSITIONS = """
VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz;
"""
YUKAWA = f"""
kernel yukawa; CONST kappa; VARJ qj as charge; VARF fx, fy, fz, pot;
{POSITIONS}
skip if (r2 == 0);
rinv = rsqrt(r2);
u = qj*exp(-(kappa*(r2*rinv)))*rinv;
f = u*(kappa + rinv)*rinv;
fx += f*dx; fy += f*dy; fz += f*dz; pot += u;
"""
MATERN = f"""
kernel matern; CONST scale; VARJ wj as charge; VARF s;
{POSITIONS}
r = scale*sqrt(5*r2);
s += wj*(1 + r + r*r*0.3333333333333333)*exp(-r);
"""
STOKESLET = f"""
kernel stokeslet; VARJ fx, fy, fz; VARF ux, uy, uz;
{POSITIONS}
skip if (r2 == 0);
rinv = rsqrt(r2);
along = (fx*dx + fy*dy + fz*dz)*rinv*rinv;
ux += rinv*(fx + along*dx); uy += rinv*(fy + along*dy); uz += rinv*(fz + along*dz);
"""
#: Text, parameters, charges, vectors of results.
LAWS = {
    "yukawa": (YUKAWA, {"kappa": 2.0}, ["qj"], [["fx", "fy", "fz"], ["pot"]]),
    "matern": (MATERN, {"scale": 2.0}, ["wj"], [["s"]]),
    "stokeslet": (STOKESLET, {}, ["fx", "fy", "fz"], [["ux", "uy", "uz"]]),
}


def positions(n: int, plummer: bool) -> np.ndarray:
    random = np.random.default_rng(1)
    if not plummer:
        return random.uniform(size=(n, 3))
    r = 1 / np.sqrt(random.uniform(1e-4, 0.998, n) ** (-2 / 3) - 1)
    x = random.normal(size=(n, 3))
    return x * (r / np.linalg.norm(x, axis=1))[:, None]


class Direct:
    """Direct sums at some targets, and their processor time for all."""

    def __init__(self, kernel, params, pos, charges, device) -> None:
        n = len(pos)
        self.chosen = np.random.default_rng(2).choice(n, min(n, 2000), replace=False)
        coordinates = pos.T.copy()
        sources = {**dict(zip(("xj", "yj", "zj"), coordinates)), **charges}
        targets = dict(zip(("xi", "yi", "zi"), coordinates[:, self.chosen]))
        few = {name: array[:64] for name, array in sources.items()}
        kernel(targets=targets, sources=few, device=device, **params)
        start = time.process_time()
        self.found = kernel(targets=targets, sources=sources, device=device, **params)
        self.seconds = (time.process_time() - start) * n / len(self.chosen)

    def errors(self, found, vectors) -> "list[float]":
        out = []
        for names in vectors:
            right = np.stack([self.found[k] for k in names])
            wrong = np.stack([found[k][self.chosen] for k in names]) - right
            out.append(float(np.sqrt((wrong**2).sum() / (right**2).sum())))
        return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--particles", default="300000")
    parser.add_argument("--accuracy", default="1e-4")
    parser.add_argument("--device", default="native:threads=1")
    parser.add_argument("--law", default="yukawa,matern,stokeslet")
    parser.add_argument("--degree", type=int)
    parser.add_argument("--theta", type=float)
    parser.add_argument("--group-size", type=int)
    parser.add_argument("--leaf-size", type=int)
    parser.add_argument("--plummer", action="store_true")
    parser.add_argument("--mean", type=float, default=0.5, help="of the charges")
    options = parser.parse_args()
    device = gdr.open(options.device)
    given = {k: getattr(options, k) for k in ("degree", "theta", "group_size", "leaf_size")}
    print(
        f"{'law':10s} {'particles':>9s} {'accuracy':>8s} {'direct':>8s} {'tree':>7s}"
        f" {'direct/':>8s}  {'errors':18s} how"
    )
    for n in (int(float(v)) for v in options.particles.split(",")):
        pos = positions(n, options.plummer)
        random = np.random.default_rng(3)
        for law in options.law.split(","):
            text, params, names, vectors = LAWS[law]
            kernel = gdr.compile(text)
            charges = {name: random.normal(size=n) + options.mean for name in names}
            direct = Direct(kernel, params, pos, charges, device)
            for accuracy in (float(v) for v in options.accuracy.split(",")):
                tree = gdr.TreeSum(kernel, accuracy, device=device, **given, **params)
                start = time.process_time()
                found = tree(pos, sources=charges)
                seconds = time.process_time() - start
                r = tree.report
                errors = " ".join(f"{e:.1e}" for e in direct.errors(found, vectors))
                print(
                    f"{law:10s} {n:9d} {accuracy:8.0e} {direct.seconds:8.2f} {seconds:7.2f}"
                    f" {direct.seconds / seconds:8.1f}  {errors:18s} degree {r.degree}, theta"
                    f" {r.theta:.2f}, {r.sources_per_target:.0f} sources; build"
                    f" {r.build_seconds:.2f}, choice {r.choice_seconds:.2f}, lists"
                    f" {r.list_seconds:.2f}, sums {r.sum_seconds:.2f} s {r.reason}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
