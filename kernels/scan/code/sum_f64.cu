#include "operators.cuh"

typedef Rounding<f64, Sum> Operator;
CUMULATIVE(sum_f64, 8, 4, Operator)
