"""Tables: columns of equal length in device memory."""

from __future__ import annotations

import ctypes
import json
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from . import _arrow
from ._held import Held
from ._library import library, native
from .column import Column
from .devices import Device, Manager, Place, device, place
from .errors import ArgumentError, ColumnNotFoundError, RangeError


class Schema:
    """The names and types of a table's columns. It speaks ``__arrow_c_schema__``."""

    __slots__ = ("_table", "names", "types")

    def __init__(self, table: Table) -> None:
        self._table = table
        self.names: list[str] = [each["name"] for each in table._description["columns"]]
        self.types: list[str] = [each["type"] for each in table._description["columns"]]

    def __arrow_c_schema__(self) -> Any:
        return _arrow.schema_capsule(self._table)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.names, self.types))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "<gpuframe.Schema " + ", ".join(f"{name}: {kind}" for name, kind in self) + ">"


class Table(Held, native.Tensor):
    """An Arrow table in device memory. Tables do not change; views of them share memory.

    >>> import gpuframe
    >>> table = gpuframe.Table.from_columns({"delay": [3, -1, 40], "stops": [0, 0, 1]}, device="host")
    >>> len(table), table.column_names
    (3, ['delay', 'stops'])
    >>> table[1:]["delay"].tolist()
    [-1, 40]

    A table whose columns are of one numeric type is a tensor of two dimensions too:
    ``torch.from_dlpack(table)``. See :meth:`matrix`.
    """

    __slots__ = ("_info", "_manager", "__weakref__")

    def __init__(self) -> None:
        raise TypeError("ask Table.from_arrow, Table.from_columns, read_parquet, read_ipc or read_csv for a table")

    @classmethod
    def _wrap(cls, handle: int, manager: Optional[Manager]) -> Table:
        made = cls.__new__(cls)
        made._adopt(handle)
        made._info = None
        made._manager = manager
        return made

    @classmethod
    def from_arrow(cls, obj: Any, device: Place = None, stream: Optional[int] = None) -> Table:
        """Make a table of anything that speaks Arrow's C interfaces.

        That are tables and record batches of pyarrow, polars, pandas, nanoarrow,
        cudf, duckdb and others. Data that is on the device already is not copied;
        what is in the host's memory is copied to a GPU, and shared where the device
        is the host.
        """
        return _arrow.table_of(cls, obj, device, stream)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], device: Place = None) -> Table:
        """Make a table of columns by name.

        A column is anything with ``__dlpack__``, ``__cuda_array_interface__``,
        ``__array_interface__`` or ``__arrow_c_array__``, a Column, or a sequence of
        numbers. Those that lie on the device are shared, others copied there, and
        sequences are copied always.
        """
        from ._columns import column_of

        target = place(device)
        made = {str(name): column_of(each, str(name), target) for name, each in columns.items()}
        handles = (ctypes.c_uint64 * len(made))(*[each._handle() for each in made.values()])
        rows = len(next(iter(made.values()))) if made else 0
        for name, each in made.items():
            if len(each) != rows:
                raise ArgumentError(f"column {name!r} has {len(each):,} elements, the first one {rows:,}")
        return cls._wrap(library.make(library.table_new, json.dumps(list(made)).encode(), handles, len(made), rows), target)

    @property
    def _description(self) -> dict[str, Any]:
        if self._info is None:
            self._info = library.ask(library.table_describe, self._handle())
        return self._info

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self._description["rows"]

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return len(self._description["columns"])

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in order."""
        return [each["name"] for each in self._description["columns"]]

    @property
    def schema(self) -> Schema:
        """The names and types of the columns."""
        return Schema(self)

    @property
    def nbytes(self) -> int:
        """The bytes of the memory that the table lies in."""
        return self._description["bytes"]

    @property
    def device(self) -> Device:
        """The device that the table is on; the host for one without memory."""
        return device(self._description["device"] or "host")

    def __len__(self) -> int:
        return self.num_rows

    def column(self, which: Union[int, str]) -> Column:
        """Return a column by name or number. It shares the table's memory and keeps it alive."""
        names = self.column_names
        if isinstance(which, str):
            if which not in names:
                raise ColumnNotFoundError(f"no column is called {which!r}; there are {', '.join(names) or 'none'}")
            number = names.index(which)
        else:
            number = which + len(names) if which < 0 else which
            if not 0 <= number < len(names):
                raise RangeError(f"column {which} of {len(names)}")
        return Column._wrap(library.make(library.table_column, self._handle(), number), self._manager)

    def columns(self) -> list[Column]:
        """Return all columns."""
        return [self.column(i) for i in range(self.num_columns)]

    def __getitem__(self, key: Union[str, int, slice, Sequence[str]]) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(self.num_rows)
            if step != 1:
                raise ArgumentError("a table's slices have step 1")
            return self.slice(start, max(0, stop - start))
        if isinstance(key, (list, tuple)):
            return self.select(key)
        return self.column(key)

    def __contains__(self, name: object) -> bool:
        return name in self.column_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def slice(self, offset: int, length: Optional[int] = None) -> Table:
        """Return ``length`` rows from ``offset`` on, of the same memory."""
        if length is None:
            length = self.num_rows - offset
        return self._wrap(library.make(library.table_slice, self._handle(), offset, length), self._manager)

    def select(self, names: Sequence[str]) -> Table:
        """Return a table of some columns, in the order of their names, of the same memory."""
        return self._wrap(library.make(library.table_select, self._handle(), json.dumps(list(names)).encode()), self._manager)

    def matrix(self, names: Optional[Sequence[str]] = None) -> Table:
        """Return a table of these columns, all of one numeric type, that lie side by side.

        By DLPack it is one tensor of rows × columns, without a copy, as often as it
        is handed over. Columns that lie so already are shared; others are copied on
        their device once.

        >>> table = Table.from_columns({"x": [1.0, 2.0], "y": [3.0, 4.0]}, device="host")
        >>> numpy = __import__("pytest").importorskip("numpy")
        >>> numpy.from_dlpack(table.matrix(["y", "x"])).tolist()
        [[3.0, 1.0], [4.0, 2.0]]
        """
        some = self if names is None else self.select(names)
        return self._wrap(library.make(library.table_matrix, some._handle()), self._manager)

    def to_device(self, device: Place) -> Table:
        """Return a copy on a device, or within a budget."""
        target = place(device)
        return self._wrap(library.make(library.table_copy, self._handle(), target._handle()), target)

    def __arrow_c_schema__(self) -> Any:
        """Return a capsule of the table's ArrowSchema."""
        return _arrow.schema_capsule(self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Return capsules of the table as an array of structs in the host's memory: copied there from a GPU."""
        return _arrow.array_capsules(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule of a stream of one batch in the host's memory: copied there from a GPU."""
        return _arrow.stream_capsule(self)

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Return capsules of an ArrowSchema and an ArrowDeviceArray of the table's own memory."""
        return _arrow.device_array_capsules(self, kwargs)

    def __arrow_c_device_stream__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        """Return a capsule of an ArrowDeviceArrayStream of one batch of the table's own memory."""
        return _arrow.device_stream_capsule(self, kwargs)

    def to_pyarrow(self) -> Any:
        """Return a pyarrow.Table in the host's memory."""
        import pyarrow

        return pyarrow.table(_arrow.OnHost(self))

    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of Python objects."""
        return {each.name: each.tolist() for each in self.columns()}

    def __repr__(self) -> str:
        try:
            d = self._description
        except Exception as error:  # noqa: BLE001 - a repr never fails
            return f"<gpuframe.Table: {error}>"
        columns = ", ".join(f"{each['name']}: {each['type']}" for each in d["columns"])
        return f"<gpuframe.Table {d['rows']:,} rows × {len(d['columns'])} columns on {d['device'] or 'no device'}: {columns}>"
