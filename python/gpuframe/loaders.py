"""Batches of queries for training: an IterableDataset of PyTorch, and iterators of JAX and NumPy arrays.

    from gpuframe.loaders import BatchStream, torch_dataset

    stream = BatchStream(sales.select("price", "qty", "label"), batch_size=4096, shuffle_rows=1_000_000, seed=7)
    for batch in torch.utils.data.DataLoader(torch_dataset(stream), batch_size=None):
        loss = model(batch["price"], batch["qty"])      # tensors of the memory that the query has filled

Arrays are handed over by DLPack, without a copy. DLPack has no nulls: fill them first.
"""

from __future__ import annotations

import random
from typing import Any, Callable, Iterator, Optional, Union

from .errors import ArgumentError
from .lazy import LazyFrame, concat
from .table import Table

#: A query, a table, or a function that returns one, which each process calls.
Source = Union[LazyFrame, Table, Callable[[], Union[LazyFrame, Table]]]


class BatchStream:
    """The rows of a query as tables of ``batch_size`` rows, again in each iteration.

    With ``shuffle_rows`` the rows are in random order: half of a buffer of about that many rows is yielded, then it is filled up
    again. The order depends on ``seed``, on :meth:`set_epoch`, on the rows, and on the tables in which the query yields them:
    these differ between devices, budgets and files. A row comes at most so far in
    front of its place as the buffer is long. Shuffling copies rows once, on the device; batches are slices of the result. Without it
    they are slices of the tables of the query, and only a batch of the rows of two of them is copied.

    ``shard=(index, count)`` is a part of the rows, for several processes: of blocks of ``batch_size`` rows, in their order, those with
    the numbers index, index + count and so on. Each process runs the query, which must yield its rows in the same order in
    each: end one with groups, joins or distinct rows by ``sort`` with keys that are unique. With ``drop_last`` all shards have
    equally many batches, as processes need that wait for each other after each batch: blocks that are not whole, or without one
    for each shard, are left out.

    >>> import gpuframe
    >>> rows = gpuframe.Table.from_columns({"x": list(range(7))}, device="host")
    >>> [batch["x"].tolist() for batch in BatchStream(rows, batch_size=3)]
    [[0, 1, 2], [3, 4, 5], [6]]
    >>> [batch["x"].tolist() for batch in BatchStream(rows, batch_size=3, shard=(1, 2))]
    [[3, 4, 5]]
    >>> [len(list(BatchStream(rows, batch_size=2, shard=(i, 2), drop_last=True))) for i in range(2)]
    [1, 1]
    """

    def __init__(self, source: Source, *, batch_size: int, shuffle_rows: int = 0, seed: int = 0, drop_last: bool = False,
                 shard: tuple[int, int] = (0, 1)) -> None:
        if batch_size < 1 or shuffle_rows < 0:
            raise ArgumentError(f"batch_size={batch_size}, shuffle_rows={shuffle_rows}: expected one or more, and zero or more")
        index, count = shard
        if not 0 <= index < count:
            raise ArgumentError(f"shard={shard!r}: expected (index, count) with an index from 0 to count - 1")
        self.source, self.batch_size, self.shuffle_rows, self.seed = source, batch_size, shuffle_rows, seed
        self.drop_last, self.shard, self.epoch = drop_last, (index, count), 0
        self._processes = count  # without the workers of each

    def set_epoch(self, epoch: int) -> None:
        """Choose another order of the rows for the next iterations.

        Workers of a DataLoader with ``persistent_workers=True`` have copies that are not told: leave it out.
        """
        self.epoch = epoch

    def of_worker(self, worker: int, workers: int) -> BatchStream:
        """Return the part of the stream for one of the workers of its process."""
        index, count = self.shard
        part = BatchStream(self.source, batch_size=self.batch_size, shuffle_rows=self.shuffle_rows, seed=self.seed, drop_last=self.drop_last,
                           shard=(worker * count + index, workers * count))
        part.epoch, part._processes = self.epoch, self._processes
        return part

    def __iter__(self) -> Iterator[Table]:
        rows = self._shuffled(self._part()) if self.shuffle_rows else self._part()
        rest: Optional[Table] = None
        for table in rows:
            if rest is not None:
                missing = self.batch_size - len(rest)
                rest, table = _joined([rest, table[:missing]]), table[missing:]
                if len(rest) < self.batch_size:
                    continue
                yield rest
                rest = None
            whole = len(table) - len(table) % self.batch_size
            for begin in range(0, whole, self.batch_size):
                yield table[begin:begin + self.batch_size]
            if whole < len(table):
                rest = table[whole:]
        if rest is not None and not self.drop_last:
            yield rest

    def _part(self) -> Iterator[Table]:
        """Yield the rows of the shard."""
        source = self.source() if callable(self.source) else self.source
        tables = iter([source]) if isinstance(source, Table) else source.collect_batches()
        index, count = self.shard
        first = 0  # the number of the table's first row
        waiting: list[Table] = []  # rows of a block that may be left out
        for table in tables:
            if count == 1:
                yield table
                continue
            begin = 0
            while begin < len(table):
                block, within = divmod(first + begin, self.batch_size)
                end = min(begin + self.batch_size - within, len(table))
                if block % count == index:
                    waiting.append(table[begin:end])
                begin = end
                # Without drop_last rows need not wait; with it, until each process has a whole block.
                if not self.drop_last or (first + begin) % (self._processes * self.batch_size) == 0:
                    yield from waiting
                    waiting = []
            first += len(table)

    def _shuffled(self, tables: Iterator[Table]) -> Iterator[Table]:
        """Yield rows in a random order, by a buffer of a limited number of them."""
        seeds = random.Random(f"{self.seed} {self.epoch} {self.shard}")
        buffer: list[Table] = []
        for table in tables:
            buffer.append(table)
            if sum(map(len, buffer)) < self.shuffle_rows:
                continue
            mixed = _mixed(buffer, seeds)
            half = (len(mixed) + 1) // 2
            buffer = [mixed[half:]]
            yield mixed[:half]
        if buffer:
            yield _mixed(buffer, seeds)


