"""Floats that Python and numpy lack: bfloat16, and those of eight bits."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Callable, Sequence

#: DLPack's code of bfloat16.
BFLOAT = 4


@dataclass(frozen=True)
class Format:
    """A float of eight bits: a sign, an exponent and a mantissa.

    ``special`` is the meaning of the largest exponent: "ieee" has infinities and NaNs there, "fn"
    one NaN and no infinities, "fnuz" neither; the NaN of "fnuz" has the bits of negative zero.
    """

    name: str
    exponent: int
    mantissa: int
    bias: int
    special: str

    def value(self, bits: int) -> float:
        """Return the value of eight bits."""
        sign = -1.0 if bits >> 7 and self.name != "float8_e8m0fnu" else 1.0
        if self.name == "float8_e8m0fnu":  # powers of two, without a sign
            return float("nan") if bits == 0xFF else 2.0 ** (bits - 127)
        exponent = bits >> self.mantissa & (1 << self.exponent) - 1
        fraction = bits & (1 << self.mantissa) - 1
        largest = exponent == (1 << self.exponent) - 1
        if self.special == "ieee" and largest:
            return float("nan") if fraction else sign * float("inf")
        if self.special == "fn" and largest and fraction == (1 << self.mantissa) - 1:
            return float("nan")
        if self.special == "fnuz" and bits == 0x80:
            return float("nan")
        if exponent == 0:
            return sign * fraction * 2.0 ** (1 - self.bias - self.mantissa)
        return sign * (1 + fraction / (1 << self.mantissa)) * 2.0 ** (exponent - self.bias)


#: The formats by DLPack's codes.
FORMATS = {
    7: Format("float8_e3m4", 3, 4, 3, "ieee"),
    8: Format("float8_e4m3", 4, 3, 7, "ieee"),
    9: Format("float8_e4m3b11fnuz", 4, 3, 11, "fnuz"),
    10: Format("float8_e4m3fn", 4, 3, 7, "fn"),
    11: Format("float8_e4m3fnuz", 4, 3, 8, "fnuz"),
    12: Format("float8_e5m2", 5, 2, 15, "ieee"),
    13: Format("float8_e5m2fnuz", 5, 2, 16, "fnuz"),
    14: Format("float8_e8m0fnu", 8, 0, 127, "fn"),
}


def name_of(code: int) -> str:
    """Return ml_dtypes' name for the type of a DLPack code."""
    return "bfloat16" if code == BFLOAT else FORMATS[code].name


def table_of(code: int) -> list[float]:
    """Return the value of each of the 256 bit patterns of a float of eight bits."""
    return [FORMATS[code].value(bits) for bits in range(256)]


def decoder(code: int) -> Callable[[Sequence[int]], list[float]]:
    """Return the function that converts stored integers to floats."""
    if code == BFLOAT:
        return lambda stored: list(struct.unpack(f"<{len(stored)}f", struct.pack(f"<{len(stored)}I", *(each << 16 for each in stored))))
    values = table_of(code)
    return lambda stored: [values[each] for each in stored]
