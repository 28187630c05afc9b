"""Statements in SQL on frames: their names, parameters, errors, and queries that go on from them."""

import datetime
import decimal

import gpuframe
import pytest
from gpuframe import col
from producer import Array


def table(**columns):
    types = {int: "int64", float: "float64", str: "utf8"}
    return gpuframe.Table.from_arrow(Array.struct({n: Array.of(types[type(v[0])], v) for n, v in columns.items()}), device="host")


def run(query):
    return query.collect(device="host").to_pydict()


def sales():
    return table(city=["Oslo", "Bern", "Oslo"], price=[60, 55, 20], qty=[2, 1, 9])


def test_variables_of_the_caller(monkeypatch):
    monkeypatch.setitem(globals(), "sold", gpuframe.from_columns({"n": [7]}, device="host"))
    orders = sales().lazy().filter(col("price") > 30)
    assert run(gpuframe.sql("select city, sum(price) as total from orders group by city order by city")) == {"city": ["Bern", "Oslo"], "total": [55, 60]}
    whole = sales()
    assert run(gpuframe.sql("select max(n + price) as m from whole, sold")) == {"m": [67]}
    sold = "no frame"  # hides that of the module, and is none
    assert run(gpuframe.sql("select n from sold")) == {"n": [7]}, sold


def test_frames_by_keyword():
    assert run(gpuframe.sql("select count(*) as n from Orders o join cities using (city)", orders=sales(), CITIES=table(city=["Oslo"]))) == {"n": [2]}
    assert run(gpuframe.sql("select price from parameters", {"parameters": sales()})) == {"price": [60, 55, 20]}
    with pytest.raises(gpuframe.WrongTypeError, match="orders: expected a LazyFrame, a Table"):
        gpuframe.sql("select 1 from orders", orders=[1])


def test_common_table_expressions_and_no_tables():
    assert run(gpuframe.sql("with t as (select 1 as x union all select 2) select sum(x) as s from t")) == {"s": [3]}
    assert run(gpuframe.sql("values (1, 'a')").select(col("col0"))) == {"col0": [1]}


def test_verbs_before_and_behind():
    made = sales().lazy().with_columns(total=col("price") * col("qty"))
    query = gpuframe.sql("select city, total from made where total > 60", made=made).sort("total").rename({"total": "sum"})
    assert run(query) == {"city": ["Oslo", "Oslo"], "sum": [120, 180]}
    assert run(gpuframe.sql("select count(*) as n from a, b", a=query, b=query)) == {"n": [4]}
    assert query.collect_schema()["sum"] == "int64"
    assert "sort" in query.explain()
    assert run(made.sql("select max(total) as m from self")) == {"m": [180]}
    assert run(made.sql("select max(total) as m from t", table_name="t")) == {"m": [180]}


def test_parameters():
    query = gpuframe.sql("select ? as i, $2 as s, $3 as f, $4 as b, $5 as n, $6 as d, $7 as t, $8 as m, timestamp '2020-01-01' + $9 as l",
                         parameters=[1, "o'x", 1.5, True, None, datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 2, 3, 4, 5, 6), decimal.Decimal("-1.50"),
                                     datetime.timedelta(hours=2)])
    row = query.collect(device="host").to_pylist()[0]
    assert row == {"i": 1, "s": "o'x", "f": 1.5, "b": True, "n": None, "d": datetime.date(2020, 2, 29), "t": datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
                   "m": decimal.Decimal("-1.50"), "l": datetime.datetime(2020, 1, 1, 2)}
    assert run(gpuframe.sql("select price from s where price > ? and city = ?", s=sales(), parameters=[30, "Oslo"])) == {"price": [60]}
    with pytest.raises(gpuframe.QueryError, match="parameter 1 has no argument"):
        gpuframe.sql("select ?").collect()
    with pytest.raises(gpuframe.QueryError, match="the call has 1 arguments, the statement has 0 parameters"):
        gpuframe.sql("select 1", parameters=[1]).collect()
    with pytest.raises(gpuframe.WrongTypeError, match="expected a list of values"):
        gpuframe.sql("select ?", parameters="x")
    with pytest.raises(gpuframe.QueryError, match="not supported"):
        gpuframe.sql("select ?", parameters=[b"x"]).collect()


