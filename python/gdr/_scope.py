"""Names around a kernel's function, and what Python computes of them before there is any pair."""

from __future__ import annotations

import ast
import builtins
import collections
import math
from types import FunctionType
from typing import Any, Dict, Set

import numpy as np

from . import functions
from ._source import Source

#: They round as the chip does, also a constant.
_ROUNDING = (functions.short, functions.long)


class NotConstant(Exception):
    """An expression that only a pair of particles gives a value."""


class Scope:
    """What names mean in a function: its own, which the kernel computes, and those around it."""

    def __init__(self, source: Source, function: FunctionType, own: Set[str]) -> None:
        self.source = source
        self.own = own
        #: Names of loops that run or have run, with the value of this pass.
        self.loops: Dict[str, Any] = {}
        self._globals = function.__globals__
        self._imports: Dict[str, Any] = {}
        nonlocals: Dict[str, Any] = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                nonlocals[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                pass
        self._names = collections.ChainMap(
            self.loops, self._imports, nonlocals, self._globals, vars(builtins)
        )

    def imports(self, node: ast.stmt) -> None:
        """An import inside of the function."""
        module = ast.Module([node], [])
        around = {k: self._globals.get(k) for k in ("__name__", "__package__", "__spec__")}
        try:
            exec(compile(module, self.source.file, "exec"), around, self._imports)
        except ImportError as error:
            self.source.fail(node, str(error))

    def value(self, node: ast.expr) -> Any:
        """Python's value of what depends on no pair; raises NotConstant for anything else."""
        for part in ast.walk(node):
            if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
                raise NotConstant
            if isinstance(part, ast.Name) and not self._known(part.id):
                raise NotConstant
            if isinstance(part, ast.Call) and any(self._is(part.func, f) for f in _ROUNDING):
                raise NotConstant
        code = compile(ast.Expression(node), self.source.file, "eval")
        try:
            return eval(code, self._globals, self._names)
        except Exception as error:
            self.source.fail(node, f"Python says {type(error).__name__}: {error}")

    def _known(self, name: str) -> bool:
        return name in self.loops or (name not in self.own and name in self._names)

    def _is(self, node: ast.expr, function: Any) -> bool:
        """Whether a name, or an attribute of one, stands for this function."""
        if isinstance(node, ast.Name):
            return self._known(node.id) and self._names[node.id] is function
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = node.value.id
            return self._known(owner) and getattr(self._names[owner], node.attr, None) is function
        return False

    def defines(self, name: str) -> bool:
        """Whether the function or anything around it defines this name."""
        return name in self.own or name in self._names


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python; anything else as it is."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def number_text(source: Source, node: ast.AST, value: Any) -> str:
    """A constant in the kernel language."""
    number = plain(value)
    if isinstance(number, bool):
        return "(0 == 0)" if number else "(0 != 0)"
    if not isinstance(number, (int, float)):
        source.fail(node, f"this is {type(value).__name__}, and a number is wanted")
    if isinstance(number, int) and abs(number) >= 2**35:
        try:
            number = float(number)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        source.fail(node, f"{number} is no number that a kernel can hold")
    text = repr(number)
    return f"({text})" if text.startswith("-") else text
