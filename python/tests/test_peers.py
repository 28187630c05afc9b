"""CuPy, torch, numba and jax with side streams that end early, captures, threads and forks. Each in a separate process."""

import time

import pytest

import gpuframe
import support
from support import run_alone

COMMON = """
    import gc, os, threading
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import gpuframe
    N = 1 << 20

    def fresh(value=1):
        return gpuframe.Table.from_columns({"x": [value] * N}, device="host").to_device("cuda:0")["x"]

    def ended():
        gc.collect()
        memory = gpuframe.device_memory("cuda:0")
        assert (memory.in_use, memory.external, memory.leaks, memory.double_releases) == (0, 0, 0, 0), memory
"""


def peer(folder, *needed, program, says="fine"):
    for name in needed:
        pytest.importorskip(name)
        if not support.LIBRARIES[name].here("cuda:0"):
            pytest.skip(f"{name} finds no GPU")
    return run_alone(folder, COMMON + program, says)


def test_cupy_destroys_its_stream_before_the_array(gpu, tmp_path):
    """The deleter runs after the end of the consumer's stream; later allocations work."""
    peer(tmp_path, "cupy", program="""
    import cupy
    for turn in range(50):
        c = fresh(turn)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            array = cupy.from_dlpack(c)
            total = array.sum()
        if turn % 3 == 0: c.release()
        stream.synchronize()
        assert int(total) == turn * N
        del stream, total
        gc.collect()                      # cudaStreamDestroy
        if turn % 2: made = cupy.zeros(N)  # may take the freed handle's place
        del array
        again = fresh(7)
        assert again[:2].tolist() == [7, 7]
        del c, again
    ended()
    print("fine")
    """)


def test_cupy_gives_from_a_stream_that_ends(gpu, tmp_path):
    """No protocol's import keeps the producer's stream."""
    peer(tmp_path, "cupy", program="""
    import cupy
    class Interface:
        def __init__(self, array, stream):
            self.array = array
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "stream": stream.ptr}
    for turn in range(50):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            array = cupy.full(N, turn, dtype=cupy.int64)
            table = gpuframe.Table.from_columns({"d": gpuframe.Column.from_dlpack(array), "i": Interface(array, stream)})
        again = gpuframe.Table.from_arrow(table, stream=stream.ptr)
        stream.synchronize()
        del stream, array
        gc.collect()
        copied = again.to_device("cuda:0")
        assert copied["d"][:2].tolist() == copied["i"][-2:].tolist() == [turn, turn]
        del table, again, copied
    ended()
    print("fine")
    """)


def test_torch_captures_survive_deleters(gpu, tmp_path):
    """Tensors are dropped, made and collected while torch captures a graph on another stream, or on their stream."""
    peer(tmp_path, "torch", program="""
    import torch
    source = fresh(3)
    weights = torch.from_dlpack(fresh(2))
    side = torch.cuda.Stream()
    for mode in ("global", "thread_local"):
        with torch.cuda.stream(side):
            dropped = [torch.from_dlpack(fresh(i)) for i in range(8)]
            used = [each + 1 for each in dropped]
        torch.cuda.synchronize()
        cycle = [dropped.pop()]; cycle.append(cycle)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, capture_error_mode=mode):
            result = weights * 5
            del cycle
            gc.collect()
            dropped.pop(); dropped.pop()
            result = result + 1
            if mode == "thread_local":
                capsule = source.__dlpack__(stream=-1, max_version=(1, 0))
                del capsule
            dropped.clear()
        graph.replay()
        torch.cuda.synchronize()
        assert result[0].item() == 11 and result[-1].item() == 11
    again = fresh(9)
    assert again[:2].tolist() == [9, 9]
    del again, weights, source, result, graph, used
    ended()
    print("fine")
    """)


def test_torch_streams_end_while_tensors_live(gpu, tmp_path):
    """The driver makes and destroys streams while torch works on them."""
    peer(tmp_path, "torch", "cupy", program="""
    import cupy, torch
    kept = []
    for turn in range(30):
        raw = cupy.cuda.Stream(non_blocking=True)
        side = torch.cuda.ExternalStream(raw.ptr)
        with torch.cuda.stream(side):
            tensor = fresh(turn).to(torch.Tensor) if hasattr(torch.Tensor, "__dlpack_c_exchange_api__") else torch.from_dlpack(fresh(turn))
            kept.append((tensor, tensor * 2))
            back = gpuframe.Column.from_dlpack(tensor * 3)
        side.synchronize()
        del side, raw
        gc.collect()
        assert back[:1].tolist() == [3 * turn]
        if turn % 2: kept.pop(0)
    assert all((double == 2 * tensor).all().item() for tensor, double in kept)
    kept.clear()
    del tensor, back
    torch.cuda.synchronize()
    ended()
    print("fine")
    """)


