#include "ranges.cuh"

TAKE_RANGES(8, i64)
