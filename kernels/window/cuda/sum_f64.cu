#include "operators.cuh"

typedef Rounding<f64, Sum> Operator;
CUMULATIVE(sum_f64, true, 8, Operator)
