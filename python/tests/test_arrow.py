"""Arrow's C interfaces, against an independent producer and reader."""

import pytest

import gpuframe
import producer
import support
from producer import Array, DeviceArray

COLUMNS = {
    "i": ("int32", [1, None, -3, 4, 5, 6, 7, 8, 9, 10]),
    "f": ("float64", [0.5, 1.5, None, 2.5, 3, 4, 5, 6, 7, 8]),
    "b": ("bool", [True, False, None, True, True, False, True, False, False, True]),
    "s": ("utf8", ["", "a", None, "ccc", "ü", "e", "ff", "g", "h", "i"]),
    "w": ("int64", list(range(10))),
}
WANT = {name: values for name, (_, values) in COLUMNS.items()}


def batch(offset=0):
    return Array.struct({name: Array.of(dtype, values, offset=offset) for name, (dtype, values) in COLUMNS.items()})


@pytest.fixture(autouse=True)
def released():
    """The producer's structs are released, once each, when a test ends."""
    producer.alive.clear()
    yield
    support.settle()
    assert not producer.alive


@pytest.mark.parametrize("offset", [0, 3])
@pytest.mark.parametrize("wrap", [lambda each: each, DeviceArray], ids=["array", "device array"])
def test_from_a_foreign_array(where, wrap, offset):
    source = batch(offset)
    table = gpuframe.Table.from_arrow(wrap(source), device=where)
    assert table.column_names == list(COLUMNS)
    assert [each.dtype for each in table.columns()] == ["int32", "float64", "bool", "utf8", "int64"]
    assert table.to_pydict() == WANT
    assert table[2:7].to_pydict() == {name: values[2:7] for name, values in WANT.items()}
    if where == "host":
        assert table["w"].data_ptr == source.children[-1].addresses[1] + 8 * offset
        assert producer.alive, "the memory is shared, so that the producer keeps it"
    else:
        assert not producer.alive, "it was copied"


def test_to_a_foreign_reader(where):
    table = gpuframe.Table.from_arrow(batch(), device=where)
    assert producer.read(*table.__arrow_c_array__()) == WANT
    assert producer.read(*table[3:8].__arrow_c_array__()) == {name: values[3:8] for name, values in WANT.items()}
    assert producer.read(*table[4:4].__arrow_c_array__()) == {name: [] for name in WANT}
    if where == "host":
        assert producer.read(*table.__arrow_c_device_array__(), name=b"arrow_device_array") == WANT


def test_device_array_says_where_it_is(where):
    table = gpuframe.Table.from_arrow(batch(), device=where)
    _, capsule = table.__arrow_c_device_array__()
    c = producer.CDeviceArray.from_address(producer._api.PyCapsule_GetPointer(capsule, b"arrow_device_array"))
    assert (c.device_type, c.device_id) == ((1, -1) if where == "host" else (2, int(where[5:])))
    assert list(c.reserved) == [0, 0, 0]
    assert c.array.length == 10 and c.array.n_children == len(COLUMNS)
    assert c.array.children[4].contents.buffers[1] == table["w"].data_ptr


METHODS = ["__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_device_array__", "__arrow_c_device_stream__"]


