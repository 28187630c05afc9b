"""Invalid pointers, forks, and releases at arbitrary moments: each in a separate process, in which a crash is a failed test."""

import pytest

import gpuframe
import support
from support import run_alone


@pytest.fixture
def cuda():
    """A GPU, or the fake driver."""
    if "cuda:0" not in support.DEVICES:
        pytest.skip("there is no GPU")
    return "cuda:0"


TENSOR = """
    import ctypes, struct, gpuframe, producer

    class Tensor:
        def __init__(self, pointer, kind=2, rows=1000, versioned=True, offset=0):
            self.shape, self.strides, self.on = (ctypes.c_int64 * 1)(rows), (ctypes.c_int64 * 1)(1), (kind, 0)
            self.raw, at = ctypes.create_string_buffer(80), 32 if versioned else 0
            self.name = b"dltensor_versioned" if versioned else b"dltensor"
            if versioned:
                struct.pack_into("<II", self.raw, 0, 1, 0)
            struct.pack_into("<QiiiBBHQQQ", self.raw, at, pointer, kind, 0, 1, 0, 32, 1, ctypes.addressof(self.shape), ctypes.addressof(self.strides), offset)
        def __dlpack_device__(self):
            return self.on
        def __dlpack__(self, **more):
            return producer._api.PyCapsule_New(ctypes.addressof(self.raw), self.name, None)

    class Interface:
        def __init__(self, pointer, rows=1000, **more):
            self.__cuda_array_interface__ = {"shape": (rows,), "typestr": "<i4", "data": (pointer, False), "version": 3, "strides": None, **more}

    class Arrow(producer.DeviceArray):
        def __init__(self, pointer, form="i", buffers=2, kind=2):
            self.pointer = pointer
            super().__init__(producer.Array(form, 1000, [None] * buffers), kind, 0)
        def __arrow_c_device_array__(self, requested_schema=None, **more):
            capsules = super().__arrow_c_device_array__()
            for i in range(1, self.shown[1].array.n_buffers):
                self.shown[1].array.buffers[i] = self.pointer
            return capsules

    def refused(take, *errors):
        try:
            take()
        except (ValueError, BufferError) as error:
            assert isinstance(error, gpuframe.GpuframeError), repr(error)
        else:
            raise AssertionError("it was taken")

    own = gpuframe.Table.from_columns({"x": list(range(100))}, device="cuda:0")["x"]
    WILD = [0xDEAD0000, 0x8, (1 << 47) - 4096, (1 << 63) + 4096, ctypes.addressof(ctypes.create_string_buffer(8192)) // 64 * 64 + 64]
"""


@pytest.mark.parametrize("protocol", ["interface", "versioned", "legacy", "arrow", "texts", "views", "lists"])
def test_wild_pointers(cuda, tmp_path, protocol):
    take = {
        "interface": "gpuframe.Table.from_columns({'x': Interface(pointer)})",
        "versioned": "gpuframe.Column.from_dlpack(Tensor(pointer))",
        "legacy": "gpuframe.Column.from_dlpack(Tensor(pointer, versioned=False))",
        "arrow": "gpuframe.Column.from_arrow(Arrow(pointer))",
        "texts": "gpuframe.Column.from_arrow(Arrow(pointer, 'u', 3))",
        "views": "gpuframe.Column.from_arrow(Arrow(pointer, 'vu', 4))",
        "lists": "gpuframe.Column.from_arrow(Arrow(pointer, 'U', 3))",
    }[protocol]
    run_alone(tmp_path, TENSOR + f"""
    for pointer in WILD:
        refused(lambda: {take})
    print(own[:3].tolist(), gpuframe.device_memory("cuda:0").external)
    """, "[0, 1, 2] 0")


def test_pointers_that_claim_too_much(cuda, tmp_path):
    """Own memory with a claimed size beyond its allocation."""
    run_alone(tmp_path, TENSOR + """
    rows = 1 << 40
    refused(lambda: gpuframe.Column.from_dlpack(Tensor(own.data_ptr, rows=rows)))
    refused(lambda: gpuframe.Table.from_columns({'x': Interface(own.data_ptr, rows=rows)}))
    refused(lambda: gpuframe.Column.from_dlpack(Tensor(own.data_ptr, offset=1 << 40)))
    refused(lambda: gpuframe.Table.from_columns({'x': Interface(own.data_ptr, stream=0)}))
    print("refused")
    """, "refused")


def test_released_memory_of_cupy(gpu, tmp_path):
    """A pointer to memory that its allocator has returned to the driver."""
    pytest.importorskip("cupy")
    run_alone(tmp_path, TENSOR + """
    import cupy
    memory = cupy.cuda.runtime.malloc(1 << 24)
    cupy.cuda.runtime.free(memory)
    refused(lambda: gpuframe.Table.from_columns({'x': Interface(memory)}))
    print("refused")
    """, "refused")


FORK = """
    import gc, os, sys, warnings
    warnings.simplefilter("ignore")
    import gpuframe
"""


