"""Batches for training: the order, the parts of workers, and memory without a copy."""

import pickle
import sys
import types

import gpuframe
import pytest
import support
from gpuframe import ArgumentError, Table, col
from gpuframe.loaders import BatchStream, arrays, jax_batches, torch_dataset


def rows_on(where, n=1000):
    if not support.KERNELS[where]:
        pytest.skip("the driver runs no kernels")
    return Table.from_columns({"x": list(range(n))}, device=where)




def ten_rows():
    return Table.from_columns({"x": list(range(10))}, device="host")


def values(stream):
    return [batch["x"].tolist() for batch in stream]


def test_batches_have_their_size_and_order(where):
    rows = rows_on(where, 100)
    for source in (rows, rows.lazy(), lambda: rows.lazy().filter(col("x") >= 0), gpuframe.concat([rows[:33].lazy(), rows[33:41].lazy(), rows[41:].lazy()])):
        batches = values(BatchStream(source, batch_size=16))
        assert [len(each) for each in batches] == [16] * 6 + [4]
        assert sum(batches, []) == list(range(100))
        assert [len(each) for each in values(BatchStream(source, batch_size=16, drop_last=True))] == [16] * 6
    assert values(BatchStream(rows[:0], batch_size=3)) == []


def test_shuffles_are_whole_seeded_and_bounded(where):
    rows = rows_on(where)
    source = gpuframe.concat([rows[begin:begin + 50].lazy() for begin in range(0, 1000, 50)])
    stream = BatchStream(source, batch_size=64, shuffle_rows=200, seed=5)
    order = sum(values(stream), [])
    assert sorted(order) == list(range(1000)) and order != sorted(order)
    assert sum(values(stream), []) == order
    assert max(number - place for place, number in enumerate(order)) <= 250  # the buffer and one table
    stream.set_epoch(1)
    other = sum(values(stream), [])
    assert sorted(other) == list(range(1000)) and other != order
    assert sum(values(BatchStream(source, batch_size=64, shuffle_rows=200, seed=6)), []) != order


def test_workers_have_parts(where):
    rows = rows_on(where, 500)
    for shuffle_rows in (0, 120):
        stream = BatchStream(gpuframe.concat([rows[:77].lazy(), rows[77:300].lazy(), rows[300:].lazy()]), batch_size=16, shuffle_rows=shuffle_rows, shard=(1, 2))
        parts = [sum(values(stream.of_worker(worker, 3)), []) for worker in range(3)]
        other = [sum(values(BatchStream(stream.source, batch_size=16, shard=(0, 2)).of_worker(worker, 3)), []) for worker in range(3)]
        assert sorted(sum(parts + other, [])) == list(range(500))
        assert all(each // 16 % 6 == 2 * worker + 1 for worker in range(3) for each in parts[worker])


def test_arrays_without_a_copy():
    numpy = pytest.importorskip("numpy")
    rows = Table.from_columns({"x": list(range(32)), "y": [float(i) for i in range(32)]}, device="host")
    whole = numpy.from_dlpack(rows["x"])
    for number, batch in enumerate(arrays(BatchStream(rows, batch_size=8), numpy.from_dlpack)):
        assert batch["x"].__array_interface__["data"][0] == whole.__array_interface__["data"][0] + number * 64
        assert list(batch) == ["x", "y"]
    del whole, batch


def test_torch_protocol(monkeypatch):
    """The dataset asks torch for the worker, and makes tensors by DLPack: with a stand-in for torch."""
    numpy = pytest.importorskip("numpy")
    data = types.ModuleType("torch.utils.data")
    data.IterableDataset, data.get_worker_info = object, lambda: None
    utils, torch = types.ModuleType("torch.utils"), types.ModuleType("torch")
    torch.utils, utils.data, torch.from_dlpack = utils, data, numpy.from_dlpack
    for module in (torch, utils, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    rows = Table.from_columns({"x": list(range(10))}, device="host")
    dataset = torch_dataset(BatchStream(rows, batch_size=2))
    assert [batch["x"].tolist() for batch in dataset] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    data.get_worker_info = lambda: types.SimpleNamespace(id=1, num_workers=2)
    assert [batch["x"].tolist() for batch in dataset] == [[2, 3], [6, 7]]
    sent = pickle.loads(pickle.dumps(torch_dataset(BatchStream(ten_rows, batch_size=2))))  # to a worker's process
    assert [batch["x"].tolist() for batch in sent] == [[2, 3], [6, 7]]


def test_torch_on_a_gpu(gpu):
    torch = pytest.importorskip("torch")
    rows = Table.from_columns({"x": list(range(1000))}, device=gpu)
    loader = torch.utils.data.DataLoader(torch_dataset(BatchStream(rows, batch_size=128, shuffle_rows=500)), batch_size=None)
    seen = torch.cat([batch["x"] for batch in loader])
    assert seen.is_cuda and sorted(seen.tolist()) == list(range(1000))
    plain = next(iter(torch_dataset(BatchStream(rows, batch_size=128))))["x"]
    assert plain.data_ptr() == torch.from_dlpack(rows["x"]).data_ptr()
    del seen, plain, loader


def test_jax_on_a_gpu(gpu):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    rows = Table.from_columns({"x": list(range(1000))}, device=gpu)
    total = sum(int(batch["x"].sum()) for batch in jax_batches(BatchStream(rows, batch_size=128)))
    assert total == 499500


def test_arguments():
    rows = Table.from_columns({"x": [1]}, device="host")
    for arguments in ({"batch_size": 0}, {"batch_size": 1, "shuffle_rows": -1}, {"batch_size": 1, "shard": (2, 2)}):
        with pytest.raises(ArgumentError, match="expected"):
            BatchStream(rows, **arguments)


def test_shards_have_equally_many_batches():
    for rows in range(20):
        table = Table.from_columns({"x": list(range(rows))}, device="host")
        for workers in (1, 2, 3):
            parts = [[batch["x"].tolist() for worker in range(workers)
                      for batch in BatchStream(table, batch_size=3, shard=(i, 2), drop_last=True).of_worker(worker, workers)] for i in range(2)]
            assert len(parts[0]) == len(parts[1]) == rows // 6
            assert sorted(x for part in parts for batch in part for x in batch) == list(range(rows // 6 * 6))
