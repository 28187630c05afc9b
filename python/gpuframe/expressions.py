"""Expressions on the columns of a query.

They are documents that the library checks when a query runs: until then no name and no type is
wrong. Names and meanings are those of Polars, unless a docstring states otherwise.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import Any, Callable, Iterable, Literal, NoReturn, Optional, Sequence, Union

from ._calls import BatchFunction
from ._functions import Aggregates, Functions, ListFunctions, StringFunctions, TemporalFunctions
from ._literals import Node, literal
from ._types import type_name
from .column import Column
from .errors import ArgumentError, WrongTypeError

#: The class Expr has a property of this name.
Str = str

#: An operand: an expression, or a value as a literal.
IntoExpr = Any


def node_of(value: IntoExpr) -> Node:
    """Return the document of an expression; other values are literals."""
    if isinstance(value, Expr):
        return value._node
    if isinstance(value, (Filtered, When, Then)):
        raise WrongTypeError(f"{value!r} is not a whole expression")
    return literal(value)


def column_node(value: Union[str, Expr]) -> Node:
    """Return the document of an expression; a str is a column."""
    return col(value)._node if isinstance(value, str) else node_of(value)


def column_nodes(values: Iterable[Any]) -> list[Node]:
    """Return the documents of expressions, which may be in lists; a str is a column."""
    made: list[Node] = []
    for each in values:
        if isinstance(each, (list, tuple)):
            made.extend(column_nodes(each))
        else:
            made.append(column_node(each))
    return made


def call(function: str, *arguments: IntoExpr, **members: Any) -> Expr:
    """Return an expression of a function."""
    return Expr({"function": function, **({"arguments": [node_of(each) for each in arguments]} if arguments else {}), **members})


class _Aggregates(Aggregates):
    """Aggregates: of the rows of a group in ``agg``, otherwise of all rows, or of a partition with :meth:`Expr.over`."""

    __slots__ = ()

    def n_unique(self) -> Expr:
        """The number of distinct values; null is one."""
        return self._call("count_distinct") + self.null_count().clip(0, 1)

    def first(self, ignore_nulls: bool = False) -> Expr:
        """The value of the first row or, with ignore_nulls, the first that is not null."""
        return self._row("first", ignore_nulls)

    def last(self, ignore_nulls: bool = False) -> Expr:
        """The value of the last row or, with ignore_nulls, the last that is not null."""
        return self._row("last", ignore_nulls)

    def _row(self, function: str, ignore_nulls: bool) -> Expr:
        aggregate = self._call(function)
        return call("skip_nulls", aggregate) if ignore_nulls else aggregate

    def quantile(self, quantile: float, interpolation: str = "linear") -> Expr:
        """The value below which a fraction of the values lies.

        ``interpolation`` is linear, as float64, or lower, higher, nearest, midpoint or discrete, the first value up to which the fraction lies.
        Polars' default is nearest.
        """
        if interpolation == "linear":
            return self._call("quantile", q=float(quantile))
        return self._call("quantile_with", q=float(quantile), interpolation=interpolation)

    def kurtosis(self, *, fisher: bool = True, bias: bool = True) -> Expr:
        """The fourth standardized moment, minus 3 with fisher.

        Without bias it is corrected for the number of values, as pandas' ``kurt`` is, and null for fewer than four values.
        """
        excess = self._call("kurtosis_pop" if bias else "kurtosis")
        return excess if fisher else excess + 3

    def implode(self, ignore_nulls: bool = False) -> Expr:
        """The list of the values, with nulls unless ignore_nulls is set."""
        return self._row("list", ignore_nulls)


class Filtered(_Aggregates):
    """An expression of some rows, for aggregates: see :meth:`Expr.filter`."""

    __slots__ = ("_of", "_condition")

    def __init__(self, of: Expr, condition: Expr) -> None:
        self._of, self._condition = of, condition

    def _call(self, function: str, *arguments: IntoExpr, **members: Any) -> Expr:
        return call("where", call(function, self._of, *arguments, **members), self._condition)

    def __repr__(self) -> str:
        return f"{self._of!r}.filter({self._condition!r})"


class Expr(_Aggregates, Functions):
    """An expression on the columns of a query: a column, a literal, an operation, an aggregate or a window.

    The arguments of operators and methods are expressions or Python values. A str is a literal,
    except where an argument names a column.

    >>> import gpuframe
    >>> (gpuframe.col("price") * gpuframe.col("qty")).sum().alias("revenue")
    as(sum(mul(price, qty)), name='revenue')
    """

    __slots__ = ("_node",)

    _node: Node

    def __init__(self, node: Node) -> None:
        if not isinstance(node, dict):
            raise TypeError("an Expr cannot be constructed: call gpuframe.col or gpuframe.lit")
        self._node = node

    def _call(self, function: Str, *arguments: IntoExpr, **members: Any) -> Expr:
        return call(function, self, *arguments, **members)

    def filter(self, *conditions: Expr) -> Filtered:
        """The rows in which all conditions are true, for an aggregate: ``col("x").filter(col("y") > 1).sum()``."""
        return Filtered(self, _all(conditions))

    def over(self, *keys: Union[Str, Expr, Sequence[Union[Str, Expr]]], order_by: Union[Str, Expr, Sequence[Union[Str, Expr]], None] = None,
             descending: bool = False, nulls_last: bool = False, rows: Union[tuple[Union[int, None], Union[int, None]], None] = None,
             range: Union[tuple[Any, Any], None] = None, min_samples: int = 0) -> Expr:
        """Give each row the aggregates of the rows with equal keys: ``col("x").sum().over("day")``.

        ``order_by`` orders these rows, for functions such as :meth:`shift` and :meth:`cum_sum`. ``rows`` restricts aggregates to
        the rows between two, relative to the row: ``rows=(-6, 0)`` are the row and the six before it, None is no limit. ``range``
        restricts them to rows with an ``order_by`` key between two differences to the row's: ``range=(timedelta(days=-7), None)``. Dates
        and timestamps have differences of the calendar too, in the time zone of the key: ``range=("-1mo", 0)``, of "d", "w", "mo", "q" or
        "y". With fewer values than ``min_samples`` aggregates are null. Polars has none of these.
        """
        members: dict[Str, Any] = {"by": column_nodes(keys)}
        if order_by is not None:
            members["order"] = [{"value": each, "descending": descending, "nulls_first": not nulls_last} for each in column_nodes([order_by])]
        if rows is not None:
            members["rows"] = list(rows)
        if range is not None:
            members["range"] = [None if each is None else _distance(each) for each in range]
        if min_samples:
            members["at_least"] = min_samples
        return call("over", self, **members)

    def order_by(self, *keys: Union[Str, Expr], descending: bool = False, nulls_last: bool = True) -> Expr:
        """Make :meth:`first`, :meth:`last`, :meth:`implode` and ``str.join`` read the rows in an order: ``col("x").first().order_by("ts")``.

        Polars has ``col("x").sort_by("ts").first()``.
        """
        order = [{"value": each, "descending": descending, "nulls_first": not nulls_last} for each in column_nodes(keys)]
        return call("order_by", self, order=order)

    def hash(self, *others: IntoExpr) -> Expr:
        """A hash of the values, also with those of other expressions: the same on all devices and in all releases, unlike Polars'. Null has one too."""
        return call("hash", self, *others)

    def shift(self, n: int = 1, *, fill_value: IntoExpr = None) -> Expr:
        """The value n rows before, of :meth:`over` or of all rows; fill_value without one."""
        if fill_value is not None:
            return call("lag_or", self, fill_value, n=n) if n >= 0 else call("lead_or", self, fill_value, n=-n)
        return call("lag", self, n=n) if n >= 0 else call("lead", self, n=-n)

    def ewm_mean_by(self, by: Union[Str, Expr], *, half_life: Any) -> Expr:
        """The mean of the values up to the row in the order of the times ``by``: the weight of the mean before halves with each ``half_life``.

        The half-life is a timedelta, a length such as "90m", "4d" or "2w", or a number if the times are numbers. Rows without a value have
        the mean before them; Polars' is null.
        """
        if isinstance(half_life, str):
            number, unit = number_and_unit(half_life, "half_life")
            if unit not in _LENGTHS:
                raise ArgumentError(f"half_life={half_life!r}: {unit}s do not all have one length")
            half_life = number * _LENGTHS[unit]
        elif half_life is None:
            raise ArgumentError(f"half_life={half_life!r}, expected a timedelta, a length such as \"4d\", or a number")
        return call("exponential_mean_by", self, by if isinstance(by, Expr) else col(by), half_life=literal(half_life))

    def diff(self, n: int = 1) -> Expr:
        """The value minus that n rows before, of :meth:`over` or of all rows; null without one."""
        return call("difference", self, n=n) if n >= 0 else self - self.shift(n)

    def cut(self, breaks: Sequence[IntoExpr], *, labels: Optional[Sequence[Str]] = None, left_closed: bool = False) -> Expr:
        """The number of the bin of the value, from 0, or its label: ascending breaks end the bins and belong to them, or begin them if ``left_closed``.

        Without ``labels`` Polars' bins are texts such as ``(0, 15]``.
        """
        binned = call("cut_left" if left_closed else "cut", self, *breaks)
        return binned if labels is None else _labelled(binned, labels, len(breaks) + 1).alias_of(self)

    def qcut(self, quantiles: Union[int, Sequence[float]], *, labels: Optional[Sequence[Str]] = None) -> Expr:
        """The number of the bin of the value, from 0, or its label: bins of about the same number of rows, or between quantiles.

        The bins are of :meth:`over` or of all rows. Equal values are in one bin, so a bin may be empty.
        """
        if isinstance(quantiles, int):
            binned, bins = call("qcut", self, n=quantiles), quantiles
        else:
            binned, bins = self.cut([self.quantile(each) for each in quantiles]), len(quantiles) + 1
        return binned if labels is None else _labelled(binned, labels, bins).alias_of(self)

    def interpolate_by(self, by: Union[Str, Expr]) -> Expr:
        """The same as :meth:`interpolate` for rows at places, numbers or times: usually the key of ``order_by``."""
        return Expr({"function": "interpolate_by", "arguments": [self._node, column_node(by)]})

    def pct_change(self, n: int = 1) -> Expr:
        """The difference to the value n rows before, divided by that value, of :meth:`over` or of all rows."""
        return call("percent_change", self, n=n) if n >= 0 else self / self.shift(n) - 1

    def nth(self, n: int) -> Expr:
        """The value of row n of the rows of :meth:`over`, from 0, or null if there are fewer. Polars has it as ``get``."""
        if n < 0:
            raise ArgumentError(f"n={n}, expected 0 or more")
        return call("nth", self, n=n + 1)

    def rank(self, method: Literal["min", "dense", "ordinal"] = "min", *, descending: bool = False) -> Expr:
        """The rank among all rows, from 1. Nulls come last, and have a rank; Polars' default method is "average"."""
        functions = {"min": "rank", "dense": "dense_rank", "ordinal": "row_number"}
        if method not in functions:
            raise ArgumentError(f"method={method!r}: expected min, dense or ordinal")
        return call(functions[method]).over(order_by=self, descending=descending, nulls_last=True).alias_of(self)

    def __add__(self, other: IntoExpr) -> Expr:
        return call("concat" if isinstance(other, str) else "add", self, other)

    def __radd__(self, other: IntoExpr) -> Expr:
        return call("concat" if isinstance(other, str) else "add", other, self)

    def __sub__(self, other: IntoExpr) -> Expr:
        return call("sub", self, other)

    def __rsub__(self, other: IntoExpr) -> Expr:
        return call("sub", other, self)

    def __mul__(self, other: IntoExpr) -> Expr:
        return call("mul", self, other)

    def __rmul__(self, other: IntoExpr) -> Expr:
        return call("mul", other, self)

    def map_batches(self, function: Callable[[Column], Any], return_dtype: Any, *, pure: bool = False) -> Expr:
        """The result of a Python function of the column, called for one batch of rows after the other: see :func:`gpuframe.map_batches`."""
        return batch_call(BatchFunction.of_columns(function, return_dtype, pure, single=True), [self])

    def __truediv__(self, other: IntoExpr) -> Expr:
        return call("true_div", self, other)

    def __rtruediv__(self, other: IntoExpr) -> Expr:
        return call("true_div", other, self)

    def __floordiv__(self, other: IntoExpr) -> Expr:
        return call("floor_div", self, other)

    def __rfloordiv__(self, other: IntoExpr) -> Expr:
        return call("floor_div", other, self)

    def __mod__(self, other: IntoExpr) -> Expr:
        return call("floor_mod", self, other)

    def __rmod__(self, other: IntoExpr) -> Expr:
        return call("floor_mod", other, self)

    def __pow__(self, other: IntoExpr) -> Expr:
        return call("pow", self, other)

    def __rpow__(self, other: IntoExpr) -> Expr:
        return call("pow", other, self)

    def __neg__(self) -> Expr:
        return call("neg", self)

    def __abs__(self) -> Expr:
        return self.abs()

    def __eq__(self, other: IntoExpr) -> Expr:  # type: ignore[override]
        return call("eq", self, other)

    def __ne__(self, other: IntoExpr) -> Expr:  # type: ignore[override]
        return call("ne", self, other)

    def __lt__(self, other: IntoExpr) -> Expr:
        return call("lt", self, other)

    def __le__(self, other: IntoExpr) -> Expr:
        return call("le", self, other)

    def __gt__(self, other: IntoExpr) -> Expr:
        return call("gt", self, other)

    def __ge__(self, other: IntoExpr) -> Expr:
        return call("ge", self, other)

    def __and__(self, other: IntoExpr) -> Expr:
        return call("and", self, other)

    def __rand__(self, other: IntoExpr) -> Expr:
        return call("and", other, self)

    def __or__(self, other: IntoExpr) -> Expr:
        return call("or", self, other)

    def __ror__(self, other: IntoExpr) -> Expr:
        return call("or", other, self)

    def __xor__(self, other: IntoExpr) -> Expr:
        return call("xor", self, other)

    def __rxor__(self, other: IntoExpr) -> Expr:
        return call("xor", other, self)

    def __invert__(self) -> Expr:
        return call("not", self)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise WrongTypeError("an expression has no truth value before it runs: combine conditions with & | ~, use is_in and is_between")

    def __iter__(self) -> NoReturn:
        raise WrongTypeError("an expression cannot be iterated: collect the query, and read a column of its result")

    def is_between(self, lower: IntoExpr, upper: IntoExpr, closed: Literal["both", "left", "right", "none"] = "both") -> Expr:
        """Whether the value lies between two others."""
        if closed not in ("both", "left", "right", "none"):
            raise ArgumentError(f"closed={closed!r}: expected both, left, right or none")
        above = call("ge" if closed in ("both", "left") else "gt", self, lower)
        return above & call("le" if closed in ("both", "right") else "lt", self, upper)

    def is_in(self, values: Iterable[Any]) -> Expr:
        """Whether the value is one of some values. It is null for null, and if no value is equal and one of them is None."""
        if isinstance(values, (str, bytes)):
            raise WrongTypeError(f"values={values!r}: expected a list of values")
        return call("in", self, *values)

    def is_not_nan(self) -> Expr:
        """Whether a float is a number."""
        return ~self.is_nan()

    def fill_nan(self, value: IntoExpr) -> Expr:
        """Another value for floats that are not a number."""
        return when(self.is_nan()).then(value).otherwise(self).alias_of(self)

    def round(self, decimals: int = 0) -> Expr:
        """The nearest number with some digits behind the point: floats half to even, decimals half away from zero; -2 rounds to hundreds.

        Unlike in Polars, integers become floats.
        """
        return call("round_digits", self, digits=decimals) if decimals else call("round", self)

    def alias_of(self, other: Expr) -> Expr:
        """Give the result the name of another expression."""
        name = _name(other._node)
        return self if name is None else self.alias(name)

    @property
    def str(self) -> StringExpr:
        """Functions of strings."""
        return StringExpr(self)

    @property
    def list(self) -> ListExpr:
        """Functions of lists."""
        return ListExpr(self)

    @property
    def dt(self) -> TemporalExpr:
        """Functions of dates and times."""
        return TemporalExpr(self)

    def __repr__(self) -> Str:
        return _text(self._node)


