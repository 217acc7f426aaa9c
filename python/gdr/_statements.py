"""Translation of Python statements to the kernel language."""

from __future__ import annotations

import ast
import contextlib
import itertools
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    NoReturn,
    Optional,
)

from ._diagnostics import Line
from ._expressions import Expressions
from ._reductions import Reduction, read_reduction
from ._shapes import COMPONENTS
from ._source import NotConstant, Source, to_python

if TYPE_CHECKING:
    from ._codegen import TranslationUnit

MAX_ITERATIONS = 10000
_ADDITION: Dict[type, str] = {ast.Add: "+=", ast.Sub: "-="}
#: Those of results; of conditions the result is an int.
_UPDATES: Dict[type, str] = {**_ADDITION, ast.Mult: "*=", ast.BitOr: "or=", ast.BitAnd: "and="}
_HINTS: Dict[type, str] = {
    ast.While: "use a loop over constants: for k in range(3)",
    ast.Break: "loops are unrolled; use an if in the loop body",
    ast.Continue: "use an if in the loop body",
    ast.Raise: "skip a pair with: if ...: return",
    ast.Assert: "skip a pair with: if ...: return",
    ast.FunctionDef: "define the function outside of the kernel",
    ast.Expr: "a call must have a result; accumulate results with: i.f += ...",
}


class Translated(NamedTuple):
    """A line of the translation."""

    text: str
    origin: Line


