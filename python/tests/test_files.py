"""Files: the tables that they become, and the errors of bad ones."""

import json
import os

import pytest

import gpuframe
import support
from producer import Array


def csv(folder, text, **options):
    path = folder / "a.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return gpuframe.read_csv(path, device="host", **options)


INFERRED = {
    "an int, then a float": ("x\n1\n2.5\n", "float64", [1.0, 2.5]),
    "an int, then text": ("x\n1\nfoo\n", "utf8", ["1", "foo"]),
    "a null, then an int": ("x,y\n,a\n7,b\n", "int64", [None, 7]),
    "a bool, then text": ("x\ntrue\nperhaps\n", "utf8", ["true", "perhaps"]),
    "an int, then a bool": ("x\n1\ntrue\n", "utf8", ["1", "true"]),
    "bools": ("x\ntrue\nfalse\n", "bool", [True, False]),
    "more than int64": ("x\n1\n18446744073709551615\n", "uint64", [1, 18446744073709551615]),
    "digits that no number is written with": ("x\n1_0\n0x1p4\n+47\n", "utf8", ["1_0", "0x1p4", "+47"]),
    "nulls alone": ("x,y\n,a\nNA,b\n", "utf8", [None, None]),
    "a date, then text": ("x\n2024-01-02\nsoon\n", "utf8", ["2024-01-02", "soon"]),
    "a float, then a date": ("x\n1.5\n2024-01-02\n", "utf8", ["1.5", "2024-01-02"]),
    "late text": ("x\n" + "1\n" * 70_000 + "end\n", "utf8", ["1"] * 70_000 + ["end"]),
}


@pytest.mark.parametrize("name", INFERRED)
def test_types_of_all_values(tmp_path, name):
    text, dtype, values = INFERRED[name]
    table = csv(tmp_path, text)
    assert (table["x"].dtype, table["x"].tolist()) == (dtype, values)


def test_dates_and_times(tmp_path):
    table = csv(tmp_path, "d,t,m\n2024-01-02,2024-01-02 03:04:05,2024-01-02\n2024-02-03,2024-01-02 03:04:05.678,2024-01-02 03:04:05\n")
    assert table.schema.types == ["date32", "timestamp[ms, tz=UTC]", "timestamp[s, tz=UTC]"]
    pytest.importorskip("numpy")
    assert table["d"].to_numpy().tolist()[0].isoformat() == "2024-01-02"
    assert str(table["t"].to_numpy()[1]) == "2024-01-02T03:04:05.678"


def test_csv_without_rows(where, tmp_path):
    path = tmp_path / "header.csv"
    path.write_text("a,b\n")
    table = gpuframe.read_csv(path, device=where, types={"b": "int8"})
    assert table.shape == (0, 2) and table.schema.types == ["utf8", "int8"] and table.to_pydict() == {"a": [], "b": []}
    path.write_text("")
    with pytest.raises(gpuframe.InvalidDataError, match=r"read_csv: .*header\.csv: the file is empty") as caught:
        gpuframe.read_csv(path, device=where)
    assert isinstance(caught.value, ValueError) and "goroutine" not in str(caught.value)


def test_csv_options(tmp_path):
    assert csv(tmp_path, "1;2\n3;4\n", delimiter=";", header=False).to_pydict() == {"f0": [1, 3], "f1": [2, 4]}
    assert csv(tmp_path, "a,b\n1,x\n", columns="b").column_names == ["b"]
    with pytest.raises(KeyError, match="no column 'c'|no column \"c\""):
        csv(tmp_path, "a,b\n1,x\n", columns=["c"])
    with pytest.raises(KeyError, match="the columns are a, b"):
        csv(tmp_path, "a,b\n1,x\n", types={"c": "int8"})


@pytest.mark.parametrize("text, said", [("a,b\n1\n", "wrong number of fields"), ('a\n"x\n', "quote"), ("a,a\n1,2\n", "two columns have the name")])
def test_bad_csv(tmp_path, text, said):
    with pytest.raises(gpuframe.InvalidDataError, match=said):
        csv(tmp_path, text)


def test_values_that_lack_their_type(tmp_path):
    with pytest.raises(gpuframe.InvalidDataError, match="300"):
        csv(tmp_path, "a\n300\n", types={"a": "int8"})


READERS = [gpuframe.read_csv, gpuframe.read_ipc, gpuframe.read_parquet]


