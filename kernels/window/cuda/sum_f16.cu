#include "operators.cuh"

typedef RoundingHalf<Sum> Operator;
CUMULATIVE(sum_f16, false, 4, Operator)
