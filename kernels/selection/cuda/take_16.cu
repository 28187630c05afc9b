#include "take.cuh"

TAKE(16, Pair, 4)
