#include "take_wide.cuh"

TAKE_WIDE(1, u8)
