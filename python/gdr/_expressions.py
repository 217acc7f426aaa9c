"""Translation of Python expressions to the kernel language."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any, Dict, List, NoReturn, Optional, Protocol, Set

from ._intrinsics import LANGUAGE_FUNCTIONS, Intrinsic, intrinsic_of, supported
from ._scope import NotConstant, Scope, literal, to_python
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
_NODE_NAMES = {
    ast.JoinedStr: "f-string",
    ast.Lambda: "lambda; define the function with def outside of the kernel",
    ast.NamedExpr: ":=; use a separate assignment",
    ast.Subscript: "index into a value that is not constant",
    ast.Yield: "yield",
}


class FunctionTable(Protocol):
    """The functions that a kernel calls."""

    def translated(self, function: FunctionType, source: Source, node: ast.AST) -> str:
        """The name of a function in the kernel language, translated on first use."""


class Expressions:
    """Translates the expressions of one function."""

    def __init__(
        self, source: Source, function: FunctionType, local_names: Set[str], table: FunctionTable
    ) -> None:
        self.source = source
        self.scope = Scope(source, function, local_names)
        self.functions = table
        #: Names in the kernel language of the function's variables.
        self.symbols: Dict[str, str] = {}

    def attribute(self, node: ast.Attribute) -> Optional[str]:
        """The variable of a particle's attribute; None for attributes of other objects."""
        return None

    def is_particle(self, name: str) -> bool:
        """Whether a name is the target or the source."""
        return False

    def constant(self, node: ast.expr) -> Any:
        """The value of an expression, or NotConstant if it depends on a pair."""
        try:
            return to_python(self.scope.value(node))
        except NotConstant:
            return NotConstant

    def expression(self, node: ast.expr) -> str:
        """Translate an expression whose value is a number or a condition."""
        value = self.constant(node)
        if value is not NotConstant:
            return literal(self.source, node, value)
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
        what = _NODE_NAMES.get(type(node), type(node).__name__.lower())
        self.source.fail(node, f"this expression is not supported in a kernel ({what})")

    def _name(self, node: ast.Name) -> str:
        if node.id in self.symbols:
            return self.symbols[node.id]
        if self.is_particle(node.id):
            self.source.fail(
                node, f"{node.id!r} is a particle; use one of its attributes"
            )
        self.source.fail(node, f"{node.id!r} is not defined")

    def _fail_attribute(self, node: ast.Attribute) -> NoReturn:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and not self.scope.defines(part.id):
                self._name(part)
        text = ast.unparse(node)
        self.source.fail(node, f"{text}: only particles have attributes, without nesting")

    def _binary(self, node: ast.BinOp) -> str:
        left = self.expression(node.left)
        if isinstance(node.op, ast.Pow):
            return f"pow({left}, {self._power(node.right)})"
        if type(node.op) not in _BINARY:
            self.source.fail(node, "a kernel supports the operators + - * / and **")
        return f"({left} {_BINARY[type(node.op)]} {self.expression(node.right)})"

    def _power(self, node: ast.expr) -> str:
        value = self.constant(node)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.source.fail(node, "the exponent must be a constant number")
        if not -64 <= value <= 64 or 2 * value != int(2 * value):
            self.source.fail(node, "the exponent must be a multiple of 1/2 from -64 to 64")
        return repr(value)

    def _compare(self, node: ast.Compare) -> str:
        parts = []
        left = node.left
        for op, right in zip(node.ops, node.comparators):
            if type(op) not in _COMPARE:
                self.source.fail(node, "a kernel supports the comparisons == != < <= > >=")
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
            return self._call_function(node, function)
        if any(isinstance(a, ast.Starred) for a in node.args) or node.keywords:
            self.source.fail(node, "intrinsic functions take positional arguments only")
        return self.apply(node, function, node.args)

    def apply(self, node: ast.AST, function: Intrinsic, arguments: List[ast.expr]) -> str:
        """Translate a call of an intrinsic function."""
        if function.name in ("min", "max") and len(arguments) > 2:
            rest = self.apply(node, function, arguments[1:])
            return f"{function.name}({self.expression(arguments[0])}, {rest})"
        count = function.arguments
        if len(arguments) != count:
            plural = "s" if count > 1 else ""
            self.source.fail(node, f"{function.name} takes {count} argument{plural}")
        if function.name == "pow":
            return f"pow({self.expression(arguments[0])}, {self._power(arguments[1])})"
        return function.text.format(*(self.expression(a) for a in arguments))

    def intrinsic(self, node: ast.AST) -> Optional[Intrinsic]:
        """The intrinsic function that a Python name refers to, or None."""
        if not isinstance(node, (ast.Name, ast.Attribute)):
            return None
        if isinstance(node, ast.Name) and not self.scope.defines(node.id):
            return LANGUAGE_FUNCTIONS.get(node.id)
        try:
            return intrinsic_of(self.scope.value(node))
        except NotConstant:
            return None

    def _function(self, node: ast.expr) -> Any:
        """The callee: an Intrinsic, or a Python function to translate."""
        found = self.intrinsic(node)
        if found is not None:
            return found
        value = self.constant(node)
        if isinstance(value, FunctionType):
            return value
        if isinstance(node, ast.Name) and node.id in self.scope.local_names:
            self.source.fail(node, f"{node.id!r} is a variable, not a function")
        if isinstance(node, ast.Name) and not self.scope.defines(node.id):
            self.source.fail(
                node, f"{node.id!r} is not defined; a kernel supports the functions {supported()}"
            )
        self.source.fail(
            node, f"a kernel supports the functions {supported()}, and functions defined with def"
        )

    def _call_function(self, node: ast.Call, function: FunctionType) -> str:
        keywords: Dict[str, ast.expr] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.source.fail(keyword.value, "** arguments are not supported")
            keywords[keyword.arg] = keyword.value
        name = self.functions.translated(function, self.source, node)
        try:
            bound = inspect.signature(function).bind(*node.args, **keywords)
        except TypeError as error:
            self.source.fail(node, f"{function.__name__}: {error}")
        bound.apply_defaults()
        arguments = []
        for value in bound.arguments.values():
            given = isinstance(value, ast.expr)
            text = self.expression(value) if given else literal(self.source, node, to_python(value))
            arguments.append(text)
        return f"{name}({', '.join(arguments)})"
