"""The source text of a Python function, its names, and the values of constant expressions."""

from __future__ import annotations

import ast
import builtins
import collections
import inspect
import math
from types import FunctionType
from typing import Any, Dict, NoReturn, Set, Union

import numpy as np

from . import functions
from ._units import unit_of
from .errors import ProgramError

_EXAMPLE = "write: def name(i, j, ...) with @gdr.kernel above it"
#: Not evaluated for constants: they round like the chip.
_ROUNDING = (functions.short, functions.long)


class Source:
    """The source of one function: file, first line, lines and syntax tree."""

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__  # functools.wraps does not replace it
        self.file, self.first = code.co_filename, code.co_firstlineno
        if function.__name__ == "<lambda>":
            raise ProgramError(
                f"{self.file}:{self.first}: error: a lambda cannot be translated; {_EXAMPLE}"
            )
        try:
            raw = inspect.getsourcelines(code)[0]
        except (OSError, TypeError):
            raise ProgramError(
                f"{function.__name__}: its source cannot be read; define it in a file or a "
                "notebook, or pass the kernel language to gdr.compile"
            ) from None
        self.lines = [line.rstrip("\n") for line in raw]
        self.tree = self._parse("".join(raw), function)

    def _parse(self, text: str, function: FunctionType) -> ast.FunctionDef:
        where = f"{self.file}:{self.first}: error: "
        try:
            # Indented text is parsed in a block: dedenting would change multi-line strings.
            self._added_lines = 1 if text[:1].isspace() else 0
            tree = ast.parse(("if True:\n" if self._added_lines else "") + text)
        except SyntaxError:
            raise ProgramError(
                f"{where}found no function; the file was changed after it was imported"
            ) from None
        found: Union[ast.stmt, None] = tree.body[0] if tree.body else None
        if isinstance(found, ast.If) and self._added_lines:
            found = found.body[0]
        if isinstance(found, ast.AsyncFunctionDef):
            raise ProgramError(f"{where}an async function cannot be a kernel; {_EXAMPLE}")
        if not isinstance(found, ast.FunctionDef):
            raise ProgramError(f"{where}expected a plain function; {_EXAMPLE}")
        code = function.__code__
        names = tuple(a.arg for a in (*found.args.posonlyargs, *found.args.args))
        if found.name != code.co_name or names != code.co_varnames[: len(names)]:
            raise ProgramError(
                f"{where}found {found.name!r} instead of {code.co_name!r}; the file was changed "
                "after it was imported"
            )
        return found

    def line(self, node: ast.AST) -> int:
        """The line of a node, relative to the function; the first line is 1."""
        return int(getattr(node, "lineno", 1 + self._added_lines)) - self._added_lines

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Raise ProgramError at a node, with its source line and a caret range."""
        raise ProgramError(self.message(node, f"error: {message}"))

    def message(self, node: ast.AST, message: str) -> str:
        """A message at a node, with its source line and a caret range."""
        line = self.line(node)
        text = self.lines[line - 1]
        # The parser counts columns in bytes.
        data = text.encode()
        column = len(data[: getattr(node, "col_offset", 0)].decode(errors="replace"))
        end = len(data[: getattr(node, "end_col_offset", None) or 0].decode(errors="replace"))
        if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
            end = len(text)
        where = f"{self.file}:{self.first + line - 1}:{column + 1}"
        return f"{where}: {message}\n" + self.excerpt(line, column, end)

    def excerpt(self, line: int, column: int, end: int) -> str:
        """A line of the function with a caret range below it."""
        text = self.lines[line - 1]
        number = str(self.first + line - 1)
        # Keep tabs, so that the carets align with the text.
        gap = "".join("\t" if c == "\t" else " " for c in text[:column])
        return (
            f"  {number} | {text}\n  {' ' * len(number)} | {gap}{'^' * max(1, end - column)}"
        )


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
    unit = unit_of(value)
    if unit is not None:
        source.fail(node, f"a quantity in {unit}: a kernel has no units; use its number in one")
    number = to_python(value)
    if isinstance(number, bool):
        return "(0 == 0)" if number else "(0 != 0)"
    if isinstance(number, (tuple, list, np.ndarray)):
        return _array_literal(source, node, number)
    if isinstance(number, complex):
        parts = (literal(source, node, x) for x in (number.real, number.imag))
        return f"complex({', '.join(parts)})"
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


def _array_literal(source: Source, node: ast.AST, value: Any) -> str:
    """A constant vector of 2 or 3 numbers, or a symmetric tensor of 3 by 3 numbers."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape in ((2,), (3,)):
        numbers = array.tolist()
    elif array.shape == (3, 3) and (array == array.T).all():
        numbers = array[np.triu_indices(3)].tolist()
    else:
        source.fail(node, "an array in a kernel has 2 or 3 numbers, or is symmetric with 3 by 3")
    name = {2: "vec2", 3: "vec3", 6: "sym3"}[len(numbers)]
    return f"{name}({', '.join(literal(source, node, x) for x in numbers)})"
