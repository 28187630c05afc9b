#!/usr/bin/env python3
"""Train on a table that another process holds in GPU memory.

    train.py SOCKET TARGET FEATURE...

SOCKET is where the server listens (see server.go, beside this file). A linear
regression of the column TARGET on the columns FEATURE is fitted, with torch on a
GPU and with numpy in the host's memory. Run several at a time: all of them read
the one copy that the server has, and opening it takes the same time however large
it is.

The memory is for reading only. When this process ends, or is killed, the server
notices by itself.
"""

import os
import sys
import time

import gpuframe


def fit_torch(target, features):
    """Least squares, on the GPU that the table is on."""
    import torch

    target, *features = [torch.from_dlpack(c) for c in (target, *features)]  # the very memory
    x = torch.stack([f.float() for f in features] + [torch.ones(len(target), device=target.device)], dim=1)
    y = target.float()
    weights = torch.linalg.solve(x.T @ x, x.T @ y)
    return weights.tolist(), torch.sqrt(torch.mean((x @ weights - y) ** 2)).item()


def fit_numpy(target, features):
    """The same in the host's memory."""
    import numpy

    target, *features = [numpy.asarray(c) for c in (target, *features)]  # the very memory
    x = numpy.stack([f.astype("float64") for f in features] + [numpy.ones(len(target))], axis=1)
    y = target.astype("float64")
    weights = numpy.linalg.solve(x.T @ x, x.T @ y)
    return weights.tolist(), float(numpy.sqrt(numpy.mean((x @ weights - y) ** 2)))


def main():
    path, target, *features = sys.argv[1:]
    gpuframe.device_memory()  # starting the driver takes half a second
    with gpuframe.connect(path) as client:
        began = time.perf_counter()
        with client.open("flights") as table:
            opened = time.perf_counter() - began
            fit = fit_torch if table[target].device.is_gpu else fit_numpy
            weights, error = fit(table[target], [table[name] for name in features])
            terms = " + ".join(f"{w:.4f} * {name}" for w, name in zip(weights, features))
            print(f"process {os.getpid()} opened {table.num_rows} rows in {opened * 1e3:.2f} ms")
            print(f"{target} = {terms} + {weights[-1]:.2f}, off by {error:.1f} on average")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
