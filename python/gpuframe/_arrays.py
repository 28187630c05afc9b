"""Columns as numpy arrays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Optional

from . import _floats
from ._tensors import CUDA, View
from .errors import ArgumentError, ExchangeError

if TYPE_CHECKING:
    from .column import Column

_INTEGERS, _COMPLEX = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}, 5
#: Types that are integers with a unit in numpy.
_TIMES = re.compile(r"(timestamp|duration)\[(s|ms|us|ns)")
_DATES = {"date32": ("<i4", "<M8[D]"), "date64": ("<i8", "<M8[ms]")}


class _Shared:
    """A tensor with numpy's array interface. It keeps the memory alive for the array."""

    def __init__(self, view: View) -> None:
        self._view = view
        kind = _INTEGERS.get(view.code, "u")
        width = view.bits // 8
        self.__array_interface__ = {
            "shape": view.shape, "typestr": f"{'|' if width == 1 else '<'}{kind}{width}", "version": 3,
            # numpy refuses a null pointer, also for zero elements
            "data": (view.address or id(self), view.read_only), "strides": tuple(each * width for each in view.strides),
        }


def to_numpy(column: Column, dtype: Any, copy: Optional[bool]) -> Any:
    """Return a column as an array; see Column.to_numpy."""
    import numpy

    on_host = column
    if column.__dlpack_device__()[0] == CUDA:
        if copy is False:
            raise ArgumentError("copy=False: the column is in the memory of a GPU and must be copied")
        on_host, copy = column.to_device("host"), None
    made, shared = _array(on_host)
    if copy is False and (not shared or dtype is not None and numpy.dtype(dtype) != made.dtype):
        raise ArgumentError(f"copy=False: numpy cannot share a column of {column.dtype} with {column.null_count} nulls")
    if dtype is not None:
        made = made.astype(dtype, copy=False)
    return made.copy() if copy and shared else made


def _array(column: Column) -> tuple[Any, bool]:
    """Return an array of a column on the host, and whether it shares the memory."""
    import numpy

    if column._has_nulls():
        return _with_nulls(column), False
    timed = _timed(column)
    if timed is not None:
        return timed, column.dtype != "date32"
    try:
        view = View(column.values() if column._description["bitmap"] else column)
    except ExchangeError:
        return _objects(column), False
    made = numpy.asarray(_Shared(view))
    if view.code in (_floats.BFLOAT, *_floats.FORMATS):
        return _decoded(made, view.code)
    return made, column.dtype != "bool"


def _decoded(stored: Any, code: int) -> tuple[Any, bool]:
    """Return floats that numpy lacks as ml_dtypes' types, or as float32 without ml_dtypes."""
    import numpy

    try:
        import ml_dtypes

        return stored.view(getattr(ml_dtypes, _floats.name_of(code))), True
    except (ImportError, AttributeError):
        pass
    if code == _floats.BFLOAT:
        return (stored.astype(numpy.uint32) << 16).view(numpy.float32), False
    return numpy.array(_floats.table_of(code), dtype=numpy.float32)[stored], False


def _timed(column: Column) -> Optional[Any]:
    """Return dates and times as numpy's types; None for other types."""
    import numpy

    found = _TIMES.match(column.dtype)
    if found is not None:
        stored, kind = "<i8", f"<{'M' if found[1] == 'timestamp' else 'm'}8[{found[2]}]"
    elif column.dtype in _DATES:
        stored, kind = _DATES[column.dtype]
    else:
        return None
    values = numpy.asarray(_Stored(column, stored))
    return (values if values.dtype.itemsize == 8 else values.astype("<i8")).view(kind)


class _Stored:
    """The stored values of a column, by numpy's array interface."""

    def __init__(self, column: Column, typestr: str) -> None:
        self._column = column.slice(0)  # a separate reference
        self.__array_interface__ = {"shape": (len(column),), "typestr": typestr, "version": 3, "strides": None,
                                    "data": (column.data_ptr or id(self), column._description["read_only"])}


def _with_nulls(column: Column) -> Any:
    """Return numbers with NaN and times with NaT for nulls; other types as objects with None."""
    import numpy

    valid = to_numpy(column.is_valid(), None, None)
    if column.dtype == "bool" or column.dtype.startswith("fixed_size_list"):
        return _objects(column)
    try:
        values, _ = _array(column.values())
    except ExchangeError:
        return _objects(column)
    if values.dtype.kind in "Mm":
        return numpy.where(valid, values, numpy.array("NaT", dtype=values.dtype))
    if values.dtype.kind in "iu":
        values = values.astype(numpy.float64)
    elif values.dtype.kind not in "fcV":
        return _objects(column)
    elif values.dtype.kind == "V":  # a type of ml_dtypes
        values = values.astype(numpy.float32)
    return numpy.where(valid, values, values.dtype.type("nan"))


def _objects(column: Column) -> Any:
    """Return an array of Python objects."""
    import numpy

    found = column.tolist()
    made = numpy.empty(len(found), dtype=object)
    for i, each in enumerate(found):
        made[i] = each
    return made
