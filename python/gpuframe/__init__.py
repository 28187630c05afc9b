"""Arrow tables in GPU memory, shared with every library without copying.

    import gpuframe, torch

    table = gpuframe.read_parquet("flights.parquet")      # onto the first GPU
    delay = torch.from_dlpack(table["delay"])             # the same memory
    back = gpuframe.Table.from_columns({"delay": delay})  # and again
    print(gpuframe.device_memory())

Tables and columns speak DLPack, the CUDA array interface and Arrow's C Device
interface. Shared memory stays alive as long as one of the libraries holds it.
"""

from .column import Column
from .devices import (Budget, Device, MemoryInfo, budget, device, device_memory, devices, set_budget,
                      set_default_device)
from .errors import (AccessError, AddressInUseError, ArgumentError, BudgetError, ColumnNotFoundError, DeviceError, ExchangeError, FileError, GpuframeError,
                     InternalError, InvalidDataError, MissingFileError, NotAvailableError, NotConnectedError, OutOfMemoryError, RangeError, ReleasedError,
                     UnsupportedError, WrongTypeError)
from .files import read_csv, read_ipc, read_parquet
from .sharing import Client, Server, SharedTable, connect, serve
from .table import Schema, Table

__version__ = "0.1.0"

__all__ = [
    "AccessError", "AddressInUseError", "ArgumentError", "Budget", "BudgetError", "Client", "Column", "ColumnNotFoundError", "Device", "DeviceError", "ExchangeError",
    "FileError", "GpuframeError", "InternalError", "InvalidDataError", "MemoryInfo", "MissingFileError", "NotAvailableError", "NotConnectedError", "OutOfMemoryError", "RangeError", "ReleasedError",
    "Schema", "Server", "SharedTable", "Table", "UnsupportedError", "WrongTypeError", "budget", "connect", "device", "device_memory", "devices", "read_csv",
    "read_ipc", "read_parquet", "serve", "set_budget", "set_default_device",
]
