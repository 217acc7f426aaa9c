"""Pair potentials of your own as calculators of ASE, the Atomic Simulation Environment.

    from gdr.ase import PairPotential
    atoms.calc = PairPotential("s = (sigma^2/r2)^3; 4*epsilon*(s*s - s)", 8.5,
                               epsilon=0.0103, sigma=3.405)
    atoms.get_potential_energy(), atoms.get_forces(), atoms.get_stress()

The energy of a pair is written once, in the kernel language. Its derivative, the sums within the
cut-off and the periodic images are the library's (``gdr.PairSum``). Needs ASE 3.22 or later.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np

try:
    from ase.calculators.calculator import Calculator, all_changes
    from ase.data import chemical_symbols
except ImportError as error:
    raise ImportError("gdr.ase needs the package ase (pip install ase)") from error

from ._arrays import Ints, check_finite
from ._open import DeviceLike
from ._pair_law import PairLaw, words
from ._pairs import PairSum
from .errors import InputError

__all__ = ["PairPotential"]

#: Arguments that are not parameters of the law.
_SETTINGS = ("law", "cutoff", "shift", "onset", "mixing", "skin")
#: The components xx, yy, zz, yz, xz, xy, in ASE's order, of a symmetric tensor of a kernel.
_VOIGT = [0, 3, 5, 4, 2, 1]


class PairPotential(Calculator):
    """A calculator for the energy of pairs within a cut-off, by species.

        PairPotential("e = exp(-a*(r - r0)); depth*(e*e - 2*e)", 6.0, depth=0.34, a=1.36, r0=2.87)

    ``law``: the energy of a pair, an expression of the kernel language, perhaps after statements
    that end with semicolons. It contains the distance ``r``, its square ``r2`` (faster for even
    powers), and parameters by name. ``cutoff``: pairs count whose distance is below it.
    ``parameters``: each is a number for all pairs, or a dictionary with a value for each pair of
    species, ``{"Ar": 1.0, "Kr": 1.4, "Ar-Kr": 1.15}``, and must occur in the law. ``mixing``:
    ``"arithmetic"`` or ``"geometric"`` by parameter, the mean of both species for pairs without a
    value.

    ``shift=True`` subtracts the energy at the cut-off, so that energies are continuous.
    ``onset``: the law is multiplied by a function that decreases from 1 there to 0 at the cut-off,
    S = (c - x)^2 (c + 2x - 3o) / (c - o)^3 in the squares x, c and o of distance, cut-off and
    onset, so that forces are continuous, too (that of ASE's LennardJones with ``smooth=True``).
    Without either, the energy jumps at the cut-off. ``skin``, ``device``: those of ``gdr.PairSum``.

    Units are those of the parameters, in ASE eV and Angstrom. Cells of any shape are periodic in any
    of their directions (``atoms.pbc``); each image within the cut-off counts, also in small cells.
    Properties: energy, energies (half of that of each pair), free_energy (the energy), forces, and,
    of atoms in a cell with three vectors, stress and stresses: derivatives of the energy with
    respect to the strain, divided by the volume. From the first request of a stress on they are
    computed with the forces, which takes about a third longer.

    Raises TypeError and ValueError naming the argument, ProgramError for a law, and, when
    properties are computed, InputError for species without parameters, and where the law is not
    finite, as most are for atoms at the same place.

    Examples:
        >>> from ase import Atoms
        >>> pair = Atoms("Ar2", [[0, 0, 0], [3.8, 0, 0]])
        >>> law = "s = (sigma^2/r2)^3; 4*epsilon*(s*s - s)"
        >>> pair.calc = gdr.ase.PairPotential(law, 8.5, epsilon=0.0103, sigma=3.405)
        >>> print(f"{pair.get_potential_energy():.6f} eV", pair.get_forces()[:, 0].round(6))
        -0.010287 eV [-0.001186  0.001186]
    """

    implemented_properties = ["energy", "energies", "free_energy", "forces", "stress", "stresses"]
    nolabel = True
    parameters: Any

    def __init__(
        self,
        law: str,
        cutoff: float,
        *,
        shift: bool = False,
        onset: Optional[float] = None,
        mixing: Optional[Mapping[str, str]] = None,
        skin: Optional[float] = None,
        device: Optional[DeviceLike] = None,
        **parameters: Any,
    ) -> None:
        super().__init__()
        self._device = device
        self.set(
            law=law, cutoff=cutoff, shift=shift, onset=onset, mixing=mixing, skin=skin, **parameters
        )  # fmt: skip

    def set(self, **changes: Any) -> Dict[str, Any]:
        """Change the law, its parameters or other arguments, by name; returns those that differ.

        All are checked before any is changed. Parameters that a new law does not contain are
        dropped.

        Examples:
            >>> law = gdr.ase.PairPotential("k*(r - r0)^2", 3.0, k=1.0, r0=1.5)
            >>> law.set(k=2.0)
            {'k': 2.0}
        """
        before: Dict[str, Any] = self.parameters
        if not before and not changes:
            return {}  # the base class, before there is a law
        device = changes.pop("device", self._device)
        given = {**before, **changes}
        settings: Dict[str, Any] = {name: given.pop(name) for name in _SETTINGS}
        if "law" in changes and isinstance(changes["law"], str):
            kept = {*words(changes["law"]), *changes}
            given = {name: value for name, value in given.items() if name in kept}
            if "mixing" not in changes and before:
                rules = settings["mixing"].items()
                settings["mixing"] = {name: rule for name, rule in rules if name in kept}
        mixing: Any = settings["mixing"]
        settings["mixing"] = {} if mixing is None else mixing
        law = PairLaw(settings, given, chemical_symbols, device)
        settings["mixing"] = dict(mixing or {})
        # Checks the law, the skin and the device.
        PairSum(
            law.kernel(False), law.cutoff, box=None, periodic=False, skin=settings["skin"],
            device=device, **law.params(),
        )  # fmt: skip
        self._law = law
        #: By directions of periods, and whether virials are computed.
        self._sums: Dict[Tuple[Tuple[bool, ...], bool], PairSum] = {}
        self._with_virial = False
        differs = {"device": device} if device is not self._device else {}
        self._device = device
        after = type(before)({**settings, **law.parameters})
        self.parameters = after
        self.reset()
        differs.update(
            (name, after[name])
            for name in changes
            if name not in before or before[name] != after[name]
        )
        return differs

    def calculate(
        self,
        atoms: Any = None,
        properties: Optional[Sequence[str]] = None,
        system_changes: Sequence[str] = all_changes,
    ) -> None:
        """Compute the properties of atoms. ASE calls it when it needs one."""
        super().calculate(atoms, properties or self.implemented_properties, system_changes)
        atoms = self.atoms
        check_finite("positions", atoms.positions)
        self._with_virial |= not {"stress", "stresses"}.isdisjoint(properties or ("stress",))
        rows = self._rows(atoms.numbers) if self._law.species else None
        periodic = tuple(bool(p) for p in atoms.pbc)
        box = np.array(atoms.cell) if any(periodic) else None
        found = self._sum(periodic, box)(
            atoms.positions,
            targets=None if rows is None else {"pair_i": rows},
            sources=None if rows is None else {"pair_j": rows},
            box=box,
        )
        for i in np.flatnonzero(~np.isfinite(found.energy))[:1]:
            raise InputError(
                f"the energy of atom {i} is not finite: the law is not, at the distance of another atom"
            )
        energy = float(found.energy.sum())
        self.results: Dict[str, Any] = {
            **{"energy": energy, "free_energy": energy},
            **{"energies": found.energy, "forces": found.force},
        }
        if self._with_virial and atoms.cell.rank == 3:
            stresses = found.virial[:, _VOIGT] / atoms.get_volume()
            self.results.update(stresses=stresses, stress=stresses.sum(axis=0))

    def _sum(self, periodic: Tuple[bool, ...], box: Any) -> PairSum:
        """The sum with these periods, in open space if there are none."""
        key = (periodic, self._with_virial)
        if key not in self._sums:
            self._sums[key] = PairSum(
                self._law.kernel(self._with_virial), self._law.cutoff, box=box, periodic=periodic,
                skin=self.parameters["skin"], device=self._device, **self._law.params(),
            )  # fmt: skip
        return self._sums[key]

    def _rows(self, numbers: Any) -> Ints:
        """The row of each atom in the tables of the law's parameters."""
        present, inverse = np.unique(numbers, return_inverse=True)
        symbols = [chemical_symbols[z] for z in present]
        self._law.check(symbols)
        rows: Ints = np.array([self._law.species.index(s) for s in symbols], np.int64)[inverse]
        return rows

    def __deepcopy__(self, memo: Any) -> PairPotential:
        return type(self)(device=self._device, **self.parameters)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _again, (dict(self.parameters),)


def _again(parameters: Mapping[str, Any]) -> PairPotential:
    """A calculator with these arguments, on the default device: that of a pickled one."""
    return PairPotential(**parameters)
