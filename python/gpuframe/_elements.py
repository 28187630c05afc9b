"""Elements of a column as Python objects, without other libraries."""

from __future__ import annotations

import ctypes
import decimal
import struct
from typing import TYPE_CHECKING, Any, Callable, Sequence

from . import _arrow, _floats, _times
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


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema))]


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                   ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.POINTER(_Array))]


class _Unknown(Exception):
    """A type that only pyarrow reads."""


def tolist(column: Column) -> list[Any]:
    """Return the elements of a column."""
    if column.dtype.startswith(("extension<gpuframe.", "fixed_size_list")):
        try:
            return _of_tensor(column)
        except ExchangeError:  # nulls within the lists, or lists of strings
            pass
    schema, array = _arrow.array_capsules(column)
    try:
        return _values(_Schema.from_address(native.struct_of(schema)[0]), _Array.from_address(native.struct_of(array)[0]), 0, len(column))
    except _times.Unfit as error:
        return _by_pyarrow(column, f"{error}: cast() it first, or read it with to_numpy()")
    except _Unknown:
        return _by_pyarrow(column, f"tolist() of {column.dtype} needs pyarrow, which is not installed")


def _by_pyarrow(column: Column, otherwise: str) -> list[Any]:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise UnsupportedError(f"column {column.name!r}: {otherwise}") from None
    found: list[Any] = column.to_pyarrow().to_pylist()
    return found


def _values(s: _Schema, a: _Array, skip: int, length: int) -> list[Any]:
    """Return the elements of an array after some others, None for nulls."""
    if not length:
        return []
    first = a.offset + skip
    valid = _bits(a, 0, first, length) if a.n_buffers and a.null_count != 0 and a.buffers[0] else None
    form = s.format.decode()
    if s.dictionary:
        words = _values(s.dictionary.contents, a.dictionary.contents, 0, a.dictionary.contents.length)
        places = _numbers(a, _FORMATS[form], first, length)
        if valid is None:
            return [words[each] for each in places]
        return [words[each] if there else None for each, there in zip(places, valid)]
    found = _plain(s, a, form, first, length)
    return found if valid is None else [each if there else None for each, there in zip(found, valid)]


def _plain(s: _Schema, a: _Array, form: str, first: int, length: int) -> list[Any]:
    """Return the elements of an array without regard to nulls, which may be zeros or None."""
    if form == "n":
        return [None] * length
    if form in _FORMATS:
        return list(_numbers(a, _FORMATS[form], first, length))
    if form == "b":
        return _bits(a, 1, first, length)
    if form in "uUzZ":
        return _texts(a, "i" if form in "uz" else "q", form in "uU", first, length)
    if form in ("vu", "vz"):
        return _views(a, form == "vu", first, length)
    if form[0] == "t" and form[:2] != "ti":
        return _temporal(a, form, first, length)
    if form[:2] == "d:":
        return _decimals(a, form, first, length)
    if form[:2] == "w:":
        width = int(form[2:])
        raw = ctypes.string_at(a.buffers[1] + first * width, length * width) if width else b""
        return [raw[i * width:(i + 1) * width] for i in range(length)]
    if form[0] == "+":
        return _nested(s, a, form, first, length)
    raise _Unknown


def _nested(s: _Schema, a: _Array, form: str, first: int, length: int) -> list[Any]:
    if form == "+s":
        names = [s.children[i].contents.name.decode() for i in range(s.n_children)]
        fields = [_values(s.children[i].contents, a.children[i].contents, first, length) for i in range(s.n_children)]
        return [dict(zip(names, row)) for row in zip(*fields)] if fields else [{} for _ in range(length)]
    if form[:3] == "+w:":
        width = int(form[3:])
        elements = _values(s.children[0].contents, a.children[0].contents, first * width, length * width)
        return [elements[i * width:(i + 1) * width] for i in range(length)]
    if form in ("+l", "+L", "+m"):
        ends = _numbers(a, "q" if form == "+L" else "i", first, length + 1)
        begins, ends = ends[:-1], ends[1:]
    elif form in ("+vl", "+vL"):
        letter = "q" if form == "+vL" else "i"
        # The place and the size of a null are undefined.
        views = zip(_numbers(a, letter, first, length), _numbers(a, letter, first, length, 2), _valid(a, first, length))
        ranges = [(begin, begin + size) if there else (0, 0) for begin, size, there in views]
        begins, ends = zip(*ranges)
    else:
        raise _Unknown
    low, high = min(begins), max(ends)
    elements = _values(s.children[0].contents, a.children[0].contents, low, max(high - low, 0))
    if form == "+m":  # an entry has two fields
        elements = [each if each is None else tuple(each.values()) for each in elements]
    return [elements[begin - low:end - low] for begin, end in zip(begins, ends)]


def _temporal(a: _Array, form: str, first: int, length: int) -> list[Any]:
    convert, letter = _times.converter(form)
    # The value of a null is undefined: it may be no date at all.
    return [convert(each) if there else None for each, there in zip(_numbers(a, letter, first, length), _valid(a, first, length))]


def _decimals(a: _Array, form: str, first: int, length: int) -> list[Any]:
    parts = [int(each) for each in form[2:].split(",")]
    width = (parts[2] if len(parts) > 2 else 128) // 8
    raw = ctypes.string_at(a.buffers[1] + first * width, length * width)
    wholes = [int.from_bytes(raw[i * width:(i + 1) * width], "little", signed=True) for i in range(length)]
    return [decimal.Decimal((int(each < 0), tuple(map(int, str(abs(each)))), -parts[1])) for each in wholes]


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


def _numbers(a: _Array, letter: str, first: int, length: int, buffer: int = 1) -> Sequence[Any]:
    size = struct.calcsize(letter)
    return struct.unpack(f"<{length}{letter}", ctypes.string_at(a.buffers[buffer] + first * size, length * size))


def _bits(a: _Array, buffer: int, first: int, length: int) -> list[bool]:
    raw = ctypes.string_at(a.buffers[buffer] + (first >> 3), ((first & 7) + length + 7) // 8)
    return [bool(raw[i >> 3] >> (i & 7) & 1) for i in range(first & 7, (first & 7) + length)]


def _valid(a: _Array, first: int, length: int) -> list[bool]:
    return _bits(a, 0, first, length) if a.null_count != 0 and a.buffers[0] else [True] * length


def _texts(a: _Array, letter: str, decode: bool, first: int, length: int) -> list[Any]:
    offsets = _numbers(a, letter, first, length + 1)
    begin = offsets[0]
    raw = ctypes.string_at(a.buffers[2] + begin, offsets[-1] - begin) if offsets[-1] > begin else b""
    parts = [raw[start - begin:end - begin] for start, end in zip(offsets, offsets[1:])]
    return [part.decode() for part in parts] if decode else parts


def _views(a: _Array, decode: bool, first: int, length: int) -> list[Any]:
    """Return texts or bytes of views: up to 12 bytes are in the view, others in a buffer."""
    raw = ctypes.string_at(a.buffers[1] + first * 16, length * 16)
    parts = []
    for at in range(0, len(raw), 16):
        size, _, buffer, offset = struct.unpack_from("<4i", raw, at)
        part = raw[at + 4:at + 4 + size] if size <= 12 else ctypes.string_at(a.buffers[2 + buffer] + offset, size)
        parts.append(part.decode() if decode else part)
    return parts
