"""Statistics, budgets, errors, and operations of tables and columns."""

import asyncio
import pickle
import threading

import pytest

import gpuframe
import producer
import support


def table(where, rows=1000):
    """Make a table in one block of counted memory."""
    columns = {"x": producer.Array.of("int64", list(range(rows))), "y": producer.Array.of("float64", [0.5] * rows)}
    return gpuframe.Table.from_arrow(producer.Array.struct(columns), device="host").to_device(where)


def test_figures(where):
    held = table(where)
    memory = gpuframe.device_memory(where)
    assert memory.in_use >= 16000 and memory.blocks == 1 and memory.peak >= memory.in_use
    assert 0 < memory.budget and memory.remaining <= memory.budget - memory.in_use
    assert memory.total >= memory.free > 0
    assert where in repr(memory) and "in use" in repr(memory)
    held.release()
    assert gpuframe.device_memory(where).in_use == 0
    held.release()  # a second time does nothing
    with pytest.raises(gpuframe.ReleasedError, match="released"):
        held.slice(0, 1)
    with pytest.raises(ValueError):
        held["x"].tolist()


def test_a_column_outlives_its_table(where):
    with table(where) as held:
        c = held["x"]
    assert c[10:12].tolist() == [10, 11]
    assert gpuframe.device_memory(where).in_use > 0


def test_views_share(where):
    held = table(where)
    in_use = gpuframe.device_memory(where).in_use
    part = held[10:20]
    assert part["x"].data_ptr == held["x"].data_ptr + 80 and len(part) == 10
    assert held.select(["y", "x"]).column_names == held[["y", "x"]].column_names == ["y", "x"]
    assert held[990:]["x"].tolist() == list(range(990, 1000)) and held[-2:]["x"].tolist() == [998, 999]
    assert len(held[5:2]) == 0
    assert gpuframe.device_memory(where).in_use == in_use


def test_names_and_numbers(where):
    held = table(where, 3)
    assert (len(held), held.num_rows, held.num_columns, list(held)) == (3, 3, 2, ["x", "y"])
    assert held[0].name == held["x"].name == held[-2].name == "x" and "x" in held and "z" not in held
    assert held.device.name == where and held["y"].device.name == where
    assert held.schema.names == ["x", "y"] and held.schema.types == ["int64", "float64"]
    for wrong, error in (("z", KeyError), (2, IndexError), (-3, IndexError)):
        with pytest.raises(error):
            held[wrong]
    with pytest.raises(KeyError):
        held.select(["x", "z"])
    with pytest.raises(IndexError):
        held.slice(2, 5)
    with pytest.raises(ValueError):
        held[::2]
    assert "(3, 2)" in repr(held) and "int64" in repr(held["x"])


def test_budget(where):
    with gpuframe.budget("20 kB", device=where) as budget:
        assert budget.size == 20000 and "19.5 KiB" in repr(budget)
        held = table(where)
        assert 16000 <= budget.in_use <= 20000
        with pytest.raises(gpuframe.BudgetError) as caught:
            table(where)
        assert isinstance(caught.value, MemoryError)
        assert caught.value.asked >= 16000 and caught.value.budget == 20000 and caught.value.in_use == budget.in_use
        held.release()
        assert budget.in_use == 0 and budget.peak >= 16000
        del held
        table(where)
    outside = table(where, 10000)
    assert budget.in_use == 0 < gpuframe.device_memory(where).in_use
    del outside


def test_budgets_nest_and_end(where):
    with gpuframe.budget(100_000, device=where) as outer:
        with gpuframe.budget(1_000_000, device=where) as inner:
            with pytest.raises(MemoryError):
                table(where, 10_000)  # fits the inner one, not the outer
            kept = table(where)
            assert outer.in_use == inner.in_use > 0
        more = table(where)
        assert outer.in_use == inner.in_use + more.nbytes
    del outer, inner
    support.settle()
    assert kept["x"].tolist() == list(range(1000)), "a table keeps its budget"


def test_set_budget(where):
    before = gpuframe.device_memory(where).budget
    gpuframe.set_budget("1 kB", where)
    try:
        with pytest.raises(MemoryError, match="budget"):
            table(where)
    finally:
        gpuframe.set_budget(before, where)
    table(where)
    for wrong in ("much", "-1", "1 furlong", -1):
        with pytest.raises(ValueError):
            gpuframe.set_budget(wrong, where)


