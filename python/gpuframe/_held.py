"""The common part of tables and columns: memory that a handle of the library holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from .errors import ReleasedError, WrongTypeError

_Self = TypeVar("_Self", bound="Held")

if TYPE_CHECKING:
    from ._native import Handle as _Base
else:
    _Base = object


class Held(_Base):
    """Releases memory on request, and cannot be pickled.

    A mixin for types of the library that have the handle.
    """

    __slots__ = ()

    #: The method that returns the values as Python objects, for messages.
    _listed = "tolist()"

    def release(self) -> None:
        """Release the memory now. Memory that columns or other libraries hold stays valid."""
        self._release()

    @property
    def released(self) -> bool:
        """Whether :meth:`release` was called."""
        return self._handle() == 0

    def _check(self) -> None:
        if self._handle() == 0:
            raise ReleasedError(f"the {type(self).__name__.lower()} was released")

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()

    def _compared(self, other: object) -> NoReturn:
        kind = type(self).__name__.lower()
        raise WrongTypeError(f'the values of a {kind} are not compared by operators: use expressions, as in '
                             f'table.filter(gpuframe.col("x") == 1), or compare lists of {kind}.{self._listed}')

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    def __getstate__(self) -> NoReturn:
        kind = type(self).__name__.lower()
        raise TypeError(f"a {kind} is memory of this process and cannot be pickled: pickle its to_pyarrow(), or share it by gpuframe.serve()")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.__getstate__()
