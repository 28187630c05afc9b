#include "operators.cuh"

typedef Lowest_f32 Operator;
CUMULATIVE(least_f32, false, 8, Operator)
