"""The exceptions of gpuframe.

Each is also the built-in exception that Python users expect, so that code which
catches ``MemoryError``, ``KeyError`` or ``BufferError`` need not know gpuframe.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import NoReturn, Sequence


class GpuframeError(Exception):
    """The base class of all exceptions of this package."""


class OutOfMemoryError(GpuframeError, MemoryError):
    """The device has no free memory."""


class BudgetError(OutOfMemoryError):
    """A request did not fit the budget.

    ``asked``, ``in_use`` and ``budget`` are bytes.

    >>> import gpuframe
    >>> with gpuframe.budget("1 KiB", device="host"):
    ...     try:
    ...         gpuframe.Table.from_columns({"x": range(1000)}, device="host")
    ...     except MemoryError as error:
    ...         print(type(error).__name__, error.budget)
    BudgetError 1024
    """

    def __init__(self, text: str, asked: int = 0, in_use: int = 0, budget: int = 0) -> None:
        super().__init__(text)
        self.asked = asked
        self.in_use = in_use
        self.budget = budget


class NotAvailableError(GpuframeError, RuntimeError):
    """The device does not exist, or this build or process cannot use it."""


class DeviceError(GpuframeError, RuntimeError):
    """The device failed and cannot be used any more."""


class ReleasedError(GpuframeError, ValueError):
    """The table or column was released."""


class ExchangeError(GpuframeError, BufferError):
    """The memory cannot be exported or imported in the requested way."""


class InvalidDataError(GpuframeError, ValueError):
    """The input contradicts itself or its standard."""


class UnsupportedError(GpuframeError, NotImplementedError):
    """The input is valid, but gpuframe does not support it."""


class ArgumentError(GpuframeError, ValueError):
    """An argument has a value that is not allowed."""


class WrongTypeError(GpuframeError, TypeError):
    """An object has the wrong type."""


class ColumnNotFoundError(GpuframeError, KeyError):
    """A table has no column of that name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class RangeError(GpuframeError, IndexError):
    """A position lies outside the table or column."""


class FileError(GpuframeError, OSError):
    """A file cannot be opened or read."""


class CallError(GpuframeError, RuntimeError):
    """A function of :func:`map_batches` failed, or its result does not fit. ``__cause__`` is its exception, if it raised one."""


class MissingFileError(FileError, FileNotFoundError):
    """The file does not exist."""


class AccessError(FileError, PermissionError):
    """This process may not use the file or the socket."""


class InternalError(GpuframeError, RuntimeError):
    """A fault of gpuframe itself. ``details`` is the place where it happened; please report both."""

    details: str = ""


class NotConnectedError(GpuframeError, ConnectionError):
    """The other process is gone, or violates the protocol."""


class AddressInUseError(GpuframeError, OSError):
    """Another server listens on the socket."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a query: the method, the place of its call, and the reason."""

    verb: str
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.verb} ({self.file}:{self.line}): {self.text}"


class QueryError(GpuframeError, ValueError):
    """A query does not fit its sources. ``problems`` is all that is wrong; nothing was run.

    >>> import gpuframe
    >>> try:
    ...     gpuframe.from_columns({"price": [1]}, device="host").select("pric").collect()
    ... except gpuframe.QueryError as error:
    ...     print(error.problems[0].text)
    pric: no column is called "pric": there is only "price": schema mismatch
    """

    def __init__(self, text: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(text)
        self.problems = list(problems)


_KINDS: dict[str, type[Exception]] = {
    "memory": OutOfMemoryError,
    "not available": NotAvailableError,
    "device": DeviceError,
    "released": ReleasedError,
    "buffer": ExchangeError,
    "invalid": InvalidDataError,
    "unsupported": UnsupportedError,
    "value": ArgumentError,
    "type": WrongTypeError,
    "key": ColumnNotFoundError,
    "call": CallError,
    "index": RangeError,
    "file": MissingFileError,
    "io": FileError,
    "permission": AccessError,
    "connection": NotConnectedError,
    "in use": AddressInUseError,
}


def raise_failure(text: str) -> NoReturn:
    """Raise the exception for an error that the library returned as JSON."""
    failure = json.loads(text)
    if failure["kind"] == "budget":
        raise BudgetError(failure["text"], failure.get("asked", 0), failure.get("in_use", 0), failure.get("budget", 0))
    if failure["kind"] == "query":
        raise QueryError(failure["text"], [Problem(each["verb"], each["file"], each["line"], each["text"]) for each in failure["problems"]])
    if failure["kind"] == "internal":
        fault = InternalError(failure["text"])
        fault.details = failure.get("details", "")
        raise fault
    raise _KINDS.get(failure["kind"], GpuframeError)(failure["text"])
