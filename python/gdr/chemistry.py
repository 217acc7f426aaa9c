"""Quantum chemistry: the Coulomb matrix of a density on a device, also for PySCF.

    mf = gdr.chemistry.accelerate(pyscf.scf.RHF(mol), device=gdr.open(engine="native"))
    mf.kernel()

The guide is docs/guides/chemistry.md.
"""

from __future__ import annotations

import operator
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, cast

import numpy as np

from . import _core
from ._arrays import Floats, as_array, check_finite, choice, floats, number
from ._display import counted
from ._open import Device, DeviceLike, device_or_default
from ._system import require
from .errors import InputError, UnsupportedError, UsageError

__all__ = [
    "Coulomb",
    "Shell",
    "Work",
    "accelerate",
    "electrostatic_potential",
    "kernel_text",
    "shells",
]

LETTERS = "spdfghik"


class Shell(NamedTuple):
    """A shell of contracted Gaussian functions, in the normalisation of ``gdr/chemistry.hpp``.

    Radial functions are ``sum over k of coefficients[c, k] r^l exp(-exponents[k] r^2)``; angular
    functions have the order of PySCF.

    Examples:
        >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [3.4, 0.6, 0.17], [0.15, 0.54, 0.44])
        >>> gdr.chemistry.Coulomb([s, s._replace(centre=[0, 0, 1.4])]).functions
        2
    """

    centre: Sequence[float]  #: Bohr
    l: int  #: angular momentum: 0, 1 or 2  # noqa: E741
    exponents: Sequence[float]  #: Bohr^-2
    coefficients: Any  #: (contractions, primitives), or (primitives,)
    spherical: bool = True  #: for d: 5 spherical functions, or 6 Cartesian ones


class Work(NamedTuple):
    """Numbers of the last evaluation.

    Examples:
        >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [3.4, 0.6, 0.17], [0.15, 0.54, 0.44])
        >>> basis = gdr.chemistry.Coulomb([s])
        >>> j = basis.matrix([[1.0]])
        >>> basis.work.pairs, basis.work.interactions > 0
        (6, True)
    """

    pairs: int  #: pairs of primitives with charge
    interactions: int  #: evaluated interactions of such pairs
    short_interactions: int  #: of these, the ones in short precision
    seconds_on_device: float  #: wall time in jobs
    seconds: float  #: wall time in total


def shells(mol: Any) -> List[Shell]:
    """The shells of a PySCF molecule (``pyscf.gto.Mole``).

    Raises UnsupportedError for angular momenta above d.

    Examples:
        >>> from pyscf import gto
        >>> water = gto.M(atom="O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59", basis="6-31g", verbose=0)
        >>> [shell.l for shell in gdr.chemistry.shells(water)]
        [0, 0, 0, 1, 1, 0, 0, 0, 0]
    """
    made = []
    for b in range(mol.nbas):
        l = int(mol.bas_angular(b))  # noqa: E741
        if l >= 3:
            atom = int(mol.bas_atom(b))
            letter = LETTERS[l] if l < len(LETTERS) else f"l = {l}"
            raise UnsupportedError(
                f"shell {b} of the basis, of atom {atom} ({mol.atom_symbol(atom)}), is an "
                f"{letter} shell: s, p and d shells are supported; choose a basis without {letter} "
                "functions, as 6-31G* or cc-pVDZ"
            )
        coefficients = np.asarray(mol._libcint_ctr_coeff(b)).T
        made.append(Shell(mol.bas_coord(b), l, mol.bas_exp(b), coefficients, not mol.cart))
    return made


def _omega_of(mol: Any) -> float:
    """The range separation of a PySCF molecule."""
    return float(getattr(mol, "omega", None) or 0)


def _core_shell(
    place: int, shell: Shell
) -> Tuple[List[float], int, bool, List[float], List[float]]:
    """The tuple of the extension module for a shell, the ``place``-th of a basis."""
    what = f"shell {place}"
    exponents = floats(f"{what}: exponents", shell.exponents, ("n",))
    coefficients = np.atleast_2d(as_array(f"{what}: coefficients", shell.coefficients))
    if coefficients.ndim != 2 or coefficients.shape[1] != len(exponents):
        raise InputError(
            f"{what}: coefficients have the shape {coefficients.shape}, not (contractions, "
            f"{len(exponents)} primitives)"
        )
    centre = floats(f"{what}: centre", shell.centre, (3,))
    rows = np.asarray(coefficients, dtype=float).ravel()
    return centre.tolist(), int(shell.l), bool(shell.spherical), exponents.tolist(), rows.tolist()


