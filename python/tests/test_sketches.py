"""Sketches of Apache DataSketches, against exact values."""

import collections

import gpuframe
from gpuframe import col
from producer import Array


def table():
    """Return rows of 7 keys, with numbers from 0 and words with different frequencies."""
    data = {"k": [i % 7 for i in range(7000)], "x": [i * 7919 % 7001 for i in range(7000)], "s": [f"w{i % 10 * (i % 3)}" for i in range(7000)]}
    types = {"k": "int64", "x": "int64", "s": "utf8"}
    return data, gpuframe.Table.from_arrow(Array.struct({n: Array.of(types[n], v) for n, v in data.items()}), device="host")


def rows(query):
    return query.collect().to_pylist()


def test_quantiles_of_merged_sketches():
    _, t = table()
    parts = t.lazy().group_by("k").agg(col("x").kll_sketch().alias("numbers"), col("s").kll_sketch(50).alias("words"), col("x").hll_sketch().alias("distinct"))
    whole = parts.select(col("numbers").kll_merge(), col("words").kll_items_merge(), col("distinct").hll_merge())
    row = rows(whole.select(col("numbers").kll_quantile(0.25).alias("q"), col("numbers").kll_rank(3500).alias("r"), col("numbers").kll_count().alias("n"),
                            col("words").kll_items_quantile(1).alias("most"), col("words").kll_items_rank("w9").alias("all"), col("distinct").hll_estimate().alias("d")))[0]
    assert abs(row["q"] - 1750) < 0.0133 * 2 * 7000 and abs(row["r"] - 0.5) < 0.0133 * 2
    assert row["n"] == 7000 and row["most"] == "w9" and row["all"] == 1 and abs(row["d"] - 7000) < 0.05 * 7000
    assert abs(rows(t.lazy().select(col("x").approx_quantile(0.9).alias("q")))[0]["q"] - 6300) < 0.0133 * 2 * 7000


def test_bounds_of_frequent_items():
    data, t = table()
    exact = collections.Counter(data["s"])
    parts = t.lazy().group_by("k").agg(col("s").frequent_items_sketch(64).alias("words"), (col("x") // 1000).frequent_items_sketch(64).alias("numbers"))
    whole = parts.select(col("words").frequent_items_merge(), col("numbers").frequent_longs_merge())
    row = rows(whole.select(col("words").frequent_items().alias("words"), col("numbers").frequent_longs().alias("numbers")))[0]
    assert {item["item"] for item in row["words"]} == set(exact)
    assert all(item["lower"] <= exact[item["item"]] <= item["upper"] == item["estimate"] for item in row["words"])
    assert sum(item["lower"] for item in row["numbers"]) == 7000
    top = rows(t.lazy().select(col("s").approx_top_k(1).alias("top")))[0]["top"]
    assert top == [exact.most_common(1)[0][0]]
