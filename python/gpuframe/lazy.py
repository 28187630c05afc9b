"""Lazy queries: verbs on the rows of files and tables, run by the library on a GPU or on the host."""

from __future__ import annotations

import itertools
import json
import os
import sys
import weakref
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Literal, Mapping, Optional, Sequence, Union

from . import _runs
from ._calls import BatchFunction, numbers_of
from ._library import library
from ._literals import Node, literal
from .devices import Place, place
from .errors import ArgumentError, GpuframeError, WrongTypeError
from .expressions import Expr, batch_call, IntoExpr, Str, col, column_node, column_nodes, lit, node_of, number_and_unit
from .folders import Folder
from .table import Names, Table, names_of

#: An expression, or the name of a column.
IntoColumn = Union[str, Expr]

#: One of them, or several.
IntoColumns = Union[IntoColumn, Sequence[IntoColumn]]

JoinKind = Literal["inner", "left", "right", "full", "semi", "anti", "cross"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Step:
    """One verb of a query. Steps are immutable and may be part of several queries."""

    __slots__ = ("verb", "inputs", "members", "table", "place", "__weakref__")

    def __init__(self, verb: str, inputs: tuple[Step, ...], members: dict[str, Any], table: Optional[Table] = None, name: str = "") -> None:
        self.verb, self.inputs, self.members, self.table = verb, inputs, members, table
        self.place = _place(name or verb)


def _place(verb: str) -> Node:
    """Return the place of the call outside of this package."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return {"verb": verb}
    return {"verb": verb, "file": frame.f_code.co_filename, "line": frame.f_lineno}


#: The numbers of the names of caches.
_caches = itertools.count()


def _forget(name: str) -> None:
    """Release the rows of a cache that no query has any more."""
    try:
        library.evict(name.encode(), 1)
    except GpuframeError:  # as after a fork: then this process has no rows
        pass


def _document(last: Step) -> tuple[bytes, list[Table], list[BatchFunction]]:
    """Return the document of a query, its tables, and the functions that it calls."""
    order: list[Step] = []
    numbers: dict[int, int] = {}
    waiting = [last]
    while waiting:
        step = waiting[-1]
        missing = [each for each in step.inputs if id(each) not in numbers]
        if missing:
            waiting.extend(missing)
            continue
        waiting.pop()
        if id(step) not in numbers:
            numbers[id(step)] = len(order)
            order.append(step)
    tables: list[Table] = []
    steps = []
    for step in order:
        members = dict(step.members)
        if step.table is not None:
            members["number"] = len(tables)
            tables.append(step.table)
        steps.append({"verb": step.verb, "inputs": [numbers[id(each)] for each in step.inputs], "place": step.place, **members})
    functions: list[BatchFunction] = []
    try:
        text = json.dumps({"version": 1, "steps": steps}, ensure_ascii=False, allow_nan=False, default=numbers_of(functions)).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a name or a text in the query is no valid Unicode: {error.object[error.start:error.end]!r}") from None
    except RecursionError:
        raise ArgumentError("an expression is nested too deeply: compute a part of it with with_columns() first") from None
    except (TypeError, ValueError) as error:
        raise WrongTypeError(f"an argument of the query has a wrong type: {error}") from None
    return text, tables, functions


@dataclass(frozen=True)
class Profile:
    """What each operation of a run did. ``str`` of it is the plan with rows, bytes and times."""

    text: str
    trace: str
    """The run in JSON, which Perfetto (ui.perfetto.dev) opens."""

    def __str__(self) -> str:
        return self.text

    def write_trace(self, path: Union[str, os.PathLike[str]]) -> None:
        """Write the trace to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.trace)


