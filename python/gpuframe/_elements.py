"""A column's elements as Python objects, without any other library."""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING, Any

from ._library import native
from . import _arrow

if TYPE_CHECKING:
    from .column import Column

_FORMATS = {"c": "b", "s": "h", "i": "i", "l": "q", "C": "B", "S": "H", "I": "I", "L": "Q", "e": "e", "f": "f", "g": "d"}


class _Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p))]


def tolist(column: Column) -> list[Any]:
    """Return the elements of a column of numbers, booleans or strings; of others by pyarrow."""
    schema, array = _arrow.array_capsules(column)
    form = ctypes.cast(ctypes.c_void_p.from_address(native.struct_of(schema)[0]).value, ctypes.c_char_p).value.decode()
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
        return column.to_pyarrow().to_pylist()
    if a.null_count != 0 and a.buffers[0]:
        found = [each if valid else None for each, valid in zip(found, _bits(a, 0))]
    return found


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
