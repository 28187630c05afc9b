"""Arrow tables in GPU memory, shared with every library without copying, and lazy queries on them.

    import gpuframe, torch

    table = gpuframe.read_parquet("flights.parquet")      # onto the first GPU
    delay = torch.from_dlpack(table["delay"])             # the same memory
    back = gpuframe.Table.from_columns({"delay": delay})  # and again
    print(gpuframe.device_memory())

    late = gpuframe.scan_parquet("flights.parquet").filter(gpuframe.col("delay") > 15)
    print(late.group_by("carrier").agg(gpuframe.len()).sort("len", descending=True).collect())

Tables and columns speak DLPack, the CUDA array interface and Arrow's C Device
interface. Shared memory stays alive as long as one of the libraries holds it.
"""

from .charts import Chart
from .column import Column
from .devices import (Budget, Device, MemoryInfo, budget, device, device_memory, devices, set_budget,
                      set_default_device)
from .errors import (AccessError, AddressInUseError, ArgumentError, BudgetError, CallError, ColumnNotFoundError, DeviceError, ExchangeError, FileError, GpuframeError,
                     InternalError, InvalidDataError, MissingFileError, NotAvailableError, NotConnectedError, OutOfMemoryError, Problem, QueryError,
                     RangeError, ReleasedError, UnsupportedError, WrongTypeError)
from .expressions import (Expr, coalesce, col, concat_list, concat_str, corr, cov, element, format, grouping_id, lit, map_batches, max_horizontal, min_horizontal, regression_intercept,
                          regression_r2, regression_slope, vector, when)
from .expressions import count_rows as len
from .files import read_csv, read_ipc, read_parquet
from .folders import Folder
from .lazy import GroupBy, LazyFrame, Profile, concat
from .progress import Progress, report_progress, show_progress
from .sharing import Client, Server, SharedTable, connect, serve
from .sources import from_arrow, from_columns, from_pandas, from_polars, scan_csv, scan_delta, scan_iceberg, scan_ipc, scan_ndjson, scan_parquet, set_object_cache
from .statements import SQLContext, sql
from .table import Schema, Table

__version__ = "0.1.0"

__all__ = [
    "AccessError", "AddressInUseError", "ArgumentError", "Budget", "BudgetError", "CallError", "Chart", "Client", "Column", "ColumnNotFoundError", "Device", "DeviceError",
    "ExchangeError", "Expr", "FileError", "Folder", "GpuframeError", "GroupBy", "InternalError", "InvalidDataError", "LazyFrame", "MemoryInfo",
    "MissingFileError", "NotAvailableError", "NotConnectedError", "OutOfMemoryError", "Problem", "Profile", "Progress", "QueryError", "RangeError",
    "ReleasedError", "SQLContext", "Schema", "Server", "SharedTable", "Table", "UnsupportedError", "WrongTypeError", "budget", "coalesce", "col", "concat",
    "concat_list", "concat_str", "connect", "corr", "cov", "device", "device_memory", "devices", "element", "format", "from_arrow", "from_columns", "from_pandas", "from_polars", "grouping_id", "len",
    "lit", "map_batches", "max_horizontal", "min_horizontal", "read_csv", "read_ipc", "read_parquet", "regression_intercept", "regression_r2", "regression_slope",
    "report_progress", "scan_csv", "scan_delta", "scan_iceberg", "scan_ipc", "scan_ndjson", "scan_parquet", "serve", "set_budget", "set_default_device", "set_object_cache", "show_progress", "sql", "vector", "when",
]
