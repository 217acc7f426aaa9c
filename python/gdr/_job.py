"""Jobs: a kernel on a device with its data, variable by variable."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Mapping, Optional, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, as_array, check_finite, doubles, index, number, result
from ._device import Device
from ._kernel import Kernel, Variable
from .errors import UsageError

Results = Union[Iterable[str], Mapping[str, AnyArray], None]


class Job:
    """A kernel on a device; ``device.job(kernel)`` makes it.

    Any numbers of targets and sources. Arrays are read where they lie, with any stride. Sources
    stay on the boards until they change.
    """

    def __init__(self, device: Device, kernel: Kernel) -> None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel: a gdr.Kernel is wanted, not {type(kernel).__name__}")
        self.device = device
        self.kernel = kernel
        self._core = _core.Job(device._core, kernel.core)
        self._types = {v.name: v for v in kernel.variables}
        self._started: Dict[str, AnyArray] = {}

    def set(self, **params: float) -> None:
        """Set ``param``s by name. Those never set are 0."""
        with self.device._together():
            numbers = {name: number(name, value) for name, value in params.items()}
        for name, value in numbers.items():
            self._core.set(name, value)

    def sources(self, n: Optional[int] = None, /, **arrays: Any) -> None:
        """Values of all ``jvar``s, one for each source; a number is taken for all of them.

        The number of sources is the arrays' length; it must be given where there are none. Raises
        TypeError or ValueError naming the array, and UsageError for unknown or missing ones.
        """
        with self.device._together():
            count, ready = self._inputs("source", n, arrays)
        self._core.sources(count, ready)

    def update_sources(self, first: int, n: Optional[int] = None, /, **arrays: Any) -> None:
        """New values for sources from index ``first`` on; what is not named keeps its values."""
        with self.device._together():
            count, ready = self._inputs("source", n, arrays)
            begin = index("first", first)
        self._core.update_sources(begin, count, ready)

    def targets(self, n: Optional[int] = None, /, **arrays: Any) -> None:
        """Values of all ``ivar``s, one for each target; a number is taken for all of them."""
        with self.device._together():
            count, ready = self._inputs("target", n, arrays)
        self._core.targets(count, ready)

    def run(self, results: Results = None) -> Dict[str, AnyArray]:
        """Compute, and return the results by name.

        ``results`` names those that are wanted (None: all ``fvar``s and ``ovar``s), or gives an
        array to fill for each. ``name[]`` stands for all elements of an array or a list.
        """
        with self.device._together():
            arrays = self._outputs(results)
        self._core.run(arrays)
        return arrays

    def start(self, results: Results = None) -> None:
        """The same in the background; ``wait`` gives the results, and raises its errors."""
        with self.device._together():
            arrays = self._outputs(results)
        self._core.start(arrays)
        self._started = arrays

    @property
    def ready(self) -> bool:
        """Whether nothing is under way any more."""
        return self._core.ready()

    def wait(self) -> Dict[str, AnyArray]:
        """Wait for what ``start`` began, and return its results."""
        self._core.wait()
        arrays, self._started = self._started, {}
        return arrays

    @property
    def target_count(self) -> int:
        """Targets that were given last."""
        return self._core.target_count

    @property
    def source_count(self) -> int:
        """Sources that were given last."""
        return self._core.source_count

    def _inputs(
        self, role: str, n: Optional[int], arrays: Mapping[str, Any]
    ) -> Tuple[int, Dict[str, AnyArray]]:
        count = None if n is None else index(f"the number of {role}s", n)
        given = {}
        for name, value in arrays.items():
            variable = self._types.get(name)
            if variable is None or variable.role != role:
                continue  # the library says which names there are
            given[name] = array = as_array(name, value)
            if array.ndim > 0:
                length = array.shape[0]
                if count is not None and length != count:
                    raise ValueError(f"{name}: {count} values are wanted, not {length}")
                count = length
        if count is None:
            raise UsageError(f"the number of {role}s is not known: give an array, or the number")
        ready = {}
        for name in arrays:
            if name in given:
                ready[name] = _as_input(self._types[name], given[name], count)
            else:
                ready[name] = np.zeros(count)
        return count, ready

    def _outputs(self, results: Results) -> Dict[str, AnyArray]:
        names = [v.name for v in self.kernel.variables if v.role in ("result", "output")]
        if results is None:
            return {name: self._output(name, None) for name in names}
        if isinstance(results, str):
            raise TypeError("results: a list of names is wanted, not one string")
        if isinstance(results, Mapping):
            return {name: self._output(name, out) for name, out in results.items()}
        if not isinstance(results, Iterable):
            raise TypeError(f"results: names are wanted, not {type(results).__name__}")
        return {name: self._output(name, None) for name in results}

    def _output(self, name: str, out: Optional[AnyArray]) -> AnyArray:
        """An array for a result; one of the caller's may be strided, in one dimension."""
        if not isinstance(name, str):
            raise TypeError(f"results: names are wanted, not {type(name).__name__}")
        elements = self._elements(name)
        if not elements:
            return np.empty(0)  # refused by name
        variable = elements[0]
        count = self._core.source_count if variable.role == "output" else self._core.target_count
        dtype = _dtype(variable)
        words = variable.host_bytes // 8 if variable.type == "raw" else 1
        shape = (count,) if not name.endswith("[]") else (count, len(elements))
        if words > 1:
            shape = (*shape, words)
        if out is None:
            return np.empty(shape, dtype)
        if isinstance(out, np.ndarray) and out.shape == shape and len(shape) == 1:
            floats = (np.float32, np.float64)
            fits = out.dtype == dtype or (dtype in floats and out.dtype in floats)
            if fits and out.flags.writeable:
                return out
        return result(name, out, shape, dtype)

    def _elements(self, name: str) -> Tuple[Variable, ...]:
        if not name.endswith("[]"):
            variable = self._types.get(name)
            return () if variable is None else (variable,)
        stem = name[:-2] + "_"
        return tuple(
            v
            for v in self.kernel.variables
            if v.name.startswith(stem) and v.name[len(stem) :].isdigit()
        )


def _dtype(variable: Variable) -> Any:
    return {"float64": np.float64, "float32": np.float32, "int64": np.int64}.get(
        variable.type, np.uint64
    )


def _as_input(variable: Variable, array: AnyArray, count: int) -> AnyArray:
    """The array as the library takes it: exact conversions only, and finite numbers."""
    name = variable.name
    want = np.dtype(_dtype(variable))
    words = variable.host_bytes // 8 if variable.type == "raw" else 1
    if array.ndim == 0:
        array = np.full(count, array)
    if array.shape != ((count,) if words == 1 else (count, words)):
        shape = f"({count},)" if words == 1 else f"({count}, {words})"
        raise ValueError(f"{name}: shape {shape} is wanted, not {array.shape}")
    if array.size == 0:
        return np.empty(array.shape, want)  # of an empty list NumPy does not know the type
    if array.dtype.kind in "iu" and want.kind == "u" and (array >= 0).all():
        return np.ascontiguousarray(array, np.uint64)
    if array.dtype.kind == "u" and want.kind == "i" and (array < 2**63).all():
        return array.astype(want)
    if want == np.float64 and array.dtype == np.float32 and array.dtype.isnative:
        check_finite(name, array)
        return array
    if not np.can_cast(array.dtype, want, "safe"):
        raise TypeError(f"{name}: {want} is wanted, and {array.dtype} may not fit it")
    array = doubles(name, array) if want == np.float64 else array.astype(want, copy=False)
    if want.kind == "f":
        check_finite(name, array)
    return array
