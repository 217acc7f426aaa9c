"""Products of matrices, vectors and stacks; SciPy's LinearOperator; batches of small matrices."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple, Union

import numpy as np

from . import _core
from ._arrays import AnyArray, Floats, Ints, as_array, check_finite, check_no_overlap, check_shape
from ._arrays import check_writable, choice, floats
from ._open import Device, DeviceLike, device_or_default
from ._matrices import LinAlgError, full_precision, is_packed, is_single, linear_operator, matrix
from ._matrices import product_factors

PE_WORDS = 256  # local words of a PE, for all matrices of one problem of a batch


class MatrixProduct:
    """Matrix products on one device; factors that the caller declares unchanged stay on the boards.

        product = linalg.MatrixProduct()
        c = product(a, b)
        c = product(a, 2 * b, reuse="a")  # a is on the device already

    ``precision``: "full" (all 53 bits of the factors) or "chip" (the leading 50, in one pass). The
    product of two float32 matrices is float32: exact products, double-precision sums, one rounding;
    on native engines of the host its sums are those of floats.
    Raises UnsupportedError on a device whose blocks have fewer than 32 PEs.
    """

    def __init__(self, device: Optional[DeviceLike] = None, precision: str = "full") -> None:
        self.device = device_or_default(device)
        self._full = full_precision(precision)
        self._core = _core.MatrixProduct(self.device._core, self._full)

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
        again (docs/guides/linear-algebra.md describes the cache). Address, layout and shape are
        compared, elements are not; ``invalidate`` makes the next call send them.
        """
        same = "" if reuse is None else choice("reuse", reuse, ("a", "b", "both"))
        return _multiply(self._core, a, b, out, alpha, beta, same)

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

        Examples:
            >>> product = linalg.MatrixProduct()
            >>> c = product.start(a, b)
            >>> product.wait()
            >>> product.invalidate()
            >>> bool(np.allclose(c, a @ b)), product.depth
            (True, 2048)
        """
        operands = _operands(a, b, out, alpha, beta, background=True)
        self._core.start(*operands)
        return operands[-1]

    def wait(self) -> None:
        """Wait for the products that ``start`` began."""
        self._core.wait()

    def __repr__(self) -> str:
        precision = "full" if self._full else "chip"
        return f"<gdr.linalg.MatrixProduct, {precision} precision, on {self.device!r}>"

    def invalidate(self) -> None:
        """Invalidate the factors on the boards: the next call sends them again."""
        self._core.invalidate()


def _result_type(a: AnyArray, b: AnyArray) -> "np.dtype[Any]":
    return np.dtype(np.float32 if is_single(a) and is_single(b) else np.float64)


def _operands(
    a: Any, b: Any, out: Optional[AnyArray], alpha: float, beta: float, background: bool = False
) -> Tuple[float, AnyArray, AnyArray, float, AnyArray]:
    """Checked operands of a product: alpha, a, b, beta and out."""
    left, right = as_array("a", a), as_array("b", b)
    single = _result_type(left, right) == np.float32 and not background
    x, y = matrix("a", left, single), matrix("b", right, single)
    if x.shape[1] != y.shape[0]:
        raise ValueError(f"b: expected {x.shape[1]} rows, the columns of a, got {y.shape[0]}")
    factor, keep = product_factors(alpha, beta, out)
    shape, dtype = (x.shape[0], y.shape[1]), np.float32 if single else np.float64
    if out is None:
        return factor, x, y, keep, np.empty(shape, dtype)
    check_writable("out", out, shape, dtype)
    if not is_packed(out):
        raise ValueError("out: neither its rows nor its columns are contiguous")
    check_no_overlap("out", out, {"a": x, "b": y})
    return factor, x, y, keep, out


def _multiply(
    core: _core.MatrixProduct,
    a: Any,
    b: Any,
    out: Optional[AnyArray] = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    reuse: str = "",
) -> AnyArray:
    operands = _operands(a, b, out, alpha, beta)
    core.compute(*operands, reuse)
    return operands[-1]


def matmul(
    a: Any,
    b: Any,
    *,
    out: Optional[AnyArray] = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    precision: str = "full",
    device: Optional[DeviceLike] = None,
) -> AnyArray:
    """``alpha a b + beta out`` with the shapes of ``a @ b``: (m, k) times (k, n), vectors (k,) on
    either side, stacks (..., m, k) times (..., k, n).

        c = linalg.matmul(a, b)

    ``out`` has the shape of the result and is filled in place; it is not supported for stacks and
    for two vectors. Two float32 arrays give float32, all other types float64; complex arrays are a
    TypeError. Stacks of small matrices are multiplied as a batch (``batch_matmul``), larger ones
    one by one. ``MatrixProduct`` also keeps factors on the boards.
    """
    chosen = device_or_default(device)
    defaults = (type(alpha), alpha, type(beta), beta) == (float, 1.0, float, 0.0)
    if out is None and precision == "full" and defaults:
        product: Optional[AnyArray] = chosen._cached(_core.MatrixProduct, True).plain(a, b)
        if product is not None:
            return product
    x, y = as_array("a", a), as_array("b", b)
    for name, array in (("a", x), ("b", y)):
        if array.ndim == 0:
            raise ValueError(f"{name}: expected a matrix or a vector, got a number")
    if x.ndim > 2 or y.ndim > 2:
        if out is not None or beta != 0 or alpha != 1:
            raise ValueError("out, alpha, beta: not supported for stacks")
        return _stacked(x, y, precision, chosen)
    # Vectors are matrices of one row or column.
    row, column = x.ndim == 1, y.ndim == 1
    if column and x.shape[-1] != y.shape[0]:
        raise ValueError(f"b: expected {x.shape[-1]} elements, got {y.shape[0]}")
    x, y = x[None, :] if row else x, y[:, None] if column else y
    if out is not None and row and column:
        raise ValueError("out: not supported for two vectors, whose product is a number")
    if out is not None and (row or column):
        shape = y.shape[1:] if row else x.shape[:1]
        check_writable("out", out, shape, _result_type(x, y))
        out = out[None, :] if row else out[:, None]
    core = chosen._cached(_core.MatrixProduct, full_precision(precision))
    result = _multiply(core, x, y, out, alpha, beta)
    if column:
        result = result[:, 0]
    if row:
        result = result[0]
    return result


def _stacked(x: AnyArray, y: AnyArray, precision: str, device: Device) -> AnyArray:
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
    dtype = _result_type(x, y)
    out: AnyArray
    if m * k + k * n + m * n <= PE_WORDS:
        out = batch_matmul(x, y, precision=precision, device=device).astype(dtype, copy=False)
    else:
        out = np.empty((count, m, n), dtype)
        product = MatrixProduct(device, precision)
        for i in range(count):
            product(x[i], y[i], out=out[i])
    stack: AnyArray = out.reshape(lead + (m, n))
    return stack


def operator(
    a: Any, *, precision: str = "full", reuse: bool = False, device: Optional[DeviceLike] = None
) -> Any:
    """A matrix as SciPy's LinearOperator with products on the device, for ``scipy.sparse.linalg``
    (cg, gmres, eigsh, ...). Requires SciPy.

        apply = linalg.operator(a)
        apply @ b[:, 0]

    ``reuse``: the elements of ``a`` do not change while the operator is used; the matrix then
    stays on the boards and only vectors are transferred. A float32 matrix gives float32 products.
    """
    given = as_array("a", a)
    single = is_single(given)
    array = matrix("a", given, single)
    check_finite("a", array)
    # One product for the matrix and one for its transpose: each caches one pair of factors.
    forward, backward = (MatrixProduct(device, precision) for _ in range(2))
    same = "a" if reuse else None

    def apply(product: MatrixProduct, factor: AnyArray, x: AnyArray) -> AnyArray:
        columns = (x[:, None] if x.ndim == 1 else x).astype(array.dtype, copy=False)
        result = product(factor, columns, reuse=same)
        return result[:, 0] if x.ndim == 1 else result

    return linear_operator(
        array.shape,
        array.dtype,
        lambda x: apply(forward, array, x),
        lambda x: apply(backward, array.T, x),
    )


# -- batches: each matrix on one element of a PE, thousands in parallel ----------------------------


def batch_matmul(
    a: Any, b: Any, *, precision: str = "full", device: Optional[DeviceLike] = None
) -> Floats:
    """Batched product of (count, m, k) and (count, k, n), as float64.

        c = linalg.batch_matmul(np.ones((10, 4, 3)), np.ones((10, 3, 5)))

    Raises UsageError unless ``m k + k n + m n <= 256``. ``precision``: "full" multiplies all 53
    bits of the factors, "chip" the leading 50 in as few as a quarter of the clocks.
    """
    full, chosen = full_precision(precision), device_or_default(device)
    x = np.ascontiguousarray(floats("a", a, ("count", "m", "k")))
    y = np.ascontiguousarray(floats("b", b, ("count", "k", "n")))
    check_shape("b", y, (x.shape[0], x.shape[2], "n"))
    out = np.zeros((x.shape[0], x.shape[1], y.shape[2]))
    if out.size and x.size:
        chosen._cached(_core.BatchedMatrices, full).multiply(x, y, out)
    return out


class BatchLU:
    """LU factors of a batch of matrices, from ``batch_lu``.

    Examples:
        >>> factors = linalg.batch_lu(np.array([[[2.0, 1.0], [1.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]]]))
        >>> factors.solve(np.array([[3.0, 4.0], [5.0, 6.0]])).tolist()
        [[1.0, 1.0], [6.0, 5.0]]
        >>> factors.pivots.tolist(), factors.factors.shape
        ([[0, 1], [1, 1]], (2, 2, 2))
    """

    def __init__(
        self, transposed: Floats, pivots: Ints, singular: int, core: _core.BatchedMatrices
    ) -> None:
        self._transposed, self.singular_count = transposed, singular
        self._pivots, self._core = pivots, core

    @property
    def pivots(self) -> Ints:
        """Row interchanges, (count, n): row i was swapped with row ``pivots[..., i]``, in order of
        i."""
        return self._pivots.reshape(self._transposed.shape[:2])

    @property
    def factors(self) -> Floats:
        """Factors, (count, n, n): L below the diagonal (unit diagonal not stored), U above."""
        return self._transposed.transpose(0, 2, 1)

    def __repr__(self) -> str:
        count, n, _ = self._transposed.shape
        singular = f", {self.singular_count} singular" if self.singular_count else ""
        return f"<gdr.linalg.BatchLU of {count} matrices of {n} x {n}{singular}>"

    def solve(self, b: Any) -> Floats:
        """Solve ``A x = b`` for every matrix; b of shape (count, n) or (count, n, k). Raises
        LinAlgError if a matrix is singular."""
        count, n, _ = self._transposed.shape
        vector = as_array("b", b).ndim == 2
        shape: List[Union[int, str]] = [count, n] if vector else [count, n, "k"]
        array = floats("b", b, shape)
        check_finite("b", array)
        if self.singular_count:
            raise LinAlgError(f"{self.singular_count} of the matrices are singular")
        columns = array[:, :, None] if vector else array
        rows = np.array(columns.transpose(0, 2, 1), order="C", copy=True)
        if rows.size:
            self._core.solve(self._transposed, self._pivots, rows)
        return rows[:, 0, :] if vector else rows.transpose(0, 2, 1)


def batch_lu(a: Any, *, precision: str = "full", device: Optional[DeviceLike] = None) -> BatchLU:
    """Batched LU factorisation of (count, n, n), n at most 15; ``precision`` as in
    ``batch_matmul``.

    Examples:
        >>> linalg.batch_lu(np.array([[[2.0, 1.0], [1.0, 3.0]]])).solve(np.array([[3.0, 4.0]])).tolist()
        [[1.0, 1.0]]
    """
    full, chosen = full_precision(precision), device_or_default(device)
    array = floats("a", a, ("count", "n", "n"))
    check_shape("a", array, (array.shape[0], "n", array.shape[1]))
    check_finite("a", array)
    transposed = np.array(array.transpose(0, 2, 1), order="C", copy=True)
    pivots = np.zeros(array.shape[0] * array.shape[1], np.int64)
    core = chosen._cached(_core.BatchedMatrices, full)
    singular = core.lu(transposed, pivots) if transposed.size else 0
    return BatchLU(transposed, pivots, singular, core)


def batch_solve(
    a: Any, b: Any, *, precision: str = "full", device: Optional[DeviceLike] = None
) -> Floats:
    """Solve ``a x = b`` for every matrix: (count, n, n) and (count, n) or (count, n, k).

        x = linalg.batch_solve(np.stack([np.eye(4), 2 * np.eye(4)]), np.ones((2, 4, 1)))

    Raises LinAlgError if a matrix is singular.
    """
    return batch_lu(a, precision=precision, device=device).solve(b)
