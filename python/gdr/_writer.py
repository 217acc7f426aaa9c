"""From a Python function's syntax tree to a kernel: its interface, functions and text."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from ._kernel import Names
from ._meanings import WORDS
from ._scope import NotConstant
from ._source import Source
from ._statements import Statements, arguments_of

_RESERVED = {"CONST", "VARI", "VARJ", "VARF", *WORDS}
_NAMED_SELF = ("self", "cls")


class Spellings:
    """Names of the kernel language that are taken, and new ones."""

    def __init__(self) -> None:
        self.taken: Set[str] = set(_RESERVED)

    def free(self, name: str) -> str:
        """A name like this one that nothing has yet; letters beyond ASCII become their numbers."""
        name = "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


class Program:
    """All that one kernel is made of: its function, and those that it calls."""

    def __init__(self, function: FunctionType, types: Mapping[str, str]) -> None:
        self.spellings = Spellings()
        self.names = Names()
        self._written: Dict[FunctionType, str] = {}
        self._under_way: List[FunctionType] = [function]
        self._functions: List[Tuple[Source, int, str]] = []
        self.kernel = KernelWriter(function, types, self)
        #: Where each line of the text comes from.
        self.lines: Dict[int, Tuple[Source, int]] = {}

    def text(self, precision: str, flops: Optional[float]) -> str:
        """The kernel language."""
        head = [f"kernel {self.kernel.name};"]
        if flops is not None:
            head.append(f"flops {flops:g};")
        if precision == "long":
            head.append("precision long;")
        head += self.kernel.declarations()
        source = self.kernel.source
        body = self._functions + [(source, line, text) for line, text in self.kernel.body]
        for k, (where, line, _) in enumerate(body):
            self.lines[len(head) + k + 1] = (where, line)
        return "\n".join(head + [text for _, _, text in body]) + "\n"

    def helper(self, function: FunctionType, source: Source, node: ast.AST) -> str:
        """The name of a function that is called, which is written when it is first met."""
        if function in self._under_way:
            source.fail(node, f"{function.__name__} calls itself, which a kernel cannot")
        if function not in self._written:
            self._under_way.append(function)
            writer = HelperWriter(function, self)
            self._under_way.pop()
            self._functions += [(writer.source, line, text) for line, text in writer.body]
            self._written[function] = writer.name
        return self._written[function]


class KernelWriter(Statements):
    """The function itself: a target, a source and parameters."""

    def __init__(self, function: FunctionType, types: Mapping[str, str], program: Program) -> None:
        source = Source(function)
        super().__init__(source, function, program)
        self.program, self.types = program, dict(types)
        self.names, self.spellings = program.names, program.spellings
        self.name = Spellings().free(function.__name__)
        tree = source.tree
        self.target, self.other, self.params = self._arguments(tree, function)
        self.defaults = self._defaults(tree)
        for name in sorted(self.params) + sorted(self.temporaries):
            self.spelling[name] = self.spellings.free(name)
        self._find_results(tree)
        self.block(tree.body, "")
        if not self.names.results:
            source.fail(tree, f"the kernel adds to no result; write {self.target}.name += ...")
        self._check_types()

    def _arguments(
        self, tree: ast.FunctionDef, function: FunctionType
    ) -> Tuple[str, str, List[str]]:
        star = tree.args.vararg or tree.args.kwarg
        if star is not None:
            self.source.fail(
                star, "a kernel takes plain arguments: a target, a source, parameters"
            )
        places = [*tree.args.posonlyargs, *tree.args.args]
        if places and places[0].arg in _NAMED_SELF:
            self.source.fail(
                places[0], "a kernel is no method: put @staticmethod above @gdr.kernel"
            )
        if len(places) < 2:
            self.source.fail(tree, "a kernel takes a target, a source, and parameters")
        names = [a.arg for a in arguments_of(tree)]
        return names[0], names[1], names[2:]

    def _defaults(self, tree: ast.FunctionDef) -> Dict[str, float]:
        places = [*tree.args.posonlyargs, *tree.args.args]
        given: List[Tuple[ast.arg, Optional[ast.expr]]] = []
        given += zip(places[len(places) - len(tree.args.defaults) :], tree.args.defaults)
        given += zip(tree.args.kwonlyargs, tree.args.kw_defaults)
        defaults = {}
        for argument, expression in given:
            if expression is None:
                continue
            value = self.constant(expression)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                self.source.fail(expression, "the default of a parameter is a number")
            if argument.arg not in self.params:
                self.source.fail(expression, "a target and a source have no defaults")
            defaults[argument.arg] = float(value)
        return defaults

    def declarations(self) -> List[str]:
        """The interface, and temporaries of types that were asked for."""
        lines = [f"CONST {self._type(name)}{self.spelling[name]};" for name in self.params]
        for word, table in (
            ("VARI", self.names.targets),
            ("VARJ", self.names.sources),
            ("VARF", self.names.results),
        ):
            lines += [f"{word} {self._type(name)}{own};" for name, own in table.items()]
        typed = sorted(self.temporaries & set(self.types))
        return lines + [f"{self.types[name]} {self.spelling[name]};" for name in typed]

    def _type(self, name: str) -> str:
        return self.types[name] + " " if name in self.types else ""

    def _check_types(self) -> None:
        names = self.names
        tables: Tuple[Mapping[str, Any], ...] = (names.targets, names.sources, names.results)
        known = self.temporaries.union(self.params, *tables)
        unknown = sorted(set(self.types) - known)
        if unknown:
            raise ValueError(f"types: the kernel has no {', '.join(map(repr, unknown))}")

    # -- particles ---------------------------------------------------------------------------

    def _find_results(self, tree: ast.FunctionDef) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if self._is(node.value, self.target) and node.attr not in self.names.results:
                    self.names.results[node.attr] = self.spellings.free(node.attr)

    @staticmethod
    def _is(node: ast.AST, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    def particle(self, name: str) -> bool:
        """Whether a name is the target or the source."""
        return name in (self.target, self.other)

    def attribute(self, node: ast.Attribute) -> Optional[str]:
        """The variable that stands for an attribute of the target or the source."""
        of_target = self._is(node.value, self.target)
        if not of_target and not self._is(node.value, self.other):
            return None
        if of_target and node.attr in self.names.results:
            self.source.fail(
                node, f"{self.target}.{node.attr} is a result, and results are not read"
            )
        table = self.names.targets if of_target else self.names.sources
        if node.attr not in table:
            table[node.attr] = self.spellings.free(node.attr + ("i" if of_target else "j"))
        return table[node.attr]

    def result(self, to: ast.expr) -> str:
        """The result that an attribute of the target stands for."""
        if isinstance(to, ast.Attribute) and self._is(to.value, self.target):
            return self.names.results[to.attr]
        if isinstance(to, ast.Attribute) and self._is(to.value, self.other):
            self.source.fail(to, f"{self.other!r} is the source, which a kernel only reads")
        self.source.fail(to, "a name, or a result of the target, is assigned")

    def assign_attribute(self, node: ast.stmt, to: ast.expr, value: ast.expr, indent: str) -> None:
        """``i.r = min(i.r, x)``, the one thing that a result may be assigned."""
        result, shown = self.result(to), ast.unparse(to)
        if isinstance(value, ast.Call) and not value.keywords:
            meaning = self.meaning(value.func)
            rest = [a for a in value.args if ast.unparse(a) != shown]
            if meaning and meaning.name in ("min", "max") and len(rest) == len(value.args) - 1:
                one = len(rest) == 1
                text = self.expression(rest[0]) if one else self.apply(value, meaning, rest)
                self.put(node, f"{indent}{result} {meaning.name}= {text};")
                return
        self.source.fail(
            node, f"a result is added to ({shown} += ...) or {shown} = min({shown}, ...)"
        )

    # -- statements --------------------------------------------------------------------------

    def _if(self, node: ast.If, indent: str) -> None:
        leaves = len(node.body) == 1 and isinstance(node.body[0], ast.Return)
        if not leaves or self.constant(node.test) is not NotConstant:
            super()._if(node, indent)
            return
        self._check_return(node.body[0])
        self.put(node, f"{indent}skip if ({self.expression(node.test)});")
        self.block(node.orelse, indent)

    def returned(self, node: ast.Return, indent: str) -> None:
        """What follows counts nothing."""
        self._check_return(node)
        self.put(node, f"{indent}skip if (0 == 0);")

    def _check_return(self, node: ast.stmt) -> None:
        value = getattr(node, "value", None)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            self.source.fail(
                node, f"a kernel returns nothing; results are added to: {self.target}.name += ..."
            )

    def typed(self, name: str, type_name: str) -> None:
        """An annotation of a temporary; the decorator's word goes before."""
        self.types.setdefault(name, type_name)

    def spare(self) -> str:
        """A name for a temporary that the function has not."""
        return self.spellings.free("before")


