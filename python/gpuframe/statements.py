"""SQL: statements on frames by their names, as lazy queries."""

from __future__ import annotations

import json
import sys
from typing import Any, Mapping, Optional, Sequence, Union

from ._library import library
from ._literals import literal
from .errors import ColumnNotFoundError, WrongTypeError
from .lazy import _PACKAGE, LazyFrame, Step, _place
from .sources import from_arrow, from_pandas, from_polars
from .table import Table

#: The members that objects with Arrow's C interfaces have one of.
_ARROW = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_c_device_array__", "__arrow_c_device_stream__")


def sql(query: str, frames: Optional[Mapping[str, Any]] = None, /, *, parameters: Sequence[Any] = (), **named: Any) -> LazyFrame:
    """Return the query of a statement in SQL: SELECT, VALUES, FROM, DESCRIBE or EXPLAIN, in the dialect of DuckDB and PostgreSQL.

    Its tables are frames by keyword or in ``frames``, variables of the caller, and files
    (``FROM 'sales/*.parquet'``). A frame is a LazyFrame, a Table, or a table of Polars, pandas,
    pyarrow and others. ``parameters`` are the values of ``?``, or of ``$1``, ``$2``.

    A fault of the text is a :class:`QueryError` now, with its place; one of names or types is when
    the query runs.

    >>> import gpuframe
    >>> sales = gpuframe.from_columns({"price": [60, 55, 20], "qty": [2, 1, 9]}, device="host")
    >>> gpuframe.sql("select sum(price * qty) as revenue from sales where price > ?", parameters=[50]).collect().to_pydict()
    {'revenue': [175]}
    """
    return _query(query, {**(frames or {}), **named}, parameters, _scopes())


class SQLContext:
    """Frames by the names that statements use, as of Polars.

    >>> import gpuframe
    >>> frames = gpuframe.SQLContext(sales=gpuframe.from_columns({"price": [60, 55, 20]}, device="host"))
    >>> frames.execute("select max(price) as most from sales").collect().to_pydict()
    {'most': [60]}
    """

    __slots__ = ("_frames",)

    def __init__(self, frames: Optional[Mapping[str, Any]] = None, /, **named: Any) -> None:
        self._frames: dict[str, LazyFrame] = {}
        self.register_many(frames, **named)

    def register(self, name: str, frame: Any) -> SQLContext:
        """Give a frame a name. It replaces one of the same name, without regard to case."""
        for known in [each for each in self._frames if each.lower() == name.lower()]:
            del self._frames[known]
        self._frames[name] = _frame(name, frame)
        return self

    def register_many(self, frames: Optional[Mapping[str, Any]] = None, /, **named: Any) -> SQLContext:
        """Give frames names."""
        for name, frame in {**(frames or {}), **named}.items():
            self.register(name, frame)
        return self

    def unregister(self, names: Union[str, Sequence[str]]) -> SQLContext:
        """Forget names."""
        for name in [names] if isinstance(names, str) else names:
            if name not in self._frames:
                raise ColumnNotFoundError(f"no frame is called {name!r}: there are {self.tables()}")
            del self._frames[name]
        return self

    def tables(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(self._frames)

    def execute(self, query: str, *, parameters: Sequence[Any] = ()) -> LazyFrame:
        """Return the query of a statement, as :func:`sql`. Its tables are those of the context, and files."""
        return _query(query, self._frames, parameters, [])


def _query(query: str, frames: Mapping[str, Any], parameters: Sequence[Any], scopes: list[Mapping[str, Any]]) -> LazyFrame:
    if not isinstance(query, str):
        raise WrongTypeError(f"query={query!r}: expected a statement as a str")
    if isinstance(parameters, (str, bytes, Mapping)):
        raise WrongTypeError(f"parameters={parameters!r}: expected a list of values")
    text = json.dumps({"text": query, "place": _place("sql")}).encode()
    given = {name.lower(): (name, frame) for name, frame in frames.items()}
    names: list[str] = []
    inputs: list[Step] = []
    for name in library.answer(library.statement, text):
        name, frame = given.get(name.lower()) or (name, _variable(name, scopes))
        if frame is not None:
            names.append(name)
            inputs.append(_frame(name, frame)._step)
    return LazyFrame(Step("sql", tuple(inputs), {"text": query, "names": names, "arguments": [literal(each) for each in parameters]}))


def _scopes() -> list[Mapping[str, Any]]:
    """Return the variables of the function that calls this package, and of its module."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return [] if frame is None else [frame.f_locals, frame.f_globals]


def _variable(name: str, scopes: list[Mapping[str, Any]]) -> Any:
    """Return the frame that a variable is, or None: then the name may be that of a common table expression."""
    for scope in scopes:
        if name in scope and _is_frame(scope[name]):
            return scope[name]
    return None


def _is_frame(value: Any) -> bool:
    if isinstance(value, type):
        return False
    return isinstance(value, (LazyFrame, Table)) or any(hasattr(value, each) for each in _ARROW) or _is_polars_query(value) or _is_pandas(value)


def _is_polars_query(value: Any) -> bool:
    return hasattr(value, "collect") and hasattr(value, "collect_schema")


def _is_pandas(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "dtypes") and hasattr(value, "iloc")


def _frame(name: str, value: Any) -> LazyFrame:
    if isinstance(value, LazyFrame):
        return value
    if isinstance(value, Table):
        return value.lazy()
    if not _is_frame(value):
        raise WrongTypeError(f"{name}: expected a LazyFrame, a Table or another table with an Arrow interface, not a {type(value).__name__}")
    if _is_polars_query(value):
        return from_polars(value)
    return from_pandas(value) if _is_pandas(value) else from_arrow(value)
