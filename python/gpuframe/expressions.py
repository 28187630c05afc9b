"""Expressions on the columns of a query.

They are documents that the library checks when a query runs: until then no name and no type is
wrong. Names and meanings are those of Polars, unless a docstring states otherwise.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, Iterable, Literal, NoReturn, Sequence, Union

from ._literals import Node, literal
from ._types import type_name
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


def _holidays(days: Iterable[datetime.date]) -> dict[str, Any]:
    """Return the member of a document for days that are no business days."""
    days = list(days)
    for day in days:
        if not isinstance(day, datetime.date):
            raise WrongTypeError(f"holidays={days!r}: expected dates, such as datetime.date(2026, 12, 25)")
    return {"holidays": [datetime.date(day.year, day.month, day.day).isoformat() for day in days]} if days else {}


class _Aggregates:
    """Aggregates: of the rows of a group in ``agg``, otherwise of all rows, or of a partition with :meth:`Expr.over`."""

    __slots__ = ()

    def _aggregate(self, function: str, **members: Any) -> Expr:
        raise NotImplementedError

    def sum(self) -> Expr:
        """The sum. Unlike in Polars, that of no values is null, and so is a sum of integers or decimals that overflows."""
        return self._aggregate("sum")

    def product(self) -> Expr:
        """The product of integers, which wraps around."""
        return self._aggregate("product")

    def mean(self) -> Expr:
        """The arithmetic mean. That of decimals is a decimal with four more digits."""
        return self._aggregate("mean")

    def min(self) -> Expr:
        """The least value."""
        return self._aggregate("min")

    def max(self) -> Expr:
        """The greatest value."""
        return self._aggregate("max")

    def count(self) -> Expr:
        """The number of values that are not null."""
        return self._aggregate("count")

    def null_count(self) -> Expr:
        """The number of nulls."""
        return self._aggregate("null_count")

    def n_unique(self) -> Expr:
        """The number of distinct values; null is one."""
        return self._aggregate("count_distinct") + self._aggregate("null_count").clip(0, 1)

    def first(self, ignore_nulls: bool = False) -> Expr:
        """The value of the first row or, with ignore_nulls, the first that is not null."""
        return self._row("first", ignore_nulls)

    def last(self, ignore_nulls: bool = False) -> Expr:
        """The value of the last row or, with ignore_nulls, the last that is not null."""
        return self._row("last", ignore_nulls)

    def _row(self, function: str, ignore_nulls: bool) -> Expr:
        of = self._aggregate(function)
        return call("skip_nulls", of) if ignore_nulls else of

    def mode(self) -> Expr:
        """The most frequent value. Unlike in Polars it is one value."""
        return self._aggregate("mode")

    def median(self) -> Expr:
        """The middle of the sorted values, or the mean of the two in the middle."""
        return self._aggregate("median")

    def quantile(self, quantile: float) -> Expr:
        """The value below which a fraction of the values lies. It is interpolated: Polars' interpolation="linear"."""
        return self._aggregate("quantile", q=float(quantile))

    def var(self) -> Expr:
        """The sample variance: the divisor is the number of values minus one."""
        return self._aggregate("variance")

    def std(self) -> Expr:
        """The square root of :meth:`var`."""
        return self._aggregate("stddev")

    def skew(self) -> Expr:
        """The third standardized moment."""
        return self._aggregate("skewness")

    def any(self) -> Expr:
        """Whether a value is true."""
        return self._aggregate("any")

    def all(self) -> Expr:
        """Whether every value is true."""
        return self._aggregate("all")

    def implode(self, ignore_nulls: bool = False) -> Expr:
        """The list of the values, with nulls unless ignore_nulls is set."""
        return self._row("list", ignore_nulls)

    def top_k(self, k: int = 5) -> Expr:
        """The list of the k largest values, the largest first. Polars returns rows, not a list."""
        return self._aggregate("largest", n=k)

    def bottom_k(self, k: int = 5) -> Expr:
        """The list of the k smallest values, the smallest first. Polars returns rows, not a list."""
        return self._aggregate("smallest", n=k)


class Filtered(_Aggregates):
    """An expression of some rows, for aggregates: see :meth:`Expr.filter`."""

    __slots__ = ("_of", "_condition")

    def __init__(self, of: Expr, condition: Expr) -> None:
        self._of, self._condition = of, condition

    def _aggregate(self, function: str, **members: Any) -> Expr:
        return call("where", self._of._aggregate(function, **members), self._condition)

    def __repr__(self) -> str:
        return f"{self._of!r}.filter({self._condition!r})"


