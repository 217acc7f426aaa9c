"""Products of matrices, vectors and stacks of matrices; SciPy's LinearOperator."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import AnyArray, as_array, check_finite, choice, number
from ._batches import batch_matmul, fits_a_pe
from ._open import Device, device_or_default
from ._matrices import DeviceCache, check_out, full_precision, is_single, matrix

_products = DeviceCache()


class MatrixProduct:
    """Matrix products on one device; factors that the caller declares unchanged stay on the boards.

    ``precision``: "full" (all 53 bits of the factors) or "chip" (the leading 50, in one pass). The
    product of two float32 matrices is float32: exact products, double-precision sums, one rounding.
    Raises UnsupportedError on a device whose blocks have fewer than 32 PEs.
    """

    def __init__(self, device: Optional[Device] = None, precision: str = "full") -> None:
        self.device = device_or_default(device)
        self._core = _core.MatrixProduct(self.device._core, full_precision(precision))

    @property
    def depth(self) -> int:
        """Length of the inner dimension in one pass of a board: 2048 with 16 blocks and 4 chips."""
        return self._core.depth

    def __call__(
        self,
        a: Any,
        b: Any,
        *,
        out: Optional[AnyArray] = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        reuse: Optional[str] = None,
    ) -> AnyArray:
        """``alpha a b + beta out``: (m, k) times (k, n).

        ``out`` is filled in place and must overlap neither ``a`` nor ``b``; it is required if
        ``beta`` is not 0. ``reuse``: "a", "b" or "both" declares that these arrays and their
        elements are those of the previous call, so that parts resident on the boards are not sent
        again (docs/guides/linear-algebra.md describes the cache). Address, layout and shape are compared,
        elements are not; ``invalidate`` makes the next call send them.
        """
        same = "" if reuse is None else choice("reuse", reuse, ("a", "b", "both"))
        x, y, result, factor, keep = self._operands(a, b, out, alpha, beta)
        self._core.compute(factor, x, y, keep, result, same)
        return result

    def start(
        self,
        a: Any,
        b: Any,
        *,
        out: Optional[AnyArray] = None,
        alpha: float = 1.0,
        beta: float = 0.0,
    ) -> AnyArray:
        """Like ``__call__``, in the background and in float64; ``wait`` waits for the result.

        Until then the result must not be accessed, and ``a`` and ``b`` must not change. Errors are
        raised by ``wait`` or by the next call.
        """
        x, y, result, factor, keep = self._operands(a, b, out, alpha, beta, background=True)
        self._core.start(factor, x, y, keep, result)
        return result

    def wait(self) -> None:
        """Wait for the products that ``start`` began."""
        self._core.wait()

    def invalidate(self) -> None:
        """Invalidate the factors on the boards: the next call sends them again."""
        self._core.invalidate()

    def _operands(
        self,
        a: Any,
        b: Any,
        out: Optional[AnyArray],
        alpha: float,
        beta: float,
        background: bool = False,
    ) -> Tuple[AnyArray, AnyArray, AnyArray, float, float]:
        """Checked operands: a, b, out, alpha and beta."""
        left, right = as_array("a", a), as_array("b", b)
        single = is_single(left) and is_single(right) and not background
        dtype = np.dtype(np.float32 if single else np.float64)
        x, y = matrix("a", left, single), matrix("b", right, single)
        if x.shape[1] != y.shape[0]:
            raise ValueError(f"b: expected {x.shape[1]} rows, the columns of a, got {y.shape[0]}")
        shape = (x.shape[0], y.shape[1])
        factor, keep = number("alpha", alpha), number("beta", beta)
        if out is None:
            if keep != 0:
                raise ValueError("out: required because beta is not 0")
            out = np.empty(shape, dtype)
        else:
            check_out(out, shape, dtype, (x, y))
        return x, y, out, factor, keep


def matmul(
    a: Any,
    b: Any,
    *,
    out: Optional[AnyArray] = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    precision: str = "full",
    device: Optional[Device] = None,
) -> AnyArray:
    """``alpha a b + beta out`` with the shapes of ``a @ b``: (m, k) times (k, n), vectors (k,) on
    either side, stacks (..., m, k) times (..., k, n).

    ``out`` has the shape of the result and is filled in place; it is not supported for stacks and
    for two vectors. Two float32 arrays give float32, all other types float64; complex arrays are a
    TypeError. Stacks of small matrices are multiplied as a batch (``batch_matmul``), larger ones
    one by one. ``MatrixProduct`` also keeps factors on the boards.
    """
    x, y = as_array("a", a), as_array("b", b)
    chosen = device_or_default(device)
    for name, array in (("a", x), ("b", y)):
        if array.ndim == 0:
            raise ValueError(f"{name}: expected a matrix or a vector, got a number")
    if x.ndim > 2 or y.ndim > 2:
        if out is not None or beta != 0 or alpha != 1:
            raise ValueError("out, alpha, beta: not supported for stacks")
        return _stacked(x, y, precision, chosen)
    full = full_precision(precision)
    product = MatrixProduct.__new__(MatrixProduct)
    product.device = chosen
    product._core = _products.get(chosen, full, lambda: _core.MatrixProduct(chosen._core, full))
    if x.ndim == 2 and y.ndim == 2:
        return product(x, y, out=out, alpha=alpha, beta=beta)
    return _with_vectors(product, x, y, out, alpha, beta)


def _with_vectors(
    product: MatrixProduct,
    x: AnyArray,
    y: AnyArray,
    out: Optional[AnyArray],
    alpha: float,
    beta: float,
) -> AnyArray:
    """A product with one or two vectors, as matrices of one row or column."""
    row, column = x.ndim == 1, y.ndim == 1
    if row and column and out is not None:
        raise ValueError("out: not supported for two vectors, whose product is a number")
    if out is not None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out: expected a NumPy array, got {type(out).__name__}")
        shape = (y.shape[1],) if row else (x.shape[0],)
        if out.shape != shape:
            raise ValueError(f"out: expected shape {shape}, got {out.shape}")
        out = out[None, :] if row else out[:, None]
    if column and x.shape[-1] != y.shape[0]:
        raise ValueError(f"b: expected {x.shape[-1]} elements, got {y.shape[0]}")
    result = product(
        x[None, :] if row else x, y[:, None] if column else y, out=out, alpha=alpha, beta=beta
    )
    first = result[0] if row else result[:, 0]
    shaped: AnyArray = first[0] if row and column else first
    return shaped


def _stacked(x: AnyArray, y: AnyArray, precision: str, device: Device) -> AnyArray:
    full = full_precision(precision)
    for name, array in (("a", x), ("b", y)):
        if array.ndim < 2:
            raise ValueError(f"{name}: a stack of matrices has at least two dimensions")
    if x.shape[-1] != y.shape[-2]:
        raise ValueError(f"b: expected {x.shape[-1]} rows, got {y.shape[-2]}")
    try:
        lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        shapes = f"{x.shape[:-2]} and {y.shape[:-2]}"
        raise ValueError(f"b: stack shapes {shapes} do not broadcast") from None
    count = int(np.prod(lead))
    x = np.broadcast_to(x, lead + x.shape[-2:]).reshape((count,) + x.shape[-2:])
    y = np.broadcast_to(y, lead + y.shape[-2:]).reshape((count,) + y.shape[-2:])
    m, k, n = x.shape[1], x.shape[2], y.shape[2]
    dtype = np.float32 if is_single(x) and is_single(y) else np.float64
    out: AnyArray
    if fits_a_pe(m, k, n):
        out = batch_matmul(x, y, precision=precision, device=device).astype(dtype, copy=False)
    else:
        out = np.empty((count, m, n), dtype)
        product = MatrixProduct(device, "full" if full else "chip")
        for i in range(count):
            product(x[i], y[i], out=out[i])
    stack: AnyArray = out.reshape(lead + (m, n))
    return stack


def operator(
    a: Any, *, precision: str = "full", reuse: bool = False, device: Optional[Device] = None
) -> Any:
    """A matrix as SciPy's LinearOperator with products on the device, for ``scipy.sparse.linalg``
    (cg, gmres, eigsh, ...). Requires SciPy.

    ``reuse``: the elements of ``a`` do not change while the operator is used; the matrix then
    stays on the boards and only vectors are transferred. A float32 matrix gives float32 products.
    """
    from scipy.sparse.linalg import LinearOperator

    given = as_array("a", a)
    single = is_single(given)
    array = matrix("a", given, single)
    check_finite("a", array)
    # One product for the matrix and one for its transpose: each caches one pair of factors.
    forward, backward = (MatrixProduct(device, precision) for _ in range(2))
    same = "a" if reuse else None

    def product(x: AnyArray) -> AnyArray:
        return _like(x, forward(array, _columns(x, array), reuse=same))

    def transposed(x: AnyArray) -> AnyArray:
        return _like(x, backward(array.T, _columns(x, array), reuse=same))

    return LinearOperator(
        array.shape,
        matvec=product,
        matmat=product,
        rmatvec=transposed,
        rmatmat=transposed,
        dtype=array.dtype,
    )


def _columns(x: AnyArray, like: AnyArray) -> AnyArray:
    columns: AnyArray = x[:, None] if x.ndim == 1 else x
    columns = columns.astype(like.dtype, copy=False)
    return columns


def _like(x: AnyArray, columns: AnyArray) -> AnyArray:
    return columns[:, 0] if x.ndim == 1 else columns
