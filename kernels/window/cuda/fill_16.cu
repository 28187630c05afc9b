#include "fill.cuh"

FILL(fill_16, u16)