def _labelled(binned: Expr, labels: Sequence[str], bins: int) -> Expr:
    """Return the labels of numbers of bins."""
    if len(labels) != bins:
        raise ArgumentError(f"labels has {len(labels)} texts for {bins} bins")
    pairs = [each for number, label in enumerate(labels) for each in (binned == number, lit(label))]
    return call("case", *pairs, lit(None))


def _name(node: Node) -> Any:
    """Return the name of an expression's result, or None for that of a literal."""
    while node["function"] not in ("column", "as"):
        arguments = node.get("arguments")
        if not arguments:
            return None
        node = arguments[1 if node["function"] in ("if", "case") else 0]
    return node["name"]


def _text(node: Node) -> str:
    """Return an expression as text."""
    function = node["function"]
    if function == "column":
        return str(node["name"])
    if function == "literal":
        return repr(node["value"])
    parts = [_text(each) for each in node.get("arguments", [])]
    for name, value in node.items():
        if name == "by":
            parts.append(f"by=[{', '.join(map(_text, value))}]")
        elif name == "order":
            parts.append(f"order_by=[{', '.join(_text(each['value']) for each in value)}]")
        elif name not in ("function", "arguments"):
            parts.append(f"{name}={value!r}")
    return f"{function}({', '.join(parts)})"


