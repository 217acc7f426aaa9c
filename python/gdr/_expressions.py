"""Expressions of Python in the kernel language."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any, Dict, List, NoReturn, Optional, Protocol, Set

from ._meanings import WORDS, Meaning, known, meaning_of
from ._scope import NotConstant, Scope, number_text, plain
from ._source import Source

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


_NAMES = {
    ast.JoinedStr: "text",
    ast.Lambda: "a lambda; write def outside of the kernel",
    ast.NamedExpr: ":=; assign before",
    ast.Subscript: "an index into what is no constant",
    ast.Yield: "yield",
}


class Helpers(Protocol):
    """Where functions that a kernel calls are written."""

    def helper(self, function: FunctionType, source: Source, node: ast.AST) -> str:
        """The name of a function in the kernel language."""


class Expressions:
    """Writes the expressions of one function."""

    def __init__(
        self, source: Source, function: FunctionType, own: Set[str], helpers: Helpers
    ) -> None:
        self.source = source
        self.scope = Scope(source, function, own)
        self.helpers = helpers
        #: The function's names for numbers, and what the kernel language calls them.
        self.spelling: Dict[str, str] = {}

    def attribute(self, node: ast.Attribute) -> Optional[str]:
        """An attribute of a particle; None if it is one of something else."""
        return None

    def particle(self, name: str) -> bool:
        """Whether a name stands for a particle."""
        return False

    def constant(self, node: ast.expr) -> Any:
        """Python's value of an expression without pairs, or NotConstant itself."""
        try:
            return plain(self.scope.value(node))
        except NotConstant:
            return NotConstant

    def expression(self, node: ast.expr) -> str:
        """Any expression that gives a number or a condition."""
        value = self.constant(node)
        if value is not NotConstant:
            return number_text(self.source, node, value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node) or self._fail_attribute(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Invert):
            inner = self.expression(node.operand)
            if isinstance(node.op, ast.Not):
                return f"!({inner})"
            return f"(-{inner})" if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BoolOp):
            word = " && " if isinstance(node.op, ast.And) else " || "
            return "(" + word.join(self.expression(v) for v in node.values) + ")"
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.IfExp):
            return self._choice(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        what = _NAMES.get(type(node), type(node).__name__.lower())
        self.source.fail(node, f"a kernel has no counterpart of this expression ({what})")

    def _name(self, node: ast.Name) -> str:
        if node.id in self.spelling:
            return self.spelling[node.id]
        if self.particle(node.id):
            self.source.fail(
                node, f"{node.id!r} stands for a particle; take one of its attributes"
            )
        self.source.fail(node, f"{node.id!r} is not known here")

    def _fail_attribute(self, node: ast.Attribute) -> NoReturn:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and not self.scope.defines(part.id):
                self._name(part)
        self.source.fail(node, f"{ast.unparse(node)}: only particles have attributes, of one name")

    def _binary(self, node: ast.BinOp) -> str:
        left = self.expression(node.left)
        if isinstance(node.op, ast.Pow):
            return f"pow({left}, {self._power(node.right)})"
        if type(node.op) not in _BINARY:
            self.source.fail(node, "of operators a kernel has + - * / and **")
        return f"({left} {_BINARY[type(node.op)]} {self.expression(node.right)})"

    def _power(self, node: ast.expr) -> str:
        value = self.constant(node)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.source.fail(node, "a power is a constant number")
        if not -64 <= value <= 64 or 2 * value != int(2 * value):
            self.source.fail(node, "a power is an integer or half of one, from -64 to 64")
        return repr(value)

    def _compare(self, node: ast.Compare) -> str:
        parts = []
        left = node.left
        for op, right in zip(node.ops, node.comparators):
            if type(op) not in _COMPARE:
                self.source.fail(node, "of comparisons a kernel has == != < <= > >=")
            parts.append(f"({self.expression(left)} {_COMPARE[type(op)]} {self.expression(right)})")
            left = right
        return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"

    def _choice(self, node: ast.IfExp) -> str:
        condition = self.constant(node.test)
        if condition is not NotConstant:
            return self.expression(node.body if condition else node.orelse)
        parts = (self.expression(n) for n in (node.test, node.body, node.orelse))
        return "({} ? {} : {})".format(*parts)

    # -- calls -------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> str:
        function = self._function(node.func)
        if isinstance(function, FunctionType):
            return self._helper(node, function)
        if any(isinstance(a, ast.Starred) for a in node.args) or node.keywords:
            self.source.fail(node, "functions of a kernel take plain arguments")
        return self.apply(node, function, node.args)

    def apply(self, node: ast.AST, function: Meaning, arguments: List[ast.expr]) -> str:
        """A function of the kernel language of its arguments."""
        if function.name in ("min", "max") and len(arguments) > 2:
            rest = self.apply(node, function, arguments[1:])
            return f"{function.name}({self.expression(arguments[0])}, {rest})"
        wanted = function.arguments
        if len(arguments) != wanted:
            plural = "s" if wanted > 1 else ""
            self.source.fail(node, f"{function.name} takes {wanted} argument{plural}")
        if function.name == "pow":
            return f"pow({self.expression(arguments[0])}, {self._power(arguments[1])})"
        return function.text.format(*(self.expression(a) for a in arguments))

    def meaning(self, node: ast.AST) -> Optional[Meaning]:
        """The function of the kernel language that a name of Python stands for."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        if isinstance(node, ast.Name) and not self.scope.defines(node.id):
            return WORDS.get(node.id)
        try:
            return meaning_of(self.scope.value(node))
        except NotConstant:
            return None

    def _function(self, node: ast.expr) -> Any:
        """What is called: a Meaning, or a function of Python to write out."""
        found = self.meaning(node)
        if found is not None:
            return found
        value = self.constant(node)
        if isinstance(value, FunctionType):
            return value
        if isinstance(node, ast.Name) and node.id in self.scope.own:
            self.source.fail(node, f"{node.id!r} is no function here")
        if isinstance(node, ast.Name) and not self.scope.defines(node.id):
            self.source.fail(
                node, f"{node.id!r} is not known here; of functions a kernel has {known()}"
            )
        self.source.fail(node, f"of functions a kernel has {known()}, and those written with def")

    def _helper(self, node: ast.Call, function: FunctionType) -> str:
        keywords: Dict[str, ast.expr] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.source.fail(keyword.value, "arguments are given one by one")
            keywords[keyword.arg] = keyword.value
        name = self.helpers.helper(function, self.source, node)
        try:
            bound = inspect.signature(function).bind(*node.args, **keywords)
        except TypeError as error:
            self.source.fail(node, f"{function.__name__}: {error}")
        bound.apply_defaults()
        arguments = []
        for value in bound.arguments.values():
            given = isinstance(value, ast.expr)
            text = self.expression(value) if given else number_text(self.source, node, plain(value))
            arguments.append(text)
        return f"{name}({', '.join(arguments)})"