def _joined(tables: list[Table]) -> Table:
    """Return the rows of tables as one table."""
    filled = [each for each in tables if len(each)]
    return filled[0] if len(filled) == 1 else concat([each.lazy() for each in filled]).collect() if filled else tables[0]


def _mixed(tables: list[Table], seeds: random.Random) -> Table:
    """Return the rows of tables in a random order."""
    return _joined(tables).shuffle(seeds.getrandbits(63))


def arrays(stream: BatchStream, take: Callable[[Any], Any]) -> Iterator[dict[str, Any]]:
    """Yield the batches as dicts of arrays by name. ``take`` makes an array of a column: ``numpy.from_dlpack``, ``cupy.from_dlpack``.

    >>> import gpuframe, numpy
    >>> rows = gpuframe.Table.from_columns({"x": [1.0, 2.0]}, device="host")
    >>> [batch["x"].sum().item() for batch in arrays(BatchStream(rows, batch_size=2), numpy.from_dlpack)]
    [3.0]
    """
    for table in stream:
        yield {name: take(table[name]) for name in table.column_names}


def jax_batches(stream: BatchStream) -> Iterator[dict[str, Any]]:
    """Yield the batches as dicts of JAX arrays by name."""
    import jax.numpy

    return arrays(stream, jax.numpy.from_dlpack)


def torch_dataset(stream: BatchStream) -> Any:
    """Return an IterableDataset of dicts of tensors by name. Pass it to a DataLoader with ``batch_size=None``.

    Workers of the DataLoader each have a part of the rows. They are processes: start them by "spawn", and pass a function of a module that
    makes the query, because tables are not pickled. A GPU needs no workers: the query runs on threads of the library.
    """
    import torch
    import torch.utils.data

    class Batches(torch.utils.data.IterableDataset):  # type: ignore[misc]
        """The batches of a stream."""

        def __init__(self) -> None:
            super().__init__()
            self.stream = stream

        def __iter__(self) -> Iterator[dict[str, Any]]:
            info = torch.utils.data.get_worker_info()
            part = self.stream if info is None else self.stream.of_worker(info.id, info.num_workers)
            return arrays(part, torch.from_dlpack)

        def __reduce__(self) -> Any:
            return torch_dataset, (self.stream,)

    return Batches()


__all__ = ["BatchStream", "arrays", "jax_batches", "torch_dataset"]
