"""Prints the times of torch for the searches of bench/neighbours.

    python3 bench/neighbours/peers.py

The product is that of all pairs in float32, without TF32. The search is by the product, part by
part, with the selection of the nearest rows.
"""

import torch

SIZES = [(1000, 10_000_000, 128, 10), (1000, 1_000_000, 768, 10), (1000, 1_000_000, 768, 100), (16, 10_000_000, 128, 10)]
PART = 1_000_000


def timed(call, rounds=5):
    call()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        best = min(best, begin.elapsed_time(end))
    return best


def search(queries, rows, k):
    lengths = (rows * rows).sum(1)
    best, where = None, None
    for begin in range(0, len(rows), PART):
        part = rows[begin : begin + PART]
        distances = torch.addmm(lengths[begin : begin + PART], queries, part.T, beta=1, alpha=-2)
        values, indices = distances.topk(k, largest=False)
        indices = indices + begin
        if best is not None:
            values, indices = torch.cat([best, values], 1), torch.cat([where, indices], 1)
            values, order = values.topk(k, largest=False)
            indices = indices.gather(1, order)
        best, where = values, indices
    return best, where


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    for asked, count, dim, k in SIZES:
        queries = torch.rand(asked, dim, device="cuda") * 2 - 1
        rows = torch.rand(count, dim, device="cuda") * 2 - 1
        product = sum(timed(lambda: torch.matmul(queries, rows[begin : begin + PART].T)) for begin in range(0, count, PART))
        searched = timed(lambda: search(queries, rows, k))
        read = timed(lambda: rows.sum())
        print(f"torch {torch.__version__}, {asked} queries, {count} rows, {dim} elements, k {k}: product {product:.2f} ms, search {searched:.2f} ms, sum of the rows {read:.2f} ms", flush=True)
        del queries, rows
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
