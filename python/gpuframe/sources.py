"""Queries on files and on the data of other libraries."""

from __future__ import annotations

import datetime
import os
from typing import Any, Mapping, Optional, Sequence, Union

from ._types import type_name
from ._library import library
from .devices import Place, bytes_of
from .errors import ArgumentError, WrongTypeError
from .lazy import LazyFrame, Step
from .table import Table

Path = Union[str, "os.PathLike[str]"]
Paths = Union[Path, Sequence[Path]]


def _paths(given: Paths) -> list[str]:
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    return [os.fspath(each) for each in given]


def scan_parquet(source: Paths) -> LazyFrame:
    """Return a query on Parquet files: files, patterns such as "sales/*.parquet", and folders.

    The first file's columns are those of the query. Folders named key=value add a column for each
    key. Only the columns that the query needs are read, and only row groups in which a row can
    meet its conditions.
    """
    return LazyFrame(Step("parquet", (), {"paths": _paths(source)}, name="scan_parquet"))


def set_object_cache(directory: Optional[Path], size: Union[int, str] = "10 GiB") -> None:
    """Keep what queries read of object stores in a folder, also for later processes. None keeps nothing.

    Objects are known by their URLs and ETags: those that have changed are read again. What was used
    least recently is removed beyond the size. Without a call, the environment variables
    GPUFRAME_OBJECT_CACHE and GPUFRAME_OBJECT_CACHE_SIZE have the folder and the size.
    """
    folder = "" if directory is None else os.fspath(directory)
    if directory is not None and not folder:
        raise ArgumentError("directory='': expected the path of a folder, or None")
    library.set_object_cache(folder.encode(), bytes_of(size))


def scan_csv(source: Paths, *, separator: str = ",", has_header: bool = True, null_values: Optional[Sequence[str]] = None,
             schema_overrides: Optional[Mapping[str, Any]] = None, infer_schema_length: Optional[int] = 10_000, strict: bool = False) -> LazyFrame:
    """Return a query on CSV files. Paths are those of :func:`scan_parquet`.

    Types are inferred from the first rows, or from all with infer_schema_length=None, except for
    those of ``schema_overrides``. Columns without a header are called f0, f1 and so on. Files are
    read by name, with a type that holds the values of all and null for columns that a file does not
    have. With ``strict`` the first file has all columns, in their order, and gives the types.
    """
    members: dict[str, Any] = {"paths": _paths(source), "delimiter": separator, "header": has_header,
                               "types": {name: type_name(dtype) for name, dtype in (schema_overrides or {}).items()},
                               "infer_rows": _infer_rows(infer_schema_length), "strict": strict}
    if null_values is not None:
        members["nulls"] = [null_values] if isinstance(null_values, str) else list(null_values)
    return LazyFrame(Step("csv", (), members, name="scan_csv"))


def _infer_rows(length: Optional[int]) -> int:
    """Return the rows of infer_schema_length: 0 stands for 10,000 of the first file and fewer of others, -1 for all."""
    if length is None:
        return -1
    return 0 if length == 10_000 else length


def scan_ndjson(source: Paths, *, schema: Optional[Mapping[str, Any]] = None, infer_schema_length: Optional[int] = 10_000, strict: bool = False) -> LazyFrame:
    """Return a query on files with a JSON object in each line. Paths are those of :func:`scan_parquet`.

    Without a schema, columns are inferred from the first rows, or from all with
    infer_schema_length=None. A member that occurs only later is an error. The columns are those of
    all files, with ``strict`` those of the first.
    """
    members: dict[str, Any] = {"paths": _paths(source), "infer_rows": _infer_rows(infer_schema_length), "strict": strict}
    if schema is not None:
        members["schema"] = [{"name": name, "type": type_name(dtype)} for name, dtype in schema.items()]
    return LazyFrame(Step("json_lines", (), members, name="scan_ndjson"))


def scan_ipc(source: Paths) -> LazyFrame:
    """Return a query on files of Arrow's IPC formats, files and streams. Paths are those of :func:`scan_parquet`."""
    return LazyFrame(Step("ipc", (), {"paths": _paths(source)}, name="scan_ipc"))


