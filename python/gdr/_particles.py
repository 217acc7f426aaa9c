"""Arguments of sums over particles: positions, other arrays by name, and params."""

from __future__ import annotations

from typing import Any, Dict, Mapping, NamedTuple, Optional, Protocol, Union

import numpy as np

from ._arrays import AnyArray, Floats, check_finite, floats
from ._interface import Results, input_arrays, param_numbers, result_arrays, results_to_fill
from ._kernel import Kernel
from ._outputs import Outputs
from .errors import UsageError
from .results import ResultArrays


def positions(name: str, value: Any) -> Floats:
    """Finite coordinates, (n, 3)."""
    x = np.ascontiguousarray(floats(name, value, ("n", 3)))
    check_finite(name, x)
    return x


def renamed(arrays: Mapping[str, Any], names: Mapping[str, str]) -> Dict[str, Any]:
    """Arrays by the names of the program's variables."""
    return {names.get(name, name): value for name, value in arrays.items()}


def selected(results: Results, names: Mapping[str, str]) -> Results:
    """Results by the names of the program's variables."""
    if results is None or isinstance(results, str):
        return results
    if isinstance(results, Mapping):
        return renamed(results, names)
    return [names.get(name, name) for name in results]


def target_arrays(targets: Union[None, Any, Mapping[str, Any]]) -> Dict[str, Any]:
    """Arrays by name, with positions as "pos"."""
    if targets is None:
        return {}
    return dict(targets) if isinstance(targets, Mapping) else {"pos": targets}


class ParticleArrays(NamedTuple):
    """The checked arrays of a call of a sum over particles, by the names of the program."""

    pos: Floats
    target_pos: Optional[Floats]
    sources: Dict[str, AnyArray]
    targets: Dict[str, AnyArray]
    results: ResultArrays
    outputs: Outputs

    @classmethod
    def checked(
        cls,
        kernel: Kernel,
        pos: Any,
        targets: Union[None, Any, Mapping[str, Any]],
        sources: Optional[Mapping[str, Any]],
        results: Results,
        out: Any,
        dtype: Any,
    ) -> ParticleArrays:
        """The arrays of the arguments of ``PairSum`` and ``TreeSum``."""
        x = positions("pos", pos)
        of_targets = target_arrays(targets)
        at = of_targets.pop("pos", None)
        y = None if at is None else positions("targets", at)
        m = len(x) if y is None else len(y)
        names = kernel._caller_names
        of_sources = {} if sources is None else dict(kernel._columns("source", sources))
        _, inputs = input_arrays(kernel, "source", len(x), renamed(of_sources, names.sources))
        _, of_all = input_arrays(kernel, "target", m, renamed(of_targets, names.targets))
        out = renamed(out, names.results) if isinstance(out, Mapping) else out
        wanted = results_to_fill(kernel, selected(results, names.results), out)
        read = {"pos": pos, "targets": at, **of_targets, **of_sources}
        outputs = Outputs.of(dtype, isinstance(wanted, Mapping), read)
        filled = result_arrays(kernel, wanted, m, 0, outputs)
        outputs.check_no_overlap(
            inputs, of_all, {"pos": x} if y is None else {"pos": x, "targets": y}
        )
        return cls(x, y, inputs, of_all, filled, outputs)

    def named_results(self, kernel: Kernel) -> ResultArrays:
        """The results by the caller's names, after a warning if some are not finite."""
        callers = {variable: name for name, variable in kernel._caller_names.results.items()}
        named = ResultArrays((callers.get(name, name), a) for name, a in self.results.items())
        kernel._warn_not_finite(self.results, named, self.target_pos is None)
        finished = self.outputs.finished(self.results)
        return ResultArrays((callers.get(name, name), a) for name, a in finished.items())


class _HasParams(Protocol):
    def set(self, name: str, value: float) -> None: ...


class SumParams:
    """The params of a ``PairSum`` or ``TreeSum``, which last from call to call."""

    def __init__(self, kernel: Kernel, core: _HasParams) -> None:
        self._kernel = kernel
        self._core = core
        self._missing = set(kernel.names("param")) - kernel.softening

    def numbers(self, params: Mapping[str, Any]) -> Dict[str, float]:
        """Checked numbers by the names of the program."""
        given = renamed(params, self._kernel._caller_names.params)
        return dict(param_numbers(self._kernel, given))

    def numbers_of_call(self, params: Mapping[str, Any]) -> Dict[str, float]:
        """The same for a call. Raises UsageError if a param has no number yet."""
        numbers = self.numbers(params)
        missing = self._missing - set(numbers)
        if missing:
            callers = {own: name for name, own in self._kernel._caller_names.params.items()}
            names = sorted(callers.get(name, name) for name in missing)
            raise UsageError(f"missing params: {', '.join(names)}")
        return numbers

    def set(self, numbers: Mapping[str, float]) -> None:
        """Use these numbers from now on."""
        for name, value in numbers.items():
            self._core.set(name, value)
            self._missing.discard(name)
