#include "operators.cuh"

typedef Lowest<u32, u32> Operator;
CUMULATIVE(least_32, false, 8, Operator)