class HelperWriter(Statements):
    """A function of numbers that a kernel calls. Its names stay clear of all others."""

    def __init__(self, function: FunctionType, program: Program) -> None:
        source = Source(function)
        super().__init__(source, function, program)
        tree = source.tree
        star = tree.args.vararg or tree.args.kwarg
        if star is not None:
            source.fail(star, "a function that a kernel calls takes plain arguments")
        spellings = program.spellings
        self._spellings = spellings
        self.name = spellings.free(function.__name__)
        arguments = [a.arg for a in arguments_of(tree)]
        for name in arguments + sorted(self.temporaries):
            self.spelling[name] = spellings.free(name)
        self.temporaries |= self.arguments
        self._value = spellings.free("value")
        places = ", ".join(self.spelling[a] for a in arguments)
        self.put(tree, f"function {self.name}({places}) {{")
        if not self._ends(tree.body, "  "):
            source.fail(tree, f"{function.__name__} does not return a number in every case")
        self.put(tree, f"  return {self._value};")
        self.put(tree, "}")

    def _ends(self, statements: List[ast.stmt], indent: str) -> bool:
        """Write statements up to a return, of which the language has one alone: what follows an
        if that returns goes into its branches. Gives whether a return is reached in every case."""
        for k, node in enumerate(statements):
            if isinstance(node, ast.Return):
                if node.value is None:
                    self.source.fail(node, "a number is returned here")
                self.put(node, f"{indent}{self._value} = {self.expression(node.value)};")
                return True
            if isinstance(node, ast.If) and _returns(node):
                return self._branch(node, statements[k + 1 :], indent)
            self.statement(node, indent)
        return False

    def _branch(self, node: ast.If, rest: List[ast.stmt], indent: str) -> bool:
        known = self.constant(node.test)
        if known is not NotConstant:
            return self._ends((node.body if known else node.orelse) + rest, indent)
        self.put(node, f"{indent}if ({self.expression(node.test)}) {{")
        first = self._ends(node.body + rest, indent + "  ")
        self.put(node, f"{indent}}} else {{")
        second = self._ends(node.orelse + rest, indent + "  ")
        self.put(node, f"{indent}}}")
        return first and second

    def returned(self, node: ast.Return, indent: str) -> None:
        """Only from inside of a loop: all others were taken by ``_ends``."""
        self.source.fail(node, "a function returns at its end or from an if, not from a loop")

    def spare(self) -> str:
        """A name for a temporary that the function has not."""
        return self._spellings.free("before")


def _returns(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