def _all(conditions: Sequence[Any]) -> Expr:
    if not conditions:
        raise ArgumentError("no condition is given, expected one or more")
    made = lit(conditions[0])
    for each in conditions[1:]:
        made = made & each
    return made


class StringExpr(StringFunctions):
    """Functions of strings: ``col("name").str``. Patterns are literal text, not regular expressions."""

    __slots__ = ("_of",)

    def __init__(self, of: Expr) -> None:
        self._of = of

    def _call(self, function: str, *arguments: IntoExpr, **members: Any) -> Expr:
        return call(function, self._of, *arguments, **members)

    def like(self, pattern: str, escape: Union[str, None] = None) -> Expr:
        """Whether the string matches a pattern of SQL: % is any number of characters, _ is one."""
        return call("like", self._of, pattern=pattern, **({} if escape is None else {"escape": escape}))

    def find(self, pattern: IntoExpr) -> Expr:
        """The position of a text, or null. It is in characters from 0; Polars' is in bytes. A str is a text, not a column."""
        at = call("find", self._of, pattern)
        return when(at > 0).then(at - 1).otherwise(None)

    def slice(self, offset: Union[int, Expr], length: Union[int, Expr, None] = None) -> Expr:
        """Some characters from an offset on, which counts from the end if it is negative. Both may be computed."""
        if isinstance(offset, Expr) or isinstance(length, Expr):
            start = when(offset < 0).then(offset).otherwise(offset + 1) if isinstance(offset, Expr) else offset + 1 if offset >= 0 else offset
            return call("substring_at", self._of, start, 2**31 - 1 if length is None else length)
        return call("substring", self._of, start=offset + 1 if offset >= 0 else offset, length=2**31 - 1 if length is None else length)

    def head(self, n: int) -> Expr:
        """The first n characters."""
        return self.slice(0, n)

    def split_part(self, by: str, index: int) -> Expr:
        """A part of the string that is split at a text; 0 is the first. It is null if there are fewer. Polars has ``split(by).list.get(index)``."""
        return call("split_part", self._of, separator=by, number=index + 1)

    def encode(self, encoding: str) -> Expr:
        """The bytes as text: "hex" or "base64"."""
        if encoding not in ("hex", "base64"):
            raise ArgumentError(f'encoding={encoding!r}: expected "hex" or "base64"')
        return call(encoding, self._of)

    def decode(self, encoding: str) -> Expr:
        """The bytes of text in "hex" or "base64", as binary. They are null for other text."""
        if encoding not in ("hex", "base64"):
            raise ArgumentError(f'encoding={encoding!r}: expected "hex" or "base64"')
        return call("un" + encoding, self._of)

    def strptime(self, dtype: Any, format: str) -> Expr:
        """The date32 or timestamp that the string has in a format, or null: "%Y-%m-%d %H:%M:%S"."""
        return call("parse_time", self._of, format=format, type=type_name(dtype))

    def find_regex(self, pattern: str) -> Expr:
        """The character at which the first match of a regular expression begins, from 0. It is null without a match."""
        at = call("find_regex", self._of, pattern=pattern)
        return when(at > 0).then(at - 1).otherwise(None)


