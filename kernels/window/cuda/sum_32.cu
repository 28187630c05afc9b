#include "operators.cuh"

typedef Wrapping<u32, u32, Sum> Operator;
CUMULATIVE(sum_32, false, 8, Operator)
