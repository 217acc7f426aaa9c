"""Jobs: a kernel on a device with its data."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import AnyArray, check_type, indices, integer
from ._display import counted, html_table
from ._interface import CompiledKernel, Results, input_arrays, param_numbers, result_arrays
from ._interface import results_to_fill, rows
from ._outputs import NEW_ARRAYS, PLAIN, ArgumentKinds, Outputs, kinds_of
from ._precision import FloatRuns
from ._ranks import RankGroup
from ._search import prepared
from .results import ResultArrays

#: Items of a role: their number, a dictionary of arrays, or a table; None: arrays are keywords.
ItemsOrCount = Any


class Job:
    """A kernel on a device; ``device.job(kernel)`` creates it.

        job = gdr.default_device().job(gdr.builtin("gauss_sum"))
        job.set(gamma=0.5)
        job.sources(xj=x, yj=y, zj=z, qj=mass)
        job.targets(xi=x, yi=y, zi=z)
        job.run().s

    Takes any numbers of targets and sources. Arrays may have any stride and are read in place.
    Sources stay on the boards until they change.
    """

    def __init__(self, ranks: RankGroup, kernel: CompiledKernel) -> None:
        check_type("kernel", kernel, CompiledKernel, "a gdr.Kernel")
        self.kernel = kernel
        self._ranks = ranks
        self._core = _core.Job(ranks.core, prepared(ranks.core, kernel.core))
        self._float_runs = FloatRuns(ranks.core, kernel)
        self._started = ResultArrays(), NEW_ARRAYS
        self._kinds: Dict[str, ArgumentKinds] = {"sources": PLAIN, "targets": PLAIN}
        if defaults := kernel.default_params():
            self.set(**defaults)
        # Arrays that need no conversion go to the library as they are: many small calls are fast.
        # An array with several indices or of complex numbers has another shape there.
        one_index = all(len(a.sizes) == 1 and not a.complex for a in kernel.arrays)
        self._takes_plain = one_index and not ranks.collective

    def set(self, **params: Any) -> None:
        """Set ``param``s by name; a vector or table takes all its elements, a vector of
        three also a number for all of them, as does one of two of ``@gdr.kernel``. A ``param`` that
        is never set has the default value of the function of ``@gdr.kernel``, else 0."""
        with self._ranks.argument_checks():
            numbers = param_numbers(self.kernel, params)
        for name, value in numbers.items():
            self._core.set(name, value)

    def sources(self, given: ItemsOrCount = None, /, **arrays: Any) -> None:
        """Set all variables of sources, one value for each source; a number applies to all sources. The array
        of a vector has the shape (n, 3), of a symmetric tensor (n, 6).

        Arrays are keywords, or in a dictionary or table as a call of the kernel takes them:
        ``job.sources({"x": x, "q": q})``. Names are those of the kernel's variables, of the
        quantities that these hold ("pos", "mass"; docs/guides/python.md, "Names"), or for
        ``@gdr.kernel`` those of its function.

        The number of sources is the arrays' length; it must be given instead if there are no arrays. Raises
        TypeError or ValueError naming the array, and UsageError for unknown or missing variables.
        Variables with a default value may be left out, as ids: sources then have the id -2, targets
        -1.
        """
        if given is None and self._takes_plain and self._core.plain_sources(arrays):
            self._kinds["sources"] = PLAIN
            return
        with self._ranks.argument_checks():
            n, arrays = self._items("source", given, arrays)
            inputs = input_arrays(self.kernel, "source", n, arrays)
            kinds = kinds_of(arrays)
        self._core.sources(*inputs)
        self._kinds["sources"] = kinds

    def update_sources(self, first: Any, given: ItemsOrCount = None, /, **arrays: Any) -> None:
        """Set new values for some sources; other variables keep theirs. Arguments after the first
        as of ``sources``.

        ``first`` is the index of the first of consecutive sources, or an array with the index of
        each source.

        Examples:
            >>> job = gdr.default_device().job(gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;"))
            >>> job.sources(y=[1.0, 2.0, 3.0])
            >>> job.update_sources(1, y=[5.0])
            >>> job.targets(x=[0.0, 1.0])
            >>> job.run().f.tolist()
            [35.0, 20.0]
        """
        with self._ranks.argument_checks():
            n, arrays = self._items("source", given, arrays)
            if np.ndim(first) == 0:
                begin = integer("first", first)
                inputs = input_arrays(self.kernel, "source", n, arrays)
            else:
                places = indices("first", first)
                inputs = input_arrays(self.kernel, "source", len(places), arrays)
        if np.ndim(first) == 0:
            self._core.update_sources(begin, *inputs)
        else:
            self._core.update_sources_at(places, inputs[1])

    def targets(self, given: ItemsOrCount = None, /, **arrays: Any) -> None:
        """Set all variables of targets, one value for each target; a number applies to all targets. Arguments
        as of ``sources``."""
        if given is None and self._takes_plain and self._core.plain_targets(arrays):
            self._kinds["targets"] = PLAIN
            return
        with self._ranks.argument_checks():
            n, arrays = self._items("target", given, arrays)
            inputs = input_arrays(self.kernel, "target", n, arrays)
            kinds = kinds_of(arrays)
        self._core.targets(*inputs)
        self._kinds["targets"] = kinds

    def run(self, results: Results = None, *, out: Any = None, dtype: Any = None) -> ResultArrays:
        """Compute, and return the results by name.

        ``results`` lists the names of the results (None: all ``fvar``s and ``ovar``s), or maps each
        name to an array to fill. A vector has the shape (n, 3), a symmetric tensor (n, 6).
        ``name[]`` selects all entries of a list.

        ``out`` maps some of them to arrays to fill; the others are new. ``dtype``, float64 or
        float32, is the type of new arrays. They belong to the library of the arrays of targets and
        sources (docs/guides/python.md, "Arrays").
        """
        arrays, outputs = self._run(results, out, dtype)
        return outputs.finished(arrays)

    def _run(self, results: Results, out: Any, dtype: Any) -> Tuple[ResultArrays, Outputs]:
        """Compute; the results in arrays of NumPy, and what makes those of the caller of them."""
        arrays, outputs, counts = self._results(results, out, dtype)
        self._core.run(rows(arrays), *counts)
        self._float_runs.check()
        return arrays, outputs

    def _items(
        self, role: str, given: ItemsOrCount, arrays: Dict[str, Any]
    ) -> Tuple[Optional[int], Dict[str, Any]]:
        """The number of items, if it is given, and the arrays by name."""
        several = self.kernel.columns(role, given)
        if not isinstance(several, Mapping):
            return given, arrays
        for name in several.keys() & arrays.keys():
            raise TypeError(f"{name}: given twice, as a keyword and in the dictionary of {role}s")
        return None, {**several, **arrays}

    def _fill(self, arrays: Dict[str, AnyArray]) -> None:
        """Like ``run``, into arrays of the package's own that are known to have the right types,
        and one value for each target."""
        self._core.run(arrays, self._core.target_count, self._core.source_count)
        self._float_runs.check()

    def start(self, results: Results = None, *, out: Any = None, dtype: Any = None) -> None:
        """Like ``run``, in the background; ``wait`` returns the results or raises the error.

        Examples:
            >>> job = gdr.default_device().job(gdr.compile("VARI x; VARJ y; VARF f; f += (x - y)^2;"))
            >>> job.sources(y=[1.0, 2.0, 3.0])
            >>> job.targets(x=[0.0])
            >>> job.start(["f"])
            >>> job.wait().f.tolist(), job.ready
            ([14.0], True)
        """
        arrays, outputs, counts = self._results(results, out, dtype)
        self._core.start(rows(arrays), *counts)
        self._started = arrays, outputs

    @property
    def ready(self) -> bool:
        """Whether no run is in progress."""
        return self._core.ready()

    def wait(self) -> ResultArrays:
        """Wait for the run that ``start`` began, and return its results."""
        self._core.wait()
        self._float_runs.check()
        (arrays, outputs), self._started = self._started, (ResultArrays(), NEW_ARRAYS)
        return outputs.finished(arrays)

    @property
    def target_count(self) -> int:
        """Number of targets of the last ``targets``."""
        return self._core.target_count

    @property
    def source_count(self) -> int:
        """Number of sources of the last ``sources``."""
        return self._core.source_count

    def __repr__(self) -> str:
        if self._ranks.core.closed:
            return f"<gdr.Job of kernel {self.kernel.core.name}: its device is closed>"
        sizes = f"{counted(self.target_count, 'target')}, {counted(self.source_count, 'source')}"
        state = "" if self.ready else ", running"
        return f"<gdr.Job of kernel {self.kernel.core.name}: {sizes}{state}>"

    def _repr_html_(self) -> str:
        rows = self.kernel.interface_rows()
        return html_table(repr(self)[1:-1], rows, ("variable", "role", "type"))

    def _results(
        self, results: Results, out: Any, dtype: Any
    ) -> Tuple[ResultArrays, Outputs, Tuple[int, int]]:
        """The arrays to fill, and the numbers of targets and sources that give their lengths."""
        with self._ranks.argument_checks():
            counts = self._core.target_count, self._core.source_count
            wanted = results_to_fill(self.kernel, results, out)
            targets, sources = self._kinds["targets"], self._kinds["sources"]
            plain = targets is PLAIN and sources is PLAIN
            kinds = PLAIN if plain else targets.joined(sources)
            outputs = Outputs.of_kinds(dtype, isinstance(wanted, Mapping), kinds)
            return result_arrays(self.kernel, wanted, *counts, outputs), outputs, counts