class Expr(_Aggregates):
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

    def _aggregate(self, function: str, **members: Any) -> Expr:
        return call(function, self, **members)

    def alias(self, name: Str) -> Expr:
        """Give the result a name. Without one it has that of the first column in the expression."""
        return call("as", self, name=name)

    def cast(self, dtype: Any) -> Expr:
        """Convert to a type: its Arrow name, such as "int32", or a type of Python, pyarrow or polars.

        Values that do not fit are null, as with Polars' strict=False. Decimals are rounded half away from zero, and floats that become integers
        are cut off.
        """
        return call("cast", self, type=type_name(dtype))

    def filter(self, *conditions: Expr) -> Filtered:
        """The rows in which all conditions are true, for an aggregate: ``col("x").filter(col("y") > 1).sum()``."""
        return Filtered(self, _all(conditions))

    def over(self, *keys: Union[Str, Expr, Sequence[Union[Str, Expr]]], order_by: Union[Str, Expr, Sequence[Union[Str, Expr]], None] = None,
             descending: bool = False, nulls_last: bool = False, rows: Union[tuple[Union[int, None], Union[int, None]], None] = None,
             range: Union[tuple[Any, Any], None] = None, min_samples: int = 0) -> Expr:
        """Give each row the aggregates of the rows with equal keys: ``col("x").sum().over("day")``.

        ``order_by`` orders these rows, for functions such as :meth:`shift` and :meth:`cum_sum`. ``rows`` restricts aggregates to
        the rows between two, relative to the row: ``rows=(-6, 0)`` are the row and the six before it, None is no limit. ``range``
        restricts them to rows with an ``order_by`` key between two differences to the row's: ``range=(timedelta(days=-7), None)``. With
        fewer values than ``min_samples`` they are null. Polars has none of these.
        """
        members: dict[Str, Any] = {"by": column_nodes(keys)}
        if order_by is not None:
            members["order"] = [{"value": each, "descending": descending, "nulls_first": not nulls_last} for each in column_nodes([order_by])]
        if rows is not None:
            members["rows"] = list(rows)
        if range is not None:
            members["range"] = [None if each is None else literal(each) for each in range]
        if min_samples:
            members["at_least"] = min_samples
        return call("over", self, **members)

    def shift(self, n: int = 1) -> Expr:
        """The value n rows before, of :meth:`over` or of all rows; null without one."""
        return call("lag", self, n=n) if n >= 0 else call("lead", self, n=-n)

    def diff(self, n: int = 1) -> Expr:
        """The value minus that n rows before, of :meth:`over` or of all rows; null without one."""
        return call("difference", self, n=n) if n >= 0 else self - self.shift(n)

    def forward_fill(self) -> Expr:
        """The value or, for a null, the last value before it, of :meth:`over` or of all rows."""
        return call("fill_forward", self)

    def backward_fill(self) -> Expr:
        """The value or, for a null, the first value behind it, of :meth:`over` or of all rows."""
        return call("fill_backward", self)

    def interpolate(self) -> Expr:
        """The value as a float or, for a null, that on the line between the values before and behind it, as if the rows had the same distance."""
        return call("interpolate", self)

    def interpolate_by(self, by: Union[Str, Expr]) -> Expr:
        """The same as :meth:`interpolate` for rows at places, numbers or times: usually the key of ``order_by``."""
        return Expr({"function": "interpolate_by", "arguments": [self._node, column_node(by)]})

    def session(self, gap: Any) -> Expr:
        """The number, from 1, of the session: it ends where the value is more than ``gap`` above that of the row before.

        ``col("ts").session(timedelta(minutes=30)).over("user", order_by="ts")``. Polars has no such function.
        """
        return call("session", self, gap=literal(gap))

    def int_list(self) -> Expr:
        """The list of the integers from 0 to the value, the value excluded: ``explode`` of it repeats a row. Polars has ``int_ranges``."""
        return call("sequence", self)

    def cum_sum(self) -> Expr:
        """The sum of the values up to the row. A null row has the sum up to it; Polars' is null."""
        return call("cum_sum", self)

    def cum_prod(self) -> Expr:
        """The product of the values up to the row, also for a null row."""
        return call("cum_product", self)

    def cum_min(self) -> Expr:
        """The least of the values up to the row, also for a null row."""
        return call("cum_min", self)

    def cum_max(self) -> Expr:
        """The greatest of the values up to the row, also for a null row."""
        return call("cum_max", self)

    def cum_count(self) -> Expr:
        """The number of values up to the row that are not null."""
        return call("cum_count", self)

    def cum_mean(self) -> Expr:
        """The mean of the values up to the row, also for a null row. Polars has none."""
        return call("cum_mean", self)

    def ewm_mean(self, *, alpha: float) -> Expr:
        """The mean of the values up to the row, each with the weight (1 - alpha) ** (the number of values after it)."""
        return call("exponential_mean", self, alpha=alpha)

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

    def eq_ieee(self, other: IntoExpr) -> Expr:
        """``==`` of numbers as IEEE 754 has it: False if one is NaN."""
        return call("eq_ieee", self, other)

    def ne_ieee(self, other: IntoExpr) -> Expr:
        """``!=`` of numbers as IEEE 754 has it: True if one is NaN."""
        return call("ne_ieee", self, other)

    def lt_ieee(self, other: IntoExpr) -> Expr:
        """``<`` of numbers as IEEE 754 has it: False if one is NaN."""
        return call("lt_ieee", self, other)

    def le_ieee(self, other: IntoExpr) -> Expr:
        """``<=`` of numbers as IEEE 754 has it: False if one is NaN."""
        return call("le_ieee", self, other)

    def gt_ieee(self, other: IntoExpr) -> Expr:
        """``>`` of numbers as IEEE 754 has it: False if one is NaN."""
        return call("gt_ieee", self, other)

    def ge_ieee(self, other: IntoExpr) -> Expr:
        """``>=`` of numbers as IEEE 754 has it: False if one is NaN."""
        return call("ge_ieee", self, other)

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

    def not_(self) -> Expr:
        """The negation of a bool."""
        return ~self

    def bitwise_and(self, other: IntoExpr) -> Expr:
        """The bitwise and of integers, for which Polars also has ``&``."""
        return call("bit_and", self, other)

    def bitwise_or(self, other: IntoExpr) -> Expr:
        """The bitwise or of integers, for which Polars also has ``|``."""
        return call("bit_or", self, other)

    def bitwise_xor(self, other: IntoExpr) -> Expr:
        """The bitwise exclusive or of integers, for which Polars also has ``^``."""
        return call("bit_xor", self, other)

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

    def is_null(self) -> Expr:
        """Whether the value is null."""
        return call("is_null", self)

    def is_not_null(self) -> Expr:
        """Whether the value is not null."""
        return call("is_valid", self)

    def format_float(self) -> Expr:
        """A float as the shortest text that is read as the same number: "0.1", "1e+06"."""
        return call("format_float", self)

    def is_nan(self) -> Expr:
        """Whether a float is not a number."""
        return call("is_nan", self)

    def is_not_nan(self) -> Expr:
        """Whether a float is a number."""
        return ~self.is_nan()

    def fill_null(self, value: IntoExpr) -> Expr:
        """Another value for null."""
        return call("fill_null", self, value)

    def fill_nan(self, value: IntoExpr) -> Expr:
        """Another value for floats that are not a number."""
        return when(self.is_nan()).then(value).otherwise(self).alias_of(self)

    def clip(self, lower_bound: IntoExpr, upper_bound: IntoExpr) -> Expr:
        """The value, or the bound that it lies beyond."""
        return call("clamp", self, lower_bound, upper_bound)

    def abs(self) -> Expr:
        """The magnitude."""
        return call("abs", self)

    def sign(self) -> Expr:
        """-1, 0 or 1."""
        return call("sign", self)

    def sqrt(self) -> Expr:
        """The square root."""
        return call("sqrt", self)

    def exp(self) -> Expr:
        """The exponential."""
        return call("exp", self)

    def log(self) -> Expr:
        """The natural logarithm."""
        return call("log", self)

    def sin(self) -> Expr:
        """The sine."""
        return call("sin", self)

    def cos(self) -> Expr:
        """The cosine."""
        return call("cos", self)

    def floor(self) -> Expr:
        """The value rounded down. Unlike in Polars, integers become floats."""
        return call("floor", self)

    def ceil(self) -> Expr:
        """The value rounded up. Unlike in Polars, integers become floats."""
        return call("ceil", self)

    def round(self, decimals: int = 0) -> Expr:
        """The nearest number with some digits behind the point: floats half to even, decimals half away from zero; -2 rounds to hundreds.

        Unlike in Polars, integers become floats.
        """
        return call("round_digits", self, digits=decimals) if decimals else call("round", self)

    def truncate(self) -> Expr:
        """The value rounded towards zero. Unlike in Polars, integers become floats."""
        return call("trunc", self)

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

    def field(self, name: Str) -> Expr:
        """A field of a struct. Polars has ``struct.field``."""
        return call("field", self, name=name)

    @property
    def dt(self) -> TemporalExpr:
        """Functions of dates and times."""
        return TemporalExpr(self)

    def __repr__(self) -> Str:
        return _text(self._node)


