#include "operators.cuh"

typedef Lowest_f16 Operator;
CUMULATIVE(least_f16, false, 4, Operator)
