#include "operators.cuh"

typedef Lowest_f64 Operator;
CUMULATIVE(least_f64, false, 8, Operator)
