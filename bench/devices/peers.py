"""Prints the rates of torch and NCCL for copies between the GPUs of a machine.

    python3 bench/devices/peers.py [GiB on each GPU]

An all-to-all has a process for each GPU, and counts all bytes of all GPUs, also those that
stay; a copy is from the first GPU to the second one. GB are 10^9 bytes.
"""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def timed(call, wait, rounds=20):
    for _ in range(5):
        call()
    wait()
    began = time.perf_counter()
    for _ in range(rounds):
        call()
    wait()
    return (time.perf_counter() - began) / rounds


def all_to_all(rank, size, words):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29555", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=size)
    source = torch.full((words,), rank, dtype=torch.int64, device="cuda")
    target = torch.empty_like(source)
    took = timed(lambda: dist.all_to_all_single(target, source), torch.cuda.synchronize)
    dist.barrier()
    # One call and its wait at a time, as a caller that needs the result has it.
    alone = min(timed(lambda: (dist.all_to_all_single(target, source), torch.cuda.synchronize()), torch.cuda.synchronize, 1) for _ in range(5))
    if rank == 0:
        total = 8 * words * size
        print(f"NCCL {'.'.join(map(str, torch.cuda.nccl.version()))} all-to-all, {size} GPUs: {total / took / 1e9:.0f} GB/s of all bytes, {1e3 * took:.3f} ms; one at a time {total / alone / 1e9:.0f}", flush=True)
    dist.destroy_process_group()


def main():
    size = torch.cuda.device_count()
    words = int(float(sys.argv[1] if len(sys.argv) > 1 else 2) * 2**27) // size * size
    source = torch.zeros(2**27, dtype=torch.int64, device="cuda:0")
    target = torch.empty_like(source, device="cuda:1")

    def wait():
        torch.cuda.synchronize(0)
        torch.cuda.synchronize(1)

    for rounds in (20, 1):
        took = timed(lambda: target.copy_(source), wait, rounds)
        print(f"torch copy of 1 GiB, {rounds} without waits between: {2**30 / took / 1e9:.0f} GB/s", flush=True)
    del source, target
    torch.cuda.empty_cache()
    mp.spawn(all_to_all, (size, words), size)


if __name__ == "__main__":
    main()
