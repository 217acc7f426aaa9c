"""From a Python function's syntax tree to the kernel language, statement by statement."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import re
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from ._kernel import Names
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
#: Functions of the kernel language with their numbers of arguments; prefixes (math.) are left out.
_FUNCTIONS = {
    "sqrt": 1,
    "rsqrt": 1,
    "recip": 1,
    "exp": 1,
    "abs": 1,
    "powm32": 1,
    "short": 1,
    "long": 1,
    "min": 2,
    "max": 2,
    "pow": 2,
    "minimum": 2,
    "maximum": 2,
}
_RENAMED = {"minimum": "min", "maximum": "max"}
_WORDS = {"CONST", "VARI", "VARJ", "VARF"}


class Writer:
    """Writes kernel language, and keeps which Python line each of its lines is."""

    def __init__(self, source: Source, types: Dict[str, str], function: Callable[..., Any]) -> None:
        self.source = source
        self.types = types
        self.names = Names()
        self.results = self.names.results
        self.body: List[Tuple[int, str]] = []
        self.lines: Dict[int, int] = {}
        self.outer = inspect.getclosurevars(function)
        self.locals: Set[str] = set()
        self.loops: List[str] = []
        self.name = function.__name__
        tree = source.tree
        arguments = tree.args
        extra = (arguments.vararg, arguments.kwarg, *arguments.kwonlyargs, *arguments.posonlyargs)
        bad = [a for a in extra if a is not None]
        if bad:
            source.fail(bad[0], "a kernel takes plain arguments: a target, a source, parameters")
        if arguments.defaults:
            source.fail(arguments.defaults[0], "a kernel's parameters have no defaults")
        if len(arguments.args) < 2:
            source.fail(tree, "a kernel takes a target, a source, and parameters")
        self.target, self.other = (a.arg for a in arguments.args[:2])
        self.params = [a.arg for a in arguments.args[2:]]
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.locals.add(node.id)
        self._find_results(tree)
        for statement in tree.body:
            self._statement(statement, "")
        if not self.results:
            source.fail(tree, f"the kernel adds to no result; write {self.target}.name += ...")

    # -- declarations ------------------------------------------------------------------------

    def text(self, precision: str, flops: Optional[float]) -> str:
        head = [f"kernel {self.name};"]
        if flops is not None:
            head.append(f"flops {flops:g};")
        if precision == "long":
            head.append("precision long;")
        head += [f"CONST {self._type(name)}{name};" for name in self.params]
        for word, table in (
            ("VARI", self.names.targets),
            ("VARJ", self.names.sources),
            ("VARF", self.results),
        ):
            head += [f"{word} {self._type(name)}{variable};" for name, variable in table.items()]
        for k, (line, _) in enumerate(self.body):
            self.lines[len(head) + k + 1] = line
        return "\n".join(head + [text for _, text in self.body]) + "\n"

    def _type(self, name: str) -> str:
        return self.types[name] + " " if name in self.types else ""

    def _find_results(self, tree: ast.FunctionDef) -> None:
        for node in ast.walk(tree):
            stored = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            if stored and self._is_name(node.value, self.target):  # type: ignore[attr-defined]
                name = node.attr  # type: ignore[attr-defined]
                self.results[name] = self._free(name)

    def _free(self, name: str) -> str:
        taken = self.locals | set(self.params) | _WORDS | set(_FUNCTIONS)
        while name in taken:
            name += "_"
        return name

    def _input(self, node: ast.Attribute) -> str:
        side = node.value.id  # type: ignore[attr-defined]
        name = node.attr
        if side == self.target and name in self.results:
            self.source.fail(node, f"{side}.{name} is a result, and results are not read")
        table = self.names.targets if side == self.target else self.names.sources
        if name not in table:
            variable = self._free(name + ("i" if side == self.target else "j"))
            while variable in self.results.values():
                variable += "_"
            table[name] = variable
        return table[name]

    @staticmethod
    def _is_name(node: ast.AST, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    # -- statements --------------------------------------------------------------------------

    def _put(self, node: ast.AST, text: str) -> None:
        self.body.append((getattr(node, "lineno", 1), text))

    def _statement(self, node: ast.stmt, indent: str) -> None:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                return  # a docstring
        if isinstance(node, ast.Pass):
            return
        if isinstance(node, ast.Assign):
            self._assign(node, indent)
        elif isinstance(node, ast.AnnAssign):
            self.source.fail(node, "types of temporaries are given to the decorator: types={...}")
        elif isinstance(node, ast.AugAssign):
            self._add(node, indent)
        elif isinstance(node, ast.If):
            self._if(node, indent)
        elif isinstance(node, ast.For):
            self._for(node, indent)
        else:
            what = type(node).__name__.lower()
            self.source.fail(node, f"a kernel has no counterpart of this statement ({what})")

    def _assign(self, node: ast.Assign, indent: str) -> None:
        if len(node.targets) != 1:
            self.source.fail(node, "one name is assigned at a time")
        to, value = node.targets[0], node.value
        if isinstance(to, ast.Tuple):
            if not isinstance(value, ast.Tuple) or len(value.elts) != len(to.elts):
                self.source.fail(node, "as many values as names are wanted")
            names = {e.id for e in to.elts if isinstance(e, ast.Name)}
            read = {n.id for e in value.elts for n in ast.walk(e) if isinstance(n, ast.Name)}
            if names & read:
                self.source.fail(node, "names on the left are read on the right; assign one by one")
            for one, expression in zip(to.elts, value.elts):
                self._assign_one(node, one, expression, indent)
        else:
            self._assign_one(node, to, value, indent)

    def _assign_one(self, node: ast.stmt, to: ast.expr, value: ast.expr, indent: str) -> None:
        if isinstance(to, ast.Name):
            if to.id in self.params or to.id in (self.target, self.other):
                self.source.fail(to, f"{to.id!r} is an argument, which is not assigned")
            if to.id in self.loops:
                self.source.fail(to, f"{to.id!r} is the number of a loop, which is not assigned")
            if to.id in _WORDS:
                self.source.fail(to, f"{to.id!r} is a word of the kernel language")
            first = self._type(to.id) if not self._assigned(to.id) else ""
            self._put(node, f"{indent}{first}{to.id} = {self._expression(value)};")
            return
        result = self._result(to)
        ends = (
            isinstance(value, ast.Call)
            and self._called(value) in ("min", "max", "minimum", "maximum")
            and len(value.args) == 2
        )
        if ends:
            for own, other in (value.args, value.args[::-1]):  # type: ignore[attr-defined]
                if ast.unparse(own) == ast.unparse(to):
                    which = _RENAMED.get(self._called(value), self._called(value))  # type: ignore[arg-type]
                    self._put(node, f"{indent}{result} {which}= {self._expression(other)};")
                    return
        shown = ast.unparse(to)
        self.source.fail(
            node, f"a result is added to ({shown} += ...) or {shown} = min({shown}, ...)"
        )

    def _assigned(self, name: str) -> bool:
        return any(re.search(rf"\b{re.escape(name)} [+-]?= ", text) for _, text in self.body)

    def _result(self, to: ast.expr) -> str:
        if isinstance(to, ast.Attribute) and self._is_name(to.value, self.target):
            return self.results[to.attr]
        if isinstance(to, ast.Attribute) and self._is_name(to.value, self.other):
            self.source.fail(to, f"{self.other!r} is the source, which a kernel only reads")
        self.source.fail(to, "a name, or a result of the target, is assigned")

    def _add(self, node: ast.AugAssign, indent: str) -> None:
        if isinstance(node.op, (ast.Add, ast.Sub)):
            sign = "+=" if isinstance(node.op, ast.Add) else "-="
        elif isinstance(node.target, ast.Name) and type(node.op) in _BINARY:
            name = node.target.id
            value = self._expression(node.value)
            self._put(node, f"{indent}{name} = {name} {_BINARY[type(node.op)]} {value};")
            return
        else:
            self.source.fail(node, "a result is only added to: += and -=")
        to = node.target
        name = to.id if isinstance(to, ast.Name) else self._result(to)
        if name in self.params:
            self.source.fail(to, f"{name!r} is a parameter, which is not assigned")
        self._put(node, f"{indent}{name} {sign} {self._expression(node.value)};")

    def _if(self, node: ast.If, indent: str) -> None:
        condition = self._expression(node.test)
        leaves = len(node.body) == 1 and isinstance(node.body[0], ast.Return)
        if leaves:
            if node.body[0].value is not None:  # type: ignore[attr-defined]
                self.source.fail(node.body[0], "a kernel returns nothing: its results are added to")
            self._put(node, f"{indent}skip if ({condition});")
            for statement in node.orelse:
                self._statement(statement, indent)
            return
        self._put(node, f"{indent}if ({condition}) {{")
        for statement in node.body:
            self._statement(statement, indent + "  ")
        if node.orelse:
            self._put(node.orelse[0], f"{indent}}} else {{")
            for statement in node.orelse:
                self._statement(statement, indent + "  ")
        self._put(node, f"{indent}}}")

    def _for(self, node: ast.For, indent: str) -> None:
        call = node.iter
        if node.orelse or not isinstance(node.target, ast.Name):
            self.source.fail(node, "a loop is written: for name in range(...)")
        if not (isinstance(call, ast.Call) and self._is_name(call.func, "range")):
            self.source.fail(call, "a loop runs over range(constant)")
        try:
            numbers = range(*(self._integer(a) for a in call.args))
        except (TypeError, ValueError) as error:
            self.source.fail(call, str(error))
        if len(numbers) > 10000:
            self.source.fail(call, f"a loop is unrolled, and {len(numbers)} passes are too many")
        # Written out here, as Python's ranges may be empty or go down.
        name = node.target.id
        self.loops.append(name)
        for k in numbers:
            for statement in node.body:
                self._statement(_Replace(name, k).visit(copy.deepcopy(statement)), indent)
        self.loops.pop()

    def _integer(self, node: ast.expr) -> int:
        value = self._constant(node)
        if isinstance(value, bool) or not isinstance(value, int):
            self.source.fail(node, "a constant integer is wanted")
        return value

    # -- expressions -------------------------------------------------------------------------

    def _expression(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return self._number(node, node.value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            for side in (self.target, self.other):
                if self._is_name(node.value, side):
                    return self._input(node)
            return self._number(node, self._constant(node))
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp):
            inner = self._expression(node.operand)
            if isinstance(node.op, ast.Not):
                return f"!({inner})"
            if isinstance(node.op, ast.USub):
                return f"(-{inner})"
            if isinstance(node.op, ast.UAdd):
                return inner
        if isinstance(node, ast.BoolOp):
            word = " && " if isinstance(node.op, ast.And) else " || "
            return "(" + word.join(self._expression(v) for v in node.values) + ")"
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.IfExp):
            parts = (self._expression(n) for n in (node.test, node.body, node.orelse))
            return "({} ? {} : {})".format(*parts)
        if isinstance(node, ast.Call):
            return self._call(node)
        self.source.fail(node, "a kernel has no counterpart of this expression")

    def _name(self, node: ast.Name) -> str:
        if node.id in self.locals or node.id in self.params:
            return node.id
        if node.id in (self.target, self.other):
            self.source.fail(node, f"{node.id!r} stands for a particle; take one of its attributes")
        return self._number(node, self._constant(node))

    def _number(self, node: ast.AST, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.source.fail(node, "a number is wanted here")
        if isinstance(value, float) and not math.isfinite(value):
            self.source.fail(node, f"{value} is no number that a kernel can hold")
        text = repr(value)
        return f"({text})" if value < 0 else text

    def _constant(self, node: ast.expr) -> Any:
        """The value of a number from around the function."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._constant(node.operand)
        if isinstance(node, ast.Name):
            for scope in (self.outer.nonlocals, self.outer.globals):
                if node.id in scope:
                    return self._plain(node, scope[node.id])
            self.source.fail(node, f"{node.id!r} is not known here")
        if isinstance(node, ast.Attribute):
            owner = node.value
            if isinstance(owner, ast.Name):
                for scope in (self.outer.nonlocals, self.outer.globals):
                    if owner.id in scope and hasattr(scope[owner.id], node.attr):
                        return self._plain(node, getattr(scope[owner.id], node.attr))
            self.source.fail(node, f"{ast.unparse(node)} is not known here")
        self.source.fail(node, "a constant number is wanted")

    def _plain(self, node: ast.AST, value: Any) -> Any:
        item = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
        if isinstance(item, bool) or not isinstance(item, (int, float)):
            self.source.fail(node, f"this is {type(value).__name__}, and a number is wanted")
        return item

    def _binary(self, node: ast.BinOp) -> str:
        left = self._expression(node.left)
        if isinstance(node.op, ast.Pow):
            power = self._power(node.right)
            return f"pow({left}, {power})"
        if type(node.op) not in _BINARY:
            self.source.fail(node, "of operators a kernel has + - * / and **")
        return f"({left} {_BINARY[type(node.op)]} {self._expression(node.right)})"

    def _power(self, node: ast.expr) -> str:
        value = self._constant(node)
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
            parts.append(
                f"({self._expression(left)} {_COMPARE[type(op)]} {self._expression(right)})"
            )
            left = right
        return parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"

    def _called(self, node: ast.Call) -> Optional[str]:
        if isinstance(node.func, ast.Name):
            return node.func.id
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            return node.func.attr
        return None

    def _call(self, node: ast.Call) -> str:
        name = self._called(node)
        if name not in _FUNCTIONS:
            known = ", ".join(sorted(set(_FUNCTIONS) - set(_RENAMED)))
            self.source.fail(node.func, f"of functions a kernel has {known}")
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            self.source.fail(node, "functions of a kernel take plain arguments")
        if name == "pow" and len(node.args) == 2:
            return f"pow({self._expression(node.args[0])}, {self._power(node.args[1])})"
        want = _FUNCTIONS[name]
        if name in ("min", "max") and len(node.args) > 2:
            nested = self._expression(node.args[-1])
            for argument in node.args[-2::-1]:
                nested = f"{name}({self._expression(argument)}, {nested})"
            return nested
        if len(node.args) != want:
            self.source.fail(node, f"{name} takes {want} argument{'s' if want > 1 else ''}")
        arguments = ", ".join(self._expression(a) for a in node.args)
        return f"{_RENAMED.get(name, name)}({arguments})"


class _Replace(ast.NodeTransformer):
    """Puts the number of a loop's pass in the place of its name."""

    def __init__(self, name: str, value: int) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.name or not isinstance(node.ctx, ast.Load):
            return node
        return ast.copy_location(ast.Constant(self.value), node)
