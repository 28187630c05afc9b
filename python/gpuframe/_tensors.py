"""Import of tensors from other libraries, and the devices that they are on."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional

from ._library import native
from .devices import Manager, Place, place
from .errors import ArgumentError, ExchangeError, WrongTypeError

if TYPE_CHECKING:
    from .column import Column

#: DLPack's codes for the CPU, a GPU, and a GPU's pinned and managed memory.
CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13


def manager_of(kind: int, number: int, wanted: Place) -> Manager:
    """Return the manager for memory on a DLPack device."""
    if kind == CPU:
        return place("host")
    if kind == CUDA:
        return place(f"cuda:{number}")
    if kind in (PINNED, MANAGED):
        manager = place(wanted)
        return manager if manager.dlpack_device[0] == CUDA else place("cuda:0")
    raise ExchangeError(f"DLPack device ({kind}, {number}) is not supported")


def stream_number(stream: Optional[int], named: str = "stream") -> Optional[int]:
    """Check a stream as the Python protocols number it: None, 1, 2 or a handle."""
    if stream is None:
        return None
    if isinstance(stream, bool) or not hasattr(stream, "__index__"):
        raise WrongTypeError(f"{named}={stream!r}: pass a stream as a number, torch.cuda.Stream.cuda_stream for example")
    number = int(stream)
    if number == 0:
        raise ArgumentError(f"{named}=0 is ambiguous: pass 1 for the legacy default stream, or 2 for the default stream of the thread")
    if number < 0:
        raise ArgumentError(f"{named}={number}: pass 1, 2 or the handle of a stream")
    return number


def tensor_of(obj: Any, device: Place) -> tuple[int, int, int, int, int]:
    """Return a tensor's address, whether it has the legacy struct, its device's type and number, and its stream.

    If an object's type has an exchange table, as torch's has, the tensor is taken through that
    table: without Python code of its library, and ordered by the library's current stream. A
    tensor that requires gradients goes through the protocol, which refuses it.
    """
    if not getattr(obj, "requires_grad", False):
        exchanged = native.exchanged(obj)
        if exchanged is not None:
            address, kind, number, stream = exchanged
            return address, 0, kind, number, stream
    if not hasattr(obj, "__dlpack__") or not hasattr(obj, "__dlpack_device__"):
        raise WrongTypeError(f"a {type(obj).__name__} has no DLPack interface: __dlpack__ or __dlpack_device__ is missing")
    kind, number = obj.__dlpack_device__()
    wanted = None
    if kind in (CUDA, MANAGED):
        wanted = manager_of(int(kind), int(number), device).stream or 1
    # torch reports pinned memory for the object, but the CPU for its tensor.
    address, legacy, kind, number = native.take_tensor(_request_tensor(obj, wanted))
    return address, legacy, kind, number, wanted or 0


def _request_tensor(obj: Any, stream: Optional[int]) -> Any:
    """Call a producer's __dlpack__ with the arguments that it accepts."""
    if stream is None:
        try:
            return obj.__dlpack__(max_version=(1, 0))
        except TypeError:
            return obj.__dlpack__()
    try:
        return obj.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a producer older than DLPack 1.0
        return obj.__dlpack__(stream=stream)


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", _DLTensor)]


class View:
    """An opened tensor of this library: its address, shape and element type. It keeps the memory alive."""

    def __init__(self, of: Any) -> None:
        self._capsule = of.__dlpack__(max_version=(1, 0))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        managed = _Versioned.from_address(get(self._capsule, b"dltensor_versioned"))
        tensor = managed.tensor
        self.address: int = tensor.data or 0
        self.shape: tuple[int, ...] = tuple(tensor.shape[: tensor.ndim])
        self.code: int = tensor.code
        self.bits: int = tensor.bits
        self.read_only = bool(managed.flags & 1)
        #: The distance between elements in each dimension, in elements.
        self.strides: tuple[int, ...] = tuple(tensor.strides[: tensor.ndim])


class Mask:
    """The valid elements of a column, one byte each, by the CUDA array interface. It keeps its memory alive."""

    def __init__(self, valid: Column) -> None:
        self._view = View(valid)
        self.__cuda_array_interface__ = {"shape": (len(valid),), "typestr": "|b1", "data": (self._view.address, True), "strides": None,
                                         "version": 3, "stream": 1}
