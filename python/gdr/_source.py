"""A Python function's text, for messages about places in it."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import NoReturn, Union

from .errors import ProgramError

_LINK = "write: def name(i, j, ...) with @gdr.kernel above it"


class Source:
    """A function's text, where it stands, and messages about places in it."""

    def __init__(self, function: FunctionType) -> None:
        self.file = function.__code__.co_filename
        # As it is, even if it says to be another: a decorator's functools.wraps.
        plain = function.__code__
        self.first = plain.co_firstlineno
        if function.__name__ == "<lambda>":
            raise ProgramError(
                f"{self.file}:{self.first}: error: a lambda cannot be read as a kernel; {_LINK}"
            )
        try:
            raw = inspect.getsourcelines(plain)[0]
        except (OSError, TypeError):
            raise ProgramError(
                f"{function.__name__}: its source cannot be read; define it in a file or a "
                "notebook, or give the text to gdr.compile"
            ) from None
        self.lines = [line.rstrip("\n") for line in raw]
        self.tree = self._parse("".join(raw), function)

    def _parse(self, text: str, function: FunctionType) -> ast.FunctionDef:
        where = f"{self.file}:{self.first}: error: "
        try:
            # What is indented stands inside of something: texts over lines stay as they are.
            self._before = 1 if text[:1].isspace() else 0
            tree = ast.parse(("if True:\n" if self._before else "") + text)
        except SyntaxError:
            raise ProgramError(f"{where}no function stands there; was the file changed?") from None
        found: Union[ast.stmt, None] = tree.body[0] if tree.body else None
        if isinstance(found, ast.If) and self._before:
            found = found.body[0]
        if isinstance(found, ast.AsyncFunctionDef):
            raise ProgramError(f"{where}a kernel does not wait for anything; {_LINK}")
        if not isinstance(found, ast.FunctionDef):
            raise ProgramError(f"{where}a plain function is wanted; {_LINK}")
        code = function.__code__
        names = tuple(a.arg for a in (*found.args.posonlyargs, *found.args.args))
        if found.name != code.co_name or names != code.co_varnames[: len(names)]:
            raise ProgramError(
                f"{where}{found.name!r} stands there, and not {code.co_name!r}; the file was "
                "changed after it was imported"
            )
        return found

    def line(self, node: ast.AST) -> int:
        """The line of a place, counted from the function's first: 1."""
        return int(getattr(node, "lineno", 1 + self._before)) - self._before

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        """Raise ProgramError about a place, with its line and a mark below it."""
        line = self.line(node)
        text = self.lines[line - 1]
        # Columns are counted in bytes by the parser.
        data = text.encode()
        column = len(data[: getattr(node, "col_offset", 0)].decode(errors="replace"))
        end = len(data[: getattr(node, "end_col_offset", None) or 0].decode(errors="replace"))
        if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
            end = len(text)
        raise ProgramError(
            f"{self.file}:{self.first + line - 1}:{column + 1}: error: {message}\n"
            + self.shown(line, column, end)
        )

    def shown(self, line: int, column: int, end: int) -> str:
        """A line of the function with a mark below some of it."""
        text = self.lines[line - 1]
        number = str(self.first + line - 1)
        # Tabs stay, so that the mark stands below what it marks.
        gap = "".join("\t" if c == "\t" else " " for c in text[:column])
        return (
            f"  {number} | {text}\n  {' ' * len(number)} | {gap}{'^' * max(1, end - column)}"
        )
