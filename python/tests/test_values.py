"""Elements of all types as Python objects and numpy arrays."""

import datetime
import decimal
import math
import struct
import sys

import pytest

import gpuframe
import producer
import support
from producer import Array

numpy = pytest.importorskip("numpy")


class Tensor:
    """A tensor on the host, by DLPack, of any type and shape."""

    def __init__(self, raw, code, bits, shape):
        self.owner = producer.pointer_of(raw)
        self.shape = (producer.ctypes.c_int64 * max(1, len(shape)))(*shape)
        strides = [1] * len(shape)
        for i in range(len(shape) - 2, -1, -1):
            strides[i] = strides[i + 1] * shape[i + 1]
        self.strides = (producer.ctypes.c_int64 * max(1, len(shape)))(*strides)
        self.raw = producer.ctypes.create_string_buffer(80)
        struct.pack_into("<IIQQQ", self.raw, 0, 1, 0, 0, 0, 0)
        struct.pack_into("<QiiiBBHQQQ", self.raw, 32, self.owner[0], 1, 0, len(shape), code, bits, 1,
                         producer.ctypes.addressof(self.shape), producer.ctypes.addressof(self.strides), 0)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **more):
        return producer._api.PyCapsule_New(producer.ctypes.addressof(self.raw), b"dltensor_versioned", None)


kept = []


def column(where, raw, code, bits, shape):
    """Make a column of a tensor, in counted memory."""
    kept.append(Tensor(raw, code, bits, shape))  # the tensor has no deleter: what it points to stays
    return gpuframe.Column.from_dlpack(kept[-1], name="x").to_device(where)


def same(found, want):
    return len(found) == len(want) and all(a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)) for a, b in zip(found, want))


BFLOAT = [0.0, 1.0, -2.5, 3.140625, float("inf"), float("nan"), 2.0**-126]


def bfloat(values):
    return b"".join(struct.pack("<f", each)[2:] for each in values)


def test_bfloat16(where):
    c = column(where, bfloat(BFLOAT), 4, 16, (7,))
    assert "bfloat16" in c.dtype and same(c.tolist(), BFLOAT) and same(c[2:4].tolist(), BFLOAT[2:4])
    found = c.to_numpy()
    assert same([float(each) for each in found], BFLOAT)
    assert found.dtype == "float32" or found.dtype.name == "bfloat16"
    assert c.to_numpy(dtype="float64").tolist()[1:4] == [1.0, -2.5, 3.140625]


#: Values that the formats' authors publish: bits and their value.
FLOATS = {
    7: ("float8_e3m4", {0x00: 0.0, 0x30: 1.0, 0xB0: -1.0, 0x6F: 15.5, 0x70: math.inf, 0xF0: -math.inf, 0x71: math.nan, 0x01: 2.0**-6}),
    8: ("float8_e4m3", {0x38: 1.0, 0x77: 240.0, 0x78: math.inf, 0x79: math.nan, 0x01: 2.0**-9}),
    9: ("float8_e4m3b11fnuz", {0x58: 1.0, 0x7F: 30.0, 0x80: math.nan, 0x01: 2.0**-13}),
    10: ("float8_e4m3fn", {0x38: 1.0, 0x7E: 448.0, 0x7F: math.nan, 0xFF: math.nan, 0x80: 0.0, 0x01: 2.0**-9}),
    11: ("float8_e4m3fnuz", {0x40: 1.0, 0x7F: 240.0, 0x80: math.nan, 0x01: 2.0**-10}),
    12: ("float8_e5m2", {0x3C: 1.0, 0x7B: 57344.0, 0x7C: math.inf, 0x7D: math.nan, 0x01: 2.0**-16}),
    13: ("float8_e5m2fnuz", {0x40: 1.0, 0x7F: 57344.0, 0x80: math.nan, 0x01: 2.0**-17}),
    14: ("float8_e8m0fnu", {0x7F: 1.0, 0x80: 2.0, 0x00: 2.0**-127, 0xFE: 2.0**127, 0xFF: math.nan}),
}


