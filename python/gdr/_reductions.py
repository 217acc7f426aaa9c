"""Assignments to results of kernels that are reductions with several results or values."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List, NamedTuple, Optional

import numpy as np

from . import functions

#: Reductions of the kernel language by the functions that write them in Python.
_WORDS: Dict[Any, str] = {
    min: "min",
    np.minimum: "min",
    max: "max",
    np.maximum: "max",
    np.logaddexp: "logsumexp",
    functions.logsumexp: "logsumexp",
    functions.smallest: "smallest",
    functions.largest: "largest",
}
_RANKED = ("smallest", "largest")


class Reduction(NamedTuple):
    """``results = function(results, values)``: what is reduced, with what belongs to it."""

    word: str  #: of the kernel language, before ``=``
    results: List[ast.expr]  #: the reduced one, then its index or weighted means
    values: List[ast.expr]  #: one for each result
    ranks: Optional[ast.expr]  #: number of elements of ranked results


def _elements(node: ast.expr) -> List[ast.expr]:
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else [node]


def read_reduction(
    to: ast.expr, value: ast.expr, constant: Callable[[ast.expr], Any]
) -> Optional[Reduction]:
    """The reduction that an assignment to attributes writes, or None.

    ``constant`` gives the value of an expression that does not depend on a pair.
    """
    results = _elements(to)
    if not isinstance(value, ast.Call) or value.keywords:
        return None
    if not all(isinstance(one, ast.Attribute) for one in results):
        return None
    try:
        word = _WORDS.get(constant(value.func))
    except TypeError:  # a value that cannot be a key
        return None
    if word is None or (word in ("min", "max") and len(results) == 1):
        return None
    arguments = 3 if word in _RANKED else 2
    if len(value.args) != arguments or ast.unparse(value.args[0]) != ast.unparse(to):
        return None
    values = _elements(value.args[1])
    most = len(values) if word == "logsumexp" else 2
    if len(values) != len(results) or len(values) > most:
        return None
    return Reduction(word, results, values, value.args[2] if arguments == 3 else None)


def form_of(word: str, result: str) -> str:
    """How Python writes a reduction, for messages."""
    if word in _RANKED:
        return f"{result} = {word}({result}, value, 16)"
    return f"{result} = {word}({result}, value)"
