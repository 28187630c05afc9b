"""Names of data types for the arguments of queries."""

from __future__ import annotations

import datetime
import re
from typing import Any

from .errors import WrongTypeError

#: Types of Python.
_PYTHON = {
    int: "int64", float: "float64", bool: "bool", str: "utf8", bytes: "binary",
    datetime.date: "date32", datetime.datetime: "timestamp[us]", datetime.timedelta: "duration[us]", datetime.time: "time64[us]",
}

#: Names that pyarrow, polars and numpy use for the types of Arrow.
_OTHER = {
    "float": "float32", "object": "utf8", "str": "utf8", "String": "utf8", "Utf8": "utf8", "Boolean": "bool", "Binary": "binary", "Date": "date32",
    "Int8": "int8", "Int16": "int16", "Int32": "int32", "Int64": "int64", "UInt8": "uint8", "UInt16": "uint16", "UInt32": "uint32",
    "UInt64": "uint64", "Float32": "float32", "Float64": "float64", "Time": "time64[ns]", "Datetime": "timestamp[us]", "Duration": "duration[us]",
}


def type_name(dtype: Any) -> str:
    """Return the name of a type: its Arrow name as a str, a type of Python, or a type of pyarrow, polars or numpy.

    >>> type_name(int), type_name("timestamp[ms]"), type_name(str)
    ('int64', 'timestamp[ms]', 'utf8')
    """
    if isinstance(dtype, type) and dtype in _PYTHON:
        return _PYTHON[dtype]
    if isinstance(dtype, str):
        return dtype
    name = dtype.__name__ if isinstance(dtype, type) else str(dtype)
    datetime64 = re.fullmatch(r"(datetime|timedelta)64\[(s|ms|us|ns)\]", name)
    if datetime64:
        return ("timestamp" if datetime64[1] == "datetime" else "duration") + f"[{datetime64[2]}]"
    if not name or len(name) > 100:
        raise WrongTypeError(f"{dtype!r} is no data type: pass a name such as \"int32\", or a type of Python, pyarrow or polars")
    return _OTHER.get(name, name)