class Statements(Expressions):
    """Translates the statements of one function to ``body``."""

    def __init__(self, function: FunctionType, unit: TranslationUnit) -> None:
        source = Source(function)
        arguments = source.tree.args
        #: All arguments with a name, in order; without *args and **kwargs.
        self.arguments = [
            a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        ]
        names = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name))
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        super().__init__(source, function, stored.union(self.arguments), unit)
        #: Names that statements assign, including loop variables.
        self.temporaries = stored.difference(self.arguments)
        #: Types of variables, by their names in Python.
        self.types: Dict[str, str] = {}
        self.body: List[Translated] = []
        self._indent = ""
        self._loop_variables: List[str] = []  # variables of the enclosing loops

    def result(self, to: ast.expr) -> str:
        """The result variable of the target of an assignment; a kernel has results."""
        self.source.fail(to, "the target of an assignment must be a name")

    def integer_result(self, to: ast.expr) -> None:
        """Declare that the result of this target is an int."""

    def array_result(self, to: ast.expr, count: int) -> None:
        """Declare that the result of this target is an array."""

    def _temporary_component(self, to: ast.expr) -> Optional[str]:
        """``d[0]`` of a temporary; None for other targets."""
        if isinstance(to, ast.Subscript) and isinstance(to.value, ast.Name):
            return f"{self._assigned(to.value)}.{self.component(to)}"
        return None

    def emit(self, node: ast.AST, text: str) -> None:
        """Append a line of the kernel language that translates this node."""
        plain, spans = self.unit.marks.split(self._indent + text)
        self.body.append(Translated(plain, Line(self.source, self.source.line(node), spans)))

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        """Context of the lines in a block."""
        self._indent += "  "
        yield
        self._indent = self._indent[:-2]

    def block(self, statements: Iterable[ast.stmt]) -> None:
        """Translate a sequence of statements."""
        for statement in statements:
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> NoReturn:
        if not isinstance(node, ast.stmt):
            super().generic_visit(node)
        is_call = isinstance(node, ast.Expr)
        what = "expression statement" if is_call else type(node).__name__.lower()
        hint = f"; {_HINTS[type(node)]}" if type(node) in _HINTS else ""
        self.source.fail(node, f"this statement is not supported in a kernel ({what}){hint}")

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_Expr(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Constant) else None
        if not isinstance(value, str) and value is not Ellipsis:  # a docstring
            self.generic_visit(node)

    def visit_Import(self, node: ast.stmt) -> None:
        self.scope.imports(node)

    visit_ImportFrom = visit_Import

    # -- assignments -------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        for to in node.targets:
            self._assign(node, to, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        word = ast.unparse(node.annotation).strip("'\"")
        if word not in ("float", "int", "bool") or not isinstance(node.target, ast.Name):
            self.source.fail(
                node.annotation,
                "the annotation must be float, int or bool; other types are set in the decorator: "
                'types={"dx": "long"}',
            )
        if word == "int":
            self.types.setdefault(node.target.id, "int")
        if node.value is not None:
            self._assign(node, node.target, node.value)

    def _assign(self, node: ast.stmt, to: ast.expr, value: ast.expr) -> None:
        reduction = read_reduction(to, value, self.constant)
        if reduction is not None:
            self._reduce(node, reduction)
        elif isinstance(to, (ast.Tuple, ast.List)):
            self._assign_many(node, to.elts, value)
        elif isinstance(to, ast.Name):
            text = self.expression(value)
            self.emit(node, f"{self._assigned(to)} = {text};")
        elif (component := self._temporary_component(to)) is not None:
            self.emit(node, f"{component} = {self.expression(value)};")
        else:
            self._assign_result(node, to, value)

    def _assign_result(self, node: ast.stmt, to: ast.expr, value: ast.expr) -> None:
        """Translate ``i.r = min(i.r, x)``, the only assignment to a result."""
        result, shown = self.result(to), ast.unparse(to)
        if isinstance(value, ast.Call) and not value.keywords:
            intrinsic = self.intrinsic(value.func)
            rest = [a for a in value.args if ast.unparse(a) != shown]
            if intrinsic and intrinsic.name in ("min", "max") and len(rest) == len(value.args) - 1:
                one = len(rest) == 1
                text = self.expression(rest[0]) if one else self.apply(value, intrinsic, rest)
                self.emit(node, f"{result} {intrinsic.name}= {text};")
                return
        self.source.fail(
            node,
            f"a result supports {shown} += ... and {shown} = min({shown}, ...) only; or "
            f"{shown} *= ..., |= and &= of conditions, and {shown} = f({shown}, ...) with smallest, "
            "largest or logsumexp of gdr.functions",
        )

    def _reduce(self, node: ast.stmt, reduction: Reduction) -> None:
        """Translate a reduction with a number of elements, an index or weighted means."""
        if reduction.ranks is not None:
            count = self.constant(reduction.ranks)
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 64:
                self.source.fail(
                    reduction.ranks, "the number of values must be a constant, 1 to 64"
                )
            for to in reduction.results:
                self.array_result(to, count)
        names = [self.result(to) for to in reduction.results]
        values = [self.expression(value) for value in reduction.values]
        if reduction.word != "logsumexp":
            for to, index in zip(reduction.results[1:], reduction.values[1:]):
                self.integer_result(to)
                if isinstance(index, ast.Attribute):  # `j.id`
                    self.types.setdefault(index.attr, "int")
        rest = ", ".join(f"{name} = {value}" for name, value in zip(names[1:], values[1:]))
        more = f" : {rest}" if rest else ""
        self.emit(node, f"{names[0]} {reduction.word}= {values[0]}{more};")

    def _assign_many(self, node: ast.stmt, to: List[ast.expr], value: ast.expr) -> None:
        values = self._elements(value)
        if values is None and len(to) in (2, 3) and self.constant(value) is NotConstant:
            whole = self.unit.unique("whole")
            self.emit(node, f"vec{len(to)} {whole} = {self.expression(value)};")
            for one, component in zip(to, COMPONENTS):
                if not isinstance(one, ast.Name):
                    self.source.fail(one, "the target of an assignment must be a name")
                self.emit(node, f"{self._assigned(one)} = {whole}.{component};")
            return
        if values is None or len(values) != len(to):
            self.source.fail(node, "the numbers of names and values differ")
        names = {n.id for e in to for n in ast.walk(e) if isinstance(n, ast.Name)}
        read = {n.id for e in values for n in ast.walk(e) if isinstance(n, ast.Name)}
        if not names & read or not all(isinstance(e, ast.Name) for e in to):
            for one, expression in zip(to, values):
                self._assign(node, one, expression)
            return
        # All values are computed before the first assignment.
        temporaries = [self.unit.unique("before") for _ in values]
        for name, expression in zip(temporaries, values):
            self.emit(node, f"{name} = {self.expression(expression)};")
        for name, one in zip(temporaries, to):
            assert isinstance(one, ast.Name)
            self.emit(node, f"{self._assigned(one)} = {name};")

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

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        kind, to = type(node.op), node.target
        if not isinstance(to, ast.Name):
            component = self._temporary_component(to)
            result = component or self.result(to)
            known = _ADDITION if component else _UPDATES
            if kind not in known:
                what = "a component supports += and -= only"
                results = "a result supports +=, -= and *=, and |= and &= of conditions"
                self.source.fail(node, what if component else results)
            if kind in (ast.BitOr, ast.BitAnd):
                self.integer_result(to)
            self.emit(node, f"{result} {known[kind]} {self.expression(node.value)};")
            return
        value = ast.BinOp(ast.Name(to.id, ast.Load()), node.op, node.value)
        for part in (value, value.left):
            ast.copy_location(part, node)
        if kind in _ADDITION and self.constant(value) is NotConstant:
            text = self.expression(node.value)
            self.emit(node, f"{self._assigned(to)} {_ADDITION[kind]} {text};")
        else:
            self._assign(node, to, value)

    # -- conditions and loops ----------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        condition = self.constant(node.test)
        if condition is not NotConstant:
            self.block(node.body if condition else node.orelse)
            return
        self.emit(node, f"if ({self.expression(node.test)}) {{")
        with self.indented():
            self.block(node.body)
        if node.orelse:
            self.emit(node.orelse[0], "} else {")
            with self.indented():
                self.block(node.orelse)
        self.emit(node, "}")

    def visit_For(self, node: ast.For) -> None:
        """Unroll a loop over constants."""
        if node.orelse:
            self.source.fail(node.orelse[0], "else of a loop is not supported in a kernel")
        values = self._loop_values(node.iter)
        names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
        self._loop_variables += names
        for value in values:
            self._bind(node.target, value)
            self.block(node.body)
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
