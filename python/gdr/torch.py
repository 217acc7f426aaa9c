"""Kernels and gravity as functions of PyTorch, with gradients of any order.

    import gdr.torch
    acc, pot = gdr.torch.gravity(pos, mass, eps=0.01)
    law = gdr.torch.function(kernel)                # of gdr.compile, @gdr.kernel, or the library
    law(targets={"x": x}, sources={"x": x}, k=2.0)["u"].sum().backward()

Derivatives are sums by adjoint kernels, which the compiler makes of the kernel's text
(``Kernel.adjoint``). Tensors on the CPU are read and made without copies; those of a GPU are copied
to the host, and results back. Numbers have the widest floating-point type of the tensors.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("gdr.torch needs PyTorch (pip install torch, or python3-torch)") from error

from ._forces import KernelLike, kernel_of
from ._laws import PARAMS, BoundLaw, Law, bound_law, gravity_kernel
from ._open import DeviceLike
from .results import Gravity, ResultArrays

__all__ = ["function", "gravity"]


def function(
    kernel: KernelLike,
    results: Optional[Sequence[str]] = None,
    *,
    device: Optional[DeviceLike] = None,
) -> Callable[..., ResultArrays]:
    """A function of PyTorch that computes a kernel's sums.

    It is called like the kernel, ``f(targets={...}, sources={...}, k=2.0)``, with tensors, arrays of
    NumPy, or numbers, and returns a ``gdr.ResultArrays`` of tensors. ``results``: names of those to
    compute. ``device``: a device or its name, as in other functions of the package.

    Targets, sources and parameters that are floating-point numbers may require gradients; ints,
    tables and results that are ints have none. Raises TypeError, ValueError and UsageError as the
    kernel does.

    Examples:
        >>> import torch
        >>> law = gdr.compile("VARI x; VARJ y, q; CONST k; VARF u; u += q*exp(-k*(x - y)^2);")
        >>> u = gdr.torch.function(law)
        >>> k = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
        >>> u(targets={"x": [0.5]}, sources={"y": [0.0], "q": 2.0}, k=k).u.sum().backward()
        >>> print(f"{k.grad:.6f}")  # -2 exp(-1/4) / 4
        -0.389400
    """
    law = kernel_of(kernel)

    def call(
        *, targets: Mapping[str, Any], sources: Mapping[str, Any], **params: Any
    ) -> ResultArrays:
        bound = bound_law(law, targets, sources, params, results)
        return ResultArrays(zip(bound.names, _call(bound, device)))

    call.__name__ = law.name
    call.__doc__ = f"The sums of the kernel {law.name}; see gdr.torch.function."
    return call


def gravity(
    pos: Any,
    mass: Any,
    eps: Any = 0.0,
    targets: Optional[Any] = None,
    *,
    device: Optional[DeviceLike] = None,
) -> Gravity:
    """``gdr.gravity`` by direct sums, as a function of PyTorch.

    ``pos`` (n, 3), ``mass`` (n,) or a number, the softening ``eps`` and ``targets`` (m, 3) may
    require gradients. Without targets a particle does not act on itself.

    Examples:
        >>> import torch
        >>> places = torch.tensor([[0.0, 0, 0], [2, 0, 0]], dtype=torch.float64, requires_grad=True)
        >>> energy = gdr.torch.gravity(places, 1.0).pot.sum() / 2
        >>> energy.backward()
        >>> print(energy.item(), places.grad[:, 0])
        -0.5 tensor([-0.2500,  0.2500], dtype=torch.float64)
    """
    at, of = {"pos": pos if targets is None else targets}, {"at": pos, "mass": mass}
    if targets is None:
        at["id"] = of["number"] = torch.arange(len(pos))
    bound = bound_law(gravity_kernel(), at, of, {"eps": eps}, ("acc", "pot"))
    return Gravity(*_call(bound, device))


def _call(bound: BoundLaw, device: Optional[DeviceLike]) -> List[Any]:
    """The results of a law of tensors, after numbers have been repeated for all items."""
    operands = bound.law.operands
    given = [v for o, v in zip(operands, bound.values) if isinstance(v, torch.Tensor)]
    kinds = [v.dtype for v in given if v.dtype.is_floating_point]
    kind = functools.reduce(torch.promote_types, kinds, torch.float32) if kinds else torch.float64
    places = {v.device for v in given if v.device.type != "cpu"}
    tensors = []
    for o, value in zip(operands, bound.values):
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(np.array(value))
        if o.integer and (tensor.dtype.is_floating_point or tensor.dtype == torch.bool):
            raise TypeError(f"{o.name}: expected integers, got {tensor.dtype}")
        if tensor.dtype.is_complex:
            raise TypeError(f"{o.name}: expected real numbers, got {tensor.dtype}")
        tensors.append(tensor.to(device="cpu", dtype=torch.int64 if o.integer else kind))
    counts = bound.law.given_counts([tuple(t.shape) for t in tensors])
    for k, o in enumerate(operands):
        if o.items != PARAMS and tensors[k].ndim == len(o.sizes):
            tensors[k] = tensors[k].expand((counts[o.items], *o.sizes))
    results = _Sums.apply(bound.law, device, *tensors)
    wanted = [results[k] for k in bound.wanted]
    place = places.pop() if len(places) == 1 else None
    return wanted if place is None else [r.to(place) for r in wanted]


class _Sums(torch.autograd.Function):
    """The sums of a law: operands in, results out."""

    @staticmethod
    def forward(ctx: Any, law: Law, device: Optional[DeviceLike], *operands: Any) -> Any:
        counts = law.counts([tuple(t.shape) for t in operands])
        kinds = [t.dtype for o, t in zip(law.operands, operands) if not o.integer]
        floating = kinds[0] if kinds else torch.float64
        results = [
            torch.empty(shape, dtype=torch.int64 if o.integer else floating)
            for o, shape in zip(law.results, law.shapes(counts))
        ]
        law.compute([t.detach().numpy() for t in operands], [r.numpy() for r in results], device)
        ctx.mark_non_differentiable(*(r for o, r in zip(law.results, results) if o.integer))
        ctx.save_for_backward(*operands, *(results[k] for k in law.known))
        ctx.law, ctx.device = law, device
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> Tuple[Any, ...]:
        slopes: List[Any] = [None] * len(ctx.needs_input_grad)
        wanted = [k - 2 for k, needed in enumerate(ctx.needs_input_grad) if needed]
        for adjoint, part in ctx.law.adjoints(wanted):
            found = _Sums.apply(adjoint, ctx.device, *ctx.saved_tensors, *weights)
            for k, slope in zip(part, found):
                slopes[k + 2] = slope
        return tuple(slopes)
