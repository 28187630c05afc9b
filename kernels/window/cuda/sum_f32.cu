#include "operators.cuh"

typedef Rounding<f32, Sum> Operator;
CUMULATIVE(sum_f32, false, 8, Operator)
