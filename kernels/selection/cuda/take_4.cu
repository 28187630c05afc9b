#include "take.cuh"

TAKE(4, u32, 8)
