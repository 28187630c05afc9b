"""Queries: against a plain model in Python and against SQLite, with errors, leaks, interruption and files."""

import base64
import calendar
import datetime
import decimal
import gc
import hashlib
import html.parser
import math
import os
import random
import re
import signal
import sqlite3
import sys
import threading
import unicodedata
from xml.etree import ElementTree

import gpuframe
import pytest
import support
from gpuframe import col, lit
from producer import Array

CITIES = ["Oslo", "Bern", "Ærø", "", None]


def sales(rows=200, seed=1, where="host"):
    """Return rows with nulls, and a table of them."""
    draw = random.Random(seed)
    data = {
        "city": [draw.choice(CITIES) for _ in range(rows)],
        "qty": [draw.choice([None, *range(-5, 6)]) for _ in range(rows)],
        "price": [draw.choice([None, *(i / 4 for i in range(-8, 9))]) for _ in range(rows)],
        "id": list(range(rows)),
    }
    types = {"city": "utf8", "qty": "int64", "price": "float64", "id": "int64"}
    return data, gpuframe.Table.from_arrow(Array.struct({n: Array.of(types[n], v) for n, v in data.items()}), device="host").to_device(where)


def rows_of(data):
    return [dict(zip(data, row)) for row in zip(*data.values())]


def run(query):
    return query.collect().to_pylist()


def kleene_and(a, b):
    return False if a is False or b is False else None if a is None or b is None else True


def null(f):
    return lambda *values: None if any(v is None for v in values) else f(*values)


#: The greatest value of ``id``.
IDS = 199


def many_choices():
    """Return a choice by 150 conditions."""
    choice = gpuframe
    for n in range(150):
        choice = choice.when(col("id") == n).then(lit(3 * n))
    return choice.otherwise(-1)


