// Takes strings and lists.
#include "copy_ranges.cuh"
#include "copy_rows.cuh"
#include "expand_ranges.cuh"
#include "take_ranges.cuh"

TAKE_RANGES(4, i32)
TAKE_RANGES(8, i64)

COPY_RANGES(4, i32)
COPY_RANGES(8, i64)

COPY_ROWS(4, i32)
COPY_ROWS(8, i64)

EXPAND(4, i32)
EXPAND(8, i64)