@pytest.mark.parametrize("read", READERS, ids=lambda each: each.__name__)
def test_files_that_cannot_be_opened(where, read, tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{read.__name__}: .*none") as caught:
        read(tmp_path / "none", device=where)
    assert isinstance(caught.value, gpuframe.MissingFileError) and isinstance(caught.value, gpuframe.GpuframeError)
    with pytest.raises(OSError) as caught:
        read(tmp_path, device=where)  # a folder
    assert isinstance(caught.value, gpuframe.GpuframeError)
    if os.getuid() != 0:
        (tmp_path / "secret").write_text("x")
        (tmp_path / "secret").chmod(0)
        with pytest.raises(PermissionError):
            read(tmp_path / "secret", device=where)


@pytest.mark.parametrize("read", READERS[1:], ids=lambda each: each.__name__)
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1\0\0", b"not a table at all, but text", bytes(1000), b"PAR1" + bytes(100) + b"PAR1"], ids=repr)
def test_files_that_are_something_else(where, read, content, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(gpuframe.InvalidDataError, match=read.__name__) as caught:
        read(path, device=where)
    assert isinstance(caught.value, ValueError) and "goroutine" not in str(caught.value)


def test_damaged_files(tmp_path):
    """No damaged file ends the process: it becomes another table or an error of this package."""
    pyarrow = pytest.importorskip("pyarrow")
    import random

    import pyarrow.feather
    import pyarrow.parquet

    source = pyarrow.table({"a": list(range(1000)), "s": [f"t{i}" for i in range(1000)], "l": [[i] * (i % 4) for i in range(1000)]})
    pyarrow.parquet.write_table(source, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(source, tmp_path / "a.arrow", compression="uncompressed")
    support.run_alone(tmp_path, f"""
        import gpuframe, random
        for name, read in ("a.parquet", gpuframe.read_parquet), ("a.arrow", gpuframe.read_ipc):
            whole = open({str(tmp_path)!r} + "/" + name, "rb").read()
            path = {str(tmp_path)!r} + "/damaged"
            for seed in range(60):
                draw = random.Random(seed)
                data = bytearray(whole[:draw.randrange(len(whole))] if seed % 3 == 0 else whole)
                for _ in range(draw.randrange(1, 8)):
                    if data:
                        data[draw.randrange(len(data))] = draw.randrange(256)
                open(path, "wb").write(data)
                try:
                    read(path, device="host")
                except gpuframe.GpuframeError:
                    pass
        print("done")
    """, "done")


SINK_OPTIONS = [
    {},
    {"compression": "zstd", "compression_level": 3, "row_group_size": 40_000, "page_rows": 1000, "bloom_filters": ["key", "city"]},
    {"compression": "gzip", "dictionaries": False},
    {"compression": "lz4_raw", "old_encodings": True},
    {"compression": "none"},
]


@pytest.mark.parametrize("options", SINK_OPTIONS, ids=str)
def test_written_parquet(where, tmp_path, options):
    """A file is the same when it is read again, and for pyarrow, from tables that the device encodes."""
    if not support.KERNELS[where]:
        pytest.skip("tables are encoded by kernels, which this driver does not run")
    rows = 70_000
    data = {
        "key": [i * 3 for i in range(rows)],
        "city": [None if i % 7 == 0 else f"c{i % 100}" for i in range(rows)],
        "note": [f"note {i * 7919 % rows}" for i in range(rows)],
        "price": [None if i % 5 == 0 else i / 4 for i in range(rows)],
        "flag": [i % 3 == 0 for i in range(rows)],
    }
    types = {"key": "int64", "city": "utf8", "note": "utf8", "price": "float64", "flag": "bool"}
    path = tmp_path / "a.parquet"
    table = gpuframe.Table.from_arrow(Array.struct({name: Array.of(types[name], values) for name, values in data.items()}), device="host").to_device(where)
    assert table.lazy().sink_parquet(path, device=where, **options) == rows
    assert gpuframe.scan_parquet(path).collect(device="host").to_pydict() == data
    try:
        import pyarrow.parquet
    except ImportError:
        return
    assert pyarrow.parquet.read_table(path).to_pydict() == data
    file = pyarrow.parquet.ParquetFile(path)
    statistics = file.metadata.row_group(0).column(0).statistics
    assert (statistics.min, statistics.null_count) == (0, 0)
    assert file.metadata.row_group(0).column(1).has_offset_index
    found = pyarrow.parquet.read_table(path, filters=[("key", "==", 3 * 50_000)])
    assert found.to_pydict()["note"] == [data["note"][50_000]]


def test_wrong_options_of_written_parquet(tmp_path):
    lazy = gpuframe.from_columns({"x": [1]}, device="host")
    for options, text in (({"compression": "lzma"}, "lzma"), ({"compression_level": 30, "compression": "zstd"}, "level 30"), ({"bloom_filters": ["y"]}, '"y"')):
        with pytest.raises(ValueError, match=text):
            lazy.sink_parquet(tmp_path / "a.parquet", **options)


def test_folders_of_partitions(tmp_path):
    """A scan of the folder has the rows again, and a write keeps what it does not replace."""
    data = {"city": ["Oslo", None, "a/b", "Oslo"], "year": [2024, 2024, 2025, 2025], "price": [1, 2, 3, 4]}
    types = {"city": "utf8", "year": "int64", "price": "int64"}
    lazy = gpuframe.Table.from_arrow(Array.struct({name: Array.of(types[name], values) for name, values in data.items()}), device="host").lazy()
    folder = tmp_path / "sales"
    for sink, scan in (("parquet", gpuframe.scan_parquet), ("csv", gpuframe.scan_csv), ("ndjson", gpuframe.scan_ndjson), ("ipc", gpuframe.scan_ipc)):
        options = gpuframe.Folder(partition_by=["city", "year"], manifest="_manifest.json", existing="overwrite")
        assert getattr(lazy, f"sink_{sink}")(folder, folder=options) == 4
        assert scan(folder).select("city", "year", "price").sort("price").collect(device="host").to_pydict() == data
        assert json.loads((folder / "_manifest.json").read_text())["rows"] == 4
    with pytest.raises(gpuframe.GpuframeError, match="the folder has files"):
        lazy.sink_ipc(folder, folder=gpuframe.Folder())
    assert lazy.filter(gpuframe.col("price") == 4).sink_ipc(folder, folder=gpuframe.Folder("city", existing="overwrite_partitions")) == 1
    assert lazy.sink_parquet(tmp_path / "rows", folder=gpuframe.Folder(file_rows=3)) == 4
    assert len(list((tmp_path / "rows").iterdir())) == 2
    for options, text in (({"existing": "never"}, "never"), ({"most_files": 1, "partition_by": "price"}, "raise most_files"), ({"partition_by": "town"}, "town")):
        with pytest.raises(ValueError, match=text):
            lazy.sink_csv(tmp_path / "other", folder=gpuframe.Folder(**options))
    assert not (tmp_path / "other").exists()


def test_nested_parquet_of_pyarrow(where, tmp_path):
    """Lists, structs, maps and decimals are read, or the error names the column that cannot be."""
    pyarrow = pytest.importorskip("pyarrow")
    import decimal

    import pyarrow.parquet

    columns = {
        "plain": pyarrow.array([1, 2, None]),
        "list": pyarrow.array([["a", None], [], None]),
        "deep": pyarrow.array([[[1], [2, 3]], [], None]),
        "struct": pyarrow.array([{"a": 1, "b": "x"}, {"a": None, "b": "y"}, None]),
        "structs": pyarrow.array([[{"a": 1}], [], None]),
        "map": pyarrow.array([[("k", 1.5)], [], None], pyarrow.map_(pyarrow.string(), pyarrow.float64())),
        "decimal": pyarrow.array([decimal.Decimal("1.23"), decimal.Decimal("-4.50"), None], pyarrow.decimal128(9, 2)),
        "wide": pyarrow.array([decimal.Decimal("1.23"), decimal.Decimal("-4.50"), None], pyarrow.decimal128(30, 2)),
        "fixed": pyarrow.array([[1.0, 2.0], [3.0, 4.0], None], pyarrow.list_(pyarrow.float32(), 2)),
        "time": pyarrow.array([1, 2, None], pyarrow.timestamp("us", "UTC")),
        "category": pyarrow.array(["x", "y", None]).dictionary_encode(),
    }
    for name, values in columns.items():
        source = pyarrow.table({"id": pyarrow.array([1, 2, 3]), name: values})
        pyarrow.parquet.write_table(source, tmp_path / "a.parquet")
        try:
            table = gpuframe.read_parquet(tmp_path / "a.parquet", device=where)
        except (gpuframe.UnsupportedError, gpuframe.InvalidDataError) as error:
            # arrow-go reads fixed-size lists that are null without their elements, which is no sound array.
            assert f'"{name}"' in str(error) and (name == "fixed" or isinstance(error, gpuframe.UnsupportedError)), error
            table = gpuframe.read_parquet(tmp_path / "a.parquet", ["id"], device=where)
            assert table.to_pydict() == {"id": [1, 2, 3]}
            support.note("Parquet of pyarrow", f"gives, {where}", name, "refused")
            continue
        assert table.to_pyarrow().to_pylist() == source.to_pylist(), name
