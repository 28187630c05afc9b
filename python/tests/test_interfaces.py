"""The array interfaces, and the libraries that use them."""

import pytest

import gpuframe
import support


@pytest.mark.parametrize("shape", support.SHAPES)
@pytest.mark.parametrize("dtype", support.INTEGERS + support.FLOATS)
def test_array_interface(dtype, shape):
    numpy = pytest.importorskip("numpy")
    view, part = support.shapes(support.column(dtype, "host"))[shape]
    described = view.__array_interface__
    assert described["version"] == 3 and described["strides"] is None and described["shape"] == (len(view),)
    array = view.to_numpy()
    assert array.dtype == dtype and array.tolist() == support.sample(dtype)[part]
    if len(view):
        assert array.ctypes.data == view.data_ptr
    view.release()
    assert array.tolist() == support.sample(dtype)[part], "the array keeps the memory"
    assert numpy.asarray(support.column(dtype, "host")).tolist() == support.sample(dtype)


def test_not_on_the_host():
    with pytest.raises(AttributeError, match="not in the memory of a GPU"):
        support.column("int32", "host").__cuda_array_interface__


def test_nulls(where):
    c = support.column("int32", where, nulls=True)
    want = [i % 4 != 2 for i in range(13)]
    assert c.is_valid().tolist() == want and c[3:9].is_valid().tolist() == want[3:9]
    if where == "host":
        with pytest.raises(AttributeError, match="nulls"):
            c.__array_interface__
        assert c.values().__array_interface__["shape"] == (13,)
        return
    for part in (slice(None), slice(3, 9)):
        described = c[part].__cuda_array_interface__
        assert described["data"][0] == c[part].data_ptr and described["version"] == 3
        mask = described["mask"]
        assert mask.__cuda_array_interface__["shape"] == described["shape"]
        back = gpuframe.Table.from_columns({"m": mask}, device=where)["m"]
        assert back.dtype == "bool" and (not support.KERNELS[where] or back.tolist() == want[part])
        del described, mask
    assert "mask" not in c.values().__cuda_array_interface__
    with pytest.raises(BufferError):
        c.values().is_valid()


def test_cuda_array_interface(gpu):
    c = support.column("float32", gpu)
    described = c.__cuda_array_interface__
    assert described["data"] == (c.data_ptr, False) and described["typestr"] == "<f4" and described["stream"] == 1
    with pytest.raises(AttributeError):
        c.__array_interface__
    with pytest.raises(TypeError):
        c.__array__()
    assert c.to_numpy().tolist() == support.sample("float32")
    torch = pytest.importorskip("torch")
    shared = torch.as_tensor(c, device="cuda")
    assert shared.data_ptr() == c.data_ptr


def test_cuda_core(gpu):
    try:
        from cuda.core.utils import StridedMemoryView
    except ImportError:
        try:
            from cuda.core.experimental.utils import StridedMemoryView
        except ImportError:
            pytest.skip("cuda.core is not here")
    for dtype in support.INTEGERS + support.FLOATS:
        c = support.column(dtype, gpu)
        make = getattr(StridedMemoryView, "from_any_interface", StridedMemoryView)
        view = make(c, stream_ptr=-1)
        assert view.ptr == c.data_ptr and tuple(view.shape) == (13,)
        assert view.is_device_accessible
        support.note("cuda.core", f"takes, {gpu}", dtype, "zero copy")
        del view


def test_torch_bfloat16(where):
    torch = pytest.importorskip("torch")
    if support.version("torch") < (2, 1):
        pytest.skip("this torch has no versioned capsules")
    tensor = torch.arange(10, dtype=torch.bfloat16, device="cpu" if where == "host" else where)
    try:
        c = gpuframe.Column.from_dlpack(tensor)
    except BufferError:
        support.note("torch", f"gives, {where}", "bfloat16", "refused")
        return
    assert c.data_ptr == tensor.data_ptr()
    assert torch.from_dlpack(c).tolist() == tensor.tolist()
    support.note("torch", f"gives, {where}", "bfloat16", "zero copy")


def test_pinned_memory_of_torch(gpu):
    """torch reports pinned memory as the CPU's; it is imported in place."""
    torch = pytest.importorskip("torch")
    tensor = torch.arange(100).pin_memory()
    c = gpuframe.Column.from_dlpack(tensor)
    assert c.data_ptr == tensor.data_ptr() and c[5:7].tolist() == [5, 6]
    assert c.device.name in ("host", gpu)


def test_managed_memory_of_cupy(gpu):
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        array = cupy.arange(100, dtype=cupy.int32)
    c = gpuframe.Column.from_dlpack(array)
    assert c.data_ptr == array.data.ptr and c[5:7].tolist() == [5, 6]
    kind = c.__dlpack_device__()[0]
    assert kind in (2, 13)
    back = cupy.from_dlpack(c)
    assert back.data.ptr == array.data.ptr


def test_torch_refuses_memory_it_does_not_know(gpu):
    """A documented limit: torch accepts no pinned or managed memory by DLPack."""
    torch = pytest.importorskip("torch")
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        c = gpuframe.Column.from_dlpack(cupy.arange(100, dtype=cupy.int32))
    if c.__dlpack_device__()[0] != 13:
        pytest.skip("this cupy calls managed memory the device's")
    with pytest.raises(Exception):  # noqa: B017 - torch has several
        torch.from_dlpack(c)
    assert torch.as_tensor(c.to_device(gpu), device="cuda").sum().item() == 4950


def test_what_cannot_be_a_column():
    numpy = pytest.importorskip("numpy")

    class Interface:
        def __init__(self, array, **more):
            self.array = array
            self.__array_interface__ = {**array.__array_interface__, **more}

    def taken(array, **more):
        return gpuframe.Table.from_columns({"x": Interface(array, **more)}, device="host")

    for array in (numpy.zeros((2, 2)), numpy.arange(10)[::2], numpy.zeros(3, ">i4"), numpy.zeros(3, "M8[s]")):
        with pytest.raises(BufferError):
            taken(array)
    with pytest.raises(BufferError, match="mask"):
        taken(numpy.arange(3), mask=numpy.zeros(3))
    with pytest.raises(BufferError):
        gpuframe.Column.from_dlpack(numpy.zeros((2, 2, 2))[:, ::2])
    rows = gpuframe.Column.from_dlpack(numpy.zeros((4, 2)))
    assert rows.dtype.startswith("fixed_size_list") and len(rows) == 4
    with pytest.raises(BufferError):
        gpuframe.Column.from_dlpack(numpy.arange(10)[::2])
