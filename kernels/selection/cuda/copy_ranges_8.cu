#include "copy_ranges.cuh"

COPY_RANGES(8, i64)
