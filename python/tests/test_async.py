"""Hand-overs while the producer's kernel is still running, in both directions. On a GPU only."""

import pytest

import gpuframe
from gate import twice

N = 1 << 20
WHILE = 1_000_000_000  # cycles of work that no test ends, about half a second


def slow_torch(gate, value):
    """Return (tensor, stream): the stream waits at the gate, and then fills the tensor."""
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(N, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    gate.hold(stream.cuda_stream)
    with torch.cuda.stream(stream):
        tensor.fill_(value)
    return tensor, stream


def slow_cupy(gate, value):
    cupy = pytest.importorskip("cupy")
    array = cupy.zeros(N, dtype=cupy.int32)
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    gate.hold(stream.ptr)
    with stream:
        array.fill(value)
    return array, stream


def check(c, value):
    """The column holds one value everywhere, as Go reads it."""
    numpy = pytest.importorskip("numpy")
    found = c.to_numpy()
    assert found.shape == (N,) and (numpy.asarray(found) == value).all(), "stale data"


class Interface:
    """An array by its CUDA array interface, with the stream that it is made on."""

    def __init__(self, array, stream):
        self.array, self.stream = array, stream
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream.ptr}


class Protocol:
    """A tensor with DLPack's protocol only, without an exchange table."""

    def __init__(self, tensor):
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


@pytest.mark.parametrize("way", ["table", "protocol"])
def test_from_torch_on_a_side_stream(gpu, way):
    torch = pytest.importorskip("torch")

    def course(gate):
        tensor, stream = slow_torch(gate, 7)
        with torch.cuda.stream(stream):
            c = gpuframe.Column.from_dlpack(tensor if way == "table" else Protocol(tensor))
        gate.passed_by(lambda: not stream.query(), "the hand-over")
        assert c.data_ptr == tensor.data_ptr()
        check(c, 7)

    twice(course)


def test_from_cupy_on_a_side_stream(gpu):
    def course(gate):
        array, stream = slow_cupy(gate, 8)
        with stream:
            c = gpuframe.Column.from_dlpack(array)
        gate.passed_by(lambda: not stream.done, "the hand-over")
        assert c.data_ptr == array.data.ptr
        check(c, 8)

    twice(course)


def test_from_the_cuda_array_interface(gpu):
    def course(gate):
        array, stream = slow_cupy(gate, 9)
        c = gpuframe.Table.from_columns({"x": Interface(array, stream)}, device=gpu)["x"]
        gate.passed_by(lambda: not stream.done, "the hand-over")
        assert c.data_ptr == array.data.ptr
        check(c, 9)

    twice(course)


def test_through_arrow(gpu):
    torch = pytest.importorskip("torch")

    def course(gate):
        tensor, stream = slow_torch(gate, 10)
        with torch.cuda.stream(stream):
            table = gpuframe.Table.from_columns({"x": tensor}, device=gpu)
        back = gpuframe.Table.from_arrow(table, device=gpu)
        gate.passed_by(lambda: not stream.query(), "Arrow")
        check(back["x"], 10)

    twice(course)


@pytest.mark.parametrize("way", ["protocol", "capsule", "table"])
def test_to_torch_on_another_side_stream(gpu, way):
    torch = pytest.importorskip("torch")
    if way == "table" and not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has no exchange table")

    def course(gate):
        tensor, stream = slow_torch(gate, 11)
        with torch.cuda.stream(stream):
            c = gpuframe.Column.from_dlpack(tensor)
        other = torch.cuda.Stream()
        with torch.cuda.stream(other):
            if way == "protocol":
                shared = torch.from_dlpack(c)
            elif way == "capsule":
                shared = torch.from_dlpack(c.__dlpack__(stream=other.cuda_stream, max_version=(1, 0)))
            else:
                shared = c.to(torch.Tensor)
            doubled = shared * 2
        gate.passed_by(lambda: not stream.query() and not other.query(), "the hand-over")
        other.synchronize()
        assert (doubled == 22).all().item(), "stale data"

    twice(course)


def test_to_cupy_on_another_side_stream(gpu):
    cupy = pytest.importorskip("cupy")

    def course(gate):
        array, stream = slow_cupy(gate, 12)
        with stream:
            c = gpuframe.Column.from_dlpack(array)
        other = cupy.cuda.Stream(non_blocking=True)
        with other:
            doubled = cupy.from_dlpack(c) * 2
        gate.passed_by(lambda: not stream.done, "the hand-over")
        other.synchronize()
        assert bool((doubled == 24).all()), "stale data"

    twice(course)


def test_memory_is_not_used_anew_before_its_consumer_is_done(gpu):
    """The consumer's long kernel reads memory that has lost its last reference."""
    torch = pytest.importorskip("torch")

    def course(gate):
        c = gpuframe.Table.from_columns({"x": [1] * N}, device="host").to_device(gpu)["x"]
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            shared = torch.from_dlpack(c)
            gate.hold(side.cuda_stream, WHILE)  # stays closed: new memory may wait for it
            total = shared.sum()
            del shared
        c.release()
        others = [gpuframe.Table.from_columns({"x": [5] * N}, device="host").to_device(gpu) for _ in range(4)]
        side.synchronize()
        assert total.item() == N, "the memory was given to somebody else too early"
        assert len(others) == 4

    twice(course)


@pytest.mark.parametrize("what", ["column", "matrix"])
def test_a_copy_is_ordered(gpu, what):
    torch = pytest.importorskip("torch")

    def course(gate):
        tensor, stream = slow_torch(gate, 13)
        with torch.cuda.stream(stream):
            c = gpuframe.Column.from_dlpack(tensor)
        given = c if what == "column" else gpuframe.Table.from_columns({"a": c, "b": c}, device=gpu)
        other = torch.cuda.Stream()
        with torch.cuda.stream(other):
            copied = torch.from_dlpack(given.__dlpack__(stream=other.cuda_stream, max_version=(1, 0), copy=True))
            result = copied + 0
        gate.open()  # whether memory for a copy is waited for is left open
        other.synchronize()
        assert (result == 13).all().item() and copied.data_ptr() != tensor.data_ptr()

    twice(course)


def test_a_copy_on_the_host_is_there_at_once(gpu):
    numpy = pytest.importorskip("numpy")

    def course(gate):
        array, stream = slow_cupy(gate, 14)
        with stream:
            c = gpuframe.Column.from_dlpack(array)
        gate.open()
        taken = gpuframe.Column.from_dlpack(_OnHost(c))
        assert (numpy.asarray(taken.to_numpy()) == 14).all(), "stale data"

    twice(course)


class _OnHost:
    def __init__(self, c):
        self.c = c

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **more):
        return self.c.__dlpack__(dl_device=(1, 0), **more)
