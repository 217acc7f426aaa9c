"""Statements of Python in the kernel language."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple, Type

from ._expressions import Expressions, Helpers
from ._scope import NotConstant, plain
from ._source import Source

MOST_PASSES = 10000
_ADDITION: Dict[Type[ast.operator], str] = {ast.Add: "+=", ast.Sub: "-="}
_OPERATION: Dict[Type[ast.operator], str] = {ast.Mult: "*", ast.Div: "/"}
_INSTEAD: Dict[Type[ast.stmt], str] = {
    ast.While: "a loop runs over numbers known beforehand, as in: for k in range(3)",
    ast.Break: "a loop runs to its end; put what shall not count under an if",
    ast.Continue: "put what shall not count under an if",
    ast.Raise: "leave out pairs with: if ...: return",
    ast.Assert: "leave out pairs with: if ...: return",
    ast.FunctionDef: "define it outside of the kernel, and call it here",
    ast.Expr: "nothing is called for its effects; results are added to, as in: i.f += ...",
}


def arguments_of(tree: ast.FunctionDef) -> List[ast.arg]:
    """All arguments that have names of their own, in order."""
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


class Statements(Expressions):
    """Writes the statements of one function: ``body`` has their lines and where they come from."""

    def __init__(self, source: Source, function: FunctionType, helpers: Helpers) -> None:
        self.arguments = {a.arg for a in arguments_of(source.tree)}
        names = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name))
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        super().__init__(source, function, stored | self.arguments, helpers)
        #: Names that statements may assign, those of loops included.
        self.temporaries = stored - self.arguments
        self.body: List[Tuple[int, str]] = []
        self._running: List[str] = []  # names of the loops around

    # -- what kernels and functions differ in ------------------------------------------------

    def assign_attribute(self, node: ast.stmt, to: ast.expr, value: ast.expr, indent: str) -> None:
        """``to = value`` where ``to`` is no name."""
        self.source.fail(to, "a name is assigned here")

    def result(self, to: ast.expr) -> str:
        """The result that ``to`` stands for."""
        self.source.fail(to, "a name is assigned here")

    def returned(self, node: ast.Return, indent: str) -> None:
        """A return."""
        raise NotImplementedError

    def typed(self, name: str, type_name: str) -> None:
        """An annotation gives a temporary a type."""

    def spare(self) -> str:
        """A name for a temporary that the function has not."""
        raise NotImplementedError

    # -- statements --------------------------------------------------------------------------

    def put(self, node: ast.AST, text: str) -> None:
        """A line of the kernel language that was made of this statement."""
        self.body.append((self.source.line(node), text))

    def block(self, statements: Iterable[ast.stmt], indent: str) -> None:
        """Statements one after another."""
        for statement in statements:
            self.statement(statement, indent)

    def statement(self, node: ast.stmt, indent: str) -> None:
        """One statement with all that it holds."""
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
            instead = _INSTEAD.get(type(node), "")
            what = "a call or value on its own" if isinstance(node, ast.Expr) else _word(node)
            more = f"; {instead}" if instead else ""
            self.source.fail(node, f"a kernel has no counterpart of this statement ({what}){more}")

    def _annotated(self, node: ast.AnnAssign, indent: str) -> None:
        word = ast.unparse(node.annotation).strip("'\"")
        if word not in ("float", "int", "bool") or not isinstance(node.target, ast.Name):
            self.source.fail(
                node.annotation,
                "a temporary is a float, an int or a bool; others are given to the decorator: "
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
            self.put(node, f"{indent}{self._assigned(to)} = {text};")
        else:
            self.assign_attribute(node, to, value, indent)

    def _assign_many(
        self, node: ast.stmt, to: List[ast.expr], value: ast.expr, indent: str
    ) -> None:
        values = self._elements(value)
        if values is None or len(values) != len(to):
            self.source.fail(node, "as many values as names are wanted")
        names = {n.id for e in to for n in ast.walk(e) if isinstance(n, ast.Name)}
        read = {n.id for e in values for n in ast.walk(e) if isinstance(n, ast.Name)}
        if not names & read or not all(isinstance(e, ast.Name) for e in to):
            for one, expression in zip(to, values):
                self._assign(node, one, expression, indent)
            return
        # All values are those before the statement.
        kept = [self.spare() for _ in values]
        for name, expression in zip(kept, values):
            self.put(node, f"{indent}{name} = {self.expression(expression)};")
        for name, one in zip(kept, to):
            assert isinstance(one, ast.Name)
            self.put(node, f"{indent}{self._assigned(one)} = {name};")

    def _elements(self, value: ast.expr) -> Optional[List[ast.expr]]:
        """The expressions of a tuple, or of constants that can be gone through."""
        if isinstance(value, (ast.Tuple, ast.List)):
            return None if any(isinstance(e, ast.Starred) for e in value.elts) else value.elts
        constant = self.constant(value)
        if constant is NotConstant or not hasattr(constant, "__iter__"):
            return None
        numbers = [plain(e) for e in constant]
        if not all(isinstance(e, (int, float)) for e in numbers):
            return None
        return [ast.copy_location(ast.Constant(e), value) for e in numbers]

    def _assigned(self, to: ast.Name) -> str:
        """The spelling of a name that is assigned."""
        if to.id in self._running:
            self.source.fail(to, f"{to.id!r} is the number of a loop, which is not assigned")
        if to.id not in self.temporaries:
            self.source.fail(to, f"{to.id!r} is an argument, which is not assigned")
        self.scope.loops.pop(to.id, None)
        return self.spelling[to.id]

    def _update(self, node: ast.AugAssign, indent: str) -> None:
        kind, to = type(node.op), node.target
        if not isinstance(to, ast.Name):
            result = self.result(to)
            if kind not in _ADDITION:
                self.source.fail(node, "a result is only added to: += and -=")
            self.put(node, f"{indent}{result} {_ADDITION[kind]} {self.expression(node.value)};")
            return
        value = ast.BinOp(ast.Name(to.id, ast.Load()), node.op, node.value)
        for part in (value, value.left):
            ast.copy_location(part, node)
        if kind in _ADDITION and self.constant(value) is NotConstant:
            text = self.expression(node.value)
            self.put(node, f"{indent}{self._assigned(to)} {_ADDITION[kind]} {text};")
        else:
            text = self.expression(value)
            self.put(node, f"{indent}{self._assigned(to)} = {text};")

    def _if(self, node: ast.If, indent: str) -> None:
        condition = self.constant(node.test)
        if condition is not NotConstant:  # known before there is any pair
            self.block(node.body if condition else node.orelse, indent)
            return
        text = self.expression(node.test)
        self.put(node, f"{indent}if ({text}) {{")
        self.block(node.body, indent + "  ")
        if node.orelse:
            self.put(node.orelse[0], f"{indent}}} else {{")
            self.block(node.orelse, indent + "  ")
        self.put(node, f"{indent}}}")

    # -- loops -------------------------------------------------------------------------------

    def _for(self, node: ast.For, indent: str) -> None:
        """Written out pass by pass: Python's ranges may be empty or go down."""
        if node.orelse:
            self.source.fail(node.orelse[0], "a loop of a kernel has no else")
        passes = self._passes(node.iter)
        names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        self._running += names
        for one in passes:
            self._bind(node.target, one)
            self.block(node.body, indent)
        del self._running[len(self._running) - len(names) :]

    def _passes(self, node: ast.expr) -> List[Any]:
        known = self.constant(node)
        if known is NotConstant or not hasattr(known, "__iter__"):
            self.source.fail(node, "a loop runs over range(constant), or over other constants")
        passes: List[Any] = []
        for one in known:
            passes.append(one)
            if len(passes) > MOST_PASSES:
                self.source.fail(node, f"a loop is unrolled, and over {MOST_PASSES} are too many")
        return passes

    def _bind(self, to: ast.expr, value: Any) -> None:
        if isinstance(to, ast.Name):
            if to.id in self.arguments:
                self.source.fail(to, f"{to.id!r} is an argument, which is not assigned")
            self.scope.loops[to.id] = value
        elif isinstance(to, (ast.Tuple, ast.List)) and len(to.elts) == len(tuple(value)):
            for one, part in zip(to.elts, value):
                self._bind(one, part)
        else:
            self.source.fail(to, "a loop is written: for name in ...")


def _word(node: ast.AST) -> str:
    return type(node).__name__.lower()
