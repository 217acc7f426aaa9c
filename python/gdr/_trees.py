"""Sums of a kernel over many particles to an accuracy, with a tree."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from . import _core
from ._arrays import integer, number
from ._forces import KernelLike, kernel_of
from ._interface import Results, rows
from ._open import DeviceLike, device_or_default
from ._particles import ParticleArrays, SumParams
from ._precision import FloatRuns
from .results import ResultArrays


@dataclasses.dataclass(frozen=True)
class TreeSumReport:
    """How a ``TreeSum`` computed last, and its errors, measured on a sample of targets.

    The error of a result is its root mean square over the targets, relative to that of the result.
    Components of a vector count together: results whose names differ by a letter x, y or z.

    Examples:
        >>> law = ("VARI vec3 xi as pos; VARJ vec3 xj as pos; VARJ qj; VARF u;"
        ...        "r = norm(xj - xi); skip if (r == 0); u += qj/r;")
        >>> potential = gdr.TreeSum(law)
        >>> found = potential(pos, sources={"qj": mass})
        >>> potential.report.reason
        'there are few particles'
    """

    degree: int  #: degree of the interpolation; 0: direct sums
    theta: float  #: ratio of a cluster's radius and its distance, below which it was replaced
    error: float  #: the largest of the results' errors; 0: direct sums
    largest_error: float  #: the largest error of a target, relative to the same
    errors: Dict[str, float]  #: the errors by result: {"ax, ay, az": 8e-5, "pot": 2e-5}
    reason: str  #: why direct sums were used; empty: they were not
    samples: int  #: number of targets whose errors were measured
    clusters: int  #: number of clusters of the sources
    groups: int  #: number of groups of targets
    sources_per_target: float  #: mean number of particles and proxies in the sums of a target
    build_seconds: float  #: time of making the tree
    choice_seconds: float  #: time of choosing degree and theta, by errors of trials
    list_seconds: float  #: time of making lists
    sum_seconds: float  #: time of the sums
    error_seconds: float  #: time of measuring the errors of the results


class TreeSum:
    """A kernel summed over all sources to an accuracy, in O(n log n).

        law = gdr.compile("VARI vec3 xi as pos; VARJ vec3 xj as pos; VARJ qj; CONST kappa; VARF u;"
                          "r = norm(xj - xi); skip if (r == 0); u += qj*exp(-kappa*r)/r;")
        yukawa = gdr.TreeSum(law, 1e-4, kappa=2.0)  # or law.tree(1e-4, kappa=2.0)
        found = yukawa(pos, sources={"qj": charge})
        yukawa.report.error  # measured

    Clusters of sources that are far from a target are replaced by few sources on Gauss-Legendre
    points, with interpolated charges, which the same kernel computes. That is right if the results are sums
    whose terms have one charge as a factor: a variable of the source, as the charge of an electric
    field, or one of several, as the components of a force. Other variables of the source may be its
    position, on which terms depend smoothly at a distance, may multiply a charge, as the velocity
    in a jerk, or be numbers of particles that are compared with a target's. The compiler finds the
    charges (``charges``), or says what is in their way.

    Parameters: ``kernel``, a kernel of the library (``gdr.coulomb``, or its name), a
    ``gdr.Kernel``, or a text of the kernel language, with three coordinates of targets and of
    sources (``as pos``, or those of ``@gdr.kernel``). ``accuracy``: the largest error of
    each result, root mean square over the targets, relative to that of the result. ``degree`` of
    the interpolation, 1 to 8, and ``theta``, the mean ratio of a cluster's radius and its distance
    below which it is replaced, above 0 and at most 0.75, are chosen; with a ``theta``, the accuracy
    is not used.
    ``group_size``: largest number of targets with a common list. ``leaf_size``: largest number of
    particles of an undivided cluster. ``samples``: number of targets whose errors are measured, 256
    by default. ``params`` by name, here or in the calls.

    Errors are measured in every call, against direct sums on the same device. Direct sums are used
    where they are faster or no tree is as accurate; ``report.reason`` says why. Results do not
    depend on the number of threads. On a device "mpi" every rank passes its own particles and
    targets, and gets the results of its targets; all ranks get all particles.

    Raises TypeError or ValueError naming the argument, and UnsupportedError, with the reason, for a
    kernel without charges or without a text in the kernel language.
    """

    def __init__(
        self,
        kernel: KernelLike,
        accuracy: float = 1e-3,
        *,
        theta: Optional[float] = None,
        degree: Optional[int] = None,
        group_size: Optional[int] = None,
        leaf_size: Optional[int] = None,
        samples: Optional[int] = None,
        device: Optional[DeviceLike] = None,
        **params: float,
    ) -> None:
        self._ranks = device_or_default(device)._ranks
        core = self._ranks.core
        with self._ranks.argument_checks():
            kernel = kernel_of(kernel)
            accuracy = number("accuracy", accuracy)
            if not 0 < accuracy < 1:
                raise ValueError(f"accuracy must be above 0 and below 1, it is {accuracy!r}")
            chosen_theta = 0.0 if theta is None else number("theta", theta)
            if theta is not None and not 0 < chosen_theta <= 0.75:
                raise ValueError(f"theta must be above 0 and at most 0.75, it is {theta!r}")
            counts = [_count("degree", degree, 8)]
            given = {"group_size": group_size, "leaf_size": leaf_size, "samples": samples}
            counts += [_count(name, value, 2**31 - 1) for name, value in given.items()]
        self.kernel = kernel
        self._report: Optional[TreeSumReport] = None
        self._core = _core.TreeSum(core, kernel.core, accuracy, chosen_theta, *counts)
        self._float_runs = FloatRuns(core, kernel)
        self._params = SumParams(kernel, self._core)
        self.set(**kernel.default_params())
        self.set(**params)

    def set(self, **params: float) -> None:
        """Set ``param``s by name, as ``Job.set`` does.

        Examples:
            >>> law = ("VARI vec3 xi as pos; VARJ vec3 xj as pos; VARJ qj; CONST k; VARF u;"
            ...        "r = norm(xj - xi); skip if (r == 0); u += k*qj/r;")
            >>> potential = gdr.TreeSum(law)
            >>> potential.set(k=2.0)
            >>> potential(pos, sources={"qj": mass}).u.shape
            (60,)
            >>> potential.charges
            ('qj',)
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
        results: Results = None,
        out: Any = None,
        dtype: Any = None,
        **params: float,
    ) -> ResultArrays:
        """Compute, and return the results by name, one value for each target.

        ``pos`` (n, 3): the sources, which are the targets, too, unless ``targets`` has positions:
        an array (m, 3), or a dictionary with ``"pos"`` and the kernel's other variables of targets by name.
        Without ``"pos"`` the dictionary has those of the particles. ``sources``: the other
        variables of sources by name. Numbers of particles that the kernel compares may be left out if the
        sources are the targets: a particle does then not act on itself. ``results``, ``out`` and
        ``dtype`` are those of ``Job.run``.
        """
        with self._ranks.argument_checks():
            numbers = self._params.numbers_of_call(params)
            call = ParticleArrays.checked(self.kernel, pos, targets, sources, results, out, dtype)
        self._params.set(numbers)
        fields = self._core.run(
            call.pos, call.target_pos, call.sources, call.targets, rows(call.results)
        )
        names = self.kernel._caller_names.results
        callers = {variable: name for name, variable in names.items()}
        fields["errors"] = {
            ", ".join(callers.get(name, name) for name in vector.split(", ")): error
            for vector, error in fields["errors"].items()
        }
        self._report = TreeSumReport(**fields)
        self._float_runs.check()
        return call.named_results(self.kernel)

    @property
    def report(self) -> Optional[TreeSumReport]:
        """How the last call was computed, with its measured errors; None before the first."""
        return self._report

    @property
    def charges(self) -> Tuple[str, ...]:
        """The sources' variables that a tree interpolates: charges, and variables that multiply
        them."""
        names = {variable: name for name, variable in self.kernel._caller_names.sources.items()}
        return tuple(names.get(name, name) for name in self._core.charges())

    def __repr__(self) -> str:
        return f"<gdr.TreeSum of kernel {self.kernel.core.name}>"


def _count(name: str, value: Optional[int], most: int) -> int:
    """A positive number, or 0 for a choice of the library."""
    if value is None:
        return 0
    count = integer(name, value)
    if not 1 <= count <= most:
        raise ValueError(f"{name} must be 1 to {most}, it is {value!r}")
    return count
