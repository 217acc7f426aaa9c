"""Which attributes and parameters of a kernel's function are vectors or tensors.

A Python function does not declare shapes: they follow from their use. Values that are added,
assigned or passed to each other have one shape; ``np.dot``, ``np.cross``, ``np.linalg.norm``, an
index and the like take vectors, which have three components where nothing says that they have two.
A parameter that is only the box of the minimum image of a vector is a vector. What remains open is a
number. Functions that the kernel calls are included. A result is complex if a complex number is added
to it; what is combined with complex numbers may be real.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from types import FunctionType
from typing import Any, Callable, Dict, Hashable, List, Mapping, Optional, Set, Tuple

import numpy as np

from ._reductions import read_reduction
from ._source import NotConstant, Scope, Source, to_python
from .errors import ProgramError

PLANE, VECTOR, TENSOR, COMPLEX = "vec2", "vec3", "sym3", "complex"
SHAPES = (PLANE, VECTOR, TENSOR, COMPLEX)
VECTORS = (VECTOR, PLANE)
#: Numbers of components, and names of those of vectors.
SIZES = {PLANE: 2, VECTOR: 3, TENSOR: 6, COMPLEX: 2}
COMPONENTS = "xyz"

Term = Hashable


def shape_of_constant(value: Any) -> Optional[str]:
    """The shape of a constant: that of an array, a tuple or a list of 2, 3 or 3 by 3 numbers."""
    if isinstance(value, complex):
        return COMPLEX
    if not isinstance(value, (tuple, list, np.ndarray)):
        return None
    try:
        shape = np.shape(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        return None
    return {(2,): PLANE, (3,): VECTOR, (3, 3): TENSOR}.get(shape)


class Shapes:
    """Terms with equal shapes, and the shapes that are known."""

    def __init__(self) -> None:
        self._parents: Dict[Term, Term] = {}
        self._known: Dict[Term, str] = {}
        #: Terms that are vectors, of three components if nothing else is known.
        self._vectors: List[Term] = []
        #: Terms of which an element is taken, by function and place.
        self._indexed: Dict[Tuple[FunctionType, int, int], Term] = {}
        #: Rules that are applied until nothing changes; they return whether something did.
        self.rules: List[Callable[[], bool]] = []

    def find(self, term: Term) -> Term:
        """The representative of the terms that have the shape of this one."""
        while self._parents.get(term, term) != term:
            term = self._parents[term]
        return term

    def equal(self, a: Optional[Term], b: Optional[Term]) -> bool:
        """State that two terms have one shape; whether this is new."""
        if a is None or b is None:
            return False
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        self._parents[a] = b
        if a in self._known:
            self._known.setdefault(b, self._known.pop(a))
        return True

    def state(self, term: Optional[Term], shape: Optional[str]) -> bool:
        """State the shape of a term; whether this is new."""
        if term is None or shape is None or self.shape(term) is not None:
            return False
        self._known[self.find(term)] = shape
        return True

    def state_vector(self, term: Optional[Term]) -> None:
        """State that a term is a vector."""
        if term is not None:
            self._vectors.append(term)

    def shape(self, term: Optional[Term]) -> Optional[str]:
        """The known shape of a term, None for numbers."""
        return None if term is None else self._known.get(self.find(term))

    def state_indexed(self, function: FunctionType, node: ast.Subscript, term: Term) -> None:
        """State that a term is a vector of which a function takes an element."""
        self._indexed[function, node.lineno, node.col_offset] = term
        self.state_vector(term)

    def of_indexed(self, function: FunctionType, node: ast.Subscript) -> Optional[str]:
        """The known shape of what a function takes an element of."""
        return self.shape(self._indexed.get((function, node.lineno, node.col_offset)))

    def solve(self) -> None:
        """Apply the rules until nothing changes, then with the next vector that is still open."""
        while any([rule() for rule in self.rules]) or any(  # noqa: C419 (every rule is applied)
            self.state(term, VECTOR) for term in self._vectors
        ):
            pass


class ShapeReader(ast.NodeVisitor):
    """Reads the statements of one function; ``visit`` of an expression returns its term."""

    def __init__(
        self,
        shapes: Shapes,
        source: Source,
        function: FunctionType,
        intrinsic: Callable[[ast.expr, Scope], Any],
        particles: Tuple[str, ...] = (),
        done: Optional[Set[FunctionType]] = None,
    ) -> None:
        self.shapes, self.function, self.particles = shapes, function, particles
        self.done = done if done is not None else {function}
        self._intrinsic = intrinsic
        stored = {
            n.id
            for n in ast.walk(source.tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        arguments = source.tree.args
        self.arguments = [
            a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        ]
        self.local_names = stored.union(self.arguments)
        #: How often each parameter without a default is read, and how often as a periodic box.
        defaults = len(arguments.defaults)
        self.reads = Counter(
            n.id
            for n in ast.walk(source.tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        )
        with_default = {
            a.arg
            for a in [*arguments.posonlyargs, *arguments.args][::-1][:defaults] + arguments.kwonlyargs
        }
        self.open_parameters = set(self.arguments) - with_default - stored - set(particles)
        self.boxes: Counter[str] = Counter()
        self.scope = Scope(source, function, self.local_names)
        for statement in source.tree.body:
            self.visit(statement)

    def name(self, name: str) -> Term:
        """The term of a local name."""
        return (self.function, name)

    def attribute(self, particle: str, name: str) -> Term:
        """The term of an attribute of a particle, by the name of the argument."""
        return (self.function, particle, name)

    def constant(self, node: ast.expr) -> Any:
        try:
            return to_python(self.scope.value(node))
        except (NotConstant, ProgramError):
            return NotConstant

    # -- expressions -----------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> Optional[Term]:
        if node.id in self.local_names:
            return self.name(node.id)
        return self._constant_term(node)

    def _constant_term(self, node: ast.expr) -> Optional[Term]:
        shape = shape_of_constant(self.constant(node))
        if shape is None:
            return None
        term = (id(node),)
        self.shapes.state(term, shape)
        return term

    def visit_Constant(self, node: ast.Constant) -> Optional[Term]:
        return self._constant_term(node)

    def visit_Tuple(self, node: ast.Tuple) -> Optional[Term]:
        self.generic_visit(node)
        return self._constant_term(node)

    def visit_List(self, node: ast.List) -> Optional[Term]:
        self.generic_visit(node)
        return self._constant_term(node)

    def visit_Attribute(self, node: ast.Attribute) -> Optional[Term]:
        if isinstance(node.value, ast.Name) and node.value.id in self.particles:
            return self.attribute(node.value.id, node.attr)
        self.generic_visit(node)  # `z.real`
        return self._constant_term(node)

    def visit_BinOp(self, node: ast.BinOp) -> Optional[Term]:
        left, right = self.visit(node.left), self.visit(node.right)
        result: Term = (id(node),)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            self.shapes.rules.append(lambda: self._sum([left, right], result))
        elif isinstance(node.op, ast.MatMult):
            self._dot(left, right, result)
        elif isinstance(node.op, ast.Pow):
            self.shapes.rules.append(lambda: self._same(left, result))
        elif isinstance(node.op, ast.Div):
            self.shapes.rules.append(
                lambda: self._product(left, right, result)
                or (self.shapes.shape(result) != COMPLEX and self._same(result, left))
            )
        elif isinstance(node.op, ast.Mult):
            self.shapes.rules.append(lambda: self._product(left, right, result))
        return result

    def _same(self, of: Optional[Term], to: Optional[Term]) -> bool:
        """The second term has the shape of the first as soon as that is known."""
        return self.shapes.state(to, self.shapes.shape(of))

    def _sum(self, parts: List[Optional[Term]], result: Optional[Term]) -> bool:
        """Terms that are added, or chosen from, have one shape, but numbers may be complex or real."""
        terms = [*parts, result]
        known = [self.shapes.shape(term) for term in terms]
        if COMPLEX in known:
            return COMPLEX in known[:-1] and self.shapes.state(result, COMPLEX)
        shape = next((s for s in known if s is not None), None)
        return any([self.shapes.state(term, shape) for term in terms])  # noqa: C419

    def _product(self, left: Optional[Term], right: Optional[Term], result: Term) -> bool:
        shapes = {self.shapes.shape(left), self.shapes.shape(right)}
        shape = next((s for s in (*VECTORS, TENSOR, COMPLEX) if s in shapes), None)
        return self.shapes.state(result, shape)

    def _dot(self, left: Optional[Term], right: Optional[Term], result: Term) -> None:
        """A tensor times a vector is a vector; otherwise the arguments are vectors of one length."""

        def rule() -> bool:
            changed = False
            for one, other in ((left, right), (right, left)):
                if self.shapes.shape(one) == TENSOR:
                    changed |= self.shapes.state(other, VECTOR)
                    if self.shapes.shape(other) == VECTOR:
                        changed |= self.shapes.state(result, VECTOR)
                elif self.shapes.shape(one) in VECTORS:
                    changed |= self.shapes.state(other, self.shapes.shape(one))
            return changed

        self.shapes.rules.append(rule)
        for term in (left, right):
            self.shapes.state_vector(term)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Optional[Term]:
        operand: Optional[Term] = self.visit(node.operand)
        return None if isinstance(node.op, ast.Not) else operand

    def visit_IfExp(self, node: ast.IfExp) -> Optional[Term]:
        self.visit(node.test)
        first: Optional[Term] = self.visit(node.body)
        second: Optional[Term] = self.visit(node.orelse)
        result: Term = (id(node),)
        self.shapes.rules.append(lambda: self._sum([first, second], result))
        return result

    def visit_Subscript(self, node: ast.Subscript) -> Optional[Term]:
        if self.constant(node) is NotConstant:
            self.visit(node.slice)
            if self.constant(node.value) is NotConstant:  # else it is a table
                self._element(node)
        return None

    def _element(self, node: ast.Subscript) -> None:
        term: Optional[Term] = self.visit(node.value)
        if term is not None:
            self.shapes.state_indexed(self.function, node, term)

    def visit_Call(self, node: ast.Call) -> Optional[Term]:
        arguments = [self.visit(a) for a in node.args]
        keywords = {k.arg: self.visit(k.value) for k in node.keywords}
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate":
            of: Optional[Term] = self.visit(node.func.value)
            return of
        result: Term = (id(node),)
        found = self._intrinsic(node.func, self.scope)
        if found is not None:
            self._call_intrinsic(found, arguments, node, result)
            return result
        callee = self.constant(node.func)
        if isinstance(callee, FunctionType):
            self._call_function(callee, arguments, keywords, result)
            return result
        return None

    def _call_intrinsic(
        self, found: Any, arguments: List[Optional[Term]], node: ast.Call, result: Term
    ) -> None:
        if found.name == "dot" and len(arguments) == 2:
            self._dot(arguments[0], arguments[1], result)
        elif found.name == "where" and len(arguments) == 3:
            self.shapes.rules.append(lambda: self._sum(arguments[1:], result))
        elif found.name in ("exp", "conj", "pow", "square") and arguments:
            self.shapes.rules.append(
                lambda: self.shapes.shape(arguments[0]) == COMPLEX
                and self.shapes.state(result, COMPLEX)
            )
        elif found.name == "complex":
            self.shapes.state(result, COMPLEX)
        elif found.name == "grad" and len(arguments) == 2:
            self.shapes.equal(arguments[1], result)
        elif found.name == "vector":
            elements = node.args[0] if node.args else None
            two = isinstance(elements, (ast.List, ast.Tuple)) and len(elements.elts) == 2
            self.shapes.state(result, PLANE if two else VECTOR)
        elif found.name == "minimum_image" and arguments:
            self.shapes.equal(arguments[0], result)
            if len(arguments) == 2:
                self._box(arguments[0], node.args[1], arguments[1])
        elif found.name == "cross" and len(arguments) == 2:
            self.shapes.equal(arguments[0], arguments[1])
            self.shapes.state_vector(arguments[0])
            self.shapes.rules.append(lambda: self._cross(arguments[0], result))
        elif found.name in ("norm", "norm2") and arguments:
            self.shapes.state_vector(arguments[0])
        elif found.name == "outer":
            for argument in arguments:
                self.shapes.state_vector(argument)
            self.shapes.state(result, TENSOR)
        elif found.name == "trace" and arguments:
            self.shapes.state(arguments[0], TENSOR)

    def _cross(self, argument: Optional[Term], result: Term) -> bool:
        """In a plane the vector product is a number."""
        return self.shapes.shape(argument) == VECTOR and self.shapes.state(result, VECTOR)

    def _box(self, d: Optional[Term], node: ast.expr, box: Optional[Term]) -> None:
        """The box of a vector is a vector of edges, if it is a parameter without other uses."""
        if not isinstance(node, ast.Name) or node.id not in self.open_parameters:
            return
        self.boxes[node.id] += 1
        if self.boxes[node.id] == self.reads[node.id]:
            self.shapes.rules.append(
                lambda: self.shapes.shape(d) in VECTORS
                and self.shapes.state(box, self.shapes.shape(d))
            )

    def _call_function(
        self,
        callee: FunctionType,
        arguments: List[Optional[Term]],
        keywords: Mapping[Optional[str], Optional[Term]],
        result: Term,
    ) -> None:
        if callee not in self.done:
            self.done.add(callee)
            try:
                ShapeReader(self.shapes, Source(callee), callee, self._intrinsic, (), self.done)
            except ProgramError:  # reported by the translation
                return
        try:
            given = {k: v for k, v in keywords.items() if k is not None}
            bound = inspect.signature(callee).bind(*arguments, **given)
        except TypeError:  # reported by the translation
            return
        for name, term in bound.arguments.items():
            self.shapes.equal((callee, name), term)
        self.shapes.equal((callee,), result)

    # -- statements ------------------------------------------------------------------------------

    def _target(self, to: ast.expr) -> Optional[Term]:
        if isinstance(to, ast.Subscript):
            self._element(to)
            return None
        if isinstance(to, (ast.Name, ast.Attribute)):
            term: Optional[Term] = self.visit(to)
            return term
        return None

    def visit_Assign(self, node: ast.Assign) -> None:
        for to in node.targets:
            reduction = read_reduction(to, node.value, self.constant)
            if reduction is not None:
                terms = [self.visit(value) for value in reduction.values]
                # The value of a weighted mean may be a vector.
                for one, term in list(zip(reduction.results, terms))[1:]:
                    self.shapes.equal(self._target(one), term)
            elif not isinstance(to, (ast.Tuple, ast.List)):
                self.shapes.equal(self._target(to), self.visit(node.value))
            elif isinstance(node.value, (ast.Tuple, ast.List)):
                for one, value in zip(to.elts, node.value.elts):
                    self.shapes.equal(self._target(one), self.visit(value))
            elif self.constant(node.value) is NotConstant:
                value = self.visit(node.value)
                if len(to.elts) == SIZES[PLANE]:
                    self.shapes.state(value, PLANE)
                self.shapes.state_vector(value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        to, value = self._target(node.target), self.visit(node.value)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            self.shapes.rules.append(lambda: self._sum([value], to))

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.shapes.equal((self.function,), self.visit(node.value))
