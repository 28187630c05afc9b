"""Deleters on threads unknown to Go and Python, owners that need the interpreter's lock, and ten thousand hand-overs."""

import ctypes
import os
import sys
import threading

import pytest

import gpuframe
import producer
import support
from gpuframe._library import library

HANDOVERS = int(os.environ.get("GPUFRAME_HANDOVERS", "10000"))
_pthread = ctypes.CDLL(None)
_pthread.pthread_create.argtypes = [ctypes.POINTER(ctypes.c_ulong), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
_pthread.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]


def on_foreign_thread(function, argument):
    """Call a C function of one argument on a thread that C made."""
    thread = ctypes.c_ulong()
    assert _pthread.pthread_create(ctypes.byref(thread), None, function, argument) == 0
    assert _pthread.pthread_join(thread, None) == 0


def detached(c, legacy):
    """Return (tensor, deleter) as a consumer takes them from a capsule."""
    from gpuframe._library import native

    capsule = c.__dlpack__() if legacy else c.__dlpack__(max_version=(1, 0))
    tensor, was_legacy, kind, _ = native.take_tensor(capsule)
    assert was_legacy == legacy and kind == c.__dlpack_device__()[0]
    return tensor, ctypes.c_void_p.from_address(tensor + (56 if legacy else 16)).value


@pytest.mark.parametrize("legacy", [False, True], ids=["versioned", "legacy"])
def test_deleter_on_a_foreign_thread(where, legacy):
    c = support.column("int32", where)
    tensor, deleter = detached(c, legacy)
    c.release()
    assert gpuframe.device_memory(where).in_use > 0
    on_foreign_thread(deleter, tensor)
    assert gpuframe.device_memory(where).in_use == 0


def test_an_owner_that_needs_the_lock_is_released_on_a_foreign_thread():
    """The release runs on a thread without the lock; the owner's deleter takes it."""
    ended = []

    class Owner:
        def __init__(self, array):
            self.array = array
            self.__array_interface__ = array.__array_interface__

        def __del__(self):
            ended.append(threading.get_ident())

    numpy = pytest.importorskip("numpy")
    c = gpuframe.Table.from_columns({"x": Owner(numpy.arange(100))}, device="host")["x"]
    release = ctypes.cast(ctypes.CDLL(library.path).gpuframe_release, ctypes.c_void_p).value
    handle = c._handle()
    c._adopt(0)
    assert not ended
    on_foreign_thread(release, handle)
    assert len(ended) == 1 and ended[0] != threading.get_ident()


