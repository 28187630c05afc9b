"""Runs of queries in the library.

A run works on a thread of the library. Python waits for it in short calls, so that it handles
signals between them: KeyboardInterrupt cancels the run.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any, Iterator, Optional, Sequence

from ._library import library
from ._native import Handle
from .devices import Manager
from .table import Table

#: The milliseconds of one wait. A run that ends meanwhile ends the wait.
WAIT = 50

HAS_TABLE, ENDED = 1, 2


class Run(Handle):
    """A run. It is cancelled by its release, which waits for its end."""

    __slots__ = ("_kept", "answer")

    _kept: Any
    answer: dict[str, Any]

    @classmethod
    def start(cls, manager: Manager, action: dict[str, Any], document: bytes, tables: Sequence[Table], query: object) -> Run:
        """Start an action on the query of a document. The run keeps the objects of the query alive."""
        handles = (ctypes.c_uint64 * len(tables))(*[each._handle() for each in tables])
        made = cls.__new__(cls)
        made._kept, made.answer = (manager, tuple(tables), query), {}
        handle = ctypes.c_uint64()
        try:
            library.query(manager._handle(), json.dumps(action).encode(), document, handles, len(tables), ctypes.byref(handle))
        finally:  # also if a signal came during the call
            made._adopt(handle.value)
        return made

    def next(self) -> Optional[Table]:
        """Return the next table, or None at the end, after which there is the answer."""
        status, handle, answer = ctypes.c_int32(), ctypes.c_uint64(), ctypes.c_void_p()
        while True:
            table = None
            try:
                library.run_wait(self._handle(), WAIT, ctypes.byref(status), ctypes.byref(handle), ctypes.byref(answer))
            finally:  # also if a signal came during the call
                text = library.text(answer)
                if handle.value:
                    table = Table._wrap(handle.value, self._kept[0])
            if status.value == HAS_TABLE:
                return table
            if status.value == ENDED:
                self.answer = json.loads(text)
                return None

    def tables(self) -> Iterator[Table]:
        """Yield the tables. The run is released at the end, after an error, and if the caller stops."""
        try:
            while True:
                made = self.next()
                if made is None:
                    return
                yield made
        finally:
            self._release()

    def only(self) -> Optional[Table]:
        """Return the last table, if there is one, at the end of the run."""
        last = None
        for last in self.tables():
            pass
        return last