@pytest.mark.parametrize("code", FLOATS)
def test_floats_of_eight_bits(where, code):
    name, values = FLOATS[code]
    c = column(where, bytes(values), code, 8, (len(values),))
    assert name in c.dtype and same(c.tolist(), list(values.values()))
    assert same([float(each) for each in c.to_numpy()], list(values.values()))


@pytest.mark.parametrize("code", FLOATS)
def test_all_floats_of_eight_bits_are_those_of_ml_dtypes(code):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    from gpuframe import _floats

    name, _ = FLOATS[code]
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"this ml_dtypes lacks {name}")
    want = numpy.arange(256, dtype="uint8").view(getattr(ml_dtypes, name)).astype("float32").tolist()
    assert same(_floats.table_of(code), want)


@pytest.mark.parametrize("bits, letter", [(64, "f"), (128, "d")])
def test_complex(where, bits, letter):
    values = [1 + 2j, -0.5j, 3.25 + 0j, complex(0, 7)]
    raw = b"".join(struct.pack(f"<2{letter}", each.real, each.imag) for each in values)
    c = column(where, raw, 5, bits, (4,))
    assert c.tolist() == values and c[1:3].tolist() == values[1:3]
    assert c.to_numpy().dtype == f"complex{bits}" and c.to_numpy().tolist() == values


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 2), (0, 3)])
def test_fixed_size_lists(where, shape):
    want = numpy.arange(numpy.prod(shape), dtype="float32").reshape(shape)
    c = column(where, want.tobytes(), 2, 32, shape)
    found = c.to_numpy()
    assert found.shape == shape and found.dtype == "float32" and (found == want).all()
    assert c.tolist() == want.tolist()
    if len(c):
        assert c[1:].to_numpy().tolist() == c[1:].tolist() == want[1:].tolist()
    if where == "host" and len(c):
        assert numpy.shares_memory(found, c.to_numpy()), "nothing is copied"


def test_lists_of_bfloat16(where):
    c = column(where, bfloat([1.0, 2.0, 3.0, 4.0]), 4, 16, (2, 2))
    assert c.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert c.to_numpy().astype("float32").tolist() == [[1.0, 2.0], [3.0, 4.0]]


NULLS = {
    "int32": ([1, None, 3], "float64"), "uint8": ([1, None, 3], "float64"), "float32": ([1.5, None, 2.5], "float32"),
    "float16": ([1.5, None, 2.5], "float16"), "float64": ([None, 1.5, 2.5], "float64"),
}


@pytest.mark.parametrize("dtype", NULLS)
def test_nulls_become_nan(where, dtype):
    values, becomes = NULLS[dtype]
    c = gpuframe.Column.from_arrow(Array.of(dtype, values), device="host").to_device(where)
    found = c.to_numpy()
    assert found.dtype == becomes and [None if math.isnan(each) else each for each in found.tolist()] == values


def test_nulls_of_other_types(where):
    for dtype, values in (("bool", [True, None, False]), ("utf8", ["a", None, ""]), ("binary", [b"a", None])):
        c = gpuframe.Column.from_arrow(Array.of(dtype, values), device="host").to_device(where)
        assert c.to_numpy().dtype == object and c.to_numpy().tolist() == values == c.tolist()


def test_a_slice_without_nulls(where):
    """DLPack and the array interface accept it, also if the rest of the column has nulls."""
    c = gpuframe.Column.from_arrow(Array.of("int32", [None] + list(range(20))), device="host").to_device(where)
    part = c[1:]
    if not support.KERNELS[where]:
        pytest.skip("nulls are counted by a kernel")
    assert part.null_count == 0 and c.null_count == 1
    assert gpuframe.Column.from_dlpack(part).tolist() == list(range(20))
    assert part.to_numpy().dtype == "int32" and part.to_numpy().tolist() == list(range(20))
    with pytest.raises(BufferError, match="nulls"):
        c.__dlpack__()


