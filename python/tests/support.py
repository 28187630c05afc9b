"""The libraries that columns are exchanged with, and the support table."""

import gc
import importlib
import os
import sys

import gpuframe

DEVICES = gpuframe.devices()

#: Seconds after which a test that hangs is ended. No test may depend on the speed of the machine.
LIMIT = 300

#: Drivers that only act as one run no kernels.
KERNELS = {name: "Fake" not in gpuframe.device(name).description for name in DEVICES}


def number(where):
    """Return the ordinal of a GPU."""
    return int(where[5:])


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
TYPES = INTEGERS + FLOATS + ["bool"]


def installed(name):
    try:
        importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a broken installation may raise any exception
        return False
    return True


def version(name):
    """Return (major, minor) of a library."""
    return tuple(int("".join(filter(str.isdigit, part))) for part in importlib.import_module(name).__version__.split(".")[:2])


def before(name, *wanted):
    """Whether a library is here and older than a version."""
    return installed(name) and version(name) < wanted


def settle(done=lambda: True, seconds=LIMIT):
    """Release objects that only the collector, a stream or a library's thread still holds.

    Libraries such as jax release memory on other threads: done is called until it returns true. After
    the time limit the test fails.
    """
    import time

    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        sys.__dict__.pop(name, None)  # a failed test's variables
    gc.collect()
    if "cuda:0" in DEVICES and "torch" in sys.modules:
        import torch

        if torch.cuda.is_available():
            torch.cuda.synchronize()
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s objects are still held: {[gpuframe.device_memory(name) for name in DEVICES]}")
        if "jax" in sys.modules:
            sys.modules["jax"].effects_barrier()
        gc.collect()
        os.sched_yield()


def sample(dtype, length=13):
    """Values that differ from their neighbours and fit the type."""
    if dtype == "bool":
        return [i % 3 == 1 for i in range(length)]
    if dtype.startswith("float"):
        return [i * 0.5 - 2 for i in range(length)]
    if dtype.startswith("u"):
        return [i * 7 % 250 for i in range(length)]
    return [i * 7 % 120 - 60 for i in range(length)]


def column(dtype, where, values=None, nulls=False):
    """Make a column of gpuframe's memory without other libraries."""
    import producer

    values = sample(dtype) if values is None else values
    array = producer.Array.of(dtype, [None if nulls and i % 4 == 2 else each for i, each in enumerate(values)])
    return gpuframe.Column.from_arrow(array, device="host").to_device(where)


def flags(capsule):
    """Return the flags of a versioned capsule."""
    import ctypes

    import producer

    return ctypes.c_uint64.from_address(producer._api.PyCapsule_GetPointer(capsule, b"dltensor_versioned") + 24).value


def shapes(c):
    """The views of a column for every exchange test."""
    return {"whole": (c, slice(None)), "sliced": (c[3:11], slice(3, 11)), "empty": (c[5:5], slice(5, 5))}


SHAPES = ["whole", "sliced", "empty"]


class Library:
    """One library: the types that it accepts and makes, and the way to read its arrays."""

    name = ""
    hosts = True  # takes memory of the host
    gpus = True  # takes memory of a GPU
    #: Whether it speaks DLPack.
    protocol = True
    #: Types that it does not take, or give, in the version that is here.
    lacks_in = lacks_out = frozenset()

    def reaches(self, where):
        """Whether it uses memory of the device at all."""
        return self.hosts if where == "host" else self.gpus

    def here(self, where):
        """Whether it is installed and finds the device. It does not find the fake driver's."""
        return installed(self.name) and self.reaches(where) and (where == "host" or KERNELS[where] and self.finds_gpu(where))

    def may_copy(self, where, address):
        """Whether it copies data at this address, although not because of its type."""
        return False

    def finds_gpu(self, where):
        return True

    def refusals(self):
        return (TypeError, ValueError, BufferError, RuntimeError, NotImplementedError, AttributeError, KeyError)


class Numpy(Library):
    name = "numpy"
    gpus = False
    lacks_in = frozenset(["bool"] if before("numpy", 1, 25) else [])

    def take(self, c):
        return __import__("numpy").from_dlpack(c)

    def make(self, dtype, values, where):
        return __import__("numpy").array(values, dtype=dtype)

    def address(self, tensor):
        return tensor.ctypes.data

    def values(self, tensor):
        return tensor.tolist()


class Torch(Library):
    name = "torch"
    lacks_in = lacks_out = frozenset(["bool", "uint16", "uint32", "uint64"] if before("torch", 2, 3) else [])

    def finds_gpu(self, where):
        torch = __import__("torch")
        return torch.cuda.is_available() and number(where) < torch.cuda.device_count()

    def take(self, c):
        return __import__("torch").from_dlpack(c)

    def make(self, dtype, values, where):
        import torch

        return torch.tensor(values, dtype=getattr(torch, dtype), device="cpu" if where == "host" else where)

    def address(self, tensor):
        return tensor.data_ptr()

    def values(self, tensor):
        return tensor.cpu().tolist()


