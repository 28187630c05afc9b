#include "operators.cuh"

typedef Wrapping<u16, u32, Sum> Operator;
CUMULATIVE(sum_16, false, 4, Operator)
