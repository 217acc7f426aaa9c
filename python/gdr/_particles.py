"""Arguments of sums over particles: positions, and other arrays by name."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Union

import numpy as np

from ._arrays import Floats, check_finite, floats
from ._interface import Results


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
