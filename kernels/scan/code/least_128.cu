#include "operators.cuh"

typedef LowestDecimal Operator;
CUMULATIVE(least_128, 8, 2, Operator)
