"""The types that the library makes in C, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._library import native

if TYPE_CHECKING:

    class Handle:
        """An object of the library, with its handle."""

        __slots__ = ()

        def _adopt(self, handle: int) -> object: ...
        def _handle(self) -> int: ...
        def _release(self) -> None: ...

    class Tensor(Handle):
        """A handle with a DLPack interface."""

        __slots__ = ()

        def __dlpack__(self, *, stream: Optional[int] = None, max_version: Optional[tuple[int, int]] = None,
                       dl_device: Optional[tuple[int, int]] = None, copy: Optional[bool] = None) -> Any: ...
        def __dlpack_device__(self) -> tuple[int, int]: ...

    class Exchangeable(Tensor):
        """A tensor with a type that has DLPack's C exchange table."""

        __slots__ = ()

        __dlpack_c_exchange_api__: Any

        def to(self, tensor_type: Any, /) -> Any: ...

else:
    Handle, Tensor, Exchangeable = native.Handle, native.Tensor, native.Exchangeable
