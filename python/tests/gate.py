"""Work on a GPU's stream that lasts until the test ends it."""

import pytest

import support

#: Work that no test ends takes this number of clock cycles: about ten seconds.
LONGEST = 20_000_000_000

_SOURCE = r"""
extern "C" __global__ void wait(const volatile int *open, long long cycles) {
    long long start = clock64();
    while (!*open && clock64() - start < cycles) {
    }
}
"""
_kernels = []


class Gate:
    """A kernel that occupies a stream until the gate opens, or until its cycles are over.

    A gate that is made open blocks nothing. A test first runs its whole course with one, because
    first uses may load code, which waits for the device and would wait for a closed gate.
    """

    def __init__(self, closed):
        self.cupy = pytest.importorskip("cupy")
        cupyx = pytest.importorskip("cupyx")
        self.closed = closed
        self.flag = cupyx.zeros_pinned((1,), dtype="int32")
        self.flag[0] = 0 if closed else 1
        if not _kernels:
            _kernels.append(self.cupy.RawKernel(_SOURCE, "wait"))

    def hold(self, stream, cycles=LONGEST):
        """Let later work on a stream, a handle, wait for the gate."""
        import numpy

        with self._stream(stream):
            _kernels[0]((1,), (1,), (numpy.uint64(self.flag.ctypes.data), numpy.int64(cycles)))

    def _stream(self, handle):
        if not hasattr(self.cupy.cuda.Stream, "from_external"):
            return self.cupy.cuda.ExternalStream(handle)

        class Other:
            def __cuda_stream__(self):
                return 0, handle

        return self.cupy.cuda.Stream.from_external(Other())

    def passed_by(self, running, what):
        """Check that a hand-over has not waited for the gate: the gate's stream still runs, if the gate is closed. Then open it."""
        held_up = running()
        self.open()
        assert held_up or not self.closed, f"{what} waited for the work"

    def open(self):
        self.flag[0] = 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()
        self.cupy.cuda.Device().synchronize()


def twice(course):
    """Run a test's course twice, first with an open gate."""
    for closed in (False, True):
        with Gate(closed) as gate:
            course(gate)
        support.settle()
