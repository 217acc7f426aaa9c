"""Translation of a Python function to the kernel language: interface, functions and text."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any, Dict, List, Mapping, Optional, Set

import numpy as np

from ._diagnostics import Line, Marks
from ._expressions import LANGUAGE_FUNCTIONS, find_intrinsic, subscripts
from ._kernel import VariableNames
from ._names import advice
from ._quantities import endings
from ._shapes import SHAPES, VECTORS, ShapeReader, Shapes, shape_of_constant
from ._source import NotConstant, Source
from ._statements import Statements, Translated

_RESERVED = {"CONST", "VARI", "VARJ", "VARF", "identity", *SHAPES, *LANGUAGE_FUNCTIONS}


def unique(name: str, used: Set[str]) -> str:
    """A name similar to this one that is not in use; non-ASCII letters become their code points."""
    name = "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
    while name in used:
        name += "_"
    return name


class TranslationUnit:
    """A kernel's function and the functions that it calls."""

    def __init__(
        self, function: FunctionType, types: Mapping[str, str], quantities: Mapping[str, str]
    ) -> None:
        self._names_in_use = set(_RESERVED)
        self._translated: Dict[FunctionType, str] = {}
        #: Constant arrays that are read at a computed index, by name.
        self.tables: Dict[str, "np.ndarray[Any, Any]"] = {}
        self._table_names: Dict[str, str] = {}  # theirs in Python
        self._call_stack: List[FunctionType] = [function]
        self._functions: List[Translated] = []
        #: Expressions of Python by the variables of the translation.
        self.python_names: Dict[str, str] = {}
        self.marks = Marks()
        self.shapes = Shapes()
        self.kernel = KernelGenerator(function, types, quantities, self)
        self.python_names.update(self.kernel.python_names())
        #: Origin of each line of the text.
        self.lines: Dict[int, Line] = {}

    def unique(self, name: str) -> str:
        """A new name in the kernel language, similar to this one."""
        new = unique(name, self._names_in_use)
        self._names_in_use.add(new)
        return new

    def table(self, name: str, array: "np.ndarray[Any, Any]") -> str:
        """The name in the kernel language of a table with these elements."""
        for known, other in self.tables.items():
            if self._table_names[known] == name and np.array_equal(array, other):
                return known
        new = self.unique(name)
        self.tables[new] = array
        self._table_names[new] = name
        return new

    def text(self, precision: str, flops: Optional[float]) -> str:
        """The kernel as text of the kernel language."""
        head = [f"kernel {self.kernel.name};"]
        if flops is not None:
            head.append(f"flops {flops:g};")
        if precision == "long":
            head.append("precision long;")
        definition = Line(self.kernel.source, self.kernel.source.line(self.kernel.source.tree))
        sizes = {name: "".join(f"[{n}]" for n in a.shape) for name, a in self.tables.items()}
        tables = [f"CONST table {name}{size};" for name, size in sizes.items()]
        declared = [*tables, *self.kernel.declarations()]
        declarations = [Translated(text, definition) for text in declared]
        body = declarations + self._functions + self.kernel.body
        self.lines = {len(head) + k: line.origin for k, line in enumerate(body, 1)}
        return "\n".join(head + [line.text for line in body]) + "\n"

    def translated(self, function: FunctionType, source: Source, node: ast.AST) -> str:
        """The name of a called function, translated on first use."""
        if function in self._call_stack:
            name = function.__name__
            source.fail(node, f"{name} calls itself; a kernel does not support recursion")
        if function not in self._translated:
            self._call_stack.append(function)
            generator = FunctionGenerator(function, self)
            self._call_stack.pop()
            self._functions += generator.body
            self.python_names.update((v, name) for name, v in generator.symbols.items())
            self._translated[function] = generator.name
        return self._translated[function]


