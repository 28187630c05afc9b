"""The operations of tables and columns for users of pandas, polars and pyarrow."""

import re

import pytest

import gpuframe
import producer
import support
from producer import Array


def table(where, rows=7):
    columns = {"delay": Array.of("int32", list(range(rows))), "carrier": Array.of("utf8", [None if i == 2 else f"c{i}" for i in range(rows)]),
               "ratio": Array.of("float64", [i / 4 for i in range(rows)])}
    return gpuframe.Table.from_arrow(Array.struct(columns), device="host").to_device(where)


def test_shape_and_parts(where):
    t = table(where)
    assert t.shape == (7, 3) and t["delay"].shape == (7,)
    assert t.head()["delay"].tolist() == [0, 1, 2, 3, 4] and t.head(2).shape == (2, 3) and t.head(100).shape == (7, 3)
    assert t.head(-5)["delay"].tolist() == [0, 1] and t.head(0).shape == (0, 3)
    assert t.tail(2)["delay"].tolist() == [5, 6] and t.tail(100).shape == (7, 3) and t.tail(0).shape == (0, 3)
    assert t.tail(-5)["delay"].tolist() == [5, 6] and t["delay"].head(2).tolist() == [0, 1]


def test_select_rename_drop(where):
    t = table(where)
    assert t.select("delay").column_names == t[["delay"]].column_names == t[("delay",)].column_names == ["delay"]
    assert t.matrix("delay").column_names == ["delay"]
    assert t.drop("delay").column_names == ["carrier", "ratio"] and t.drop(["ratio", "delay"]).column_names == ["carrier"]
    renamed = t.rename({"delay": "carrier", "carrier": "delay"})
    assert renamed.column_names == ["carrier", "delay", "ratio"] and renamed["carrier"].data_ptr == t["delay"].data_ptr
    for wrong in (lambda: t.select("dalay"), lambda: t.drop("dalay"), lambda: t.rename({"dalay": "x"}), lambda: t["dalay"]):
        with pytest.raises(KeyError, match="did you mean 'delay'"):
            wrong()
    with pytest.raises(KeyError, match="the columns are delay, carrier, ratio"):
        t["zzz"]
    with pytest.raises(ValueError, match="two columns would have the name 'ratio'"):
        t.rename({"delay": "ratio"})
    for wrong in (lambda: t.select([1]), lambda: t[1.5], lambda: t[None], lambda: t["delay"][1], lambda: t["delay"]["x"]):
        with pytest.raises(TypeError):
            wrong()


def test_rows(where):
    t = table(where, 3)
    assert t.to_pylist() == [{"delay": 0, "carrier": "c0", "ratio": 0.0}, {"delay": 1, "carrier": "c1", "ratio": 0.25},
                             {"delay": 2, "carrier": None, "ratio": 0.5}]
    assert t.select([]).to_pylist() == [{}, {}, {}]


def test_as_an_array(where):
    numpy = pytest.importorskip("numpy")
    t = table(where, 3)
    assert t.select(["delay", "ratio"]).to_numpy().tolist() == [[0.0, 0.0], [1.0, 0.25], [2.0, 0.5]]
    assert t.to_numpy().dtype == object and t.to_numpy().shape == (3, 3) and t.select([]).to_numpy().shape == (3, 0)
    if where == "host":
        assert numpy.asarray(t.select("delay")).tolist() == [[0], [1], [2]] and numpy.asarray(t.select("delay")).dtype == "int32"
        with pytest.raises(ValueError, match="copy=False"):
            t.__array__(copy=False)
    else:
        with pytest.raises(TypeError, match="to_numpy"):
            numpy.asarray(t)


def test_to_pandas(where):
    pandas = pytest.importorskip("pandas")
    frame = table(where, 3).to_pandas()
    assert list(frame.columns) == ["delay", "carrier", "ratio"] and frame["delay"].tolist() == [0, 1, 2]
    assert frame["delay"].dtype == "int32" and pandas.isna(frame["carrier"][2]) and frame["ratio"].tolist() == [0.0, 0.25, 0.5]
    series = table(where, 3)["delay"].to_pandas()
    assert series.name == "delay" and series.tolist() == [0, 1, 2]


