"""The device of imported data, the copies on the way, and the order of streams."""

import ctypes
import os

import pytest

import gpuframe
import producer
import support
from gate import twice
from producer import Array, DeviceArray


class Batches:
    """A stream of record batches, or of arrays, in the host's memory."""

    def __init__(self, arrays):
        self.arrays, self.taken = list(arrays), 0

    def __arrow_c_stream__(self, requested_schema=None):
        return producer.stream_capsule(self)


def batch(rows, first=0, nulls=False):
    values = [None if nulls and i % 5 == 2 else i for i in range(first, first + rows)]
    texts = [None if each is None else f"t{each}" for each in values]
    return Array.struct({"x": Array.of("int64", values), "s": Array.of("utf8", texts)})


@pytest.fixture(autouse=True)
def released():
    """The producer's structs are released, once each, when a test ends."""
    producer.alive.clear()
    yield
    support.settle()
    assert not producer.alive


@pytest.mark.parametrize("count", [0, 1, 3])
def test_streams_of_the_host(where, count):
    source = Batches([batch(100, 100 * i, nulls=True) for i in range(count)] or [])
    source.form = batch(1)
    table = gpuframe.Table.from_arrow(source, device=where)
    want = [None if i % 5 == 2 else i for i in range(100 * count)]
    assert table.to_pydict() == {"x": want, "s": [None if each is None else f"t{each}" for each in want]}
    assert table.column_names == ["x", "s"]


def test_a_chunked_stream_takes_its_own_size(where):
    """Ten batches of 0.8 MB fit in 10 MB: they are copied to the device once, and are not kept twice."""
    rows = 100_000
    source = Batches([Array.struct({"x": Array.of("int64", list(range(i * rows, (i + 1) * rows)))}) for i in range(10)])
    with gpuframe.budget("10 MB", device=where) as budget:
        table = gpuframe.Table.from_arrow(source, device=where)
        assert 8_000_000 <= budget.in_use <= 8_200_000 and budget.peak <= 8_200_000
        assert len(table) == 10 * rows and table[999_990:]["x"].tolist() == list(range(999_990, 1_000_000))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_column_of_a_stream(where, count):
    """Columns of the interfaces that chunked arrays and series have."""
    source = Batches([Array.of("int32", [7 * i, None, 9]) for i in range(count)])
    source.form = Array.of("int32", [])
    c = gpuframe.Column.from_arrow(source, name="c", device=where)
    assert (c.name, c.dtype, c.tolist()) == ("c", "int32", [each for i in range(count) for each in (7 * i, None, 9)])
    table = gpuframe.Table.from_columns({"c": Batches([Array.of("int32", [1, 2])])}, device=where)
    assert table["c"].tolist() == [1, 2] and table.device.name == where


def test_a_stream_that_fails(where):
    source = Batches([batch(3), "the disk is gone", batch(3)])
    with pytest.raises(ValueError, match="the disk is gone"):
        gpuframe.Table.from_arrow(source, device=where)
    short = batch(3)
    short.children[1].length = 2
    with pytest.raises(ValueError):
        gpuframe.Table.from_arrow(Batches([batch(3), short]), device=where)


def samples(where):
    """A table of many layouts, in counted memory."""
    arrays = {"i": Array.of("int32", list(range(1000))), "b": Array.of("bool", [i % 3 == 0 for i in range(1000)]),
              "n": Array.of("float64", [None if i % 7 == 0 else i / 2 for i in range(1000)]),
              "s": Array.of("utf8", [None if i % 11 == 0 else "x" * (i % 5) for i in range(1000)])}
    return gpuframe.Table.from_arrow(Array.struct(arrays), device="host").to_device(where)


PARTS = [slice(None), slice(13, 14), slice(3, 997), slice(500, 500), slice(8, None)]


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_copies_within_a_device(where, part):
    source = samples(where)[part]
    names = ["i", "b", "n", "s"] if support.KERNELS[where] else ["i", "b", "n"]  # a slice of strings needs a kernel
    source = source.select(names)
    with gpuframe.budget("1 MB", device=where) as budget:
        copied = source.to_device(budget)
        assert budget.in_use == copied.nbytes and (len(source) > 0 or copied.nbytes <= 64)
        assert copied.to_pydict() == source.to_pydict() and copied.schema == source.schema
        assert [each.null_count for each in copied.columns()] == [each.null_count for each in source.columns()]
        for name in names:
            single = source[name].to_device(budget)
            assert single.tolist() == source[name].tolist()
            assert single.data_ptr == 0 or single.data_ptr != source[name].data_ptr
    source.release()
    assert copied["i"].tolist() == list(range(1000))[part]


