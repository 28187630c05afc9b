#include "operators.cuh"

typedef Lowest<u16, u32> Operator;
CUMULATIVE(least_16, false, 4, Operator)