def _name(node: Node) -> Any:
    """Return the name of an expression's result, or None for that of a literal."""
    while node["function"] not in ("column", "as"):
        arguments = node.get("arguments")
        if not arguments:
            return None
        node = arguments[1 if node["function"] == "if" else 0]
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


class StringExpr:
    """Functions of strings: ``col("name").str``. Patterns are literal text, not regular expressions."""

    __slots__ = ("_of",)

    def __init__(self, of: Expr) -> None:
        self._of = of

    def starts_with(self, prefix: str) -> Expr:
        """Whether the string begins with a text."""
        return call("has_prefix", self._of, prefix)

    def ends_with(self, suffix: str) -> Expr:
        """Whether the string ends with a text."""
        return call("has_suffix", self._of, suffix)

    def contains(self, pattern: str) -> Expr:
        """Whether the string contains a text, as with Polars' literal=True."""
        return call("contains", self._of, pattern)

    def like(self, pattern: str, escape: Union[str, None] = None) -> Expr:
        """Whether the string matches a pattern of SQL: % is any number of characters, _ is one."""
        return call("like", self._of, pattern=pattern, **({} if escape is None else {"escape": escape}))

    def find(self, pattern: str) -> Expr:
        """The position of a text, or null. It is in characters from 0; Polars' is in bytes."""
        at = call("find", self._of, pattern)
        return when(at > 0).then(at - 1).otherwise(None)

    def count_matches(self, pattern: str) -> Expr:
        """The number of occurrences of a text."""
        return call("count_of", self._of, pattern)

    def len_bytes(self) -> Expr:
        """The number of bytes."""
        return call("length_bytes", self._of)

    def len_chars(self) -> Expr:
        """The number of characters."""
        return call("length_chars", self._of)

    def slice(self, offset: int, length: Union[int, None] = None) -> Expr:
        """Some characters from an offset on, which counts from the end if it is negative."""
        return call("substring", self._of, start=offset + 1 if offset >= 0 else offset, length=2**31 - 1 if length is None else length)

    def head(self, n: int) -> Expr:
        """The first n characters."""
        return self.slice(0, n)

    def strip_chars(self) -> Expr:
        """The string without white space at both ends."""
        return call("trim", self._of)

    def strip_chars_start(self) -> Expr:
        """The string without white space at its beginning."""
        return call("trim_start", self._of)

    def strip_chars_end(self) -> Expr:
        """The string without white space at its end."""
        return call("trim_end", self._of)

    def strip_prefix(self, prefix: str) -> Expr:
        """The string without a text at its beginning."""
        return call("trim_prefix", self._of, prefix)

    def strip_suffix(self, suffix: str) -> Expr:
        """The string without a text at its end."""
        return call("trim_suffix", self._of, suffix)

    def to_uppercase(self) -> Expr:
        """The string in upper case, character by character."""
        return call("upper", self._of)

    def to_lowercase(self) -> Expr:
        """The string in lower case, character by character."""
        return call("lower", self._of)

    def capitalize(self) -> Expr:
        """The string with its first character in upper case and the others in lower."""
        return call("capitalize", self._of)

    def reverse(self) -> Expr:
        """The characters in the opposite order."""
        return call("reverse", self._of)

    def replace_all(self, pattern: str, value: str) -> Expr:
        """The string with a text in place of every occurrence of another, as with Polars' literal=True."""
        return call("replace", self._of, **{"old": pattern, "with": value})

    def pad_start(self, length: int, fill_char: str = " ") -> Expr:
        """The string with characters in front until it has a length."""
        return call("pad_start", self._of, **{"length": length, "with": fill_char})

    def pad_end(self, length: int, fill_char: str = " ") -> Expr:
        """The string with characters behind until it has a length."""
        return call("pad_end", self._of, **{"length": length, "with": fill_char})

    def repeat(self, n: int) -> Expr:
        """The string n times."""
        return call("repeat", self._of, times=n)

    def split_part(self, by: str, index: int) -> Expr:
        """A part of the string that is split at a text; 0 is the first. It is null if there are fewer. Polars has ``split(by).list.get(index)``."""
        return call("split_part", self._of, separator=by, number=index + 1)

    def split(self, by: str) -> Expr:
        """The list of the parts of the string between occurrences of a text."""
        return call("split", self._of, separator=by)

    def split_fields(self, by: str, names: Sequence[str]) -> Expr:
        """A struct of the first parts of the string that is split at a text: a field for each name. A part that is missing is null."""
        return call("split_fields", self._of, separator=by, names=list(names))

    def parse_duration(self, form: str, dtype: Any = "duration[us]") -> Expr:
        """The duration that the string has, or null: "iso8601" (P1DT2H3M4.5S), "go" (26h3m4.5s) or "clock" (26:03:04.5). Polars has none."""
        return call("parse_duration", self._of, form=form, type=type_name(dtype))

    def matches(self, pattern: str) -> Expr:
        """Whether the string has a match of a regular expression in RE2's syntax, which is Go's."""
        return call("matches_regex", self._of, pattern=pattern)

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

    def edit_distance(self, other: IntoExpr) -> Expr:
        """The number of characters to insert, remove or replace to make the string another. A str is a text, not a column."""
        return call("edit_distance", self._of, other)

    def strptime(self, dtype: Any, format: str) -> Expr:
        """The date32 or timestamp that the string has in a format, or null: "%Y-%m-%d %H:%M:%S"."""
        return call("parse_time", self._of, format=format, type=type_name(dtype))

    def is_alpha(self) -> Expr:
        """Whether all characters are letters, and there is one."""
        return call("is_alpha", self._of)

    def is_digit(self) -> Expr:
        """Whether all characters are decimal digits, and there is one."""
        return call("is_digit", self._of)

    def is_alnum(self) -> Expr:
        """Whether all characters are letters or decimal digits, and there is one."""
        return call("is_alnum", self._of)

    def is_space(self) -> Expr:
        """Whether all characters are white space, and there is one."""
        return call("is_space", self._of)

    def is_upper(self) -> Expr:
        """Whether there is a letter in upper case and none in lower or title case."""
        return call("is_upper", self._of)

    def is_lower(self) -> Expr:
        """Whether there is a letter in lower case and none in upper or title case."""
        return call("is_lower", self._of)

    def is_ascii(self) -> Expr:
        """Whether all bytes are below 128."""
        return call("is_ascii", self._of)

    def find_regex(self, pattern: str) -> Expr:
        """The character at which the first match of a regular expression begins, from 0. It is null without a match."""
        at = call("find_regex", self._of, pattern=pattern)
        return when(at > 0).then(at - 1).otherwise(None)

    def count_regex(self, pattern: str) -> Expr:
        """The number of matches of a regular expression that do not overlap."""
        return call("count_regex", self._of, pattern=pattern)

    def extract(self, pattern: str, group_index: int = 1) -> Expr:
        """The text of a group of the first match of a regular expression; group 0 is the match. It is null if there is none."""
        return call("extract_regex", self._of, pattern=pattern, group=group_index)

    def replace_regex(self, pattern: str, value: str) -> Expr:
        """The string with a text in place of all matches of a regular expression; $1 or ${1} is a group, ${name} a named one, $$ a dollar sign."""
        return call("replace_regex", self._of, **{"pattern": pattern, "with": value})

    def join(self, delimiter: str = "") -> Expr:
        """An aggregate: the strings of the rows as one."""
        return call("join_strings", self._of, separator=delimiter)


