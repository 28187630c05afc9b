#include "fill.cuh"

FILL(fill_32, u32)
