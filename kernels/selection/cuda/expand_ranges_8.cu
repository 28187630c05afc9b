#include "expand.cuh"

EXPAND(8, i64)
