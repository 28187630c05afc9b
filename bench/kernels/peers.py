"""Times the PyTorch and CuPy equivalents of gpuframe's operators.

    python3 peers.py ROWS [ROWS ...]

Prints a tab-separated line for each figure: its name, the number of rows, and
milliseconds. Large inputs are timed on the device, by events; inputs of up to 2**16
rows by the clock, from the call until the result is complete.
"""

import sys
import time

import cupy
import torch

SMALL = 1 << 16
BATCH = 5


def on_device(call):
    """Returns the median device time of a batch of calls, in milliseconds per call."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times = []
    for _ in range(11):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(BATCH):
            call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / BATCH)
    return sorted(times)[len(times) // 2]


def by_clock(call):
    """Returns the median time from the call until its work is done, in milliseconds."""
    synchronize = torch.cuda.current_stream().synchronize
    for _ in range(200):
        call()
    synchronize()
    times = []
    for _ in range(1001):
        start = time.perf_counter()
        call()
        synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def figures(rows):
    """Yields the name and the call of each operation to time."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    x = torch.rand(rows, device="cuda", generator=generator)
    y = torch.rand(rows, device="cuda", generator=generator)
    wide = x.double()
    target = torch.empty_like(wide)
    yield "copy f64", lambda: target.copy_(wide)
    yield "torch add f32", lambda: torch.add(x, y)
    yield "torch fused", lambda: ((x * 2 + y) > 1) & (x < y)
    yield "torch sum f32", x.sum
    yield "torch sum f64", wide.sum
    yield "torch filter sum f64", lambda: wide[x > 0.5].sum()
    mask = x > 0.5
    yield "torch filter f64", lambda: torch.masked_select(wide, mask)
    order = torch.randperm(rows, device="cuda", generator=generator)
    yield "torch take random f64", lambda: wide.index_select(0, order)
    ascending = torch.arange(rows, device="cuda")
    yield "torch take sorted f64", lambda: wide.index_select(0, ascending)
    del order, ascending
    yield "torch cumsum f64", lambda: wide.cumsum(0)
    yield "torch topk f64 100", lambda: wide.topk(100)
    yield "torch sort f64", lambda: torch.sort(wide)

    # CuPy works on the same memory and stream.
    left, right, values = cupy.from_dlpack(x), cupy.from_dlpack(y), cupy.from_dlpack(wide)
    kernel = cupy.ElementwiseKernel("float32 x, float32 y", "bool z", "z = ((x * 2 + y) > 1) & (x < y)", "fused")
    keep = left > 0.5
    yield "cupy fused", lambda: kernel(left, right)
    yield "cupy filter f64", lambda: values[keep]


def main():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), cupy.cuda.Stream.from_external(stream):
        for rows in map(int, sys.argv[1:]):
            measure = by_clock if rows <= SMALL else on_device
            for name, call in figures(rows):
                print(f"{name}\t{rows}\t{measure(call):.6f}", flush=True)
            torch.cuda.empty_cache()


main()
