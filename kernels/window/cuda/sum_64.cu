#include "operators.cuh"

typedef Wrapping<u64, u64, Sum> Operator;
CUMULATIVE(sum_64, true, 8, Operator)
