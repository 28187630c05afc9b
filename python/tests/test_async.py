"""Hand-overs while the producer's kernel is still running, in both directions. On a GPU only."""

import pytest

import gpuframe

N = 1 << 20
CYCLES = 200_000_000  # about a tenth of a second


def slow_torch(value):
    """Return (tensor, stream): on the stream a long kernel runs, and then the tensor is filled."""
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(N, dtype=torch.int32, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(CYCLES)
        tensor.fill_(value)
    return tensor, stream


def slow_cupy(value):
    cupy = pytest.importorskip("cupy")
    array = cupy.zeros(N, dtype=cupy.int32)
    cupy.cuda.Device().synchronize()
    spin = cupy.RawKernel(r'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n) {} }', "spin")
    spin((1,), (1,), (1,))
    cupy.cuda.Device().synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        spin((1,), (1,), (CYCLES,))
        array.fill(value)
    return array, stream


def check(c, value):
    """The column holds one value everywhere, as Go reads it."""
    numpy = pytest.importorskip("numpy")
    found = c.to_numpy()
    assert found.shape == (N,) and (numpy.asarray(found) == value).all(), "stale data"


def test_from_torch_on_a_side_stream(gpu):
    torch = pytest.importorskip("torch")
    tensor, stream = slow_torch(7)
    with torch.cuda.stream(stream):
        c = gpuframe.Column.from_dlpack(tensor)
    assert not stream.query(), "the hand-over does not wait for the kernel"
    assert c.data_ptr == tensor.data_ptr()
    check(c, 7)


def test_from_cupy_on_a_side_stream(gpu):
    array, stream = slow_cupy(8)
    with stream:
        c = gpuframe.Column.from_dlpack(array)
    assert not stream.done, "the hand-over does not wait for the kernel"
    assert c.data_ptr == array.data.ptr
    check(c, 8)


def test_from_the_cuda_array_interface(gpu):
    array, stream = slow_cupy(9)

    class Interface:
        __cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream.ptr}

    c = gpuframe.Table.from_columns({"x": Interface()}, device=gpu)["x"]
    assert c.data_ptr == array.data.ptr
    check(c, 9)


def test_through_arrow(gpu):
    torch = pytest.importorskip("torch")
    tensor, stream = slow_torch(10)
    with torch.cuda.stream(stream):
        table = gpuframe.Table.from_columns({"x": tensor}, device=gpu)
    back = gpuframe.Table.from_arrow(table, device=gpu)
    assert not stream.query(), "events order the two, the host does not wait"
    check(back["x"], 10)


@pytest.mark.parametrize("way", ["protocol", "capsule", "table"])
def test_to_torch_on_another_side_stream(gpu, way):
    torch = pytest.importorskip("torch")
    tensor, stream = slow_torch(11)
    with torch.cuda.stream(stream):
        c = gpuframe.Column.from_dlpack(tensor)
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        if way == "protocol":
            shared = torch.from_dlpack(c)
        elif way == "capsule":
            shared = torch.from_dlpack(c.__dlpack__(stream=other.cuda_stream, max_version=(1, 0)))
        elif hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            shared = c.to(torch.Tensor)
        else:
            pytest.skip("this torch has no exchange table")
        doubled = shared * 2
    assert not stream.query(), "the consumer's stream waits, the host does not"
    other.synchronize()
    assert (doubled == 22).all().item(), "stale data"


def test_to_cupy_on_another_side_stream(gpu):
    cupy = pytest.importorskip("cupy")
    array, stream = slow_cupy(12)
    with stream:
        c = gpuframe.Column.from_dlpack(array)
    other = cupy.cuda.Stream(non_blocking=True)
    with other:
        doubled = cupy.from_dlpack(c) * 2
    other.synchronize()
    assert bool((doubled == 24).all()), "stale data"


def test_memory_is_not_used_anew_before_its_consumer_is_done(gpu):
    """The consumer's long kernel reads memory whose last reference is gone already."""
    torch = pytest.importorskip("torch")
    c = gpuframe.Table.from_columns({"x": [1] * N}, device="host").to_device(gpu)["x"]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        shared = torch.from_dlpack(c)
        torch.cuda._sleep(CYCLES)
        total = shared.sum()
        del shared
    c.release()
    others = [gpuframe.Table.from_columns({"x": [5] * N}, device="host").to_device(gpu) for _ in range(4)]
    side.synchronize()
    assert total.item() == N, "the memory was given to somebody else too early"
    assert len(others) == 4


def test_a_copy_is_ordered(gpu):
    torch = pytest.importorskip("torch")
    tensor, stream = slow_torch(13)
    with torch.cuda.stream(stream):
        c = gpuframe.Column.from_dlpack(tensor)
    other = torch.cuda.Stream()
    with torch.cuda.stream(other):
        copied = torch.from_dlpack(c.__dlpack__(stream=other.cuda_stream, max_version=(1, 0), copy=True))
        result = copied + 0
    other.synchronize()
    assert (result == 13).all().item() and copied.data_ptr() != tensor.data_ptr()
