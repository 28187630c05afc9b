#include "operators.cuh"

typedef Lowest<u64, u64> Operator;
CUMULATIVE(least_64, false, 8, Operator)
