"""Translation of Python expressions to the kernel language."""

from __future__ import annotations

import ast
import inspect
import math
from types import FunctionType
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, NoReturn, Optional, Set, Tuple

import numpy as np

from . import _core, functions
from ._names import suggestion
from ._shapes import COMPONENTS, PLANE
from ._source import NotConstant, Scope, Source, literal, to_python

if TYPE_CHECKING:
    from ._codegen import TranslationUnit


class Intrinsic(NamedTuple):
    """A function of Python, NumPy or ``gdr.functions`` that kernels support; ``text`` is its
    translation with placeholders for the arguments. ``ShapeReader`` knows the shapes of those that
    take or give other values than numbers."""

    name: str
    arguments: int
    text: str
    functions: Tuple[Any, ...]


#: ``Expressions.apply`` handles ``min`` and ``max`` of more than two, and the power of ``pow``.
INTRINSICS = (
    Intrinsic("sqrt", 1, "sqrt({0})", (math.sqrt, np.sqrt)),
    Intrinsic("exp", 1, "exp({0})", (math.exp, np.exp)),
    Intrinsic("abs", 1, "abs({0})", (abs, math.fabs, np.abs, np.fabs)),
    Intrinsic("rsqrt", 1, "rsqrt({0})", (functions.rsqrt,)),
    Intrinsic("recip", 1, "recip({0})", (functions.recip, np.reciprocal)),
    Intrinsic("powm32", 1, "powm32({0})", (functions.powm32,)),
    Intrinsic("short", 1, "short({0})", (functions.short,)),
    Intrinsic("long", 1, "long({0})", (functions.long,)),
    Intrinsic("int", 1, "int({0})", (int,)),
    Intrinsic("min", 2, "min({0}, {1})", (min, np.minimum)),
    Intrinsic("max", 2, "max({0}, {1})", (max, np.maximum)),
    Intrinsic("pow", 2, "pow({0}, {1})", (pow, math.pow, np.power, np.float_power)),
    Intrinsic("square", 1, "pow({0}, 2)", (np.square,)),
    Intrinsic("hypot", 2, "sqrt(pow({0}, 2) + pow({1}, 2))", (math.hypot, np.hypot)),
    Intrinsic("where", 3, "({0} ? {1} : {2})", (np.where,)),
    Intrinsic("dot", 2, "dot({0}, {1})", (np.dot, np.inner, np.vdot)),
    Intrinsic("cross", 2, "cross({0}, {1})", (np.cross,)),
    Intrinsic("norm", 1, "norm({0})", (np.linalg.norm,)),
    Intrinsic("norm2", 1, "norm2({0})", (functions.norm2,)),
    Intrinsic("outer", 2, "outer({0}, {1})", (np.outer,)),
    Intrinsic("trace", 1, "trace({0})", (np.trace,)),
    Intrinsic("complex", 2, "complex({0}, {1})", (complex,)),
    Intrinsic("real", 1, "real({0})", (np.real,)),
    Intrinsic("imag", 1, "imag({0})", (np.imag,)),
    Intrinsic("conj", 1, "conj({0})", (np.conj, np.conjugate)),
    Intrinsic("arg", 1, "arg({0})", (np.angle,)),
    Intrinsic("vector", 1, "vec3", (np.array, np.asarray)),
    Intrinsic("minimum_image", 2, "minimum_image({0})", (functions.minimum_image,)),
    Intrinsic("grad", 2, "grad({0}, {1})", (functions.grad,)),
    Intrinsic("round", 1, "round({0})", (round, np.rint, np.round)),
    Intrinsic("atan2", 2, "atan2({0}, {1})", (math.atan2, np.arctan2)),
    Intrinsic("asin", 1, "asin({0})", (math.asin, np.arcsin)),
    Intrinsic("acos", 1, "acos({0})", (math.acos, np.arccos)),
    Intrinsic("atan", 1, "atan({0})", (math.atan, np.arctan)),
)


def _other_functions() -> Dict[str, Intrinsic]:
    """The functions of the language that Python or NumPy have under the same name."""
    named = {}
    modules = (math, np, functions)
    for name, count in _core.Kernel.language_functions():
        found = tuple(vars(m)[name] for m in modules if callable(vars(m).get(name)))
        if all(name != i.name for i in INTRINSICS):
            places = ", ".join(f"{{{k}}}" for k in range(count))
            named[name] = Intrinsic(name, count, f"{name}({places})", found)
    return named


#: Functions of the kernel language, known by name where the name has no other definition.
LANGUAGE_FUNCTIONS = {
    **{i.name: i for i in INTRINSICS if i.text.startswith(i.name)},
    **_other_functions(),
}
_KNOWN = (*INTRINSICS, *(i for i in LANGUAGE_FUNCTIONS.values() if i not in INTRINSICS))
_SUPPORTED = ", ".join(sorted(i.name for i in _KNOWN if i.name != "vector"))


