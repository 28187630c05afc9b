"""Devices, their memory in use, and budgets."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import os
import re
from dataclasses import dataclass
from types import TracebackType
from typing import Iterator, NoReturn, Optional, Union

from ._library import library
from ._native import Handle
from .errors import ArgumentError, WrongTypeError

_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", 1):
    _UNITS[_letter] = _UNITS[_letter + "b"] = 1000**_power
    _UNITS[_letter + "ib"] = 1024**_power


def bytes_of(size: Union[int, str]) -> int:
    """Return a size in bytes, which may be written as "512 MiB" or, in powers of 1000, as "2 GB".

    Fractions need a unit: 1.5 could mean bytes, gigabytes or a share of the device.

    >>> bytes_of("2 GB"), bytes_of("1.5 KiB"), bytes_of(7)
    (2000000000, 1536, 7)
    """
    if isinstance(size, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*", size)
        if match is None or match[2].lower() not in _UNITS:
            raise ArgumentError(f'{size!r} is not a size such as "2 GiB"')
        return int(float(match[1]) * _UNITS[match[2].lower()])
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise WrongTypeError(f'size={size!r}: pass a whole number of bytes, or text such as "1.5 GiB"')
    if size < 0:
        raise ArgumentError(f"size={size}: expected a size of at least zero")
    return int(size)


def text_of(size: int) -> str:
    """Return a size as readable text.

    >>> text_of(0), text_of(1999), text_of(3 << 29)
    ('0 B', '2.0 KiB', '1.5 GiB')
    """
    if size < 1024:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        value /= 1024
        if value < 1023.95:
            break
    return f"{value:.1f} {unit}"


@dataclass(frozen=True)
class MemoryInfo:
    """The memory in use of a device, or of a budget, at one moment. Sizes are bytes."""

    device: str
    name: str
    in_use: int
    budget: int
    remaining: int
    peak: int
    allocations: int
    frees: int
    failures: int
    blocks: int
    external: int
    """Memory that other libraries own and that is used without a copy."""
    external_blocks: int
    leaks: int
    double_releases: int
    free: int
    """What no process uses of the device."""
    total: int

    def __repr__(self) -> str:
        parts = [f"{self.device}: {text_of(self.in_use)} of {text_of(self.budget)} in use in {self.blocks:,} blocks",
                 f"peak {text_of(self.peak)}"]
        if self.external_blocks:
            parts.append(f"{text_of(self.external)} external in {self.external_blocks:,} blocks")
        if self.failures:
            parts.append(f"{self.failures:,} failed requests")
        parts.append(f"{text_of(self.free)} of {text_of(self.total)} free on the device")
        return "<" + ", ".join(parts) + ">"


class Manager(Handle):
    """A source of memory: a whole device or a budget of it."""

    __slots__ = ("name", "dlpack_device", "description", "stream", "_parent", "__weakref__")

    name: str
    dlpack_device: tuple[int, int]
    description: str
    stream: int
    _parent: Optional[Manager]

    def memory(self) -> MemoryInfo:
        """Return the memory in use now."""
        return MemoryInfo(**library.answer(library.stats, self._handle()))

    def set_budget(self, size: Union[int, str]) -> None:
        """Set the limit of the bytes in use; allocations beyond it raise BudgetError."""
        library.set_budget(self._handle(), bytes_of(size))

    def reset_peak(self) -> None:
        """Set the peak to the bytes in use now."""
        library.reset_peak(self._handle())

    def __getstate__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} belongs to this process and cannot be pickled")


class Device(Manager):
    """An open device. :func:`device` returns it."""

    __slots__ = ()

    def __init__(self) -> None:
        raise TypeError("a Device cannot be constructed: call gpuframe.device(name)")

    @classmethod
    def _open(cls, name: str) -> Device:
        made = cls.__new__(cls)
        out = ctypes.c_uint64()
        answer = library.answer(lambda reply: library.open(name.encode(), ctypes.byref(out), reply))
        made._adopt(out.value)
        made.name, made.description, made.stream = answer["name"], answer["description"], answer["stream"]
        made.dlpack_device = (answer["type"], answer["id"])
        made._parent = None
        return made

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.dlpack_device[0] == 2

    def __repr__(self) -> str:
        return f"<gpuframe.Device {self.name}: {self.description}>"


_devices: dict[str, Device] = {}
_default: Optional[str] = os.environ.get("GPUFRAME_DEVICE")
_budgets: contextvars.ContextVar[tuple["Budget", ...]] = contextvars.ContextVar("gpuframe budgets", default=())


def device(name: str = "") -> Device:
    """Return a device by name: "cuda:0", "cuda:1", "host".

    Without a name it is the default device: the one of :func:`set_default_device` or of the
    variable GPUFRAME_DEVICE, otherwise the first GPU or, without a GPU, the host.

    >>> device("host").name
    'host'
    """
    if not name and _default:
        name = _default
    found = _devices.get(name)
    if found is None:
        found = Device._open(name)
        found = _devices.setdefault(found.name, found)
        _devices[name] = found
    return found


def set_default_device(name: str) -> Device:
    """Make a device the destination of all functions called without ``device=``."""
    global _default
    chosen = device(name)
    _default = chosen.name
    return chosen


def devices() -> list[str]:
    """Return the names of the devices that this process can use."""
    return [each["name"] for each in library.answer(library.devices)]


Place = Union[str, Manager, None]


def active_budgets() -> tuple[Budget, ...]:
    """Return the budgets of this thread or task, the innermost last."""
    return _budgets.get()


@contextlib.contextmanager
def within(budgets: tuple[Budget, ...]) -> Iterator[None]:
    """Make budgets those of this thread or task, in place of others."""
    token = _budgets.set(budgets)
    try:
        yield
    finally:
        _budgets.reset(token)


def place(where: Place) -> Manager:
    """Return the manager that an argument ``device=`` selects, or the innermost active budget of that device."""
    if isinstance(where, Budget):
        return where
    if not isinstance(where, (Device, str, type(None))):
        raise TypeError(f"device={where!r}: pass a name, a Device or a Budget")
    chosen: Optional[Manager] = None
    if isinstance(where, Device):
        chosen = where
    elif where:
        chosen = device(where)
    budgets = _budgets.get()
    for each in reversed(budgets):
        if chosen is None or each.name == chosen.name:
            return each
    return chosen if chosen is not None else device()


@dataclass(frozen=True)
class Target:
    """The destination of an import, in the form of the library's functions.

    ``arguments`` are the manager's handle, the handles of the active budgets, and their number,
    which is -1 if the caller named a device. Without a device, data on a GPU stays there.
    """

    manager: Manager
    budgets: tuple["Budget", ...]
    arguments: tuple[int, "ctypes.Array[ctypes.c_uint64]", int]

    @classmethod
    def of(cls, where: Place) -> Target:
        """Return the target that an argument ``device=`` selects."""
        manager = place(where)
        if where is not None:
            return cls(manager, (), (manager._handle(), (ctypes.c_uint64 * 0)(), -1))
        return cls.of_default(manager)

    @classmethod
    def of_default(cls, manager: Manager) -> Target:
        """Return a target that leaves GPU data in place and copies host data to the manager."""
        budgets = _budgets.get()
        handles = (ctypes.c_uint64 * len(budgets))(*[each._handle() for each in budgets])
        return cls(manager, budgets, (manager._handle(), handles, len(budgets)))

    @property
    def kept(self) -> tuple[Manager, ...]:
        """The managers that may own memory made here."""
        return (self.manager, *self.budgets)


def device_memory(device_: Place = None) -> MemoryInfo:
    """Return the memory in use of a device: in_use, budget, peak, external and more.

    >>> device_memory("host").in_use
    0
    """
    if isinstance(device_, Manager):
        return device_.memory()
    return device(device_ or "").memory()


def set_budget(size: Union[int, str], device_: Place = None) -> None:
    """Set the limit of a device's bytes that gpuframe has in use."""
    (device_ if isinstance(device_, Manager) else device(device_ or "")).set_budget(size)


