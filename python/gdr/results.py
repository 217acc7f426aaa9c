"""Types of the results of the library's kernels: named tuples of arrays, by kernel in ``RESULTS``.

Accelerations point to the masses, potentials are negative (``gravity_softened`` and
``gravity_regular``: positive). Vectors have the shape (n, 3), others (n,), lists (n, length). With
quantities as arguments, results are quantities. ``ResultArrays`` are those of other kernels.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Tuple, Type

from ._arrays import AnyArray, Floats, Ints
from ._display import ARRAY_HEAD, array_row, html_table, seconds_text, tuple_table

__all__ = [
    "Estimate",
    "EwaldSum",
    "Field",
    "GaussSum",
    "Gravity",
    "Gravity1PN",
    "GravityHermite",
    "GravityJerk",
    "GravityLists",
    "GravityNearest",
    "GravityNeighbours",
    "GravitySnap",
    "PairEnergy",
    "PairVirial",
    "RESULTS",
    "ResultArrays",
    "SphDensity",
    "SphForce",
    "SphLengths",
    "TreeGravity",
    "TreeGravityJerk",
    "TreeReport",
]


class Gravity(NamedTuple):
    """Result of ``gdr.gravity`` and of kernels with the same sums.

    Examples:
        >>> found = gdr.gravity([[0, 0, 0], [1, 0, 0]], [1, 3], eps=0.0)
        >>> print(found.acc[:, 0], found.pot)
        [ 3. -1.] [-3. -1.]
        >>> acc, pot = found
    """

    acc: Floats  #: accelerations, (n, 3)
    pot: Floats  #: potentials, (n,)


class Estimate(NamedTuple):
    """The expected time of a call (``gdr.estimate``); as a text, a line to print.

    Examples:
        >>> print(gdr.results.Estimate(95.0, 80.5, 120.0, 1e11, False, 0.1))
        about 1.6 min (1.3 min to 2 min) for 1e+11 pairs
    """

    seconds: float  #: expected time
    low: float  #: lower bound of the time, while the host is as busy as it was
    high: float  #: upper bound
    pairs: float  #: pairs of a target and a source
    tree: bool  #: whether a tree is faster than direct sums at the accuracy that was asked for
    measuring: float  #: time that the estimate took, seconds

    def __str__(self) -> str:
        how = ", with a tree" if self.tree else ""
        times = [seconds_text(t) for t in (self.seconds, self.low, self.high)]
        return f"about {times[0]} ({times[1]} to {times[2]}) for {self.pairs:.3g} pairs{how}"


class TreeReport(NamedTuple):
    """How a sum with a tree was computed, and its error, measured on a sample of targets.

    Errors are relative to the acceleration, or to a thousandth of the root mean square of all where
    that is larger; 0 for direct sums."""

    method: str  #: "direct", "monopole", "multipole" or "expansion"
    degree: int  #: that of the method; 1: monopoles; 0: direct sums
    theta: float  #: ratio of a cluster's radius and its distance, below which it was replaced
    error: float  #: root mean square of the relative errors of the sample
    largest_error: float  #: largest relative error of the sample
    jerk_error: float  #: root mean square of those of jerks, where they are computed
    samples: int  #: number of targets whose errors were measured
    clusters: int  #: number of clusters of the sources
    groups: int  #: number of groups of targets
    sources_per_target: float  #: mean number of particles and proxies in the sums of a target
    build_seconds: float  #: time of making the tree
    choice_seconds: float  #: time of choosing the method, by errors of trials
    expansion_seconds: float  #: time of expansions
    list_seconds: float  #: time of making lists
    force_seconds: float  #: time of the sums
    error_seconds: float  #: time of measuring the errors of the results


class TreeGravity(Gravity):
    """Result of ``gdr.gravity`` with an accuracy: that of ``Gravity``, with a report."""

    tree: TreeReport  #: how it was computed, with the measured error

    def __new__(cls, acc: Floats, pot: Floats, tree: TreeReport) -> TreeGravity:
        self = super().__new__(cls, acc, pot)
        self.tree = tree
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        return TreeGravity, (self.acc, self.pot, self.tree)


class EwaldSum(NamedTuple):
    """Result of ``gdr.ewald``."""

    energy: float  #: energy of the box
    energies: Floats  #: energies of the particles, (n,), whose sum is ``energy``
    force: Floats  #: forces, (n, 3)
    virial: Floats  #: sum of x_a F_b over all pairs, (3, 3); the pressure is its trace / (3 volume)
    alpha: float  #: splitting parameter, an inverse length
    cutoff: float  #: radius of the part in real space
    wave_cutoff: float  #: largest wave vector
    waves: int  #: number of wave vectors, one of each pair k, -k
    error: float  #: estimate of the error, as ``accuracy``


class GravityJerk(NamedTuple):
    """Gravity with the time derivative of the acceleration."""

    acc: Floats  #: accelerations, (n, 3)
    jerk: Floats  #: first time derivatives of ``acc``, (n, 3)
    pot: Floats  #: potentials, (n,)


class TreeGravityJerk(GravityJerk):
    """Result of ``gdr.gravity`` with velocities and an accuracy: that of ``GravityJerk``, with a
    report."""

    tree: TreeReport  #: how it was computed, with the measured errors

    def __new__(cls, acc: Floats, jerk: Floats, pot: Floats, tree: TreeReport) -> TreeGravityJerk:
        self = super().__new__(cls, acc, jerk, pot)
        self.tree = tree
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        return TreeGravityJerk, (self.acc, self.jerk, self.pot, self.tree)


class GravitySnap(NamedTuple):
    """Gravity with two time derivatives of the acceleration."""

    acc: Floats  #: accelerations, (n, 3)
    jerk: Floats  #: first time derivatives of ``acc``, (n, 3)
    snap: Floats  #: second time derivatives of ``acc``, (n, 3)
    pot: Floats  #: potentials, (n,)


class Gravity1PN(NamedTuple):
    """Gravity with the pairwise part of its first post-Newtonian correction."""

    acc: Floats  #: Newtonian accelerations, (n, 3)
    pn: Floats  #: post-Newtonian corrections of ``acc``, (n, 3)
    pot: Floats  #: Newtonian potentials, (n,)


class GravityNearest(NamedTuple):
    """Gravity with jerk, and the neighbours within a radius, counted."""

    acc: Floats  #: accelerations, (n, 3)
    jerk: Floats  #: first time derivatives of ``acc``, (n, 3)
    pot: Floats  #: potentials, (n,)
    rnear2: Floats  #: squares of the distances of the nearest sources, (n,)
    near: Ints  #: numbers of sources within the radius, (n,)


class GravityHermite(NamedTuple):
    """Gravity with jerk, and the nearest source."""

    acc: Floats  #: accelerations, (n, 3)
    jerk: Floats  #: first time derivatives of ``acc``, (n, 3)
    pot: Floats  #: potentials, (n,)
    rnear2: Floats  #: squares of the distances of the nearest sources, without softening, (n,)
    nearest: Ints  #: indices of the nearest sources, (n,); -1: none


class GravityNeighbours(NamedTuple):
    """Gravity with jerk, the nearest source, and lists of the sources within a radius."""

    acc: Floats  #: accelerations, (n, 3)
    jerk: Floats  #: first time derivatives of ``acc``, (n, 3)
    pot: Floats  #: potentials, (n,)
    rnear2: Floats  #: squares of the distances of the nearest sources, (n,)
    nearest: Ints  #: indices of the nearest sources, (n,); -1: none
    near: Ints  #: numbers of sources within the radius, (n,)
    near_list: Ints  #: their indices, (n, capacity); -1 after the last


class GravityLists(NamedTuple):
    """Gravity with jerk, and lists of the sources within a radius."""

    acc: Floats  #: accelerations, (n, 3)
    jerk: Floats  #: first time derivatives of ``acc``, (n, 3)
    pot: Floats  #: potentials, (n,)
    near: Ints  #: numbers of sources within the radius, (n,)
    near_list: Ints  #: their indices, (n, capacity); -1 after the last


class PairEnergy(NamedTuple):
    """Forces and energies of a pair potential; the energy of the system is half of the sum."""

    force: Floats  #: forces, (n, 3)
    u: Floats  #: energies of all pairs of a particle, (n,)


class PairVirial(NamedTuple):
    """Forces, energies and virials of a pair potential; the system has half of the sums."""

    force: Floats  #: forces, (n, 3)
    u: Floats  #: energies of all pairs of a particle, (n,)
    virial: Floats  #: virials of all pairs of a particle, (n,)


class Field(NamedTuple):
    """Electric fields and potentials."""

    field: Floats  #: fields, (n, 3)
    pot: Floats  #: potentials, (n,)


class GaussSum(NamedTuple):
    """Sums of Gaussian functions."""

    s: Floats  #: sums, (n,)


class SphDensity(NamedTuple):
    """Densities of gas particles."""

    rho: Floats  #: densities, (n,)
    near: Ints  #: numbers of sources within two smoothing lengths, (n,)


class SphLengths(NamedTuple):
    """Adaptive smoothing lengths of gas particles, and their densities."""

    h: Floats  #: smoothing lengths, (n,)
    rho: Floats  #: densities with these lengths, (n,)
    near: Ints  #: numbers of particles within two smoothing lengths, (n,)
    iterations: int  #: number of densities that were computed


class SphForce(NamedTuple):
    """Pressure forces on gas particles."""

    acc: Floats  #: accelerations, (n, 3)
    dudt: Floats  #: time derivatives of the internal energies, (n,)
    mumax: Floats  #: largest approach of a pair, for the time step, (n,)


RESULTS: Dict[str, Type[Any]] = {
    "buckingham": PairEnergy,
    "coulomb": Field,
    "coulomb_ewald": Field,
    "gauss_sum": GaussSum,
    "gravity": Gravity,
    "gravity_1pn": Gravity1PN,
    "gravity_hermite": GravityHermite,
    "gravity_hermite_neighbours": GravityNeighbours,
    "gravity_jerk": GravityJerk,
    "gravity_jerk_long": GravityJerk,
    "gravity_jerk_moving": GravityJerk,
    "gravity_jerk_neighbours": GravityLists,
    "gravity_long": Gravity,
    "gravity_nearest": GravityNearest,
    "gravity_neighbours": GravityNeighbours,
    "gravity_potential": Gravity,
    "gravity_regular": GravityLists,
    "gravity_snap": GravitySnap,
    "gravity_softened": Gravity,
    "gravity_softened_long": Gravity,
    "lennard_jones": PairVirial,
    "lennard_jones_mixed": PairVirial,
    "morse": PairEnergy,
    "sph_density": SphDensity,
    "sph_force": SphForce,
}
"""The type of the result by kernel."""


for _kind in set(RESULTS.values()):
    _kind._repr_html_ = tuple_table


class ResultArrays(Dict[str, AnyArray]):
    """The results of a kernel by name: ``r["fx"]``, or ``r.fx`` where no method of a dictionary has
    that name. Items are assigned as ``r["fx"] = array``; ``|`` with another dictionary gives a
    plain ``dict``.

    Examples:
        >>> kernel = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
        >>> found = kernel(targets={"x": [0.0, 1.0]}, sources={"y": [2.0, 3.0]})
        >>> found.f.tolist(), found["f"] is found.f, list(found)
        ([13.0, 5.0], True, ['f'])
    """

    def __getattr__(self, name: str) -> AnyArray:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(map(repr, self))
            raise AttributeError(f"no result {name!r}; the results are {known}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"results are not assigned as attributes: use r[{name!r}] = ...")

    def copy(self) -> ResultArrays:
        """The same arrays in a new dictionary.

        Examples:
            >>> kernel = gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;")
            >>> found = kernel(targets={"x": [0.0]}, sources={"y": [2.0]})
            >>> found.copy()["f"] is found.f
            True
        """
        return ResultArrays(self)

    def __dir__(self) -> "list[str]":
        return sorted({*super().__dir__(), *(name for name in self if name.isidentifier())})

    def __repr__(self) -> str:
        arrays = (f"{name}: {a.dtype} {a.shape}" for name, a in self.items())
        return f"<gdr.ResultArrays {', '.join(arrays)}>"

    def _repr_html_(self) -> str:
        return html_table("Results", (array_row(*item) for item in self.items()), ARRAY_HEAD)
