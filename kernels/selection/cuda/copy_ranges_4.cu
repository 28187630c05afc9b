#include "copy_ranges.cuh"

COPY_RANGES(4, i32)
