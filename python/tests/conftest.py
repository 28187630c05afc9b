"""Common parts of all tests: the devices, the check that no memory is held at the end, and the support table.

GPUFRAME_REQUIRE_CUDA=1 makes a missing GPU or library a failure. GPUFRAME_SUPPORT_TABLE names the
file for the support table.
"""

import gc
import os

import pytest

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or jax takes the GPU's memory

import gpuframe  # noqa: E402
import support  # noqa: E402

REQUIRED = os.environ.get("GPUFRAME_REQUIRE_CUDA", "") not in ("", "0")


def pytest_sessionstart(session):
    if REQUIRED:
        if "cuda:0" not in gpuframe.devices():
            pytest.exit("GPUFRAME_REQUIRE_CUDA is set, and there is no GPU", 1)
        missing = [name for name in ("torch", "cupy", "jax", "numba") if not support.installed(name)]
        if missing:
            pytest.exit(f"GPUFRAME_REQUIRE_CUDA is set, and {', '.join(missing)} cannot be imported", 1)
    for name in support.LIBRARIES:
        support.installed(name)
    gc.collect()
    gc.freeze()  # what is there now need not be looked at after every test


def pytest_generate_tests(metafunc):
    given = [each for mark in metafunc.definition.iter_markers("parametrize") for each in mark.args[0].replace(" ", "").split(",")]
    if "where" in metafunc.fixturenames and "where" not in given:
        metafunc.parametrize("where", support.DEVICES)


@pytest.fixture
def gpu():
    """The name of the first GPU that runs kernels; skips without one, or if torch is installed and finds none."""
    if not support.KERNELS.get("cuda:0") or support.installed("torch") and not support.LIBRARIES["torch"].finds_gpu("cuda:0"):
        pytest.skip("there is no GPU")
    return "cuda:0"


@pytest.fixture
def two():
    """The names of two GPUs, also of the fake driver; skips if there are fewer."""
    if "cuda:1" not in support.DEVICES:
        pytest.skip("there is one GPU at most")
    return "cuda:0", "cuda:1"


FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    made = yield
    if made.get_result().failed:
        item.stash[FAILED] = True


@pytest.fixture(autouse=True)
def nothing_held(request):
    """Check that all memory of a test is released at its end. A failed test's variables live until its report is made."""
    before = figures()
    yield
    if FAILED in request.node.stash:
        return
    support.settle(lambda: at_most(figures(), before))


def at_most(now, before):
    """Whether no number is above its earlier value. It may be below, if a failed test has released memory since."""
    return all(a <= b for name in now for a, b in zip(now[name], before[name]))


def figures():
    """Return the memory in use of each device; all zero unless an earlier test has failed."""
    all_of = {name: gpuframe.device_memory(name) for name in support.DEVICES}
    return {name: (m.in_use, m.blocks, m.external, m.external_blocks, m.leaks, m.double_releases) for name, m in all_of.items()}


@pytest.fixture(autouse=True, scope="session")
def all_zero():
    """Check that no memory is held at the end of the session."""
    yield
    support.settle(lambda: all(each == (0,) * 6 for each in figures().values()))


def pytest_sessionfinish(session, exitstatus):
    path = os.environ.get("GPUFRAME_SUPPORT_TABLE")
    if path:
        with open(path, "w") as file:
            file.write(support.table())
    gc.collect()