def forked(folder, before, child, where, ends="sys.exit(0)"):
    run_alone(folder, FORK + f"""
    table = gpuframe.Table.from_columns({{"x": range(100)}}, device={where!r})
    c = table["x"]
    {before}
    pid = os.fork()
    if pid == 0:
        {child}
        {ends}
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert c[:2].tolist() == [0, 1], "the parent goes on"
    print(status)
    """, "0")


@pytest.mark.parametrize("ends", ["sys.exit(0)", "pass; print(0) if False else sys.exit(0)", "os._exit(0)"], ids=["exit", "falls off", "_exit"])
def test_a_forked_child_ends(where, tmp_path, ends):
    """Interpreters that end in a child run registered functions and collect garbage."""
    forked(tmp_path, "kept = [c.__dlpack__(max_version=(1, 0)), table.__arrow_c_device_array__(), gpuframe.budget('1 MB', device='host')]",
           "del kept, c, table; gc.collect()", where, ends)


@pytest.mark.parametrize("what", ["numpy.from_dlpack(c)", "numpy.asarray(c)", "c.to_numpy()"])
def test_a_forked_child_drops_arrays(tmp_path, what):
    """The child's numpy runs our deleter, and Go does not run there."""
    numpy = pytest.importorskip("numpy")
    assert numpy
    forked(tmp_path, f"import numpy; array = {what}", "assert array[:2].tolist() == [0, 1]; del array, c, table; gc.collect()", "host")


def test_a_forked_child_drops_arrow(tmp_path):
    pytest.importorskip("pyarrow")
    forked(tmp_path, "arrow = table.to_pyarrow()", "assert arrow.num_rows == 100; del arrow, c, table; gc.collect()", "host")


def test_a_forked_child_drops_torch(tmp_path, where):
    pytest.importorskip("torch")
    lib = support.LIBRARIES["torch"]
    if not lib.here(where):
        pytest.skip("torch does not use this device")
    forked(tmp_path, "import torch; tensor = torch.from_dlpack(c)", "del tensor, c, table; gc.collect()", where, "os._exit(0)")


def test_multiprocessing_by_fork(tmp_path, where):
    """Workers of a pool that do not use gpuframe complete their work."""
    run_alone(tmp_path, FORK + f"""
    import multiprocessing
    def work(i):
        try:
            table.slice(0, 1)
        except gpuframe.GpuframeError as error:
            assert "forked" in str(error)
        return i * i
    if __name__ == "__main__":
        table = gpuframe.Table.from_columns({{"x": range(100)}}, device={where!r})
        with multiprocessing.get_context("fork").Pool(3) as pool:
            print(sum(pool.map(work, range(20))))
        assert len(table) == 100
    """, str(sum(i * i for i in range(20))))


def test_collections_at_odd_moments(tmp_path, where):
    """The collector runs in every iteration, on several threads, while capsules, columns and budgets come and go."""
    run_alone(tmp_path, f"""
    import gc, threading, gpuframe
    gc.set_threshold(1, 1, 1)
    table = gpuframe.Table.from_columns({{"x": range(1000), "y": [0.5] * 1000}}, device={where!r})
    failures = []
    def work():
        try:
            for i in range(60):
                cycle = [table["x"][i:].__dlpack__(max_version=(1, 0)), table.__arrow_c_device_array__(), table.__arrow_c_stream__()]
                cycle.append(cycle)
                with gpuframe.budget("1 MB", device={where!r}):
                    copied = table.select("x").to_device({where!r})
                    cycle.append(gpuframe.Column.from_dlpack(copied["x"]))
                    loop = [copied]; loop.append(loop)
                del cycle, copied, loop
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for each in threads: each.start()
    for each in threads: each.join()
    assert not failures, failures
    del table
    gc.collect()
    memory = gpuframe.device_memory({where!r})
    print(memory.in_use, memory.external, memory.leaks)
    """, "0 0 0")


def test_a_forked_child_releases_arrow_structs(tmp_path):
    """A library that has moved the structs calls their functions: they return an error, or do nothing."""
    forked(tmp_path, """
    import ctypes, producer
    at = producer._api.PyCapsule_GetPointer
    class Stream(ctypes.Structure):
        _fields_ = [(name, ctypes.c_void_p) for name in ("schema", "next", "error", "release", "private")]
    calls = ctypes.CFUNCTYPE(None, ctypes.c_void_p), ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    text = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)
    capsules = [table.__arrow_c_stream__(), *table.__arrow_c_array__()]
    where = [at(capsules[0], b"arrow_array_stream"), at(capsules[1], b"arrow_schema"), at(capsules[2], b"arrow_array")]
    """, """
        stream = Stream.from_address(where[0])
        out = ctypes.create_string_buffer(200)
        assert calls[1](stream.schema)(where[0], ctypes.addressof(out)) != 0
        assert calls[1](stream.next)(where[0], ctypes.addressof(out)) != 0
        assert b"forked" in text(stream.error)(where[0])
        calls[0](stream.release)(where[0])
        assert not stream.release
        for struct in producer.CSchema.from_address(where[1]), producer.CArray.from_address(where[2]):
            struct.release(ctypes.pointer(struct))
            assert not struct.release
    """.strip(), "host", "os._exit(0)")
