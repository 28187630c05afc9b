"""Preparation of columns for models, with scikit-learn's habits: ``fit`` on rows of training, ``transform`` of any rows.

    from gpuframe.preprocessing import OrdinalEncoder, StandardScaler

    labels = OrdinalEncoder(["city"], unknown="null").fit(train)
    prepared = labels.transform(test)          # lazy, if test is
    saved = labels.to_json()                   # OrdinalEncoder.from_json reads it, and package learn of Go

Unlike in scikit-learn, objects take names of columns, results are columns of the same frame, and nulls are the missing values.
"""

from __future__ import annotations

import json
import math
from typing import Any, Optional, Sequence, TypeVar, Union, overload

from .errors import ArgumentError
from .expressions import Expr, col, count_rows, lit, when
from .lazy import IntoColumn, LazyFrame
from .table import Names, Table, names_of

Frame = Union[LazyFrame, Table]

_Self = TypeVar("_Self", bound="Transformer")


def _lazy(frame: Frame) -> LazyFrame:
    return frame.lazy() if isinstance(frame, Table) else frame


class Transformer:
    """The common part: ``fit``, ``transform``, ``fit_transform``, ``to_json`` and ``from_json``."""

    #: The kind of the fitted value.
    _kind = ""

    #: The member of the fitted value with a list of columns.
    _list = "columns"

    _fitted: Optional[str] = None
    _was_read = False

    def __init__(self, columns: Names) -> None:
        self.columns = names_of(columns)

    def _request(self) -> dict[str, Any]:
        raise NotImplementedError

    def fit(self: _Self, frame: Frame) -> _Self:
        """Run a query on the rows of training, and return the object."""
        if self._was_read:
            raise ArgumentError(f"the {type(self).__name__} was read by from_json, which has no arguments of a fit: make a new one")
        self._fitted = _lazy(frame)._answer("fit", None, fit={"columns": self.columns, **self._request()})["text"]
        return self

    @overload
    def transform(self, frame: LazyFrame) -> LazyFrame: ...
    @overload
    def transform(self, frame: Table) -> Table: ...

    def transform(self, frame: Frame) -> Frame:
        """Return the frame with other columns in place of those that were fitted: of a LazyFrame a LazyFrame, of a Table a Table."""
        prepared = _lazy(frame)._then("prepare", "transform", kind=self._kind, fitted=self.to_json())
        return prepared.collect() if isinstance(frame, Table) else prepared

    def fit_transform(self, frame: Any) -> Any:
        """Fit, and transform the same rows."""
        return self.fit(frame).transform(frame)

    def to_json(self) -> str:
        """Return the fitted value as JSON, which package learn of Go reads too."""
        if self._fitted is None:
            raise ArgumentError(f"the {type(self).__name__} is not fitted: call fit first")
        return self._fitted

    @classmethod
    def from_json(cls: type[_Self], text: str) -> _Self:
        """Return an object with the fitted value of :meth:`to_json`, which cannot be fitted again."""
        made = cls.__new__(cls)
        try:
            made.columns = [each["column"] for each in json.loads(text)[cls._list] or []]
        except (ValueError, TypeError, KeyError) as error:
            raise ArgumentError(f"the text is no fitted value of {cls.__name__}: pass the text of its to_json") from error
        made._fitted, made._was_read = text, True
        return made


class StandardScaler(Transformer):
    """Makes the mean 0 and the standard deviation, of the population, 1.

    >>> import gpuframe
    >>> from gpuframe.preprocessing import StandardScaler
    >>> rows = gpuframe.Table.from_columns({"x": [1.0, 3.0]}, device="host")
    >>> StandardScaler("x").fit_transform(rows).to_pydict()
    {'x': [-1.0, 1.0]}
    """

    _kind = "scaling"

    def _request(self) -> dict[str, Any]:
        return {"kind": "standardization"}


class MinMaxScaler(Transformer):
    """Makes the least value 0 and the greatest 1."""

    _kind = "scaling"

    def _request(self) -> dict[str, Any]:
        return {"kind": "min_max"}


class SimpleImputer(Transformer):
    """Fills nulls: with the "mean", the "median", the mode ("most_frequent") or a "constant", which is ``fill_value``."""

    _kind = "imputation"

    def __init__(self, columns: Names, *, strategy: str = "mean", fill_value: Any = None) -> None:
        super().__init__(columns)
        kinds = {"mean": "mean", "median": "median", "most_frequent": "mode", "constant": "constant"}
        if strategy not in kinds:
            raise ArgumentError(f"strategy={strategy!r}: expected {', '.join(map(repr, kinds))}")
        self._strategy = kinds[strategy]
        if strategy == "constant":
            self._fitted = json.dumps({"columns": [{"column": name, "value": _value(fill_value)} for name in self.columns]})

    def fit(self, frame: Frame) -> SimpleImputer:
        """Run a query on the rows of training, unless the value is a constant, and return the object."""
        return self if not self._was_read and self._strategy == "constant" else super().fit(frame)

    def _request(self) -> dict[str, Any]:
        return {"kind": self._strategy}


def _value(value: Any) -> dict[str, Any]:
    for kind, member in [(bool, "bool"), (int, "integer"), (float, "float"), (str, "text")]:
        if isinstance(value, kind):
            if kind is float and not math.isfinite(value) or kind is int and not -2**63 <= value < 2**63:
                raise ArgumentError(f"fill_value={value!r}: expected a finite number, and an int of 64 bits")
            return {member: value}
    raise ArgumentError(f"fill_value={value!r}: expected a str, int, float or bool")


