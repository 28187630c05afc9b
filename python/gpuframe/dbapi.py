"""The Python Database API 2.0 (PEP 249): statements in SQL on frames and files.

    import gpuframe.dbapi

    with gpuframe.dbapi.connect(sales=table) as connection, connection.cursor() as cursor:
        cursor.execute("select city, sum(price) from sales where day > ? group by city", [day])
        for city, total in cursor:
            ...

Connections have no transactions, and statements change no tables.
"""

from __future__ import annotations

import contextlib
import datetime
from typing import Any, Iterator, Mapping, NoReturn, Optional, Sequence

from .devices import Place
from .errors import ArgumentError, GpuframeError, OutOfMemoryError, QueryError, UnsupportedError, WrongTypeError
from .statements import SQLContext
from .table import Table

apilevel = "2.0"
threadsafety = 1
paramstyle = "qmark"


class Warning(Exception):  # noqa: A001: the name is that of PEP 249
    """A warning, of which there are none."""


class Error(Exception):
    """The base class of the errors of this module."""


class InterfaceError(Error):
    """A connection or a cursor is used in a wrong way."""


class DatabaseError(Error):
    """An error of a statement or of its run."""


class DataError(DatabaseError):
    """A value is wrong."""


class OperationalError(DatabaseError):
    """The run of a statement has failed."""


class IntegrityError(DatabaseError):
    """A constraint is violated, of which there are none."""


class InternalError(DatabaseError):
    """A fault of gpuframe."""


class ProgrammingError(DatabaseError):
    """A statement or its arguments are wrong."""


class NotSupportedError(DatabaseError):
    """Something that gpuframe does not do."""


#: The exceptions of the package by those of this module, the most specific first.
_KINDS: list[tuple[type[Exception], type[Error]]] = [
    (QueryError, ProgrammingError), (ArgumentError, ProgrammingError), (WrongTypeError, ProgrammingError), (UnsupportedError, NotSupportedError),
    (OutOfMemoryError, OperationalError), (GpuframeError, OperationalError),
]


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Raise the exceptions of the package as those of this module."""
    try:
        yield
    except GpuframeError as error:
        kind = next(each for own, each in _KINDS if isinstance(error, own))
        raise kind(str(error)) from error


class _Kind:
    """The types of columns that are of one kind. It equals each of their names."""

    def __init__(self, *prefixes: str) -> None:
        self._prefixes = prefixes

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, str) and other.startswith(self._prefixes)

    def __hash__(self) -> int:
        return hash(self._prefixes)


STRING = _Kind("utf8", "string", "large_utf8", "large_string", "dictionary")
BINARY = _Kind("binary", "large_binary", "fixed_size_binary")
NUMBER = _Kind("int", "uint", "float", "decimal", "bool")
DATETIME = _Kind("date", "time", "duration")
ROWID = _Kind("rowid")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes
DateFromTicks = datetime.date.fromtimestamp
TimestampFromTicks = datetime.datetime.fromtimestamp


def TimeFromTicks(ticks: float) -> datetime.time:
    """Return the time of the day of a number of seconds since 1970."""
    return datetime.datetime.fromtimestamp(ticks).time()


def connect(frames: Optional[Mapping[str, Any]] = None, /, *, device: Place = None, **named: Any) -> Connection:
    """Return a connection to frames by their names, as of :class:`gpuframe.SQLContext`. Statements run on a device."""
    with _translated():
        return Connection(SQLContext(frames, **named), device)


class Connection:
    """Names of frames, for cursors."""

    def __init__(self, frames: SQLContext, device: Place) -> None:
        self.frames, self._device, self._open = frames, device, True

    def cursor(self) -> Cursor:
        """Return a cursor."""
        self._check()
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: there are no transactions."""
        self._check()

    def rollback(self) -> NoReturn:
        """Raise an error: there are no transactions."""
        raise NotSupportedError("there are no transactions")

    def close(self) -> None:
        """Forget the frames."""
        self._check()
        self._open = False

    def _check(self) -> None:
        if not self._open:
            raise InterfaceError("the connection is closed")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._open:
            self.close()


class Cursor:
    """The rows of a statement. They come in parts, and are Python objects."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.arraysize, self.rowcount = connection, 1, -1
        self.description: Optional[list[tuple[Any, ...]]] = None
        self._rows: Optional[Iterator[tuple[Any, ...]]] = None
        self._open = True

    def execute(self, operation: str, parameters: Sequence[Any] = ()) -> Cursor:
        """Run a statement that yields rows."""
        self._check()
        self._rows, self.description = None, None
        with _translated():
            query = self.connection.frames.execute(operation, parameters=parameters)
            device = self.connection._device
            schema = query.collect_schema(device=device)
            self.description = [(name, kind, None, None, None, None, None) for name, kind in schema.items()]
            self._rows = _rows(query.collect_batches(device=device))
        return self

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> NoReturn:
        """Raise an error: no statement changes tables."""
        raise NotSupportedError("executemany is for statements that change tables, of which there are none")

    def fetchone(self) -> Optional[tuple[Any, ...]]:
        """Return the next row, or None at the end."""
        self._check()
        if self._rows is None:
            raise InterfaceError("no statement was executed")
        with _translated():
            return next(self._rows, None)

    def fetchmany(self, size: Optional[int] = None) -> list[tuple[Any, ...]]:
        """Return the next rows."""
        rows: list[tuple[Any, ...]] = []
        while len(rows) < (self.arraysize if size is None else size):
            row = self.fetchone()
            if row is None:
                break
            rows.append(row)
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all further rows."""
        return list(self)

    def close(self) -> None:
        """End the run."""
        self._check()
        self._open, self._rows = False, None

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Do nothing."""

    def setoutputsize(self, size: int, column: Optional[int] = None) -> None:
        """Do nothing."""

    def _check(self) -> None:
        self.connection._check()
        if not self._open:
            raise InterfaceError("the cursor is closed")

    def __iter__(self) -> Cursor:
        return self

    def __next__(self) -> tuple[Any, ...]:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._open:
            self.close()


def _rows(tables: Iterator[Table]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of tables, which are released."""
    for table in tables:
        with table:
            columns = table.to_pydict()
            rows = list(zip(*columns.values()))
        yield from rows