class ListExpr(ListFunctions):
    """Functions of lists: ``col("tags").list``. Folds skip nulls, and are null without values."""

    __slots__ = ("_of",)

    def __init__(self, of: Expr) -> None:
        self._of = of

    def _call(self, function: str, *arguments: IntoExpr, **members: Any) -> Expr:
        return call(function, self._of, *arguments, **members)

    def slice(self, offset: int, length: Union[int, None] = None) -> Expr:
        """Some elements from an offset on, which counts from the end if it is negative."""
        return call("list_slice", self._of, **{"from": offset, "most": 2**31 - 1 if length is None else length})

    def sort(self, *, descending: bool = False) -> Expr:
        """The elements in order, nulls last."""
        return call("list_sort_descending" if descending else "list_sort", self._of)

    def dot(self, other: IntoExpr) -> Expr:
        """The dot product of two vectors in float64. The other one is an expression, or numbers as for :func:`vector`."""
        return call("dot", self._of, _vector_operand(other))

    def cosine_similarity(self, other: IntoExpr) -> Expr:
        """The cosine of the angle between two vectors, null if one of them has the length zero: as :meth:`dot`."""
        return call("cosine_similarity", self._of, _vector_operand(other))

    def l2_distance(self, other: IntoExpr) -> Expr:
        """The Euclidean distance of two vectors: as :meth:`dot`."""
        return call("l2_distance", self._of, _vector_operand(other))


