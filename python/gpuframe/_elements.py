"""Elements of a column as Python objects, without other libraries."""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any, Callable, Sequence

from . import _arrow, _floats
from ._library import native
from ._tensors import View
from .errors import ExchangeError, UnsupportedError

if TYPE_CHECKING:
    from .column import Column

_FORMATS = {"c": "b", "s": "h", "i": "i", "l": "q", "C": "B", "S": "H", "I": "I", "L": "Q", "e": "e", "f": "f", "g": "d"}

#: Letters of struct for DLPack's types: code and bits.
_CODES = {(0, 8): "b", (0, 16): "h", (0, 32): "i", (0, 64): "q", (1, 8): "B", (1, 16): "H", (1, 32): "I", (1, 64): "Q",
          (2, 16): "e", (2, 32): "f", (2, 64): "d", (5, 64): "f", (5, 128): "d", (6, 8): "?"}
_COMPLEX = 5


class _Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p))]


def tolist(column: Column) -> list[Any]:
    """Return the elements of a column. Dates and most nested types need pyarrow."""
    if column.dtype.startswith(("extension<gpuframe.", "fixed_size_list")):
        try:
            return _of_tensor(column)
        except ExchangeError:  # nulls within the lists, or lists of strings
            pass
    schema, array = _arrow.array_capsules(column)
    form = ctypes.string_at(ctypes.c_void_p.from_address(native.struct_of(schema)[0]).value or 0).decode()
    a = _Array.from_address(native.struct_of(array)[0])
    if form == "n":
        return [None] * a.length
    if form in _FORMATS:
        size = struct.calcsize(_FORMATS[form])
        raw = ctypes.string_at(a.buffers[1] + a.offset * size, a.length * size) if a.length else b""
        found: list[Any] = list(struct.unpack(f"<{a.length}{_FORMATS[form]}", raw))
    elif form == "b":
        found = _bits(a, 1)
    elif form in "uUzZ":
        found = _texts(a, "i" if form in "uz" else "q", form in "uU")
    else:
        return _by_pyarrow(column)
    if a.null_count != 0 and a.buffers[0]:
        return [each if valid else None for each, valid in zip(found, _bits(a, 0))]
    return found


def _by_pyarrow(column: Column) -> list[Any]:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise UnsupportedError(f"tolist() of a column of {column.dtype} needs pyarrow, which is not installed") from None
    found: list[Any] = column.to_pyarrow().to_pylist()
    return found


def _of_tensor(column: Column) -> list[Any]:
    """Return the elements of a column that has a DLPack type. Lists are its dimensions."""
    valid = None
    if column._has_nulls():
        valid = column.is_valid().tolist()
    if column._description["bitmap"]:
        column = column.values()
    on_host = column if column.__dlpack_device__()[0] == 1 else column.to_device("host")
    view = View(on_host)
    count = 1
    for size in view.shape:
        count *= size
    found = _decoded(view, count)
    for size in reversed(view.shape[1:]):
        found = [found[at:at + size] for at in range(0, len(found), size)] if size else [[] for _ in range(view.shape[0])]
    return found if valid is None else [each if there else None for each, there in zip(found, valid)]


def _decoded(view: View, count: int) -> list[Any]:
    raw = ctypes.string_at(view.address, count * view.bits // 8) if count else b""
    letter = _CODES.get((view.code, view.bits))
    if letter is None:
        decode: Callable[[Sequence[int]], list[float]] = _floats.decoder(view.code)
        return decode(struct.unpack(f"<{count}{'H' if view.bits == 16 else 'B'}", raw))
    if view.code == _COMPLEX:
        parts = struct.unpack(f"<{2 * count}{letter}", raw)
        return [complex(real, imaginary) for real, imaginary in zip(parts[::2], parts[1::2])]
    return list(struct.unpack(f"<{count}{letter}", raw))


def _bits(a: _Array, buffer: int) -> list[bool]:
    if not a.length:
        return []
    raw = ctypes.string_at(a.buffers[buffer], (a.offset + a.length + 7) // 8)
    return [bool(raw[i >> 3] >> (i & 7) & 1) for i in range(a.offset, a.offset + a.length)]


def _texts(a: _Array, letter: str, decode: bool) -> list[Any]:
    if not a.length:
        return []
    width = struct.calcsize(letter)
    offsets = struct.unpack(f"<{a.length + 1}{letter}", ctypes.string_at(a.buffers[1] + a.offset * width, (a.length + 1) * width))
    first = offsets[0]
    raw = ctypes.string_at(a.buffers[2] + first, offsets[-1] - first) if offsets[-1] > first else b""
    parts = [raw[begin - first:end - first] for begin, end in zip(offsets, offsets[1:])]
    return [part.decode() for part in parts] if decode else parts
