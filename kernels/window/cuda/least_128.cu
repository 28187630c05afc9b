#include "operators.cuh"

typedef LowestDecimal Operator;
CUMULATIVE(least_128, false, 8, Operator)
