"""A producer and a reader of Arrow's C structs, written from the specification with ctypes only.

It does not use gpuframe, so each verifies the other.
"""

import ctypes
import struct

FORMATS = {"int8": "c", "int16": "s", "int32": "i", "int64": "l", "uint8": "C", "uint16": "S", "uint32": "I", "uint64": "L",
           "float16": "e", "float32": "f", "float64": "g", "bool": "b", "utf8": "u", "binary": "z"}
LETTERS = {"c": "b", "s": "h", "i": "i", "l": "q", "C": "B", "S": "H", "I": "I", "L": "Q", "e": "e", "f": "f", "g": "d"}


class CSchema(ctypes.Structure):
    pass


class CArray(ctypes.Structure):
    pass


SchemaRelease = ctypes.CFUNCTYPE(None, ctypes.POINTER(CSchema))
ArrayRelease = ctypes.CFUNCTYPE(None, ctypes.POINTER(CArray))
CSchema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(CSchema))),
                    ("dictionary", ctypes.POINTER(CSchema)), ("release", SchemaRelease), ("private_data", ctypes.c_void_p)]
CArray._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                   ("children", ctypes.POINTER(ctypes.POINTER(CArray))), ("dictionary", ctypes.POINTER(CArray)),
                   ("release", ArrayRelease), ("private_data", ctypes.c_void_p)]


class CDeviceArray(ctypes.Structure):
    _fields_ = [("array", CArray), ("device_id", ctypes.c_int64), ("device_type", ctypes.c_int32), ("sync_event", ctypes.c_void_p),
                ("reserved", ctypes.c_int64 * 3)]


assert (ctypes.sizeof(CSchema), ctypes.sizeof(CArray), ctypes.sizeof(CDeviceArray)) == (72, 80, 128)

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

#: The memory that consumers hold now, by the address with which they release it.
alive = {}
#: How often anything was released, and on which threads.
released = []


def _release_schema(pointer):
    _ended(pointer, SchemaRelease)


def _release_array(pointer):
    _ended(pointer, ArrayRelease)


def _ended(pointer, kind):
    import threading

    c = pointer.contents
    for i in range(c.n_children):
        child = c.children[i]
        if child.contents.release:
            child.contents.release(child)
    key = c.private_data
    c.release = kind()
    released.append(threading.get_ident())
    alive.pop(key)


_on_schema, _on_array = SchemaRelease(_release_schema), ArrayRelease(_release_array)
_keys = iter(range(1, 1 << 60))


def _keep(*what):
    key = next(_keys)
    alive[key] = what
    return key


