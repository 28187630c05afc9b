#include "fill.cuh"

FILL(fill_64, u64)
