"""Arrow's C interfaces in Python's capsule protocol.

The library allocates and frees the structs of its capsules; a consumer moves their contents. The
structs of a producer stay in its capsule; the library moves their contents out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from . import _tensors
from ._library import library, native
from .devices import Place, Target
from .errors import WrongTypeError

if TYPE_CHECKING:
    from .column import Column
    from .table import Table

#: The library's numbers for the structs.
SCHEMA, ARRAY, STREAM, DEVICE_ARRAY, DEVICE_STREAM = range(5)

#: The methods by which objects offer Arrow data, the best one first.
METHODS = ("__arrow_c_device_array__", "__arrow_c_device_stream__", "__arrow_c_array__", "__arrow_c_stream__")


def _unknown(arguments: dict[str, Any]) -> None:
    """Refuse arguments that a later version of the protocol may add, as the protocol requires."""
    for name, value in arguments.items():
        if value is not None:
            raise NotImplementedError(f"unknown argument {name}={value!r}")


def schema_capsule(of: Any) -> Any:
    """Return the schema of a table or column."""
    capsule, address = native.new_struct(SCHEMA)
    library.arrow_schema(of._handle(), address)
    return capsule


def array_capsules(of: Any) -> tuple[Any, Any]:
    """Return a table or column in the host's memory."""
    schema, schema_address = native.new_struct(SCHEMA)
    array, array_address = native.new_struct(ARRAY)
    library.arrow_export(of._handle(), array_address, schema_address)
    return schema, array


def device_array_capsules(of: Any, arguments: dict[str, Any]) -> tuple[Any, Any]:
    """Return a table or column in place."""
    _unknown(arguments)
    schema, schema_address = native.new_struct(SCHEMA)
    array, array_address = native.new_struct(DEVICE_ARRAY)
    library.arrow_export_device(of._handle(), array_address, schema_address)
    return schema, array


def stream_capsule(of: Table) -> Any:
    """Return a stream of a table in the host's memory."""
    capsule, address = native.new_struct(STREAM)
    library.arrow_export_stream(of._handle(), 0, address)
    return capsule


def device_stream_capsule(of: Table, arguments: dict[str, Any]) -> Any:
    """Return a stream of a table in place."""
    _unknown(arguments)
    capsule, address = native.new_struct(DEVICE_STREAM)
    library.arrow_export_stream(of._handle(), 1, address)
    return capsule


class OnHost:
    """A table or column in the host's memory, for libraries without the device interface."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return array_capsules(self._of)


def order(column: Column) -> None:
    """Order the column before work on the legacy default stream; on the host, wait until it is complete."""
    column.__dlpack__(max_version=(1, 0))


def speaks(obj: Any) -> bool:
    """Whether an object offers Arrow data."""
    return any(hasattr(obj, method) for method in METHODS)


def _arrays(obj: Any) -> Optional[tuple[Any, Any, int]]:
    """Return a producer's capsules of an array, and whether they use the device interface."""
    if hasattr(obj, "__arrow_c_device_array__"):
        try:
            schema, array = obj.__arrow_c_device_array__()
            return schema, array, 1
        except NotImplementedError:  # a producer that has the interface for some devices only
            pass
    if hasattr(obj, "__arrow_c_array__"):
        schema, array = obj.__arrow_c_array__()
        return schema, array, 0
    return None


def _stream(obj: Any) -> Optional[tuple[Any, int, int]]:
    """Return a producer's capsule of a stream, its kind, and whether it uses the device interface."""
    if hasattr(obj, "__arrow_c_device_stream__"):
        try:
            return obj.__arrow_c_device_stream__(), DEVICE_STREAM, 1
        except NotImplementedError:
            pass
    if hasattr(obj, "__arrow_c_stream__"):
        return obj.__arrow_c_stream__(), STREAM, 0
    return None


def _refuse(obj: Any) -> WrongTypeError:
    return WrongTypeError(f"a {type(obj).__name__} has no Arrow interface: expected one of {', '.join(METHODS)}")


def table_of(cls: Any, obj: Any, device: Place, stream: Optional[int]) -> Table:
    """Make a table of an object that offers Arrow data."""
    number = _tensors.stream_number(stream)
    target = Target.of(device)
    arrays = None if hasattr(obj, "__arrow_c_device_stream__") else _arrays(obj)
    streamed = None if arrays is not None else _stream(obj)
    if arrays is not None:
        schema, array, on_device = arrays
        made = library.make(library.arrow_import, *target.arguments, _struct(array, DEVICE_ARRAY if on_device else ARRAY),
                            _struct(schema, SCHEMA), on_device)
    elif streamed is not None:
        capsule, kind, on_device = streamed
        made = library.make(library.arrow_import_stream, *target.arguments, _struct(capsule, kind), on_device)
    else:
        raise _refuse(obj)
    table: Table = cls._wrap(made, target.kept)
    _make_ready(table, number)
    return table


def column_of(cls: Any, obj: Any, name: Optional[str], target: Target, stream: Optional[int] = None) -> Column:
    """Make a column of an object that offers Arrow data."""
    number = _tensors.stream_number(stream)
    called = None if name is None else name.encode()
    arrays = _arrays(obj)
    streamed = None if arrays is not None else _stream(obj)
    if arrays is not None:
        schema, array, on_device = arrays
        made = library.make(library.arrow_import_column, *target.arguments, _struct(array, DEVICE_ARRAY if on_device else ARRAY),
                            _struct(schema, SCHEMA), on_device, called)
    elif streamed is not None:
        capsule, kind, on_device = streamed
        made = library.make(library.arrow_import_column_stream, *target.arguments, _struct(capsule, kind), on_device, called)
    else:
        raise _refuse(obj)
    column: Column = cls._wrap(made, target.kept)
    _make_ready(column, number)
    return column


def _make_ready(made: Any, stream: Optional[int]) -> None:
    """Make a consumer's stream wait until the data is complete."""
    if stream is not None:
        library.order(made._handle(), stream)


def _struct(capsule: Any, kind: int) -> int:
    address, found = native.struct_of(capsule)
    if found != kind:
        raise WrongTypeError("the producer returned a capsule with the wrong struct for its method")
    return address