def _bits(flags):
    raw = bytearray((len(flags) + 7) // 8)
    for i, each in enumerate(flags):
        raw[i >> 3] |= bool(each) << (i & 7)
    return bytes(raw)


def pointer_of(raw):
    """Copy bytes to an address that a multiple of 64 divides, and return (address, owner)."""
    owner = ctypes.create_string_buffer(len(raw) + 128)
    at = (ctypes.addressof(owner) + 63) & ~63
    ctypes.memmove(at, raw, len(raw))
    return at, owner


class Array:
    """One Arrow array, or a struct of several; ``offset`` elements lie before it."""

    def __init__(self, form, length, buffers, nulls=0, children=(), name="", offset=0, nullable=True):
        self.form, self.length, self.buffers, self.nulls, self.nullable = form, length, buffers, nulls, nullable
        self.children, self.name, self.offset = list(children), name, offset

    @classmethod
    def of(cls, dtype, values, name="", offset=0):
        """Make an array of Python values, None for nulls, behind ``offset`` others."""
        form = FORMATS[dtype]
        shown = [values[0] if values else None] * offset + list(values)
        nulls = sum(each is None for each in values)
        validity = _bits([each is not None for each in shown]) if nulls else None
        blank = b"" if form in "uz" else 0
        plain = [blank if each is None else each for each in shown]
        if form == "b":
            buffers = [validity, _bits(plain)]
        elif form in "uz":
            raw = [each.encode() if isinstance(each, str) else each for each in plain]
            offsets = [0]
            for each in raw:
                offsets.append(offsets[-1] + len(each))
            buffers = [validity, struct.pack(f"<{len(offsets)}i", *offsets), b"".join(raw)]
        else:
            buffers = [validity, struct.pack(f"<{len(plain)}{LETTERS[form]}", *plain)]
        return cls(form, len(values), buffers, nulls, name=name, offset=offset)

    @classmethod
    def struct(cls, columns):
        """Make an array of structs: a record batch."""
        for name, each in columns.items():
            each.name = name
        first = next(iter(columns.values()), None)
        return cls("+s", first.length if first else 0, [None], children=columns.values())

    def schema(self):
        c = CSchema(format=self.form.encode(), name=self.name.encode(), flags=2 if self.nullable else 0, n_children=len(self.children), release=_on_schema)
        children = [ctypes.pointer(each.schema()) for each in self.children]
        c.children = (ctypes.POINTER(CSchema) * max(1, len(children)))(*children)
        c.private_data = _keep(c.children, children, c.format, c.name)
        return c

    def array(self):
        places = [(None, None) if raw is None else pointer_of(raw) for raw in self.buffers]
        c = CArray(length=self.length, null_count=self.nulls, offset=self.offset, n_buffers=len(places),
                   n_children=len(self.children), release=_on_array)
        c.buffers = (ctypes.c_void_p * max(1, len(places)))(*[at for at, _ in places])
        children = [ctypes.pointer(each.array()) for each in self.children]
        c.children = (ctypes.POINTER(CArray) * max(1, len(children)))(*children)
        c.private_data = _keep(c.buffers, places, c.children, children)
        self.addresses = [at for at, _ in places]
        return c

    def __arrow_c_array__(self, requested_schema=None):
        self.shown = self.schema(), self.array()
        return (_api.PyCapsule_New(ctypes.addressof(self.shown[0]), b"arrow_schema", None),
                _api.PyCapsule_New(ctypes.addressof(self.shown[1]), b"arrow_array", None))


class DeviceArray:
    """An array as an ArrowDeviceArray on a device, with random reserved fields."""

    def __init__(self, array, device_type=1, device_id=-1):
        self.of, self.device_type, self.device_id = array, device_type, device_id

    def __arrow_c_device_array__(self, requested_schema=None, **kwargs):
        c = CDeviceArray(array=self.of.array(), device_type=self.device_type, device_id=self.device_id, reserved=(-1, 77, 3))
        self.shown = self.of.schema(), c
        return (_api.PyCapsule_New(ctypes.addressof(self.shown[0]), b"arrow_schema", None),
                _api.PyCapsule_New(ctypes.addressof(c), b"arrow_device_array", None))


def read(schema, array, name=b"arrow_array"):
    """Return the contents of capsules of an array of structs in the host's memory: {name: values}."""
    s = CSchema.from_address(_api.PyCapsule_GetPointer(schema, b"arrow_schema"))
    a = CArray.from_address(_api.PyCapsule_GetPointer(array, name))
    assert s.format == b"+s" and a.n_children == s.n_children
    return {s.children[i].contents.name.decode(): values(s.children[i].contents, a.children[i].contents, a.offset, a.length)
            for i in range(s.n_children)}


def values(s, a, skip=0, length=None):
    """Return the values of one array."""
    form = s.format.decode()
    length = a.length if length is None else length
    first = a.offset + skip

    def bits(which):
        return [bool(ctypes.c_uint8.from_address(a.buffers[which] + (i >> 3)).value >> (i & 7) & 1) for i in range(first, first + length)]

    if length == 0:
        return []
    if form == "b":
        found = bits(1)
    elif form in "uz":
        offsets = struct.unpack(f"<{length + 1}i", ctypes.string_at(a.buffers[1] + first * 4, (length + 1) * 4))
        found = [ctypes.string_at(a.buffers[2] + begin, end - begin) for begin, end in zip(offsets, offsets[1:])]
        found = [each.decode() for each in found] if form == "u" else found
    else:
        size = struct.calcsize(LETTERS[form])
        found = list(struct.unpack(f"<{length}{LETTERS[form]}", ctypes.string_at(a.buffers[1] + first * size, length * size)))
    if a.null_count != 0 and a.buffers[0]:
        found = [each if valid else None for each, valid in zip(found, bits(0))]
    return found


class CStream(ctypes.Structure):
    pass


GetStruct = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(CStream), ctypes.c_void_p)
LastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(CStream))
StreamRelease = ctypes.CFUNCTYPE(None, ctypes.POINTER(CStream))
CStream._fields_ = [("get_schema", GetStruct), ("get_next", GetStruct), ("last_error", LastError), ("release", StreamRelease),
                    ("private_data", ctypes.c_void_p)]


