"""Columns: one Arrow array in device memory, under a name."""

from __future__ import annotations

import builtins
import ctypes
from typing import Any, Optional

from . import _arrays, _arrow, _elements, _tensors
from ._held import Held
from ._library import library, native
from ._native import Exchangeable
from ._tensors import CUDA, MANAGED, PINNED
from ._values import Values
from .devices import Device, Place, Target, device, place
from .errors import ArgumentError, WrongTypeError

#: Letters of a numpy type string, for the types that have one.
_TYPESTR = {
    "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
    "uint8": "|u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8",
    "float16": "<f2", "float32": "<f4", "float64": "<f8",
}


class Column(Values, Held, Exchangeable):
    """One column of a table: an Arrow array in device memory.

    A column shares its table's memory and keeps it alive. It has the interfaces of DLPack
    (``__dlpack__``), the CUDA array interface, numpy's array interface if it is on the host, and
    Arrow's C Device interface. None of them copies.

    >>> import gpuframe
    >>> delays = gpuframe.Table.from_columns({"delay": [3, -1, 40]}, device="host")["delay"]
    >>> len(delays), delays.dtype, delays.null_count
    (3, 'int64', 0)
    >>> delays.tolist(), (delays > 0).tolist(), delays.max()
    ([3, -1, 40], [True, False, True], 40)
    """

    __slots__ = ("_info", "_manager", "__weakref__")

    _info: Optional[dict[str, Any]]
    _manager: Any

    def __init__(self) -> None:
        raise TypeError("a Column cannot be constructed: take it from a table, or call Column.from_dlpack or Column.from_arrow")

    @classmethod
    def _wrap(cls, handle: int, kept: Any) -> Column:
        """Make a column of a handle. It keeps the managers alive that may own its memory."""
        made = cls.__new__(cls)
        made._adopt(handle)
        made._info = None
        made._manager = kept
        return made

    @classmethod
    def from_dlpack(cls, obj: Any, *, name: str = "", device: Place = None) -> Column:
        """Import a tensor of any library with a DLPack interface, without copying it.

        The column is on the tensor's device, unless ``device`` names another one: then it is
        copied there. The tensor must be contiguous and have one dimension. Booleans are copied,
        because Arrow packs them into bits.

        >>> numpy = __import__("pytest").importorskip("numpy")
        >>> Column.from_dlpack(numpy.arange(3), device="host").tolist()
        [0, 1, 2]
        """
        address, legacy, kind, number, stream = _tensors.tensor_of(obj, device)
        try:
            manager = _tensors.manager_of(kind, number, device)
        except BaseException:
            native.import_tensor(0, address, legacy, 0, b"")  # returns the tensor to its producer
            raise
        column = cls._wrap(native.import_tensor(manager._handle(), address, legacy, stream, name.encode()), manager)
        if device is not None:
            target = place(device)
            if target.name != manager.name:
                return column.to_device(target)
        return column

    @classmethod
    def from_arrow(cls, obj: Any, *, name: Optional[str] = None, device: Place = None, stream: Optional[int] = None) -> Column:
        """Import an Arrow array, or a stream of arrays, of any library with Arrow's C interfaces.

        Data on a GPU stays there and is not copied, unless ``device`` names another device. Data
        of the host is copied to the device, or shared if the device is the host. Several chunks
        become one. ``stream`` is as in :meth:`Table.from_arrow`.
        """
        return _arrow.column_of(cls, obj, name, Target.of(device), stream)

    @property
    def _description(self) -> dict[str, Any]:
        self._check()
        known = self._info
        if known is None:
            known = self._info = library.answer(library.column_describe, self._handle())
        described: dict[str, Any] = known
        return described

    def _has_nulls(self) -> bool:
        return self._description["bitmap"] and self.null_count > 0

    @property
    def name(self) -> str:
        """The name."""
        found: str = self._description["name"]
        return found

    @property
    def dtype(self) -> str:
        """The Arrow type, as text: "int32", "utf8", "timestamp[ns]"."""
        found: str = self._description["type"]
        return found

    def __len__(self) -> int:
        length: int = self._description["length"]
        return length

    @property
    def shape(self) -> tuple[int]:
        """The number of elements, as a tuple like numpy's."""
        return (len(self),)

    @property
    def nullable(self) -> bool:
        """Whether the schema allows nulls."""
        found: bool = self._description["nullable"]
        return found

    @property
    def device(self) -> Device:
        """The device of the column; the host for a column without memory."""
        return device(self._description["device"] or "host")

    @property
    def data_ptr(self) -> int:
        """The address of the values; 0 for types without a fixed width."""
        found: int = self._description["pointer"]
        return found

    @property
    def nbytes(self) -> int:
        """The bytes of the values; 0 for types without a fixed width."""
        found: int = self._description["bytes"]
        return found

    @property
    def null_count(self) -> int:
        """The number of nulls. Counting them may wait for the device."""
        described = self._description
        known: int = described["nulls"]
        if known < 0:
            count = ctypes.c_int64()
            library.column_null_count(self._handle(), ctypes.byref(count))
            known = described["nulls"] = count.value
        return known

    @property
    def bit_offset(self) -> int:
        """For a column of :meth:`validity`: the bit of the first byte that belongs to the first element."""
        found: int = self._description["bits"]
        return found

    def values(self) -> Column:
        """Return the values without the nulls. They share memory and are undefined where the column has a null."""
        return self._wrap(library.make(library.column_values, self._handle()), self._manager)

    def validity(self) -> Column:
        """Return the validity bitmap as a column of bytes that shares its memory.

        Bit i + bit_offset, counted from the least significant of the first byte, is set if element
        i is valid. Raises ExchangeError, a BufferError, if all values are valid and the column has
        no bitmap.
        """
        return self._wrap(library.make(library.column_validity, self._handle()), self._manager)

    def is_valid(self) -> Column:
        """Return a column of booleans, true for elements that are not null. It shares the bitmap's memory.

        Raises ExchangeError, a BufferError, if all values are valid.
        """
        return self._wrap(library.make(library.column_is_valid, self._handle()), self._manager)

    def head(self, n: int = 5) -> Column:
        """Return the first ``n`` elements, or all except the last ``-n``. They share memory."""
        return self[:n]

    def slice(self, offset: int, length: Optional[int] = None) -> Column:
        """Return ``length`` elements from ``offset`` on. They share memory."""
        if length is None:
            length = len(self) - offset
        return self._wrap(library.make(library.column_slice, self._handle(), offset, length), self._manager)

    def __getitem__(self, key: builtins.slice) -> Column:
        if not isinstance(key, builtins.slice):
            raise WrongTypeError(f"a column is indexed by slices, not by {key!r}; to_numpy() and tolist() return elements")
        start, stop, step = key.indices(len(self))
        if step != 1:
            raise ArgumentError("a column's slices must have step 1")
        return self.slice(start, max(0, stop - start))

    def to_device(self, device: Place) -> Column:
        """Return a copy on a device, or within a budget.

        Copies within a GPU and from one GPU to another do not go through the host and do not wait.
        """
        target = place(device)
        return Column._wrap(library.make(library.column_copy, self._handle(), target._handle()), target)

    # The library defines to, __dlpack__, __dlpack_device__ and __dlpack_c_exchange_api__.

    def _interface(self) -> dict[str, Any]:
        typestr = _TYPESTR.get(self.dtype)
        if typestr is None:
            raise AttributeError(f"the array interfaces have no type for {self.dtype}")
        d = self._description
        return {"shape": (len(self),), "typestr": typestr, "data": (self.data_ptr if len(self) else 0, d["read_only"]),
                "strides": None, "version": 3}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA array interface, version 3.

        A column with nulls has a ``mask``: an array of one byte for each element, 1 if the element
        is valid. Each access makes a new one from Arrow's bits, because bits may begin within a
        byte, which the interface cannot express. numba (with NotImplementedError) and cupy (with
        ValueError) refuse every mask, and torch ignores it and reads undefined values for nulls:
        pass them values() and is_valid(), or fill the nulls first. Booleans have no type in this
        interface, because they are bits: pass them by DLPack.
        """
        if self.__dlpack_device__()[0] not in (CUDA, PINNED, MANAGED):
            raise AttributeError("the column is not in the memory of a GPU")
        described = self._interface()
        described["stream"] = 1
        plain = self
        if self._has_nulls():
            plain = self.values()
            described["mask"] = _tensors.Mask(self.is_valid())
        _arrow.order(plain)
        return described

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """numpy's array interface, for columns in the host's memory."""
        if self.__dlpack_device__()[0] == CUDA:
            raise AttributeError("the column is in the memory of a GPU: to_numpy() copies it")
        if self._has_nulls():
            raise AttributeError("the column has nulls: take values() and validity()")
        described = self._interface()
        if not len(self):  # numpy refuses a null pointer, also for zero elements
            described["data"] = (id(self), described["data"][1])
        _arrow.order(self)
        return described

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if self.__dlpack_device__()[0] == CUDA:
            raise WrongTypeError("the column is in the memory of a GPU: to_numpy() copies it")
        return self.to_numpy(dtype=dtype, copy=copy)

    def __arrow_c_schema__(self) -> Any:
        """Return the column's field as a capsule of an ArrowSchema."""
        return _arrow.schema_capsule(self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Return capsules of the column in the host's memory; a column on a GPU is copied."""
        return _arrow.array_capsules(self)

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Return capsules of an ArrowSchema and an ArrowDeviceArray that share the column's memory."""
        return _arrow.device_array_capsules(self, kwargs)

    def to_pyarrow(self) -> Any:
        """Return a pyarrow.Array in the host's memory."""
        import pyarrow

        return pyarrow.array(_arrow.OnHost(self))

    def to_numpy(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """Return a numpy array: it shares memory on the host, and is a copy of a column on a GPU.

        Fixed-size lists become further dimensions. bfloat16 and the floats of eight bits become
        types of ml_dtypes if it is installed, otherwise float32. Nulls become NaN in numbers,
        which makes integers floats, and NaT in times. Types that numpy lacks, such as strings and
        lists, become objects.

        >>> gpuframe_ = __import__("gpuframe")
        >>> numpy = __import__("pytest").importorskip("numpy")
        >>> gpuframe_.Table.from_columns({"x": [1.5, 2.5]}, device="host")["x"].to_numpy().tolist()
        [1.5, 2.5]
        """
        return _arrays.to_numpy(self, dtype, copy)

    def to_pandas(self) -> Any:
        """Return a pandas.Series, through pyarrow if it is installed."""
        import pandas

        try:
            series = self.to_pyarrow().to_pandas()
        except ImportError:
            series = pandas.Series(self.to_numpy(), copy=True)
        series.name = self.name
        return series

    def tolist(self) -> list[Any]:
        """Return the elements as Python objects, None for nulls.

        Dates and times are those of module datetime, which has microseconds and the years 1 to
        9999; decimals are Decimal, structs dicts, maps lists of pairs. Unions, intervals,
        run-ends, and times that datetime cannot hold, need pyarrow.
        """
        return _elements.tolist(self)

    def __repr__(self) -> str:
        if self.released:
            return "<gpuframe.Column, released>"
        try:
            d = self._description
        except Exception as error:  # noqa: BLE001 - a repr never fails
            return f"<gpuframe.Column: {error}>"
        return f"<gpuframe.Column {d['name']!r}: {d['length']:,} × {d['type']} on {d['device'] or 'no device'}>"


native.wrap_column = lambda handle: Column._wrap(handle, None)
