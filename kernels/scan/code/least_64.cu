#include "operators.cuh"

typedef Lowest<u64, u64> Operator;
CUMULATIVE(least_64, 8, 3, Operator)