def test_budgets_belong_to_threads_and_tasks(where):
    failures = []

    def elsewhere():
        try:
            table(where)
        except MemoryError as error:
            failures.append(error)

    with gpuframe.budget("1 kB", device=where):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        with pytest.raises(MemoryError):
            table(where)
    assert not failures, "another thread is not bounded"

    async def task(size, fits, turn):
        with gpuframe.budget(size, device=where) as budget:
            await turn.wait()
            if fits:
                held = table(where)
                assert budget.in_use == held.nbytes
            else:
                with pytest.raises(MemoryError):
                    table(where)

    async def both():
        turn = asyncio.Event()
        tasks = [asyncio.ensure_future(task("20 kB", True, turn)), asyncio.ensure_future(task("2 kB", False, turn))]
        await asyncio.sleep(0)
        turn.set()
        await asyncio.gather(*tasks)

    asyncio.run(both())


def test_nothing_is_pickled(where):
    held = table(where)
    for each in (held, held["x"], gpuframe.device(where)):
        with pytest.raises(TypeError):
            pickle.dumps(each)
    for kind in (gpuframe.Table, gpuframe.Column, gpuframe.Device, gpuframe.Budget):
        with pytest.raises(TypeError):
            kind()


def test_devices():
    assert gpuframe.device("host").name == "host" and gpuframe.device("host") is gpuframe.device("host")
    assert gpuframe.device().name == ("cuda:0" if "cuda:0" in support.DEVICES else "host")
    for wrong in ("cuda:99", "abacus", "host:x"):
        with pytest.raises(RuntimeError):
            gpuframe.device(wrong)
    with pytest.raises(TypeError):
        gpuframe.Table.from_columns({}, device=3)


def test_moving(where):
    held = table("host")
    there = held.to_device(where)
    assert there.device.name == where and there.to_pydict() == held.to_pydict()
    assert there["x"].data_ptr != held["x"].data_ptr
    with gpuframe.budget("20 kB", device="host") as budget:
        back = there.to_device(budget)
        assert back.device.name == "host" and budget.in_use > 0


def test_from_columns_checks(where):
    with pytest.raises(ValueError, match="elements"):
        gpuframe.Table.from_columns({"x": [1], "y": [1, 2]}, device=where)
    with pytest.raises(TypeError, match="not a sequence of numbers"):
        gpuframe.Table.from_columns({"x": ["a"]}, device=where)
    assert len(gpuframe.Table.from_columns({}, device=where)) == 0


def test_files(where, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;c\n1;x;2.5\n2;;\n")
    held = gpuframe.read_csv(path, delimiter=";", types={"a": "int8", "c": "float32"}, device=where)
    assert held.schema.types == ["int8", "utf8", "float32"]
    assert held["a"].tolist() == [1, 2] and held["c"].tolist() == [2.5, None]
    assert gpuframe.read_csv(path, ["b", "a"], delimiter=";", device=where).column_names == ["b", "a"]
    with pytest.raises(ValueError, match="one character"):
        gpuframe.read_csv(path, delimiter="ab")
    with pytest.raises(ValueError, match="not a type for CSV"):
        gpuframe.read_csv(path, types={"a": "complex"})
    for read in (gpuframe.read_csv, gpuframe.read_ipc, gpuframe.read_parquet):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "none", device=where)
    for read in (gpuframe.read_ipc, gpuframe.read_parquet):
        with pytest.raises(gpuframe.GpuframeError):
            read(path, device=where)


def test_parquet_and_ipc_of_pyarrow(where, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.feather
    import pyarrow.parquet

    source = pyarrow.table({"a": [1, None, 3], "s": ["x", "y", None], "n": [{"u": 1}, {"u": 2}, None]})
    pyarrow.parquet.write_table(source, tmp_path / "a.parquet")
    pyarrow.feather.write_feather(source, tmp_path / "a.arrow", compression="uncompressed")
    with pyarrow.ipc.new_stream(tmp_path / "a.stream", source.schema) as stream:
        stream.write_table(source)
    assert gpuframe.read_parquet(tmp_path / "a.parquet", device=where).to_pyarrow().to_pylist() == source.to_pylist()
    some = gpuframe.read_parquet(tmp_path / "a.parquet", ["n", "a"], device=where)
    assert some.to_pyarrow().to_pylist() == source.select(["n", "a"]).to_pylist()
    with pytest.raises(KeyError):
        gpuframe.read_parquet(tmp_path / "a.parquet", ["z"], device=where)
    for name in ("a.arrow", "a.stream"):
        assert gpuframe.read_ipc(tmp_path / name, device=where).to_pyarrow().to_pylist() == source.to_pylist()
    assert gpuframe.read_ipc(tmp_path / "a.arrow", ["s"], device=where).column_names == ["s"]
