"""Operators, aggregates and expressions of single columns, which run at once."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Sequence

from .errors import ArgumentError, WrongTypeError

if TYPE_CHECKING:
    from .column import Column
    from .expressions import Expr
    from .table import Table


class Values:
    """Methods of a column that compute: on its device, with the meaning of expressions.

    Operators take columns of the same length, and values. Aggregates return Python objects. :meth:`compute` has all other
    functions of expressions. What is computed of several columns takes fewer passes as a query of their table.

    >>> import gpuframe
    >>> delays = gpuframe.Table.from_columns({"delay": [3, -1, 40]}, device="host")["delay"]
    >>> (delays * 2 + delays).tolist(), (delays > 0).tolist()
    ([9, -3, 120], [True, False, True])
    >>> delays.sum(), delays.mean(), delays.compute(lambda c: c.abs().sqrt().round()).tolist()
    (42, 14.0, [2.0, 1.0, 6.0])
    """

    __slots__ = ()

    #: Operators of numpy's values leave the work to the column.
    __array_priority__ = 1000

    name: Any
    device: Any

    def compute(self, function: Callable[[Expr], Any], *others: Any) -> Column:
        """Return the values of an expression: ``function`` is called with the expression of this column.

        It gets those of ``others``, too: columns of the same length, and values. The result has the name of this column.
        """
        from .expressions import col
        from .table import Table

        inputs: dict[str, Any] = {}
        arguments: list[Any] = []
        for each in (self, *others):
            if isinstance(each, Values):
                name = each.name or "column"
                while name in inputs:
                    name += "'"
                inputs[name], each = each, col(name)
            arguments.append(each)
        lengths = {len(each) for each in inputs.values()}
        if len(lengths) > 1:
            raise ArgumentError(f"the columns have {', '.join(map(str, sorted(lengths)))} elements, expected equal lengths")
        made = Table.from_columns(inputs, self.device).lazy().select(function(*arguments).alias(self.name or "column")).collect()
        return (made if self.name else made.rename({"column": ""})).column(0)

    def _aggregate(self, function: Callable[[Expr], Expr]) -> Any:
        """Return the value of an aggregate as a Python object."""
        return self.compute(function).tolist()[0]

    def count(self) -> int:
        """Return the number of elements that are not null."""
        return int(self._aggregate(lambda c: c.count()))

    def sum(self) -> Any:
        """Return the sum, None without values."""
        return self._aggregate(lambda c: c.sum())

    def product(self) -> Any:
        """Return the product of integers, which wraps around."""
        return self._aggregate(lambda c: c.product())

    def mean(self) -> Any:
        """Return the arithmetic mean."""
        return self._aggregate(lambda c: c.mean())

    def min(self) -> Any:
        """Return the least value."""
        return self._aggregate(lambda c: c.min())

    def max(self) -> Any:
        """Return the greatest value."""
        return self._aggregate(lambda c: c.max())

    def median(self) -> Any:
        """Return the median."""
        return self._aggregate(lambda c: c.median())

    def quantile(self, quantile: float) -> Any:
        """Return a quantile, interpolated linearly."""
        return self._aggregate(lambda c: c.quantile(quantile))

    def var(self) -> Any:
        """Return the variance of a sample."""
        return self._aggregate(lambda c: c.var())

    def std(self) -> Any:
        """Return the standard deviation of a sample."""
        return self._aggregate(lambda c: c.std())

    def any(self) -> bool:
        """Return whether a value is true; False without values."""
        return bool(self._aggregate(lambda c: c.any()))

    def all(self) -> bool:
        """Return whether no value is false; True without values."""
        return self._aggregate(lambda c: c.all()) is not False

    def n_unique(self) -> int:
        """Return the number of distinct values; null is one."""
        return int(self._aggregate(lambda c: c.n_unique()))

    def cast(self, dtype: Any) -> Column:
        """Return the values as another type."""
        return self.compute(lambda c: c.cast(dtype))

    def is_null(self) -> Column:
        """Return a column of booleans, true for nulls."""
        return self.compute(lambda c: c.is_null())

    def fill_null(self, value: Any) -> Column:
        """Return the values, and another one in place of nulls."""
        return self.compute(lambda c, other: c.fill_null(other), value)

    def is_in(self, values: Sequence[Any]) -> Column:
        """Return a column of booleans, true for elements that are one of the values."""
        if isinstance(values, Values):
            raise ArgumentError("is_in of a column: pass its unique().tolist(), or join the tables")
        return self.compute(lambda c: c.is_in(values))

    def round(self, decimals: int = 0) -> Column:
        """Return the values rounded to a number of decimal places."""
        return self.compute(lambda c: c.round(decimals))

    def filter(self, mask: Column) -> Column:
        """Return the elements where another column of booleans is true."""
        return self._rows({"mask": mask}, lambda query, col: query.filter(col("mask")))

    def sort(self, *, descending: bool = False, nulls_last: bool = False) -> Column:
        """Return the elements in order."""
        return self._rows({}, lambda query, col: query.sort("value", descending=descending, nulls_last=nulls_last))

    def unique(self) -> Column:
        """Return the distinct elements, in the order of the first of each."""
        return self._rows({}, lambda query, col: query.unique())

    def drop_nulls(self) -> Column:
        """Return the elements that are not null."""
        return self._rows({}, lambda query, col: query.drop_nulls())

    def value_counts(self, name: str = "count") -> Table:
        """Return a table of the distinct elements and how many there are, in a column of this name, the most frequent first."""
        from .table import Table

        key = self.name or "column"
        if key == name:
            raise ArgumentError(f"the column is named {name!r}, too: pass another name= for the counts")
        counts = Table.from_columns({key: self}, self.device).lazy().group_by(key).len(name)
        return counts.sort(name, key, descending=[True, False]).collect()

    def _rows(self, others: dict[str, Any], verbs: Callable[[Any, Any], Any]) -> Column:
        """Return the values of the rows that verbs keep of a table of this column and others."""
        from .expressions import col
        from .table import Table

        made = verbs(Table.from_columns({"value": self, **others}, self.device).lazy(), col).select("value").collect()
        return made.rename({"value": self.name}).column(0)  # type: ignore[no-any-return]

    def __add__(self, other: Any) -> Column:
        return self.compute(operator.add, other)

    def __radd__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o + c, other)

    def __sub__(self, other: Any) -> Column:
        return self.compute(operator.sub, other)

    def __rsub__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o - c, other)

    def __mul__(self, other: Any) -> Column:
        return self.compute(operator.mul, other)

    def __rmul__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o * c, other)

    def __truediv__(self, other: Any) -> Column:
        return self.compute(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o / c, other)

    def __floordiv__(self, other: Any) -> Column:
        return self.compute(operator.floordiv, other)

    def __rfloordiv__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o // c, other)

    def __mod__(self, other: Any) -> Column:
        return self.compute(operator.mod, other)

    def __rmod__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o % c, other)

    def __pow__(self, other: Any) -> Column:
        return self.compute(operator.pow, other)

    def __rpow__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o**c, other)

    def __neg__(self) -> Column:
        return self.compute(operator.neg)

    def __abs__(self) -> Column:
        return self.compute(operator.abs)

    def __invert__(self) -> Column:
        return self.compute(operator.invert)

    def __and__(self, other: Any) -> Column:
        return self.compute(operator.and_, other)

    def __rand__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o & c, other)

    def __or__(self, other: Any) -> Column:
        return self.compute(operator.or_, other)

    def __ror__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o | c, other)

    def __xor__(self, other: Any) -> Column:
        return self.compute(operator.xor, other)

    def __rxor__(self, other: Any) -> Column:
        return self.compute(lambda c, o: o ^ c, other)

    def __eq__(self, other: Any) -> Column:  # type: ignore[override]
        return self.compute(operator.eq, other)

    def __ne__(self, other: Any) -> Column:  # type: ignore[override]
        return self.compute(operator.ne, other)

    def __lt__(self, other: Any) -> Column:
        return self.compute(operator.lt, other)

    def __le__(self, other: Any) -> Column:
        return self.compute(operator.le, other)

    def __gt__(self, other: Any) -> Column:
        return self.compute(operator.gt, other)

    def __ge__(self, other: Any) -> Column:
        return self.compute(operator.ge, other)

    __hash__ = object.__hash__

    def __bool__(self) -> NoReturn:
        raise WrongTypeError("a column has no truth of its own: call any() or all(), or len() for the number of elements")
