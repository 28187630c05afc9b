#!/usr/bin/env python3
"""Hand columns that Go built to PyTorch or NumPy, without copying them.

    handover.py LIBRARY [DEVICE]

LIBRARY is the shared library that examples/pytorch builds. DEVICE is "cuda:0",
"host", or empty for the first GPU. On a GPU torch is needed; on the host torch
is used where it is installed, and numpy where it is not.
"""

import ctypes
import os
import sys

VERSIONED, LEGACY = b"dltensor_versioned", b"dltensor"

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# In a destructor the capsule has no references left: it is passed as a plain
# address, for making it an object would revive it.
Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
capsule_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", api))
capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def drop(capsule):
    """Delete the tensor of a capsule that nobody consumed."""
    for name, offset in (VERSIONED, 16), (LEGACY, 56):
        if capsule_is(capsule, name):
            tensor = capsule_pointer(capsule, name)
            Deleter(ctypes.c_void_p.from_address(tensor + offset).value)(tensor)


destructor = Destructor(drop)


class Library:
    """The Go library."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.handover_error.restype = ctypes.c_void_p
        self.c.handover_stats.restype = ctypes.c_void_p
        self.c.handover_export.restype = ctypes.c_void_p
        self.c.handover_export.argtypes = [ctypes.c_char_p, ctypes.c_longlong, ctypes.c_int]
        self.c.handover_address.restype = ctypes.c_ulonglong
        self.c.handover_in_use.restype = ctypes.c_ulonglong
        self.c.handover_open.argtypes = [ctypes.c_char_p, ctypes.c_ulonglong]
        self.c.handover_set_first.argtypes = [ctypes.c_char_p, ctypes.c_short]
        self.free = ctypes.CDLL(None).free
        self.free.argtypes = [ctypes.c_void_p]

    def text(self, pointer):
        value = ctypes.string_at(pointer).decode()
        self.free(pointer)
        return value

    def must(self, result):
        if not result:
            raise RuntimeError(self.text(self.c.handover_error()))
        return result

    def stats(self):
        return self.text(self.c.handover_stats())


class Column:
    """A column of Go's table, as DLPack's Python protocol asks for it."""

    def __init__(self, library, name):
        self.library, self.name = library, name.encode()

    def __dlpack_device__(self):
        return self.library.c.handover_device_type(), 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy:
            raise BufferError("this column is handed over without a copy only")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the column is on {self.__dlpack_device__()}, not on {dl_device}")
        legacy = max_version is None or max_version[0] < 1
        tensor = self.library.must(self.library.c.handover_export(self.name, stream or 0, legacy))
        return api.PyCapsule_New(tensor, LEGACY if legacy else VERSIONED, destructor)


def consumer(on_gpu):
    """Return (name, from_dlpack, address, writable) of the library to hand over to."""
    try:
        import torch

        return "torch " + torch.__version__, torch.from_dlpack, lambda t: t.data_ptr(), True
    except ImportError:
        if on_gpu:
            return None
    try:
        import numpy

        # NumPy before 2.1 marks what it takes by DLPack as not to be written to.
        return "numpy " + numpy.__version__, numpy.from_dlpack, lambda a: a.ctypes.data, False
    except ImportError:
        return None


def main():
    library = Library(os.path.abspath(sys.argv[1]))
    device = sys.argv[2] if len(sys.argv) > 2 else ""
    library.must(library.c.handover_open(device.encode(), 1 << 30))
    found = consumer(library.c.handover_device_type() == 2)
    if found is None and not device:
        # No library here can use the GPU: show it on the host.
        library.must(library.c.handover_close())
        library.must(library.c.handover_open(b"host", 1 << 30))
        found = consumer(False)
    if found is None:
        print("handover: neither torch nor numpy is installed here that can use the device; nothing to show")
        library.must(library.c.handover_close())
        return
    name, from_dlpack, address, writable = found
    for go_first in (True, False):
        library.must(library.c.handover_load())
        column = Column(library, "delay")
        tensor = from_dlpack(column)
        there, here = library.c.handover_address(b"delay"), address(tensor)
        assert there == here, (hex(there), hex(here))
        print(f"{name}: {tensor.shape[0]:,} delays at {here:#x}, where Go put them")

        library.must(library.c.handover_set_first(b"delay", 4242))
        assert int(tensor[0]) == 4242, "what Go writes is seen"
        if writable:
            tensor[0] = -77
            assert library.c.handover_first(b"delay") == -77, "what the consumer writes is seen by Go"
        print(f"  mean delay {float(tensor[1:].astype('f8').mean() if not writable else tensor[1:].double().mean()):.2f} minutes;",
              library.stats())

        unused = column.__dlpack__()  # a capsule that no consumer takes
        del unused
        assert library.c.handover_in_use() > 0
        if go_first:
            library.must(library.c.handover_release())
            assert library.c.handover_in_use() > 0, "the consumer still holds the memory"
            assert int(tensor[0]) in (4242, -77)
            del tensor
        else:
            del tensor
            assert library.c.handover_in_use() > 0, "Go still holds the memory"
            library.must(library.c.handover_release())
        assert library.c.handover_in_use() == 0, library.stats()
        print(f"  released by {'Go, then Python' if go_first else 'Python, then Go'}: {library.stats()}")
    library.must(library.c.handover_close())
    print("handover: ok")


if __name__ == "__main__":
    main()
