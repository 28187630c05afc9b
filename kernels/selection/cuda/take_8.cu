#include "take.cuh"

TAKE(8, u64, 8)