class LazyFrame:
    """A query on the rows of files or tables. Nothing is read before it runs.

    Each verb returns another LazyFrame. :meth:`collect` runs the query and returns a
    :class:`Table`. All that is wrong with a query is reported together, in a
    :class:`QueryError`, before anything is read. Names and meanings are those of Polars, unless a
    docstring states otherwise.

    >>> import gpuframe
    >>> from gpuframe import col
    >>> sales = gpuframe.from_columns({"price": [60, 55, 20], "qty": [2, 1, 9]}, device="host")
    >>> sales.filter(col("price") > 50).select((col("price") * col("qty")).sum().alias("revenue")).collect().to_pydict()
    {'revenue': [175]}
    """

    __slots__ = ("_step",)

    _step: Step

    def __init__(self, step: Step) -> None:
        if not isinstance(step, Step):
            raise TypeError("a LazyFrame cannot be constructed: call scan_parquet, from_arrow or another source")
        self._step = step

    def _then(self, verb: str, called: str = "", others: Sequence[LazyFrame] = (), **members: Any) -> LazyFrame:
        for each in others:
            if not isinstance(each, LazyFrame):
                raise WrongTypeError(f"expected a LazyFrame, not a {type(each).__name__}: call lazy() of a table")
        return LazyFrame(Step(verb, (self._step, *(each._step for each in others)), members, name=called))

    def sql(self, query: str, *, table_name: str = "self", parameters: Sequence[Any] = ()) -> LazyFrame:
        """Return the query of a statement in SQL, in which ``table_name`` names this one: see :func:`gpuframe.sql`."""
        from .statements import SQLContext

        return SQLContext({table_name: self}).execute(query, parameters=parameters)

    def filter(self, *conditions: Expr) -> LazyFrame:
        """Keep the rows in which all conditions are true, not false or null."""
        return self._then("filter", conditions=column_nodes(conditions))

    def require(self, condition: Expr, message: str = "") -> LazyFrame:
        """Keep all rows. The run ends with :class:`InvalidDataError` if the condition is false or null for one that it reads. Polars has none."""
        return self._then("require", condition=node_of(condition), message=message)

    def select(self, *expressions: IntoColumns, **named: IntoExpr) -> LazyFrame:
        """Keep only the values of expressions. If all are aggregates, the result is one row."""
        return self._then("select", expressions=_named(expressions, named))

    def with_columns(self, *expressions: IntoColumns, **named: IntoExpr) -> LazyFrame:
        """Add columns. A column with the name of another takes its place."""
        return self._then("with", "with_columns", expressions=_named(expressions, named))

    def map_batches(self, function: Callable[[Table], Any], schema: Mapping[str, Any], *, pure: bool = False) -> LazyFrame:
        """Return the columns that a function computes of each batch of rows.

        The function gets a :class:`Table` with all columns, and returns a Table, or a mapping of names to arrays, with
        the columns of ``schema``, a mapping of names to types, and the same number of rows. See
        :func:`gpuframe.map_batches`. The names of the columns are read at once.

        >>> import gpuframe, math
        >>> def roots(batch):
        ...     return {"root": [math.sqrt(x) for x in batch["x"].tolist()]}
        >>> gpuframe.from_columns({"x": [1.0, 4.0]}, device="host").map_batches(roots, {"root": "float64"}).collect().to_pydict()
        {'root': [1.0, 2.0]}
        """
        columns = list(self.collect_schema())
        computed = batch_call(BatchFunction.of_table(function, columns, schema, pure), [col(name) for name in columns])
        return self.select(*[computed.field(name).alias(name) for name in schema])

    def drop(self, *columns: Names) -> LazyFrame:
        """Leave out columns."""
        return self._then("drop", columns=_names(columns))

    def rename(self, mapping: Mapping[str, str]) -> LazyFrame:
        """Give columns other names, old to new."""
        return self._then("rename", columns=[[old, new] for old, new in mapping.items()])

    def group_by(self, *keys: IntoColumns) -> GroupBy:
        """Divide the rows into groups with equal keys. Null is a key like any other."""
        return GroupBy(self, keys=column_nodes(keys))

    def rollup(self, *keys: IntoColumns) -> GroupBy:
        """Divide the rows into groups by all keys, then by all but the last one, and so on, up to one group of all rows.

        These are subtotals and a total. A key that a group is not by is null in its row; :func:`gpuframe.grouping_id` tells
        such a null from a null of the rows. Polars has no such method.

        >>> import gpuframe
        >>> from gpuframe import col, grouping_id
        >>> sales = gpuframe.from_columns({"shop": [1, 2, 1], "price": [60, 55, 20]}, device="host")
        >>> sales.rollup("shop").agg(col("price").sum(), grouping_id().alias("total")).sort("total", "shop").collect().to_pydict()
        {'shop': [1, 2, None], 'price': [80, 55, 135], 'total': [0, 0, 1]}
        """
        return GroupBy(self, keys=column_nodes(keys), grouping="rollup")

    def cube(self, *keys: IntoColumns) -> GroupBy:
        """Divide the rows into groups by each subset of the keys, at most 8 of them, up to one group of all rows: see :meth:`rollup`."""
        return GroupBy(self, keys=column_nodes(keys), grouping="cube")

    def grouping_sets(self, *sets: Names) -> GroupBy:
        """Divide the rows into groups by each of several sets of columns: see :meth:`rollup`. An empty set is one group of all rows."""
        return GroupBy(self, sets=[names_of(each) for each in sets])

    def join(self, other: LazyFrame, on: Optional[IntoColumns] = None, how: JoinKind = "inner", *, left_on: Optional[IntoColumns] = None,
             right_on: Optional[IntoColumns] = None, suffix: str = "_right", nulls_equal: bool = False, where: Optional[Expr] = None) -> LazyFrame:
        """Match the rows with those of another query.

        The result has the left columns, then the right ones without keys of the same name, also
        in a full join, as with Polars' coalesce=True. ``where`` is a further condition on pairs of
        rows; it decides which rows match, and does not filter the result.
        """
        if (left_on is None) != (right_on is None):
            raise ArgumentError("left_on and right_on are given together, or neither")
        members: dict[str, Any] = {"kind": how, "suffix": suffix, "nulls_equal": nulls_equal, "on": _pairs(left_on, right_on)}
        if on is not None:
            members["keys"] = column_nodes([on])
        if where is not None:
            members["where"] = column_nodes([where])
        return self._then("join", others=[other], **members)

    def join_asof(self, other: LazyFrame, on: Optional[IntoColumn] = None, *, left_on: Optional[IntoColumn] = None,
                  right_on: Optional[IntoColumn] = None, by: Optional[IntoColumns] = None, by_left: Optional[IntoColumns] = None,
                  by_right: Optional[IntoColumns] = None, strategy: Literal["backward", "forward", "nearest"] = "backward",
                  tolerance: Any = None, allow_exact_matches: bool = True, suffix: str = "_right") -> LazyFrame:
        """Match each row with the row of another query with the nearest key. Neither side needs to be sorted."""
        if (on is None) == (left_on is None) or (left_on is None) != (right_on is None):
            raise ArgumentError("pass on=, or left_on= and right_on=")
        left, right = (on, on) if on is not None else (left_on, right_on)
        members: dict[str, Any] = {"on": _pairs(left, right)[0], "by": _pairs(by, by) + _pairs(by_left, by_right), "direction": strategy,
                                   "not_equal": not allow_exact_matches, "suffix": suffix}
        if tolerance is not None:
            members["tolerance"] = literal(tolerance)
        return self._then("as_of", "join_asof", [other], **members)

    def join_nearest(self, other: LazyFrame, on: Optional[IntoColumn] = None, k: int = 1, *, left_on: Optional[IntoColumn] = None,
                     right_on: Optional[IntoColumn] = None, metric: Literal["l2", "cosine", "dot"] = "l2", how: Literal["left", "inner"] = "left",
                     dimensions: Optional[int] = None, distance: Optional[str] = None, rank: Optional[str] = None, suffix: str = "_right") -> LazyFrame:
        """Match each row with the k nearest rows of another query by two vectors: lists of integers or floats, which are compared as float32.

        The result has the columns of both sides, the distance and the rank from 1, in the order of the left rows. ``how="inner"``
        leaves out rows without a match. A GPU finds up to 1,024 rows. Lists of another length than ``dimensions`` match nothing; without it all lists have
        one length. The columns are called ``distance`` and ``rank``, or ``distance_2`` and ``rank_2`` if a column has one of these names. Polars has no
        such join.

        >>> import gpuframe
        >>> points = gpuframe.from_columns({"x": [0.0, 3.0], "y": [0.0, 4.0]}, device="host").select(at=gpuframe.concat_list("x", "y"))
        >>> points.join_nearest(points, "at", 2, metric="l2").collect().to_pydict()["distance"]
        [0.0, 5.0, 0.0, 5.0]
        """
        if (on is None) == (left_on is None) or (left_on is None) != (right_on is None):
            raise ArgumentError("pass on=, or left_on= and right_on=")
        if how not in ("left", "inner"):
            raise ArgumentError(f'how={how!r}, expected "left" or "inner"')
        left, right = (on, on) if on is not None else (left_on, right_on)
        members: dict[str, Any] = {"on": _pairs(left, right)[0], "k": k, "metric": metric, "matched_only": how == "inner", "distance": distance or "", "rank": rank or "", "suffix": suffix}
        if dimensions is not None:
            if dimensions < 1:
                raise ArgumentError(f"dimensions={dimensions}, expected 1 or more")
            members["dimensions"] = dimensions
        return self._then("nearest_to", "join_nearest", [other], **members)

    def sort(self, *by: IntoColumns, descending: Union[bool, Sequence[bool]] = False, nulls_last: Union[bool, Sequence[bool]] = False) -> LazyFrame:
        """Order the rows. Rows with equal keys keep their order."""
        return self._then("sort", keys=_keys(by, descending, nulls_last))

    def top_k(self, k: int, *, by: IntoColumns, reverse: Union[bool, Sequence[bool]] = False) -> LazyFrame:
        """Keep the k rows with the largest keys, the largest first. Polars does not promise the order."""
        keys = _keys([by], reverse, True)
        for each in keys:
            each["descending"] = not each["descending"]
        return self._then("top", "top_k", n=k, keys=keys)

    def bottom_k(self, k: int, *, by: IntoColumns, reverse: Union[bool, Sequence[bool]] = False) -> LazyFrame:
        """Keep the k rows with the smallest keys, the smallest first. Polars does not promise the order."""
        return self._then("top", "bottom_k", n=k, keys=_keys([by], reverse, True))

    def head(self, n: int = 5) -> LazyFrame:
        """Keep the first n rows."""
        return self._then("head", n=n)

    limit = head

    def tail(self, n: int = 5) -> LazyFrame:
        """Keep the last n rows."""
        return self._then("tail", n=n)

    def slice(self, offset: int, length: Optional[int] = None) -> LazyFrame:
        """Keep rows after the first ``offset`` rows."""
        return self._then("slice", offset=offset, length=2**63 - 1 - max(offset, 0) if length is None else length)

    def unique(self, subset: Optional[Names] = None) -> LazyFrame:
        """Keep, of rows with equal values in some columns, the first one. Rows keep their order."""
        return self._then("distinct", "unique", columns=[] if subset is None else names_of(subset))

    def except_(self, other: LazyFrame, *, all: bool = False) -> LazyFrame:
        """Keep the rows that another query does not have, each once, or with ``all`` as many times more as it has: EXCEPT of SQL.

        Both have columns of the same names and types. Null equals null. Polars has no such method.
        """
        return self._then("except", "except_", [other], all=all)

    def intersect(self, other: LazyFrame, *, all: bool = False) -> LazyFrame:
        """Keep the rows that another query has too, each once, or with ``all`` as many times as both have it: INTERSECT of SQL."""
        return self._then("intersect", "intersect", [other], all=all)

    def drop_nulls(self, subset: Optional[Names] = None) -> LazyFrame:
        """Leave out rows with a null in some columns, or in any."""
        return self._then("drop_nulls", columns=[] if subset is None else names_of(subset))

    def fill_null(self, value: Any, subset: Optional[Names] = None) -> LazyFrame:
        """Replace nulls by a value in some columns. Without ``subset`` these are the columns that fit the value, for which the schema is read."""
        chosen = self._fitting(value) if subset is None else names_of(subset)
        return self._then("fill_null", value=literal(value), columns=chosen)

    def _fitting(self, value: Any) -> list[str]:
        """Return the columns with a type that a literal fits."""
        kinds = {bool: ("bool",), int: ("int", "uint", "float", "decimal"), float: ("float",), Str: ("utf8", "large_utf8")}
        wanted = kinds.get(type(value))
        if wanted is None:
            raise ArgumentError(f"fill_null of a {type(value).__name__}: pass subset=, the columns to fill")
        return [name for name, kind in self.collect_schema().items() if kind.startswith(wanted)]

    def explode(self, *columns: Names, empty_as_null: bool = True, position: Optional[str] = None) -> LazyFrame:
        """Make a row of each element of the lists in some columns.

        A null or an empty list becomes one row with a null, or none without ``empty_as_null``. ``position`` adds a column of the
        places of the elements in their lists, from 0; Polars has none.
        """
        members: dict[str, Any] = {"columns": _names(columns), "drop_empty": not empty_as_null}
        if position is not None:
            members["position"] = position
        return self._then("explode", **members)

    def unpivot(self, on: Optional[Names] = None, *, index: Optional[Names] = None, variable_name: str = "variable", value_name: str = "value") -> LazyFrame:
        """Make rows of columns: for each of the columns ``on``, all rows with the columns ``index``."""
        kept = [] if index is None else names_of(index)
        columns = [each for each in self.collect_schema() if each not in kept] if on is None else names_of(on)
        made = self._then("unpivot", columns=columns, keep=kept)
        other = {old: new for old, new in (("variable", variable_name), ("value", value_name)) if old != new}
        return made.rename(other) if other else made

    def sample(self, n: Optional[int] = None, *, fraction: Optional[float] = None, with_replacement: bool = False, seed: int = 0,
               by: Optional[IntoColumns] = None, weight: Optional[IntoColumn] = None) -> LazyFrame:
        """Keep n random rows or a fraction of the rows, in their order. The same seed gives the same rows. Polars has it on DataFrames only.

        With ``by``, this is of each group of rows with equal values. With ``weight``, a number of each row, rows are drawn in proportion
        to it; this is of n rows, or of a fraction with ``by``.
        """
        if (n is None) == (fraction is None):
            raise ArgumentError("pass n= or fraction=")
        members: dict[str, Any] = {"seed": seed, "replace": with_replacement}
        if by is not None:
            members["by"] = column_nodes([by])
        if weight is not None:
            members["weight"] = column_node(weight)
        if n is not None:
            return self._then("sample_rows", "sample", n=n, **members)
        return self._then("sample", fraction=fraction, **members)

    def resample(self, at: IntoColumn, every: Any, *aggregates: Union[Expr, Sequence[Expr]], by: Optional[IntoColumns] = None,
                 time_zone: Optional[str] = None, week_start: Optional[str] = None, span: Any = None, offset: Any = None, closed: str = "left",
                 label: str = "left", **named: Expr) -> LazyFrame:
        """Make a row for each window of ``every``, from the first to the last one with rows, in order.

        ``every`` is a timedelta or an integer, or days, weeks, months, quarters or years of the calendar as a str: "1d", "2w", "1mo",
        "1q", "1y". These begin at midnight in ``time_zone``, or else in the zone of the timestamps or in UTC, and weeks on
        ``week_start``, "monday" by default. The columns are ``by``, the beginning of the window, and the aggregates, null for a window
        without rows. Each combination of values of ``by`` has its own windows. Polars' ``group_by_dynamic`` leaves out empty windows.

        ``span`` is the length of a window, Polars' ``period``: above ``every`` windows overlap. ``offset`` moves them, ``closed`` is the ends
        that belong to a window (left, right, both, none), and ``label`` the end that the result has (left, right).
        """
        members: dict[str, Any] = {"every": literal(every)}
        if isinstance(every, str):
            number, unit = number_and_unit(every)
            members = {"calendar": {"number": number, "unit": unit, "zone": time_zone, "week_start": week_start}}
        elif time_zone is not None or week_start is not None:
            raise ArgumentError(f'every={every!r}: time_zone and week_start are of calendars, expected a str such as "1mo"')
        if isinstance(span, str):
            number, unit = number_and_unit(span)
            members["span_calendar"] = {"number": number, "unit": unit}
        elif span is not None:
            members["span"] = literal(span)
        if offset is not None:
            members["offset"] = literal(offset)
        if (closed, label) != ("left", "left"):
            members.update(closed=closed, label=label)
        return self._then("resample", at=column_node(at), by=[] if by is None else column_nodes([by]), aggregates=_named(aggregates, named), **members)

    def cross_tab(self, rows: IntoColumn, columns: IntoColumn, values: Sequence[Any]) -> LazyFrame:
        """Count rows: make a row for each value of ``rows``, in order, and a column for each of some values of ``columns``."""
        return self._then("cross_tab", rows=column_node(rows), columns=column_node(columns), values=[literal(each) for each in values])

    def shuffle(self, seed: int = 0) -> LazyFrame:
        """Return the rows in a random order. The same seed gives the same order. Polars has ``sample(fraction=1, shuffle=True)``."""
        return self._then("shuffle", seed=seed)

    def with_random(self, name: str = "random", *, seed: int = 0) -> LazyFrame:
        """Add a column of random numbers from 0 to 1. The same seed gives the same numbers. Polars has none."""
        return self._then("with_random", name=name, seed=seed)

    def with_row_index(self, name: str = "index") -> LazyFrame:
        """Add a column of the numbers of the rows, from 0. Unlike in Polars it is the last column."""
        return self._then("with_row_number", "with_row_index", name=name)

    def cache(self) -> LazyFrame:
        """Keep the rows for all queries that contain the returned one.

        The first query that runs computes the rows, those that run at the same time wait for it,
        and later ones read what was kept: of files they read the columns' names and types only. Each device keeps its own
        rows, as memory within its budget, and moves them to host memory while memory is short.
        They are released by :meth:`evict`, and when no query contains the returned one any more.
        Polars keeps rows for one query only.
        """
        name = f"cache {next(_caches)}"
        made = self._then("cache", name=name)
        weakref.finalize(made._step, _forget, name).atexit = False
        return made

    def evict(self) -> None:
        """Release the rows that caches of the query keep. A later query computes them again."""
        seen: set[int] = set()
        waiting = [self._step]
        while waiting:
            step = waiting.pop()
            if id(step) in seen:
                continue
            seen.add(id(step))
            waiting.extend(step.inputs)
            if step.verb == "cache":
                library.evict(step.members["name"].encode(), 0)

    def pivot(self, on: IntoColumn, on_columns: Optional[Sequence[Any]] = None, *, index: IntoColumns, values: IntoColumn,
              aggregate_function: Literal["sum", "min", "max", "mean", "median", "first", "last", "count"] = "first") -> LazyFrame:
        """Make a row for each group of ``index``, and a column for each of the values ``on_columns`` of ``on``: an aggregate of ``values``.

        Without ``on_columns`` the query runs once to find the values, which are then in order.
        """
        if aggregate_function not in ("sum", "min", "max", "mean", "median", "first", "last", "count"):
            raise ArgumentError(f"aggregate_function={aggregate_function!r}: expected sum, min, max, mean, median, first, last or count")
        if on_columns is None:
            found = self.select(Expr(column_node(on)).alias("value")).unique().sort("value").collect()
            on_columns = found.to_pydict()["value"]
        aggregate = Expr({"function": aggregate_function, "arguments": [column_node(values)]})
        return self._then("pivot", keys=column_nodes([index]), on=column_node(on), values=[literal(each) for each in on_columns],
                          aggregate=aggregate._node)

    def collect(self, *, device: Place = None, tag: str = "", batch_rows: int = 0) -> Table:
        """Run the query and return its result.

        It runs on the device of its tables, and otherwise on the one that ``device`` or the
        innermost :func:`budget` selects, or on the default device. Data larger than the budget is
        divided. KeyboardInterrupt cancels the run, which leaves nothing behind. ``tag`` names its
        memory in statistics.
        """
        made = self._start("collect", device, tag=tag, batch_rows=batch_rows).only()
        assert made is not None
        return made

    def collect_batches(self, *, device: Place = None, tag: str = "", batch_rows: int = 0) -> Iterator[Table]:
        """Run the query and yield its result in parts, as they come. The run ends if the iterator is closed."""
        return self._start("batches", device, tag=tag, batch_rows=batch_rows).tables()

    def collect_schema(self, *, device: Place = None) -> dict[Str, Str]:
        """Return the names and types of the columns. Only the schemas of the sources are read."""
        return {each["name"]: each["type"] for each in self._answer("schema", device).get("fields", [])}

    def describe(self, *, device: Place = None) -> Table:
        """Run the query and return statistics of its columns, a row for each statistic."""
        made = self._start("describe", device).only()
        assert made is not None
        return made

    def explain(self, *, format: Str = "text", device: Place = None) -> Str:
        """Return the plan as text, as written and as run, or with the format "mermaid" as a flowchart of Mermaid, or "svg" as a picture, as run.

        Only the schemas of the sources are read.
        """
        operations = {"text": "explain", "mermaid": "diagram", "svg": "svg"}
        if format not in operations:
            raise ValueError(f'explain: the format is {format!r}, expected "text", "mermaid" or "svg"')
        text: Str = self._answer(operations[format], device)["text"]
        return text

    def profile(self, *, device: Place = None, tag: str = "", batch_rows: int = 0) -> tuple[Table, Profile]:
        """Run the query and return its result, and what each operation did. It waits for the device after each, so it takes longer."""
        run = self._start("collect", device, tag=tag, batch_rows=batch_rows, profile=True)
        made = run.only()
        assert made is not None
        return made, Profile(run.answer["profile"], run.answer["trace"])

    def sink_parquet(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        compression: str = "snappy",
        compression_level: int = 0,
        row_group_size: int = 0,
        page_rows: int = 0,
        dictionaries: bool = True,
        old_encodings: bool = False,
        bloom_filters: Sequence[str] = (),
        folder: Optional[Folder] = None,
        device: Place = None,
    ) -> int:
        """Run the query and write its result to a Parquet file. A query that fails leaves the file unchanged. Return the number of rows.

        compression is "snappy", "zstd", "gzip", "brotli", "lz4_raw" or "none". A level, a number of rows of a row group or of a page of 0 is
        the usual one. old_encodings leaves out those encodings that some readers from before 2022 do not have. bloom_filters are columns
        with filters, by which readers leave out row groups without a value.

        With folder, which is a :class:`Folder`, path is a folder, or a URL of objects, that gets several files:
        ``sink_parquet("sales", folder=gpuframe.Folder(partition_by=["city"]))``.
        """
        options = {
            "compression": compression,
            "level": compression_level,
            "group_rows": row_group_size,
            "page_rows": page_rows,
            "no_dictionaries": not dictionaries,
            "old_encodings": old_encodings,
            "bloom": list(bloom_filters),
        }
        return self._sink("parquet", path, folder, device, parquet=options)

    def sink_csv(self, path: Union[str, os.PathLike[str]], *, folder: Optional[Folder] = None, device: Place = None) -> int:
        """Run the query and write its result to a CSV file, or to several, as :meth:`sink_parquet`."""
        return self._sink("csv", path, folder, device)

    def sink_ndjson(self, path: Union[str, os.PathLike[str]], *, folder: Optional[Folder] = None, device: Place = None) -> int:
        """Run the query and write its result to a file of JSON lines, or to several, as :meth:`sink_parquet`."""
        return self._sink("json_lines", path, folder, device)

    def sink_ipc(self, path: Union[str, os.PathLike[str]], *, folder: Optional[Folder] = None, device: Place = None) -> int:
        """Run the query and write its result to an Arrow IPC file, or to several, as :meth:`sink_parquet`."""
        return self._sink("ipc", path, folder, device)

    def _sink(self, format: str, path: Union[str, os.PathLike[str]], folder: Optional[Folder], device: Place, **options: Any) -> int:
        if folder is not None:
            options["folder"] = folder._document()
        rows: int = self._answer("write", device, path=os.fspath(path), format=format, **options)["rows"]
        return rows

    def _answer(self, do: str, device: Place, **options: Any) -> dict[str, Any]:
        run = self._start(do, device, **options)
        run.only()
        return run.answer

    def _start(self, do: str, device: Place, **options: Any) -> _runs.Run:
        document, tables, functions = _document(self._step)
        if device is None and tables:
            device = tables[0].device.name
        manager = place(device)
        there = [each if each.device.name == manager.name or not each.nbytes else each.to_device(manager) for each in tables]
        return _runs.Run.start(manager, {"do": do, **options}, document, there, functions, self._step)

    def __repr__(self) -> str:
        verbs = []
        step: Optional[Step] = self._step
        while step is not None:
            verbs.append(step.place["verb"])
            step = step.inputs[0] if step.inputs else None
        return f"<gpuframe.LazyFrame: {'.'.join(reversed(verbs))}; explain() prints its plan, collect() runs it>"