#: Expressions, plain models of them, and the columns that make them null.
EXPRESSIONS = {
    "arithmetic": (col("qty") * 2 - col("id") + 1, null(lambda r: r["qty"] * 2 - r["id"] + 1), ["qty"]),
    "true division": (col("qty") / 2, null(lambda r: r["qty"] / 2), ["qty"]),
    "modulo": (col("qty") % 3, null(lambda r: r["qty"] % 3), ["qty"]),
    "negative modulo": (col("qty") % -3, null(lambda r: r["qty"] % -3), ["qty"]),
    "float modulo": (col("price") % 1.5, null(lambda r: r["price"] % 1.5), ["price"]),
    "floor division": (col("qty") // 3, null(lambda r: r["qty"] // 3), ["qty"]),
    "floor division by negatives": (col("qty") // -2, null(lambda r: r["qty"] // -2), ["qty"]),
    "floor division of floats": (col("price") // 0.75, null(lambda r: r["price"] // 0.75), ["price"]),
    "reflected division": (7 / (col("id") + 1), lambda r: 7 / (r["id"] + 1), []),
    "reflected floor division": (-7 // (col("id") + 1), lambda r: -7 // (r["id"] + 1), []),
    "rounded": (col("price").round(1), null(lambda r: round(r["price"], 1)), ["price"]),
    "rounded to tens": ((col("id") + 0.5).round(-1), lambda r: round(r["id"] + 0.5, -1), []),
    "reflected": (10 - col("id"), lambda r: 10 - r["id"], []),
    "comparison": (col("qty") >= col("price"), null(lambda r: r["qty"] >= r["price"]), ["qty", "price"]),
    "logic": ((col("qty") > 0) & (col("price") > 0),
              lambda r: kleene_and(null(lambda v: v > 0)(r["qty"]), null(lambda v: v > 0)(r["price"])), []),
    "not": (~(col("qty") == 1), null(lambda r: r["qty"] != 1), ["qty"]),
    "between": (col("qty").is_between(-1, 3, closed="right"), null(lambda r: -1 < r["qty"] <= 3), ["qty"]),
    "in": (col("city").is_in(["Oslo", ""]), null(lambda r: r["city"] in ("Oslo", "")), ["city"]),
    "null": (col("city").is_null(), lambda r: r["city"] is None, []),
    "fill": (col("qty").fill_null(7), lambda r: 7 if r["qty"] is None else r["qty"], []),
    "coalesce": (gpuframe.coalesce("qty", "id"), lambda r: r["id"] if r["qty"] is None else r["qty"], []),
    "choice": (gpuframe.when(col("qty") > 2).then(lit("high")).when(col("qty") > 0).then(lit("low")).otherwise(lit("none")),
               lambda r: "none" if r["qty"] is None or r["qty"] <= 0 else "high" if r["qty"] > 2 else "low", []),
    "choice or null": (gpuframe.when(col("qty") > 2).then(col("id")).otherwise(None),
                       lambda r: r["id"] if r["qty"] is not None and r["qty"] > 2 else None, []),
    "many choices": (many_choices(), lambda r: r["id"] * 3 if r["id"] < 150 else -1, []),
    "bins": (col("qty").cut([-1, 2]), null(lambda r: (r["qty"] > -1) + (r["qty"] > 2)), ["qty"]),
    "bins closed at the left": (col("qty").cut([-1, 2], left_closed=True), null(lambda r: (r["qty"] >= -1) + (r["qty"] >= 2)), ["qty"]),
    "bins with labels": (col("qty").cut([0], labels=["low", "high"]), null(lambda r: "high" if r["qty"] > 0 else "low"), ["qty"]),
    "quantile bins": (col("id").qcut(2), lambda r: int(r["id"] > IDS / 2), []),
    "bins between quantiles": (col("id").qcut([0.5], labels=["a", "b"]), lambda r: "b" if r["id"] > IDS / 2 else "a", []),
    "rescaled": (col("id").rescale(-1, 1), lambda r: pytest.approx(2 * r["id"] / IDS - 1), []),
    "cast": (col("price").cast(int), null(lambda r: math.trunc(r["price"])), ["price"]),
    "clip": (col("qty").clip(-2, 2), null(lambda r: min(max(r["qty"], -2), 2)), ["qty"]),
    "abs": (col("qty").abs(), null(lambda r: abs(r["qty"])), ["qty"]),
    "upper": (col("city").str.to_uppercase(), null(lambda r: r["city"].upper()), ["city"]),
    "slice": (col("city").str.slice(1, 2), null(lambda r: r["city"][1:3]), ["city"]),
    "slice from the end": (col("city").str.slice(-2), null(lambda r: r["city"][-2:]), ["city"]),
    "length": (col("city").str.len_chars(), null(lambda r: len(r["city"])), ["city"]),
    "bytes": (col("city").str.len_bytes(), null(lambda r: len(r["city"].encode())), ["city"]),
    "contains": (col("city").str.contains("r"), null(lambda r: "r" in r["city"]), ["city"]),
    "find": (col("city").str.find("r"), null(lambda r: r["city"].find("r") if "r" in r["city"] else None), ["city"]),
    "like": (col("city").str.like("_e%"), null(lambda r: r["city"][1:2] == "e"), ["city"]),
    "replace": (col("city").str.replace_all("s", "zz"), null(lambda r: r["city"].replace("s", "zz")), ["city"]),
    "pad": (col("city").str.pad_start(6, "*"), null(lambda r: r["city"].rjust(6, "*")), ["city"]),
    "split": (col("city").str.split_part("s", 1), null(lambda r: (r["city"].split("s") + [None])[1] if "s" in r["city"] else None), ["city"]),
    "regular expression": (col("city").str.matches("^[A-Z].*[aeiou]$"), null(lambda r: re.search("^[A-Z].*[aeiou]$", r["city"]) is not None), ["city"]),
    "regular expression found": (col("city").str.find_regex("[r-z]"), null(lambda r: next((m.start() for m in re.finditer("[r-z]", r["city"])), None)), ["city"]),
    "regular expression counted": (col("city").str.count_regex("[aeiou]"), null(lambda r: len(re.findall("[aeiou]", r["city"]))), ["city"]),
    "group": (col("city").str.extract("([b-z]+)[aeiou]"), null(lambda r: next((m.group(1) for m in re.finditer("([b-z]+)[aeiou]", r["city"])), None)), ["city"]),
    "regular expression replaced": (col("city").str.replace_regex("([aeiou])", "<$1>"), null(lambda r: re.sub("([aeiou])", r"<\1>", r["city"])), ["city"]),
    "digest": (col("city").str.sha256(), null(lambda r: hashlib.sha256(r["city"].encode()).hexdigest()), ["city"]),
    "normal form": (col("city").str.normalize("NFD"), null(lambda r: unicodedata.normalize("NFD", r["city"])), ["city"]),
    "fold case": (col("city").str.fold_case(), null(lambda r: r["city"].casefold()), ["city"]),
    "all matches": (col("city").str.extract_all("[aeiou]"), null(lambda r: re.findall("[aeiou]", r["city"])), ["city"]),
    "parts of a pattern": (col("city").str.split_regex("[aeiou]"), null(lambda r: re.split("[aeiou]", r["city"])), ["city"]),
    "translated": (col("city").str.translate("Ose", "xy"), null(lambda r: r["city"].translate(str.maketrans({"O": "x", "s": "y", "e": None}))), ["city"]),
    "slice at a column": (col("city").str.slice(col("id") % 3, 2), null(lambda r: r["city"][r["id"] % 3:r["id"] % 3 + 2]), ["city"]),
    "contains another": (lit("Oslo and Bern").str.contains(col("city")), null(lambda r: r["city"] in "Oslo and Bern"), ["city"]),
    "format": (gpuframe.format("{}: {:03d}", "city", "id"), null(lambda r: f"{r['city']}: {r['id']:03d}"), ["city"]),
    "JSON": (gpuframe.format('{{"a": [1, {}]}}', "id").str.json_path_match("$.a[1]").cast(int), lambda r: r["id"], []),
    "shift with a value": (col("id").shift(1, fill_value=-1), lambda r: r["id"] - 1 if r["id"] else -1, []),
    "concat": (gpuframe.concat_str("city", lit("x"), separator="-"), null(lambda r: r["city"] + "-x"), ["city"]),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name):
    expression, model, needs = EXPRESSIONS[name]
    data, table = sales()
    got = run(table.lazy().select("id", expression.alias("value")))
    assert len(got) == len(data["id"])
    for row, made in zip(rows_of(data), got):
        want = None if any(row[each] is None for each in needs) else model(row)
        assert made == {"id": row["id"], "value": want}, row


def group(rows, key):
    made = {}
    for row in rows:
        made.setdefault(row[key], []).append(row)
    return made


def test_aggregates():
    data, table = sales()
    q, p = col("qty"), col("price")
    got = run(table.lazy().group_by("city").agg(
        q.sum().alias("sum"), p.mean().alias("mean"), q.min().alias("min"), q.max().alias("max"), q.count().alias("count"),
        q.null_count().alias("nulls"), q.n_unique().alias("distinct"), p.median().alias("median"), gpuframe.len(),
        q.filter(p > 0, q > 0).sum().alias("filtered"), (q.sum() + gpuframe.len()).alias("both"), q.first().alias("first"),
        q.first(ignore_nulls=True).alias("first_value"), q.filter(p > 0).last().alias("last"), q.last(ignore_nulls=True).alias("last_value"),
        q.implode().alias("all"), q.implode(ignore_nulls=True).alias("values")))
    groups = group(rows_of(data), "city")
    assert sorted(map(str, groups)) == sorted(str(row["city"]) for row in got)
    for made in got:
        rows = groups[made["city"]]
        values = [row["qty"] for row in rows if row["qty"] is not None]
        prices = sorted(row["price"] for row in rows if row["price"] is not None)
        both = [row["qty"] for row in rows if row["qty"] is not None and row["price"] is not None and row["price"] > 0 and row["qty"] > 0]
        middle = len(prices) // 2
        want = {"city": made["city"], "sum": sum(values), "mean": pytest.approx(sum(prices) / len(prices)), "min": min(values), "max": max(values),
                "count": len(values), "nulls": len(rows) - len(values), "distinct": len({row["qty"] for row in rows}),
                "median": prices[middle] if len(prices) % 2 else (prices[middle - 1] + prices[middle]) / 2, "len": len(rows),
                "filtered": sum(both) if both else None, "both": sum(values) + len(rows), "first": rows[0]["qty"],
                "first_value": values[0], "last": [row["qty"] for row in rows if row["price"] is not None and row["price"] > 0][-1],
                "last_value": values[-1], "all": [row["qty"] for row in rows], "values": values}
        assert made == want


def test_aggregates_in_orders():
    data, table = sales()
    q = col("qty")
    got = run(table.lazy().group_by("city").agg(
        q.first().order_by("id", descending=True).alias("latest"), q.implode().order_by("id", descending=True).alias("all"), q.first().alias("first"),
        q.quantile(0.5, "lower").alias("lower"), q.bitwise_or().alias("bits")))
    for made in got:
        rows = [row["qty"] for row in rows_of(data) if row["city"] == made["city"]]
        values = sorted(each for each in rows if each is not None)
        bits = 0
        for value in values:
            bits |= value
        assert made == {"city": made["city"], "latest": rows[-1], "all": rows[::-1], "first": rows[0], "lower": values[(len(values) - 1) // 2], "bits": bits}


def test_overlapping_windows_and_weights():
    table = gpuframe.from_columns({"at": list(range(10)), "x": [1] * 10}, device="host")
    got = run(table.resample("at", 2, col("x").sum().alias("n"), span=4, closed="right", label="right"))
    assert [row["n"] for row in got] == [1, 3, 4, 4, 4, 3, 1] and got[0]["at"] == 0
    heavy = run(table.sample(3, weight=col("at") - 6, seed=1))
    assert [row["at"] for row in heavy] == [7, 8, 9]
    pivoted = run(table.pivot(col("at") % 2, index="x", values="at", aggregate_function="sum"))
    assert pivoted == [{"x": 1, "0": 20, "1": 25}]


def test_kurtosis():
    """The definitions by their formulas. Without bias, fewer than four values have none."""
    data, table = sales()
    price = col("price")
    got = run(table.lazy().group_by("city").agg(
        price.kurtosis().alias("excess"), price.kurtosis(fisher=False).alias("pearson"), price.kurtosis(bias=False).alias("sample"), price.count().alias("n")))
    groups = group(rows_of(data), "city")
    for row in got:
        values = [sale["price"] for sale in groups[row["city"]] if sale["price"] is not None]
        n, mean = len(values), sum(values) / len(values)
        second, fourth = (sum((value - mean) ** power for value in values) / n for power in (2, 4))
        excess = fourth / second ** 2 - 3
        sample = ((n + 1) * excess + 6) * (n - 1) / ((n - 2) * (n - 3)) if n > 3 else None
        assert row == {"city": row["city"], "excess": pytest.approx(excess), "pearson": pytest.approx(excess + 3),
                       "sample": pytest.approx(sample) if n > 3 else None, "n": n}


def test_windows_and_all_rows():
    data, table = sales()
    total = sum(v for v in data["qty"] if v is not None)
    sums = {key: sum(r["qty"] for r in rows if r["qty"] is not None) for key, rows in group(rows_of(data), "city").items()}
    got = run(table.lazy().select("city", col("qty").sum().over("city").alias("of city"), col("qty").sum().alias("of all")))
    assert got == [{"city": c, "of city": sums[c], "of all": total} for c in data["city"]]
    assert run(table.lazy().select(col("qty").sum())) == [{"qty": total}]


def test_order():
    data, table = sales()
    rows, lazy = rows_of(data), table.lazy()
    first = sorted(rows, key=lambda r: (r["qty"] is not None, r["qty"] or 0))
    assert run(lazy.sort("qty")) == first  # nulls first, as in Polars
    down = sorted(rows, key=lambda r: (r["qty"] is None, -(r["qty"] or 0)))
    assert run(lazy.sort("qty", descending=True, nulls_last=True)) == down
    assert run(lazy.top_k(7, by="qty")) == down[:7]
    assert run(lazy.bottom_k(3, by=["city", "id"])) == sorted((r for r in rows if r["city"] is not None), key=lambda r: (r["city"].encode(), r["id"]))[:3]
    assert run(lazy.head(3)) == rows[:3] and run(lazy.tail(2)) == rows[-2:] and run(lazy.slice(5, 4)) == rows[5:9] and run(lazy.slice(190)) == rows[190:]
    seen = {}
    for row in rows:
        seen.setdefault(row["city"], row)
    assert run(lazy.unique("city")) == list(seen.values())
    cities = [row["city"] for row in rows]
    few = lazy.head(50).select("city")
    assert run(lazy.select("city").except_(few)) == [{"city": c} for c in dict.fromkeys(cities) if c not in cities[:50]]
    assert run(lazy.select("city").except_(few, all=True)) == [{"city": c} for i, c in enumerate(cities) if cities[: i + 1].count(c) > cities[:50].count(c)]
    assert run(lazy.select("city").intersect(few)) == [{"city": c} for c in dict.fromkeys(cities[:50])]
    assert len(run(lazy.select("city").intersect(few, all=True))) == 50
    with pytest.raises(ValueError, match="2 values for 1 keys"):
        lazy.sort("qty", descending=[True, False])


def test_columns():
    data, table = sales(20)
    rows, lazy = rows_of(data), table.lazy()
    assert lazy.rename({"city": "qty", "qty": "city"}).drop("price").collect().to_pydict() == {"qty": data["city"], "city": data["qty"], "id": data["id"]}
    assert run(lazy.drop_nulls("qty")) == [r for r in rows if r["qty"] is not None]
    assert run(lazy.drop_nulls()) == [r for r in rows if None not in r.values()]
    assert lazy.fill_null(0).collect().to_pydict() == {**data, "qty": [v or 0 for v in data["qty"]], "price": [v or 0 for v in data["price"]]}
    assert lazy.fill_null("?").collect().to_pydict() == {**data, "city": ["?" if v is None else v for v in data["city"]]}
    assert lazy.with_columns(double=col("id") * 2, id="qty").collect().to_pydict() == {**data, "id": data["qty"], "double": [i * 2 for i in data["id"]]}
    assert lazy.collect_schema() == {"city": "utf8", "qty": "int64", "price": "float64", "id": "int64"}
    made = lazy.unpivot(["qty", "id"], index="city", variable_name="which").collect().to_pydict()
    assert made == {"city": data["city"] * 2, "which": ["qty"] * 20 + ["id"] * 20, "value": data["qty"] + data["id"]}
    assert gpuframe.concat([lazy, lazy.filter(col("id") > 17)]).collect().to_pydict()["id"] == [*range(20), 18, 19]
    pivoted = run(lazy.pivot("city", ["Oslo", None], index=(col("id") % 2).alias("odd"), values="id", aggregate_function="max").sort("odd"))
    for odd, made in enumerate(pivoted):
        of = {c: [r["id"] for r in rows if r["id"] % 2 == odd and r["city"] == c] for c in ("Oslo", None)}
        assert made == {"odd": odd, "Oslo": max(of["Oslo"], default=None), "null": max(of[None], default=None)}


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti", "cross"])
def test_joins(how):
    (left, a), (right, b) = sales(30, 2), sales(12, 3)
    keys = {} if how == "cross" else {"on": ["city", "qty"]}
    got = run(a.lazy().join(b.lazy().select("city", "qty", other="id"), how=how, **keys))
    key = (lambda r: ()) if how == "cross" else (lambda r: None if None in (r["city"], r["qty"]) else (r["city"], r["qty"]))
    pairs = [(x, y) for x in rows_of(left) for y in rows_of(right) if key(x) is not None and key(x) == key(y)]
    matched = {x["id"] for x, _ in pairs}, {y["id"] for _, y in pairs}
    if how in ("semi", "anti"):
        want = [x for x in rows_of(left) if (x["id"] in matched[0]) == (how == "semi")]
    elif how == "cross":
        want = [{**x, "city_right": y["city"], "qty_right": y["qty"], "other": y["id"]} for x, y in pairs]
    else:
        want = [{**x, "other": y["id"]} for x, y in pairs]
        if how in ("left", "full"):
            want += [{**x, "other": None} for x in rows_of(left) if x["id"] not in matched[0]]
        if how in ("right", "full"):
            want += [{"city": y["city"], "qty": y["qty"], "price": None, "id": None, "other": y["id"]} for y in rows_of(right) if y["id"] not in matched[1]]
    assert sorted(map(repr, got)) == sorted(map(repr, want))


def test_asof():
    trades = gpuframe.from_columns({"t": [1, 5, 9], "id": [0, 1, 2]}, device="host")
    quotes = gpuframe.from_columns({"t": [2, 5, 6], "bid": [20, 50, 60]}, device="host")
    assert trades.join_asof(quotes, on="t").collect().to_pydict()["bid"] == [None, 50, 60]
    assert trades.join_asof(quotes, on="t", strategy="forward", allow_exact_matches=False).collect().to_pydict()["bid"] == [20, 60, None]
    assert trades.join_asof(quotes, on="t", tolerance=2).collect().to_pydict()["bid"] == [None, 50, None]


LITERALS = [
    True, 7, -7, 2**40, 1.5, float("inf"), "text ü \x00", b"\x00\xff", decimal.Decimal("-12.50"), decimal.Decimal("1E+3"), datetime.date(1969, 12, 31),
    datetime.datetime(2026, 6, 1, 12, 0, 0, 500), datetime.timedelta(days=-1, microseconds=5), datetime.time(23, 59, 59, 999999),
]


@pytest.mark.parametrize("value", LITERALS, ids=repr)
def test_literals(value):
    made = gpuframe.from_columns({"x": [0]}, device="host").with_columns(lit(value).alias("v")).select("v", same=col("v") == value).collect()
    assert made["same"].tolist() == [True]
    if isinstance(value, (bool, int, float, str)):
        assert made["v"].tolist() == [value]


def test_literals_beside_columns():
    """Literals take the type of the column beside them, and mean the same moment or number."""
    x = gpuframe.from_columns({"x": [86_399_000_000]}, device="host")
    for kind, value in {
        "timestamp[us]": datetime.datetime(1970, 1, 1, 23, 59, 59), "duration[us]": datetime.timedelta(hours=23, minutes=59, seconds=59),
        "timestamp[us, UTC]": datetime.datetime(1970, 1, 2, 1, 59, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        "decimal128(20, 2)": decimal.Decimal("86399000000.00"), "float64": 86_399_000_000, "int64": 86_399e6,
    }.items():
        assert run(x.select((col("x").cast(kind) == value).alias("same"))) == [{"same": True}], kind
    got = run(x.select(b=lit(decimal.Decimal("-12.50")).cast(float), c=lit(decimal.Decimal("1E+3")).cast(int),
                       d=lit(datetime.time(1, 2, 3)).dt.minute(), e=lit(datetime.date(2024, 2, 29)).dt.day()))
    assert got == [{"b": -12.5, "c": 1000, "d": 2, "e": 29}]


def test_decimals():
    """Means have four more digits, and decimals are rounded half away from zero, of columns, groups and frames alike."""
    values = [decimal.Decimal(each) for each in ("1.05", "2.00", "-1.05")]
    x = gpuframe.from_columns({"k": [1, 1, 2], "x": [1.05, 2, -1.05]}, device="host").with_columns(col("x").cast("decimal128(9, 2)"))
    assert run(x.select(col("x").mean())) == [{"x": decimal.Decimal("0.666667")}]
    assert run(x.group_by("k").agg(col("x").mean()).sort("k")) == [{"k": 1, "x": decimal.Decimal("1.525")}, {"k": 2, "x": values[2]}]
    framed = run(x.with_row_index().select(col("x").mean().over(order_by="index", rows=(-1, 0))))
    assert [row["x"] for row in framed] == [values[0], decimal.Decimal("1.525"), decimal.Decimal("0.475")]
    rounded = run(x.select(a=col("x").round(1), b=col("x").round(), c=col("x").cast("decimal128(9, 1)"), d=col("x").cast(int)))
    assert [tuple(row.values()) for row in rounded] == [(decimal.Decimal("1.1"), 1, decimal.Decimal("1.1"), 1), (2, 2, 2, 2),
                                                       (decimal.Decimal("-1.1"), -1, decimal.Decimal("-1.1"), -1)]


def test_wrong_arguments():
    lazy = gpuframe.from_columns({"x": [0]}, device="host")
    for wrong in (object(), [1], {"a": 1}, 1j):
        with pytest.raises(TypeError, match="no literal"):
            lit(wrong)
    with pytest.raises(ValueError, match="64 bits"):
        lit(2**64)
    with pytest.raises(TypeError, match="truth value"):
        bool(col("x") > 1)
    with pytest.raises(TypeError, match="lazy"):
        lazy.join(lazy.collect(), on="x")
    with pytest.raises(ValueError, match="Unicode"):
        lazy.select(lit("\ud800")).collect()
    with pytest.raises(ValueError, match=r'^head \(test_queries.py:\d+\): n is "x", expected a whole number'):
        lazy.head("x").collect()
    with pytest.raises(ValueError, match='no kind of join is called "outer"'):
        lazy.join(lazy, on="x", how="outer").collect()
    deep = col("x")
    for _ in range(100_000):
        deep = deep + 1
    with pytest.raises(ValueError, match="nested|within others"):
        lazy.select(deep).collect()
    with pytest.raises(TypeError, match="whole expression"):
        lazy.select(gpuframe.when(col("x") > 0).then(1)).collect()


def test_wrong_arguments_name_parameters_and_places():
    """Documents and the Go API have other names for most of them."""
    lazy = gpuframe.from_columns({"x": [0], "b": [True], "t": [1.5]}, device="host").with_columns(at=lit(datetime.datetime(2026, 1, 1)).cast("timestamp[us]"))
    zoned = lazy.with_columns(z=col("at").dt.instant_in("Europe/Oslo"))
    for query, verb, text in [
        (lazy.join(lazy, on="x", how="outer"), "join", 'how: no kind of join is called "outer"'),
        (lazy.join_asof(lazy, on="x", strategy="next"), "join_asof", 'strategy: no direction is called "next"'),
        (lazy.top_k("many", by="x"), "top_k", 'k is "many", expected a whole number'),
        (gpuframe.scan_csv("a.csv", separator=";;"), "scan_csv", 'separator is ";;", expected one character'),
        (lazy.select(col("x").cast("integer")), "select", 'dtype is "integer", expected a type such as'),
        (lazy.select(col("x").sum().over("b", min_samples="2")), "select", 'min_samples is "2"'),
        (lazy.resample("at", "1mo", col("x").sum(), week_start="noday"), "resample", 'week_start: no day of the week is called "noday"'),
        (lazy.select(col("t").cast(str)), "select", "cannot cast float64 to utf8, use format_float()"),
        (lazy.select(col("at").cast(str)), "select", "use dt.strftime()"),
        (zoned.filter(col("z") > col("at")), "filter", "take dt.local_time() of it, or dt.instant_in() of the other one"),
        (zoned.select(col("z").dt.hour()), "select", "take dt.local_time() for the parts in a time zone"),
        (lazy.select(gpuframe.max_horizontal("b", "b")), "select", "take & or |"),
        (lazy.select("x", "x"), "select", "give one of them another name with alias()"),
        (lazy.group_by("x").agg("t"), "agg", "use first(), min() or implode() of it, or group by it"),
        (lazy.slice(-1), "slice", "use tail() for the last rows"),
        (lazy.sample(fraction=1.5), "sample", "or more with with_replacement=True"),
        (lazy.select(lit(None).alias("n")), "select", "None has no type here, use lit(None, dtype)"),
    ]:
        with pytest.raises(gpuframe.QueryError) as caught:
            query.collect(device="host")
        (problem,) = caught.value.problems
        assert problem.verb == verb and problem.file == __file__ and text in problem.text, problem
    with gpuframe.budget("1 kB", device="host"), pytest.raises(MemoryError, match=r"release some, or set a larger budget|set_budget\(\)"):
        gpuframe.Table.from_columns({"x": range(1000)}, device="host")


def test_all_problems_are_reported_with_their_places():
    _, table = sales(5)
    line = sys._getframe().f_lineno
    query = (table.lazy()
             .filter(col("pric") > 1)
             .with_columns(bad=col("city") + 1)
             .group_by("town").agg(col("bad").max()))
    with pytest.raises(gpuframe.QueryError) as caught:
        query.collect()
    problems = caught.value.problems
    assert [(p.verb, p.file, p.line) for p in problems] == [("filter", __file__, line + 2), ("with_columns", __file__, line + 3), ("agg", __file__, line + 4)]
    assert '"price"' in problems[0].text and "utf8" in problems[1].text and '"city"' in problems[2].text
    assert str(caught.value).count("test_queries.py:") == 3
    assert isinstance(caught.value, ValueError)


def test_against_sqlite():
    """Random groups, joins, filters and sorts, beside SQLite on the same rows."""
    checked = 0
    for seed in range(25):
        draw = random.Random(seed)
        (left, a), (right, b) = sales(draw.choice([0, 1, 40]), seed), sales(draw.choice([0, 1, 25]), seed + 1000)
        base = sqlite3.connect(":memory:")
        for name, data in (("a", left), ("b", right)):
            base.execute(f"create table {name} (city text, qty integer, price real, id integer)")
            base.executemany(f"insert into {name} values (?, ?, ?, ?)", zip(*data.values()))
        low, modulus = draw.randrange(-5, 5), draw.choice([2, 3])
        how = draw.choice(["inner", "left"])
        queries = [
            (f"select id, qty * 2 + {low}, price, upper(city) from a where qty > {low} or price is null order by price desc nulls last, id",
             a.lazy().filter((col("qty") > low) | col("price").is_null()).sort("price", "id", descending=[True, False], nulls_last=True)
             .select("id", (col("qty") * 2 + low).alias("q"), "price", col("city").str.to_uppercase()) if "Ærø" not in left["city"] else None),
            ("select city, count(*), sum(qty), count(distinct qty), max(price), avg(price) from a group by city order by city nulls last",
             a.lazy().group_by("city").agg(gpuframe.len(), col("qty").sum(), (col("qty").n_unique() - col("qty").null_count().clip(0, 1)).alias("d"),
                                           col("price").max(), col("price").mean().alias("m")).sort("city", nulls_last=True)),
            (f"select a.id, b.id from a {how} join b on a.city = b.city and a.id % {modulus} = b.id % {modulus} order by a.id, b.id",
             a.lazy().select("id", "city", m=col("id") % modulus)
             .join(b.lazy().select("city", other="id", m=col("id") % modulus), on=["city", "m"], how=how).sort("id", "other").select("id", "other")),
            ("select id, sum(qty) over (partition by city) from a order by id", a.lazy().select("id", col("qty").sum().over("city")).sort("id")),
            (f"select distinct qty from a where qty not in (1, {low}) order by qty", a.lazy().filter(~col("qty").is_in([1, low])).select("qty").unique().sort("qty")),
            ("select substr(city, 2, 2), length(city), replace(city, 'o', '00'), instr(city, 'r') from a order by id",
             a.lazy().select(col("city").str.slice(1, 2).alias("s"), col("city").str.len_chars().alias("l"), col("city").str.replace_all("o", "00").alias("r"),
                             (col("city").str.find("r").fill_null(-1) + 1 + lit(0) * col("city").str.len_chars()).alias("i"))),
        ]
        for sql, query in queries:
            if query is None:
                continue
            got = [tuple(row.values()) for row in run(query)]
            want = base.execute(sql).fetchall()
            assert len(got) == len(want), sql
            for mine, theirs in zip(got, want):
                assert mine == pytest.approx(theirs, nan_ok=True), sql
            checked += 1
    assert checked > 100


def test_against_pandas():
    pandas = pytest.importorskip("pandas")
    data, table = sales(500)
    frame = pandas.DataFrame(data)
    got = table.lazy().group_by("city").agg(col("qty").sum(), col("price").std().alias("std"), col("price").quantile(0.3).alias("q")).collect().to_pydict()
    groups = frame.groupby("city", dropna=False)
    want = groups.agg(qty=("qty", "sum"), std=("price", "std"), q=("price", lambda s: s.quantile(0.3)))
    for city, *values in zip(*got.values()):
        assert values == pytest.approx(list(want.loc[city if city is not None else want.index[want.index.isna()][0]]))
    numbers = frame[["id"]].assign(half=frame["id"] / 2)
    assert gpuframe.from_pandas(numbers, device="host").filter(col("half") > 248).collect().to_pydict() == {"id": [497, 498, 499], "half": [248.5, 249.0, 249.5]}


def test_lists():
    data, table = sales(60)
    lists = table.lazy().group_by("city").agg(col("qty").implode().alias("all")).select(
        "city", "all", n=col("all").list.len(), total=col("all").list.sum(), most=col("all").list.sort(descending=True).list.get(0),
        has=col("all").list.contains(5), two=col("all").list.slice(0, 2).list.len())
    groups = group(rows_of(data), "city")
    for row in run(lists.drop("all")):
        values = [each["qty"] for each in groups[row["city"]]]
        known = [v for v in values if v is not None]
        assert row["n"] == len(values) and row["total"] == sum(known) and row["most"] == max(known) and row["two"] == 2
        assert (row["has"] is True) == (5 in known)
    exploded = run(lists.select("city", "all").explode("all"))
    assert sorted(map(repr, exploded)) == sorted(repr({"city": r["city"], "all": r["qty"]}) for r in rows_of(data))


def test_require():
    t = gpuframe.Table.from_arrow(Array.struct({"n": Array.of("int64", [3, 6, None])}), device="host")
    made = t.lazy().filter(col("n").is_not_null())
    assert run(made.require(col("n") > 2)) == [{"n": 3}, {"n": 6}]
    with pytest.raises(gpuframe.InvalidDataError, match="n is too small"):
        made.require(col("n") > 3, "n is too small").collect()
    with pytest.raises(gpuframe.InvalidDataError, match="does not meet the condition"):
        t.lazy().require(col("n") > 2).select(gpuframe.len()).collect()
    with pytest.raises(gpuframe.QueryError, match="expected bool"):
        t.lazy().require(col("n") + 1).collect()


def test_elements_of_lists():
    t = gpuframe.Table.from_arrow(Array.struct({"text": Array.of("utf8", ["a-b-a", "", None]), "n": Array.of("int64", [3, 6, 7])}), device="host")
    parts, each = col("text").str.split("-"), gpuframe.element()
    made = t.lazy().select(
        long=parts.list.eval(gpuframe.concat_str(each, lit("!"))).list.join(" "), kept=parts.list.filter(each != "a").list.len(), few=parts.list.unique().list.join(""),
        more=gpuframe.concat_list(parts, "text").list.len(), sum=col("n").int_list().list.eval(each * col("n")).list.sum())
    assert run(made) == [
        {"long": "a! b! a!", "kept": 1, "few": "ab", "more": 4, "sum": 9}, {"long": "!", "kept": 1, "few": "", "more": 2, "sum": 90},
        {"long": None, "kept": None, "few": None, "more": None, "sum": 147}]


def test_ordered_windows():
    data, table = sales(80)
    got = run(table.lazy().select(
        "id", number=col("id").rank("ordinal", descending=True), rank=col("city").rank(), lag=col("id").shift(2).over("city", order_by="id"),
        lead=col("id").shift(-1).over("city", order_by="id"), total=col("qty").cum_sum().over("city", order_by="id"),
        rolling=col("id").sum().over(order_by="id", rows=(-2, 0), min_samples=3)))
    rows = rows_of(data)
    for i, (row, made) in enumerate(zip(rows, got)):
        before = [r for r in rows[:i] if r["city"] == row["city"]]
        after = [r for r in rows[i + 1:] if r["city"] == row["city"]]
        sums = [r["qty"] for r in [*before, row] if r["qty"] is not None]
        less = [r for r in rows if row["city"] is None and r["city"] is not None or None not in (row["city"], r["city"]) and r["city"].encode() < row["city"].encode()]
        assert made == {"id": i, "number": 80 - i, "rank": len(less) + 1, "lag": before[-2]["id"] if len(before) > 1 else None,
                        "lead": after[0]["id"] if after else None, "total": sum(sums) if sums else None, "rolling": 3 * i - 3 if i > 1 else None}


def test_ranges_of_windows():
    data, table = sales(90)
    near = dict(order_by="qty", range=(-2, 1))
    got = run(table.lazy().filter(col("qty").is_not_null()).select(
        "id", n=col("id").count().over("city", **near), most=col("id").max().over("city", **near),
        up=col("id").sum().over(order_by="qty", range=(None, 0)), few=col("id").sum().over("city", **near, min_samples=4)))
    rows = [r for r in rows_of(data) if r["qty"] is not None]
    assert len(got) == len(rows)
    for row, made in zip(rows, got):
        frame = [r["id"] for r in rows if r["city"] == row["city"] and -2 <= r["qty"] - row["qty"] <= 1]
        up = sum(r["id"] for r in rows if r["qty"] <= row["qty"])
        assert made == {"id": row["id"], "n": len(frame), "most": max(frame), "up": up, "few": sum(frame) if len(frame) >= 4 else None}
    hour = datetime.timedelta(hours=1)
    times = gpuframe.from_columns({"h": [0, 1, 4, 5, 9], "x": [1, 2, 4, 8, 16]}, device="host").with_columns(
        at=lit(datetime.datetime(2026, 1, 1)) + col("h") * lit(hour))
    assert times.select(x=col("x").sum().over(order_by="at", range=(-hour, 0 * hour))).collect()["x"].tolist() == [1, 3, 4, 12, 16]


def test_ranges_of_calendars():
    # January 30 and 31, February 29, March 30 and 31
    table = gpuframe.from_columns({"x": [1, 2, 4, 8, 16], "d": [29, 30, 59, 89, 90]}, device="host").with_columns(
        at=lit(datetime.datetime(2024, 1, 1)) + col("d") * lit(datetime.timedelta(days=1)))
    bounds = {"month": ("-1mo", 0), "quarter": ("-1q", "-1mo"), "after": (datetime.timedelta(0), "2d"), "all": (None, "1y")}
    got = run(table.select(**{name: col("x").sum().over(order_by="at", range=each) for name, each in bounds.items()}))
    assert {name: [row[name] for row in got] for name in bounds} == {
        "month": [1, 3, 7, 12, 28], "quarter": [None, None, None, 7, 7], "after": [3, 2, 4, 24, 16], "all": [31] * 5}
    with pytest.raises(gpuframe.ArgumentError, match="'-2h': expected days, weeks"):
        col("x").sum().over(order_by="at", range=("-2h", 0))


def test_means_by_time():
    # The example in the documents of Polars' ewm_mean_by, with the mean before in the row without a value. The rows are not in order.
    table = gpuframe.from_columns({"d": [16, 0, 9, 2, 14], "x": [4, 0, 2, 1, -1]}, device="host").with_columns(
        at=lit(datetime.datetime(2020, 1, 1)) + col("d") * lit(datetime.timedelta(days=1)), x=gpuframe.when(col("x") >= 0).then(col("x")).otherwise(None))
    means = {name: table.select(x=mean).collect()["x"].tolist() for name, mean in {
        "text": col("x").ewm_mean_by("at", half_life="4d"), "length": col("x").ewm_mean_by("at", half_life=datetime.timedelta(days=4)),
        "number": col("x").ewm_mean_by(col("d"), half_life=4).over(order_by="x")}.items()}
    for got in means.values():
        assert got == pytest.approx([3.254508, 0, 1.492474, 0.292893, 1.492474], abs=1e-6)
    with pytest.raises(gpuframe.ArgumentError, match="months do not all have one length"):
        col("x").ewm_mean_by("at", half_life="1mo")


def test_functions_of_ordered_windows():
    _, table = sales(40)
    by = {"order_by": "id"}
    got = run(table.lazy().select(mean=col("id").cum_mean().over(**by), ewm=col("id").ewm_mean(alpha=0.5).over(**by), third=col("id").nth(2).over(**by),
                                  change=(col("id") + 1).pct_change()))
    weights = [0.5 ** (39 - i) for i in range(40)]
    assert got[39]["ewm"] == pytest.approx(sum(w * i for i, w in enumerate(weights)) / sum(weights))
    assert [row["mean"] for row in got] == pytest.approx([i / 2 for i in range(40)])
    assert {row["third"] for row in got} == {2} and got[0]["change"] is None
    assert [row["change"] for row in got[1:]] == pytest.approx([1 / i for i in range(1, 40)])
    with pytest.raises(ValueError, match="n=-1, expected 0 or more"):
        col("id").nth(-1)


def test_random_order():
    _, table = sales(50)
    ids = table.lazy().shuffle(seed=3).collect()["id"].tolist()
    assert sorted(ids) == list(range(50)) != ids
    assert ids == table.lazy().shuffle(seed=3).collect()["id"].tolist() != table.lazy().shuffle(seed=4).collect()["id"].tolist()
    drawn = table.lazy().with_random("r", seed=3).collect()["r"].tolist()
    assert len(set(drawn)) == 50 and all(0 <= each < 1 for each in drawn)


def test_places_in_lists():
    lists = gpuframe.from_columns({"k": [0, 0, 1, 2], "x": [7, 8, 9, 5]}, device="host").group_by("k").agg(x=col("x").filter(col("x") > 5).implode()).sort("k")
    assert run(lists.explode("x", position="at")) == [
        {"k": 0, "x": 7, "at": 0}, {"k": 0, "x": 8, "at": 1}, {"k": 1, "x": 9, "at": 0}, {"k": 2, "x": None, "at": None}]
    assert lists.explode("x", empty_as_null=False).collect()["k"].tolist() == [0, 0, 1]


def test_samples():
    data, table = sales(300)
    some = table.lazy().sample(20, seed=7)
    assert run(some) == run(some) != run(table.lazy().sample(20, seed=8))
    ids = some.collect()["id"].tolist()
    assert len(ids) == 20 and ids == sorted(set(ids))
    assert 50 < len(table.lazy().sample(fraction=0.5).collect()) < 250
    assert table.lazy().filter(col("id") > 9).with_row_index().collect()["index"].tolist() == list(range(290))
    with pytest.raises(ValueError, match="n= or fraction="):
        table.lazy().sample()


def test_time_series():
    table = gpuframe.Table.from_arrow(Array.struct({
        "user": Array.of("utf8", ["a", "a", "a", "a", "b", "b"]), "ts": Array.of("int64", [0, 10, 20, 60, 5, 65]),
        "value": Array.of("float64", [1.0, None, 4.0, None, None, 7.0]), "n": Array.of("int64", [2, 0, 1, 0, 0, 0])}), device="host")
    lazy = table.lazy()
    got = run(lazy.select(
        forward=col("value").forward_fill().over("user", order_by="ts"), backward=col("value").backward_fill().over("user", order_by="ts"),
        rows=col("value").interpolate().over("user", order_by="ts"), times=col("value").interpolate_by("ts").over("user", order_by="ts"),
        session=col("ts").session(30).over("user", order_by="ts")))
    assert [list(each.values()) for each in got] == [
        [1.0, 1.0, 1.0, 1.0, 1], [1.0, 4.0, 2.5, 2.5, 1], [4.0, 4.0, 4.0, 4.0, 1], [4.0, None, None, None, 2], [None, 7.0, None, None, 1], [7.0, 7.0, 7.0, 7.0, 2]]
    made = run(lazy.resample("ts", 20, col("value").sum().alias("sum"), by="user"))
    assert [(each["user"], each["ts"], each["sum"]) for each in made] == [
        ("a", 0, 1.0), ("a", 20, 4.0), ("a", 40, None), ("a", 60, None), ("b", 0, None), ("b", 20, None), ("b", 40, None), ("b", 60, 7.0)]
    assert [each["rows"] for each in run(lazy.resample("ts", 60, rows=col("ts").count()))] == [4, 2]
    assert run(lazy.cross_tab("user", col("value").is_null(), [False, True])) == [{"user": "a", "false": 2, "true": 2}, {"user": "b", "false": 1, "true": 1}]
    assert [each["user"] for each in run(lazy.sample(1, by="user", seed=3))] == ["a", "b"]
    assert [each["i"] for each in run(lazy.select(i=col("n").int_list()).explode("i"))] == [0, 1, None, 0, None, None, None]
    assert [each["low"] for each in run(lazy.select(low=col("user").min().over(order_by="ts", rows=(-1, 0))))] == ["a"] * 6


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_peers(library):
    pytest.importorskip(library)
    data, table = sales(50)
    if library == "pyarrow":
        back = gpuframe.from_arrow(table.to_arrow(), device="host").collect()
    else:
        back = gpuframe.from_polars(table.to_polars(), device="host").collect()
    assert back.to_pydict() == data


def test_files(tmp_path):
    data, table = sales(300)
    lazy = table.lazy().filter(col("id") >= 5)
    want = {name: values[5:] for name, values in data.items()}
    for form, scan in (("parquet", gpuframe.scan_parquet), ("ipc", gpuframe.scan_ipc)):
        path = tmp_path / f"a.{form}"
        assert getattr(lazy, "sink_" + form)(path, device="host") == 295
        assert scan(path).collect(device="host").to_pydict() == want
        assert scan([path, path]).select(gpuframe.len()).collect(device="host").to_pylist() == [{"len": 590}]
    lazy.select("id", "qty").sink_csv(tmp_path / "a.csv")
    assert gpuframe.scan_csv(tmp_path / "a.csv", schema_overrides={"qty": float}).collect(device="host").to_pydict() == {"id": want["id"], "qty": want["qty"]}
    lazy.select("id", "city").sink_ndjson(tmp_path / "a.ndjson")
    read = gpuframe.scan_ndjson(tmp_path / "a.ndjson", schema={"id": "int32", "city": str}).collect(device="host")
    assert read.to_pydict() == {"id": want["id"], "city": want["city"]} and read.schema.types == ["int32", "utf8"]
    (tmp_path / "b.csv").write_text("x;y\n1;2\n")
    assert gpuframe.scan_csv(tmp_path / "b.csv", separator=";", has_header=False).collect(device="host").column_names == ["f0", "f1"]
    with pytest.raises(FileNotFoundError, match="missing"):
        gpuframe.scan_parquet(tmp_path / "missing.parquet").collect(device="host")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no file PAR1")
    with pytest.raises(gpuframe.InvalidDataError, match="bad.parquet"):
        gpuframe.scan_parquet(tmp_path / "bad.parquet").collect(device="host")


def test_plans_and_profiles():
    _, table = sales(100)
    query = table.lazy().filter(col("qty") > 0).group_by("city").agg(col("price").sum())
    plan = query.explain()
    assert "as written:" in plan and "as run on" in plan and "qty > 0" in plan
    assert query.explain(format="mermaid").startswith("flowchart BT") and "qty #gt; 0" in query.explain(format="mermaid")
    picture = ElementTree.fromstring(query.explain(format="svg"))
    assert picture.tag.endswith("svg") and any("qty > 0" in text for text in picture.itertext())
    with pytest.raises(ValueError, match="mermaid"):
        query.explain(format="png")
    made, profile = query.profile()
    assert len(made) == 5 and "rows in" in str(profile) and '"traceEvents"' in profile.trace
    assert "given" not in repr(query) and "filter" in repr(query)
    described = {row["statistic"]: row for row in table.lazy().select("id", "city").describe().to_pylist()}
    assert described["mean"]["id"] == 49.5 and described["count"]["id"] == 100 and described["mean"]["city"] is None


def test_batches(where):
    _, table = sales(1000, where=where) if support.KERNELS[where] else sales(1000)
    lazy = gpuframe.concat([table.lazy()] * 4)
    sizes = [len(batch) for batch in lazy.collect_batches(batch_rows=100)]
    assert sum(sizes) == 4000 and len(sizes) > 1
    some = lazy.collect_batches(batch_rows=100)
    assert len(next(some)) > 0
    some.close()  # ends the run
    assert list(lazy.filter(col("id") < 0).collect_batches()) == []


def test_cache(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("city,qty\nOslo,3\nBern,4\nOslo,5\n")
    with gpuframe.budget("4 MB", device="host") as budget:
        cached = gpuframe.scan_csv(path).filter(col("qty") > 3).cache()
        total = cached.select(col("qty").sum())
        assert "cache, empty" in total.explain(device="host")
        assert run(total) == [{"qty": 9}]
        path.write_text("city,qty\nBonn,7\n")  # later queries read what was kept
        assert run(cached) == [{"city": "Bern", "qty": 4}, {"city": "Oslo", "qty": 5}]
        assert run(cached.join(cached, "city", how="semi").sort("qty", descending=True)) == [{"city": "Oslo", "qty": 5}, {"city": "Bern", "qty": 4}]
        assert "cache, 2 rows" in total.explain(device="host")
        assert budget.in_use > 0
        total.evict()
        assert budget.in_use == 0
        assert run(total) == [{"qty": 7}]
        path.write_text("place,qty\nBonn,7\n")
        with pytest.raises(gpuframe.QueryError, match="other columns"):
            cached.collect(device="host")
        batches = cached.cache().head(1)
        del cached, batches
        assert budget.in_use > 0
        del total
        gc.collect()
        assert budget.in_use == 0


def test_budget():
    _, table = sales(10_000)
    with gpuframe.budget("20 kB", device="host"):
        with pytest.raises(MemoryError) as caught:
            table.lazy().sort("price").collect(device="host")
    assert isinstance(caught.value, gpuframe.BudgetError) and caught.value.budget == 20_000
    with gpuframe.budget("4 MB", device="host") as budget:
        made = table.lazy().sort("price").collect(device="host", tag="sorted")
        assert 0 < budget.in_use <= budget.peak <= 4_000_000
    del made


def test_a_thousand_queries_leak_nothing():
    _, table = sales(50)
    lazy = table.lazy()
    slots = set()
    for i in range(1000):
        if i % 5 == 4:
            with pytest.raises(gpuframe.QueryError):
                lazy.filter(col("nothing") > i).collect()
            continue
        made = lazy.filter(col("id") >= i % 50).group_by("city").agg(col("qty").sum()).collect()
        slots.add(made._handle() & 0xFFFFFFFF)
        del made
    support.settle()
    assert len(slots) < 20  # slots of handles are used again


def test_threads():
    data, table = sales(300)
    failures = []

    def work(low):
        try:
            for _ in range(10):
                assert table.lazy().filter(col("id") > low).select(gpuframe.len()).collect().to_pylist() == [{"len": 299 - low}]
        except BaseException as error:  # noqa: BLE001 - threads lose their exceptions
            failures.append(error)

    threads = [threading.Thread(target=work, args=(low,)) for low in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures


def test_an_interrupt_cancels_a_run(monkeypatch):
    """The signal comes while the run is under way: a cross join that would yield 10^13 rows."""
    many = gpuframe.from_columns({"x": range(200_000)}, device="host")
    query = many.join(many, how="cross").join(many, how="cross").select(col("x").sum())
    waits = []

    def interrupted(handle, *arguments, wait=gpuframe._library.library.run_wait):
        if not waits:
            waits.append(handle)
            os.kill(os.getpid(), signal.SIGINT)
        return wait(handle, *arguments)

    monkeypatch.setattr(gpuframe._library.library, "run_wait", interrupted)
    # A shell that starts tests in the background has them ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            query.collect(batch_rows=1000)
    finally:
        signal.signal(signal.SIGINT, before)
    assert waits


@pytest.mark.parametrize("after", ["query", "run_wait"])
def test_a_signal_at_the_end_of_a_call_loses_nothing(monkeypatch, after):
    """The exception comes after the library has returned a handle. No memory is held at the end of the test."""
    library = gpuframe._library.library
    real = getattr(library, after)

    def then_interrupted(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    _, table = sales(100)
    monkeypatch.setattr(library, after, then_interrupted)
    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            table.lazy().sort("qty").collect()


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = set(), []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attributes)

    def handle_data(self, data):
        self.text.append(data)


def test_html_of_hostile_names():
    hostile = '<script>alert("x")</script>'
    table = gpuframe.Table.from_arrow(Array.struct({hostile: Array.of("utf8", ["<img src=x onerror=y>", "&amp;", None])}), device="host")
    shown = table.lazy().collect()._repr_html_()
    parser = Tags()
    parser.feed(shown)
    assert not parser.tags & {"script", "img"} and "table" in parser.tags
    text = "".join(parser.text)
    assert hostile in text and "<img src=x onerror=y>" in text and "&amp;" in text


def test_results_print_and_go_on():
    table = gpuframe.from_columns({"x": [1, 2, 3], "y": [0.5, 1.5, 2.5]}, device="host").filter(col("x") > 1).collect()
    assert str(table).splitlines()[0] == "shape: (2, 2)" and "float64" in str(table) and repr(table) == str(table)
    numpy = pytest.importorskip("numpy")
    assert numpy.from_dlpack(table["y"]).tolist() == [1.5, 2.5]
    assert table.lazy().select(col("y").max()).collect().to_pylist() == [{"y": 2.5}]
    assert repr(gpuframe.when(col("x") > 1).then(2).otherwise(3)) == "if(gt(x, 1), 2, 3)"


def test_dates():
    day = datetime.date(2024, 2, 29)
    query = gpuframe.from_columns({"n": [0, 1, 400]}, device="host").select(d=col("n").cast("int32").cast("date32")).select(
        y=col("d").dt.year(), m=col("d").dt.month(), day=col("d").dt.day(), w=col("d").dt.weekday(), o=col("d").dt.ordinal_day(),
        later=col("d").dt.offset_by("1y2mo3d").dt.days_since(col("d")), month=col("d").dt.truncate("1mo").dt.day(), before=col("d") < lit(day))
    got = run(query)
    for row, n in zip(got, [0, 1, 400]):
        d = datetime.date(1970, 1, 1) + datetime.timedelta(n)
        later = datetime.date(d.year + 1 + (d.month + 1) // 12, (d.month + 1) % 12 + 1, d.day) + datetime.timedelta(3)
        assert row == {"y": d.year, "m": d.month, "day": d.day, "w": d.isoweekday(), "o": d.timetuple().tm_yday, "later": (later - d).days, "month": 1, "before": True}
    with pytest.raises(ValueError, match="offset|expected a number"):
        col("d").dt.offset_by("soon")


def test_calendars_and_clocks():
    days = [0, 1, 3, 58, 365, 19_782]
    d, start = col("d"), datetime.date(1970, 1, 1)
    query = gpuframe.from_columns({"n": days}, device="host").select(d=col("n").cast("int32").cast("date32")).select(
        y=d.dt.iso_year(), w=d.dt.week(), leap=d.dt.is_leap_year(), length=d.dt.days_in_month(), half=d.dt.truncate("6mo").dt.month(),
        up=d.dt.ceil("1w").dt.weekday(), near=d.dt.round("1mo").dt.day(), months=d.dt.months_since(lit(start)), years=d.dt.years_since(lit(start)),
        work=d.dt.business_days_since(lit(start)), later=d.dt.add_business_days(1).dt.weekday(),
        hour=d.cast("timestamp[s]").dt.local_time("Asia/Kolkata").dt.minute())
    for row, n in zip(run(query), days):
        day = start + datetime.timedelta(n)
        year, week, weekday = day.isocalendar()
        assert (row["y"], row["w"], row["near"], row["up"], row["hour"]) == (year, week, 1, 1, 30)
        assert row["leap"] == calendar.isleap(day.year) and row["length"] == calendar.monthrange(day.year, day.month)[1]
        assert row["half"] == (1 if day.month < 7 else 7) and row["years"] == row["months"] // 12
        assert row["months"] == (day.year - 1970) * 12 + day.month - 1
        assert row["work"] == sum((start + datetime.timedelta(i)).weekday() < 5 for i in range(n))
        assert row["later"] == (weekday + 1 if weekday < 5 else 1)
    holidays = [start, datetime.datetime(1970, 1, 2, 23), datetime.date(1970, 1, 5)]
    query = gpuframe.from_columns({"n": days}, device="host").select(d=col("n").cast("int32").cast("date32")).select(
        work=d.dt.business_days_since(lit(start), holidays), later=d.dt.add_business_days(1, holidays=iter(holidays)).dt.days_since(lit(start)),
        is_one=d.dt.is_business_day(holidays))
    for row, n in zip(run(query), days):
        is_one = lambda i: (i + 3) % 7 < 5 and i not in (0, 1, 4)  # noqa: E731
        assert row == {"work": sum(map(is_one, range(n))), "later": next(i for i in range(n + 1, n + 9) if is_one(i)), "is_one": is_one(n)}
    with pytest.raises(TypeError, match="holidays=.*expected dates"):
        d.dt.is_business_day(["1970-01-01"])
    with pytest.raises(ValueError, match="expected a number and a unit"):
        d.dt.round("1 hour")


def test_classes_of_characters():
    texts = ["abc", "ABC", "a1", "12", " \t", "", "Ä"]
    t = col("t").str
    got = run(gpuframe.Table.from_arrow(Array.struct({"t": Array.of("utf8", texts)}), device="host").lazy().select(
        alpha=t.is_alpha(), digit=t.is_digit(), alnum=t.is_alnum(), space=t.is_space(), upper=t.is_upper(), lower=t.is_lower(), ascii=t.is_ascii()))
    assert got == [{"alpha": s.isalpha(), "digit": s.isdigit(), "alnum": s.isalnum(), "space": s.isspace(), "upper": s.isupper(),
                    "lower": s.islower(), "ascii": s.isascii()} for s in texts]


def test_codes_and_formats():
    texts = ["abc", "YQ==", "6162", "2024-02-29"]
    t = col("t").str
    got = run(gpuframe.Table.from_arrow(Array.struct({"t": Array.of("utf8", texts)}), device="host").lazy().select(
        hex=t.encode("hex"), b64=t.encode("base64"), bytes=t.decode("hex"), raw=t.decode("base64"), far=t.edit_distance("abd"),
        day=t.strptime("date32", "%Y-%m-%d").dt.strftime("%d %b %y")))
    for row, s in zip(got, texts):
        assert row["hex"] == s.encode().hex() and row["b64"] == base64.b64encode(s.encode()).decode()
    assert [row["bytes"] for row in got] == [None, None, b"ab", None] and [row["raw"] for row in got] == [None, b"a", base64.b64decode("6162"), None]
    assert [row["far"] for row in got] == [1, 4, 4, 10] and [row["day"] for row in got] == [None, None, None, "29 Feb 24"]
    with pytest.raises(ValueError, match="hex"):
        t.encode("morse")


def test_durations():
    texts = ["P1DT2H3M4.5S", "-PT90M", "PT0S", "P1Y", None]
    spans = [datetime.timedelta(days=1, hours=2, minutes=3, seconds=4.5), datetime.timedelta(minutes=-90), datetime.timedelta(0), None, None]
    span = col("t").str.parse_duration("iso8601")
    got = run(gpuframe.Table.from_arrow(Array.struct({"t": Array.of("utf8", texts)}), device="host").lazy().select(
        seconds=span.dt.total_seconds(), hours=span.dt.total_hours(), micro=span.dt.total_microseconds(), iso=span.dt.format_duration("iso8601"),
        go=span.dt.format_duration("go"), clock=span.dt.format_duration("clock"), next=(lit(datetime.datetime(2024, 2, 28)) + span).dt.strftime("%F %T")))
    for row, each in zip(got, spans):
        if each is None:
            assert set(row.values()) == {None}
            continue
        assert row["micro"] == each // datetime.timedelta(microseconds=1) and row["seconds"] == int(each.total_seconds())
        assert row["next"] == (datetime.datetime(2024, 2, 28) + each).strftime("%Y-%m-%d %H:%M:%S")
    assert [list(row.values())[1] for row in got[:2]] == [26, -1]
    assert [[row[form] for form in ("iso", "go", "clock")] for row in got[:3]] == [
        ["P1DT2H3M4.5S", "26h3m4.5s", "26:03:04.5"], ["-PT1H30M", "-1h30m0s", "-01:30:00"], ["PT0S", "0s", "00:00:00"]]


def test_quotients_of_durations():
    """Those of Python's timedelta, but whole units where Python rounds to microseconds."""
    day, spans = datetime.timedelta(days=1), [datetime.timedelta(hours=h) for h in (49, -5, 0)]
    units = [span // datetime.timedelta(microseconds=1) for span in spans]
    made = gpuframe.from_columns({"us": units, "n": [7, 2, 0]}, device="host").with_columns(a=col("us").cast("duration[us]"))
    got = made.select(half=col("a") / 2, part=col("a") / 2.5, whole=col("a") // 7, days=col("a") / lit(day), count=col("a") // lit(day), rest=col("a") % lit(day),
                      by=col("a") // col("n")).collect().to_pydict()
    assert got["half"] == [span / 2 for span in spans] and got["part"] == [span / 2.5 for span in spans] and got["whole"] == [span // 7 for span in spans]
    assert got["days"] == pytest.approx([span / day for span in spans]) and got["count"] == [span // day for span in spans]
    assert got["rest"] == [span % day for span in spans] and got["by"] == [spans[0] // 7, spans[1] // 2, None]
    with pytest.raises(gpuframe.QueryError, match="cannot divide"):
        made.select(1 / col("a")).collect()


def test_splits_and_differences():
    t = gpuframe.Table.from_arrow(Array.struct({"t": Array.of("utf8", ["a-b-c", "", None]), "g": Array.of("int64", [1, 1, 2]), "n": Array.of("int64", [3, 6, 7])}), device="host")
    made = t.lazy().with_columns(parts=col("t").str.split("-"), both=col("t").str.split_fields("-", ["first", "second"]))
    assert run(made.select(n=col("parts").list.len(), first=col("both").field("first"), second=col("both").field("second"))) == [
        {"n": 3, "first": "a", "second": "b"}, {"n": 1, "first": "", "second": None}, {"n": None, "first": None, "second": None}]
    assert run(made.select(d=col("n").diff().over("g", order_by="n"), back=col("n").diff(-1), change=col("n").pct_change().over("g"))) == [
        {"d": None, "back": -3, "change": None}, {"d": 3, "back": -1, "change": 1.0}, {"d": None, "back": None, "change": None}]


def test_windows_of_the_calendar():
    at = [datetime.datetime(2024, 1, 31, 23, 30), datetime.datetime(2024, 2, 1, 0, 30), datetime.datetime(2024, 4, 7, 12)]
    micros = [int((each - datetime.datetime(1970, 1, 1)) / datetime.timedelta(microseconds=1)) for each in at]
    lazy = gpuframe.Table.from_arrow(Array.struct({"us": Array.of("int64", micros)}), device="host").lazy().select(at=col("us").cast("timestamp[us]"))

    def windows(every, **options):
        made = lazy.resample("at", every, n=col("at").count(), **options).select(at=col("at").dt.strftime("%F %H:%M"), n="n")
        return [(each["at"], each["n"]) for each in run(made)]

    assert windows("1mo") == [("2024-01-01 00:00", 1), ("2024-02-01 00:00", 1), ("2024-03-01 00:00", 0), ("2024-04-01 00:00", 1)]
    assert windows("1q", time_zone="Europe/Oslo") == [("2023-12-31 23:00", 2), ("2024-03-31 22:00", 1)]
    assert windows("1w", week_start="sunday")[-1] == ("2024-04-07 00:00", 1)
    with pytest.raises(ValueError, match="of calendars"):
        lazy.resample("at", datetime.timedelta(days=1), time_zone="UTC")
    with pytest.raises(gpuframe.GpuframeError, match="timedelta|time.Duration"):
        windows("1h")


def vectors(rows, dim, seed):
    """Return vectors of numpy, and a table of their numbers and of them."""
    numpy = pytest.importorskip("numpy")
    values = numpy.random.default_rng(seed).standard_normal((rows, dim)).astype("float32")
    return values, gpuframe.Table.from_columns({"id": numpy.arange(rows), "v": values}, device="host")


@pytest.mark.parametrize("dim", [1, 3, 64])
def test_functions_of_vectors(dim):
    a, table = vectors(50, dim, 1)
    other = [0.5] + [1.25] * (dim - 1)
    numpy = pytest.importorskip("numpy")
    v = col("v").list
    got = table.select(dot=v.dot(other), cosine=v.cosine_similarity(numpy.array(other)), l2=v.l2_distance(tuple(other)), norm=v.norm(), squares=v.dot(col("v")),
                       same=v.dot(gpuframe.vector(other)) == v.dot(other)).to_pydict()
    wide, y = a.astype("float64"), numpy.array(other)
    norm = numpy.linalg.norm(wide, axis=1)
    want = {"dot": wide @ y, "cosine": wide @ y / (norm * numpy.linalg.norm(y)), "l2": numpy.linalg.norm(wide - y, axis=1), "norm": norm, "squares": (wide * wide).sum(axis=1)}
    for name, values in want.items():
        numpy.testing.assert_allclose(got[name], values, rtol=1e-12)
    assert all(got["same"])


@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
@pytest.mark.parametrize("how", ["left", "inner"])
def test_nearest_rows(metric, how):
    numpy = pytest.importorskip("numpy")
    a, left = vectors(30, 16, 1)
    b, right = vectors(200, 16, 2)
    got = left.join_nearest(right, "v", 7, metric=metric, how=how, distance="far", rank="place")
    assert [name for name, _ in got.schema] == ["id", "v", "id_right", "v_right", "far", "place"]
    x, y = a.astype("float64"), b.astype("float64")
    if metric == "l2":
        far = numpy.linalg.norm(x[:, None] - y[None], axis=2)
    else:
        far = x @ y.T
        if metric == "cosine":
            far = 1 - far / (numpy.linalg.norm(x, axis=1)[:, None] * numpy.linalg.norm(y, axis=1))
    order = numpy.argsort(-far if metric == "dot" else far, axis=1, kind="stable")[:, :7]
    rows = got.select("id", "id_right", "far", "place").to_pydict()
    assert rows["id_right"] == order.ravel().tolist()
    assert rows["id"] == numpy.repeat(numpy.arange(30), 7).tolist() and rows["place"] == list(range(1, 8)) * 30
    numpy.testing.assert_allclose(rows["far"], numpy.take_along_axis(far, order, axis=1).ravel(), rtol=2e-4, atol=2e-6)


def test_vectors_that_do_not_fit():
    _, left = vectors(3, 2, 1)
    _, right = vectors(3, 4, 2)
    with pytest.raises(gpuframe.QueryError, match="4 elements"):
        left.join_nearest(right, "v", 1)
    with pytest.raises(gpuframe.QueryError, match="k is 0"):
        left.join_nearest(left, "v", 0)
    with pytest.raises(gpuframe.ArgumentError, match="left_on="):
        left.join_nearest(right)
    with pytest.raises(gpuframe.QueryError, match="no metric is called"):
        left.join_nearest(left, "v", 1, metric="l1")
    with pytest.raises(gpuframe.ArgumentError, match="finite"):
        col("v").list.dot([float("nan"), 1])
    with pytest.raises(gpuframe.QueryError, match="2 elements"):
        left.select(col("v").list.dot([1]))


def test_grouping_sets():
    lazy = gpuframe.from_columns({"k": [1, 2, 1], "n": [1, 2, 0], "x": [7, 8, 9]}, device="host").with_columns(n=gpuframe.when(col("n") > 0).then(col("n")).otherwise(None))
    total = [col("x").sum(), gpuframe.grouping_id().alias("level")]
    by = lambda frame, *columns: run(frame.sort("level", "k", *columns, nulls_last=True))
    keys = [{"k": 1, "n": 1, "x": 7, "level": 0}, {"k": 1, "n": None, "x": 9, "level": 0}, {"k": 2, "n": 2, "x": 8, "level": 0}]
    halves = [{"k": 1, "n": None, "x": 16, "level": 1}, {"k": 2, "n": None, "x": 8, "level": 1}]
    numbers = [{"k": None, "n": 1, "x": 7, "level": 2}, {"k": None, "n": 2, "x": 8, "level": 2}, {"k": None, "n": None, "x": 9, "level": 2}]
    everything = {"k": None, "n": None, "x": 24, "level": 3}
    assert by(lazy.rollup("k", "n").agg(*total), "n") == [*keys, *halves, everything]
    assert by(lazy.cube(col("k"), "n").agg(*total), "n") == [*keys, *halves, *numbers, everything]
    assert by(lazy.grouping_sets(["k", "n"], "n").agg(*total), "n") == [*keys, *numbers]
    assert by(lazy.collect().rollup("k").agg(x=col("x").sum(), level=gpuframe.grouping_id("k")).lazy()) == [
        {"k": 1, "x": 16, "level": 0}, {"k": 2, "x": 8, "level": 0}, {"k": None, "x": 24, "level": 1}]
    with pytest.raises(gpuframe.QueryError, match="which is no key of the groups"):
        lazy.rollup("k").agg(gpuframe.grouping_id("n")).collect()
