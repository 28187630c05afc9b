#include "take.cuh"

TAKE(2, u16, 8)
