"""DLPack's C exchange table, called in the way of a C library."""

import ctypes

import pytest

import gpuframe
import support

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", Deleter),
                    ("flags", ctypes.c_uint64), ("tensor", Tensor)]
SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
# With PYFUNCTYPE the interpreter's lock is held, and exceptions come through.
Allocate = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.POINTER(Managed)), ctypes.c_void_p, SetError)
FromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(Managed)))
ToObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.c_void_p))
TensorFromObject = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
CurrentStream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("allocate", Allocate),
                ("from_object", FromObject), ("to_object", ToObject), ("tensor_from_object", TensorFromObject),
                ("current_stream", CurrentStream)]


assert ctypes.sizeof(Table) == 56


@pytest.fixture
def table():
    capsule = gpuframe.Column.__dlpack_c_exchange_api__
    return Table.from_address(api.PyCapsule_GetPointer(capsule, b"dlpack_exchange_api"))


def test_header(table):
    assert (table.major, table.previous) == (1, None) and table.minor >= 3


def test_from_object(table, where):
    c = support.column("int32", where)
    out = ctypes.POINTER(Managed)()
    assert table.from_object(c, ctypes.byref(out)) == 0
    m = out.contents
    assert (m.major, m.tensor.data, m.tensor.ndim, m.tensor.shape[0], m.tensor.strides[0]) == (1, c.data_ptr, 1, 13, 1)
    assert (m.tensor.code, m.tensor.bits, m.tensor.lanes, m.tensor.byte_offset) == (0, 32, 1, 0)
    assert (m.tensor.device_type, m.tensor.device_id) == c.__dlpack_device__()
    c.release()
    assert gpuframe.device_memory(where).in_use > 0
    m.deleter(out)
    assert gpuframe.device_memory(where).in_use == 0


def test_from_what_is_none(table, where):
    out = ctypes.POINTER(Managed)()
    with pytest.raises(TypeError, match="gpuframe.Column"):
        table.from_object(3, ctypes.byref(out))
    with pytest.raises(BufferError, match="nulls"):
        table.from_object(support.column("int32", where, nulls=True), ctypes.byref(out))


def test_to_object(table, where):
    c = support.column("float64", where)
    out, made = ctypes.POINTER(Managed)(), ctypes.c_void_p()
    assert table.from_object(c, ctypes.byref(out)) == 0
    assert table.to_object(out, ctypes.byref(made)) == 0
    back = ctypes.cast(made, ctypes.py_object).value
    api.Py_DecRef(ctypes.py_object(back))  # ours now, in addition to the reference of the call
    assert type(back) is gpuframe.Column and back.data_ptr == c.data_ptr
    c.release()
    assert back.tolist() == support.sample("float64")


def test_view(table, where):
    c = support.column("uint8", where)
    in_use = gpuframe.device_memory(where)
    view = Tensor()
    assert table.tensor_from_object(c, ctypes.byref(view)) == 0
    assert (view.data, view.shape[0], view.strides[0], view.bits) == (c.data_ptr, 13, 1, 8)
    assert gpuframe.device_memory(where).blocks == in_use.blocks
    with pytest.raises(BufferError):
        table.tensor_from_object(support.column("bool", where), ctypes.byref(view))


def test_allocate(table, where):
    on = support.column("int8", where).__dlpack_device__()
    sizes = (ctypes.c_int64 * 3)(3, 4, 5)
    prototype = Tensor(device_type=on[0], device_id=on[1], ndim=3, code=2, bits=32, lanes=1, shape=sizes)
    out, said = ctypes.POINTER(Managed)(), []
    set_error = SetError(lambda context, kind, message: said.append((kind, message)))
    assert table.allocate(ctypes.byref(prototype), ctypes.byref(out), None, set_error) == 0 and not said
    t = out.contents.tensor
    assert t.shape[:3] == [3, 4, 5] and t.strides[:3] == [20, 5, 1] and t.data
    assert gpuframe.device_memory(where).in_use >= 240
    out.contents.deleter(out)
    assert gpuframe.device_memory(where).in_use == 0

    sizes[1] = -1
    assert table.allocate(ctypes.byref(prototype), ctypes.byref(out), None, set_error) == -1
    sizes[1] = 1 << 50
    assert table.allocate(ctypes.byref(prototype), ctypes.byref(out), None, set_error) == -1
    assert [kind for kind, _ in said] == [b"ValueError", b"MemoryError"] and not out


