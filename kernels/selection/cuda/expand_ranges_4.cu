#include "expand.cuh"

EXPAND(4, i32)
