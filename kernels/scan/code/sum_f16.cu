#include "operators.cuh"

typedef RoundingHalf<Sum> Operator;
CUMULATIVE(sum_f16, 2, 4, Operator)