#: Polars' letters of durations, and the units of :meth:`TemporalExpr.truncate`.
_UNITS = {"y": "year", "q": "quarter", "mo": "month", "w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond", "us": "microsecond"}


#: The lengths of units that always have the same.
_LENGTHS = {"week": datetime.timedelta(weeks=1), "day": datetime.timedelta(days=1), "hour": datetime.timedelta(hours=1), "minute": datetime.timedelta(minutes=1),
            "second": datetime.timedelta(seconds=1), "millisecond": datetime.timedelta(milliseconds=1), "microsecond": datetime.timedelta(microseconds=1)}


def number_and_unit(every: str, name: str = "every") -> tuple[int, str]:
    """Return the number and the unit of a length of time such as "15m"."""
    match = re.fullmatch(r"(\d{0,9})(y|q|mo|w|d|h|m|s|ms|us)", every)
    unit = _UNITS[match[2]] if match else every
    if unit not in _UNITS.values():
        raise ArgumentError(f"{name}={every!r}: expected a number and a unit, one of {', '.join('1' + each for each in _UNITS)}")
    return int(match[1] or 1) if match else 1, unit


def _distance(bound: Any) -> Any:
    """Return a bound of a range: a literal, or steps of the calendar such as "-1mo"."""
    if not isinstance(bound, str):
        return literal(bound)
    back = bound.startswith("-")
    number, unit = number_and_unit(bound.removeprefix("-"), "range")
    if unit in _LENGTHS and unit not in ("day", "week"):
        raise ArgumentError(f"range={bound!r}: expected days, weeks, months, quarters or years, or a timedelta for parts of a day")
    return {"calendar": {"number": -number if back else number, "unit": unit}}


