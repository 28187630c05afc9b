#include "operators.cuh"

typedef SumDecimal Operator;
CUMULATIVE(sum_128, false, 8, Operator)
