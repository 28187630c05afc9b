#include "operators.cuh"

typedef Lowest<u8, u32> Operator;
CUMULATIVE(least_8, false, 2, Operator)
