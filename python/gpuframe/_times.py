"""Stored dates and times as objects of Python's module datetime."""

from __future__ import annotations

import datetime
import re
from typing import Any, Callable

_EPOCH = datetime.datetime(1970, 1, 1)
_DAY_ONE = _EPOCH.date().toordinal()
_DAY = 24 * 60 * 60

#: Units of a second, by the letters of Arrow's formats.
_UNITS = {"s": 1, "m": 1_000, "u": 1_000_000, "n": 1_000_000_000}


class Unfit(Exception):
    """A value that Python's type cannot hold."""


def converter(form: str) -> tuple[Callable[[int], Any], str]:
    """Return the function that converts stored integers, and their letter in module struct, for an Arrow format."""
    if form == "tdD":
        return _date, "i"
    if form == "tdm":
        return lambda stored: _date(stored // (_DAY * 1_000)), "q"
    unit = _UNITS[form[2]]
    if form[1] == "t":
        return lambda stored: _clock(_microseconds(stored, unit)), "i" if unit <= 1_000 else "q"
    if form[1] == "D":
        return lambda stored: _span(_microseconds(stored, unit)), "q"
    zone = _zone(form[4:])
    if zone is None:
        return lambda stored: _moment(_microseconds(stored, unit)), "q"
    return lambda stored: _local(_moment(_microseconds(stored, unit)), zone), "q"


def _microseconds(stored: int, unit: int) -> int:
    if unit <= 1_000_000:
        return stored * (1_000_000 // unit)
    microseconds, rest = divmod(stored, 1_000)
    if rest:
        raise Unfit(f"a time ends in {rest} nanoseconds, and Python's times have microseconds")
    return microseconds


def _date(days: int) -> datetime.date:
    try:
        return datetime.date.fromordinal(_DAY_ONE + days)
    except (ValueError, OverflowError):
        raise Unfit(f"day {days} after 1970 is beyond the years 1 to 9999 of Python's dates") from None


def _clock(microseconds: int) -> datetime.time:
    if not 0 <= microseconds < _DAY * 1_000_000:
        raise Unfit(f"a time of {microseconds} microseconds is beyond its day")
    return (_EPOCH + datetime.timedelta(microseconds=microseconds)).time()


def _span(microseconds: int) -> datetime.timedelta:
    try:
        return datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        raise Unfit(f"{microseconds} microseconds are too many for Python's timedelta") from None


def _moment(microseconds: int) -> datetime.datetime:
    try:
        return _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        raise Unfit(f"{microseconds} microseconds after 1970 are beyond the years 1 to 9999 of Python's datetimes") from None


def _local(moment: datetime.datetime, zone: datetime.tzinfo) -> datetime.datetime:
    try:
        return moment.replace(tzinfo=datetime.timezone.utc).astimezone(zone)
    except OverflowError:
        raise Unfit(f"{moment} in {zone} is beyond the years 1 to 9999 of Python's datetimes") from None


def _zone(name: str) -> Any:
    """Return the time zone with a name, None without one."""
    if not name:
        return None
    if name.upper() in ("UTC", "Z", "ETC/UTC"):
        return datetime.timezone.utc
    offset = re.fullmatch(r"([+-])(\d\d):?(\d\d)", name)
    if offset:
        minutes = int(offset[2]) * 60 + int(offset[3])
        return datetime.timezone(datetime.timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    import zoneinfo

    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        raise Unfit(f"Python has no time zone {name!r} (the package tzdata has them)") from None
