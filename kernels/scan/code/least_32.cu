#include "operators.cuh"

typedef Lowest<u32, u32> Operator;
CUMULATIVE(least_32, 8, 3, Operator)