class Coulomb:
    """Interactions of the charge distributions of a basis on a device.

    ``basis``: a PySCF molecule, or a list of ``Shell``. ``threshold``: bound on the error of an
    element of the Coulomb matrix due to neglected pairs of charge distributions and to pairs in
    short precision, Hartree. Lengths are in Bohr, energies in Hartree. ``omega``: range separation
    of the interaction of electrons in Bohr^-1, as in PySCF: 0 is 1/r, a positive number
    erf(omega r)/r, a negative one erfc(-omega r)/r; None: that of the molecule (``mol.omega``), 0
    for shells. ``matrix`` and ``integrals`` are computed with it; ``potential`` and
    ``nuclear_attraction`` are always those of 1/r. Raises UnsupportedError for angular momenta above
    d and for a linearly dependent basis: the smallest eigenvalue of its overlap matrix is below
    1e-8.

    Examples:
        >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [1.0], [[(128 / np.pi) ** 0.25]])  # exp(-r^2), normalised
        >>> basis = gdr.chemistry.Coulomb([s])
        >>> basis.functions, basis.matrix([[1.0]]).shape
        (1, (1, 1))
    """

    def __init__(
        self,
        basis: Any,
        *,
        device: Optional[DeviceLike] = None,
        threshold: float = 1e-10,
        omega: Optional[float] = None,
    ) -> None:
        molecule = hasattr(basis, "bas_angular")
        listed = shells(basis) if molecule else list(basis)
        if omega is None:
            omega = _omega_of(basis) if molecule else 0
        self.device = device_or_default(device)
        core_shells = [_core_shell(k, shell) for k, shell in enumerate(listed)]
        limit = number("threshold", threshold)
        self._core = _core.Coulomb(self.device._core, core_shells, limit, number("omega", omega))
        self._sizes = [
            len(np.atleast_2d(np.asarray(s.coefficients)))
            * (2 * s.l + 1 if s.spherical else (s.l + 1) * (s.l + 2) // 2)
            for s in listed
        ]

    @property
    def functions(self) -> int:
        """The number n of functions."""
        return self._core.functions

    def __repr__(self) -> str:
        return (
            f"<gdr.chemistry.Coulomb of {counted(self.functions, 'function')} on {self.device!r}>"
        )

    @property
    def work(self) -> Work:
        """Numbers of the last evaluation."""
        return Work(*self._core.work)

    def _density(self, density: Any) -> Floats:
        n = self.functions
        if np.iscomplexobj(density):
            raise UnsupportedError(
                "the density matrix is complex: real orbitals are supported; take the real part "
                "if the imaginary one is antisymmetric, because it has no Coulomb energy"
            )
        made = floats("density", density, (n, n))
        check_finite("density", made)
        return np.ascontiguousarray(made)

    def matrix(self, density: Any) -> Floats:
        """The Coulomb matrix ``J_ab = sum over c, d of (ab|cd) D_cd`` of a density (n, n).

        The interaction is that of ``omega``. Only the symmetric part of the density contributes.

        Examples:
            >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [1.0], [[(128 / np.pi) ** 0.25]])
            >>> j = gdr.chemistry.Coulomb([s]).matrix([[1.0]])
            >>> print(f"{j[0, 0]:.10f} {2 / np.sqrt(np.pi):.10f}")  # of (ss|ss) of a normalised s
            1.1283791671 1.1283791671
        """
        given = self._density(density)
        out = np.empty_like(given)
        self._core.matrix(given, out)
        return out

    def potential(self, density: Any, points: Any) -> Floats:
        """The potential of the charge of a density at points (m, 3), electrons counted positive.

        Examples:
            >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [1.0], [[(128 / np.pi) ** 0.25]])
            >>> found = gdr.chemistry.Coulomb([s]).potential([[1.0]], [[10.0, 0, 0]])
            >>> print(found.round(9))  # of the charge 1 at the distance 10
            [0.1]
        """
        places = np.ascontiguousarray(floats("points", points, ("m", 3)))
        out = np.empty(len(places))
        self._core.potential(self._density(density), places, out)
        return out

    def nuclear_attraction(self, positions: Any, charges: Any) -> Floats:
        """Integrals of ``-sum charge/|x - position|`` between functions: (n, n).

        Examples:
            >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [1.0], [[(128 / np.pi) ** 0.25]])
            >>> print(gdr.chemistry.Coulomb([s]).nuclear_attraction([[0, 0, 10.0]], [2.0]).round(9))
            [[-0.2]]
        """
        places = np.ascontiguousarray(floats("positions", positions, ("m", 3)))
        values = np.ascontiguousarray(floats("charges", charges, (len(places),)))
        out = np.empty((self.functions, self.functions))
        self._core.nuclear_attraction(places, values, out)
        return out

    def integrals(self, c: int, d: int) -> Floats:
        """All two-electron integrals ``(ab|cd)`` for the functions of shells number c and d.

        The shape is (functions of c, functions of d, n, n), the last two indices for a and b. The
        interaction is that of ``omega``.

        Examples:
            >>> s = gdr.chemistry.Shell([0, 0, 0], 0, [1.0], [[(128 / np.pi) ** 0.25]])
            >>> p = gdr.chemistry.Shell([0, 0, 1.4], 1, [0.8], [[1.0]])
            >>> gdr.chemistry.Coulomb([s, p]).integrals(0, 1).shape
            (1, 3, 4, 4)
        """
        for name, shell in (("c", c), ("d", d)):
            if not 0 <= shell < len(self._sizes):
                raise IndexError(f"{name}: there is no shell {shell} among {len(self._sizes)}")
        n = self.functions
        out = np.empty((self._sizes[c], self._sizes[d], n, n))
        self._core.integrals(c, d, out)
        return out


def kernel_text(li: int, lj: int, part: int = 0, precision: str = "long") -> str:
    """The kernel, as a text of the kernel language, of a pair of angular momenta.

    ``li`` and ``lj``: total angular momenta of targets and sources, 0 to 4. For ``li`` = 4 the
    first 20 of 35 results, or with ``part`` = 1 the others. ``precision``: "long", or "short" for
    small contributions. ``gdr.compile(gdr.chemistry.kernel_text(1, 1)).clocks`` are the clocks of
    an interaction.

    Examples:
        >>> gdr.compile(gdr.chemistry.kernel_text(0, 0)).flops > 0
        True
    """
    shorts = choice("precision", precision, ("long", "short")) == "short"
    orders = [operator.index(value) for value in (li, lj, part)]
    if min(orders) < 0:
        raise UsageError(f"negative arguments: {li}, {lj}, {part}")
    return _core.coulomb_kernel(orders[0], orders[1], orders[2], shorts)


def electrostatic_potential(
    mol: Any, density: Any, points: Any, *, device: Optional[DeviceLike] = None
) -> Floats:
    """Electrostatic potential of a PySCF molecule at points (m, 3) in Bohr, in Hartree/e.

    Nuclei count positive, electrons negative; a point at a nucleus is infinite. It is that of the
    interaction 1/r, whatever ``mol.omega`` is.

    Examples:
        >>> from pyscf import gto, scf
        >>> water = gto.M(atom="O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59", basis="6-31g", verbose=0)
        >>> found = gdr.chemistry.electrostatic_potential(water, scf.RHF(water).run().make_rdm1(), [[0, 0, 50.0]])
        >>> bool(abs(found[0]) < 1e-3)  # a neutral molecule, seen from far away
        True
    """
    places = floats("points", points, ("m", 3))
    electrons = Coulomb(mol, device=device).potential(density, places)
    distance = np.linalg.norm(places[:, None] - mol.atom_coords()[None], axis=-1)
    with np.errstate(divide="ignore"):
        nuclei = (mol.atom_charges() / distance).sum(1)
    return cast(Floats, nuclei - electrons)


class _DeviceCoulomb:
    """Mix-in of a PySCF mean-field class: J from a device, K from the class."""

    _keys = {"gdr_device", "gdr_threshold"}
    gdr_device: Optional[Device]
    gdr_threshold: float
    _gdr_coulomb: Optional[Tuple[Any, Dict[float, Coulomb]]] = None
    mol: Any

    def _coulomb_of(self, mol: Any, omega: Optional[float] = None) -> Coulomb:
        """The object of a molecule and a range separation; None: that of the molecule."""
        key = (mol._atm.tobytes(), mol._bas.tobytes(), mol._env.tobytes(), mol.cart)
        if self._gdr_coulomb is None or self._gdr_coulomb[0] != key:
            self._gdr_coulomb = (key, {})
        known = self._gdr_coulomb[1]
        separation = _omega_of(mol) if omega is None else omega
        if separation not in known:
            known[separation] = Coulomb(
                mol, device=self.gdr_device, threshold=self.gdr_threshold, omega=separation
            )
        return known[separation]

    def get_jk(
        self,
        mol: Any = None,
        dm: Any = None,
        hermi: int = 1,
        with_j: bool = True,
        with_k: bool = True,
        omega: Any = None,
    ) -> Tuple[Any, Any]:
        """J from the device, K as without it, both with the range separation ``omega``.

        None: that of the molecule.
        """
        parent: Any = super()
        if not with_j:
            return cast(Tuple[Any, Any], parent.get_jk(mol, dm, hermi, with_j, with_k, omega))
        mol = self.mol if mol is None else mol
        dm = cast(Any, self).make_rdm1() if dm is None else dm
        if np.iscomplexobj(dm):
            raise UnsupportedError(
                "the density matrix is complex: gdr.chemistry supports real orbitals"
            )
        coulomb = self._coulomb_of(mol, omega)
        vk = parent.get_jk(mol, dm, hermi, False, True, omega)[1] if with_k else None
        densities = np.asarray(dm)
        stack = densities.reshape(-1, *densities.shape[-2:])
        vj = np.array([coulomb.matrix(density) for density in stack])
        return vj.reshape(densities.shape), vk

    def get_j(self, mol: Any = None, dm: Any = None, hermi: int = 1, omega: Any = None) -> Any:
        """J from the device."""
        return self.get_jk(mol, dm, hermi, with_k=False, omega=omega)[0]


def accelerate(mf: Any, *, device: Optional[DeviceLike] = None, threshold: float = 1e-10) -> Any:
    """A copy of a PySCF mean-field object that computes the Coulomb matrix J on a device.

    ``mf``: RHF, UHF, RKS or UKS of a molecule. Exchange and functionals are computed as before.
    Differences of densities (``direct_scf``) are supported, as J is linear. ``threshold``: see
    ``Coulomb``. J has the range separation of the molecule (``mol.omega``), or of the argument
    ``omega`` of ``get_jk`` and ``get_j``. Raises UnsupportedError for other methods, f and higher
    shells, linearly dependent bases and complex orbitals.

    Examples:
        >>> from pyscf import gto, scf
        >>> water = gto.M(atom="O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59", basis="6-31g", verbose=0)
        >>> energy = gdr.chemistry.accelerate(scf.RHF(water)).kernel()
        >>> bool(abs(energy - scf.RHF(water).kernel()) < 1e-8)
        True
    """
    scf = require("pyscf.scf", "gdr.chemistry.accelerate")
    gto = require("pyscf.gto", "gdr.chemistry.accelerate")
    method = isinstance(mf, (scf.hf.RHF, scf.uhf.UHF))
    molecule = type(getattr(mf, "mol", None)) is gto.Mole
    if not method or not molecule or getattr(mf, "with_df", None) is not None:
        what = f"{type(mf).__module__}.{type(mf).__name__}"
        if getattr(mf, "with_df", None) is not None:
            what += " with density fitting"
        raise UnsupportedError(
            f"accelerate: {what} is not supported; RHF, UHF, RKS and UKS of molecules are"
        )
    made = mf.copy()
    if not isinstance(mf, _DeviceCoulomb):
        made.__class__ = type(f"Device{type(mf).__name__}", (_DeviceCoulomb, type(mf)), {})
    made.gdr_device = device_or_default(device)
    made.gdr_threshold = number("threshold", threshold)
    made._gdr_coulomb = None
    made._coulomb_of(mf.mol)
    return made
