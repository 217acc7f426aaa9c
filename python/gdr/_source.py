"""A Python function's text, for messages about places in it."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from typing import Any, Callable, Mapping, NoReturn

from .errors import ProgramError


class Source:
    """A function's text, where it stands, and messages about places in it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            raise ProgramError(
                f"{function.__name__}: its source cannot be read; define it in a file or a "
                "notebook, or give the text to gdr.compile"
            ) from None
        raw = "".join(lines)
        self.text = textwrap.dedent(raw)
        self.indent = len(lines[0]) - len(lines[0].lstrip())
        self.lines = self.text.splitlines()
        self.first = first
        self.file = function.__code__.co_filename
        tree = ast.parse(self.text).body[0]
        if not isinstance(tree, ast.FunctionDef):
            raise ProgramError(f"{self.file}:{first}: a plain function (def) is wanted")
        self.tree = tree

    def fail(self, node: ast.AST, message: str) -> NoReturn:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None) or column + 1
        if getattr(node, "end_lineno", line) != line:
            end = len(self.lines[line - 1])
        number = str(self.first + line - 1)
        raise ProgramError(
            f"{self.file}:{number}:{column + self.indent + 1}: error: {message}\n"
            f"  {number} | {self.lines[line - 1]}\n"
            f"  {' ' * len(number)} | {' ' * column}{'^' * max(1, end - column)}"
        )

    def explain(self, message: str, name: str, lines: Mapping[int, int]) -> str:
        """The compiler's message, with the Python lines that its lines were made of."""

        def place(match: "re.Match[str]") -> str:
            line = lines.get(int(match.group(1)))
            if line is None:
                return match.group(0)
            return f"{self.file}:{self.first + line - 1} (read as {match.group(0)})"

        return re.sub(rf"(?<!\S){re.escape(name)}:(\d+):\d+", place, message)