class TemporalExpr(TemporalFunctions):
    """Functions of dates and times: ``col("when").dt``. Parts of timestamps are those in UTC."""

    __slots__ = ("_of",)

    def __init__(self, of: Expr) -> None:
        self._of = of

    def _call(self, function: str, *arguments: IntoExpr, **members: Any) -> Expr:
        return call(function, self._of, *arguments, **members)

    def weekday(self) -> Expr:
        """The day of the week: Monday is 1, Sunday is 7."""
        return call("weekday", self._of) + 1

    def truncate(self, every: str) -> Expr:
        """The beginning of the unit or of several: "1y", "1q", "1mo", "1w" (Monday), "1d", "1h", "15m", "1s", "1ms", "1us"."""
        return self._multiple("floor_to", every)

    def round(self, every: str) -> Expr:
        """The nearest beginning of a unit or of several, the later one of two: see truncate."""
        return self._multiple("round_to", every)

    def ceil(self, every: str) -> Expr:
        """The beginning of a unit or of several that is not earlier: see truncate."""
        return self._multiple("ceil_to", every)

    def _multiple(self, function: str, every: str) -> Expr:
        number, unit = number_and_unit(every)
        return call(function, self._of, number=number, unit=unit)

    def offset_by(self, by: str) -> Expr:
        """A date or timestamp moved by years, months, weeks and days: "1y", "-3mo", "2w1d". A day that the month lacks becomes its last day."""
        match = re.fullmatch(r"(-?)(?:(\d+)y)?(?:(\d+)q)?(?:(\d+)mo)?(?:(\d+)w)?(?:(\d+)d)?", by)
        if not match or not any(match.groups()[1:]):
            raise ArgumentError(f'by={by!r}: expected a number of years, quarters, months, weeks or days such as "1y", "-3mo" or "2w1d"')
        sign = -1 if match[1] else 1
        years, quarters, months, weeks, days = (int(each or 0) * sign for each in match.groups()[1:])
        made = self._of
        if years or quarters or months:
            made = call("add_months", made, years * 12 + quarters * 3 + months)
        return call("add_days", made, weeks * 7 + days) if weeks or days else made