class KernelGenerator(Statements):
    """Translates the kernel's function of a target, a source and parameters."""

    def __init__(
        self,
        function: FunctionType,
        types: Mapping[str, str],
        quantities: Mapping[str, str],
        unit: TranslationUnit,
    ) -> None:
        super().__init__(function, unit)
        self.types.update(types)
        self._given_types = set(types)
        self._quantities = quantities
        self.names = VariableNames()
        #: Numbers of elements of results that are arrays, and results that are ints.
        self._counts: Dict[str, int] = {}
        self._ints: Set[str] = set()
        self.name = unique(function.__name__, _RESERVED)
        tree = self.source.tree
        self._check_arguments(tree)
        self.target, self.other, *params = self.arguments
        self._shapes = self._infer_shapes()
        self.defaults = self._defaults(tree)
        self.unit.shapes.solve()
        for name in sorted(params) + sorted(self.temporaries):
            self.symbols[name] = unit.unique(name)
        self.names.params = {name: self.symbols[name] for name in params}
        self._collect_results(tree)
        self._find_indices(tree)
        self.block(tree.body)
        if not self.names.results:
            self.source.fail(tree, f"the kernel has no result; write {self.target}.name += ...")
        self._check_types()

    def python_names(self) -> Dict[str, str]:
        """Expressions of Python by the variables of the translation."""
        tables = (self.names.targets, self.target), (self.names.sources, self.other)
        found = {v: f"{owner}.{name}" for table, owner in tables for name, v in table.items()}
        found.update((v, f"{self.target}.{name}") for name, v in self.names.results.items())
        found.update((variable, name) for name, variable in self.symbols.items())
        return found

    def _check_arguments(self, tree: ast.FunctionDef) -> None:
        star = tree.args.vararg or tree.args.kwarg
        if star is not None:
            self.source.fail(
                star, "a kernel takes named arguments only: a target, a source, parameters"
            )
        positional = [*tree.args.posonlyargs, *tree.args.args]
        if positional and positional[0].arg in ("self", "cls"):
            self.source.fail(
                positional[0], "a kernel cannot be a method: put @staticmethod above @gdr.kernel"
            )
        if len(positional) < 2:
            self.source.fail(tree, "a kernel takes a target, a source, and parameters")

    def _infer_shapes(self) -> ShapeReader:
        """What the function and the given types state about shapes."""
        particles = (self.target, self.other)
        shapes = self.unit.shapes
        read = ShapeReader(shapes, self.source, self.function, find_intrinsic, particles)
        for name, words in self.types.items():
            shape = next((w for w in words.split() if w in SHAPES), None)
            terms = [read.name(name), *(read.attribute(p, name) for p in particles)]
            for term in terms:
                shapes.state(term, shape)
        return read

    def _defaults(self, tree: ast.FunctionDef) -> Dict[str, Any]:
        """Default values of parameters, whose shapes are stated."""
        positional = [*tree.args.posonlyargs, *tree.args.args]
        last = positional[len(positional) - len(tree.args.defaults) :]
        keyword = zip(tree.args.kwonlyargs, tree.args.kw_defaults)
        defaults = {}
        for argument, expression in (*zip(last, tree.args.defaults), *keyword):
            if expression is None:
                continue
            value = self.constant(expression)
            shape = shape_of_constant(value)
            is_vector = shape in VECTORS
            if isinstance(value, bool) or not (isinstance(value, (int, float)) or is_vector):
                self.source.fail(
                    expression, "the default of a parameter must be a number, or two or three of them"
                )
            if is_vector:
                self.unit.shapes.state(self._shapes.name(argument.arg), shape)
            if argument.arg in (self.target, self.other):
                self.source.fail(expression, "a target or a source cannot have a default")
            defaults[argument.arg] = tuple(map(float, value)) if is_vector else float(value)
        return defaults

    def declarations(self) -> List[str]:
        """Declarations of the interface, and of temporaries with a given type."""
        lines = []
        for keyword, particle, table in (
            ("CONST", None, self.names.params),
            ("VARI", self.target, self.names.targets),
            ("VARJ", self.other, self.names.sources),
        ):
            types = {name: self._type(name, particle) for name in table}
            kinds = {name: _kind(words) for name, words in types.items()}
            ending = endings(keyword, kinds, self._quantities)
            lines += [f"{keyword} {types[name]}{table[name]}{ending[name]};" for name in ending]
        for name, symbol in self.names.results.items():
            words = "int " if name in self._ints else self._type(name, self.target)
            size = f"[{self._counts[name]}]" if name in self._counts else ""
            lines.append(f"VARF {words}{symbol}{size};")
        typed = sorted(self.temporaries & set(self.types))
        return lines + [f"{self.types[name]} {self.symbols[name]};" for name in typed]

    def _type(self, name: str, particle: Optional[str]) -> str:
        """The type words of a parameter, or of an attribute of a particle."""
        words = self.types.get(name, "").split()
        read = self._shapes
        term = read.name(name) if particle is None else read.attribute(particle, name)
        shape = read.shapes.shape(term)
        if shape is not None and not set(SHAPES).intersection(words):
            words.append(shape)
        return " ".join([*words, ""])

    def _check_types(self) -> None:
        names = self.names
        known = self.temporaries.union(names.params, names.targets, names.sources, names.results)
        unknown = sorted(self._given_types - known)
        if unknown:
            what = f"types: the kernel has no variable {', '.join(map(repr, unknown))}"
            raise ValueError(what + advice(unknown, sorted(known), self.types))
        inputs = {*names.params, *names.targets, *names.sources}
        unread = sorted(set(self._quantities) - inputs)
        if unread:
            what = f"quantities: the kernel has no input {', '.join(map(repr, unread))}"
            raise ValueError(what + advice(unread, sorted(inputs), self._quantities))

    # -- particles ---------------------------------------------------------------------------

    def _collect_results(self, tree: ast.FunctionDef) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                node, is_stored = node.value, True
            else:
                is_stored = isinstance(getattr(node, "ctx", None), ast.Store)
            if isinstance(node, ast.Attribute) and is_stored:
                if self._is(node.value, self.target) and node.attr not in self.names.results:
                    self.names.results[node.attr] = self.unit.unique(node.attr)

    def _find_indices(self, tree: ast.FunctionDef) -> None:
        """Attributes that are the index of a constant array are integers."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.Subscript):
                continue
            base, indices = subscripts(node)
            if self.constant(base) is NotConstant:
                continue
            for index in indices:
                if isinstance(index, ast.Attribute) and any(
                    self._is(index.value, particle) for particle in (self.target, self.other)
                ):
                    self.types.setdefault(index.attr, "int")

    @staticmethod
    def _is(node: ast.AST, name: str) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    def visit_Name(self, node: ast.Name) -> str:
        if node.id in (self.target, self.other):
            self.source.fail(node, f"{node.id!r} is a particle; use one of its attributes")
        return super().visit_Name(node)

    def visit_Attribute(self, node: ast.Attribute) -> str:
        """The variable of an attribute of the target or the source."""
        of_target = self._is(node.value, self.target)
        if not of_target and not self._is(node.value, self.other):
            return super().visit_Attribute(node)
        if of_target and node.attr in self.names.results:
            self.source.fail(
                node, f"{self.target}.{node.attr} is a result; results cannot be read"
            )
        table = self.names.targets if of_target else self.names.sources
        if node.attr not in table:
            table[node.attr] = self.unit.unique(node.attr + ("i" if of_target else "j"))
        return table[node.attr]

    def result(self, to: ast.expr) -> str:
        """The result variable of an attribute of the target."""
        if isinstance(to, ast.Subscript) and isinstance(to.value, ast.Attribute):
            return f"{self.result(to.value)}.{self.component(to)}"
        if isinstance(to, ast.Attribute) and self._is(to.value, self.target):
            return self.names.results[to.attr]
        if isinstance(to, ast.Attribute) and self._is(to.value, self.other):
            self.source.fail(to, f"{self.other!r} is the source, which is read-only")
        self.source.fail(to, "the target of an assignment must be a name or a result")

    def integer_result(self, to: ast.expr) -> None:
        if isinstance(to, ast.Attribute):
            self._ints.add(to.attr)

    def array_result(self, to: ast.expr, count: int) -> None:
        if not isinstance(to, ast.Attribute):
            return
        if self._counts.setdefault(to.attr, count) != count:
            before = self._counts[to.attr]
            self.source.fail(
                to, f"{ast.unparse(to)} has {count} elements here, and {before} before"
            )

    # -- statements --------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> None:
        returns = len(node.body) == 1 and isinstance(node.body[0], ast.Return)
        if not returns or self.constant(node.test) is not NotConstant:
            super().visit_If(node)
            return
        self._check_return(node.body[0])
        self.emit(node, f"skip if ({self.expression(node.test)});")
        self.block(node.orelse)

    def visit_Return(self, node: ast.Return) -> None:
        """Skip the rest for this pair."""
        self._check_return(node)
        self.emit(node, "skip if (0 == 0);")

    def _check_return(self, node: ast.stmt) -> None:
        value = getattr(node, "value", None)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            self.source.fail(
                node, f"a kernel cannot return a value; write {self.target}.name += ..."
            )


def _kind(words: str) -> str:
    """The shape in the words of a type, or "int" or "number"."""
    shape = next((word for word in words.split() if word in SHAPES), "")
    return shape or ("int" if "int" in words.split() else "number")


class FunctionGenerator(Statements):
    """Translates a function of numbers that a kernel calls."""

    def __init__(self, function: FunctionType, unit: TranslationUnit) -> None:
        super().__init__(function, unit)
        tree = self.source.tree
        star = tree.args.vararg or tree.args.kwarg
        if star is not None:
            self.source.fail(star, "a function that a kernel calls takes named arguments only")
        self.name = unit.unique(function.__name__)
        for name in self.arguments + sorted(self.temporaries):
            self.symbols[name] = unit.unique(name)
        self.temporaries.update(self.arguments)
        self._value = unit.unique("value")
        parameters = ", ".join(self.symbols[a] for a in self.arguments)
        self.emit(tree, f"function {self.name}({parameters}) {{")
        with self.indented():
            if not self._returning_block(tree.body):
                self.source.fail(
                    tree, f"{function.__name__} does not return a number on every path"
                )
            self.emit(tree, f"return {self._value};")
        self.emit(tree, "}")

    def _returning_block(self, statements: List[ast.stmt]) -> bool:
        """Translate statements up to a return. The language has a single return at the end, so the
        statements after an if that returns move into its branches. Returns whether every path
        returns."""
        for k, node in enumerate(statements):
            if isinstance(node, ast.Return):
                if node.value is None:
                    self.source.fail(node, "the function must return a number")
                self.emit(node, f"{self._value} = {self.expression(node.value)};")
                return True
            returns = any(isinstance(n, ast.Return) for n in ast.walk(node))
            if isinstance(node, ast.If) and returns:
                return self._returning_if(node, statements[k + 1 :])
            self.visit(node)
        return False

    def _returning_if(self, node: ast.If, rest: List[ast.stmt]) -> bool:
        known = self.constant(node.test)
        if known is not NotConstant:
            return self._returning_block((node.body if known else node.orelse) + rest)
        self.emit(node, f"if ({self.expression(node.test)}) {{")
        with self.indented():
            first = self._returning_block(node.body + rest)
        self.emit(node, "} else {")
        with self.indented():
            second = self._returning_block(node.orelse + rest)
        self.emit(node, "}")
        return first and second

    def visit_Return(self, node: ast.Return) -> None:
        """A return in a loop; ``_returning_block`` translates all others."""
        self.source.fail(node, "a function cannot return from inside a loop")
