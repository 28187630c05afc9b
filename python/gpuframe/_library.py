"""The shared library: its path, its functions and its limits.

``ctypes.CDLL`` releases the interpreter's lock during a call of its functions. A call may release
memory that another Python object owns, and that object's deleter takes the lock on another thread.
The types and functions of ``native`` are called with the lock held, which makes them fast. They
release it before any operation that can wait.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import sys
from typing import Any, Callable, NoReturn, Optional

from .errors import GpuframeError, raise_failure

_HANDLE = ctypes.c_uint64
_OUT = ctypes.POINTER(ctypes.c_uint64)
_TEXT = ctypes.c_char_p
_ANSWER = ctypes.POINTER(ctypes.c_void_p)
_ADDRESS = ctypes.c_void_p
_INT = ctypes.c_int64

_SIGNATURES: dict[str, list[Any]] = {
    "devices": [_ANSWER],
    "open": [_TEXT, _OUT, _ANSWER],
    "child": [_HANDLE, _TEXT, _HANDLE, _OUT],
    "set_budget": [_HANDLE, _HANDLE],
    "reset_peak": [_HANDLE],
    "set_object_cache": [_TEXT, _HANDLE],
    "stats": [_HANDLE, _ANSWER],
    "table_describe": [_HANDLE, _ANSWER],
    "table_text": [_HANDLE, _INT, _ANSWER],
    "table_slice": [_HANDLE, _INT, _INT, _OUT],
    "table_select": [_HANDLE, _TEXT, _OUT],
    "table_column": [_HANDLE, _INT, _OUT],
    "table_matrix": [_HANDLE, _OUT],
    "table_new": [_TEXT, _OUT, _INT, _INT, _OUT],
    "table_copy": [_HANDLE, _HANDLE, _OUT],
    "column_describe": [_HANDLE, _ANSWER],
    "column_null_count": [_HANDLE, ctypes.POINTER(_INT)],
    "column_slice": [_HANDLE, _INT, _INT, _OUT],
    "column_values": [_HANDLE, _OUT],
    "column_validity": [_HANDLE, _OUT],
    "column_is_valid": [_HANDLE, _OUT],
    "column_copy": [_HANDLE, _HANDLE, _OUT],
    "read_parquet": [_HANDLE, _TEXT, _TEXT, _OUT],
    "read_ipc": [_HANDLE, _TEXT, _TEXT, _OUT],
    "read_csv": [_HANDLE, _TEXT, _TEXT, _OUT],
    "pointer_device": [_HANDLE, _HANDLE, ctypes.POINTER(ctypes.c_int32), ctypes.POINTER(ctypes.c_int32)],
    "arrow_import": [_HANDLE, _OUT, _INT, _ADDRESS, _ADDRESS, ctypes.c_int, _OUT],
    "arrow_import_column": [_HANDLE, _OUT, _INT, _ADDRESS, _ADDRESS, ctypes.c_int, _TEXT, _OUT],
    "arrow_import_stream": [_HANDLE, _OUT, _INT, _ADDRESS, ctypes.c_int, _OUT],
    "arrow_import_column_stream": [_HANDLE, _OUT, _INT, _ADDRESS, ctypes.c_int, _TEXT, _OUT],
    "order": [_HANDLE, _INT],
    "arrow_export": [_HANDLE, _ADDRESS, _ADDRESS],
    "arrow_export_device": [_HANDLE, _ADDRESS, _ADDRESS],
    "arrow_export_stream": [_HANDLE, ctypes.c_int, _ADDRESS],
    "arrow_schema": [_HANDLE, _ADDRESS],
    "query": [_HANDLE, _TEXT, _TEXT, _OUT, _INT, _OUT, _INT, _OUT],
    "function": [_ADDRESS, _TEXT, _OUT],
    "end_functions": [],
    "run_wait": [_HANDLE, _INT, ctypes.POINTER(ctypes.c_int32), _OUT, _ANSWER],
    "statement": [_TEXT, _ANSWER],
    "evict": [_TEXT, ctypes.c_int32],
    "serve": [_TEXT, ctypes.c_uint32, ctypes.c_double, _OUT],
    "publish": [_HANDLE, _TEXT, _HANDLE],
    "withdraw": [_HANDLE, _TEXT],
    "served": [_HANDLE, _ANSWER],
    "connect": [_TEXT, ctypes.c_double, _OUT],
    "client_tables": [_HANDLE, _ANSWER],
    "client_open": [_HANDLE, _HANDLE, _TEXT, _OUT],
    "heap": [ctypes.POINTER(_INT)],
}


def _find() -> str:
    """Return the path of the library: next to this file in a wheel."""
    given = os.environ.get("GPUFRAME_LIBRARY")
    if given:
        return given
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(here, "libgpuframe.so")
    built = os.path.join(here, os.pardir, os.pardir, "build", "libgpuframe.so")
    return beside if os.path.exists(beside) or not os.path.exists(built) else os.path.normpath(built)


class Library:
    """The library's functions, by their names without ``gpuframe_``.

    Each function raises the exception of its error. Any thread may call any function at any time.
    """

    path: str

    def __init__(self) -> None:
        self.path = _find()
        try:
            loaded = ctypes.CDLL(self.path)
        except OSError as error:
            raise ImportError(f"gpuframe: cannot load the library: {error} (set GPUFRAME_LIBRARY to the path of another)") from error
        self._free = loaded.gpuframe_free
        self._free.argtypes = [ctypes.c_void_p]
        self._free.restype = None
        for name, arguments in _SIGNATURES.items():
            function = getattr(loaded, "gpuframe_" + name)
            function.argtypes = arguments
            function.restype = ctypes.c_void_p
            function.errcheck = self._check
            setattr(self, name, function)

    def _text(self, address: int) -> str:
        try:
            return ctypes.string_at(address).decode("utf-8", "replace")
        finally:
            self._free(address)

    def _check(self, failed: Optional[int], *_: Any) -> None:
        if failed:
            raise_failure(self._text(failed))

    def text(self, answer: ctypes.c_void_p) -> str:
        """Return the text of an answer, which is freed."""
        return self._text(answer.value) if answer.value else "null"

    def answer(self, function: Callable[..., None], *arguments: Any) -> Any:
        """Call a function that answers with JSON, and return the decoded answer."""
        answer = ctypes.c_void_p()
        try:
            function(*arguments, ctypes.byref(answer))
        finally:
            text = self.text(answer)
        return json.loads(text)

    def make(self, function: Callable[..., None], *arguments: Any) -> int:
        """Call a function that makes an object, and return its handle."""
        made = ctypes.c_uint64()
        function(*arguments, ctypes.byref(made))
        return made.value

    def forbid(self) -> None:
        """Make every function raise an error: Go's runtime does not work after a fork."""

        def refuse(*_: Any) -> NoReturn:
            raise GpuframeError('gpuframe cannot be used in a forked process: start it with the method "spawn", '
                                "or import and use gpuframe only after the fork")

        for name in _SIGNATURES:
            setattr(self, name, refuse)

    def __getattr__(self, name: str) -> Callable[..., None]:
        raise AttributeError(name)