def test_a_copy_of_a_slice_leaves_the_rest_behind(where):
    source = samples(where).select(["i", "n"])
    assert source[100:110].to_device(where).nbytes < 1000 < source.nbytes


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The calls of the fake driver."""
    if support.KERNELS.get("cuda:0", True):
        pytest.skip("there is no driver that logs")
    path = tmp_path / "calls"
    monkeypatch.setenv("FAKE_LOG", str(path))

    def calls():
        found = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return found

    return calls


def test_copies_within_a_gpu_avoid_the_host(log):
    source = samples("cuda:0")
    log()
    source.to_device("cuda:0"), source["i"].to_device("cuda:0")
    made = "\n".join(log())
    assert "cuMemcpyDtoDAsync" in made and "DtoH" not in made and "HtoD" not in made


def test_copies_between_gpus_avoid_the_host(log):
    source = samples("cuda:0")
    log()
    source.to_device("cuda:1"), source["i"].to_device("cuda:1")
    made = "\n".join(log())
    assert "cuMemcpyPeerAsync" in made and "DtoH" not in made and "HtoD" not in made


def test_nulls_are_counted_where_they_are(log):
    """Counting a slice's nulls transfers one word, not the column."""
    part = samples("cuda:0")["n"][3:900]
    log()
    assert part.null_count >= 0 and len(part) == 897
    made = log()
    assert any("cuLaunchKernel" in call for call in made)
    assert all(call.startswith("cuMemcpyDtoHAsync_v2(8,") for call in made if "DtoH" in call), made


def test_nulls_of_slices(where):
    column = samples("host")["n"]
    if not support.KERNELS[where]:
        pytest.skip("nulls are counted by a kernel")
    column = column.to_device(where)
    for part in PARTS:
        assert column[part].null_count == sum(each is None for each in column[part].tolist())


class Interface:
    """A column by the CUDA array interface, with a stream."""

    def __init__(self, column, stream):
        self.column = column
        self.__cuda_array_interface__ = {**column.__cuda_array_interface__, "stream": stream}


def test_the_stream_of_the_cuda_array_interface(log):
    """Stream 2 is the default stream of the calling thread; the import waits for it."""
    c = support.column("int32", "cuda:0")

    def waits(stream):
        source = Interface(c, stream)
        log()
        gpuframe.Table.from_columns({"x": source}, device="cuda:0")
        return [call for call in log() if call.startswith("cuStreamWaitEvent")]

    assert waits(2), "nothing waits for the per-thread default stream"
    assert not waits(1), "the legacy default stream is idle, as a query shows"
    for wrong in (0, -1, -7):
        with pytest.raises(ValueError, match="stream"):
            waits(wrong)
    with pytest.raises(TypeError, match="stream"):
        waits("main")


METHODS = ["__arrow_c_array__", "__arrow_c_stream__", "__arrow_c_device_array__", "__arrow_c_device_stream__"]


@pytest.mark.parametrize("method", METHODS)
def test_the_stream_is_checked(where, method):
    source = samples("host")

    class Only:
        pass

    setattr(Only, method, lambda self: getattr(source, method)())
    for wrong in (0, -1):
        with pytest.raises(ValueError, match=f"stream={wrong}"):
            gpuframe.Table.from_arrow(Only(), device=where, stream=wrong)
    with pytest.raises(TypeError, match="stream='main'"):
        gpuframe.Table.from_arrow(Only(), device=where, stream="main")
    if where == "host":
        with pytest.raises(ValueError, match="no streams"):
            gpuframe.Table.from_arrow(Only(), device=where, stream=1)
    else:
        for stream in (1, 2):
            assert gpuframe.Table.from_arrow(Only(), device=where, stream=stream)["i"].tolist()[:3] == [0, 1, 2]


