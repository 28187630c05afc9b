"""Tables from files."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from ._library import library
from .devices import Place, place
from .table import Names, Table, names_of

Path = Union[str, "os.PathLike[str]"]


def _read(function: Any, path: Path, device: Place, columns: Optional[Names], **options: Any) -> Table:
    target = place(device)
    if columns is not None:
        options["columns"] = names_of(columns)
    text = json.dumps(options).encode()
    return Table._wrap(library.make(function, target._handle(), os.fspath(path).encode(), text), target)


def read_parquet(path: Path, columns: Optional[Names] = None, device: Place = None) -> Table:
    """Read a Parquet file onto a device. ``columns`` selects columns and their order."""
    return _read(library.read_parquet, path, device, columns)


def read_ipc(path: Path, columns: Optional[Names] = None, device: Place = None) -> Table:
    """Read an Arrow IPC ("Feather") file or stream onto a device."""
    return _read(library.read_ipc, path, device, columns)


def read_csv(path: Path, columns: Optional[Names] = None, device: Place = None, *, delimiter: str = ",", header: bool = True,
             null_values: Sequence[str] = ("", "NULL", "null", "NA", "N/A"), types: Optional[Mapping[str, str]] = None) -> Table:
    """Read a CSV file onto a device.

    ``types`` maps columns to names of types, such as "int32" or "timestamp[ms]". Another column
    gets the narrowest type that fits all its values, out of int64, uint64, decimals of 38 digits,
    float64, bool, date32, timestamp[s] to timestamp[ns] and string. Text within quotes is never null. That takes a second pass over the file, unless
    ``types`` names all columns. A column of nulls becomes a column of strings.
    """
    csv = {"delimiter": delimiter, "no_header": not header, "null_values": list(null_values), "types": dict(types or {})}
    return _read(library.read_csv, path, device, columns, csv=csv)
