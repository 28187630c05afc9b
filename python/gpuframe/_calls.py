"""Python functions that queries call with batches of rows."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import json
import re
from typing import Any, Callable, Mapping, Optional, Sequence

from ._library import library
from ._native import Handle
from ._types import type_name
from .devices import Budget, Manager, active_budgets, within
from .errors import ArgumentError, CallError, WrongTypeError
from .table import Table

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint64, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_char), ctypes.c_int64)

#: The number of a failure within the message of an error, which :func:`cause_of` takes out.
_MARK = re.compile("\x1f([0-9]+)\x1f")
_numbers = itertools.count()

#: The failures of a function that wait for the error of their run. Those of runs that were cancelled are not asked for.
_MOST_FAILURES = 64

#: A function of the arguments as a table, which returns columns by name.
_Computation = Callable[[Table], Mapping[str, Any]]


class BatchFunction(Handle):
    """A function as the library calls it. It belongs to the expressions with it, and to runs."""

    __slots__ = ("_callback", "_failures", "_kept", "_running", "name")

    _callback: Any
    _failures: dict[int, BaseException]
    _running: list[tuple[Budget, ...]]
    _kept: list[Any]
    name: str

    @classmethod
    def of_columns(cls, function: Callable[..., Any], dtype: Any, pure: bool, single: bool) -> BatchFunction:
        """Make a function of a list of columns, or of a single one, that returns a column."""

        def compute(arguments: Table) -> Mapping[str, Any]:
            columns = [arguments[name] for name in arguments.column_names]
            return {"": function(columns[0] if single else columns)}

        return cls._made(function, compute, {"": dtype}, pure)

    @classmethod
    def of_table(cls, function: Callable[[Table], Any], columns: Sequence[str], schema: Mapping[str, Any], pure: bool) -> BatchFunction:
        """Make a function of a table with named columns that returns columns by name."""
        if not schema:
            raise ArgumentError("schema={} has no column: pass the names and types of the columns that the function returns")

        def compute(arguments: Table) -> Mapping[str, Any]:
            result = function(arguments.rename(dict(zip(arguments.column_names, columns))))
            if isinstance(result, Table):
                result = {name: result[name] for name in result.column_names}
            if not isinstance(result, Mapping):
                raise WrongTypeError(f"the function returned {type(result).__name__}, expected a Table or a mapping of names to arrays")
            missing = [name for name in schema if name not in result]
            if missing:
                raise ArgumentError(f"the function returned no column {missing[0]!r}, which the schema has")
            return {name: result[name] for name in schema}

        return cls._made(function, compute, schema, pure)

    @classmethod
    def _made(cls, function: Callable[..., Any], compute: _Computation, schema: Mapping[str, Any], pure: bool) -> BatchFunction:
        if not callable(function):
            raise WrongTypeError(f"{function!r} is no function")
        made = cls.__new__(cls)
        made._failures, made._kept, made._running = {}, [], []
        made.name = getattr(function, "__name__", type(function).__name__)
        failures, kept, running = made._failures, made._kept, made._running

        def callback(handle: int, result: Any, message: Any, size: int) -> int:
            try:
                arguments = Table._wrap(handle, tuple(kept))
                budgets = list(running)
                with within(budgets[0] if budgets and all(each == budgets[0] for each in budgets) else ()):
                    columns = compute(arguments)
                    table = Table.from_columns(columns, device=arguments.device.name)
                # The library takes over this handle, and Python's is released with the table.
                result[0] = library.make(library.table_slice, table._handle(), 0, len(table))
                return 0
            except BaseException as error:  # nothing may pass through the library
                number = next(_numbers)
                failures[number] = error
                for old in list(failures)[:-_MOST_FAILURES]:
                    failures.pop(old, None)
                text = f"\x1f{number}\x1f{type(error).__name__}: {error}".encode("utf-8", "replace")[:size - 1]
                text = text.decode("utf-8", "ignore").encode()  # no half of a character at the end
                ctypes.memmove(message, text, len(text))
                return 1

        made._callback = _CALLBACK(callback)
        options = {"name": made.name, "pure": pure, "columns": [{"name": name, "type": type_name(dtype)} for name, dtype in schema.items()]}
        made._adopt(library.make(library.function, ctypes.cast(made._callback, ctypes.c_void_p), json.dumps(options).encode()))
        return made

    def used_by(self, manager: Manager) -> int:
        """Return the handle for a run in memory of a manager, which tables of its batches keep alive."""
        if not any(each is manager for each in self._kept):
            self._kept.append(manager)
        return self._handle()

    def begin(self, manager: Manager) -> tuple[Budget, ...]:
        """Note a run in memory of a manager. Return what :meth:`end` takes.

        The function makes memory within the budgets of its run. Calls do not say which run they belong to: while runs
        with different budgets are under way, memory is the device's.
        """
        budgets = active_budgets()
        if isinstance(manager, Budget) and (not budgets or budgets[-1] is not manager):
            budgets += (manager,)
        self._running.append(budgets)
        return budgets

    def end(self, budgets: tuple[Budget, ...]) -> None:
        """Note the end of a run."""
        self._running.remove(budgets)

    def failure(self, number: int) -> Optional[BaseException]:
        """Return an exception of the function by its number, once."""
        return self._failures.pop(number, None)

    def __repr__(self) -> str:
        return f"<function {self.name} of batches>"


def cause_of(error: CallError, functions: Sequence[BatchFunction]) -> Optional[BaseException]:
    """Return the exception of a function that an error reports, and take its number out of the message."""
    numbers = [int(each) for each in _MARK.findall(str(error))]
    error.args = tuple(_MARK.sub("", each) if isinstance(each, str) else each for each in error.args)
    found = [each.failure(number) for number in numbers for each in functions]
    return next((each for each in found if each is not None), None)


def numbers_of(functions: list[BatchFunction]) -> Callable[[Any], int]:
    """Return a function that numbers the functions in a document, and adds them to a list."""

    def number(value: Any) -> int:
        if not isinstance(value, BatchFunction):
            raise TypeError(f"{value!r} is no value of a query")
        for at, each in enumerate(functions):
            if each is value:
                return at
        functions.append(value)
        return len(functions) - 1

    return number


atexit.register(library.end_functions)