class Cupy(Library):
    name = "cupy"
    hosts = False

    def take(self, c):
        cupy = __import__("cupy")
        with cupy.cuda.Device(c.__dlpack_device__()[1]):
            return cupy.from_dlpack(c)

    def finds_gpu(self, where):
        return number(where) < __import__("cupy").cuda.runtime.getDeviceCount()

    def make(self, dtype, values, where):
        cupy = __import__("cupy")
        with cupy.cuda.Device(number(where)):
            return cupy.array(values, dtype=dtype)

    def address(self, tensor):
        return tensor.data.ptr

    def values(self, tensor):
        return tensor.get().tolist()


class Jax(Library):
    name = "jax"
    lacks_in = lacks_out = frozenset(["bool", "float16"] if before("jax", 0, 5) else [])

    def may_copy(self, where, address):
        return where == "host" and address % 64 != 0  # what its processor code wants

    def take(self, c):
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.dlpack.from_dlpack(c)

    def make(self, dtype, values, where):
        import jax

        jax.config.update("jax_enable_x64", True)
        kind = "cpu" if where == "host" else "gpu"
        chosen = jax.devices(kind)[0 if where == "host" else number(where)]
        return jax.device_put(__import__("numpy").array(values, dtype=dtype), chosen).block_until_ready()

    def finds_gpu(self, where):
        try:
            return number(where) < len(__import__("jax").devices("gpu"))
        except RuntimeError:  # a jax for processors only
            return False

    def address(self, tensor):
        return tensor.unsafe_buffer_pointer()

    def values(self, tensor):
        return __import__("numpy").asarray(tensor).tolist()


class Numba(Library):
    """numba-cuda, by the CUDA array interface."""

    name = "numba"
    hosts = False
    protocol = False
    lacks_in = frozenset(["bool"])  # the interface has no bits

    def finds_gpu(self, where):
        from numba import cuda

        return cuda.is_available() and number(where) < len(cuda.gpus)

    def take(self, c):
        from numba import cuda

        with cuda.gpus[c.__dlpack_device__()[1]]:
            return cuda.as_cuda_array(c)

    def make(self, dtype, values, where):
        from numba import cuda

        with cuda.gpus[number(where)]:
            return cuda.to_device(__import__("numpy").array(values, dtype=dtype))

    def address(self, tensor):
        return tensor.__cuda_array_interface__["data"][0]

    def values(self, tensor):
        return tensor.copy_to_host().tolist()


LIBRARIES = {each.name: each for each in (Numpy(), Torch(), Cupy(), Jax(), Numba())}

_outcomes = {}


def note(library, direction, dtype, outcome):
    """Record the result of an exchange for the support table."""
    seen = _outcomes.setdefault((library, direction), {}).setdefault(dtype, set())
    seen.add(outcome)


def table():
    """Return the support table as Markdown."""
    if not _outcomes:
        return "No library was tested.\n"
    lines = ["| library | direction | zero copy | copy | refused | remarks |", "| --- | --- | --- | --- | --- | --- |"]
    for (library, direction), outcomes in sorted(_outcomes.items()):
        version = getattr(__import__("sys").modules.get(library), "__version__", "")
        cells = {"zero copy": [], "copy": [], "refused": []}
        remarks = {}
        for dtype in sorted(outcomes, key=_order):
            for outcome in outcomes[dtype]:
                plain = "copy" if outcome.startswith("copied") else outcome
                if plain in cells:
                    cells[plain].append(dtype)
                elif outcome != "refuses none":
                    remarks.setdefault(outcome, []).append(dtype)
        said = "; ".join(f"{_join(types)}: {outcome}" for outcome, types in sorted(remarks.items()))
        lines.append(f"| {library} {version} | {direction} | " + " | ".join(_join(each) for each in cells.values()) + f" | {said} |")
    return "\n".join(lines) + "\n"


def _order(dtype):
    return (TYPES.index(dtype), "") if dtype in TYPES else (len(TYPES), dtype)


def _join(types):
    """Join the names of types, with families by one name."""
    text = ", ".join(types)
    for family, members in (("numbers", INTEGERS + FLOATS), ("integers", INTEGERS), ("floats", FLOATS)):
        text = text.replace(", ".join(members), family)
    return text.replace("|", "\\|")


def run_alone(folder, program, says, seconds=LIMIT):
    """Run a program in a separate process, which must print the expected output and end normally. A crash is a failed test."""
    import subprocess
    import textwrap

    from gpuframe._library import library

    script = folder / "program.py"
    script.write_text(textwrap.dedent(program))
    path = os.pathsep.join([os.path.dirname(os.path.dirname(gpuframe.__file__)), os.path.dirname(__file__)])
    environment = {**os.environ, "PYTHONPATH": path, "GPUFRAME_LIBRARY": library.path, "PYTHONFAULTHANDLER": "1"}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, timeout=seconds)
    assert (done.returncode, done.stdout.strip()) == (0, says), f"{done.returncode}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done
