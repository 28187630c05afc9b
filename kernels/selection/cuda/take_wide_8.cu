#include "take_wide.cuh"

TAKE_WIDE(8, u64)
