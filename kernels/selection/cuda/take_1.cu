#include "take.cuh"

TAKE(1, u8, 8)