class GroupBy:
    """Rows in groups: see :meth:`LazyFrame.group_by`."""

    __slots__ = ("_frame", "_members")

    def __init__(self, frame: LazyFrame, **members: Any) -> None:
        self._frame, self._members = frame, members

    def agg(self, *aggregates: Union[Expr, Sequence[Expr]], **named: Expr) -> LazyFrame:
        """Make a row for each group: its keys, and the values of expressions of aggregates. The order of the rows is not specified, but the same in every run."""
        return self._frame._then("group", "agg", **self._members, aggregates=_named(aggregates, named))

    def len(self, name: str = "len") -> LazyFrame:
        """Count the rows of each group."""
        return self.agg(Expr({"function": "as", "name": name, "arguments": [{"function": "count_rows"}]}))


def _names(given: Sequence[Names]) -> list[str]:
    return [name for each in given for name in names_of(each)]


def _named(expressions: Sequence[Any], named: Mapping[str, Any]) -> list[Node]:
    """Return expressions, and those that keywords name."""
    return column_nodes(expressions) + [(col(value) if isinstance(value, str) else lit(value)).alias(name)._node for name, value in named.items()]


def _pairs(left: Any, right: Any) -> list[Node]:
    """Return the keys of both sides of a join."""
    if left is None and right is None:
        return []
    if left is None or right is None:
        raise ArgumentError("by_left and by_right are given together, or neither")
    lefts, rights = column_nodes([left]), column_nodes([right])
    if len(lefts) != len(rights):
        raise ArgumentError(f"there are {len(lefts)} left keys and {len(rights)} right keys, expected as many")
    return [{"left": a, "right": b} for a, b in zip(lefts, rights)]


def _keys(by: Sequence[Any], descending: Union[bool, Sequence[bool]], nulls_last: Union[bool, Sequence[bool]]) -> list[Node]:
    """Return the keys of a sort."""
    nodes = column_nodes(by)
    flags = []
    for name, given in (("descending", descending), ("nulls_last", nulls_last)):
        each = [given] * len(nodes) if isinstance(given, bool) else list(given)
        if len(each) != len(nodes):
            raise ArgumentError(f"{name} has {len(each)} values for {len(nodes)} keys")
        flags.append(each)
    return [{"value": node, "descending": bool(down), "nulls_first": not last} for node, down, last in zip(nodes, *flags)]


def concat(items: Sequence[LazyFrame]) -> LazyFrame:
    """Return the rows of queries one after the other. All have columns of the same names and types."""
    frames = list(items)
    if not frames:
        raise ArgumentError("no query is given, expected one or more")
    if not isinstance(frames[0], LazyFrame):
        raise WrongTypeError(f"expected a LazyFrame, not a {type(frames[0]).__name__}: call lazy() of a table")
    return frames[0]._then("union", "concat", frames[1:])
