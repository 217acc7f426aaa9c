"""Translation of Python statements to the kernel language."""

from __future__ import annotations

import ast
import itertools
from types import FunctionType
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Type

from ._expressions import Expressions, FunctionTable
from ._scope import NotConstant, to_python
from ._source import Source

MAX_ITERATIONS = 10000
_ADDITION: Dict[Type[ast.operator], str] = {ast.Add: "+=", ast.Sub: "-="}
_OPERATION: Dict[Type[ast.operator], str] = {ast.Mult: "*", ast.Div: "/"}
_HINTS: Dict[Type[ast.stmt], str] = {
    ast.While: "use a loop over constants: for k in range(3)",
    ast.Break: "loops are unrolled; use an if in the loop body",
    ast.Continue: "use an if in the loop body",
    ast.Raise: "skip a pair with: if ...: return",
    ast.Assert: "skip a pair with: if ...: return",
    ast.FunctionDef: "define the function outside of the kernel",
    ast.Expr: "a call must have a result; accumulate results with: i.f += ...",
}


def arguments_of(tree: ast.FunctionDef) -> List[ast.arg]:
    """All arguments with a name, in order; without *args and **kwargs."""
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


class Statements(Expressions):
    """Translates the statements of one function to ``body``: Python line numbers and text."""

    def __init__(self, source: Source, function: FunctionType, table: FunctionTable) -> None:
        self.arguments = {a.arg for a in arguments_of(source.tree)}
        names = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name))
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        super().__init__(source, function, stored | self.arguments, table)
        #: Names that statements assign, including loop variables.
        self.temporaries = stored - self.arguments
        self.body: List[Tuple[int, str]] = []
        self._loop_variables: List[str] = []  # variables of the enclosing loops

    # -- differences between kernels and functions ---------------------------------------------

    def assign_attribute(self, node: ast.stmt, to: ast.expr, value: ast.expr, indent: str) -> None:
        """Translate ``to = value`` where ``to`` is not a name."""
        self.source.fail(to, "the target of an assignment must be a name")

    def result(self, to: ast.expr) -> str:
        """The result variable of ``to``."""
        self.source.fail(to, "the target of an assignment must be a name")

    def returned(self, node: ast.Return, indent: str) -> None:
        """Translate a return."""
        raise NotImplementedError

    def typed(self, name: str, type_name: str) -> None:
        """Record the type of an annotated temporary."""

    def new_temporary(self) -> str:
        """A new name for a temporary."""
        raise NotImplementedError

    # -- statements --------------------------------------------------------------------------

    def emit(self, node: ast.AST, text: str) -> None:
        """Append a line of the kernel language that translates this node."""
        self.body.append((self.source.line(node), text))

    def block(self, statements: Iterable[ast.stmt], indent: str) -> None:
        """Translate a sequence of statements."""
        for statement in statements:
            self.statement(statement, indent)

    def statement(self, node: ast.stmt, indent: str) -> None:
        """Translate one statement and its nested statements."""
        if isinstance(node, ast.Pass):
            return
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str) or node.value.value is Ellipsis:
                return  # a docstring
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.scope.imports(node)
        elif isinstance(node, ast.Assign):
            for to in node.targets:
                self._assign(node, to, node.value, indent)
        elif isinstance(node, ast.AnnAssign):
            self._annotated(node, indent)
        elif isinstance(node, ast.AugAssign):
            self._update(node, indent)
        elif isinstance(node, ast.If):
            self._if(node, indent)
        elif isinstance(node, ast.For):
            self._for(node, indent)
        elif isinstance(node, ast.Return):
            self.returned(node, indent)
        else:
            hint = _HINTS.get(type(node), "")
            what = "expression statement" if isinstance(node, ast.Expr) else _node_name(node)
            more = f"; {hint}" if hint else ""
            self.source.fail(node, f"this statement is not supported in a kernel ({what}){more}")

    def _annotated(self, node: ast.AnnAssign, indent: str) -> None:
        word = ast.unparse(node.annotation).strip("'\"")
        if word not in ("float", "int", "bool") or not isinstance(node.target, ast.Name):
            self.source.fail(
                node.annotation,
                "the annotation must be float, int or bool; other types are set in the decorator: "
                'types={"dx": "long"}',
            )
        if word == "int":
            self.typed(node.target.id, "int")
        if node.value is not None:
            self._assign(node, node.target, node.value, indent)

    def _assign(self, node: ast.stmt, to: ast.expr, value: ast.expr, indent: str) -> None:
        if isinstance(to, (ast.Tuple, ast.List)):
            self._assign_many(node, to.elts, value, indent)
        elif isinstance(to, ast.Name):
            text = self.expression(value)
            self.emit(node, f"{indent}{self._assigned(to)} = {text};")
        else:
            self.assign_attribute(node, to, value, indent)

    def _assign_many(
        self, node: ast.stmt, to: List[ast.expr], value: ast.expr, indent: str
    ) -> None:
        values = self._elements(value)
        if values is None or len(values) != len(to):
            self.source.fail(node, "the numbers of names and values differ")
        names = {n.id for e in to for n in ast.walk(e) if isinstance(n, ast.Name)}
        read = {n.id for e in values for n in ast.walk(e) if isinstance(n, ast.Name)}
        if not names & read or not all(isinstance(e, ast.Name) for e in to):
            for one, expression in zip(to, values):
                self._assign(node, one, expression, indent)
            return
        # All values are computed before the first assignment.
        temporaries = [self.new_temporary() for _ in values]
        for name, expression in zip(temporaries, values):
            self.emit(node, f"{indent}{name} = {self.expression(expression)};")
        for name, one in zip(temporaries, to):
            assert isinstance(one, ast.Name)
            self.emit(node, f"{indent}{self._assigned(one)} = {name};")

    def _elements(self, value: ast.expr) -> Optional[List[ast.expr]]:
        """The elements of a tuple, a list or an iterable constant; None for other expressions."""
        if isinstance(value, (ast.Tuple, ast.List)):
            return None if any(isinstance(e, ast.Starred) for e in value.elts) else value.elts
        constant = self.constant(value)
        if constant is NotConstant or not hasattr(constant, "__iter__"):
            return None
        numbers = [to_python(e) for e in constant]
        if not all(isinstance(e, (int, float)) for e in numbers):
            return None
        return [ast.copy_location(ast.Constant(e), value) for e in numbers]

    def _assigned(self, to: ast.Name) -> str:
        """The variable of a name that is assigned."""
        if to.id in self._loop_variables:
            self.source.fail(to, f"{to.id!r} is a loop variable and cannot be assigned")
        if to.id not in self.temporaries:
            self.source.fail(to, f"{to.id!r} is an argument and cannot be assigned")
        self.scope.loop_values.pop(to.id, None)
        return self.symbols[to.id]

    def _update(self, node: ast.AugAssign, indent: str) -> None:
        kind, to = type(node.op), node.target
        if not isinstance(to, ast.Name):
            result = self.result(to)
            if kind not in _ADDITION:
                self.source.fail(node, "a result supports += and -= only")
            self.emit(node, f"{indent}{result} {_ADDITION[kind]} {self.expression(node.value)};")
            return
        value = ast.BinOp(ast.Name(to.id, ast.Load()), node.op, node.value)
        for part in (value, value.left):
            ast.copy_location(part, node)
        if kind in _ADDITION and self.constant(value) is NotConstant:
            text = self.expression(node.value)
            self.emit(node, f"{indent}{self._assigned(to)} {_ADDITION[kind]} {text};")
        else:
            text = self.expression(value)
            self.emit(node, f"{indent}{self._assigned(to)} = {text};")

    def _if(self, node: ast.If, indent: str) -> None:
        condition = self.constant(node.test)
        if condition is not NotConstant:
            self.block(node.body if condition else node.orelse, indent)
            return
        text = self.expression(node.test)
        self.emit(node, f"{indent}if ({text}) {{")
        self.block(node.body, indent + "  ")
        if node.orelse:
            self.emit(node.orelse[0], f"{indent}}} else {{")
            self.block(node.orelse, indent + "  ")
        self.emit(node, f"{indent}}}")

    # -- loops -------------------------------------------------------------------------------

    def _for(self, node: ast.For, indent: str) -> None:
        """Unroll a loop over constants."""
        if node.orelse:
            self.source.fail(node.orelse[0], "else of a loop is not supported in a kernel")
        values = self._loop_values(node.iter)
        names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        self._loop_variables += names
        for value in values:
            self._bind(node.target, value)
            self.block(node.body, indent)
        del self._loop_variables[len(self._loop_variables) - len(names) :]

    def _loop_values(self, node: ast.expr) -> List[Any]:
        iterable = self.constant(node)
        if iterable is NotConstant or not hasattr(iterable, "__iter__"):
            self.source.fail(node, "a loop must run over range(constant) or other constants")
        values = list(itertools.islice(iterable, MAX_ITERATIONS + 1))
        if len(values) > MAX_ITERATIONS:
            self.source.fail(node, f"a loop is unrolled, with at most {MAX_ITERATIONS} iterations")
        return values

    def _bind(self, to: ast.expr, value: Any) -> None:
        if isinstance(to, ast.Name):
            if to.id in self.arguments:
                self.source.fail(to, f"{to.id!r} is an argument and cannot be assigned")
            self.scope.loop_values[to.id] = value
        elif isinstance(to, (ast.Tuple, ast.List)) and len(to.elts) == len(tuple(value)):
            for one, part in zip(to.elts, value):
                self._bind(one, part)
        else:
            self.source.fail(to, "write a loop as: for name in ...")


def _node_name(node: ast.AST) -> str:
    return type(node).__name__.lower()
