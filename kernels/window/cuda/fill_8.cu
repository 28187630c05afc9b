#include "fill.cuh"

FILL(fill_8, u8)