def test_from_pandas(where):
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    frame = pandas.DataFrame({name: numpy.arange(5).astype(name) for name in support.INTEGERS + support.FLOATS})
    made = gpuframe.Table.from_columns({name: frame[name] for name in frame}, device=where)
    assert made.schema.types == list(frame.columns), "types are kept"
    assert all(made[name].tolist() == frame[name].tolist() for name in frame)
    flags = pandas.Series([True, False, True])
    assert gpuframe.Table.from_columns({"b": flags}, device=where)["b"].dtype == "bool"
    holes = gpuframe.Table.from_columns({"x": pandas.Series([1.0, float("nan")])}, device=where)["x"]
    assert holes.null_count == 0 and holes.tolist()[0] == 1.0, "NaN is a number"


def test_from_polars(where):
    polars = pytest.importorskip("polars")
    made = gpuframe.Table.from_columns({"s": polars.Series(["a", None]), "n": polars.Series([1, None], dtype=polars.Int16)}, device=where)
    assert made.schema.types[1] == "int16" and made["s"].to_pyarrow().to_pylist() == ["a", None] and made["n"].tolist() == [1, None]


def test_from_pyarrow(where):
    pyarrow = pytest.importorskip("pyarrow")
    made = gpuframe.Table.from_columns({
        "nulls": pyarrow.array([1, None, 3]), "chunks": pyarrow.chunked_array([[1, 2], [3]]), "texts": pyarrow.chunked_array([["a"], ["b", None]]),
        "plain": pyarrow.array([1.5, 2.5, 3.5]), "none": pyarrow.array([None, None, None])}, device=where)
    assert made.to_pydict() == {"nulls": [1, None, 3], "chunks": [1, 2, 3], "texts": ["a", "b", None], "plain": [1.5, 2.5, 3.5], "none": [None] * 3}
    empty = gpuframe.Table.from_columns({"x": pyarrow.chunked_array([], pyarrow.int8())}, device=where)
    assert empty.schema.types == ["int8"] and len(empty) == 0


class Nulls:
    """An object with nulls: DLPack refuses it, Arrow accepts it."""

    def __init__(self, first):
        self.array = Array.of("int32", [1, None, 3])
        self.asked = []
        self.first = first

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **more):
        self.asked.append("dlpack")
        raise BufferError("it has nulls")

    def __arrow_c_array__(self, requested_schema=None):
        self.asked.append("arrow")
        if self.first == "arrow refuses":
            raise NotImplementedError("not this time")
        return self.array.__arrow_c_array__()


def test_protocols_stand_in_for_each_other(where):
    assert gpuframe.Table.from_columns({"x": Nulls("arrow")}, device=where)["x"].tolist() == [1, None, 3]
    refused = Nulls("arrow refuses")
    with pytest.raises(BufferError, match="column 'x': Arrow of a Nulls was refused: not this time; DLPack: it has nulls"):
        gpuframe.Table.from_columns({"x": refused}, device=where)
    assert refused.asked == ["arrow", "dlpack"]
    with gpuframe.budget("64 B", device=where), pytest.raises(MemoryError):
        gpuframe.Table.from_columns({"x": Array.of("int64", list(range(1000)))}, device=support.DEVICES[0]).to_device(where)


def test_sequences(where):
    made = gpuframe.Table.from_columns({"i": [1, 2], "f": [1, 2.5], "b": [True, False], "r": range(2), "t": (3, 4)}, device=where)
    assert made.schema.types == ["int64", "float64", "bool", "int64", "int64"]
    assert [made[name].tolist() for name in "ifrt"] == [[1, 2], [1.0, 2.5], [0, 1], [3, 4]]
    for wrong in ("text", b"bytes", {"a": 1}, ["a"], [1, None], object(), 3):
        with pytest.raises(TypeError, match="column 'x'"):
            gpuframe.Table.from_columns({"x": wrong}, device=where)