class Native:
    """Types and functions that the library makes in C."""

    Handle: Any
    Tensor: Any
    Exchangeable: Any
    exchange: Any
    take_tensor: Callable[[Any], tuple[int, int, int, int]]
    exchanged: Callable[[Any], Optional[tuple[int, int, int, int]]]
    import_tensor: Callable[[int, int, int, int, bytes], Any]
    new_struct: Callable[[int], tuple[Any, int]]
    struct_of: Callable[[Any], tuple[int, int]]
    hold: Callable[[tuple[Any, int, int, int, int, int, int, int]], int]
    exiting: Callable[[], None]

    #: Makes a column of a handle. Module column sets it.
    wrap_column: Callable[[int], Any]

    def __init__(self, path: str) -> None:
        start = ctypes.PyDLL(path).gpuframe_python_init
        start.argtypes = [ctypes.py_object] * 3
        start.restype = ctypes.c_int
        names: dict[str, Any] = {}
        self.kept = (names, raise_failure, lambda handle: self.wrap_column(handle))
        if start(*self.kept) != 0:
            raise ImportError(f"gpuframe: {path} needs functions that Python {sys.version.split()[0]} lacks")
        self.__dict__.update(names)


library = Library()
native = Native(library.path)

# Deleters of other libraries must not run after their code may have been unloaded.
atexit.register(native.exiting)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=library.forbid)
