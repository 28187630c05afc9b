#include "operators.cuh"

typedef Lowest_f16 Operator;
CUMULATIVE(least_f16, 4, 3, Operator)