def scan_delta(source: Path, *, version: Union[int, str, datetime.datetime, None] = None) -> LazyFrame:
    """Return a query on a table of Delta Lake: the path or URL of its folder.

    A version is a number, or a time, as a datetime or in ISO 8601: then it is the newest version that
    is not younger. Times without a zone are in UTC. The log is read when the query is checked or runs.
    """
    members: dict[str, Any] = {"path": os.fspath(source)}
    if isinstance(version, (str, datetime.datetime)):
        members["timestamp"] = _instant(version, "version")
    elif version is not None:
        members["version"] = int(version)
    return LazyFrame(Step("delta", (), members, name="scan_delta"))


def scan_iceberg(source: Path, *, snapshot_id: Optional[int] = None, timestamp: Union[str, datetime.datetime, None] = None, ref: Optional[str] = None,
                 moved: bool = False) -> LazyFrame:
    """Return a query on a table of Iceberg: the path or URL of its folder, or of a file of its metadata.

    Without ``snapshot_id``, ``timestamp`` and ``ref``, the name of a branch or a tag, it is the current
    snapshot. A timestamp is as the version of :func:`scan_delta`. With ``moved`` the table was moved as
    a whole: its files are below the folder.
    """
    members: dict[str, Any] = {"path": os.fspath(source), "moved": moved}
    if snapshot_id is not None:
        members["snapshot_id"] = int(snapshot_id)
    if timestamp is not None:
        members["timestamp"] = _instant(timestamp, "timestamp")
    if ref is not None:
        members["ref"] = ref
    return LazyFrame(Step("iceberg", (), members, name="scan_iceberg"))


def _instant(time: Union[str, datetime.datetime], name: str) -> str:
    """Return a time in UTC as documents have it."""
    if isinstance(time, str):
        try:
            time = datetime.datetime.fromisoformat(time[:-1] + "+00:00" if time.endswith("Z") else time)
        except ValueError:
            raise ArgumentError(f"{name} is {time!r}, expected a time such as '2026-01-31T12:30:00'") from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=datetime.timezone.utc)
    return time.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def from_table(table: Table, name: str = "lazy") -> LazyFrame:
    """Return a query on a table, which must not be released before the query has run."""
    return LazyFrame(Step("given", (), {}, table, name))


def from_arrow(data: Any, device: Place = None) -> LazyFrame:
    """Return a query on any object with Arrow's C interfaces: tables of pyarrow, polars, pandas, nanoarrow, duckdb and others.

    The data is imported now, as by :meth:`Table.from_arrow`.
    """
    if isinstance(data, Table):
        return from_table(data, "from_arrow")
    return from_table(Table.from_arrow(data, device), "from_arrow")


def from_columns(columns: Mapping[str, Any], device: Place = None) -> LazyFrame:
    """Return a query on columns by name, as of :meth:`Table.from_columns`: arrays, series and tensors of any library, and sequences of numbers."""
    return from_table(Table.from_columns(columns, device), "from_columns")


def from_pandas(data: Any, device: Place = None) -> LazyFrame:
    """Return a query on a pandas.DataFrame, without its index. Columns other than numbers need pyarrow."""
    if not hasattr(data, "columns"):
        raise WrongTypeError(f"a {type(data).__name__} is no DataFrame")
    if hasattr(data, "__arrow_c_stream__"):
        return from_table(Table.from_arrow(data, device), "from_pandas")
    try:
        import pyarrow
    except ImportError:
        return from_table(Table.from_columns({str(name): data[name] for name in data.columns}, device), "from_pandas")
    return from_table(Table.from_arrow(pyarrow.Table.from_pandas(data, preserve_index=False), device), "from_pandas")


def from_polars(data: Any, device: Place = None) -> LazyFrame:
    """Return a query on a polars.DataFrame. A polars.LazyFrame is collected."""
    if hasattr(data, "collect"):
        data = data.collect()
    return from_table(Table.from_arrow(data, device), "from_polars")