@pytest.mark.parametrize("unit", ["s", "m", "u", "n"])
def test_times(where, unit):
    raw = struct.pack("<3q", 0, 86_400, 1)
    c = gpuframe.Column.from_arrow(Array(f"ts{unit}:", 3, [None, raw]), device="host").to_device(where)
    name = {"s": "s", "m": "ms", "u": "us", "n": "ns"}[unit]
    assert c.to_numpy().dtype == f"datetime64[{name}]" and c.to_numpy().astype("int64").tolist() == [0, 86_400, 1]
    c = gpuframe.Column.from_arrow(Array(f"tD{unit}", 3, [bytes([5]), raw], 1), device="host").to_device(where)
    found = c.to_numpy()
    assert found.dtype == f"timedelta64[{name}]" and numpy.isnat(found).tolist() == [False, True, False]


def test_copy(where):
    c = support.column("int64", where)
    if where == "host":
        assert numpy.shares_memory(c.to_numpy(), c.to_numpy(copy=False)) and not numpy.shares_memory(c.to_numpy(), c.to_numpy(copy=True))
        with pytest.raises(ValueError, match="copy=False"):
            c.to_numpy(dtype="float32", copy=False)
        with pytest.raises(ValueError, match="copy=False"):
            support.column("int64", where, nulls=True).to_numpy(copy=False)
        assert numpy.asarray(c).tolist() == support.sample("int64")
    else:
        with pytest.raises(ValueError, match="copy=False"):
            c.to_numpy(copy=False)
        with pytest.raises(TypeError, match="to_numpy"):
            numpy.asarray(c)


def packed(letter, *values):
    return struct.pack(f"<{len(values)}{letter}", *values)


