"""Translation of a Python function to the kernel language: interface, functions and text."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

from ._intrinsics import LANGUAGE_FUNCTIONS
from ._kernel import VariableNames
from ._scope import NotConstant
from ._source import Source
from ._statements import Statements, arguments_of

_RESERVED = {"CONST", "VARI", "VARJ", "VARF", *LANGUAGE_FUNCTIONS}
_METHOD_ARGUMENTS = ("self", "cls")


class NameTable:
    """The names in use in the kernel language."""

    def __init__(self) -> None:
        self.used: Set[str] = set(_RESERVED)

    def unique(self, name: str) -> str:
        """A new name similar to this one; non-ASCII letters become their code points."""
        name = "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
        while name in self.used:
            name += "_"
        self.used.add(name)
        return name


class TranslationUnit:
    """A kernel's function and the functions that it calls."""

    def __init__(self, function: FunctionType, types: Mapping[str, str]) -> None:
        self.names_in_use = NameTable()
        self.names = VariableNames()
        self._translated: Dict[FunctionType, str] = {}
        self._call_stack: List[FunctionType] = [function]
        self._functions: List[Tuple[Source, int, str]] = []
        self.kernel = KernelGenerator(function, types, self)
        #: Python source and line of each line of the text.
        self.lines: Dict[int, Tuple[Source, int]] = {}

    def text(self, precision: str, flops: Optional[float]) -> str:
        """The kernel as text of the kernel language."""
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

    def translated(self, function: FunctionType, source: Source, node: ast.AST) -> str:
        """The name of a called function, translated on first use."""
        if function in self._call_stack:
            name = function.__name__
            source.fail(node, f"{name} calls itself; a kernel does not support recursion")
        if function not in self._translated:
            self._call_stack.append(function)
            generator = FunctionGenerator(function, self)
            self._call_stack.pop()
            self._functions += [(generator.source, line, text) for line, text in generator.body]
            self._translated[function] = generator.name
        return self._translated[function]


