"""The verbs of queries as methods of tables, which run at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Optional, Sequence, Union

if TYPE_CHECKING:
    from .expressions import Expr, IntoExpr
    from .lazy import GroupBy, IntoColumn, IntoColumns, JoinKind, LazyFrame
    from .table import Names, Table

    Other = Union[Table, LazyFrame]


class Verbs:
    """Methods of a table that run a query on it and return its result, on the table's device.

    Each is the method of the same name of :class:`LazyFrame`, with its meaning. Memory of results is within the innermost
    :func:`budget`, whatever the table's was. Several verbs in a row are one query, with
    fewer passes and less memory, if they are methods of :meth:`Table.lazy`.

    >>> import gpuframe
    >>> from gpuframe import col
    >>> sales = gpuframe.Table.from_columns({"shop": [1, 2, 1], "price": [60, 55, 20]}, device="host")
    >>> sales.filter(col("price") > 30).with_columns(half=col("price") / 2).to_pydict()
    {'shop': [1, 2], 'price': [60, 55], 'half': [30.0, 27.5]}
    >>> sales.group_by("shop").agg(col("price").sum()).sort("shop").to_pydict()
    {'shop': [1, 2], 'price': [80, 55]}
    """

    __slots__ = ()

    def lazy(self) -> LazyFrame:
        raise NotImplementedError

    def sql(self, query: str, *, table_name: str = "self", parameters: Sequence[Any] = ()) -> Table:
        """Run a statement in SQL, in which ``table_name`` names the table: see :func:`gpuframe.sql`."""
        return self.lazy().sql(query, table_name=table_name, parameters=parameters).collect()

    def filter(self, *conditions: Expr) -> Table:
        """Return the rows in which all conditions are true, not false or null."""
        return self.lazy().filter(*conditions).collect()

    def with_columns(self, *expressions: IntoColumns, **named: IntoExpr) -> Table:
        """Return the table with more columns. A column with the name of another takes its place."""
        return self.lazy().with_columns(*expressions, **named).collect()

    def map_batches(self, function: Callable[[Table], Any], schema: Mapping[str, Any], *, pure: bool = False) -> Table:
        """Return the columns that a function computes of each batch of rows: see :meth:`LazyFrame.map_batches`."""
        return self.lazy().map_batches(function, schema, pure=pure).collect()

    def group_by(self, *keys: IntoColumns) -> TableGroups:
        """Divide the rows into groups with equal keys. Null is a key like any other."""
        return TableGroups(self.lazy().group_by(*keys))

    def rollup(self, *keys: IntoColumns) -> TableGroups:
        """Divide the rows into groups by all keys, then by all but the last one, and so on: see :meth:`LazyFrame.rollup`."""
        return TableGroups(self.lazy().rollup(*keys))

    def cube(self, *keys: IntoColumns) -> TableGroups:
        """Divide the rows into groups by each subset of the keys: see :meth:`LazyFrame.cube`."""
        return TableGroups(self.lazy().cube(*keys))

    def grouping_sets(self, *sets: Names) -> TableGroups:
        """Divide the rows into groups by each of several sets of columns: see :meth:`LazyFrame.grouping_sets`."""
        return TableGroups(self.lazy().grouping_sets(*sets))

    def join(self, other: Other, on: Optional[IntoColumns] = None, how: JoinKind = "inner", *, left_on: Optional[IntoColumns] = None,
             right_on: Optional[IntoColumns] = None, suffix: str = "_right", nulls_equal: bool = False, where: Optional[Expr] = None) -> Table:
        """Match the rows with those of another table or query: see :meth:`LazyFrame.join`."""
        return self.lazy().join(lazy_of(other), on, how, left_on=left_on, right_on=right_on, suffix=suffix, nulls_equal=nulls_equal, where=where).collect()

    def join_asof(self, other: Other, on: Optional[IntoColumn] = None, *, left_on: Optional[IntoColumn] = None,
                  right_on: Optional[IntoColumn] = None, by: Optional[IntoColumns] = None, by_left: Optional[IntoColumns] = None,
                  by_right: Optional[IntoColumns] = None, strategy: Literal["backward", "forward", "nearest"] = "backward",
                  tolerance: Any = None, allow_exact_matches: bool = True, suffix: str = "_right") -> Table:
        """Match each row with the row of another table or query with the nearest key: see :meth:`LazyFrame.join_asof`."""
        return self.lazy().join_asof(lazy_of(other), on, left_on=left_on, right_on=right_on, by=by, by_left=by_left, by_right=by_right,
                                     strategy=strategy, tolerance=tolerance, allow_exact_matches=allow_exact_matches, suffix=suffix).collect()

    def join_nearest(self, other: Other, on: Optional[IntoColumn] = None, k: int = 1, *, left_on: Optional[IntoColumn] = None,
                     right_on: Optional[IntoColumn] = None, metric: Literal["l2", "cosine", "dot"] = "l2", how: Literal["left", "inner"] = "left",
                     dimensions: Optional[int] = None, distance: str = "distance", rank: str = "rank", suffix: str = "_right") -> Table:
        """Match each row with the k nearest rows of another table or query by two vectors: see :meth:`LazyFrame.join_nearest`."""
        return self.lazy().join_nearest(lazy_of(other), on, k, left_on=left_on, right_on=right_on, metric=metric, how=how, dimensions=dimensions,
                                        distance=distance, rank=rank, suffix=suffix).collect()

    def sort(self, *by: IntoColumns, descending: Union[bool, Sequence[bool]] = False, nulls_last: Union[bool, Sequence[bool]] = False) -> Table:
        """Return the rows in order. Rows with equal keys keep their order."""
        return self.lazy().sort(*by, descending=descending, nulls_last=nulls_last).collect()

    def top_k(self, k: int, *, by: IntoColumns, reverse: Union[bool, Sequence[bool]] = False) -> Table:
        """Return the k rows with the largest keys, the largest first."""
        return self.lazy().top_k(k, by=by, reverse=reverse).collect()

    def bottom_k(self, k: int, *, by: IntoColumns, reverse: Union[bool, Sequence[bool]] = False) -> Table:
        """Return the k rows with the smallest keys, the smallest first."""
        return self.lazy().bottom_k(k, by=by, reverse=reverse).collect()

    def unique(self, subset: Optional[Names] = None) -> Table:
        """Return, of rows with equal values in some columns, the first one."""
        return self.lazy().unique(subset).collect()

    def drop_nulls(self, subset: Optional[Names] = None) -> Table:
        """Return the rows without a null in some columns, or in any."""
        return self.lazy().drop_nulls(subset).collect()

    def fill_null(self, value: Any, subset: Optional[Names] = None) -> Table:
        """Replace nulls by a value in some columns, or in those that fit it."""
        return self.lazy().fill_null(value, subset).collect()

    def explode(self, *columns: Names, empty_as_null: bool = True, position: Optional[str] = None) -> Table:
        """Make a row of each element of the lists in some columns: see :meth:`LazyFrame.explode`."""
        return self.lazy().explode(*columns, empty_as_null=empty_as_null, position=position).collect()

    def unpivot(self, on: Optional[Names] = None, *, index: Optional[Names] = None, variable_name: str = "variable", value_name: str = "value") -> Table:
        """Make rows of columns: for each of the columns ``on``, all rows with the columns ``index``."""
        return self.lazy().unpivot(on, index=index, variable_name=variable_name, value_name=value_name).collect()

    def pivot(self, on: str, on_columns: Optional[Sequence[Any]] = None, *, index: IntoColumns, values: IntoColumn,
              aggregate_function: Literal["sum", "min", "max", "mean", "median", "first", "last", "count"] = "first") -> Table:
        """Make a row for each group of ``index``, and a column for each value of ``on``: an aggregate of ``values``.

        Without ``on_columns`` these are all values of ``on`` but null, in order.
        """
        query = self.lazy()
        if on_columns is None:
            on_columns = query.select(on).drop_nulls().unique().sort(on).collect().column(on).tolist()
        return query.pivot(on, on_columns, index=index, values=values, aggregate_function=aggregate_function).collect()

    def sample(self, n: Optional[int] = None, *, fraction: Optional[float] = None, with_replacement: bool = False, seed: int = 0,
               by: Optional[IntoColumns] = None, weight: Optional[IntoColumn] = None) -> Table:
        """Return n random rows or a fraction of the rows: see :meth:`LazyFrame.sample`."""
        return self.lazy().sample(n, fraction=fraction, with_replacement=with_replacement, seed=seed, by=by, weight=weight).collect()

    def shuffle(self, seed: int = 0) -> Table:
        """Return the rows in a random order. The same seed gives the same order."""
        return self.lazy().shuffle(seed).collect()

    def with_row_index(self, name: str = "index") -> Table:
        """Add a column of the numbers of the rows, from 0. Unlike in Polars it is the last column."""
        return self.lazy().with_row_index(name).collect()

    def except_(self, other: Other, *, all: bool = False) -> Table:
        """Return the rows that another table or query does not have: see :meth:`LazyFrame.except_`."""
        return self.lazy().except_(lazy_of(other), all=all).collect()

    def intersect(self, other: Other, *, all: bool = False) -> Table:
        """Return the rows that another table or query has too: see :meth:`LazyFrame.intersect`."""
        return self.lazy().intersect(lazy_of(other), all=all).collect()

    def resample(self, at: IntoColumn, every: Any, *aggregates: Union[Expr, Sequence[Expr]], by: Optional[IntoColumns] = None,
                 time_zone: Optional[str] = None, week_start: Optional[str] = None, span: Any = None, offset: Any = None, closed: str = "left",
                 label: str = "left", **named: Expr) -> Table:
        """Make a row for each window of ``every``: see :meth:`LazyFrame.resample`."""
        return self.lazy().resample(at, every, *aggregates, by=by, time_zone=time_zone, week_start=week_start, span=span, offset=offset,
                                    closed=closed, label=label, **named).collect()

    def cross_tab(self, rows: IntoColumn, columns: IntoColumn, values: Sequence[Any]) -> Table:
        """Count rows: make a row for each value of ``rows``, in order, and a column for each of some values of ``columns``."""
        return self.lazy().cross_tab(rows, columns, values).collect()

    def with_random(self, name: str = "random", *, seed: int = 0) -> Table:
        """Add a column of random numbers from 0 to 1. The same seed gives the same numbers."""
        return self.lazy().with_random(name, seed=seed).collect()

    def require(self, condition: Expr, message: str = "") -> Table:
        """Return the table, or raise InvalidDataError with the message if the condition is not true of a row."""
        return self.lazy().require(condition, message).collect()

    def describe(self) -> Table:
        """Return statistics of the columns, a row for each statistic."""
        return self.lazy().describe()


class TableGroups:
    """Rows of a table in groups: see :meth:`Table.group_by`."""

    __slots__ = ("_groups",)

    def __init__(self, groups: GroupBy) -> None:
        self._groups = groups

    def agg(self, *aggregates: Union[Expr, Sequence[Expr]], **named: Expr) -> Table:
        """Return a row for each group: its keys, and the values of expressions of aggregates, in no specified order."""
        return self._groups.agg(*aggregates, **named).collect()

    def len(self, name: str = "len") -> Table:
        """Return the number of rows of each group."""
        return self._groups.len(name).collect()


def lazy_of(other: Any) -> Any:
    """Return the query of a table. Others are checked where they are used."""
    return other.lazy() if isinstance(other, Verbs) else other
