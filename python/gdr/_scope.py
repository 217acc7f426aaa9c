"""Names in a kernel's function, and evaluation of expressions that do not depend on a pair."""

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

#: Not evaluated for constants: they round like the chip.
_ROUNDING = (functions.short, functions.long)


class NotConstant(Exception):
    """An expression depends on a pair of particles."""


class Scope:
    """Names in a function: local ones, which the kernel computes, and enclosing ones."""

    def __init__(self, source: Source, function: FunctionType, local_names: Set[str]) -> None:
        self.source = source
        self.local_names = local_names
        #: Loop variables with their value in the current iteration, or after the loop.
        self.loop_values: Dict[str, Any] = {}
        self._globals = function.__globals__
        self._imports: Dict[str, Any] = {}
        nonlocals: Dict[str, Any] = {}
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                nonlocals[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                pass
        self._names = collections.ChainMap(
            self.loop_values, self._imports, nonlocals, self._globals, vars(builtins)
        )

    def imports(self, node: ast.stmt) -> None:
        """Execute an import statement of the function."""
        module = ast.Module([node], [])
        environment = {k: self._globals.get(k) for k in ("__name__", "__package__", "__spec__")}
        try:
            exec(compile(module, self.source.file, "exec"), environment, self._imports)
        except ImportError as error:
            self.source.fail(node, str(error))

    def value(self, node: ast.expr) -> Any:
        """The value of an expression; raises NotConstant if it depends on a pair."""
        for part in ast.walk(node):
            if isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)):
                raise NotConstant
            if isinstance(part, ast.Name) and not self._is_constant(part.id):
                raise NotConstant
            if isinstance(part, ast.Call) and any(self._refers_to(part.func, f) for f in _ROUNDING):
                raise NotConstant
        code = compile(ast.Expression(node), self.source.file, "eval")
        try:
            return eval(code, self._globals, self._names)
        except Exception as error:
            self.source.fail(node, f"Python raised {type(error).__name__}: {error}")

    def _is_constant(self, name: str) -> bool:
        return name in self.loop_values or (name not in self.local_names and name in self._names)

    def _refers_to(self, node: ast.expr, function: Any) -> bool:
        """Whether a name, or an attribute of a name, refers to this function."""
        if isinstance(node, ast.Name):
            return self._is_constant(node.id) and self._names[node.id] is function
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = node.value.id
            module = self._names[owner] if self._is_constant(owner) else None
            return getattr(module, node.attr, None) is function
        return False

    def defines(self, name: str) -> bool:
        """Whether the function or an enclosing scope defines this name."""
        return name in self.local_names or name in self._names


def to_python(value: Any) -> Any:
    """Convert a NumPy scalar to a Python number; return other values unchanged."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    return value


def literal(source: Source, node: ast.AST, value: Any) -> str:
    """A constant as a literal of the kernel language."""
    number = to_python(value)
    if isinstance(number, bool):
        return "(0 == 0)" if number else "(0 != 0)"
    if not isinstance(number, (int, float)):
        source.fail(node, f"expected a number, got {type(value).__name__}")
    if isinstance(number, int) and abs(number) >= 2**35:
        try:
            number = float(number)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        source.fail(node, f"{number} cannot be represented in a kernel")
    text = repr(number)
    return f"({text})" if text.startswith("-") else text
