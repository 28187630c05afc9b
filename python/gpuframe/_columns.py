"""Columns of whatever a program has."""

from __future__ import annotations

import array
import ctypes
from typing import Any

from ._library import library, native
from ._tensors import CPU, CUDA, manager_of
from .column import Column
from .devices import Manager, place
from .errors import ExchangeError

_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}


def column_of(obj: Any, name: str, target: Manager) -> Column:
    """Return the object as a column on the target's device."""
    if isinstance(obj, Column):
        column = obj
    elif hasattr(obj, "__dlpack__"):
        column = Column.from_dlpack(obj, name=name)
    elif hasattr(obj, "__arrow_c_device_array__") or hasattr(obj, "__arrow_c_array__"):
        return Column.from_arrow(obj, name=name, device=target)
    elif hasattr(obj, "__cuda_array_interface__"):
        column = _of_interface(obj, obj.__cuda_array_interface__, name, target, True)
    elif hasattr(obj, "__array_interface__"):
        column = _of_interface(obj, obj.__array_interface__, name, target, False)
    else:
        return _of_sequence(obj, name).to_device(target)
    if column.device.name != target.name:
        return column.to_device(target)
    return column


def _of_sequence(obj: Any, name: str) -> Column:
    """Copy a sequence of numbers, as int64 or float64."""
    try:
        numbers = list(obj)
        if any(isinstance(each, float) for each in numbers):
            copied = array.array("d", numbers)
        else:
            copied = array.array("q", numbers)
    except (TypeError, OverflowError) as error:
        raise TypeError(f"column {name!r}: a {type(obj).__name__} has none of __dlpack__, __cuda_array_interface__, "
                        f"__array_interface__ and __arrow_c_array__, and is no sequence of numbers: {error}") from None
    address, length = copied.buffer_info()
    return _take(copied, address, length, 2 if copied.typecode == "d" else 0, 8, (CPU, 0), False, name, 0)


def _of_interface(obj: Any, described: dict[str, Any], name: str, target: Manager, on_gpu: bool) -> Column:
    """Share what an array interface describes."""
    shape, typestr, strides = described["shape"], described["typestr"], described.get("strides")
    if described.get("mask") is not None:
        raise ExchangeError(f"column {name!r}: its interface has a mask; give a column with nulls by Arrow")
    if len(shape) != 1:
        raise ExchangeError(f"column {name!r} has {len(shape)} dimensions, a column has one")
    if typestr[0] == ">" or typestr[1] not in _KINDS:
        raise ExchangeError(f"column {name!r}: gpuframe does not share arrays of {typestr}")
    width = int(typestr[2:])
    if strides is not None and shape[0] > 1 and strides[0] != width:
        raise ExchangeError(f"column {name!r}: its elements do not lie one after the other")
    data = described.get("data")
    if data is None:
        raise ExchangeError(f"column {name!r}: its interface has no data pointer")
    on, stream = (CPU, 0), 0
    if on_gpu:
        stream = described.get("stream") or 1
        on = _where_is(data[0], target) if shape[0] else target.dlpack_device
    return _take(obj, data[0], shape[0], _KINDS[typestr[1]], width, on, bool(data[1]), name, stream)


def _where_is(pointer: int, target: Manager) -> tuple[int, int]:
    """Ask the driver on which device memory is: the interface does not tell."""
    gpu = target if target.dlpack_device[0] == CUDA else place("cuda:0")
    kind, number = ctypes.c_int32(), ctypes.c_int32()
    library.pointer_device(gpu._handle(), pointer, ctypes.byref(kind), ctypes.byref(number))
    return kind.value, number.value


def _take(owner: Any, address: int, length: int, code: int, width: int, on: tuple[int, int], read_only: bool,
          name: str, stream: int) -> Column:
    """Make a tensor of memory whose owner is a Python object, and a column of that."""
    manager = manager_of(on[0], on[1], None)
    tensor = native.hold((owner, address if length else 0, length, code, width * 8, on[0], on[1], int(read_only)))
    return Column._wrap(native.import_tensor(manager._handle(), tensor, 0, stream, name.encode()), manager)
