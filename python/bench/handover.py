#!/usr/bin/env python3
"""Measure the cost of handing a column over, with the other library in the same run.

    PYTHONPATH=python python3 python/bench/handover.py [ROUNDS]

Each figure is the best of seven runs, in microseconds for one hand-over, release
included. On a GPU the other library is cupy; on the host, numpy.
"""

import importlib
import sys
import time

import gpuframe

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
BARS = []


def microseconds(once, rounds=None):
    rounds = rounds or ROUNDS
    once()
    best = float("inf")
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(rounds):
            once()
        best = min(best, time.perf_counter() - start)
    return best / rounds * 1e6


def row(what, once, rounds=None):
    took = microseconds(once, rounds)
    print(f"| {what:68} | {took:8.2f} |")
    return took


def bar(what, met):
    BARS.append(f"{'met' if met else 'MISSED'}: {what}")


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Protocol:
    """A tensor with the Python protocol only."""

    def __init__(self, tensor):
        self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__


def on_gpu(c, torch):
    cupy = module("cupy")
    other = None
    if cupy is not None:
        array = cupy.arange(1000, dtype=cupy.int64)
        other = row("cupy -> torch.from_dlpack(array)", lambda: torch.from_dlpack(array))
        row("cupy: array.__dlpack__(), dropped", lambda: array.__dlpack__(max_version=(1, 0)))
        row("cupy.from_dlpack(column)", lambda: cupy.from_dlpack(c))
    row("torch.from_dlpack(column)", lambda: torch.from_dlpack(c))
    best = row("torch.from_dlpack(column.__dlpack__(stream=1, max_version=(1, 0)))",
               lambda: torch.from_dlpack(c.__dlpack__(stream=1, max_version=(1, 0))))
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        kind = torch.Tensor
        best = min(best, row("column.to(torch.Tensor)", lambda: c.to(kind)))
    tensor = torch.arange(1000, device="cuda")
    row("torch -> gpuframe.Column.from_dlpack(tensor)", lambda: gpuframe.Column.from_dlpack(tensor), ROUNDS // 10)
    plain = Protocol(tensor)
    row("torch -> gpuframe.Column.from_dlpack(tensor), without its exchange table",
        lambda: gpuframe.Column.from_dlpack(plain), ROUNDS // 10)
    matrix = gpuframe.Table.from_columns({"a": c, "b": c}).matrix()
    row("torch.from_dlpack(table.matrix()), 1000 x 2", lambda: torch.from_dlpack(matrix), ROUNDS // 10)
    bar(f"column -> torch {best:.2f} us, at most 3", best <= 3)
    if other:
        bar(f"column -> torch is {best / other:.2f} of cupy -> torch, at most 0.5", best <= 0.5 * other)


def on_host(c):
    numpy, torch = module("numpy"), module("torch")
    if numpy is not None:
        array = numpy.arange(1000)
        row("numpy -> numpy.from_dlpack(array)", lambda: numpy.from_dlpack(array))
        row("numpy.from_dlpack(column)", lambda: numpy.from_dlpack(c))
        if torch is not None:
            row("numpy -> torch.from_dlpack(array)", lambda: torch.from_dlpack(array))
    if torch is not None:
        row("torch.from_dlpack(column)", lambda: torch.from_dlpack(c))
        row("torch.from_dlpack(column.__dlpack__())", lambda: torch.from_dlpack(c.__dlpack__()))
        if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            row("column.to(torch.Tensor)", lambda: c.to(torch.Tensor))


def arrow(table, where):
    rounds = max(1, ROUNDS // 20)
    row("20 columns: table.__arrow_c_device_array__(), dropped", table.__arrow_c_device_array__, rounds)
    row("20 columns: Table.from_arrow(table), there and back", lambda: gpuframe.Table.from_arrow(table, device=where), rounds)
    pyarrow = module("pyarrow")
    if pyarrow is not None and where == "host":
        batch = pyarrow.record_batch(table)
        row("20 columns: pyarrow.record_batch(pyarrow.record_batch), there and back", lambda: pyarrow.record_batch(batch), rounds)


def main():
    device = gpuframe.device()
    print(f"{device.name}: {device.description}; Python {sys.version.split()[0]}")
    for name in ("torch", "cupy", "numpy", "pyarrow"):
        if module(name) is not None:
            print(f"{name} {module(name).__version__}", end="; ")
    print(f"gpuframe {gpuframe.__version__}\n")
    print(f"| {'hand-over':68} | {'us':>8} |\n| {'-' * 68} | {'-' * 8} |")
    table = gpuframe.Table.from_columns({f"c{i}": range(1000) for i in range(20)}, device="host").to_device(device)
    c = table["c0"]
    row("column.__dlpack_device__()", c.__dlpack_device__)
    row("column.__dlpack__(max_version=(1, 0)), dropped", lambda: c.__dlpack__(max_version=(1, 0)))
    torch = module("torch")
    if device.is_gpu and torch is not None:
        on_gpu(c, torch)
    elif not device.is_gpu:
        on_host(c)
    arrow(table, device.name)
    if BARS:
        print("\n" + "\n".join(BARS))


if __name__ == "__main__":
    main()
