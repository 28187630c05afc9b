#include "ranges.cuh"

TAKE_RANGES(4, i32)