def test_current_stream(table, where):
    stream = ctypes.c_void_p(5)
    assert table.current_stream(*support.column("int8", where).__dlpack_device__(), ctypes.byref(stream)) == 0
    assert stream.value is None


class Consumer:
    """A tensor type of another library with an exchange table."""


got = []


@ToObject
def _consume(managed, out):
    got.append((managed.contents.tensor.data, managed.contents.tensor.shape[0]))
    managed.contents.deleter(managed)
    made = Consumer()
    api.Py_IncRef(ctypes.py_object(made))
    out[0] = id(made)
    return 0


@CurrentStream
def _stream(kind, number, out):
    out[0] = None
    return 0


_theirs = Table(major=1, minor=3, to_object=_consume, current_stream=_stream)
_newer = Table(major=2, minor=0, previous=ctypes.addressof(_theirs))
_newest = Table(major=2, minor=0)


@pytest.mark.parametrize("offered", [_theirs, _newer], ids=["version 1", "a newer one before it"])
def test_to_a_type_that_has_a_table(where, offered):
    Consumer.__dlpack_c_exchange_api__ = api.PyCapsule_New(ctypes.addressof(offered), b"dlpack_exchange_api", None)
    c = support.column("int16", where)
    assert isinstance(c.to(Consumer), Consumer)
    assert got.pop() == (c.data_ptr, 13)


def test_to_a_type_that_will_not_do(where):
    c = support.column("int16", where)
    with pytest.raises(AttributeError):
        c.to(int)
    Consumer.__dlpack_c_exchange_api__ = api.PyCapsule_New(ctypes.addressof(_newest), b"dlpack_exchange_api", None)
    with pytest.raises(BufferError, match="version 1"):
        c.to(Consumer)
    Consumer.__dlpack_c_exchange_api__ = 7
    with pytest.raises((ValueError, TypeError)):
        c.to(Consumer)


asked = []


@FromObject
def _produce(thing, out):
    if thing.column is None:
        return -1
    mine = Table.from_address(api.PyCapsule_GetPointer(gpuframe.Column.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
    status = mine.from_object(thing.column, out)
    if thing.code is not None:
        out[0].contents.tensor.code = thing.code
    return status


@CurrentStream
def _asked_stream(kind, number, out):
    asked.append((kind, number))
    out[0] = None
    return 0


_offers = Table(major=1, minor=3, from_object=_produce, current_stream=_asked_stream)


class Producer:
    """A tensor of a library with an exchange table. Its protocol is not used."""

    __dlpack_c_exchange_api__ = api.PyCapsule_New(ctypes.addressof(_offers), b"dlpack_exchange_api", None)

    def __init__(self, column, code=None, requires_grad=False):
        self.column, self.code, self.requires_grad = column, code, requires_grad

    def __dlpack_device__(self):
        asked.append("protocol")
        return self.column.__dlpack_device__()

    def __dlpack__(self, **more):
        return self.column.__dlpack__(**more)


def test_from_a_type_that_has_a_table(where):
    del asked[:]
    c = support.column("int16", where)
    back = gpuframe.Column.from_dlpack(Producer(c), name="back")
    assert back.data_ptr == c.data_ptr and back.name == "back" and len(back) == 13
    assert asked == ([] if where == "host" else [(2, int(where[5:]))])


@pytest.mark.parametrize("odd", [{"code": 5}, {"requires_grad": True}], ids=["complex", "differentiated"])
def test_what_takes_the_protocol_all_the_same(where, odd):
    del asked[:]
    c = support.column("float64", where)
    assert gpuframe.Column.from_dlpack(Producer(c, **odd)).data_ptr == c.data_ptr
    assert asked == ["protocol"]


def test_a_table_that_refuses():
    with pytest.raises(BufferError, match="set no exception"):
        gpuframe.Column.from_dlpack(Producer(None))


def test_torch(where):
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this torch has no exchange table")
    c = support.column("float32", where)
    tensor = c.to(torch.Tensor)
    assert tensor.data_ptr() == c.data_ptr and tensor.cpu().tolist() == support.sample("float32")
    c.release()
    assert tensor.cpu().tolist() == support.sample("float32")