class ListExpr:
    """Functions of lists: ``col("tags").list``. Folds skip nulls, and are null without values."""

    __slots__ = ("_of",)

    def __init__(self, of: Expr) -> None:
        self._of = of

    def len(self) -> Expr:
        """The number of elements, nulls included."""
        return call("list_length", self._of)

    def get(self, index: int) -> Expr:
        """An element; a negative index counts from the end. It is null if the list is shorter, as with Polars' null_on_oob=True."""
        return call("list_get", self._of, index=index)

    def slice(self, offset: int, length: Union[int, None] = None) -> Expr:
        """Some elements from an offset on, which counts from the end if it is negative."""
        return call("list_slice", self._of, **{"from": offset, "most": 2**31 - 1 if length is None else length})

    def contains(self, item: Any) -> Expr:
        """Whether an element equals a value."""
        return call("list_contains", self._of, value=literal(item))

    def sort(self, *, descending: bool = False) -> Expr:
        """The elements in order, nulls last."""
        return call("list_sort_descending" if descending else "list_sort", self._of)

    def sum(self) -> Expr:
        """The sum of the elements."""
        return call("list_sum", self._of)

    def min(self) -> Expr:
        """The least element."""
        return call("list_min", self._of)

    def max(self) -> Expr:
        """The greatest element."""
        return call("list_max", self._of)

    def mean(self) -> Expr:
        """The mean of the elements."""
        return call("list_mean", self._of)

    def any(self) -> Expr:
        """Whether an element is true."""
        return call("list_any", self._of)

    def all(self) -> Expr:
        """Whether every element is true."""
        return call("list_all", self._of)


