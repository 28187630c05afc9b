#include "take_wide.cuh"

TAKE_WIDE(4, u32)
