#!/usr/bin/env python3
"""Train on a table that another process holds in GPU memory.

    train.py SOCKET TARGET FEATURE...

SOCKET is where the server listens (see server.go, beside this file). A linear
regression of the column TARGET on the columns FEATURE is fitted, with torch where
it is installed and with numpy, on a server of host memory, where it is not. Run
several at a time: all of them read the one copy that the server has, and opening
it takes the same time however large it is.

The memory is for reading only. When this process ends, or is killed, the server
notices by itself.
"""

import os
import sys
import time

import gpuframe

try:
    import torch
except ImportError:
    torch = None
    import numpy


def values(column):
    """The column where it lies, as the library's own array."""
    return torch.from_dlpack(column) if torch else numpy.from_dlpack(column)


def fit_torch(target, features):
    """Least squares, on the device that the table is on."""
    x = torch.stack([f.float() for f in features] + [torch.ones(len(target), device=target.device)], dim=1)
    y = target.float()
    weights = torch.linalg.solve(x.T @ x, x.T @ y)
    return weights.tolist(), torch.sqrt(torch.mean((x @ weights - y) ** 2)).item()


def fit_numpy(target, features):
    x = numpy.stack([f.astype("float64") for f in features] + [numpy.ones(len(target))], axis=1)
    y = target.astype("float64")
    weights = numpy.linalg.solve(x.T @ x, x.T @ y)
    return weights.tolist(), float(numpy.sqrt(numpy.mean((x @ weights - y) ** 2)))


def main():
    path, target, *features = sys.argv[1:]
    with gpuframe.connect(path) as client:
        began = time.perf_counter()
        with client.open("flights") as table:
            opened = time.perf_counter() - began
            fit = fit_torch if torch else fit_numpy
            weights, error = fit(values(table[target]), [values(table[name]) for name in features])
            terms = " + ".join(f"{w:.4f} * {name}" for w, name in zip(weights, features))
            print(f"process {os.getpid()} opened {table.num_rows} rows in {opened * 1e3:.2f} ms")
            print(f"{target} = {terms} + {weights[-1]:.2f}, off by {error:.1f} on average")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
