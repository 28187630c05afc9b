#include "operators.cuh"

typedef SumDecimal Operator;
CUMULATIVE(sum_128, 8, 2, Operator)
