"""Sums of a kernel over the pairs within a cut-off, in open space or in a periodic box."""

from __future__ import annotations

import dataclasses
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Floats, as_array, floats, number
from ._box import periodic_box, three_bools
from ._forces import KernelLike, kernel_of
from ._interface import Results, rows
from ._open import DeviceLike, device_or_default
from ._particles import ParticleArrays, SumParams
from ._precision import FloatRuns
from .results import ResultArrays


@dataclasses.dataclass(frozen=True)
class PairStatistics:
    """What a ``PairSum`` did last, and how often it made lists.

    Examples:
        >>> liquid = gdr.PairSum(gdr.lennard_jones, 1.0, rc2=1.0)
        >>> for step in range(3):
        ...     found = liquid(pos + 1e-4 * step)
        >>> liquid.statistics.runs, liquid.statistics.lists_made
        (3, 1)
    """

    runs: int  #: calls so far
    lists_made: int  #: calls that made new lists
    groups: int  #: groups of targets with a common list
    sources: int  #: sources with their images
    pairs: float  #: pairs of the lists; ``native`` leaves out most of those beyond the cut-off
    list_seconds: float  #: time for the last lists
    skin: float  #: that of the last lists


class PairSum:
    """A kernel summed over all pairs within a cut-off, in open space or in a periodic box.

        liquid = gdr.PairSum(gdr.lennard_jones, 2.5, box=(10, 10, 10), rc2=2.5**2)
        found = liquid(pos)  # found.fx, found.fy, found.fz, found.u, found.virial

    Parameters: ``kernel``, a kernel of the library (``gdr.lennard_jones``, or its name), a
    ``gdr.Kernel``, or a text of the kernel language, with three coordinates of targets and of
    sources (``as pos``, or those of ``@gdr.kernel``). ``cutoff``: a radius for all targets, or one
    for each, (m,). ``box``: three lengths, or one for a cube, or three vectors as the rows of (3, 3);
    ``periodic``: whether the box repeats along each, for all or for each of the three. ``skin``: how
    much farther than the cut-off the lists reach; they are used again until a particle has moved by half of it, 0 makes
    new lists in every call; by default at first 0.12 of the largest cut-off, later what is
    cheapest by counted costs where particles move as far in a call as they did. ``params`` by name,
    here or in the calls.

    A pair counts if its distance is below the target's cut-off, once for each image of the source:
    also where the cut-off exceeds half of the box. A particle does not meet itself, but its images.
    The kernel needs no condition for the cut-off and no ``minimum_image``: it sees plain
    differences. Positions may lie outside of the box, and move through its sides.

    On a device "mpi" all calls are collective: every rank passes its own particles and targets, and
    gets the results of its targets, with the bits of one process. All ranks get all particles.

    A call and new lists take O(n) work at a given density. Results do not depend on the number of
    threads; their last bits depend on when lists were made, that is on the calls before, unless
    ``skin`` is 0: the same calls have the same bits. The distances that are compared are those of
    the device: exact to 1e-15, to 1e-7 on engines among floats.

    Raises TypeError or ValueError naming the argument, and UnsupportedError for a kernel without a
    text in the kernel language.
    """

    def __init__(
        self,
        kernel: KernelLike,
        cutoff: Any,
        *,
        box: Optional[Any] = None,
        periodic: Union[bool, Sequence[bool]] = True,
        skin: Optional[float] = None,
        device: Optional[DeviceLike] = None,
        **params: float,
    ) -> None:
        self._ranks = device_or_default(device)._ranks
        core = self._ranks.core
        with self._ranks.argument_checks():
            kernel = kernel_of(kernel)
            self.kernel = kernel
            self._periodic = three_bools(periodic)
            radii = _radii(cutoff)
            edges = periodic_box(box, self._periodic)
            reach = None if skin is None else number("skin", skin)
        self._core = _core.PairSum(core, kernel.core, radii, edges, reach)
        self._float_runs = FloatRuns(core, kernel)
        self._params = SumParams(kernel, self._core)
        self.set(**kernel.default_params())
        self.set(**params)

    def set(self, **params: float) -> None:
        """Set ``param``s by name, as ``Job.set`` does.

        Examples:
            >>> liquid = gdr.PairSum(gdr.lennard_jones, 1.0)
            >>> liquid.set(rc2=1.0)
            >>> liquid([[0, 0, 0], [0.9, 0, 0]]).u.round(3).tolist()
            [6.636, 6.636]
        """
        with self._ranks.argument_checks():
            numbers = self._params.numbers(params)
        self._params.set(numbers)

    def __call__(
        self,
        pos: Any,
        *,
        targets: Union[None, Any, Mapping[str, Any]] = None,
        sources: Optional[Mapping[str, Any]] = None,
        cutoff: Optional[Any] = None,
        box: Optional[Any] = None,
        results: Results = None,
        out: Any = None,
        dtype: Any = None,
        **params: float,
    ) -> ResultArrays:
        """Compute, and return the results by name, one value for each target.

        ``pos`` (n, 3): the sources, which are the targets, too, unless ``targets`` has positions:
        an array (m, 3), or a dictionary with ``"pos"`` and the kernel's other variables of targets by name.
        Without ``"pos"`` the dictionary has those of the particles. ``sources``: the other
        variables of sources by name. ``cutoff`` and ``box``: new ones for this and the following calls.
        ``results``, ``out`` and ``dtype`` are those of ``Job.run``.
        """
        with self._ranks.argument_checks():
            numbers = self._params.numbers_of_call(params)
            radii = None if cutoff is None else _radii(cutoff)
            edges = None if box is None else periodic_box(box, self._periodic)
            call = ParticleArrays.checked(self.kernel, pos, targets, sources, results, out, dtype)
        self._params.set(numbers)
        if radii is not None:
            self._core.set_cutoff(radii)
        if edges is not None:
            self._core.set_box(edges)
        self._core.run(call.pos, call.target_pos, call.sources, call.targets, rows(call.results))
        self._float_runs.check()
        return call.named_results(self.kernel)

    @property
    def statistics(self) -> PairStatistics:
        """What the last call did, and how often lists were made."""
        return PairStatistics(*self._core.statistics())

    def __repr__(self) -> str:
        return f"<gdr.PairSum of kernel {self.kernel.core.name}>"


def _radii(cutoff: Any) -> Floats:
    """One radius, or one for each target, as an array; the library checks the values."""
    alone = as_array("cutoff", cutoff).ndim == 0
    return np.ascontiguousarray(floats("cutoff", cutoff, () if alone else ("m",))).reshape(-1)
