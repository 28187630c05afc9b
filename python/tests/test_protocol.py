"""The arguments of __dlpack__, and exchanges by capsules only."""

import pytest

import gpuframe
import support


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
    assert c.__dlpack__(dl_device=on) and c.__dlpack__(dl_device=on, copy=False)
    with pytest.raises(BufferError, match="to_device"):
        c.__dlpack__(dl_device=(10, 0))


def test_a_copy_on_the_host(where):
    """dl_device=(1, 0) returns the values on the host, from any device."""
    c = support.column("int32", where)[2:9]
    capsule = c.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert _device(capsule) == (1, 0)
    taken = gpuframe.Column.from_dlpack(_Tensor(capsule, (1, 0)))
    assert taken.device.name == "host" and (not support.KERNELS[where] or taken.tolist() == support.sample("int32")[2:9])
    assert (taken.data_ptr == c.data_ptr) == (where == "host")
    if where != "host":
        assert c.__dlpack__(dl_device=(1, 0)) and c.__dlpack__(dl_device=(1, 0), copy=True, stream=1)
        with pytest.raises(BufferError, match="copy=False"):
            c.__dlpack__(dl_device=(1, 0), copy=False)
        assert support.flags(c.__dlpack__(dl_device=(1, 0), max_version=(1, 0))) == 2


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
    once = _Tensor(capsule, (1, 0) if where == "host" else (2, int(where[5:])))
    first = gpuframe.Column.from_dlpack(once)
    assert first.tolist() == support.sample("int32")
    with pytest.raises(TypeError, match="consumed"):
        gpuframe.Column.from_dlpack(once)


def test_the_tensors_own_device_counts():
    """torch reports (3, 0) for pinned memory, and the CPU for its tensor."""
    c = support.column("int32", "host")
    back = gpuframe.Column.from_dlpack(_Tensor(c.__dlpack__(max_version=(1, 0)), (3, 0)))
    assert back.device.name == "host" and back.data_ptr == c.data_ptr


def test_an_unknown_device_gets_its_tensor_back():
    import ctypes

    import producer

    c = support.column("int32", "host")
    capsule = c.__dlpack__(max_version=(1, 0))
    ctypes.c_int32.from_address(producer._api.PyCapsule_GetPointer(capsule, b"dltensor_versioned") + 40).value = 10
    in_use = gpuframe.device_memory("host").in_use
    with pytest.raises(BufferError, match=r"device \(10, 0\)"):
        gpuframe.Column.from_dlpack(_Tensor(capsule, (1, 0)))
    c.release()
    assert gpuframe.device_memory("host").in_use < in_use


class _Tensor:
    """A tensor with a capsule and a device."""

    def __init__(self, capsule, on):
        self.capsule, self.on = capsule, on

    def __dlpack_device__(self):
        return self.on

    def __dlpack__(self, **_):
        return self.capsule


def _device(capsule):
    import ctypes

    import producer

    at = producer._api.PyCapsule_GetPointer(capsule, b"dltensor_versioned") + 40
    return ctypes.c_int32.from_address(at).value, ctypes.c_int32.from_address(at + 4).value


def test_a_copy_is_marked(where):
    assert support.flags(support.column("int32", where).__dlpack__(max_version=(1, 0), copy=True)) == 2
    assert support.flags(support.column("int32", where).__dlpack__(max_version=(1, 0))) == 0
    assert support.flags(support.column("bool", where).__dlpack__(max_version=(1, 0))) & 2
