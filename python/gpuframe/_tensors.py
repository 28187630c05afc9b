"""How tensors are taken from other libraries, and on which of our devices they are."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional

from ._library import native
from .devices import Manager, Place, place
from .errors import ExchangeError

if TYPE_CHECKING:
    from .column import Column

#: The codes that DLPack has for the CPU, a GPU, and a GPU's host and managed memory.
CPU, CUDA, PINNED, MANAGED = 1, 2, 3, 13
#: Where a DLManagedTensorVersioned has its data pointer.
DATA = 32


def manager_of(kind: int, number: int, wanted: Place) -> Manager:
    """Return the manager for memory that lies on a DLPack device."""
    if kind == CPU:
        return place("host")
    if kind == CUDA:
        return place(f"cuda:{number}")
    if kind in (PINNED, MANAGED):
        manager = place(wanted)
        return manager if manager.dlpack_device[0] == CUDA else place("cuda:0")
    raise ExchangeError(f"gpuframe does not know memory of DLPack device ({kind}, {number})")


def tensor_of(obj: Any, device: Place) -> tuple[int, int, int, int, int]:
    """Take a tensor: its address, whether it is a legacy one, its device's type and number, and its stream.

    Objects whose type has an exchange table, as torch's, are taken by that: no
    Python code of their library runs, and work waits for the very stream that the
    library is on. A tensor that torch is to differentiate takes the protocol, which
    refuses it.
    """
    if not getattr(obj, "requires_grad", False):
        exchanged = native.exchanged(obj)
        if exchanged is not None:
            address, kind, number, stream = exchanged
            return address, 0, kind, number, stream
    kind, number = obj.__dlpack_device__()
    wanted = None
    if kind in (CUDA, MANAGED):
        wanted = manager_of(int(kind), int(number), device).stream or 1
    # Of pinned memory torch says so as an object, but calls its tensor the CPU's.
    address, legacy, kind, number = native.take_tensor(_ask_for_tensor(obj, wanted))
    return address, legacy, kind, number, wanted or 0


def _ask_for_tensor(obj: Any, stream: Optional[int]) -> Any:
    """Call a producer's __dlpack__, as it understands it."""
    if stream is None:
        try:
            return obj.__dlpack__(max_version=(1, 0))
        except TypeError:
            return obj.__dlpack__()
    try:
        return obj.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # a producer of before DLPack 1.0
        return obj.__dlpack__(stream=stream)


class Mask:
    """Which elements are valid, a byte each, by the CUDA array interface. It keeps its memory alive."""

    def __init__(self, valid: Column) -> None:
        self._tensor = valid.__dlpack__(max_version=(1, 0))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        data = ctypes.c_void_p.from_address(get(self._tensor, b"dltensor_versioned") + DATA).value
        self.__cuda_array_interface__ = {"shape": (len(valid),), "typestr": "|b1", "data": (data or 0, True), "strides": None,
                                         "version": 3, "stream": 1}
