"""Arrays that other libraries copy to a GPU, and invalid addresses.

nanoarrow copies every buffer of an array to the GPU, including the lengths of string views' data,
leaves buffers of no bytes NULL, and records an event on its stream. DeviceCopy does the same with
driver calls only, independently of gpuframe.
"""

import ctypes
import os
import struct

import pytest

import gpuframe
import producer
import support
from producer import Array

GPU = [name for name in support.DEVICES if name != "host"]
CUDA = 2


@pytest.fixture(autouse=True)
def released():
    """The producer's structs are released, once each, when a test ends."""
    producer.alive.clear()
    yield
    support.settle()
    assert not producer.alive


class Driver:
    """The calls of the driver that a copy needs, in the primary context of a GPU."""

    def __init__(self, ordinal):
        self.library = ctypes.CDLL(os.environ.get("GPUFRAME_LIBCUDA") or "libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", ctypes.c_uint(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), ctypes.c_int(ordinal))
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        assert result == 0, f"{name}: {result}"


class DeviceCopy:
    """An array with all its buffers in a GPU's memory, complete at an event."""

    def __init__(self, array, where):
        self.of, self.ordinal = array, support.number(where)
        self.driver, self.memory = Driver(self.ordinal), []
        self.event = ctypes.c_void_p()
        self.driver.call("cuEventCreate", ctypes.byref(self.event), ctypes.c_uint(2))

    def __arrow_c_device_array__(self, requested_schema=None, **kwargs):
        c = producer.CDeviceArray(array=self.of.array(), device_type=CUDA, device_id=self.ordinal,
                                  sync_event=ctypes.addressof(self.event))
        self.copy(self.of, c.array)
        self.driver.call("cuEventRecord", self.event, None)
        self.shown = self.of.schema(), c
        return (producer._api.PyCapsule_New(ctypes.addressof(self.shown[0]), b"arrow_schema", None),
                producer._api.PyCapsule_New(ctypes.addressof(c), b"arrow_device_array", None))

    def copy(self, described, c):
        for i, raw in enumerate(described.buffers):
            if not raw:
                c.buffers[i] = None
                continue
            at = ctypes.c_uint64()
            self.driver.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(len(raw)))
            self.memory.append(at)
            self.driver.call("cuMemcpyHtoD_v2", at, ctypes.c_char_p(bytes(raw)), ctypes.c_size_t(len(raw)))
            c.buffers[i] = at.value
        for i, child in enumerate(described.children):
            self.copy(child, c.children[i].contents)

    def free(self):
        for at in self.memory:
            self.driver.call("cuMemFree_v2", at)
        self.driver.call("cuEventDestroy_v2", self.event)


def views(texts):
    """Make string views, the long ones in two data buffers."""
    data, at = [b"", b""], []
    for i, text in enumerate(texts):
        raw = (text or "").encode()
        if len(raw) <= 12:
            at.append(struct.pack("<i12s", len(raw), raw))
        else:
            at.append(struct.pack("<i4sii", len(raw), raw[:4], i % 2, len(data[i % 2])))
            data[i % 2] += raw
    nulls = sum(text is None for text in texts)
    validity = producer._bits([text is not None for text in texts]) if nulls else None
    return Array("vu", len(texts), [validity, b"".join(at), *data, struct.pack("<2q", *map(len, data))], nulls)


def host_array(table):
    """Return the table's ArrowArray in the host's memory, and the object that keeps it alive."""
    capsules = table.__arrow_c_array__()
    return producer.CArray.from_address(producer._api.PyCapsule_GetPointer(capsules[1], b"arrow_array")), capsules


def read_views(c):
    """Return the values of an array of string views."""
    found = []
    for i in range(c.offset, c.offset + c.length):
        if c.buffers[0] and not ctypes.c_uint8.from_address(c.buffers[0] + (i >> 3)).value >> (i & 7) & 1:
            found.append(None)
            continue
        at = c.buffers[1] + 16 * i
        length = ctypes.c_int32.from_address(at).value
        if length <= 12:
            raw = ctypes.string_at(at + 4, length)
        else:
            _, which, offset = struct.unpack("<4sii", ctypes.string_at(at + 4, 12))
            raw = ctypes.string_at(c.buffers[2 + which] + offset, length)
        found.append(raw.decode())
    return found


def test_string_views(where):
    """On a GPU the lengths of the views' data are in its memory, too."""
    if not support.KERNELS[where]:
        pytest.skip("views are checked by kernels, which this driver does not run")
    texts = ["", "short", None, "a text that is too long for a view", "another one that is too long", "twelve bytes"]
    source = Array.struct({"v": views(texts), "n": Array.of("int32", list(range(6)))})
    copy = source if where == "host" else DeviceCopy(source, where)
    table = gpuframe.Table.from_arrow(copy, device=where)
    assert table["n"].tolist() == list(range(6))
    c, kept = host_array(table)
    assert read_views(c.children[0].contents) == texts
    del kept
    table.release()
    support.settle(lambda: not producer.alive)
    if where != "host":
        copy.free()