def test_faults_have_their_place():
    with pytest.raises(gpuframe.QueryError) as caught:
        gpuframe.sql("select city\nfrom sales whree price > 1", sales=sales())
    text = str(caught.value)
    assert "line 2, column 12" in text and "\n  from sales whree price > 1\n" in text and text.endswith("^")
    assert caught.value.problems[0].verb == "sql" and caught.value.problems[0].file == __file__
    query = gpuframe.sql("select cty from sales", sales=sales())
    with pytest.raises(gpuframe.QueryError, match='no column is called "cty"') as caught:
        query.collect()
    assert caught.value.problems[0].file == __file__ and "line 1, column 8" in caught.value.problems[0].text
    with pytest.raises(gpuframe.QueryError, match="no table is called"):
        gpuframe.sql("select 1 from nowhere").collect()
    with pytest.raises(gpuframe.QueryError, match="yields no rows"):
        gpuframe.sql("drop table sales")
    with pytest.raises(gpuframe.WrongTypeError, match="expected a statement"):
        gpuframe.sql(1)


def test_files(tmp_path):
    sales().lazy().sink_parquet(tmp_path / "x.parquet")
    assert run(gpuframe.sql(f"select count(*) as n from '{tmp_path}/x.parquet'")) == {"n": [3]}


def test_contexts():
    frames = gpuframe.SQLContext(sales=sales()).register("Cities", table(city=["Bern"]))
    assert frames.tables() == ["Cities", "sales"]
    query = frames.execute("select price from SALES join cities using (city) where price > ?", parameters=[1])
    assert run(query) == {"price": [55]}
    frames.register("CITIES", table(city=["Oslo", "Bern"])).register_many({"x": sales()})
    assert frames.tables() == ["CITIES", "sales", "x"]
    assert run(query) == {"price": [55]}
    frames.unregister("x").unregister(["sales"])
    with pytest.raises(gpuframe.ColumnNotFoundError, match="no frame is called 'x'"):
        frames.unregister("x")
    with pytest.raises(gpuframe.QueryError, match="no table is called"):
        frames.execute("select 1 from sales").collect()  # a function of this module, and no frame of the context


def test_tables_of_other_libraries():
    arrow = pytest.importorskip("pyarrow")
    other = arrow.table({"k": [1, 2]})
    assert run(gpuframe.sql("select sum(k) as s from other")) == {"s": [3]}, other


def test_database_api():
    from gpuframe import dbapi

    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "qmark")
    with dbapi.connect(sales=sales(), device="host") as connection:
        with connection.cursor() as cursor:
            assert cursor.execute("select city, price from sales where price > ? order by price", [30]) is cursor
            assert [each[0] for each in cursor.description] == ["city", "price"] and all(len(each) == 7 for each in cursor.description)
            assert cursor.description[0][1] == dbapi.STRING and cursor.description[1][1] == dbapi.NUMBER and cursor.description[1][1] != dbapi.STRING
            assert cursor.fetchone() == ("Bern", 55)
            assert cursor.fetchmany(5) == [("Oslo", 60)] and cursor.fetchone() is None and cursor.fetchall() == []
            assert list(cursor.execute("select count(*) from sales")) == [(3,)]
            assert cursor.execute("select * from sales where false").fetchall() == []
            with pytest.raises(dbapi.ProgrammingError, match="line 1, column 8") as caught:
                cursor.execute("select cty from sales")
            assert isinstance(caught.value.__cause__, gpuframe.QueryError)
            with pytest.raises(dbapi.ProgrammingError, match="line 1, column 1"):
                cursor.execute("selct 1")
            with pytest.raises(dbapi.InterfaceError, match="no statement"):
                cursor.fetchone()
            with pytest.raises(dbapi.NotSupportedError):
                cursor.executemany("select ?", [[1]])
        with pytest.raises(dbapi.InterfaceError, match="the cursor is closed"):
            cursor.execute("select 1")
        connection.commit()
        with pytest.raises(dbapi.NotSupportedError):
            connection.rollback()
    with pytest.raises(dbapi.InterfaceError, match="the connection is closed"):
        connection.cursor()
    with pytest.raises(dbapi.ProgrammingError, match="sales: expected a LazyFrame"):
        dbapi.connect(sales=1)
