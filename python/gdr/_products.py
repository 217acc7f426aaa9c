"""Products of matrices, vectors and stacks, and matrices as SciPy's LinearOperator."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from . import _core
from ._arrays import AnyArray, as_array, check_finite, choice, number
from ._batches import batch_matmul, fits_a_pe
from ._device import Device, pick
from ._matrices import PerDevice, check_out, is_full, is_single, matrix

_products = PerDevice()


class MatrixProduct:
    """Products on one device; keeps factors on the boards where the caller says they are unchanged.

    ``precision``: "full" (all 53 bits of the factors) or "chip" (the leading 50, in one pass). Two
    matrices of float32 are multiplied in float32: every product exact, sums as in double, rounded
    once. Raises UnsupportedError on a device whose blocks have fewer than 32 PEs.
    """

    def __init__(self, device: Optional[Device] = None, precision: str = "full") -> None:
        self.device = pick(device)
        self._core = _core.MatrixProduct(self.device._core, is_full(precision))

    @property
    def depth(self) -> int:
        """Inner indices that a board takes in one pass: 2048 with 16 blocks and four chips."""
        return self._core.depth

    def __call__(
        self,
        a: Any,
        b: Any,
        *,
        out: Optional[AnyArray] = None,
        alpha: float = 1.0,
        beta: float = 0.0,
        unchanged: Optional[str] = None,
    ) -> AnyArray:
        """``alpha a b + beta out``: (m, k) times (k, n).

        ``out`` is filled where it lies, and must overlap neither ``a`` nor ``b``; with ``beta`` it
        must be given. ``unchanged``: "a", "b" or "both": these are the arrays of the last call with
        the same elements, and what of them the boards still hold is not sent again. Where they are
        kept, and when they do not fit, is in docs/guides/linear-algebra.md; place, layout and shape
        are compared, elements are taken on your word (``forget`` takes it back).
        """
        same = "" if unchanged is None else choice("unchanged", unchanged, ("a", "b", "both"))
        x, y, result, factor, keep = self._arrange(a, b, out, alpha, beta)
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
        """The same in the background, in float64: ``wait`` says when the result is there.

        Until then the returned array must be left alone, and ``a`` and ``b`` must stay as they are.
        What fails is raised by ``wait``, or by the next call.
        """
        x, y, result, factor, keep = self._arrange(a, b, out, alpha, beta, background=True)
        self._core.start(factor, x, y, keep, result)
        return result

    def wait(self) -> None:
        """Return when nothing is under way any more."""
        self._core.wait()

    def forget(self) -> None:
        """The next call sends all, whatever it says is unchanged."""
        self._core.forget()

    def _arrange(
        self,
        a: Any,
        b: Any,
        out: Optional[AnyArray],
        alpha: float,
        beta: float,
        background: bool = False,
    ) -> Tuple[AnyArray, AnyArray, AnyArray, float, float]:
        """The matrices as the library takes them, the result's, alpha and beta."""
        left, right = as_array("a", a), as_array("b", b)
        single = is_single(left) and is_single(right) and not background
        dtype = np.dtype(np.float32 if single else np.float64)
        x, y = matrix("a", left, single), matrix("b", right, single)
        if x.shape[1] != y.shape[0]:
            raise ValueError(f"b: {x.shape[1]} rows are wanted, as a has columns, not {y.shape[0]}")
        shape = (x.shape[0], y.shape[1])
        factor, keep = number("alpha", alpha), number("beta", beta)
        if out is None:
            if keep != 0:
                raise ValueError("out: beta is not 0, so the matrix that it multiplies is wanted")
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
    """``alpha a b + beta out`` as ``a @ b`` has it: (m, k) times (k, n), vectors (k,) on either
    side, stacks (..., m, k) times (..., k, n).

    ``out`` is filled where it lies; it has the shape of the result (not for stacks and for two
    vectors, which give new arrays and a number). Two arrays of float32 give float32, all others
    float64; complex ones are a TypeError. Stacks of small matrices are multiplied side by side
    (``batch_matmul``), larger ones one by one. See ``MatrixProduct``, which keeps factors.
    """
    x, y = as_array("a", a), as_array("b", b)
    chosen = pick(device)
    for name, array in (("a", x), ("b", y)):
        if array.ndim == 0:
            raise ValueError(f"{name}: a matrix or a vector is wanted, not a number")
    if x.ndim > 2 or y.ndim > 2:
        if out is not None or beta != 0 or alpha != 1:
            raise ValueError("out, alpha, beta: stacks are multiplied without them")
        return _stacked(x, y, precision, chosen)
    full = is_full(precision)
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
    """Vectors as a matrix of one row or one column."""
    row, column = x.ndim == 1, y.ndim == 1
    if row and column and out is not None:
        raise ValueError("out: two vectors give a number")
    if out is not None:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out: a NumPy array is wanted, not {type(out).__name__}")
        wanted = (y.shape[1],) if row else (x.shape[0],)
        if out.shape != wanted:
            raise ValueError(f"out: shape {wanted} is wanted, not {out.shape}")
        out = out[None, :] if row else out[:, None]
    if column and x.shape[-1] != y.shape[0]:
        raise ValueError(f"b: {x.shape[-1]} elements are wanted, not {y.shape[0]}")
    result = product(
        x[None, :] if row else x, y[:, None] if column else y, out=out, alpha=alpha, beta=beta
    )
    first = result[0] if row else result[:, 0]
    shaped: AnyArray = first[0] if row and column else first
    return shaped


def _stacked(x: AnyArray, y: AnyArray, precision: str, device: Device) -> AnyArray:
    full = is_full(precision)
    for name, array in (("a", x), ("b", y)):
        if array.ndim < 2:
            raise ValueError(f"{name}: a stack of matrices has at least two dimensions")
    if x.shape[-1] != y.shape[-2]:
        raise ValueError(f"b: {x.shape[-1]} rows are wanted, not {y.shape[-2]}")
    try:
        lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        raise ValueError(f"b: stacks {x.shape[:-2]} and {y.shape[:-2]} do not agree") from None
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
    a: Any, *, precision: str = "full", unchanged: bool = False, device: Optional[Device] = None
) -> Any:
    """A matrix as SciPy's LinearOperator, whose products run on the device: for
    ``scipy.sparse.linalg`` (cg, gmres, eigsh, ...). Needs SciPy.

    ``unchanged``: the elements of ``a`` stay as they are as long as the operator is used, so that
    the boards keep them, and only vectors travel. A matrix of float32 gives products in float32.
    """
    from scipy.sparse.linalg import LinearOperator

    given = as_array("a", a)
    single = is_single(given)
    array = matrix("a", given, single)
    check_finite("a", array)
    # A matrix and its transpose each: a product remembers one pair of factors.
    forward, backward = (MatrixProduct(device, precision) for _ in range(2))
    same = "a" if unchanged else None

    def product(x: AnyArray) -> AnyArray:
        return _like(x, forward(array, _columns(x, array), unchanged=same))

    def transposed(x: AnyArray) -> AnyArray:
        return _like(x, backward(array.T, _columns(x, array), unchanged=same))

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