#: Polars' letters of durations, and the units of :meth:`TemporalExpr.truncate`.
_UNITS = {"y": "year", "q": "quarter", "mo": "month", "w": "week", "d": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond", "us": "microsecond"}


def number_and_unit(every: str) -> tuple[int, str]:
    """Return the number and the unit of a length of time such as "15m"."""
    match = re.fullmatch(r"(\d{0,9})(y|q|mo|w|d|h|m|s|ms|us)", every)
    unit = _UNITS[match[2]] if match else every
    if unit not in _UNITS.values():
        raise ArgumentError(f"every={every!r}: expected a number and a unit, one of {', '.join('1' + each for each in _UNITS)}")
    return int(match[1] or 1) if match else 1, unit


class TemporalExpr:
    """Functions of dates and times: ``col("when").dt``. Parts of timestamps are those in UTC."""

    __slots__ = ("_of",)

    def __init__(self, of: Expr) -> None:
        self._of = of

    def year(self) -> Expr:
        """The year."""
        return call("year", self._of)

    def quarter(self) -> Expr:
        """The quarter of the year, 1 to 4."""
        return call("quarter", self._of)

    def month(self) -> Expr:
        """The month, 1 to 12."""
        return call("month", self._of)

    def day(self) -> Expr:
        """The day of the month, 1 to 31."""
        return call("day", self._of)

    def ordinal_day(self) -> Expr:
        """The day of the year, 1 to 366."""
        return call("day_of_year", self._of)

    def weekday(self) -> Expr:
        """The day of the week: Monday is 1, Sunday is 7."""
        return call("weekday", self._of) + 1

    def hour(self) -> Expr:
        """The hour."""
        return call("hour", self._of)

    def minute(self) -> Expr:
        """The minute."""
        return call("minute", self._of)

    def second(self) -> Expr:
        """The second."""
        return call("second", self._of)

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

    def strftime(self, format: str) -> Expr:
        """The date or timestamp as text in a format: "%Y-%m-%d %H:%M:%S". It is null for years beyond 0 to 9999."""
        return call("format_time", self._of, format=format)

    def iso_year(self) -> Expr:
        """The year of the week. Weeks begin on Monday and belong to the year of their Thursday."""
        return call("iso_year", self._of)

    def week(self) -> Expr:
        """The number of the week in its ISO year, 1 to 53."""
        return call("iso_week", self._of)

    def is_leap_year(self) -> Expr:
        """Whether the year has a February 29."""
        return call("is_leap_year", self._of)

    def days_in_month(self) -> Expr:
        """The number of days of the month."""
        return call("days_in_month", self._of)

    def local_time(self, time_zone: str) -> Expr:
        """What a clock in a time zone shows, as a timestamp without a zone. Functions of it are those of the clock."""
        return call("local_time", self._of, zone=time_zone)

    def instant_in(self, time_zone: str) -> Expr:
        """The first time at which a clock in a time zone shows a timestamp without a zone, or a later one.

        So a time that the clock shows twice is the first of both, and a time that it leaves out is the end of the gap:
        ``t.dt.local_time(zone).dt.truncate("day").dt.instant_in(zone)`` is the beginning of the day. Polars refuses both.
        """
        return call("instant_in", self._of, zone=time_zone)

    def months_since(self, other: IntoExpr) -> Expr:
        """The number of whole months from another value to this one."""
        return call("months_since", self._of, other)

    def years_since(self, other: IntoExpr) -> Expr:
        """The number of whole years from another value to this one."""
        return call("years_since", self._of, other)

    def business_days_since(self, other: IntoExpr, holidays: Iterable[datetime.date] = ()) -> Expr:
        """The number of business days from the day of another value to before the day of this one.

        Business days are Monday to Friday without the holidays, of which 20,000 are accepted.
        """
        return call("business_days_since", self._of, other, **_holidays(holidays))

    def add_business_days(self, n: IntoExpr, holidays: Iterable[datetime.date] = ()) -> Expr:
        """A date or timestamp moved by a number of business days, as WORKDAY of spreadsheets. See :meth:`business_days_since`."""
        return call("add_business_days", self._of, n, **_holidays(holidays))

    def is_business_day(self, holidays: Iterable[datetime.date] = ()) -> Expr:
        """Whether the day is a business day. See :meth:`business_days_since`."""
        return call("is_business_day", self._of, **_holidays(holidays))

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

    def days_since(self, other: IntoExpr) -> Expr:
        """The number of days from the day of another value to the day of this one. Polars has ``(a - b).dt.total_days()``."""
        return call("days_since", self._of, other)

    def total_days(self) -> Expr:
        """The number of whole days of 24 hours of a duration, rounded towards zero."""
        return call("total_days", self._of)

    def total_hours(self) -> Expr:
        """The number of whole hours of a duration, rounded towards zero."""
        return call("total_hours", self._of)

    def total_minutes(self) -> Expr:
        """The number of whole minutes of a duration, rounded towards zero."""
        return call("total_minutes", self._of)

    def total_seconds(self) -> Expr:
        """The number of whole seconds of a duration, rounded towards zero."""
        return call("total_seconds", self._of)

    def total_milliseconds(self) -> Expr:
        """The number of whole milliseconds of a duration, rounded towards zero."""
        return call("total_milliseconds", self._of)

    def total_microseconds(self) -> Expr:
        """The number of whole microseconds of a duration, rounded towards zero."""
        return call("total_microseconds", self._of)

    def total_nanoseconds(self) -> Expr:
        """The number of whole nanoseconds of a duration, rounded towards zero."""
        return call("total_nanoseconds", self._of)

    def format_duration(self, form: str) -> Expr:
        """A duration as text: "iso8601" (P1DT2H3M4.5S), "go" (26h3m4.5s) or "clock" (26:03:04.5). Polars has ``to_string("iso")``."""
        return call("format_duration", self._of, form=form)


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
        made: Any = value
        for condition, chosen in reversed(self._chosen):
            made = call("if", condition, chosen, made)
        result: Expr = made
        return result.alias_of(self._chosen[0][1])


def coalesce(*values: IntoExpr) -> Expr:
    """Return the first value that is not null. A str is a column."""
    return Expr({"function": "coalesce", "arguments": column_nodes(values)})


def min_horizontal(*values: IntoExpr) -> Expr:
    """Return the least value of a row that is not null. A str is a column."""
    return Expr({"function": "least", "arguments": column_nodes(values)})


def max_horizontal(*values: IntoExpr) -> Expr:
    """Return the greatest value of a row that is not null. A str is a column."""
    return Expr({"function": "greatest", "arguments": column_nodes(values)})


def concat_str(*values: IntoExpr, separator: str = "") -> Expr:
    """Return strings joined. It is null if one of them is. A str is a column."""
    parts = column_nodes(values)
    if separator:
        parts = [each for part in parts for each in (literal(separator), part)][1:]
    return Expr({"function": "concat", "arguments": parts})


def corr(a: Union[str, Expr], b: Union[str, Expr]) -> Expr:
    """Return Pearson's correlation, an aggregate. A str is a column."""
    return Expr({"function": "correlation", "arguments": column_nodes([a, b])})


def cov(a: Union[str, Expr], b: Union[str, Expr]) -> Expr:
    """Return the sample covariance, an aggregate. A str is a column."""
    return Expr({"function": "covariance", "arguments": column_nodes([a, b])})