NOW = datetime.datetime(2026, 6, 1, 12, 30, 15, 500_000)
MICROS = (NOW - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
DAY = datetime.timedelta(days=1)
PAIRS = [Array("u", 3, [None, packed("i", 0, 1, 2, 3), b"abc"], name="key", nullable=False), Array.of("int64", [1, None, 3], "value")]

#: Arrays of three elements, the second one null, and the first and third as Python objects.
ELEMENTS = {
    "date32": (Array("tdD", 3, [bytes([5]), packed("i", -1, 2**31 - 1, 20_605)], 1), datetime.date(1969, 12, 31), NOW.date()),
    "date64": (Array("tdm", 3, [bytes([5]), packed("q", -86_400_000, 2**62, 20_605 * 86_400_000)], 1), datetime.date(1969, 12, 31), NOW.date()),
    "time32": (Array("tts", 3, [bytes([5]), packed("i", 1, -1, 86_399)], 1), datetime.time(0, 0, 1), datetime.time(23, 59, 59)),
    "time64": (Array("ttn", 3, [bytes([5]), packed("q", 1_000, 2**60, 86_399_999_999_000)], 1), datetime.time(0, 0, 0, 1), datetime.time(23, 59, 59, 999_999)),
    "seconds": (Array("tss:", 3, [bytes([5]), packed("q", -1, 2**62, 0)], 1), datetime.datetime(1969, 12, 31, 23, 59, 59), datetime.datetime(1970, 1, 1)),
    "microseconds": (Array("tsu:", 3, [bytes([5]), packed("q", MICROS, 0, -1)], 1), NOW, datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
    "nanoseconds": (Array("tsn:", 3, [bytes([5]), packed("q", MICROS * 1000, 1, 0)], 1), NOW, datetime.datetime(1970, 1, 1)),
    "UTC": (Array("tsu:UTC", 3, [bytes([5]), packed("q", MICROS, 0, 0)], 1), NOW.replace(tzinfo=datetime.timezone.utc), datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)),
    "offset": (Array("tss:+05:30", 3, [bytes([5]), packed("q", 0, 0, 86_400)], 1), *[datetime.datetime(
        1970, 1, d, 5, 30, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30))) for d in (1, 2)]),
    "duration": (Array("tDm", 3, [bytes([5]), packed("q", -86_400_000, 2**60, 1)], 1), -DAY, datetime.timedelta(milliseconds=1)),
    "decimal": (Array("d:38,2", 3, [bytes([5]), b"".join(each.to_bytes(16, "little", signed=True) for each in (-1250, 0, 10**37 + 1))], 1),
                decimal.Decimal("-12.50"), decimal.Decimal(10**37 + 1).scaleb(-2, decimal.Context(prec=50))),
    "fixed-size binary": (Array("w:2", 3, [bytes([5]), b"abxxcd"], 1), b"ab", b"cd"),
    "list": (Array("+l", 3, [bytes([5]), packed("i", 0, 2, 2, 3)], 1, [Array.of("int64", [1, None, 3], "item")]), [1, None], [3]),
    "list of dates": (Array("+L", 3, [bytes([5]), packed("q", 1, 3, 3, 3)], 1, [Array("tdD", 3, [None, packed("i", 9, 0, 1)], name="item")]),
                      [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)], []),
    "fixed-size list": (Array("+w:2", 3, [bytes([5])], 1, [Array.of("utf8", ["a", None, "x", "x", "b", "c"], "item")]), ["a", None], ["b", "c"]),
    "struct": (Array("+s", 3, [bytes([5])], 1, PAIRS), {"key": "a", "value": 1}, {"key": "c", "value": 3}),
    "map": (Array("+m", 3, [bytes([5]), packed("i", 0, 2, 2, 3)], 1, [Array("+s", 3, [None], children=PAIRS, name="entries", nullable=False)]), [("a", 1), ("b", None)], [("c", 3)]),
}


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_without_other_libraries(where, monkeypatch, name):
    """Elements of every type, of arrays and of slices. None of them needs pyarrow."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    array, first, third = ELEMENTS[name]
    table = gpuframe.Table.from_arrow(Array.struct({"x": array}), device="host").to_device(where)
    assert table["x"].tolist() == [first, None, third]
    assert table["x"][2:].tolist() == [third] and table["x"][1:2].tolist() == [None] and table["x"][:0].tolist() == []
    assert table.to_pylist() == [{"x": first}, {"x": None}, {"x": third}]


def test_zones_of_elements():
    c = gpuframe.Column.from_arrow(Array("tss:Europe/Oslo", 2, [None, packed("q", 0, 15_552_000)]), device="host")
    assert [each.isoformat() for each in c.tolist()] == ["1970-01-01T01:00:00+01:00", "1970-06-30T01:00:00+01:00"]


@pytest.mark.parametrize("array, text", [
    (Array("tsn:", 2, [None, packed("q", 0, 1)]), "'x'.*1 nanoseconds.*microseconds"),
    (Array("tss:", 1, [None, packed("q", 2**60)]), "years 1 to 9999"),
    (Array("tdD", 1, [None, packed("i", 2**30)]), "years 1 to 9999"),
    (Array("tDs", 1, [None, packed("q", 2**62)]), "timedelta"),
    (Array("tss:Europe/Atlantis", 1, [None, packed("q", 0)]), "no time zone 'Europe/Atlantis'"),
    (Array("tiM", 1, [None, packed("i", 3)]), "needs pyarrow"),
])
def test_elements_that_python_cannot_hold(monkeypatch, array, text):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(gpuframe.UnsupportedError, match=text):
        gpuframe.Column.from_arrow(array, name="x", device="host").tolist()


def test_comparisons_are_refused():
    """The comparison of identities would be False in silence."""
    table = gpuframe.Table.from_columns({"x": [1, 2]}, device="host")
    column = table["x"]
    for compare in (lambda: table == 1, lambda: table != [1, 2], lambda: table > 1, lambda: table == table, lambda: 1 == table):
        with pytest.raises(TypeError, match=r"table.filter\(gpuframe.col\("):
            compare()
    assert len({table, column}) == 2 and column in [column]