def find_intrinsic(node: ast.AST, scope: Scope) -> Optional[Intrinsic]:
    """The intrinsic function that a Python name refers to, or None."""
    if not isinstance(node, (ast.Name, ast.Attribute)):
        return None
    if isinstance(node, ast.Name) and not scope.defines(node.id):
        return LANGUAGE_FUNCTIONS.get(node.id)
    try:
        value = scope.value(node)
    except NotConstant:
        return None
    found = next((i for i in _KNOWN if any(f is value for f in i.functions)), None)
    # erf of scipy.special, for example.
    ufunc = value.__name__ if found is None and isinstance(value, np.ufunc) else ""
    return found or LANGUAGE_FUNCTIONS.get(ufunc)


_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_UNARY = {ast.UAdd: "{}", ast.USub: "(-{})", ast.Not: "!({})"}
_COMPARE = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_NODE_NAMES: Dict[type, str] = {
    ast.JoinedStr: "f-string",
    ast.Lambda: "lambda; define the function with def outside of the kernel",
    ast.NamedExpr: ":=; use a separate assignment",
    ast.Yield: "yield",
}


def subscripts(node: ast.Subscript) -> Tuple[ast.expr, List[ast.expr]]:
    """The array, and its indices, of ``a[i]``, ``a[i][j]`` or ``a[i, j]``."""
    base: ast.expr = node
    indices: List[ast.expr] = []
    while isinstance(base, ast.Subscript):
        parts = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
        indices = [*parts, *indices]
        base = base.value
    return base, indices


