"""Runs of queries in the library.

A run works on a thread of the library. Python waits for it in short calls, so that it handles
signals between them: KeyboardInterrupt cancels the run.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any, Iterator, Optional, Sequence

from ._calls import BatchFunction, cause_of
from ._library import library
from ._native import Handle
from .devices import Budget, Manager
from .errors import CallError
from .progress import Watch
from .table import Table

#: The milliseconds of one wait. A run that ends meanwhile ends the wait.
WAIT = 50

CONTINUES, HAS_TABLE, ENDED = 0, 1, 2


class Run(Handle):
    """A run. It is cancelled by its release, which waits for its end."""

    __slots__ = ("_kept", "_functions", "_begun", "_watch", "answer")

    _kept: Any
    _functions: Sequence[BatchFunction]
    _begun: list[tuple[BatchFunction, tuple[Budget, ...]]]
    _watch: Watch
    answer: dict[str, Any]

    @classmethod
    def start(cls, manager: Manager, action: dict[str, Any], document: bytes, tables: Sequence[Table], functions: Sequence[BatchFunction], query: object) -> Run:
        """Start an action on the query of a document. The run keeps the objects of the query alive."""
        handles = (ctypes.c_uint64 * len(tables))(*[each._handle() for each in tables])
        made = cls.__new__(cls)
        made._kept, made._functions, made.answer = (manager, tuple(tables), query), functions, {}
        made._watch = Watch()
        made._begun = [(each, each.begin(manager)) for each in functions]
        called = (ctypes.c_uint64 * len(functions))(*[each.used_by(manager) for each in functions])
        handle = ctypes.c_uint64()
        try:
            library.query(manager._handle(), json.dumps(action).encode(), document, handles, len(tables), called, len(functions), ctypes.byref(handle))
        finally:  # also if a signal came during the call
            made._adopt(handle.value)
        return made

    def __del__(self) -> None:
        # In front of the functions, which the run may be calling.
        self._end()

    def _end(self) -> None:
        self._release()
        while self._begun:
            function, budgets = self._begun.pop()
            function.end(budgets)

    def next(self) -> Optional[Table]:
        """Return the next table, or None at the end, after which there is the answer."""
        status, handle, answer = ctypes.c_int32(), ctypes.c_uint64(), ctypes.c_void_p()
        while True:
            table, answer.value = None, None  # the answer of the wait before is freed
            try:
                library.run_wait(self._handle(), WAIT, ctypes.byref(status), ctypes.byref(handle), ctypes.byref(answer))
            except CallError as error:
                raise error from cause_of(error, self._functions)
            finally:  # also if a signal came during the call
                text = library.text(answer)
                if handle.value:
                    table = Table._wrap(handle.value, self._kept[0])
            if status.value == HAS_TABLE:
                return table
            if status.value == CONTINUES:
                self._watch.at(json.loads(text))
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
            self._end()
            self._watch.end()

    def only(self) -> Optional[Table]:
        """Return the last table, if there is one, at the end of the run."""
        last = None
        for last in self.tables():
            pass
        return last
