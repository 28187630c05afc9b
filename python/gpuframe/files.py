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
    """Read a Parquet file onto a device, or only some columns, in the order of their names."""
    return _read(library.read_parquet, path, device, columns)


def read_ipc(path: Path, columns: Optional[Names] = None, device: Place = None) -> Table:
    """Read an Arrow IPC ("Feather") file or stream onto a device."""
    return _read(library.read_ipc, path, device, columns)


def read_csv(path: Path, columns: Optional[Names] = None, device: Place = None, *, delimiter: str = ",", header: bool = True,
             null_values: Sequence[str] = ("", "NULL", "null", "NA", "N/A"), types: Optional[Mapping[str, str]] = None) -> Table:
    """Read a CSV file onto a device.

    ``types`` names types, such as "int32" or "timestamp[ms]", by column. The type
    of any other column is the narrowest of int64, float64, bool, date32,
    timestamp[s] to timestamp[ns] and string that all its values have: the file is
    read once for the types and once for the values, unless ``types`` names all
    columns. A column of nulls alone is one of strings.
    """
    csv = {"delimiter": delimiter, "no_header": not header, "null_values": list(null_values), "types": dict(types or {})}
    return _read(library.read_csv, path, device, columns, csv=csv)