class Budget(Manager):
    """A part of a device's memory that a block of code may use. See :func:`budget`."""

    __slots__ = ("_tokens",)

    _tokens: list["contextvars.Token[tuple[Budget, ...]]"]

    def __init__(self) -> None:
        raise TypeError("a Budget cannot be constructed: call gpuframe.budget(size)")

    def __enter__(self) -> Budget:
        self._tokens.append(_budgets.set(_budgets.get() + (self,)))
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        _budgets.reset(self._tokens.pop())

    @property
    def in_use(self) -> int:
        """The bytes in use now."""
        return self.memory().in_use

    @property
    def peak(self) -> int:
        """The largest number of bytes in use so far."""
        return self.memory().peak

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.memory().budget

    def __repr__(self) -> str:
        return f"<gpuframe.Budget {self.memory()!r}>"


def budget(size: Union[int, str], *, device: Place = None, name: str = "budget") -> Budget:
    """Limit the memory of a device that a block of code uses.

    Tables that this thread or task makes inside the block are allocated from the budget. If one
    does not fit, :class:`BudgetError`, a MemoryError, is raised. Tables made inside still count in
    the budget after the block has ended. Budgets nest. Functions of :func:`map_batches` are within the budgets of their
    query, unless one function is in several queries with different budgets at the same time.

    >>> with budget("2 MiB", device="host") as b:
    ...     b.size
    2097152
    """
    above = place(device)
    made = Budget.__new__(Budget)
    made._adopt(library.make(library.child, above._handle(), name.encode(), bytes_of(size)))
    made.name, made.description, made.stream = above.name, above.description, above.stream
    made.dlpack_device, made._parent, made._tokens = above.dlpack_device, above, []
    return made