def test_owners_are_released_while_other_threads_run_python():
    numpy = pytest.importorskip("numpy")
    stop = threading.Event()
    busy = [threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)]) for _ in range(2)]
    for each in busy:
        each.start()
    try:
        def hand_over():
            for _ in range(100):
                array = numpy.arange(1000)
                c = gpuframe.Table.from_columns({"x": _With(array)}, device="host")["x"]
                assert c[7:9].tolist() == [7, 8]
                c.release()

        threads = [threading.Thread(target=hand_over) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(timeout=support.LIMIT)
            assert not each.is_alive(), "a release and the interpreter's lock wait for each other"
    finally:
        stop.set()
        for each in busy:
            each.join()


class _With:
    def __init__(self, array):
        self.array, self.__array_interface__ = array, array.__array_interface__


def test_arrow_released_on_a_foreign_thread():
    before = len(producer.released)
    c = gpuframe.Column.from_arrow(producer.Array.of("int64", list(range(50))), device="host")
    del producer.released[before:]
    release = ctypes.cast(ctypes.CDLL(library.path).gpuframe_release, ctypes.c_void_p).value
    handle = c._handle()
    c._adopt(0)
    on_foreign_thread(release, handle)
    assert len(producer.released) == before + 1


def test_many_threads_at_once(where):
    c = support.column("int32", where, list(range(1000)))
    failures = []

    def work():
        try:
            for i in range(50):
                part = c[i:i + 10]
                capsule = part.__dlpack__(max_version=(1, 0))
                back = gpuframe.Column.from_arrow(part, device=where)
                assert back.data_ptr == c.data_ptr + 4 * i
                del capsule, part, back
        except BaseException as error:  # noqa: BLE001 - it is raised below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures, failures


class CHeap(ctypes.Structure):
    """The C library's struct mallinfo2."""

    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


# COME_AND_GO is more than the bytes by which two readings without a leak were seen to differ,
# 9,600: timers, buffers and tables of the runtimes.
COME_AND_GO = 10_000


def held():
    """Return the bytes of live objects: Go's, those of the C heap, and Python's in blocks of 64 bytes.

    The process's resident memory is no measure: it has garbage, and pages that the kernel
    drops and reads again when other processes want memory.
    """
    support.settle()
    go = ctypes.c_int64()
    library.heap(ctypes.byref(go))
    c = 0
    if hasattr(ctypes.CDLL(None), "mallinfo2"):  # of the GNU library since 2.33
        mallinfo = ctypes.CDLL(None).mallinfo2
        mallinfo.restype = CHeap
        heap = mallinfo()
        c = heap.uordblks + heap.hblkhd
    return go.value + c + 64 * sys.getallocatedblocks()


def hand_overs(where):
    """Do every kind of hand-over once."""
    table = gpuframe.Table.from_columns({"x": [1, 2, 3]}, device=where)
    c = table["x"]
    out = {
        "a capsule that nobody takes": lambda: c.__dlpack__(max_version=(1, 0)),
        "a legacy capsule": lambda: c.__dlpack__(),
        "dlpack there and back": lambda: gpuframe.Column.from_dlpack(c),
        "a matrix": lambda: table.__dlpack__(),
        "an arrow array that nobody takes": lambda: table.__arrow_c_device_array__(),
        "arrow there and back": lambda: gpuframe.Table.from_arrow(table, device=where),
        "an error": lambda: pytest.raises(BufferError, c.__dlpack__, dl_device=(9, 9)),
    }
    for name, lib in support.LIBRARIES.items():
        if lib.here(where) and name != "jax":
            out[name] = lambda lib=lib: lib.take(c)
    return out


WAYS = ["a capsule that nobody takes", "a legacy capsule", "dlpack there and back", "a matrix", "an arrow array that nobody takes",
        "arrow there and back", "an error"]
TEN_THOUSAND = [(which, where) for where in support.DEVICES
                for which in WAYS + [name for name, lib in support.LIBRARIES.items() if lib.here(where) and name != "jax"]]


@pytest.mark.parametrize("which, where", TEN_THOUSAND)
def test_ten_thousand_leak_nothing(where, which):
    once, rounds = hand_overs(where)[which], HANDOVERS if which != "an error" else HANDOVERS // 10
    before = gpuframe.device_memory(where)
    for _ in range(rounds // 10):
        once()
    # A leak grows in each series: by 16 bytes a hand-over, the smallest object of the C heap, it
    # is above the limit from 1,000 on. A cache that fills grows in some.
    for _ in range(8):
        first = held()
        for _ in range(rounds):
            once()
        grown = held() - first
        if grown < 4 * rounds + COME_AND_GO:
            break
    after = gpuframe.device_memory(where)
    assert (after.in_use, after.blocks, after.external, after.external_blocks) == (before.in_use, before.blocks, before.external, before.external_blocks)
    assert grown < 4 * rounds + COME_AND_GO, f"{grown:,} bytes more after {rounds:,} hand-overs"


def test_exit_with_everything_alive(tmp_path):
    run(tmp_path, """
        import gpuframe, sys
        tables = [gpuframe.Table.from_columns({"x": range(100)}) for _ in range(10)]
        capsules = [each["x"].__dlpack__(max_version=(1, 0)) for each in tables]
        arrays = [each.__arrow_c_device_array__() for each in tables]
        cycle = []; cycle.append((cycle, tables, capsules))
        sys.modules["keeps them alive"] = cycle
        budget = gpuframe.budget("1 MB").__enter__()
        print("alive")
    """, "alive")


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_exit_with_tensors_alive(tmp_path, name):
    pytest.importorskip(name)
    run(tmp_path, f"""
        import gpuframe, sys, {name}, threading
        c = gpuframe.Table.from_columns({{"x": range(100)}}, device="host")["x"]
        sys.modules["keeps it alive"] = {name}.from_dlpack(c)
        held = gpuframe.Table.from_columns({{"x": {name}.ones(5)}}, device="host")
        sys.modules["and this"] = held
        print("alive")
    """, "alive")


def test_fork(tmp_path):
    run(tmp_path, """
        import gpuframe, gc, os, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork itself, from Python 3.12 on
        table = gpuframe.Table.from_columns({"x": range(100)}, device="host")
        c, capsule = table["x"], table["x"].__dlpack__()
        child = os.fork()
        if child == 0:
            said = []
            for call in (lambda: table.slice(0, 1), lambda: gpuframe.device_memory(), lambda: c.__dlpack__(), lambda: table.__dlpack__(),
                         lambda: gpuframe.Column.from_dlpack(c)):
                try:
                    call()
                except Exception as error:
                    said.append("forked" in str(error))
            del table, c, capsule
            gc.collect()
            os._exit(0 if said == [True] * 5 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert c.tolist()[:2] == [0, 1]
        print("fine")
    """, "fine")


def run(folder, program, says):
    import subprocess
    import sys
    import textwrap

    script = folder / "program.py"
    script.write_text(textwrap.dedent(program))
    path = os.path.dirname(os.path.dirname(gpuframe.__file__))
    environment = {**os.environ, "PYTHONPATH": path, "GPUFRAME_LIBRARY": library.path}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=support.LIMIT)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, says, ""), done
