#include "operators.cuh"

typedef Wrapping<u8, u32, Sum> Operator;
CUMULATIVE(sum_8, false, 2, Operator)
