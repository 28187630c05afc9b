"""Preparation of columns for models, compared with NumPy and plain Python."""

import json
import math

import pytest
import support
from gpuframe import ArgumentError, InvalidDataError, LazyFrame, QueryError, Table, col
from gpuframe.preprocessing import (KBinsDiscretizer, MinMaxScaler, OneHotEncoder, OrdinalEncoder, SimpleImputer, StandardScaler, TargetEncoder,
                                    balanced_weight, train_test_split)

SHOPS = [3, 1, 3, 7, 1, 3, 7, 3]
X = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]


def sales_on(where):
    if not support.KERNELS[where]:
        pytest.skip("the driver runs no kernels")
    return Table.from_columns({"id": list(range(8)), "shop": SHOPS, "x": X}, device=where)


def again(fitted):
    """Return an object of the JSON of another."""
    made = type(fitted).from_json(fitted.to_json())
    assert made.columns == fitted.columns
    return made


def test_scaling(where):
    numpy = pytest.importorskip("numpy")
    sales = sales_on(where)
    x = numpy.array(X)
    standard = again(StandardScaler(["x"]).fit(sales)).transform(sales)
    assert isinstance(standard, Table)
    assert standard["x"].tolist() == pytest.approx(list((x - x.mean()) / x.std()))
    lazy = again(MinMaxScaler("x").fit(sales.lazy())).transform(sales.lazy())
    assert isinstance(lazy, LazyFrame)
    assert lazy.collect()["x"].tolist() == pytest.approx(list((x - 1) / 127))


def test_labels(where):
    sales = sales_on(where)
    labels = again(OrdinalEncoder("shop", unknown="category").fit(sales))
    other = Table.from_columns({"shop": [7, 5, 1]}, device=where)
    assert labels.transform(sales)["shop"].tolist() == [1, 0, 1, 2, 0, 1, 2, 1]
    assert labels.transform(other)["shop"].tolist() == [2, 3, 0]
    assert OrdinalEncoder("shop", unknown="null").fit(sales).transform(other)["shop"].tolist() == [2, None, 0]
    with pytest.raises(InvalidDataError, match='"shop"'):
        OrdinalEncoder("shop").fit(sales).transform(other)
    hot = OneHotEncoder("shop").fit_transform(sales)
    assert hot.column_names == ["id", "x", "shop_1", "shop_3", "shop_7"]
    assert hot["shop_7"].tolist() == [0, 0, 0, 1, 0, 0, 1, 0]


def test_imputation(where):
    holes = sales_on(where).sql("select id, case when id % 2 = 0 then x end as x, case when id < 6 then shop end as shop from self")
    for strategy, expected in [("mean", 85.0 / 4), ("median", 10.0)]:
        assert SimpleImputer("x", strategy=strategy).fit_transform(holes)["x"].tolist()[1] == expected
    assert again(SimpleImputer("shop", strategy="most_frequent").fit(holes)).transform(holes)["shop"].tolist()[6:] == [3, 3]
    assert SimpleImputer("x", strategy="constant", fill_value=-1.5).transform(holes)["x"].tolist()[:2] == [1.0, -1.5]


def test_bins(where):
    numpy = pytest.importorskip("numpy")
    sales = sales_on(where)
    for strategy in ("uniform", "quantile"):
        bins = KBinsDiscretizer("x", n_bins=3, strategy=strategy).fit(sales)
        edges = json.loads(bins.to_json())["columns"][0]["edges"]
        expected = numpy.linspace(1, 128, 4) if strategy == "uniform" else numpy.quantile(X, [0, 1 / 3, 2 / 3, 1])
        assert edges == pytest.approx(list(expected))
        assert again(bins).transform(sales)["x"].tolist() == list(numpy.searchsorted(edges[1:-1], X, side="right"))


