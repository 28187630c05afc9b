"""Tables: columns of equal length in device memory."""

from __future__ import annotations

import ctypes
import json
import shutil
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, Sequence, Union, overload

from . import _arrow
from ._columns import columns_of
from ._functions import Calls
from ._held import Held
from ._library import library
from ._native import Tensor
from ._tensors import CUDA
from ._verbs import Verbs
from .charts import Chart
from .column import Column
from .devices import Device, Place, device, place
from .errors import ArgumentError, ColumnNotFoundError, RangeError, WrongTypeError

if TYPE_CHECKING:
    from .expressions import IntoExpr
    from .lazy import IntoColumns, LazyFrame

#: A column's name, or several.
Names = Union[str, Sequence[str]]


def names_of(names: Names) -> list[str]:
    """Return names as a list: a single str is one name."""
    if isinstance(names, str):
        return [names]
    found = list(names)
    for each in found:
        if not isinstance(each, str):
            raise WrongTypeError(f"a column's name must be a str, not {each!r}")
    return found


class Schema:
    """The names and types of a table's columns. It has ``__arrow_c_schema__``."""

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


class Table(Verbs, Held, Tensor):
    """An Arrow table in device memory. Tables are immutable; views of them share memory.

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

    _listed = "to_pylist()"

    _info: Optional[dict[str, Any]]
    _manager: Any

    def __init__(self) -> None:
        raise TypeError("a Table cannot be constructed: call Table.from_arrow, Table.from_columns, read_parquet, read_ipc or read_csv")

    @classmethod
    def _wrap(cls, handle: int, kept: Any) -> Table:
        """Make a table of a handle. It keeps the managers alive that may own its memory."""
        made = cls.__new__(cls)
        made._adopt(handle)
        made._info = None
        made._manager = kept
        return made

    @classmethod
    def from_arrow(cls, obj: Any, device: Place = None, stream: Optional[int] = None) -> Table:
        """Make a table of any object with Arrow's C interfaces.

        Such objects are tables and record batches of pyarrow, polars, pandas, nanoarrow, cudf,
        duckdb and others. Without ``device`` data on a GPU stays there and is not copied; data of
        the host goes to the default device. With ``device`` the table is on that device, and only
        data elsewhere is copied.

        ``stream`` is a CUDA stream of the caller, numbered as in DLPack's protocol: 1 and 2 for
        the default streams, or a handle. The stream waits, on the GPU, until the data is complete,
        and is not used after the call. Without ``stream`` each later export orders its consumer's
        stream.
        """
        return _arrow.table_of(cls, obj, device, stream)

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], device: Place = None) -> Table:
        """Make a table of columns by name.

        A column is a Column, or any object with ``__arrow_c_array__``, ``__arrow_c_stream__``,
        ``__dlpack__``, ``__cuda_array_interface__`` or ``__array_interface__``: arrays and chunked
        arrays of pyarrow, series of polars and pandas, tensors of any library. The first interface
        that works is used. A sequence of numbers or booleans is also a column, and is always
        copied.

        The table is on ``device``, otherwise on the GPU of the columns that are on one, otherwise
        on the default device. Columns on that device are shared, others are copied there. Columns
        of two GPUs need ``device``.
        """
        made, target = columns_of(columns, device)
        rows = len(next(iter(made.values()))) if made else 0
        for name, each in made.items():
            if len(each) != rows:
                raise ArgumentError(f"column {name!r} has {len(each):,} elements, expected {rows:,} as in the first column")
        return cls._of(made, rows, target)

    @classmethod
    def _of(cls, columns: Mapping[str, Column], rows: int, kept: Any) -> Table:
        """Make a table that shares the columns' memory."""
        handles = (ctypes.c_uint64 * len(columns))(*[each._handle() for each in columns.values()])
        return cls._wrap(library.make(library.table_new, json.dumps(list(columns)).encode(), handles, len(columns), rows), kept)

    @property
    def _description(self) -> dict[str, Any]:
        self._check()
        known = self._info
        if known is None:
            known = self._info = library.answer(library.table_describe, self._handle())
        described: dict[str, Any] = known
        return described

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        rows: int = self._description["rows"]
        return rows

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return len(self._description["columns"])

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and the number of columns."""
        return self.num_rows, self.num_columns

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
        """The size of the table's memory in bytes."""
        size: int = self._description["bytes"]
        return size

    @property
    def device(self) -> Device:
        """The device of the table; the host for a table without memory."""
        return device(self._description["device"] or "host")

    def __len__(self) -> int:
        return self.num_rows

    def column(self, which: Union[int, str]) -> Column:
        """Return a column by name or number. It shares the table's memory and keeps it alive."""
        names = self.column_names
        if isinstance(which, str):
            if which not in names:
                raise self._no_column(which)
            number = names.index(which)
        elif isinstance(which, bool) or not hasattr(which, "__index__"):
            raise WrongTypeError(f"a column is selected by its name or number, not by {which!r}")
        else:
            which = int(which)
            number = which + len(names) if which < 0 else which
            if not 0 <= number < len(names):
                raise RangeError(f"no column {which}: the table has {len(names)} columns")
        return Column._wrap(library.make(library.table_column, self._handle(), number), self._manager)

    def _no_column(self, name: str) -> ColumnNotFoundError:
        from difflib import get_close_matches

        near = get_close_matches(name, self.column_names, 3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the columns are {', '.join(self.column_names) or 'none'}"
        return ColumnNotFoundError(f"no column {name!r}; {hint}")

    def columns(self) -> list[Column]:
        """Return all columns."""
        return [self.column(i) for i in range(self.num_columns)]

    @overload
    def __getitem__(self, key: Union[str, int]) -> Column: ...
    @overload
    def __getitem__(self, key: Union[slice, list[str], tuple[str, ...]]) -> Table: ...
    def __getitem__(self, key: Union[str, int, slice, list[str], tuple[str, ...]]) -> Union[Column, Table]:
        if isinstance(key, slice):
            start, stop, step = key.indices(self.num_rows)
            if step != 1:
                raise ArgumentError("a table's slices must have step 1")
            return self.slice(start, max(0, stop - start))
        if isinstance(key, (list, tuple)):
            return self.select(key)
        return self.column(key)

    def __contains__(self, name: object) -> bool:
        return name in self.column_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def slice(self, offset: int, length: Optional[int] = None) -> Table:
        """Return ``length`` rows from ``offset`` on. They share memory."""
        if length is None:
            length = self.num_rows - offset
        return self._wrap(library.make(library.table_slice, self._handle(), offset, length), self._manager)

    def head(self, n: int = 5) -> Table:
        """Return the first ``n`` rows, or all except the last ``-n``. They share memory."""
        return self[:n]

    limit = head

    def tail(self, n: int = 5) -> Table:
        """Return the last ``n`` rows, or all except the first ``-n``. They share memory."""
        return self[len(self) - min(n, len(self)):] if n >= 0 else self[-n:]

    def select(self, *names: IntoColumns, **named: IntoExpr) -> Table:
        """Return a table of some columns, in the order of their names. It shares memory.

        With expressions among them it has their values: see :meth:`LazyFrame.select`.

        >>> Table.from_columns({"x": [1, 2], "y": [2, 2]}, device="host").select("y").to_pydict()
        {'y': [2, 2]}
        """
        chosen = [each for name in names for each in (name if isinstance(name, (list, tuple)) else [name])]
        if named or any(isinstance(each, Calls) for each in chosen):
            return self.lazy().select(*chosen, **named).collect()
        wanted = self._known(chosen)
        return self._wrap(library.make(library.table_select, self._handle(), json.dumps(wanted).encode()), self._manager)

    def drop(self, *names: Names) -> Table:
        """Return a table without some columns. It shares memory.

        >>> Table.from_columns({"x": [1], "y": [2]}, device="host").drop("x").column_names
        ['y']
        """
        unwanted = self._known([each for name in names for each in names_of(name)])
        return self.select([each for each in self.column_names if each not in unwanted])

    def rename(self, names: Mapping[str, str]) -> Table:
        """Return a table with new names of columns, old to new. It shares memory.

        >>> Table.from_columns({"x": [1], "y": [2]}, device="host").rename({"x": "z"}).column_names
        ['z', 'y']
        """
        self._known(list(names))
        renamed = [names.get(each, each) for each in self.column_names]
        twice = {each for each in renamed if renamed.count(each) > 1}
        if twice:
            raise ArgumentError(f"two columns would have the name {sorted(twice)[0]!r}")
        return self._of(dict(zip(renamed, self.columns())), len(self), self._manager)

    def _known(self, names: Names) -> list[str]:
        """Return names of columns as a list. A name that the table lacks is an error."""
        wanted = names_of(names)
        for each in wanted:
            if each not in self.column_names:
                raise self._no_column(each)
        return wanted

    def matrix(self, names: Optional[Names] = None) -> Table:
        """Return a table of these columns, all of one numeric type, in adjacent memory.

        By DLPack it is one tensor of rows × columns, without a copy at any hand-over. Columns that
        are adjacent already are shared; others are copied once, on their device.

        >>> table = Table.from_columns({"x": [1.0, 2.0], "y": [3.0, 4.0]}, device="host")
        >>> numpy = __import__("pytest").importorskip("numpy")
        >>> numpy.from_dlpack(table.matrix(["y", "x"])).tolist()
        [[3.0, 1.0], [4.0, 2.0]]
        """
        some = self if names is None else self.select(names)
        return self._wrap(library.make(library.table_matrix, some._handle()), self._manager)

    def to_device(self, device: Place) -> Table:
        """Return a copy on a device, or within a budget.

        Copies within a GPU and from one GPU to another do not go through the host and do not wait.
        """
        target = place(device)
        return self._wrap(library.make(library.table_copy, self._handle(), target._handle()), target)

    def __arrow_c_schema__(self) -> Any:
        """Return a capsule of the table's ArrowSchema."""
        return _arrow.schema_capsule(self)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Return capsules of the table as an array of structs in the host's memory; a table on a GPU is copied."""
        return _arrow.array_capsules(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule of a stream of one batch in the host's memory; a table on a GPU is copied."""
        return _arrow.stream_capsule(self)

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Return capsules of an ArrowSchema and an ArrowDeviceArray that share the table's memory."""
        return _arrow.device_array_capsules(self, kwargs)

    def __arrow_c_device_stream__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        """Return a capsule of an ArrowDeviceArrayStream of one batch that shares the table's memory."""
        return _arrow.device_stream_capsule(self, kwargs)

    def to_pyarrow(self) -> Any:
        """Return a pyarrow.Table in the host's memory."""
        import pyarrow

        return pyarrow.table(_arrow.OnHost(self))

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table: :meth:`to_pyarrow` under Polars' name."""
        return self.to_pyarrow()

    def to_polars(self) -> Any:
        """Return a polars.DataFrame."""
        import polars

        return polars.from_arrow(self.to_pyarrow())

    def lazy(self) -> LazyFrame:
        """Return a query on the table, which must not be released before the query has run."""
        from .sources import from_table

        return from_table(self)

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame, through pyarrow if it is installed."""
        import pandas

        try:
            return self.to_pyarrow().to_pandas()
        except ImportError:
            return pandas.DataFrame({each.name: each.to_pandas() for each in self.columns()})

    def to_numpy(self, dtype: Any = None) -> Any:
        """Return a numpy array of rows × columns, of the common type of all columns: always a copy."""
        import numpy

        columns = [each.to_numpy() for each in self.columns()]
        for name, each in zip(self.column_names, columns):
            if each.ndim != 1:
                raise ArgumentError(f"column {name!r} has {each.ndim} dimensions: call to_numpy() of the column")
        if not columns:
            return numpy.empty((len(self), 0), dtype=dtype)
        return numpy.stack(columns, axis=1).astype(dtype or numpy.result_type(*columns), copy=False)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        if self.__dlpack_device__()[0] == CUDA:
            raise WrongTypeError("the table is in the memory of a GPU: to_numpy() copies it")
        if copy is False:
            raise ArgumentError("copy=False: the columns of a table are not adjacent; call matrix() first")
        return self.to_numpy(dtype=dtype)

    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of Python objects."""
        return {each.name: each.tolist() for each in self.columns()}

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as dicts of Python objects.

        >>> Table.from_columns({"x": [1, 2], "y": [0.5, 1.5]}, device="host").to_pylist()
        [{'x': 1, 'y': 0.5}, {'x': 2, 'y': 1.5}]
        """
        columns = self.to_pydict()
        return [dict(zip(columns, row)) for row in zip(*columns.values())] if columns else [{} for _ in range(len(self))]

    def chart(self, mark: str, x: str, y: Optional[str] = None, *, color: Optional[str] = None, title: str = "", width: int = 640, height: int = 360) -> Chart:
        """Draw columns: mark is "line", "bar", "points", or "histogram" of x alone. A notebook shows the chart.

        Rows with a null or infinite value are left out. At most 10,000 rows are drawn, except in a histogram.
        KeyboardInterrupt cancels the drawing.
        """
        self._check()
        return Chart._of(self.lazy(), mark, x, y, color, title, width, height)

    def __repr__(self) -> str:
        if self.released:
            return "<gpuframe.Table, released>"
        try:
            return self._drawn(max(shutil.get_terminal_size((100, 24)).columns, 1))
        except Exception as error:  # noqa: BLE001 - a repr never fails
            return f"<gpuframe.Table: {error}>"

    def _repr_html_(self) -> str:
        """Return the size, the columns and some rows for a notebook."""
        self._check()
        return self._drawn(0)

    def _drawn(self, width: int) -> str:
        """Return the size, the columns and some rows, for a terminal or, with width 0, in HTML."""
        text: str = library.answer(library.table_text, self._handle(), width)
        return text
