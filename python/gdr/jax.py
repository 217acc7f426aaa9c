"""Kernels and gravity as functions of JAX: inside of ``jit``, ``grad``, ``jvp`` and ``vmap``.

    import gdr.jax
    acc, pot = gdr.jax.gravity(pos, mass, eps=0.01)
    law = gdr.jax.function(kernel)                  # of gdr.compile, @gdr.kernel, or the library
    jax.grad(lambda x: law(targets={"x": x}, sources={"x": x}, k=2.0)["u"].sum())(x)

Derivatives of any order are sums by adjoint kernels, which the compiler makes of the kernel's text
(``Kernel.adjoint``). Calls run on the CPU, on a device of ``gdr.open``, and read and write the
arrays of JAX in place. Numbers have the widest floating-point type of JAX's arrays among the
arguments, float32 at least. Needs JAX 0.4.31 or later.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

try:
    import jax
    import jax.extend.core
    import jax.numpy as jnp
    from jax.interpreters import ad, batching, mlir
except ImportError as error:
    raise ImportError("gdr.jax needs the package jax (pip install jax)") from error

from . import _xla
from ._forces import KernelLike, kernel_of
from ._laws import PARAMS, SOURCES, BoundLaw, Law, Operand, bound_law, gravity_kernel
from ._open import DeviceLike
from .results import Gravity, ResultArrays

__all__ = ["function", "gravity"]

jax.tree_util.register_pytree_with_keys(
    ResultArrays,
    lambda r: (tuple((jax.tree_util.DictKey(k), a) for k, a in r.items()), tuple(r)),
    lambda names, arrays: ResultArrays(zip(names, arrays)),
)

#: The sums of a law: operands in, results out; of so many independent systems of equal size one
#: after the other (`systems`), which share the params.
_sums = jax.extend.core.Primitive("gdr_sums")
_sums.multiple_results = True
#: Changes of the results for changes of some operands, in which they are linear.
_tangent = jax.extend.core.Primitive("gdr_tangent")
_tangent.multiple_results = True


def function(
    kernel: KernelLike,
    results: Optional[Sequence[str]] = None,
    *,
    device: Optional[DeviceLike] = None,
) -> Callable[..., ResultArrays]:
    """A function of JAX that computes a kernel's sums.

    It is called like the kernel, ``f(targets={...}, sources={...}, k=2.0)``, with arrays of JAX, of
    NumPy, or numbers, and returns a ``gdr.ResultArrays`` of arrays of JAX. ``results``: names of
    those to compute. ``device``: a device or its name, as in other functions of the package.

    Targets, sources and parameters that are floating-point numbers may be differentiated; ints,
    tables and results that are ints have no derivative. Raises TypeError, ValueError and UsageError
    as the kernel does; errors that depend on numbers, such as a NaN, are raised by JAX when the
    program runs.

    Examples:
        >>> import jax
        >>> law = gdr.compile("VARI x; VARJ y, q; CONST k; VARF u; u += q*exp(-k*(x - y)^2);")
        >>> u = gdr.jax.function(law)
        >>> total = lambda k: u(targets={"x": x}, sources={"y": y, "q": q}, k=k).u.sum()
        >>> slope = jax.grad(total)(1.0)
        >>> bool(abs(slope - (total(1.01) - total(0.99)) / 0.02) < 0.02 * abs(slope))
        True
    """
    law = kernel_of(kernel)

    def call(
        *, targets: Mapping[str, Any], sources: Mapping[str, Any], **params: Any
    ) -> ResultArrays:
        bound = bound_law(law, targets, sources, params, results)
        return ResultArrays(zip(bound.names, _call(bound, device)))

    call.__name__ = law.name
    call.__doc__ = f"The sums of the kernel {law.name}; see gdr.jax.function."
    return call


def gravity(
    pos: Any,
    mass: Any,
    eps: Any = 0.0,
    targets: Optional[Any] = None,
    *,
    device: Optional[DeviceLike] = None,
) -> Gravity:
    """``gdr.gravity`` by direct sums, as a function of JAX.

    ``pos`` (n, 3), ``mass`` (n,) or a number, the softening ``eps`` and ``targets`` (m, 3) may be
    differentiated. Without targets a particle does not act on itself.

    Examples:
        >>> import jax
        >>> energy = lambda r: (gdr.jax.gravity(jax.numpy.array([[0, 0, 0], [r, 0, 0]]), 1.0).pot).sum() / 2
        >>> print(energy(2.0), jax.grad(energy)(2.0))
        -0.5 0.25
    """
    pos = jnp.asarray(pos)
    at, of = {"pos": pos if targets is None else targets}, {"at": pos, "mass": mass}
    if targets is None:
        at["id"] = of["number"] = np.arange(len(pos))
    bound = bound_law(gravity_kernel(), at, of, {"eps": eps}, ("acc", "pot"))
    return Gravity(*_call(bound, device))


def _call(bound: BoundLaw, device: Optional[DeviceLike]) -> List[Any]:
    """The results of a law of arrays, after numbers have been repeated for all items."""
    operands, values = bound.law.operands, [jnp.asarray(v) for v in bound.values]
    kinds = [v.dtype for v in bound.values if isinstance(v, jax.Array)]
    floats = [k for k in kinds if jnp.issubdtype(k, jnp.floating)]
    kind = functools.reduce(jnp.promote_types, floats, jnp.dtype(np.float32))
    kind = kind if floats else jnp.result_type(float)
    counts = bound.law.given_counts([v.shape for v in values])
    made = []
    for o, value in zip(operands, values):
        if o.integer and not jnp.issubdtype(value.dtype, jnp.integer):
            raise TypeError(f"{o.name}: expected integers, got {value.dtype}")
        value = value if o.integer else value.astype(kind)
        if o.items != PARAMS and value.ndim == len(o.sizes):
            value = jnp.broadcast_to(value, (counts[o.items], *o.sizes))
        made.append(value)
    bound.law.counts([v.shape for v in made])
    found: List[Any] = _sums.bind(*made, law=bound.law, device=device, systems=1)
    return [found[k] for k in bound.wanted]


def _results(operands: Sequence[Any], law: Law) -> List[Any]:
    """Shapes and types of the results of operands."""
    kinds = [a.dtype for o, a in zip(law.operands, operands) if not o.integer]
    floating = functools.reduce(jnp.promote_types, kinds, jnp.dtype(np.float32))
    whole = jnp.result_type(int)
    shapes = law.shapes(law.counts([a.shape for a in operands]))
    return [
        jax.core.ShapedArray(shape, whole if o.integer else floating)
        for o, shape in zip(law.results, shapes)
    ]


# -- sums ----------------------------------------------------------------------------------------


def _sums_shapes(*operands: Any, law: Law, device: Any, systems: int) -> List[Any]:
    return _results(operands, law)


#: The functions that compiled programs call, while there are such programs.
_callees: weakref.WeakValueDictionary[Tuple[Law, Any, int], _xla.Callee] = (
    weakref.WeakValueDictionary()
)


def _callee(law: Law, device: Any, systems: int) -> _xla.Callee:
    """The function that a compiled program calls for a law."""
    known = _callees.get((law, device, systems))
    if known is not None:
        return known

    def compute(arrays: List[Any], outs: List[Any]) -> None:
        work = [
            np.empty(out.shape, np.int64) if o.integer else out
            for o, out in zip(law.results, outs)
        ]
        law.compute(arrays, work, device, systems)
        for out, made in zip(outs, work):
            if out is not made:
                if not np.can_cast(np.int64, out.dtype) and (np.abs(made) > 2**31 - 1).any():
                    raise ValueError('a result exceeds int32; set "jax_enable_x64"')
                out[...] = made

    return _callees.setdefault((law, device, systems), _xla.Callee(compute))


def _sums_lowering(context: Any, *operands: Any, **options: Any) -> Any:
    rule = _xla.interface().ffi_lowering(_xla.NAME)
    callee = _callee(**options)
    context.module_context.add_keepalive(callee)
    return rule(context, *operands, call=np.int64(callee.number))


def _sums_jvp(
    operands: Sequence[Any], tangents: Sequence[Any], *, law: Law, device: Any, systems: int
) -> Tuple[List[Any], List[Any]]:
    results = _sums.bind(*operands, law=law, device=device, systems=systems)
    moving = tuple(
        k
        for k, (o, t) in enumerate(zip(law.operands, tangents))
        if not o.integer and type(t) is not ad.Zero
    )
    if not moving:
        return results, [ad.Zero.from_primal_value(r) for r in results]
    changes = iter(
        _tangent.bind(
            *operands,
            *(results[k] for k in law.known),
            *(tangents[k] for k in moving),
            law=law,
            by=moving,
            device=device,
            systems=systems,
        )
    )
    return results, [
        ad.Zero.from_primal_value(r) if o.integer else next(changes)
        for o, r in zip(law.results, results)
    ]


def _slopes(
    law: Law, by: Sequence[int], known: Sequence[Any], weights: Sequence[Any], **options: Any
) -> Dict[int, Any]:
    """Derivatives of the weighted sum of the results with respect to operands, by their number.
    ``known`` are the operands and the results."""
    found: Dict[int, Any] = {}
    for adjoint, part in law.adjoints(by):
        slopes = _sums.bind(*known, *weights, law=adjoint, **options)
        found.update(zip(part, slopes))
    for k in by:
        if k not in found:
            found[k] = jnp.zeros_like([*known, *weights][k])
    return found


# -- changes of results --------------------------------------------------------------------------


def _split(arguments: Sequence[Any], law: Law, by: Sequence[int]) -> Tuple[List[Any], List[Any]]:
    """Operands with the results, and the changes."""
    count = len(arguments) - len(by)
    return list(arguments[:count]), list(arguments[count:])


def _changing(law: Law) -> List[int]:
    return [k for k, o in enumerate(law.results) if not o.integer]


def _tangent_shapes(*arguments: Any, law: Law, by: Tuple[int, ...], **options: Any) -> List[Any]:
    shapes = _results(arguments[: len(law.operands)], law)
    return [shapes[k] for k in _changing(law)]


def _tangent_sums(*arguments: Any, law: Law, by: Tuple[int, ...], **options: Any) -> List[Any]:
    """The changes by laws: an adjoint is linear in its weights g, so that the derivative of the sum
    of v times it with respect to g is the change of the results for the changes v."""
    known, changes = _split(arguments, law, by)
    shapes = _results(known[: len(law.operands)], law)
    weights = [jnp.zeros(s.shape, s.dtype) for s in shapes]
    total = [weights[k] for k in _changing(law)]
    for adjoint, part in law.adjoints(by):
        first = len(known)
        weighted = [first + k for k in _changing(law)]
        moved = [changes[by.index(k)] for k in part]
        slopes = _slopes(adjoint, weighted, [*known, *weights], moved, **options)
        total = [a + slopes[k] for a, k in zip(total, weighted)]
    return total


def _tangent_transpose(
    weights: Sequence[Any], *arguments: Any, law: Law, by: Tuple[int, ...], **options: Any
) -> List[Any]:
    known, changes = _split(arguments, law, by)
    wanted = [k for k, v in zip(by, changes) if ad.is_undefined_primal(v)]
    given = iter(weights)
    cotangents = []
    for o, shape in zip(law.results, _results(known[: len(law.operands)], law)):
        one = ad.Zero(shape) if o.integer else next(given)
        zero = type(one) is ad.Zero
        cotangents.append(jnp.zeros(shape.shape, shape.dtype) if zero else one)
    slopes = _slopes(law, wanted, known, cotangents, **options)
    return [None] * len(known) + [
        slopes[k] if ad.is_undefined_primal(v) else None for k, v in zip(by, changes)
    ]


def _tangent_jvp(
    arguments: Sequence[Any], tangents: Sequence[Any], **options: Any
) -> Tuple[Sequence[Any], Sequence[Any]]:
    """Of higher order: by the sums of which the changes consist."""
    made = [ad.instantiate_zeros(t) for t in tangents]
    results, changes = jax.jvp(
        lambda *a: tuple(_tangent_sums(*a, **options)), tuple(arguments), tuple(made)
    )
    return results, changes


# -- vmap ----------------------------------------------------------------------------------------


def _one_by_one(primitive: Any, arguments: Sequence[Any], axes: Sequence[Any], **options: Any) -> Any:
    """One call for each element of a batch."""
    batched = [jnp.moveaxis(a, axis, 0) for a, axis in zip(arguments, axes) if axis is not None]

    def one(parts: Sequence[Any]) -> Any:
        left = iter(parts)
        full = [a if axis is None else next(left) for a, axis in zip(arguments, axes)]
        return primitive.bind(*full, **options)

    results = jax.lax.map(one, batched)
    return results, [0] * len(results)


def _in_one_call(
    primitive: Any,
    roles: Sequence[Operand],
    results: Sequence[Operand],
    arguments: Sequence[Any],
    axes: Sequence[Any],
    **options: Any,
) -> Any:
    """The elements of a batch as independent systems of one call, or as more targets where they
    share the sources. ``roles`` are those of the arguments."""
    size = next(a.shape[axis] for a, axis in zip(arguments, axes) if axis is not None)
    law, systems = options["law"], options["systems"]
    shared = systems == 1 and all(
        axis is None for o, axis in zip(roles, axes) if o.items != PARAMS and o.side == SOURCES
    )

    def stacked(o: Operand, argument: Any, axis: Optional[int]) -> Any:
        if o.items == PARAMS or (shared and o.side == SOURCES):
            return argument
        if axis is None:
            whole = jnp.broadcast_to(argument, (size, *argument.shape))
        else:
            whole = jnp.moveaxis(argument, axis, 0)
        return whole.reshape(size * whole.shape[1], *whole.shape[2:])

    options.update(law=law.of_each_target, systems=1 if shared else systems * size)
    made = primitive.bind(*map(stacked, roles, arguments, axes), **options)
    found = [a.reshape(size, a.shape[0] // size, *a.shape[1:]) for a in made]
    found = [a.sum(1) if o.items == PARAMS else a for o, a in zip(results, found)]
    return found, [0] * len(found)


def _batched(primitive: Any, roles_of: Callable[..., Tuple[Any, Any]]) -> Callable[..., Any]:
    """The rule of vmap. Systems of one call share their params: a batch of these takes one call for
    each element. ``roles_of`` gives what the arguments and results of the primitive are."""

    def rule(arguments: Sequence[Any], axes: Sequence[Any], **options: Any) -> Any:
        roles, results = roles_of(**options)
        batches = [(o, a.shape[x]) for o, a, x in zip(roles, arguments, axes) if x is not None]
        if any(o.items == PARAMS or size == 0 for o, size in batches):
            return _one_by_one(primitive, arguments, axes, **options)
        return _in_one_call(primitive, roles, results, arguments, axes, **options)

    return rule


def _sums_roles(law: Law, **options: Any) -> Tuple[Any, Any]:
    return law.operands, law.results


def _tangent_roles(law: Law, by: Sequence[int], **options: Any) -> Tuple[Any, Any]:
    known = [law.results[k] for k in law.known]
    changes = [law.operands[k] for k in by]
    return [*law.operands, *known, *changes], [law.results[k] for k in _changing(law)]


@functools.lru_cache(maxsize=256)
def _compiled(primitive: Any, **options: Any) -> Any:
    """A primitive alone as a compiled program, for calls outside of ``jit``."""
    return jax.jit(functools.partial(primitive.bind, **options))


_sums.def_impl(lambda *a, **options: _compiled(_sums, **options)(*a))
_sums.def_abstract_eval(_sums_shapes)
ad.primitive_jvps[_sums] = _sums_jvp
batching.primitive_batchers[_sums] = _batched(_sums, _sums_roles)
mlir.register_lowering(_sums, _sums_lowering, platform="cpu")

_tangent.def_impl(lambda *a, **options: _compiled(_tangent, **options)(*a))
_tangent.def_abstract_eval(_tangent_shapes)
ad.primitive_jvps[_tangent] = _tangent_jvp
ad.primitive_transposes[_tangent] = _tangent_transpose
batching.primitive_batchers[_tangent] = _batched(_tangent, _tangent_roles)
mlir.register_lowering(_tangent, mlir.lower_fun(_tangent_sums, multiple_results=True))