class CDeviceStream(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("functions", CStream)]


assert (ctypes.sizeof(CStream), ctypes.sizeof(CDeviceStream)) == (40, 48)


def _move(c, target, size):
    """Move a struct to where a consumer wants it."""
    ctypes.memmove(target, ctypes.addressof(c), size)


def stream_capsule(source):
    """Return a stream of the arrays of a source; a text among them is an error, and source.form stands for no arrays."""
    pending = list(source.arrays)
    said = ctypes.create_string_buffer(200)

    def schema(stream, target):
        first = next((each for each in source.arrays if isinstance(each, Array)), None) or source.form
        _move(first.schema(), target, ctypes.sizeof(CSchema))
        return 0

    def following(stream, target):
        ctypes.memset(target, 0, ctypes.sizeof(CArray))
        if not pending:
            return 0
        each = pending.pop(0)
        if isinstance(each, str):
            said.value = each.encode()
            return 5
        _move(each.array(), target, ctypes.sizeof(CArray))
        return 0

    return _capsule_of_stream(CStream, b"arrow_array_stream", schema, following, said)


def _capsule_of_stream(kind, name, schema, following, said, *head):
    def end(stream):
        # The consumer releases it through its own pointer to the struct.
        release_at = ctypes.addressof(stream.contents) + CStream.release.offset + (8 if kind is CDeviceStream else 0)
        ctypes.c_void_p.from_address(release_at).value = None
        alive.pop(key)

    callbacks = GetStruct(schema), GetStruct(following), LastError(lambda stream: ctypes.addressof(said)), StreamRelease(end)
    functions = CStream(*callbacks)
    c = functions if kind is CStream else CDeviceStream(*head, functions)
    key = _keep(c, callbacks, said)
    _streams.append(c)  # the capsule has no destructor; a consumer looks at the struct after the release
    return _api.PyCapsule_New(ctypes.addressof(c), name, None)


_streams = []


def device_stream_capsule(tables):
    """Return a stream of the tables of another producer, each where it is."""
    pending = list(tables)
    said = ctypes.create_string_buffer(b"no error")

    def structs(table):
        schema, array = table.__arrow_c_device_array__()
        return (_api.PyCapsule_GetPointer(schema, b"arrow_schema"), _api.PyCapsule_GetPointer(array, b"arrow_device_array"), (schema, array))

    def schema(stream, target):
        source, _, kept = structs(tables[0])
        ctypes.memmove(target, source, ctypes.sizeof(CSchema))
        CSchema.from_address(source).release = SchemaRelease()
        return 0

    def following(stream, target):
        ctypes.memset(target, 0, ctypes.sizeof(CDeviceArray))
        if pending:
            _, source, kept = structs(pending.pop(0))
            ctypes.memmove(target, source, ctypes.sizeof(CDeviceArray))
            CArray.from_address(source).release = ArrayRelease()
        return 0

    return _capsule_of_stream(CDeviceStream, b"arrow_device_array_stream", schema, following, said, 2)
