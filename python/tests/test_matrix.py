"""Tables as tensors of two dimensions."""

import ctypes

import pytest

import gpuframe
import producer
import support


def table(where, dtype="float32", rows=5, names="xyz"):
    """Make a table of columns of one type, in counted memory."""
    arrays = {name: producer.Array.of(dtype, support.sample(dtype, rows + i)[i:]) for i, name in enumerate(names)}
    return gpuframe.Table.from_arrow(producer.Array.struct(arrays), device="host").to_device(where)


def rows_of(t):
    return [list(row) for row in zip(*t.to_pydict().values())]


def tensor(capsule):
    """Return (flags, ndim, shape, strides, data) of a versioned capsule."""
    at = producer._api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    flags, data, ndim = ctypes.c_uint64.from_address(at + 24).value, ctypes.c_uint64.from_address(at + 32).value, ctypes.c_int32.from_address(at + 48).value
    shape, strides = (ctypes.POINTER(ctypes.c_int64).from_address(at + offset)[:ndim] for offset in (56, 64))
    return flags, ndim, shape, strides, data


@pytest.mark.parametrize("dtype", support.INTEGERS + support.FLOATS)
def test_shape(where, dtype):
    t = table(where, dtype)
    assert t.__dlpack_device__() == t["x"].__dlpack_device__()
    _, ndim, shape, strides, data = tensor(t.__dlpack__(max_version=(1, 0)))
    assert (ndim, shape, strides[0]) == (2, [5, 3], 1) and strides[1] >= 5 and data


def test_a_matrix_is_not_copied(where):
    m = table(where).matrix()
    in_use = gpuframe.device_memory(where).in_use
    flags, _, _, _, data = tensor(m.__dlpack__(max_version=(1, 0), copy=False))
    assert not flags & 2 and data == m["x"].data_ptr
    again = m.matrix()
    assert again["z"].data_ptr == m["z"].data_ptr and gpuframe.device_memory(where).in_use == in_use
    part = m[1:4]
    flags, _, shape, _, data = tensor(part.__dlpack__(max_version=(1, 0), copy=False))
    assert shape == [3, 3] and data == m["x"].data_ptr + 4 and not flags & 2
    m.release()
    if support.KERNELS[where]:
        assert rows_of(again[1:4]) == rows_of(table(where))[1:4]


def test_what_lies_apart_is_gathered(where):
    t = gpuframe.Table.from_columns({name: support.column("int32", where) for name in "ab"}, device=where)
    blocks = gpuframe.device_memory(where).blocks
    capsule = t.__dlpack__(max_version=(1, 0))
    assert tensor(capsule)[0] & 2, "marked as a copy"
    assert gpuframe.device_memory(where).blocks == blocks + 1
    with pytest.raises(BufferError, match="copy=False"):
        t.__dlpack__(max_version=(1, 0), copy=False)
    m = t.matrix(["b", "a"])
    assert m.column_names == ["b", "a"] and m["a"].data_ptr - m["b"].data_ptr == 4 * 13
    assert m["a"].tolist() == support.sample("int32")


@pytest.mark.parametrize("names", ["x", "xy"])
def test_a_copy_on_request(where, names):
    m = table(where, names=names).matrix()
    flags, _, _, _, data = tensor(m.__dlpack__(max_version=(1, 0), copy=True))
    assert flags & 2 and data not in [c.data_ptr for c in m.columns()]
    flags, _, _, _, data = tensor(m.__dlpack__(max_version=(1, 0), dl_device=(1, 0)))
    assert bool(flags & 2) == (where != "host") and data


def test_values(where):
    t = table(where)
    for lib in support.LIBRARIES.values():
        if lib.here(where) and lib.protocol:
            try:
                shared = lib.take(t)
            except lib.refusals():
                assert lib.name == "jax", "which takes rows that lie one after the other only"
                continue
            assert lib.values(shared) == rows_of(t)
            shared = lib.take(t.matrix())
            assert lib.values(shared) == rows_of(t)


def test_what_is_no_matrix(where):
    mixed = gpuframe.Table.from_columns({"a": [1, 2], "b": [1.0, 2.0]}, device=where)
    with pytest.raises(BufferError, match="type differs"):
        mixed.__dlpack__()
    with pytest.raises(BufferError):
        mixed.matrix()
    with pytest.raises(KeyError):
        mixed.matrix(["c"])
    assert len(mixed.matrix(["b"])) == 2
    with pytest.raises(ValueError, match="columns"):
        mixed.select([]).__dlpack__()
    with pytest.raises(BufferError):
        mixed.__dlpack__(dl_device=(10, 0))
    nulls = gpuframe.Table.from_columns({"n": support.column("int32", where, nulls=True)}, device=where)
    with pytest.raises(BufferError, match="nulls"):
        nulls.__dlpack__()
    with pytest.raises(BufferError, match="boolean"):
        gpuframe.Table.from_columns({"b": support.column("bool", where)}, device=where).matrix()


def test_no_rows(where):
    empty = table(where)[2:2]
    _, ndim, shape, _, _ = tensor(empty.__dlpack__(max_version=(1, 0)))
    assert (ndim, shape) == (2, [0, 3]) and len(empty.matrix()) == 0