def col(name: str) -> Expr:
    """Return the column with a name. Its type is found when the query runs."""
    if not isinstance(name, str):
        raise WrongTypeError(f"the name of a column must be a str, not {name!r}")
    return Expr({"function": "column", "name": name})


def lit(value: Any, dtype: Any = None) -> Expr:
    """Return a literal: a bool, a number, str, bytes, Decimal, date, time, datetime, timedelta, or None.

    Integers, floats, datetimes and timedeltas take the type of the other operand, unless ``dtype`` is
    given. An expression is returned unchanged.
    """
    made = Expr(node_of(value))
    if dtype is None:
        return made
    name = type_name(dtype)
    if value is None:
        return Expr({"function": "literal", "type": name, "value": None})
    return made.cast(name)


def count_rows() -> Expr:
    """Return the number of rows, as an aggregate named "len"."""
    return call("as", call("count_rows"), name="len")


def grouping_id(*keys: Union[str, Expr]) -> Expr:
    """Return a bit for each of some keys, of the first one the highest, which is 1 if the group is not by the key.

    It is for the rows of :meth:`LazyFrame.rollup`, ``cube`` and ``grouping_sets``. Without arguments it has the bits of all keys. A str is a
    column. Polars has no such function.
    """
    return Expr({"function": "grouping_id", "arguments": column_nodes(keys)})


def when(*conditions: Any) -> When:
    """Begin a choice: ``when(condition).then(value).otherwise(other)``. A condition that is null counts as false."""
    return When((), _all(conditions))


class When:
    """A choice that needs a value: see :func:`when`."""

    __slots__ = ("_chosen", "_condition")

    def __init__(self, chosen: tuple[tuple[Expr, Expr], ...], condition: Expr) -> None:
        self._chosen, self._condition = chosen, condition

    def then(self, value: IntoExpr) -> Then:
        """The value if the condition is true."""
        return Then((*self._chosen, (self._condition, lit(value))))


class Then:
    """A choice that needs another condition, or the value in all other cases: see :func:`when`."""

    __slots__ = ("_chosen",)

    def __init__(self, chosen: tuple[tuple[Expr, Expr], ...]) -> None:
        self._chosen = chosen

    def when(self, *conditions: Any) -> When:
        """Another condition, for rows in which those before are not true."""
        return When(self._chosen, _all(conditions))

    def otherwise(self, value: IntoExpr) -> Expr:
        """The value of all other rows; None is null."""
        pairs = [each for chosen in self._chosen for each in chosen]
        name = "if" if len(self._chosen) == 1 else "case"
        return call(name, *pairs, value).alias_of(self._chosen[0][1])


def coalesce(*values: IntoExpr) -> Expr:
    """Return the first value that is not null. A str is a column."""
    return Expr({"function": "coalesce", "arguments": column_nodes(values)})


def min_horizontal(*values: IntoExpr) -> Expr:
    """Return the least value of a row that is not null. A str is a column."""
    return Expr({"function": "least", "arguments": column_nodes(values)})


def max_horizontal(*values: IntoExpr) -> Expr:
    """Return the greatest value of a row that is not null. A str is a column."""
    return Expr({"function": "greatest", "arguments": column_nodes(values)})


def concat_str(*values: IntoExpr, separator: str = "", ignore_nulls: bool = False) -> Expr:
    """Return strings joined. It is null if one of them is, unless nulls are ignored. A str is a column."""
    if ignore_nulls:
        return Expr({"function": "concat_with", "separator": separator, "arguments": column_nodes(values)})
    parts = column_nodes(values)
    if separator:
        parts = [each for part in parts for each in (literal(separator), part)][1:]
    return Expr({"function": "concat", "arguments": parts})


def format(f_string: str, *args: IntoExpr) -> Expr:
    """Return a text with values in place of ``{}`` and ``{:.2f}``; the host computes it. A str is a column."""
    return Expr({"function": "format", "pattern": f_string, "arguments": column_nodes(args)})