class KBinsDiscretizer(Transformer):
    """Makes numbers of bins, of equal width with strategy "uniform" or with about equally many rows with "quantile"."""

    _kind = "bins"

    def __init__(self, columns: Names, *, n_bins: int = 5, strategy: str = "quantile") -> None:
        super().__init__(columns)
        if strategy not in ("uniform", "quantile"):
            raise ArgumentError(f"strategy={strategy!r}: expected 'uniform' or 'quantile'")
        self._bins, self._strategy = n_bins, strategy

    def _request(self) -> dict[str, Any]:
        return {"kind": self._strategy + "_bins", "bins": self._bins}


class OrdinalEncoder(Transformer):
    """Makes the numbers of categories, which are texts, integers or bools, in ascending order.

    Categories that were not fitted are an error (``unknown="error"``), null ("null"), or one more category ("category"). Nulls stay null, or
    with ``null_category`` are a category, after those that were fitted.
    """

    _kind = "labels"
    _list = "categories"

    def __init__(self, columns: Names, *, unknown: str = "error", null_category: bool = False) -> None:
        super().__init__(columns)
        if unknown not in ("error", "null", "category"):
            raise ArgumentError(f"unknown={unknown!r}: expected 'error', 'null' or 'category'")
        self._options = {"unknown": "" if unknown == "error" else unknown, "null_category": null_category}

    def _request(self) -> dict[str, Any]:
        return {"kind": self._kind, "categories": self._options}


class OneHotEncoder(OrdinalEncoder):
    """Makes a column of 0 and 1 for each category, such as city_Oslo. Arguments are those of :class:`OrdinalEncoder`."""

    _kind = "one_hot"


class TargetEncoder(Transformer):
    """Makes means of the column ``target`` for each category.

    With ``smooth`` the mean of all rows counts as that many more rows of each category. :meth:`fit_transform` encodes
    each row by the rows of other folds: the fold is a hash of ``key``, columns that identify a row, and of ``seed``.
    """

    _kind = "target_means"

    def __init__(self, columns: Names, target: str, *, smooth: float = 0.0, cv: int = 5, key: Optional[Names] = None, seed: int = 0) -> None:
        super().__init__(columns)
        if not (smooth >= 0 and math.isfinite(smooth)):
            raise ArgumentError(f"smooth={smooth!r}: expected zero or more rows")
        self._target, self._smooth, self._folds, self._key, self._seed = target, float(smooth), cv, key, seed

    def _request(self) -> dict[str, Any]:
        return {"kind": "target_means", "target": self._target, "targets": {"smoothing": self._smooth}}

    def fit_transform(self, frame: Any) -> Any:
        """Fit, and encode the rows of training without the targets of their own folds."""
        if self._was_read:
            raise ArgumentError("the TargetEncoder was read by from_json, which has no arguments of a fit: make a new one")
        if self._key is None or self._folds < 2:
            raise ArgumentError("fit_transform needs key=, the columns that identify a row, and cv of 2 or more folds: pass them, or call fit and transform")
        self.fit(frame)
        first, *others = [col(name) for name in names_of(self._key)]
        fold = first.hash(*others, lit(self._seed)) % self._folds
        target = col(self._target).cast("float64")
        mean = target.mean().over([])
        encoded = []
        for name in self.columns:
            total = target.sum().over(name).fill_null(0.0) - target.sum().over(name, fold).fill_null(0.0)
            rows = target.count().over(name).cast("float64") - target.count().over(name, fold).cast("float64") + self._smooth
            value = when(rows > 0.0).then((total + mean * self._smooth) / rows).otherwise(mean)
            encoded.append(when(col(name).is_null()).then(mean).otherwise(value).alias(name))
        made = _lazy(frame).with_columns(*encoded)
        return made.collect() if isinstance(frame, Table) else made


def train_test_split(frame: Any, key: Names, *, test_size: float = 0.25, seed: int = 0) -> tuple[Any, Any]:
    """Return the rows of training and of tests: about ``test_size`` of the keys are of tests.

    Rows are divided by a hash of the key: a key is on the same side in every run, and the same as in package learn of Go.
    """
    if not 0 <= test_size <= 1:
        raise ArgumentError(f"test_size={test_size!r}: expected a fraction from 0 to 1")
    first, *others = [col(name) for name in names_of(key)]
    steps = 2**32
    test = (first.hash(*others, lit(seed)) // steps).cast("int64") < round(test_size * steps)
    train, tests = _lazy(frame).filter(~test), _lazy(frame).filter(test)
    return (train.collect(), tests.collect()) if isinstance(frame, Table) else (train, tests)


def balanced_weight(column: IntoColumn) -> Expr:
    """Return a weight of each row with which all classes have the same total, and the weights the mean 1. Null is a class."""
    rows = count_rows().over(column).cast("float64")
    return (count_rows().over([]).cast("float64") / ((1.0 / rows).sum().over([]) * rows)).alias("weight")


__all__: Sequence[str] = [
    "KBinsDiscretizer", "MinMaxScaler", "OneHotEncoder", "OrdinalEncoder", "SimpleImputer", "StandardScaler", "TargetEncoder", "Transformer",
    "balanced_weight", "train_test_split",
]