@pytest.mark.parametrize("method", METHODS[2:])
def test_the_stream_waits(gpu, method):
    """Work on the stream that the caller names finds the data, without a wait on the host."""
    torch = pytest.importorskip("torch")
    import test_async

    def course(gate):
        tensor, stream = test_async.slow_torch(gate, 21)
        with torch.cuda.stream(stream):
            source = gpuframe.Table.from_columns({"x": tensor}, device=gpu)

        class Only:
            pass

        setattr(Only, method, lambda self: getattr(source, method)())
        other = torch.cuda.Stream()
        table = gpuframe.Table.from_arrow(Only(), device=gpu, stream=other.cuda_stream)
        with torch.cuda.stream(other):
            doubled = torch.from_dlpack(table["x"].__dlpack__(stream=-1, max_version=(1, 0))) * 2
        gate.passed_by(lambda: not stream.query() and not other.query(), "the import")
        other.synchronize()
        assert (doubled == 42).all().item(), "stale data"

    twice(course)


def test_data_stays_on_its_gpu(two):
    """Without device= data on a GPU stays there."""
    for where in two:
        source = samples(where)
        for method in METHODS[2:]:

            class Only:
                pass

            setattr(Only, method, lambda self, m=method: getattr(source, m)())
            table = gpuframe.Table.from_arrow(Only())
            assert table.device.name == where and table["i"].data_ptr == source["i"].data_ptr
            with gpuframe.budget("1 MB", device=two[0]):
                assert gpuframe.Table.from_arrow(Only()).device.name == where
        assert gpuframe.Column.from_arrow(source["i"]).data_ptr == source["i"].data_ptr
        made = gpuframe.Table.from_columns({"h": [1] * 1000, "i": source["i"]})
        assert made.device.name == where and made["i"].data_ptr == source["i"].data_ptr
        assert gpuframe.Table.from_columns({"i": source["i"]}, device="host").device.name == "host"


def test_columns_of_two_gpus_are_refused(two):
    a, b = (support.column("int32", where) for where in two)
    with pytest.raises(ValueError, match="'a' on cuda:0 and 'b' on cuda:1.*device="):
        gpuframe.Table.from_columns({"a": a, "b": b})
    for where in (*two, "host"):
        table = gpuframe.Table.from_columns({"a": a, "b": b}, device=where)
        assert table.device.name == where and table["a"].tolist() == table["b"].tolist() == support.sample("int32")


@pytest.mark.parametrize("part", PARTS, ids=str)
def test_from_one_gpu_to_the_other(two, part):
    source = samples(two[0])[part]
    if not support.KERNELS[two[0]]:
        source = source.select(["i", "b", "n"])
    there = source.to_device(two[1])
    back = there.to_device(two[0])
    assert there.device.name == two[1] and there.to_pydict() == back.to_pydict() == source.to_pydict()
    foreign = DeviceArray(batch(3), device_type=1)
    assert gpuframe.Table.from_arrow(foreign, device=two[1]).device.name == two[1]


def test_batches_of_several_places(two):
    """A stream of batches on two GPUs becomes one table, on the GPU of the first batch."""
    if not support.KERNELS[two[0]]:
        pytest.skip("tables are put together by kernels")
    tables = [samples(where)[i * 10:i * 10 + 10] for i, where in enumerate(("host", two[1], two[0]))]
    table = gpuframe.Table.from_arrow(DeviceBatches(tables))
    assert table.device.name == two[1] and table["i"].tolist() == list(range(30))


class DeviceBatches:
    """A stream of tables on several devices."""

    def __init__(self, tables):
        self.tables = tables

    def __arrow_c_device_stream__(self, requested_schema=None, **more):
        return producer.device_stream_capsule(self.tables)


def test_the_memory_of_the_default_stream_is_ordered(log):
    """The stream passed to from_arrow is not kept: its owner may destroy it."""
    driver = ctypes.CDLL(os.environ["GPUFRAME_LIBCUDA"])
    source = samples("cuda:0")
    stream, context = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and driver.cuCtxSetCurrent(context) == 0
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
    table = gpuframe.Table.from_arrow(source, stream=stream.value)
    made = gpuframe.Column.from_arrow(source["i"], stream=stream.value)
    assert driver.cuStreamDestroy_v2(stream) == 0
    log()
    assert table["i"].tolist() == made.tolist() == list(range(1000))
    table.to_device("cuda:0")
    del table, made
    source.release()
    support.settle()
    assert not [call for call in log() if hex(stream.value) in call], "the destroyed stream is used"
    assert driver.cuDevicePrimaryCtxRelease_v2(0) == 0
