"""Calls of Python functions from programs that XLA compiled for the CPU, on their arrays in place.

The interface is XLA's foreign function interface, version 0 (``xla/ffi/api/c_api.h`` of jaxlib),
whose structures are declared here as far as they are read. ``jax.pure_callback`` does the same with
copies, in several times the time of a small call.
"""

from __future__ import annotations

import collections
import ctypes as c
import itertools
import weakref
from typing import Any, Callable, Deque, Dict, List, Optional

import numpy as np

from ._arrays import AnyArray

NAME = "gdr_call"
_METADATA = 1  # the extension of a call that asks for the version of the interface
_INVALID_ARGUMENT, _INTERNAL = 3, 13
#: NumPy's types by those of XLA.
_TYPES: Dict[int, "np.dtype[Any]"] = {
    number: np.dtype(name)
    for number, name in (
        *((1, "bool"), (2, "int8"), (3, "int16"), (4, "int32"), (5, "int64"), (6, "uint8")),
        *((7, "uint16"), (8, "uint32"), (9, "uint64"), (10, "float16"), (11, "float32")),
        (12, "float64"),
    )
}


def _structure(name: str, **fields: Any) -> Any:
    """A structure that begins with its size and a pointer to extensions."""
    head = [("size_of", c.c_size_t), ("extension", c.c_void_p)]
    return type(name, (c.Structure,), {"_fields_": [*head, *fields.items()]})


_Version = _structure("_Version", major=c.c_int, minor=c.c_int)
_Buffer = _structure(
    "_Buffer", type=c.c_int, data=c.c_void_p, rank=c.c_int64, sizes=c.POINTER(c.c_int64)
)
_Arguments = _structure(
    "_Arguments", count=c.c_int64, kinds=c.c_void_p, buffers=c.POINTER(c.POINTER(_Buffer))
)
_Attributes = _structure(
    "_Attributes",
    **{"count": c.c_int64, "kinds": c.c_void_p, "names": c.c_void_p},
    values=c.POINTER(c.c_void_p),
)
_Api = _structure(
    "_Api",
    version=_Version,
    internal=c.c_void_p,
    make_error=c.CFUNCTYPE(c.c_void_p, c.c_void_p),
)
_Error = _structure("_Error", message=c.c_char_p, code=c.c_int)
_Frame = _structure(
    "_Frame",
    **{"api": c.POINTER(_Api), "context": c.c_void_p, "stage": c.c_int},
    **{"arguments": _Arguments, "results": _Arguments, "attributes": _Attributes},
)


class _Extension(c.Structure):
    _fields_ = [("size_of", c.c_size_t), ("type", c.c_int), ("next", c.c_void_p)]


class _Metadata(c.Structure):
    _fields_ = [("size_of", c.c_size_t), ("version", _Version), ("traits", c.c_uint32)]


class _MetadataExtension(c.Structure):
    _fields_ = [("base", _Extension), ("metadata", c.POINTER(_Metadata))]


class _Scalar(c.Structure):
    _fields_ = [("type", c.c_int), ("value", c.POINTER(c.c_int64))]


Function = Callable[[List[AnyArray], List[AnyArray]], None]
_functions: Dict[int, Function] = {}
_numbers = itertools.count()


#: Numbers of functions whose programs are gone. A program may still run when JAX drops it: the last
#: ones stay callable.
_retired: Deque[int] = collections.deque()
_MAX_RETIRED = 64


class Callee:
    """A function of lists of arguments and of results that compiled programs call by its number, as
    long as this object lives: the programs must keep it alive."""

    def __init__(self, function: Function) -> None:
        self.number = next(_numbers)
        _functions[self.number] = function
        weakref.finalize(self, _retire, self.number).atexit = False


def _retire(number: int) -> None:
    _retired.append(number)
    if len(_retired) > _MAX_RETIRED:
        _functions.pop(_retired.popleft(), None)


def _array(buffer: Any) -> AnyArray:
    """A view of a buffer of XLA, which is dense, in C order."""
    kind = _TYPES[buffer.type]
    shape = tuple(buffer.sizes[: buffer.rank])
    size = kind.itemsize * int(np.prod(shape, dtype=np.int64))
    if size == 0:
        return np.empty(shape, kind)
    memory: Any = (c.c_char * size).from_address(buffer.data)
    view: AnyArray = np.frombuffer(memory, kind).reshape(shape)
    return view


def _error(frame: Any, message: str, code: int) -> Optional[int]:
    error = _Error(size_of=c.sizeof(_Error), message=message.encode(), code=code)
    made: Optional[int] = frame.api.contents.make_error(c.addressof(error))
    return made


def _handle(address: Any) -> Optional[int]:
    frame = address.contents
    if frame.extension:
        extension = c.cast(frame.extension, c.POINTER(_MetadataExtension)).contents
        if extension.base.type == _METADATA:
            extension.metadata.contents.version.major = 0
            extension.metadata.contents.version.minor = 1
            return None
    try:
        call = c.cast(frame.attributes.values[0], c.POINTER(_Scalar)).contents.value[0]
        lists: List[List[AnyArray]] = [
            [_array(part.buffers[k].contents) for k in range(part.count)]
            for part in (frame.arguments, frame.results)
        ]
        _functions[call](*lists)
    except (TypeError, ValueError) as error:
        return _error(frame, str(error), _INVALID_ARGUMENT)
    except BaseException as error:
        return _error(frame, f"{type(error).__name__}: {error}", _INTERNAL)
    return None


_handler = c.CFUNCTYPE(c.c_void_p, c.POINTER(_Frame))(_handle)
_registered = False


def interface() -> Any:
    """The module of JAX with ``ffi_call``, after the handler has been registered once."""
    global _registered
    try:
        import jax.ffi as ffi
    except ImportError:  # before JAX 0.5
        import jax.extend.ffi as ffi
    if not _registered:
        ffi.register_ffi_target(NAME, ffi.pycapsule(_handler), platform="cpu")
        _registered = True
    return ffi
