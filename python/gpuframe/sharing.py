"""Tables that other processes of the machine open by name, without copying them."""

from __future__ import annotations

import atexit
import os
import weakref
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar, Union

from ._library import library
from ._native import Handle
from .devices import Place, place
from .table import Table

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class SharedTable:
    """A table of a server. ``bytes`` is the size of its memory."""

    name: str
    rows: int
    columns: int
    bytes: int
    device: str
    clients: int
    references: int
    withdrawn: bool


def _shared(answer: list[dict[str, Any]]) -> list[SharedTable]:
    return [SharedTable(**each) for each in answer]


_Self = TypeVar("_Self", bound="_Connection")


class _Connection(Handle):
    """The common part of a client and a server."""

    __slots__ = ("path", "__weakref__")

    path: str

    def __init__(self) -> None:
        raise TypeError("cannot be constructed: call gpuframe.serve(path) or gpuframe.connect(path)")

    def close(self) -> None:
        """Close it. Tables that clients have opened stay valid."""
        self._release()

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __getstate__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} belongs to this process and cannot be pickled: pickle its path")

    def __repr__(self) -> str:
        return f"<gpuframe.{type(self).__name__} at {self.path}{'' if self._handle() else ', closed'}>"


class Server(_Connection):
    """A server of tables on a Unix socket. :func:`serve` returns it."""

    __slots__ = ()

    def publish(self, name: str, table: Table) -> None:
        """Let clients open a table. It is copied once, on its device, into memory that can be shared."""
        library.publish(self._handle(), name.encode(), table._handle())

    def withdraw(self, name: str) -> None:
        """Hide a table. Clients that have it open keep it."""
        library.withdraw(self._handle(), name.encode())

    def tables(self) -> list[SharedTable]:
        """Return the published tables, and how many clients use them."""
        return _shared(library.answer(library.served, self._handle()))


class Client(_Connection):
    """A connection to a server. :func:`connect` returns it."""

    __slots__ = ()

    def tables(self) -> list[SharedTable]:
        """Return the tables that can be opened."""
        return _shared(library.answer(library.client_tables, self._handle()))

    def open(self, name: str, device: Place = None) -> Table:
        """Open a table for reading only. Each column is mapped on first use.

        The table is on the server's device of the table, and outlives the client.
        """
        target = None if device is None else place(device)
        made = library.make(library.client_open, self._handle(), 0 if target is None else target._handle(), name.encode())
        return Table._wrap(made, target)


_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def serve(path: Path, *, mode: int = 0o600, patience: float = 10.0) -> Server:
    """Serve tables on a Unix socket. Processes that may write to the file, by its mode, may open them.

        server = gpuframe.serve("/run/tables.sock")
        server.publish("flights", table)

    A client that stops in the middle of a message, or does not read an answer, is disconnected after
    ``patience`` seconds.
    """
    made = Server.__new__(Server)
    made._adopt(library.make(library.serve, os.fspath(path).encode(), mode, patience))
    made.path = os.fspath(path)
    _servers.add(made)
    return made


def connect(path: Path, *, timeout: float = 10.0) -> Client:
    """Connect to the server on a Unix socket. A server that does not answer in ``timeout`` seconds is an error.

        flights = gpuframe.connect("/run/tables.sock").open("flights")
    """
    made = Client.__new__(Client)
    made._adopt(library.make(library.connect, os.fspath(path).encode(), timeout))
    made.path = os.fspath(path)
    return made


@atexit.register
def _close_servers() -> None:
    """Remove the socket files."""
    for each in list(_servers):
        each.close()
