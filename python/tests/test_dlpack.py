"""Every library × direction × type × view, with the same address unless a copy is documented."""

import pytest

import gpuframe
import support

PAIRS = [(name, where) for name, lib in support.LIBRARIES.items() for where in support.DEVICES if lib.here(where)]
#: Those that give by DLPack, too.
SPEAKERS = [(name, where) for name, where in PAIRS if support.LIBRARIES[name].protocol]


@pytest.mark.parametrize("name", support.LIBRARIES)
def test_the_library_is_here(where, name):
    """A missing library is one skip, not one for each test."""
    lib = support.LIBRARIES[name]
    if not lib.here(where) and lib.reaches(where):
        pytest.skip(f"{name} is not installed, or finds no {where}")
    assert ((name, where) in PAIRS) == lib.reaches(where)


@pytest.mark.parametrize("shape", support.SHAPES)
@pytest.mark.parametrize("dtype", support.TYPES)
@pytest.mark.parametrize("name, where", PAIRS)
def test_out(name, where, dtype, shape):
    lib = support.LIBRARIES[name]
    if shape == "empty" and name == "torch" and support.version("torch") < (2, 1):
        pytest.skip("torch before 2.1 never deletes a tensor that has no elements")
    view, part = support.shapes(support.column(dtype, where))[shape]
    try:
        tensor = lib.take(view)
    except lib.refusals():
        assert dtype in lib.lacks_in or shape == "empty" and lib.name in ("jax", "numba")
        support.note(name, f"takes, {where}", dtype, "refused" if shape != "empty" else "refuses none")
        return
    assert lib.values(tensor) == support.sample(dtype)[part]
    if dtype == "bool":
        support.note(name, f"takes, {where}", dtype, "copy")
    elif shape != "empty" and lib.address(tensor) == view.data_ptr:
        support.note(name, f"takes, {where}", dtype, "zero copy")
    elif shape != "empty":
        assert lib.may_copy(where, view.data_ptr), "the same memory was promised"
        support.note(name, f"takes, {where}", dtype, "copy where not aligned to 64 bytes")
    in_use = gpuframe.device_memory(where).in_use
    view.release()
    assert lib.values(tensor) == support.sample(dtype)[part], "the tensor outlives the column"
    assert shape == "empty" or in_use > 0


@pytest.mark.parametrize("shape", support.SHAPES)
@pytest.mark.parametrize("dtype", support.TYPES)
@pytest.mark.parametrize("name, where", PAIRS)
def test_in(name, where, dtype, shape):
    lib = support.LIBRARIES[name]
    part = {"whole": slice(None), "sliced": slice(3, 11), "empty": slice(5, 5)}[shape]
    want = support.sample(dtype)[part]
    try:
        tensor = lib.make(dtype, support.sample(dtype), where)
    except lib.refusals():
        assert dtype in lib.lacks_out
        support.note(name, f"gives, {where}", dtype, "no such type")
        return
    tensor = tensor[part] if name != "jax" or shape == "whole" else lib.make(dtype, want, where)
    address = lib.address(tensor) if want else 0
    try:
        if hasattr(tensor, "__dlpack__"):
            taken = gpuframe.Column.from_dlpack(tensor, name="x")
        else:
            taken = gpuframe.Table.from_columns({"x": tensor}, device=where)["x"]
    except lib.refusals():
        assert dtype in lib.lacks_out or dtype == "bool"
        support.note(name, f"gives, {where}", dtype, "refused")
        return
    assert (taken.name, taken.dtype, len(taken)) == ("x", dtype, len(want))
    if want and dtype != "bool":
        assert taken.data_ptr == address
        support.note(name, f"gives, {where}", dtype, "zero copy")
    elif dtype == "bool":
        support.note(name, f"gives, {where}", dtype, "copy")
    del tensor
    assert taken.tolist() == want, "the column outlives the tensor"


@pytest.mark.parametrize("dtype", support.TYPES)
@pytest.mark.parametrize("name, where", SPEAKERS)
def test_there_and_back_is_the_same_memory(name, where, dtype):
    lib = support.LIBRARIES[name]
    c = support.column(dtype, where)
    try:
        tensor = lib.take(c)
    except lib.refusals():
        assert dtype in lib.lacks_in
        return
    try:
        back = gpuframe.Column.from_dlpack(tensor)
    except lib.refusals():
        assert dtype in lib.lacks_out or name in ("numpy", "jax"), "numpy and jax do not give on what may not be written"
        return
    assert back.tolist() == support.sample(dtype)
    if dtype != "bool":
        assert back.data_ptr == c.data_ptr


@pytest.mark.parametrize("name, where", PAIRS)
def test_read_only(name, where):
    """A read-only column stays marked; a library that ignores the mark sees the same values."""
    lib = support.LIBRARIES[name]
    own = support.column("int32", where)
    c = gpuframe.Table.from_columns({"x": _ReadOnly(own)}, device=where)["x"]
    assert c.data_ptr == own.data_ptr and c._description["read_only"]
    with pytest.raises(BufferError, match="read-only"):
        c.__dlpack__()
    capsule = c.__dlpack__(max_version=(1, 0))
    assert support.flags(capsule) & 1
    del capsule
    try:
        tensor = lib.take(c)
    except lib.refusals():
        support.note(name, f"takes, {where}", "read-only", "refused")
        return
    assert lib.address(tensor) == own.data_ptr and lib.values(tensor) == support.sample("int32")
    marked = name == "numpy" and not tensor.flags.writeable
    support.note(name, f"takes, {where}", "read-only", "zero copy, marked" if marked else "zero copy, mark ignored")


class _ReadOnly:
    """A column that reports read-only memory."""

    def __init__(self, c):
        self.c = c
        name = "__array_interface__" if c.device.name == "host" else "__cuda_array_interface__"
        described = getattr(c, name)
        setattr(self, name, {**described, "data": (described["data"][0], True)})


def test_numpy_keeps_read_only():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(5)
    array.flags.writeable = False
    c = gpuframe.Table.from_columns({"x": _Interface(array)}, device="host")["x"]
    assert c.data_ptr == array.ctypes.data
    with pytest.raises(BufferError, match="read-only"):
        c.__dlpack__()  # the legacy struct cannot forbid writing
    capsule = c.__dlpack__(max_version=(1, 0))
    assert support.flags(capsule) & 1
    assert not c.to_numpy().flags.writeable
    if support.version("numpy") >= (2, 1):
        assert not numpy.from_dlpack(c).flags.writeable
        assert not gpuframe.Column.from_dlpack(array).to_numpy().flags.writeable


class _Interface:
    """An object with numpy's array interface only."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array
