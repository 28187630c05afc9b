"""Every library × direction × type × view, with the same address where no copy is promised."""

import pytest

import gpuframe
import support

PAIRS = [(name, where) for name in support.LIBRARIES for where in support.DEVICES]


def library(name, where):
    found = support.LIBRARIES[name]
    if not found.here(where):
        pytest.skip(f"{name} is not here, or does not use memory on {where}")
    return found


@pytest.mark.parametrize("shape", support.SHAPES)
@pytest.mark.parametrize("dtype", support.TYPES)
@pytest.mark.parametrize("name, where", PAIRS)
def test_out(name, where, dtype, shape):
    lib = library(name, where)
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
    copied = dtype == "bool"
    if name == "jax" and shape == "sliced":
        pass  # it copies what is not aligned as it likes
    elif shape != "empty" and not copied:
        assert lib.address(tensor) == view.data_ptr
        support.note(name, f"takes, {where}", dtype, "zero copy")
    elif copied:
        support.note(name, f"takes, {where}", dtype, "copy")
    in_use = gpuframe.device_memory(where).in_use
    view.release()
    assert lib.values(tensor) == support.sample(dtype)[part], "the tensor outlives the column"
    assert shape == "empty" or in_use > 0


@pytest.mark.parametrize("shape", support.SHAPES)
@pytest.mark.parametrize("dtype", support.TYPES)
@pytest.mark.parametrize("name, where", PAIRS)
def test_in(name, where, dtype, shape):
    lib = library(name, where)
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
@pytest.mark.parametrize("name, where", PAIRS)
def test_there_and_back_is_the_same_memory(name, where, dtype):
    lib = library(name, where)
    c = support.column(dtype, where)
    try:
        tensor = lib.take(c)
    except lib.refusals():
        assert dtype in lib.lacks_in
        return
    if not hasattr(tensor, "__dlpack__"):
        pytest.skip(f"{name} has no __dlpack__")
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
    """What may not be written stays marked; a library that ignores the mark sees the same values."""
    lib = library(name, where)
    own = support.column("int32", where)
    c = gpuframe.Table.from_columns({"x": _ReadOnly(own)}, device=where)["x"]
    assert c.data_ptr == own.data_ptr and c._description["read_only"]
    with pytest.raises(BufferError, match="read-only"):
        c.__dlpack__()
    capsule = c.__dlpack__(max_version=(1, 0))
    assert _flags(capsule) & 1
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
    """Says of a column that it may not be written to."""

    def __init__(self, c):
        self.c = c
        name = "__array_interface__" if c.device.name == "host" else "__cuda_array_interface__"
        described = getattr(c, name)
        setattr(self, name, {**described, "data": (described["data"][0], True)})


def test_capsules_by_version(where):
    c = support.column("int32", where)
    for version, name in ((None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned"), ((1, 3), "dltensor_versioned"),
                          ((2, 0), "dltensor_versioned")):
        assert f'"{name}"' in repr(c.__dlpack__(max_version=version)), version
    assert '"dltensor"' in repr(c.__dlpack__())


def test_device(where):
    c = support.column("int8", where)
    on = c.__dlpack_device__()
    assert on == ((1, 0) if where == "host" else (2, int(where[5:])))
    c.__dlpack__(dl_device=on)
    with pytest.raises(BufferError, match="move it there"):
        c.__dlpack__(dl_device=(10, 0))


def test_copy(where):
    c = support.column("int64", where)
    in_use = gpuframe.device_memory(where).in_use
    capsule = c.__dlpack__(copy=True, max_version=(1, 0))
    assert gpuframe.device_memory(where).in_use > in_use
    del capsule
    assert gpuframe.device_memory(where).in_use == in_use
    kept = c.__dlpack__(copy=False)
    assert gpuframe.device_memory(where).in_use == in_use
    del kept
    with pytest.raises(BufferError, match="copy=False"):
        support.column("bool", where).__dlpack__(copy=False)


def test_nulls_are_refused(where):
    c = support.column("int32", where, nulls=True)
    assert c.null_count == 3
    for copy in (None, False, True):
        with pytest.raises(BufferError, match="nulls"):
            c.__dlpack__(copy=copy)
    assert c.values().__dlpack__(max_version=(1, 0))
    bits = c.validity()
    assert (bits.dtype, bits.bit_offset) == ("uint8", 0)
    assert bits.tolist()[0] == 0b10111011 and c[3:].validity().bit_offset == 3
    with pytest.raises(BufferError, match="no validity"):
        support.column("int32", where).validity()


def test_streams_are_checked(where):
    c = support.column("int32", where)
    if where == "host":
        with pytest.raises(ValueError, match="no streams"):
            c.__dlpack__(stream=1)
        return
    for stream in (None, 1, 2, -1):
        assert c.__dlpack__(stream=stream, max_version=(1, 0))
    for stream in (0, -2):
        with pytest.raises(ValueError):
            c.__dlpack__(stream=stream)
    with pytest.raises(TypeError):
        c.__dlpack__(stream="main")


def test_arguments_are_checked(where):
    c = support.column("int32", where)
    for arguments in ({"streams": 1}, {"max_version": 1}, {"dl_device": 5}, {"stream": 1.5}):
        with pytest.raises(TypeError):
            c.__dlpack__(**arguments)
    with pytest.raises(TypeError):
        c.__dlpack__(None)


def test_types_without_a_counterpart(where):
    import producer

    strings = gpuframe.Column.from_arrow(producer.Array.of("utf8", ["a", "bc"]), device=where)
    with pytest.raises(BufferError):
        strings.__dlpack__()
    with pytest.raises(AttributeError):
        strings.__array_interface__
    assert strings.tolist() == ["a", "bc"]


def test_a_capsule_is_taken_once(where):
    capsule = support.column("int32", where).__dlpack__(max_version=(1, 0))

    class Again:
        def __dlpack_device__(self):
            return (1, 0) if where == "host" else (2, int(where[5:]))

        def __dlpack__(self, **_):
            return capsule

    first = gpuframe.Column.from_dlpack(Again())
    assert first.tolist() == support.sample("int32")
    with pytest.raises(TypeError, match="consumed"):
        gpuframe.Column.from_dlpack(Again())


def test_numpy_keeps_read_only():
    numpy = pytest.importorskip("numpy")
    array = numpy.arange(5)
    array.flags.writeable = False
    c = gpuframe.Table.from_columns({"x": _Interface(array)}, device="host")["x"]
    assert c.data_ptr == array.ctypes.data
    with pytest.raises(BufferError, match="read-only"):
        c.__dlpack__()  # the legacy struct cannot forbid writing
    capsule = c.__dlpack__(max_version=(1, 0))
    assert _flags(capsule) & 1
    assert not c.to_numpy().flags.writeable
    if support.version("numpy") >= (2, 1):
        assert not numpy.from_dlpack(c).flags.writeable
        assert not gpuframe.Column.from_dlpack(array).to_numpy().flags.writeable


class _Interface:
    """An object that has numpy's array interface and nothing else."""

    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


def _flags(capsule):
    import ctypes

    import producer

    return ctypes.c_uint64.from_address(producer._api.PyCapsule_GetPointer(capsule, b"dltensor_versioned") + 24).value


def test_a_copy_is_marked(where):
    assert _flags(support.column("int32", where).__dlpack__(max_version=(1, 0), copy=True)) == 2
    assert _flags(support.column("int32", where).__dlpack__(max_version=(1, 0))) == 0
    assert _flags(support.column("bool", where).__dlpack__(max_version=(1, 0))) & 2
