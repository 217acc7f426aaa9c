"""Arrays of other libraries: views of them for NumPy, and results of the same kind.

An argument may be a tensor of PyTorch, an array of JAX, of a library with the Python array API, or
anything with DLPack or a buffer. Nothing here imports such a library: without it no argument is one
of its arrays.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

AnyArray = npt.NDArray[Any]

#: Device types of DLPack whose memory the processor reads: its own, and memory pinned for a GPU.
_HOST_MEMORY = (1, 3, 11)


class ArrayLibrary(NamedTuple):
    """A library whose arrays functions take, and return where they are given some."""

    name: str
    #: A view of an array for NumPy, or a copy where its type needs one; TypeError with a reason.
    to_numpy: Callable[[Any], AnyArray]
    #: An array of the library with the elements of one of NumPy that nobody else uses.
    from_numpy: Callable[[AnyArray], Any]
    #: Whether arrays can be filled.
    fills: bool = True


def _torch_to_numpy(tensor: Any) -> AnyArray:
    if tensor.requires_grad:
        raise TypeError("a tensor that requires a gradient; use gdr.torch, or tensor.detach()")
    if tensor.device.type != "cpu":
        raise TypeError(f"a tensor on the device {tensor.device}; use tensor.cpu()")
    if tensor.layout != sys.modules["torch"].strided:
        raise TypeError(f"a tensor with the layout {tensor.layout}; use tensor.to_dense()")
    if str(tensor.dtype) == "torch.bfloat16":
        tensor = tensor.float()
    array: AnyArray = tensor.resolve_neg().resolve_conj().numpy()
    return array


def _torch_from_numpy(array: AnyArray) -> Any:
    torch: Any = sys.modules["torch"]
    if array.dtype == np.uint64:
        raise TypeError("PyTorch has no tensors of raw words; pass arrays of NumPy")
    return torch.from_numpy(array)


def _jax_to_numpy(array: Any) -> AnyArray:
    jax: Any = sys.modules["jax"]
    if isinstance(array, jax.core.Tracer):
        raise TypeError("a value that jax.jit, jax.grad or jax.vmap traces; use gdr.jax")
    made: AnyArray = np.asarray(array)
    return made.astype(np.float32) if made.dtype.name == "bfloat16" else made


def _jax_from_numpy(array: AnyArray) -> Any:
    made = sys.modules["jax.numpy"].asarray(array)
    if array.dtype.kind in "iu" and made.dtype != array.dtype and not np.array_equal(made, array):
        raise ValueError(
            f"JAX has no {array.dtype} here, and the values exceed {made.dtype}: set "
            'jax.config.update("jax_enable_x64", True)'
        )
    return made


def _dlpack_to_numpy(array: Any) -> AnyArray:
    kind, _ = array.__dlpack_device__()
    if int(kind) not in _HOST_MEMORY:
        raise TypeError("an array in the memory of another device; copy it to the host first")
    try:
        made: AnyArray = np.from_dlpack(array)
    except (BufferError, AttributeError, RuntimeError):  # NumPy before 2.1 refuses read-only arrays
        made = np.asarray(array)
        if made.dtype == object:
            raise
    return made


def _find(value: Any) -> Optional[ArrayLibrary]:
    kind = type(value)
    if isinstance(value, (np.ndarray, np.generic, str, bytes, int, float, list, tuple, dict)):
        return None
    tops = {base.__module__.partition(".")[0] for base in kind.__mro__}
    if "torch" in tops and isinstance(value, sys.modules["torch"].Tensor):
        return ArrayLibrary("PyTorch", _torch_to_numpy, _torch_from_numpy)
    if tops & {"jax", "jaxlib"}:
        return ArrayLibrary("JAX", _jax_to_numpy, _jax_from_numpy, fills=False)
    if hasattr(kind, "__array_namespace__") and hasattr(kind, "__dlpack__"):
        name, module = kind.__module__.partition(".")[0], value.__array_namespace__()
        return ArrayLibrary(name, _dlpack_to_numpy, module.asarray, fills=False)
    return None


_known: Dict[type, Optional[ArrayLibrary]] = {}  # by the type of arguments


def library_of(value: Any) -> Optional[ArrayLibrary]:
    """The library of an argument; None for arrays of NumPy, and for what it converts itself."""
    kind = type(value)
    if kind not in _known:
        _known[kind] = _find(value)
    return _known[kind]


def numpy_view(name: str, value: Any) -> Any:
    """An array of another library as one of NumPy, without a copy where it can be; other values
    unchanged. Raises TypeError naming the argument."""
    library = library_of(value)
    if library is not None:
        convert = library.to_numpy
    elif hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        convert = _dlpack_to_numpy
    else:
        return value
    try:
        return convert(value)
    except Exception as error:
        raise TypeError(f"{name}: {error}") from None


def column_names(value: Any) -> Optional[Tuple[str, ...]]:
    """Names of the columns of a table: a structured array, a DataFrame of pandas or polars, or
    whatever has ``columns`` and takes their names as indices; None for other values."""
    if isinstance(value, (np.ndarray, np.void)):
        return value.dtype.names
    names = getattr(value, "columns", None)
    if names is None or not hasattr(value, "__getitem__"):
        return None
    return tuple(name for name in names if isinstance(name, str))
