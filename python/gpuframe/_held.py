"""What tables and columns have in common: memory that a handle of the library holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .errors import ReleasedError

_Self = TypeVar("_Self", bound="Held")

if TYPE_CHECKING:
    from ._native import Handle as _Base
else:
    _Base = object


class Held(_Base):
    """Gives memory back at a chosen moment, and cannot be pickled.

    To mix in with a type of the library, which has the handle.
    """

    __slots__ = ()

    def release(self) -> None:
        """Give the memory back now. What others hold of it, columns and other libraries, lives on."""
        self._release()

    @property
    def released(self) -> bool:
        """Whether the memory was given back by :meth:`release`."""
        return self._handle() == 0

    def _check(self) -> None:
        if self._handle() == 0:
            raise ReleasedError(f"the {type(self).__name__.lower()} was released")

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()

    def __getstate__(self) -> NoReturn:
        kind = type(self).__name__.lower()
        raise TypeError(f"a {kind} is memory of this process and cannot be pickled: send it by to_pyarrow(), or gpuframe.serve()")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.__getstate__()