class Expressions(ast.NodeVisitor):
    """Translates the expressions of one function. ``visit`` of an expression that depends on a pair
    returns its text."""

    def __init__(
        self, source: Source, function: FunctionType, local_names: Set[str], unit: TranslationUnit
    ) -> None:
        self.source = source
        self.function = function
        self.scope = Scope(source, function, local_names)
        self.unit = unit
        #: Names in the kernel language of the function's variables.
        self.symbols: Dict[str, str] = {}

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
            return self.unit.marks.marked(node, literal(self.source, node, value))
        return self.unit.marks.marked(node, str(self.visit(node)))

    def component(self, node: ast.Subscript) -> str:
        """The name of the component that an index of a vector selects."""
        index = self.constant(node.slice)
        if index is NotConstant:
            self.source.fail(node, "the index of a vector must be a constant")
        if isinstance(index, bool) or not isinstance(index, int) or not -3 <= index < 3:
            self.source.fail(node, "a vector has three elements: the index must be 0, 1 or 2")
        if index < 0 and self.unit.shapes.of_indexed(self.function, node) == PLANE:
            self.source.fail(node, "count the elements of a vector of two components from 0")
        return COMPONENTS[index]

    def visit_Subscript(self, node: ast.Subscript) -> str:
        base, indices = subscripts(node)
        value = self.constant(base)
        if value is not NotConstant:  # and the index is not
            return self._table_element(node, base, value, indices)
        return f"{self.expression(node.value)}.{self.component(node)}"

    def _table_element(
        self, node: ast.Subscript, base: ast.expr, value: Any, indices: List[ast.expr]
    ) -> str:
        """An element of a constant array at an index that depends on the pair."""
        try:
            table = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            table = np.empty(())
        if table.ndim not in (1, 2) or table.size == 0:
            self.source.fail(base, "a table is a constant array of numbers with one or two indices")
        if not np.isfinite(table).all():
            self.source.fail(base, "the elements of a table must be finite")
        if len(indices) != table.ndim:
            plural = "indices" if table.ndim > 1 else "index"
            self.source.fail(node, f"this table takes {table.ndim} {plural}")
        if any(isinstance(index, ast.Slice) for index in indices):
            self.source.fail(node, "the index of a table is an integer, without a slice")
        name = base.id if isinstance(base, ast.Name) else "table"
        places = "".join(f"[{self.expression(index)}]" for index in indices)
        return self.unit.table(name, table) + places

    def generic_visit(self, node: ast.AST) -> NoReturn:
        what = _NODE_NAMES.get(type(node), type(node).__name__.lower())
        self.source.fail(node, f"this expression is not supported in a kernel ({what})")

    def visit_Name(self, node: ast.Name) -> str:
        if node.id not in self.symbols:
            hint = suggestion(node.id, self.symbols)
            self.source.fail(node, f"{node.id!r} is not defined{hint}")
        return self.symbols[node.id]

    def visit_Attribute(self, node: ast.Attribute) -> str:
        if node.attr in ("real", "imag") and not isinstance(node.value, ast.Name):
            return f"{node.attr}({self.expression(node.value)})"
        if node.attr in ("real", "imag") and getattr(node.value, "id", "") in self.symbols:
            return f"{node.attr}({self.expression(node.value)})"
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and not self.scope.defines(part.id):
                self.visit_Name(part)
        text = ast.unparse(node)
        self.source.fail(node, f"{text}: only particles have attributes, without nesting")

    def visit_BinOp(self, node: ast.BinOp) -> str:
        left = self.expression(node.left)
        if isinstance(node.op, ast.Pow):
            return f"pow({left}, {self._power(node.right)})"
        if isinstance(node.op, ast.MatMult):
            return f"dot({left}, {self.expression(node.right)})"
        if type(node.op) not in _BINARY:
            self.source.fail(node, "a kernel supports the operators + - * /, ** and @")
        return f"({left} {_BINARY[type(node.op)]} {self.expression(node.right)})"

    def _power(self, node: ast.expr) -> str:
        """An exponent: a multiple of 1/2 as a number, anything else as an expression."""
        value = self.constant(node)
        if value is NotConstant:
            return self.expression(node)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.source.fail(node, "the exponent must be a number")
        return repr(value) if math.isfinite(value) else self.expression(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        if type(node.op) not in _UNARY:
            self.generic_visit(node)
        return _UNARY[type(node.op)].format(self.expression(node.operand))

    def visit_BoolOp(self, node: ast.BoolOp) -> str:
        word = " && " if isinstance(node.op, ast.And) else " || "
        return "(" + word.join(self.expression(v) for v in node.values) + ")"

    def visit_Compare(self, node: ast.Compare) -> str:
        parts = []
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators):
            if type(op) not in _COMPARE:
                self.source.fail(node, "a kernel supports the comparisons == != < <= > >=")
            parts.append(f"({self.expression(left)} {_COMPARE[type(op)]} {self.expression(right)})")
        return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"

    def visit_IfExp(self, node: ast.IfExp) -> str:
        condition = self.constant(node.test)
        if condition is not NotConstant:
            return self.expression(node.body if condition else node.orelse)
        parts = (self.expression(n) for n in (node.test, node.body, node.orelse))
        return "({} ? {} : {})".format(*parts)

    # -- calls -------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> str:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate":
            if not node.args and self.constant(node.func) is NotConstant:
                return f"conj({self.expression(node.func.value)})"
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
        if function.name == "complex" and len(arguments) == 1:
            return f"complex({self.expression(arguments[0])})"
        if function.name == "vector":
            return self._vector(node, function, arguments)
        if function.name == "minimum_image":
            return function.text.format(", ".join(self.expression(a) for a in arguments))
        if function.name == "outer" and len({ast.dump(a) for a in arguments}) == 1:
            return f"outer({self.expression(arguments[0])})"
        count = function.arguments
        if len(arguments) != count:
            plural = "s" if count > 1 else ""
            self.source.fail(node, f"{function.name} takes {count} argument{plural}")
        if function.name == "pow":
            return f"pow({self.expression(arguments[0])}, {self._power(arguments[1])})"
        return function.text.format(*(self.expression(a) for a in arguments))

    def _vector(self, node: ast.AST, function: Intrinsic, arguments: List[ast.expr]) -> str:
        elements = arguments[0] if arguments else None
        if not isinstance(elements, (ast.List, ast.Tuple)) or len(elements.elts) not in (2, 3):
            self.source.fail(
                node, "an array in a kernel has two or three elements: np.array([x, y, z])"
            )
        parts = ", ".join(self.expression(e) for e in elements.elts)
        return f"vec{len(elements.elts)}({parts})"

    def intrinsic(self, node: ast.AST) -> Optional[Intrinsic]:
        """The intrinsic function that a Python name refers to, or None."""
        return find_intrinsic(node, self.scope)

    def _function(self, node: ast.expr) -> Any:
        """The callee: an Intrinsic, or a Python function to translate."""
        found = self.intrinsic(node) or self.constant(node)
        if isinstance(found, (Intrinsic, FunctionType)):
            return found
        message = f"a kernel supports the functions {_SUPPORTED}"
        if isinstance(node, ast.Name) and node.id in self.scope.local_names:
            self.source.fail(node, f"{node.id!r} is a variable, not a function")
        if isinstance(node, ast.Name) and not self.scope.defines(node.id):
            hint = suggestion(node.id, (i.name for i in _KNOWN))
            self.source.fail(node, f"{node.id!r} is not defined{hint}; {message}")
        self.source.fail(node, f"{message}, and functions defined with def")

    def _call_function(self, node: ast.Call, function: FunctionType) -> str:
        keywords: Dict[str, ast.expr] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                self.source.fail(keyword.value, "** arguments are not supported")
            keywords[keyword.arg] = keyword.value
        name = self.unit.translated(function, self.source, node)
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
