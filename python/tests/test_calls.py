"""Python functions in queries."""

import subprocess
import sys
import threading

import gpuframe
import pytest
import support
from gpuframe import col
from gpuframe.devices import place


def rows_on(where):
    if not support.KERNELS[where]:
        pytest.skip("the driver runs no kernels")
    return gpuframe.from_columns({"id": list(range(100)), "x": [float(i) for i in range(100)]}, device=where)


def twice(column):
    return [2 * value for value in column.tolist()]


def test_functions_of_a_column(where):
    rows = rows_on(where)
    made = rows.with_columns(twice=col("id").map_batches(twice, int)).filter(col("twice") > 190).collect()
    assert made.to_pydict() == {"id": [96, 97, 98, 99], "x": [96.0, 97.0, 98.0, 99.0], "twice": [192, 194, 196, 198]}


def test_functions_of_several_columns(where):
    rows = rows_on(where)
    def add(columns):
        a, b = columns
        return [x + y for x, y in zip(a.tolist(), b.tolist())]

    query = rows.select(gpuframe.map_batches([col("id") + 1, "x"], add, "float64"))
    assert query.collect().to_pydict() == {"add": [2 * i + 1.0 for i in range(100)]}
    assert "call function of columns add(id + 1, x)" in query.explain()


def test_functions_of_a_table(where):
    rows = rows_on(where)
    def halves(batch):
        assert batch.column_names == ["id", "x"]
        return {"half": [x / 2 for x in batch["x"].tolist()], "odd": [bool(i % 2) for i in batch["id"].tolist()], "unread": [0] * len(batch)}

    made = rows.map_batches(halves, {"odd": bool, "half": float}).collect()
    assert made.to_pydict() == {"odd": [i % 2 == 1 for i in range(100)], "half": [i / 2 for i in range(100)]}
    same = rows.map_batches(lambda batch: batch, {"x": "float64", "id": "int64"}).collect()
    assert same.to_pydict() == {"x": [float(i) for i in range(100)], "id": list(range(100))}


def test_aggregates_and_nulls(where):
    pyarrow = pytest.importorskip("pyarrow")
    rows = rows_on(where)
    def even(column):
        values = [None if value % 2 else value for value in column.tolist()]
        return pyarrow.array(values, type=pyarrow.float64())

    made = rows.group_by(col("id").map_batches(lambda c: [v % 3 for v in c.tolist()], int).alias("k")).agg(col("x").map_batches(even, float).sum().alias("s"))
    assert made.sort("k").collect().to_pydict() == {"k": [0, 1, 2], "s": [float(sum(i for i in range(k, 100, 3) if i % 2 == 0)) for k in range(3)]}


def test_only_pure_calls_are_left_out(where):
    rows = rows_on(where)
    for pure, expected in [(True, 4), (False, 100)]:
        seen = []

        def noted(column):
            seen.extend(column.tolist())
            return column

        rows.with_columns(y=col("id").map_batches(noted, int, pure=pure)).filter(col("id") < 4).collect()
        assert len(seen) == expected
        del seen[:]
        rows.with_columns(y=col("id").map_batches(noted, int, pure=pure)).select("x").collect()
        assert len(seen) == (0 if pure else 100)


def test_batches(where):
    rows = rows_on(where)
    sizes = []

    def sized(column):
        sizes.append(len(column))
        return column

    assert len(rows.select(col("id").map_batches(sized, int)).collect(batch_rows=30)) == 100
    assert sum(sizes) == 100


def test_failures(where):
    rows = rows_on(where)
    failure = ValueError("no model")

    def failing(_):
        raise failure

    with pytest.raises(gpuframe.CallError, match="function failing: ValueError: no model") as caught:
        rows.select(col("id").map_batches(failing, int)).collect()
    assert caught.value.__cause__ is failure
    for result, reason in [(lambda c: c.tolist()[:3], "has 3 rows, expected 100"), (lambda c: [0.5] * len(c), "is float64, expected int64"),
                           (lambda c: None, "Error"), (lambda c: sys.exit(3), "SystemExit: 3")]:
        with pytest.raises(gpuframe.CallError, match=reason):
            rows.select(col("id").map_batches(result, int)).collect()
    with pytest.raises(gpuframe.CallError, match="no column 'y'"):
        rows.map_batches(lambda batch: {"z": [1]}, {"y": int}).collect()
    with pytest.raises(gpuframe.CallError, match="expected a Table or a mapping"):
        rows.map_batches(lambda batch: 7, {"y": int}).collect()
    with pytest.raises(gpuframe.CallError, match='column "y" of the result is int64, expected utf8'):
        rows.map_batches(lambda batch: {"y": batch["id"]}, {"y": str}).collect()


def test_arguments():
    with pytest.raises(gpuframe.WrongTypeError, match="is no function"):
        col("x").map_batches(3, int)
    with pytest.raises(gpuframe.ArgumentError, match='"nonsense" is no type'):
        col("x").map_batches(twice, "nonsense")
    with pytest.raises(gpuframe.ArgumentError, match="has no column"):
        gpuframe.from_columns({"x": [1]}, device="host").map_batches(twice, {})
    with pytest.raises(gpuframe.ArgumentError, match="has no arguments"):
        gpuframe.map_batches([], twice, int)