class KernelGenerator(Statements):
    """Translates the kernel's function of a target, a source and parameters."""

    def __init__(
        self, function: FunctionType, types: Mapping[str, str], unit: TranslationUnit
    ) -> None:
        source = Source(function)
        super().__init__(source, function, unit)
        self.types = dict(types)
        self.names, self.names_in_use = unit.names, unit.names_in_use
        self.name = NameTable().unique(function.__name__)
        tree = source.tree
        self.target, self.other, self.params = self._arguments(tree, function)
        self.defaults = self._defaults(tree)
        for name in sorted(self.params) + sorted(self.temporaries):
            self.symbols[name] = self.names_in_use.unique(name)
        self._collect_results(tree)
        self.block(tree.body, "")
        if not self.names.results:
            source.fail(tree, f"the kernel has no result; write {self.target}.name += ...")
        self._check_types()

    def _arguments(
        self, tree: ast.FunctionDef, function: FunctionType
    ) -> Tuple[str, str, List[str]]:
        star = tree.args.vararg or tree.args.kwarg
        if star is not None:
            self.source.fail(
                star, "a kernel takes named arguments only: a target, a source, parameters"
            )
        positional = [*tree.args.posonlyargs, *tree.args.args]
        if positional and positional[0].arg in _METHOD_ARGUMENTS:
            self.source.fail(
                positional[0], "a kernel cannot be a method: put @staticmethod above @gdr.kernel"
            )
        if len(positional) < 2:
            self.source.fail(tree, "a kernel takes a target, a source, and parameters")
        names = [a.arg for a in arguments_of(tree)]
        return names[0], names[1], names[2:]

    def _defaults(self, tree: ast.FunctionDef) -> Dict[str, float]:
        positional = [*tree.args.posonlyargs, *tree.args.args]
        given: List[Tuple[ast.arg, Optional[ast.expr]]] = []
        given += zip(positional[len(positional) - len(tree.args.defaults) :], tree.args.defaults)
        given += zip(tree.args.kwonlyargs, tree.args.kw_defaults)
        defaults = {}
        for argument, expression in given:
            if expression is None:
                continue
            value = self.constant(expression)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                self.source.fail(expression, "the default of a parameter must be a number")
            if argument.arg not in self.params:
                self.source.fail(expression, "a target or a source cannot have a default")
            defaults[argument.arg] = float(value)
        return defaults

    def declarations(self) -> List[str]:
        """Declarations of the interface, and of temporaries with a given type."""
        lines = [f"CONST {self._type(name)}{self.symbols[name]};" for name in self.params]
        for keyword, table in (
            ("VARI", self.names.targets),
            ("VARJ", self.names.sources),
            ("VARF", self.names.results),
        ):
            lines += [f"{keyword} {self._type(name)}{symbol};" for name, symbol in table.items()]
        typed = sorted(self.temporaries & set(self.types))
        return lines + [f"{self.types[name]} {self.symbols[name]};" for name in typed]

    def _type(self, name: str) -> str:
        return self.types[name] + " " if name in self.types else ""

    def _check_types(self) -> None:
        names = self.names
        tables: Tuple[Mapping[str, Any], ...] = (names.targets, names.sources, names.results)
        known = self.temporaries.union(self.params, *tables)
        unknown = sorted(set(self.types) - known)
        if unknown:
            raise ValueError(f"types: the kernel has no variable {', '.join(map(repr, unknown))}")

    # -- particles ---------------------------------------------------------------------------

    def _collect_results(self, tree: ast.FunctionDef) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                if self._is(node.value, self.target) and node.attr not in self.names.results:
                    self.names.results[node.attr] = self.names_in_use.unique(node.attr)

    @staticmethod
    def _is(node: ast.AST, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    def is_particle(self, name: str) -> bool:
        """Whether a name is the target or the source."""
        return name in (self.target, self.other)

    def attribute(self, node: ast.Attribute) -> Optional[str]:
        """The variable of an attribute of the target or the source."""
        of_target = self._is(node.value, self.target)
        if not of_target and not self._is(node.value, self.other):
            return None
        if of_target and node.attr in self.names.results:
            self.source.fail(
                node, f"{self.target}.{node.attr} is a result; results cannot be read"
            )
        table = self.names.targets if of_target else self.names.sources
        if node.attr not in table:
            table[node.attr] = self.names_in_use.unique(node.attr + ("i" if of_target else "j"))
        return table[node.attr]

    def result(self, to: ast.expr) -> str:
        """The result variable of an attribute of the target."""
        if isinstance(to, ast.Attribute) and self._is(to.value, self.target):
            return self.names.results[to.attr]
        if isinstance(to, ast.Attribute) and self._is(to.value, self.other):
            self.source.fail(to, f"{self.other!r} is the source, which is read-only")
        self.source.fail(to, "the target of an assignment must be a name or a result")

    def assign_attribute(self, node: ast.stmt, to: ast.expr, value: ast.expr, indent: str) -> None:
        """Translate ``i.r = min(i.r, x)``, the only assignment to a result."""
        result, shown = self.result(to), ast.unparse(to)
        if isinstance(value, ast.Call) and not value.keywords:
            intrinsic = self.intrinsic(value.func)
            rest = [a for a in value.args if ast.unparse(a) != shown]
            if intrinsic and intrinsic.name in ("min", "max") and len(rest) == len(value.args) - 1:
                one = len(rest) == 1
                text = self.expression(rest[0]) if one else self.apply(value, intrinsic, rest)
                self.emit(node, f"{indent}{result} {intrinsic.name}= {text};")
                return
        self.source.fail(
            node, f"a result supports {shown} += ... and {shown} = min({shown}, ...) only"
        )

    # -- statements --------------------------------------------------------------------------

    def _if(self, node: ast.If, indent: str) -> None:
        returns = len(node.body) == 1 and isinstance(node.body[0], ast.Return)
        if not returns or self.constant(node.test) is not NotConstant:
            super()._if(node, indent)
            return
        self._check_return(node.body[0])
        self.emit(node, f"{indent}skip if ({self.expression(node.test)});")
        self.block(node.orelse, indent)

    def returned(self, node: ast.Return, indent: str) -> None:
        """Skip the rest for this pair."""
        self._check_return(node)
        self.emit(node, f"{indent}skip if (0 == 0);")

    def _check_return(self, node: ast.stmt) -> None:
        value = getattr(node, "value", None)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            self.source.fail(
                node, f"a kernel cannot return a value; write {self.target}.name += ..."
            )

    def typed(self, name: str, type_name: str) -> None:
        """Record an annotation, unless the decorator gives the type."""
        self.types.setdefault(name, type_name)

    def new_temporary(self) -> str:
        """A new name for a temporary."""
        return self.names_in_use.unique("before")


class FunctionGenerator(Statements):
    """Translates a function of numbers that a kernel calls."""

    def __init__(self, function: FunctionType, unit: TranslationUnit) -> None:
        source = Source(function)
        super().__init__(source, function, unit)
        tree = source.tree
        star = tree.args.vararg or tree.args.kwarg
        if star is not None:
            source.fail(star, "a function that a kernel calls takes named arguments only")
        names = self._names_in_use = unit.names_in_use
        self.name = names.unique(function.__name__)
        arguments = [a.arg for a in arguments_of(tree)]
        for name in arguments + sorted(self.temporaries):
            self.symbols[name] = names.unique(name)
        self.temporaries |= self.arguments
        self._value = names.unique("value")
        parameters = ", ".join(self.symbols[a] for a in arguments)
        self.emit(tree, f"function {self.name}({parameters}) {{")
        if not self._returning_block(tree.body, "  "):
            source.fail(tree, f"{function.__name__} does not return a number on every path")
        self.emit(tree, f"  return {self._value};")
        self.emit(tree, "}")

    def _returning_block(self, statements: List[ast.stmt], indent: str) -> bool:
        """Translate statements up to a return. The language has a single return at the end, so the
        statements after an if that returns move into its branches. Returns whether every path
        returns."""
        for k, node in enumerate(statements):
            if isinstance(node, ast.Return):
                if node.value is None:
                    self.source.fail(node, "the function must return a number")
                self.emit(node, f"{indent}{self._value} = {self.expression(node.value)};")
                return True
            if isinstance(node, ast.If) and _returns(node):
                return self._returning_if(node, statements[k + 1 :], indent)
            self.statement(node, indent)
        return False

    def _returning_if(self, node: ast.If, rest: List[ast.stmt], indent: str) -> bool:
        known = self.constant(node.test)
        if known is not NotConstant:
            return self._returning_block((node.body if known else node.orelse) + rest, indent)
        self.emit(node, f"{indent}if ({self.expression(node.test)}) {{")
        first = self._returning_block(node.body + rest, indent + "  ")
        self.emit(node, f"{indent}}} else {{")
        second = self._returning_block(node.orelse + rest, indent + "  ")
        self.emit(node, f"{indent}}}")
        return first and second

    def returned(self, node: ast.Return, indent: str) -> None:
        """A return in a loop; ``_returning_block`` translates all others."""
        self.source.fail(node, "a function cannot return from inside a loop")

    def new_temporary(self) -> str:
        """A new name for a temporary."""
        return self._names_in_use.unique("before")


def _returns(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Return) for n in ast.walk(node))