def test_printing(where):
    t = table(where, 1000)
    shown = str(t)
    assert "1,000" in shown or "1000" in shown
    for text in ("delay", "int32", "carrier", "utf8", "null", "c4", "0.75"):
        assert text in shown
    assert repr(t) == shown
    wide = gpuframe.Table.from_columns({f"c{i}": [i] for i in range(30)}, device=where)
    assert "…" in str(wide)
    assert "(0, 3)" in str(t[:0]) and ", 0)" in str(t.select([]))
    long = gpuframe.Table.from_arrow(Array.struct({"s": Array.of("utf8", ["x" * 1000 + "\n"])}), device=where)
    assert max(map(len, str(long).splitlines())) <= 100


def test_released_objects_say_so(where):
    t = table(where)
    c, schema = t["delay"], t.schema
    print(t, c)
    for each in (t, c):
        assert not each.released
        each.release()
        assert each.released and "released" in repr(each) and "rows" not in repr(each)
        for use in (lambda e=each: len(e), lambda e=each: e.device, lambda e=each: e.slice(0, 1), lambda e=each: e.nbytes):
            with pytest.raises(gpuframe.ReleasedError, match="released"):
                use()
    assert schema.names[0] == "delay"


def test_sizes():
    for wrong in (1.5, 0.9, float("nan"), True, None, [1], 2e9):
        with pytest.raises(TypeError, match="whole number of bytes"):
            gpuframe.budget(wrong, device="host")
    for wrong in (-1, "1.5.5 GB", "GB", "-1 GB"):
        with pytest.raises(ValueError):
            gpuframe.budget(wrong, device="host")
    numpy = pytest.importorskip("numpy")
    assert gpuframe.budget(numpy.int64(1000), device="host").size == gpuframe.budget("1.0 kB", device="host").size == 1000


GO = re.compile(r"\b[a-z]+\.[A-Z][a-z]\w+|\b(?:dlpack|arrowdev|buffer|column|memory|selection): |\bImport(?:Matrix|Legacy)\b|goroutine|Options\.|Manager\.")


def test_messages_name_no_go(where):
    """An error uses Python's names."""
    numpy = pytest.importorskip("numpy")
    t = table(where)
    released = t.slice(0, 1)
    released.release()
    mistakes = [
        lambda: t["carrier"].__dlpack__(), lambda: support.column("int32", where, nulls=True).__dlpack__(), lambda: t.__dlpack__(),
        lambda: t["delay"].is_valid(), lambda: t.slice(5, 50), lambda: t["delay"].slice(9, 1), lambda: t.matrix(), lambda: t["zzz"],
        lambda: gpuframe.Column.from_dlpack(numpy.zeros((2, 2, 2))[:, ::2]), lambda: gpuframe.Column.from_dlpack(numpy.zeros((3, 3)).T),
        lambda: gpuframe.device("abacus"), lambda: gpuframe.device("cuda:77"), lambda: gpuframe.connect("/none"),
        lambda: gpuframe.Table.from_arrow(3), lambda: gpuframe.read_csv("/none"), lambda: released.slice(0, 1),
        lambda: gpuframe.Table.from_columns({"x": numpy.zeros(3, "M8[s]")}, device=where),
        lambda: gpuframe.Table.from_columns({"a": [1], "b": [1, 2]}), lambda: t["delay"].__dlpack__(dl_device=(9, 9)),
    ]
    with gpuframe.budget("1 kB", device=where) as small:
        mistakes.append(lambda: gpuframe.Table.from_columns({"x": range(10_000)}, device=small))
        for i, mistake in enumerate(mistakes):
            with pytest.raises(Exception) as caught:
                mistake()
            assert not GO.search(str(caught.value)), f"{i}: {caught.value}"
    assert producer
