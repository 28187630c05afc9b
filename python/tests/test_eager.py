"""Verbs of tables and operators of columns, which run at once."""

import math

import gpuframe
import pytest
import support
from gpuframe import Table, col
from gpuframe.errors import ArgumentError, WrongTypeError


def sales_on(where):
    if not support.KERNELS[where]:
        pytest.skip("the driver runs no kernels")
    return Table.from_columns({"shop": [1, 2, 1, 3], "price": [60, 55, 20, 7], "size": [2.5, 1.0, -4.0, 8.0]}, device=where)


#: Each verb of tables is that of queries: calls on both.
VERBS = {
    "filter": lambda t: t.filter(col("price") > 20, col("shop") < 3),
    "select": lambda t: t.select("shop", both=col("price") * col("size")),
    "select aggregates": lambda t: t.select(col("price").sum(), col("size").min()),
    "with_columns": lambda t: t.with_columns((col("price") + 1).alias("more"), half=col("price") / 2),
    "sort": lambda t: t.sort("shop", "price", descending=[True, False]),
    "top_k": lambda t: t.top_k(2, by="price"),
    "bottom_k": lambda t: t.bottom_k(2, by="price"),
    "unique": lambda t: t.unique("shop"),
    "drop_nulls": lambda t: t.drop_nulls(),
    "fill_null": lambda t: t.fill_null(0),
    "unpivot": lambda t: t.unpivot(["price", "shop"], index="size"),
    "pivot": lambda t: t.pivot("shop", [1, 2], index="size", values="price"),
    "sample": lambda t: t.sample(2, seed=3),
    "shuffle": lambda t: t.shuffle(5),
    "with_row_index": lambda t: t.with_row_index(),
    "sql": lambda t: t.sql("select shop, sum(price) as total from self group by shop order by shop"),
    "group_by": lambda t: t.group_by("shop").agg(col("price").sum(), most=col("size").max()),
    "map_batches": lambda t: t.map_batches(lambda batch: {"twice": [2 * x for x in batch["price"].tolist()]}, {"twice": int}),
    "len": lambda t: t.group_by("shop").len(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_of_tables_are_those_of_queries(where, verb):
    sales = sales_on(where)
    found, expected = VERBS[verb](sales), VERBS[verb](sales.lazy())
    assert isinstance(found, Table) and isinstance(expected, gpuframe.LazyFrame)
    assert found.to_pydict() == expected.collect().to_pydict()
    assert found.device.name == sales.device.name


def test_tables_have_all_verbs_of_queries():
    """But for those of queries alone, which run them, show their plans, write files or keep rows."""
    of_queries = {"cache", "collect", "collect_batches", "collect_schema", "evict", "explain", "profile"}
    verbs = {each for each in dir(gpuframe.LazyFrame) if not each.startswith(("_", "sink_"))}
    assert verbs - set(dir(Table)) == of_queries


def test_describe(where):
    sales = sales_on(where)
    assert sales.describe().to_pydict() == sales.lazy().describe().to_pydict()


def test_tables_are_joined_with_tables_and_queries(where):
    sales = sales_on(where)
    names = Table.from_columns({"shop": [1, 3], "city": [10, 30]}, device=where)
    expected = {"shop": [1, 1, 3], "price": [60, 20, 7], "size": [2.5, -4.0, 8.0], "city": [10, 10, 30]}
    assert sales.join(names, "shop").sort("shop", "price", descending=[False, True]).to_pydict() == expected
    assert sales.join(names.lazy(), on="shop").sort("shop", "price", descending=[False, True]).to_pydict() == expected
    assert sales.join(names, "shop", "anti").to_pydict() == {"shop": [2], "price": [55], "size": [1.0]}
    assert sales.join_asof(names, "shop").to_pydict()["city"] == [10, 10, 10, 30]
    assert sales.select("shop").except_(names.select("shop")).to_pydict() == {"shop": [2]}
    assert sorted(sales.select("shop").intersect(names.select("shop")).to_pydict()["shop"]) == [1, 3]
    with pytest.raises(WrongTypeError):
        sales.join([1, 2], "shop")


def test_pivot_finds_the_values(where):
    sales = sales_on(where)
    found = sales.pivot("shop", index="size", values="price").sort("size")
    assert found.column_names == ["size", "1", "2", "3"]
    assert found.to_pydict() == {"size": [-4.0, 1.0, 2.5, 8.0], "1": [20, None, 60, None], "2": [None, 55, None, None], "3": [None, None, None, 7]}


def test_chosen_columns_share_memory(where):
    sales = sales_on(where)
    chosen = sales.select("size", "shop")
    assert chosen.column_names == ["size", "shop"]
    assert chosen["size"].data_ptr == sales["size"].data_ptr
    assert sales.select(["shop"])["shop"].data_ptr == sales["shop"].data_ptr
    assert sales.drop("size", "shop").column_names == ["price"]


def test_operators_of_columns(where):
    sales = sales_on(where)
    price, size = sales["price"], sales["size"]
    cases = {
        "add": (price + size, [62.5, 56.0, 16.0, 15.0]), "radd": (1 + price, [61, 56, 21, 8]), "sub": (price - 1, [59, 54, 19, 6]),
        "rsub": (100 - price, [40, 45, 80, 93]), "mul": (price * price, [3600, 3025, 400, 49]), "truediv": (price / 2, [30.0, 27.5, 10.0, 3.5]),
        "floordiv": (price // 8, [7, 6, 2, 0]), "mod": (price % 8, [4, 7, 4, 7]), "pow": (size**2, [6.25, 1.0, 16.0, 64.0]),
        "neg": (-price, [-60, -55, -20, -7]), "abs": (abs(size), [2.5, 1.0, 4.0, 8.0]), "gt": (price > 20, [True, True, False, False]),
        "eq": (price == 55, [False, True, False, False]), "ne": (price != 55, [True, False, True, True]), "le": (price <= size, [False, False, False, True]),
        "and": ((price > 10) & (size > 0), [True, True, False, False]), "or": ((price > 55) | (size > 5), [True, False, False, True]),
        "invert": (~(price > 20), [False, False, True, True]), "is_in": (price.is_in([7, 60]), [True, False, False, True]),
    }
    for name, (found, expected) in cases.items():
        assert found.tolist() == expected, name
        assert found.device.name == sales.device.name
    assert (price + size).name == "price" and (price + price).name == "price"
    unnamed = gpuframe.Column.from_dlpack(price)
    assert (unnamed + 1).name == unnamed.sort().name == "" and unnamed.value_counts().column_names == ["column", "count"]
    mask = price > 20
    assert (True & mask).tolist() == (False | mask).tolist() == (False ^ mask).tolist() == mask.tolist()
    with pytest.raises(gpuframe.QueryError, match="`price` == \"a\"|price == \"a\""):
        price == "a"


def test_aggregates_of_columns(where):
    sales = sales_on(where)
    size = sales["size"]
    assert (size.sum(), size.min(), size.max(), size.count(), size.n_unique()) == (7.5, -4.0, 8.0, 4, 4)
    assert size.mean() == 1.875 and size.median() == 1.75 and size.quantile(0.5) == 1.75
    assert math.isclose(size.std() ** 2, size.var())
    assert sales["shop"].product() == 6
    assert (size > -5).all() and not (size > 10).any()
    none = size.filter(size > 10)
    assert (none > 1).all() is True and (none > 1).any() is False and none.sum() is None


def test_rows_of_columns(where):
    sales = sales_on(where)
    shop = sales["shop"]
    assert shop.filter(shop > 1).tolist() == [2, 3]
    assert shop.sort(descending=True).tolist() == [3, 2, 1, 1]
    assert shop.unique().tolist() == [1, 2, 3]
    assert shop.value_counts().to_pydict() == {"shop": [1, 2, 3], "count": [2, 1, 1]}
    gaps = shop.compute(lambda c, other: (c / other).cast("int64"), (shop > 1).cast("int64").compute(lambda c: gpuframe.when(c == 1).then(c).otherwise(None)))
    assert gaps.is_null().tolist() == [True, False, True, False]
    assert gaps.drop_nulls().tolist() == [2, 3] and gaps.fill_null(0).tolist() == [0, 2, 0, 3]
    assert sales["size"].compute(lambda c: c.sqrt().round(1)).tolist()[:2] == [1.6, 1.0]
    assert sales["size"].round().cast("int32").dtype == "int32"


def test_columns_that_do_not_fit(where):
    sales = sales_on(where)
    with pytest.raises(ArgumentError, match="3, 4 elements"):
        sales["shop"] + sales["shop"].slice(1)
    with pytest.raises(ArgumentError, match="tolist"):
        sales["shop"].is_in(sales["price"])
    counted = Table.from_columns({"count": [3, 3, 1]}, device=where)["count"]
    assert counted.value_counts("times").to_pydict() == {"count": [3, 1], "times": [2, 1]}
    with pytest.raises(ArgumentError, match="name="):
        counted.value_counts()
    with pytest.raises(WrongTypeError, match="any"):
        bool(sales["shop"] == 1)
    assert len({sales["shop"], sales["shop"]}) == 2  # columns are hashed by identity
    assert gpuframe.Column.from_dlpack(sales["shop"]).sort().tolist() == [1, 1, 2, 3]
