"""Columns from the objects of other libraries."""

from __future__ import annotations

import array
import ctypes
from typing import Any, Callable, Mapping, Optional

from . import _arrow
from ._library import library, native
from ._tensors import CPU, CUDA, manager_of, stream_number
from .column import Column
from .devices import Manager, Place, Target, place
from .errors import ArgumentError, ExchangeError, GpuframeError, WrongTypeError

_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}

#: Exceptions by which an object refuses a protocol. MemoryError is not one of them.
_REFUSALS = (TypeError, ValueError, BufferError, RuntimeError, NotImplementedError, AttributeError, ImportError)


def columns_of(given: Mapping[str, Any], device: Place) -> tuple[dict[str, Column], Manager]:
    """Return objects as columns of one device, and that device.

    Without ``device`` the device is the GPU of the columns that are on one, or else the default
    device. Columns of two GPUs are then an error.
    """
    made = {str(name): column_of(obj, str(name)) for name, obj in given.items()}
    target = place(device) if device is not None else place(_common(made))
    for (name, column), obj in zip(list(made.items()), given.values()):
        # Intermediate results, made from sequences, are copied too, so that they count in
        # the budget.
        if column.device.name != target.name or _is_sequence(obj):
            made[name] = column.to_device(target)
    return made, target


def _common(columns: Mapping[str, Column]) -> Optional[str]:
    """Return the name of the GPU that columns are on; None if all are on the host."""
    found: dict[str, str] = {}
    for name, column in columns.items():
        if column.device.is_gpu:
            found.setdefault(column.device.name, name)
    if len(found) > 1:
        places = " and ".join(f"{name!r} on {device}" for device, name in found.items())
        raise ArgumentError(f"the columns are on several GPUs, {places}: pass device= to choose the table's device")
    return next(iter(found), None)


def column_of(obj: Any, name: str) -> Column:
    """Return the object as a column in place, by the first protocol that works."""
    if isinstance(obj, Column):
        return obj
    refusals: list[tuple[str, BaseException]] = []
    for protocol, take in _ways(obj, name):
        try:
            return take()
        except MemoryError:
            raise
        except _REFUSALS as error:
            refusals.append((protocol, error))
    return _of_sequence(obj, name, refusals)


def _ways(obj: Any, name: str) -> list[tuple[str, Callable[[], Column]]]:
    """Return the protocols of an object. Those that keep its type and nulls come first."""
    ways: list[tuple[str, Callable[[], Column]]] = []
    if _is_pandas(obj):
        # By Arrow pandas turns NaN into nulls. Its numbers are numpy's.
        if getattr(obj.dtype, "kind", "O") in "iufcb" and type(obj.dtype).__module__.startswith("numpy"):
            return [("to_numpy", lambda: _of_numpy(obj.to_numpy(), name))]
    if _arrow.speaks(obj):
        ways.append(("Arrow", lambda: _arrow.column_of(Column, obj, name, Target.of_default(place("host")))))
    if hasattr(obj, "__dlpack__"):
        ways.append(("DLPack", lambda: Column.from_dlpack(obj, name=name)))
    if hasattr(obj, "__cuda_array_interface__"):
        ways.append(("the CUDA array interface", lambda: _of_interface(obj, obj.__cuda_array_interface__, name, True)))
    if hasattr(obj, "__array_interface__"):
        ways.append(("the array interface", lambda: _of_interface(obj, obj.__array_interface__, name, False)))
    if not ways and hasattr(obj, "__array__"):
        ways.append(("__array__", lambda: _of_numpy(obj.__array__(), name)))
    return ways


def _is_pandas(obj: Any) -> bool:
    return type(obj).__module__.split(".")[0] == "pandas" and hasattr(obj, "to_numpy") and hasattr(obj, "dtype")


def _of_numpy(values: Any, name: str) -> Column:
    """Share a numpy array; copy one whose elements are not contiguous."""
    import numpy

    if values.dtype.kind not in "iufcb":
        raise ExchangeError(f"column {name!r}: numpy's type {values.dtype} has no Arrow type")
    compact = numpy.ascontiguousarray(values)
    return _of_interface(compact, compact.__array_interface__, name, False)


