"""Tables from files."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from ._library import library
from .devices import Place, place
from .table import Table

Path = Union[str, "os.PathLike[str]"]


def _read(function: Any, path: Path, device: Place, columns: Optional[Sequence[str]], **options: Any) -> Table:
    target = place(device)
    if columns is not None:
        options["columns"] = list(columns)
    text = json.dumps(options).encode()
    return Table._wrap(library.make(function, target._handle(), os.fspath(path).encode(), text), target)


def read_parquet(path: Path, columns: Optional[Sequence[str]] = None, device: Place = None) -> Table:
    """Read a Parquet file onto a device, or only some columns, in the order of their names."""
    return _read(library.read_parquet, path, device, columns)


def read_ipc(path: Path, columns: Optional[Sequence[str]] = None, device: Place = None) -> Table:
    """Read an Arrow IPC ("Feather") file or stream onto a device."""
    return _read(library.read_ipc, path, device, columns)


def read_csv(path: Path, columns: Optional[Sequence[str]] = None, device: Place = None, *, delimiter: str = ",", header: bool = True,
             null_values: Sequence[str] = ("", "NULL", "null", "NA", "N/A"), types: Optional[Mapping[str, str]] = None) -> Table:
    """Read a CSV file onto a device.

    The type of a column that ``types`` does not name, as "int32" or
    "timestamp[ms]", is that of its first value.
    """
    csv = {"delimiter": delimiter, "no_header": not header, "null_values": list(null_values), "types": dict(types or {})}
    return _read(library.read_csv, path, device, columns, csv=csv)