@pytest.mark.parametrize("where", GPU)
def test_arrays_without_elements_have_null_buffers(where):
    empty = Array.struct({"s": Array("u", 0, [None, b"", b""]), "v": views([]), "n": Array("i", 0, [None, b""]),
                          "l": Array("+l", 0, [None, b""], children=[Array("i", 0, [None, b""], name="item")])})
    copy = DeviceCopy(empty, where)
    table = gpuframe.Table.from_arrow(copy, device=where)
    assert len(table["s"]) == len(table["v"]) == len(table["l"]) == 0
    # Consumers read the one offset of strings and lists, so that it is never NULL.
    c, kept = host_array(table)
    assert c.length == 0 and c.children[0].contents.buffers[1] and c.children[3].contents.buffers[1]
    del kept
    table.release()
    support.settle(lambda: not producer.alive)
    copy.free()


@pytest.mark.parametrize("where", GPU)
@pytest.mark.parametrize("spoilt", [1, 2, 4], ids=["views", "data", "lengths"])
def test_wild_pointers_in_arrow_arrays(where, spoilt):
    copy = DeviceCopy(Array.struct({"v": views(["a text that is too long for a view"] * 4)}), where)
    plain = copy.copy

    def spoil(described, c):
        plain(described, c)
        if described.form == "vu":
            c.buffers[spoilt] = 0xDEAD0000

    copy.copy = spoil
    with pytest.raises(gpuframe.GpuframeError, match=rf"children\[0\].buffers\[{spoilt}\]"):
        gpuframe.Table.from_arrow(copy, device=where)
    support.settle(lambda: not producer.alive)
    copy.free()


@pytest.mark.parametrize("where", GPU)
@pytest.mark.parametrize("address", [0xDEAD0000, 0x1000, 1 << 46])
def test_wild_pointers_of_the_array_interface(where, address):
    class Wild:
        __cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (address, False), "version": 3}

    with pytest.raises((gpuframe.GpuframeError, BufferError), match="data"):
        gpuframe.Table.from_columns({"w": Wild()}, device=where)


def pyarrow_types():
    """Return types of every layout, plain and nested in one another."""
    pa = pytest.importorskip("pyarrow")
    plain = [pa.null(), pa.bool_(), pa.int8(), pa.int64(), pa.float32(), pa.date32(), pa.timestamp("us", "UTC"), pa.decimal128(9, 2), pa.string(),
             pa.large_string(), pa.binary(), pa.large_binary(), pa.binary(3), pa.dictionary(pa.int8(), pa.string())]
    plain += [getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)]
    fields = [pa.field("a", pa.int32()), pa.field("b", pa.string())]
    nested = []
    for of in (pa.int32(), pa.string(), pa.bool_()):
        nested += [pa.list_(of), pa.large_list(of), pa.list_(of, 2), pa.struct([pa.field("a", of)]), pa.map_(pa.string(), of)]
        nested += [getattr(pa, name)(of) for name in ("list_view", "large_list_view") if hasattr(pa, name)]
    nested += [pa.sparse_union(fields), pa.dense_union(fields), pa.run_end_encoded(pa.int32(), pa.string())]
    deep = []
    for of in (pa.list_(pa.string()), pa.map_(pa.string(), pa.int64()), pa.struct(fields), pa.dense_union(fields), pa.sparse_union(fields)):
        deep += [pa.list_(of), pa.large_list(of), pa.list_(of, 2), pa.struct([pa.field("a", of)]), pa.map_(pa.int32(), of)]
        deep += [union([pa.field("a", of), fields[1]]) for union in (pa.sparse_union, pa.dense_union)]
    return plain + nested + deep


def made(pa, kind, rows):
    """Return an array of nulls, or None if this pyarrow cannot make one of the type."""
    try:
        return pa.nulls(rows, kind)
    except pa.ArrowException:
        return None


@pytest.mark.parametrize("way", ["whole", "chunks", "slice", "copied"])
def test_pyarrow_takes_arrays_without_elements(where, way):
    """Arrow C++ refuses an array without elements if its offsets are NULL, on every level."""
    pa = pytest.importorskip("pyarrow")
    if not support.KERNELS[where]:
        pytest.skip("contents are checked by kernels, which this driver does not run")
    seen = 0
    for kind in pyarrow_types():
        values = made(pa, kind, 3 if way == "slice" else 0)
        if values is None:
            continue
        if way == "chunks":
            values = pa.chunked_array([values, values], kind)
        try:
            table = gpuframe.Table.from_arrow(pa.table({"x": values, "n": pa.array([1] * len(values), pa.int32())}), device=where)
        except gpuframe.UnsupportedError:
            continue
        if way == "slice":
            table = table[2:2]
        elif way == "copied":
            table = table.to_device(where)
        seen += 1
        for taken in (pa.table(table), pa.RecordBatchReader.from_stream(table).read_all(),
                      pa.RecordBatch._import_from_c_capsule(*table.__arrow_c_array__())):
            taken.validate(full=True)
            assert taken.num_rows == 0, kind
        alone = pa.Array._import_from_c_capsule(*table["x"].__arrow_c_array__())
        alone.validate(full=True)
        assert len(alone) == 0, kind
        if where == "host" and hasattr(pa.RecordBatch, "_import_from_c_device_capsule"):
            there = pa.RecordBatch._import_from_c_device_capsule(*table.__arrow_c_device_array__())
            there.validate(full=True)
    assert seen > 20
