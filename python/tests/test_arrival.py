"""Raw producers on a GPU: copies from pageable memory without an event, and pool memory with one, given back by cuMemFree.

On a GPU that another process keeps busy, such copies are pending when the array is handed over.
"""

import ctypes
import os

import pytest

import gpuframe
import producer
import support

HANDOVERS = int(os.environ.get("GPUFRAME_HANDOVERS", "10000"))
#: Lengths of copies in bytes: the driver stages small ones and pipelines large ones.
LENGTHS = [4 << 10, 60 << 10, 300 << 10, 2 << 20]
LARGE = 8 << 20


class Driver:
    """The CUDA driver in the primary context of a GPU, which is current on this thread until the end."""

    def __init__(self, where):
        self.library, self.ordinal = ctypes.CDLL("libcuda.so.1"), support.number(where)
        context = ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.ordinal)
        self("cuCtxPushCurrent_v2", context)

    def __call__(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        assert status == 0, f"{name} returned {status}"

    def value(self, name, *arguments):
        """Return the value that a call writes first."""
        into = ctypes.c_void_p()
        self(name, ctypes.byref(into), *arguments)
        return into

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.value("cuCtxPopCurrent_v2")
        self("cuDevicePrimaryCtxRelease_v2", self.ordinal)


@pytest.fixture
def driver(gpu):
    with Driver(gpu) as driver:
        yield driver


class OnDevice:
    """An array of int32 on a GPU; on_end is called by its release."""

    def __init__(self, length, address, on_end=lambda: None):
        self.form, self.name, self.children, self.length, self.address = "i", "", [], length, address
        self.release = producer.ArrayRelease(self._release)
        self.nullable, self.on_end, self.ends = True, on_end, 0

    schema = producer.Array.schema

    def array(self):
        c = producer.CArray(length=self.length, n_buffers=2, release=self.release)
        self.buffers = c.buffers = (ctypes.c_void_p * 2)(None, self.address)
        return c

    def _release(self, pointer):
        pointer.contents.release = producer.ArrayRelease()
        self.ends += 1
        self.on_end()


class HandOver(producer.DeviceArray):
    """A device array with an event, or None."""

    def __init__(self, array, ordinal, event=None):
        super().__init__(array, 2, ordinal)
        self.event = event

    def __arrow_c_device_array__(self, requested_schema=None, **kwargs):
        capsules = super().__arrow_c_device_array__(requested_schema)
        self.shown[1].sync_event = ctypes.addressof(self.event) if self.event is not None else None
        return capsules


def test_pageable_copies_without_an_event(gpu, driver):
    numpy = pytest.importorskip("numpy")
    at = driver.value("cuMemAlloc_v2", ctypes.c_size_t(max(LENGTHS)))
    stale = 0
    for i in range(HANDOVERS):
        count = LENGTHS[i % len(LENGTHS)] // 4
        want = numpy.full(count, i + 1, dtype="int32")
        driver("cuMemcpyHtoD_v2", at, ctypes.c_void_p(want.ctypes.data), ctypes.c_size_t(4 * count))
        with gpuframe.Column.from_arrow(HandOver(OnDevice(count, at.value), driver.ordinal)) as column:
            stale += not numpy.array_equal(column.to_numpy(), want)
    assert stale == 0, f"of {HANDOVERS} hand-overs"
    driver("cuMemFree_v2", at)


@pytest.mark.parametrize("rows", [0, 1000])
def test_pool_memory_of_which_nothing_is_read(gpu, driver, rows):
    stream = driver.value("cuStreamCreate", 1)
    pinned = driver.value("cuMemAllocHost_v2", ctypes.c_size_t(LARGE))
    arrays = []
    for _ in range(max(1, HANDOVERS // 20)):
        at = driver.value("cuMemAllocAsync", ctypes.c_size_t(LARGE), stream)
        driver("cuMemcpyHtoDAsync_v2", at, pinned, ctypes.c_size_t(LARGE), stream)
        event = driver.value("cuEventCreate", 2)
        driver("cuEventRecord", event, stream)
        array = OnDevice(rows, at.value, given_back(gpu, at))
        arrays.append((array, event))
        with gpuframe.Column.from_arrow(HandOver(array, driver.ordinal, event)):
            pass
    driver("cuStreamSynchronize", stream)  # a copy to freed memory ends in an error here
    while not all(array.ends for array, _ in arrays):
        pass
    for _, event in arrays:
        driver("cuEventDestroy_v2", event)
    driver("cuMemFreeHost", pinned)
    driver("cuStreamDestroy_v2", stream)


def given_back(gpu, at):
    """Return what a release does: it frees the memory, on a thread of any library."""

    def free():
        with Driver(gpu) as driver:
            driver("cuMemFree_v2", at)

    return free
