"""Python values as literals of a query document."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
from typing import Any, Iterable

from .errors import ArgumentError, WrongTypeError

Node = dict[str, Any]

_EPOCH = datetime.date(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def _typed(kind: str, value: Any) -> Node:
    return {"function": "literal", "type": kind, "value": value}


def literal(value: Any) -> Node:
    """Return the document of a literal."""
    if value is None or isinstance(value, (bool, str)):
        return {"function": "literal", "value": value}
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ArgumentError(f"the integer {value} has more than 64 bits: use a decimal.Decimal")
        return {"function": "literal", "value": int(value)}
    if isinstance(value, float):
        number: Any = float(value)
        if math.isnan(number):
            number = "NaN"
        elif math.isinf(number):
            number = "Infinity" if number > 0 else "-Infinity"
        return _typed("float", number)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _typed("binary", base64.b64encode(bytes(value)).decode())
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    return _temporal(value)


def holidays_member(days: Iterable[datetime.date]) -> dict[str, Any]:
    """Return the member of a document for days that are no business days."""
    days = list(days)
    for day in days:
        if not isinstance(day, datetime.date):
            raise WrongTypeError(f"holidays={days!r}: expected dates, such as datetime.date(2026, 12, 25)")
    return {"holidays": [datetime.date(day.year, day.month, day.day).isoformat() for day in days]} if days else {}


def _decimal(value: decimal.Decimal) -> Node:
    if not value.is_finite():
        raise ArgumentError(f"{value!r} has no decimal type")
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale, 1)
    if precision > 38:
        raise ArgumentError(f"{value!r} has more than 38 digits")
    return _typed(f"decimal128({precision}, {scale})", f"{value:f}")


def _temporal(value: Any) -> Node:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return _typed("timestamp", value.isoformat() + "Z")
    if isinstance(value, datetime.date):
        return _typed("date32", (value - _EPOCH).days)
    if isinstance(value, datetime.time):
        if value.tzinfo is not None:
            raise ArgumentError(f"{value!r}: times of the day have no time zone")
        return _typed("time64[us]", ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond)
    if isinstance(value, datetime.timedelta):
        nanoseconds = value // _MICROSECOND * 1000
        if not -(2**63) <= nanoseconds < 2**63:
            raise ArgumentError(f"{value!r} does not fit nanoseconds of 64 bits")
        return _typed("duration", nanoseconds)
    return _of_numpy(value)


def _of_numpy(value: Any) -> Node:
    """Return a literal of a numpy scalar."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind in ("M", "m") and getattr(value, "shape", None) == ():
        units = int(value.astype("datetime64[ns]" if kind == "M" else "timedelta64[ns]").astype("int64"))
        if units == -(2**63):  # not a time
            return literal(None)
        return _typed("timestamp[ns]", units) if kind == "M" else _typed("duration", units)
    if kind in ("b", "i", "u", "f", "U", "S") and getattr(value, "shape", None) == ():
        return literal(value.item())
    raise WrongTypeError(f"a {type(value).__name__} is no literal: expected None, a bool, a number, str, bytes, Decimal, date, time, datetime or timedelta")