def test_targets(where):
    sales = sales_on(where)
    encoder = TargetEncoder("shop", "x", smooth=2.0, cv=3, key="id")
    mean = sum(X) / 8

    def smoothed(values):
        return (sum(values) + 2 * mean) / (len(values) + 2)

    fitted = again(encoder.fit(sales)).transform(sales)["shop"].tolist()
    assert fitted == pytest.approx([smoothed([x for x, other in zip(X, SHOPS) if other == shop]) for shop in SHOPS])
    folds = sales.select(fold=col("id").hash(0) % 3)["fold"].tolist()
    encoded = encoder.fit_transform(sales)["shop"].tolist()
    assert encoded == pytest.approx([smoothed([x for x, other, theirs in zip(X, SHOPS, folds) if other == shop and theirs != fold])
                                     for shop, fold in zip(SHOPS, folds)])


def test_splits_and_weights(where):
    sales = sales_on(where)
    train, test = train_test_split(sales, "id", test_size=0.5, seed=4)
    assert sorted(train["id"].tolist() + test["id"].tolist()) == list(range(8))
    again_train, _ = train_test_split(sales.lazy().filter(col("id") < 5), "id", test_size=0.5, seed=4)
    assert again_train.collect()["id"].tolist() == [each for each in train["id"].tolist() if each < 5]
    weights = sales.with_columns(balanced_weight("shop"))["weight"].tolist()
    assert math.fsum(weights) == pytest.approx(8)
    assert math.fsum(w for w, shop in zip(weights, SHOPS) if shop == 7) == pytest.approx(8 / 3)


def test_arguments():
    with pytest.raises(ArgumentError, match="is not fitted"):
        StandardScaler("x").to_json()
    for make in [lambda: OrdinalEncoder("x", unknown="skip"), lambda: SimpleImputer("x", strategy="max"), lambda: KBinsDiscretizer("x", strategy="kmeans"),
                 lambda: SimpleImputer("x", strategy="constant"), lambda: train_test_split(None, "x", test_size=2)]:
        with pytest.raises(ArgumentError, match="expected"):
            make()
    rows = Table.from_columns({"x": [1.0]}, device="host")
    with pytest.raises(ArgumentError, match="key="):
        TargetEncoder("x", "x").fit_transform(Table.from_columns({"x": [1]}, device="host"))
    with pytest.raises(TypeError, match="texts, integers or bools"):
        OrdinalEncoder("x").fit(rows)


def test_special_values_and_other_kinds(where):
    sales = sales_on(where)
    constant = Table.from_columns({"c": [5.0] * 3}, device=where)
    for strategy in ("uniform", "quantile"):
        assert KBinsDiscretizer("c", strategy=strategy).fit_transform(constant)["c"].tolist() == [0, 0, 0]
    with pytest.raises(InvalidDataError, match='column "x"'):
        StandardScaler("x").fit(Table.from_columns({"x": [1.0, math.nan]}, device=where))
    for value in (math.nan, math.inf, 2**70):
        with pytest.raises(ArgumentError, match="fill_value"):
            SimpleImputer("x", strategy="constant", fill_value=value)
    with pytest.raises(ArgumentError, match="smooth"):
        TargetEncoder("shop", "x", smooth=math.nan)
    labels = OrdinalEncoder("shop").fit(sales).to_json()
    for text in (labels, "{}", "[]", "nonsense"):
        with pytest.raises(ArgumentError, match="no fitted value of StandardScaler"):
            StandardScaler.from_json(text)
    with pytest.raises(QueryError, match="this kind"):
        KBinsDiscretizer.from_json(StandardScaler("x").fit(sales).to_json()).transform(sales)
    assert again(StandardScaler([]).fit(sales)).columns == []


def test_fitted_values_that_were_read_are_not_fitted(where):
    sales = sales_on(where)
    for fitted in (OrdinalEncoder("shop"), OneHotEncoder("shop"), SimpleImputer("x"), SimpleImputer("x", strategy="constant", fill_value=1.0),
                   KBinsDiscretizer("x"), StandardScaler("x"), TargetEncoder("shop", "x", key="id")):
        read = again(fitted.fit(sales))
        for fit in (read.fit, read.fit_transform):
            with pytest.raises(ArgumentError, match="from_json"):
                fit(sales)
