"""The source text and syntax tree of a Python function, and messages with source lines."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import NoReturn, Union

from .errors import ProgramError

_EXAMPLE = "write: def name(i, j, ...) with @gdr.kernel above it"


class Source:
    """The source of one function: file, first line, lines and syntax tree."""

    def __init__(self, function: FunctionType) -> None:
        self.file = function.__code__.co_filename
        # The code object, which functools.wraps does not replace.
        code = function.__code__
        self.first = code.co_firstlineno
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
        line = self.line(node)
        text = self.lines[line - 1]
        # The parser counts columns in bytes.
        data = text.encode()
        column = len(data[: getattr(node, "col_offset", 0)].decode(errors="replace"))
        end = len(data[: getattr(node, "end_col_offset", None) or 0].decode(errors="replace"))
        if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
            end = len(text)
        raise ProgramError(
            f"{self.file}:{self.first + line - 1}:{column + 1}: error: {message}\n"
            + self.excerpt(line, column, end)
        )

    def excerpt(self, line: int, column: int, end: int) -> str:
        """A line of the function with a caret range below it."""
        text = self.lines[line - 1]
        number = str(self.first + line - 1)
        # Keep tabs, so that the carets align with the text.
        gap = "".join("\t" if c == "\t" else " " for c in text[:column])
        return (
            f"  {number} | {text}\n  {' ' * len(number)} | {gap}{'^' * max(1, end - column)}"
        )