def vector(values: Iterable[float]) -> Expr:
    """Return a vector that all rows have, of numbers in a list or an array. Polars has no such function."""
    try:
        numbers = [float(each) for each in values if not isinstance(values, str)]
    except (TypeError, ValueError) as e:
        raise ArgumentError(f"a vector of {values!r}, expected numbers: {e}") from e
    if isinstance(values, str):
        raise ArgumentError(f"a vector of {values!r}, expected numbers")
    for each in numbers:
        if not math.isfinite(each):
            raise ArgumentError(f"a vector has the element {each}, expected finite numbers")
    return Expr({"function": "vector", "numbers": numbers})


def _vector_operand(value: Union[IntoExpr, Iterable[float]]) -> IntoExpr:
    """Return an expression, of which a str is a column, or the vector of numbers."""
    return value if isinstance(value, (Expr, str)) else vector(value)


def concat_list(*values: IntoExpr) -> Expr:
    """Return the list of the elements of lists, and of other values as one element each. It is null if a list is. A str is a column."""
    return Expr({"function": "concat_list", "arguments": column_nodes(values)})


def element() -> Expr:
    """Return the element of a list in the expressions of ``list.eval`` and ``list.filter``."""
    return Expr({"function": "element"})


def batch_call(function: BatchFunction, arguments: Sequence[Union[str, Expr]]) -> Expr:
    """Return the result of a function of batches."""
    nodes = column_nodes(arguments)
    if not nodes:
        raise ArgumentError(f"function {function.name} has no arguments: pass one or more columns or expressions")
    return Expr({"function": "call", "number": function, "arguments": nodes}).alias(function.name)


def map_batches(exprs: Sequence[Union[str, Expr]], function: Callable[[list[Column]], Any], return_dtype: Any, *, pure: bool = False) -> Expr:
    """Return the result of a Python function of several columns, called for one batch of rows after the other.

    The function gets a list of :class:`Column`, in the memory of the query's device, and returns an array with as many
    values of type ``return_dtype``: a Column, or an array of any library that :meth:`Table.from_columns` takes. So torch,
    cupy, jax and numba compute on the GPU without a copy, and numpy and pyarrow on the host. DLPack and the CUDA array interface have
    no nulls: use ``column.values()`` and ``column.is_valid()``. Batches are divided so that each takes at most an eighth of the budget.

    Unless it is ``pure``, the function is called for all rows of the batches that are read, in order: a limit ends the query after
    the batch that fills it. With ``pure`` a result depends on the values of
    its row alone: conditions move below the call, and it is left out if nothing reads the result. A str is a column.

    >>> import gpuframe, numpy
    >>> table = gpuframe.from_columns({"x": [3.0, 6.0], "y": [4.0, 8.0]}, device="host")
    >>> def norm(columns):
    ...     x, y = (numpy.from_dlpack(each) for each in columns)
    ...     return numpy.hypot(x, y)
    >>> table.select(gpuframe.map_batches(["x", "y"], norm, "float64")).collect().to_pydict()
    {'norm': [5.0, 10.0]}
    """
    return batch_call(BatchFunction.of_columns(function, return_dtype, pure, single=False), [exprs] if isinstance(exprs, (str, Expr)) else exprs)


def corr(a: Union[str, Expr], b: Union[str, Expr]) -> Expr:
    """Return Pearson's correlation, an aggregate. A str is a column."""
    return Expr({"function": "correlation", "arguments": column_nodes([a, b])})


def regression_slope(y: Union[str, Expr], x: Union[str, Expr]) -> Expr:
    """Return the slope of the line with the least squares, an aggregate. A str is a column. Polars has no such function."""
    return Expr({"function": "regression_slope", "arguments": column_nodes([y, x])})


def regression_intercept(y: Union[str, Expr], x: Union[str, Expr]) -> Expr:
    """Return the value at x = 0 of the line with the least squares, an aggregate. A str is a column."""
    return Expr({"function": "regression_intercept", "arguments": column_nodes([y, x])})


def regression_r2(y: Union[str, Expr], x: Union[str, Expr]) -> Expr:
    """Return the coefficient of determination of the line with the least squares, an aggregate. A str is a column."""
    return Expr({"function": "regression_r2", "arguments": column_nodes([y, x])})


def cov(a: Union[str, Expr], b: Union[str, Expr]) -> Expr:
    """Return the sample covariance, an aggregate. A str is a column."""
    return Expr({"function": "covariance", "arguments": column_nodes([a, b])})