def _is_sequence(obj: Any) -> bool:
    return not isinstance(obj, Column) and not _ways(obj, "")


def _of_sequence(obj: Any, name: str, refusals: list[tuple[str, BaseException]]) -> Column:
    """Copy a sequence of numbers or booleans as int64, float64 or bool."""
    if refusals:
        protocol, first = refusals[0]
        more = "".join(f"; {other}: {error}" for other, error in refusals[1:])
        kind = type(first) if isinstance(first, GpuframeError) else ExchangeError
        raise kind(f"column {name!r}: {protocol} of a {type(obj).__name__} was refused: {first}{more}") from first
    if isinstance(obj, (str, bytes, Mapping)):
        raise WrongTypeError(f"column {name!r}: a {type(obj).__name__} is not a sequence of numbers")
    try:
        numbers = list(obj)
        if numbers and all(isinstance(each, bool) for each in numbers):
            copied = array.array("b", numbers)
            return _take(copied, copied.buffer_info()[0], len(copied), _KINDS["b"], 1, (CPU, 0), False, name, 0)
        if any(isinstance(each, float) for each in numbers):
            copied = array.array("d", numbers)
        else:
            copied = array.array("q", numbers)
    except (TypeError, OverflowError) as error:
        raise WrongTypeError(f"column {name!r}: a {type(obj).__name__} has no Arrow, DLPack or array interface "
                             f"and is not a sequence of numbers: {error}") from None
    address, length = copied.buffer_info()
    return _take(copied, address, length, 2 if copied.typecode == "d" else 0, 8, (CPU, 0), False, name, 0)


def _of_interface(obj: Any, described: dict[str, Any], name: str, on_gpu: bool) -> Column:
    """Share the memory that an array interface describes."""
    shape, typestr, strides = described["shape"], described["typestr"], described.get("strides")
    if described.get("mask") is not None:
        raise ExchangeError(f"column {name!r}: its array interface has a mask; pass a column with nulls by Arrow")
    if len(shape) != 1:
        raise ExchangeError(f"column {name!r} has {len(shape)} dimensions, expected one")
    if typestr[0] == ">" or typestr[1] not in _KINDS:
        raise ExchangeError(f"column {name!r}: arrays of {typestr} cannot be shared; copy to another type")
    width = int(typestr[2:])
    if strides is not None and shape[0] > 1 and strides[0] != width:
        raise ExchangeError(f"column {name!r}: its elements are not contiguous; make a contiguous copy")
    data = described.get("data")
    if data is None:
        raise ExchangeError(f"column {name!r}: its array interface has no data pointer")
    on, stream = (CPU, 0), 0
    if on_gpu:
        stream = stream_number(described.get("stream"), f"column {name!r}: its interface's stream") or 1
        on = _where_is(data[0]) if shape[0] else _default_gpu().dlpack_device
    return _take(obj, data[0], shape[0], _KINDS[typestr[1]], width, on, bool(data[1]), name, stream)


def _default_gpu() -> Manager:
    chosen = place(None)
    return chosen if chosen.dlpack_device[0] == CUDA else place("cuda:0")


def _where_is(pointer: int) -> tuple[int, int]:
    """Return the device of memory, which the interface lacks, from the driver."""
    kind, number = ctypes.c_int32(), ctypes.c_int32()
    library.pointer_device(_default_gpu()._handle(), pointer, ctypes.byref(kind), ctypes.byref(number))
    return kind.value, number.value


def _take(owner: Any, address: int, length: int, code: int, width: int, on: tuple[int, int], read_only: bool,
          name: str, stream: int) -> Column:
    """Make a column from memory that a Python object owns."""
    manager = manager_of(on[0], on[1], None)
    tensor = native.hold((owner, address if length else 0, length, code, width * 8, on[0], on[1], int(read_only)))
    return Column._wrap(native.import_tensor(manager._handle(), tensor, 0, stream, name.encode()), manager)