def test_numba_and_jax(gpu, tmp_path):
    done = peer(tmp_path, "numba", "jax", program="""
    import jax, numba, numpy, sys
    from numba import cuda
    jax.config.update("jax_enable_x64", True)
    @cuda.jit
    def twice(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2
    try:
        twice[1, 1](cuda.to_device(numpy.arange(1)))
    except Exception as error:  # a numba older than this numpy compiles nothing
        print(f"missing: a numba for NumPy {numpy.__version__}: {numba.__version__} compiles no kernel: {error!r}", file=sys.stderr)
        launch = lambda x, stream: None
        factor = 1
    else:
        launch = lambda x, stream: twice[(N + 255) // 256, 256, stream](x)
        factor = 2
    for turn in range(20):
        c = fresh(turn)
        stream = cuda.stream()
        array = cuda.as_cuda_array(c, sync=True)
        launch(array, stream)
        stream.synchronize()
        del stream
        gc.collect()
        taken = jax.dlpack.from_dlpack(c)
        assert int(taken[0]) == factor * turn and int(taken.sum()) == factor * turn * N
        given = gpuframe.Table.from_columns({"n": cuda.to_device(numpy.arange(5)), "j": jax.numpy.arange(5)})
        assert given.to_pydict() == {"n": [0, 1, 2, 3, 4], "j": [0, 1, 2, 3, 4]} and given.device.name == "cuda:0"
        del array, taken, given, c
    gc.collect()
    jax.effects_barrier()
    print("fine")
    """)
    for line in done.stderr.splitlines():
        if line.startswith("missing: "):
            pytest.skip(f"everything but kernels has passed; {line}")


def test_threads_with_streams_of_their_own(gpu, tmp_path):
    """Eight threads import and export on their streams, and drop objects of other threads."""
    peer(tmp_path, "torch", "cupy", program="""
    import cupy, queue, torch
    shared, failures = queue.Queue(), []
    def work(number):
        try:
            for turn in range(40):
                c = fresh(number)
                if turn % 2:
                    stream = cupy.cuda.Stream(non_blocking=True)
                    with stream:
                        array = cupy.from_dlpack(c)
                        total = array.sum()
                    stream.synchronize()
                    assert int(total) == number * N
                    shared.put(array)
                else:
                    with torch.cuda.stream(torch.cuda.Stream()) :
                        tensor = torch.from_dlpack(c)
                        total = tensor.sum()
                        assert total.item() == number * N
                    shared.put(gpuframe.Column.from_dlpack(tensor))
                if turn > 5:
                    shared.get()
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for each in threads: each.start()
    for each in threads: each.join()
    assert not failures, failures
    while not shared.empty(): shared.get()
    torch.cuda.synchronize(); cupy.cuda.Device().synchronize()
    ended()
    print("fine")
    """)


def test_a_forked_child_after_work_on_the_gpu(gpu, tmp_path):
    """The child neither crashes nor hangs at its end, with tensors of torch and cupy alive."""
    peer(tmp_path, "torch", "cupy", program="""
    import cupy, sys, torch, warnings
    warnings.simplefilter("ignore")
    c = fresh(4)
    tensor, array = torch.from_dlpack(c), cupy.from_dlpack(c)
    gpuframe.Table.from_columns({"t": tensor, "a": array})
    for ends in (lambda: os._exit(0), lambda: sys.exit(0)):
        pid = os.fork()
        if pid == 0:
            del c
            gc.collect()
            ends()
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert tensor.sum().item() == int(array.sum()) == 4 * N
    print("fine")
    """)


def test_copies_between_real_gpus(two):
    """Copies from one GPU to the other against torch, on real GPUs. -s prints the rate."""
    torch = pytest.importorskip("torch")
    if not support.KERNELS[two[0]] or torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU at most")
    rows = 1 << 27
    source = gpuframe.Table.from_columns({"x": torch.arange(rows, device="cuda:0")})
    peer_tensor = torch.from_dlpack(source["x"])

    def seconds(copy):
        best = float("inf")
        for _ in range(5):
            for i in range(2):
                torch.cuda.synchronize(i)
            start = time.perf_counter()
            kept = copy()
            for i in range(2):
                torch.cuda.synchronize(i)
            best = min(best, time.perf_counter() - start)
            del kept
        return best

    ours, theirs = seconds(lambda: source.to_device("cuda:1")), seconds(lambda: peer_tensor.to("cuda:1"))
    print(f"to the other GPU: {rows * 8 / ours / 1e9:.0f} GB/s, torch {rows * 8 / theirs / 1e9:.0f} GB/s")
    there = source.to_device("cuda:1")
    assert torch.equal(torch.from_dlpack(there["x"]), peer_tensor.to("cuda:1"))