def test_threads(where):
    rows = rows_on(where)
    queries = [threading.Thread(target=rows.select(col("id").map_batches(twice, int, pure=True)).collect) for _ in range(4)]
    for each in queries:
        each.start()
    for each in queries:
        each.join()


def test_a_batch_may_be_kept(where):
    rows = rows_on(where)
    kept = []

    def keep(batch):
        kept.append(batch)
        return batch

    rows.map_batches(keep, {"id": int}).collect()
    assert sum(len(each) for each in kept) == 100
    assert kept[0]["id"].tolist()[:2] == [0, 1]


def test_a_run_that_is_not_read_ends(where):
    rows = rows_on(where)
    batches = rows.select(col("id").map_batches(twice, int)).collect_batches()
    del batches


def test_a_program_may_end_while_a_query_runs():
    program = """
import gpuframe, threading
begun = threading.Event()
def wait(column):
    begun.set()
    return column
rows = gpuframe.from_columns({"x": list(range(1000))}, device="host").select(gpuframe.col("x").map_batches(wait, int))
runs = rows.collect_batches(batch_rows=10)
begun.wait()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_numpy_without_a_copy():
    numpy = pytest.importorskip("numpy")
    seen = []

    def root(column):
        values = numpy.from_dlpack(column)
        seen.append(values.ctypes.data == column.data_ptr if hasattr(column, "data_ptr") else True)
        return numpy.sqrt(values)

    made = gpuframe.from_columns({"x": [1.0, 4.0, 9.0]}, device="host").select(col("x").map_batches(root, float)).collect()
    assert made.to_pydict() == {"root": [1.0, 2.0, 3.0]} and all(seen)


def test_torch_and_cupy_on_a_gpu(gpu):
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    rows = gpuframe.from_columns({"x": [float(i) for i in range(1000)]}, device=gpu)
    expected = [i * 2.0 + 1 for i in range(1000)]
    for function in [lambda c: torch.from_dlpack(c) * 2 + 1, lambda c: cupy.from_dlpack(c) * 2 + 1]:
        assert rows.select(col("x").map_batches(function, "float64").alias("y")).collect()["y"].tolist() == expected


def test_numba_on_a_gpu(gpu):
    cuda = pytest.importorskip("numba.cuda")
    cupy = pytest.importorskip("cupy")

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * 2 + 1

    def launch(column):
        x = cuda.as_cuda_array(column)
        out = cupy.empty(len(column))
        kernel[(len(column) + 127) // 128, 128](out, x)
        return out

    try:
        kernel.compile((cuda.float64[::1], cuda.float64[::1]))
    except Exception as error:  # a numba older than this NumPy compiles nothing
        pytest.skip(f"numba compiles no kernel: {error!r}")
    rows = gpuframe.from_columns({"x": [float(i) for i in range(1000)]}, device=gpu)
    assert rows.select(col("x").map_batches(launch, "float64").alias("y")).collect()["y"].tolist() == [i * 2.0 + 1 for i in range(1000)]


def test_causes_are_those_of_their_run():
    def failing(column):
        raise ValueError(str(column.tolist()[0]))

    expression = col("x").map_batches(failing, float)
    wrong = []

    def run(number):
        for _ in range(20):
            rows = gpuframe.from_columns({"x": [float(number)]}, device="host")
            with pytest.raises(gpuframe.CallError) as caught:
                rows.select(expression).collect()
            if str(caught.value.__cause__) != str(float(number)) or "\x1f" in str(caught.value) or not str(caught.value).endswith(f"ValueError: {number}.0"):
                wrong.append((number, caught.value))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_long_messages_end_with_a_whole_character():
    def failing(_):
        raise ValueError("ä" * 5000)

    with pytest.raises(gpuframe.CallError, match="ä$") as caught:
        gpuframe.from_columns({"x": [1]}, device="host").select(col("x").map_batches(failing, int)).collect()
    assert "\ufffd" not in str(caught.value)


def test_functions_are_within_the_budget_of_their_query():
    rows = gpuframe.from_columns({"x": [1.0] * 1000}, device="host")
    places = []

    def allocating(column):
        places.append(place("host"))
        return gpuframe.Table.from_columns({"x": [2.0] * size[0]}, device="host")["x"][:1000]

    size = [1000]
    query = rows.select(col("x").map_batches(allocating, float))
    with gpuframe.budget("1 MiB", device="host") as budget:
        assert query.collect()["allocating"].tolist() == [2.0] * 1000
        size[0] = 1_000_000
        with pytest.raises(gpuframe.CallError, match="BudgetError"):
            query.collect()
    assert places == [budget] * len(places)
    del places[:]
    size[0] = 1000
    query.collect()
    assert places == [gpuframe.device("host")]


def test_the_interpreter_ends_during_a_call_within_a_call():
    program = """
import atexit, threading, gpuframe
ending, started = threading.Event(), threading.Event()
rows = gpuframe.from_columns({"x": [1.0]}, device="host")
once = rows.map_batches(lambda batch: batch, {"x": float})
def outer(batch):
    started.set()
    ending.wait()
    try:
        while True:
            once.collect()
    except gpuframe.CallError as error:
        print("refused" if "the interpreter has ended" in str(error) else error, flush=True)
    return batch
threading.Thread(target=rows.map_batches(outer, {"x": float}).collect, daemon=True).start()
started.wait()
atexit.register(ending.set)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "refused\n"