class Only:
    """A table with one remaining method."""

    def __init__(self, table, method):
        setattr(self, method, getattr(table, method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("part", [slice(None), slice(3, 8), slice(4, 4)], ids=["whole", "sliced", "empty"])
def test_there_and_back(where, method, part):
    table = gpuframe.Table.from_arrow(batch(), device="host").to_device(where)[part]
    back = gpuframe.Table.from_arrow(Only(table, method), device=where)
    assert back.schema == table.schema
    assert back.to_pydict() == table.to_pydict() == {name: values[part] for name, values in WANT.items()}
    if (where == "host" or "device" in method) and len(table):
        assert back["w"].data_ptr == table["w"].data_ptr
    table.release()
    assert back["w"].tolist() == WANT["w"][part]


def test_columns(where):
    c = gpuframe.Column.from_arrow(Array.of("int32", COLUMNS["i"][1], name="n"), device=where)
    assert (c.name, c.dtype, len(c), c.null_count) == ("n", "int32", 10, 1)
    assert c.tolist() == WANT["i"]
    back = gpuframe.Column.from_arrow(Only(c[2:9], "__arrow_c_device_array__"), name="m", device=where)
    assert (back.name, back.tolist(), back.data_ptr) == ("m", WANT["i"][2:9], c.data_ptr + 8)


def test_what_nobody_consumes_is_released(where):
    table = gpuframe.Table.from_arrow(batch(), device=where)
    for method in METHODS:
        getattr(table, method)()
    table.__arrow_c_schema__(), table["s"].__arrow_c_schema__(), table["s"].__arrow_c_device_array__()


def test_unknown_arguments(where):
    table = gpuframe.Table.from_arrow(batch(), device=where)
    for object_ in (table, table["i"]):
        object_.__arrow_c_device_array__(None, device_id=None)
        with pytest.raises(NotImplementedError, match="future"):
            object_.__arrow_c_device_array__(future=1)
    with pytest.raises(NotImplementedError):
        table.__arrow_c_device_stream__(future=1)


def test_what_is_no_arrow():
    for thing in (3, "text", object()):
        with pytest.raises(TypeError, match="has no Arrow interface"):
            gpuframe.Table.from_arrow(thing)
        with pytest.raises(TypeError):
            gpuframe.Column.from_arrow(thing)


def test_broken_structs(where):
    broken = batch()
    broken.children[0].form = "no such format"
    with pytest.raises((ValueError, NotImplementedError)):
        gpuframe.Table.from_arrow(broken, device=where)
    short = batch()
    short.length = 11
    with pytest.raises(ValueError):
        gpuframe.Table.from_arrow(short, device="host")
    with pytest.raises((ValueError, NotImplementedError, TypeError, BufferError)):
        gpuframe.Table.from_arrow(DeviceArray(batch(), device_type=99), device=where)


def test_a_released_struct(where):
    source = batch()
    source.__arrow_c_array__()
    schema, array = source.shown
    array.release(array)
    schema.release(schema)

    class Ended:
        def __arrow_c_array__(self, requested_schema=None):
            return (producer._api.PyCapsule_New(producer.ctypes.addressof(schema), b"arrow_schema", None),
                    producer._api.PyCapsule_New(producer.ctypes.addressof(array), b"arrow_array", None))

    with pytest.raises((ValueError, gpuframe.GpuframeError)):
        gpuframe.Table.from_arrow(Ended(), device="host")


def pyarrow_table(pyarrow):
    import datetime
    import decimal

    day = datetime.date(2024, 2, 29)
    return pyarrow.table({
        "i": pyarrow.array([1, None, 3], pyarrow.int16()),
        "f": pyarrow.array([0.5, None, -1.0]),
        "s": pyarrow.array(["a", None, "ccc"]),
        "large": pyarrow.array(["a", None, "ccc"], pyarrow.large_string()),
        "bin": pyarrow.array([b"", b"\0", None]),
        "bool": pyarrow.array([True, None, False]),
        "date": pyarrow.array([day, None, day]),
        "stamp": pyarrow.array([datetime.datetime(2024, 1, 1), None, None], pyarrow.timestamp("us", "UTC")),
        "decimal": pyarrow.array([decimal.Decimal("1.25"), None, decimal.Decimal("-9")], pyarrow.decimal128(9, 2)),
        "list": pyarrow.array([[1, 2], None, []], pyarrow.list_(pyarrow.int32())),
        "struct": pyarrow.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}]),
        "dictionary": pyarrow.array(["x", "y", "x"]).dictionary_encode(),
        "fixed": pyarrow.array([[1.0, 2.0], [3.0, 4.0], None], pyarrow.list_(pyarrow.float32(), 2)),
    })


def test_pyarrow(where):
    pyarrow = pytest.importorskip("pyarrow")
    source = pyarrow_table(pyarrow)
    for part in (source, source.slice(1, 2), source.slice(1, 0), pyarrow.concat_tables([source, source.slice(1)])):
        table = gpuframe.Table.from_arrow(part, device=where)
        assert table.to_pyarrow().to_pylist() == part.to_pylist()
        record = part.combine_chunks().to_batches()
        for each in record:
            again = gpuframe.Table.from_arrow(each, device=where)
            assert again.to_pyarrow().to_pylist() == each.to_pylist()
    for field, outcome in zip(source.schema, ["zero copy" if where == "host" else "copied to the GPU"] * 20):
        support.note("pyarrow", f"gives, {where}", str(field.type), outcome)


def test_pyarrow_shares_the_memory_of_the_host():
    pyarrow = pytest.importorskip("pyarrow")
    source = pyarrow.record_batch({"x": pyarrow.array(range(1000))})
    table = gpuframe.Table.from_arrow(source, device="host")
    assert table["x"].data_ptr == source["x"].buffers()[1].address
    back = pyarrow.record_batch(table)
    assert back["x"].buffers()[1].address == table["x"].data_ptr
    assert back.equals(source)


@pytest.mark.parametrize("name", ["polars", "pandas", "nanoarrow"])
def test_other_frames(where, name):
    module = pytest.importorskip(name)
    if name == "nanoarrow":
        source = module.c_array([1, None, 3], module.int64())
        c = gpuframe.Column.from_arrow(source, device=where)
        assert c.tolist() == [1, None, 3]
        assert module.Array(c).to_pylist() == [1, None, 3]
        return
    frame = module.DataFrame({"a": [1, 2, 3], "s": ["x", "yy", "zzz"]})
    if not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip(f"{name} does not speak Arrow yet")
    table = gpuframe.Table.from_arrow(frame, device=where)
    assert table["a"].tolist() == [1, 2, 3] and len(table) == 3
    if name == "polars":
        assert module.DataFrame(table).equals(frame)
