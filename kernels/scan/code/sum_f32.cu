#include "operators.cuh"

typedef Rounding<f32, Sum> Operator;
CUMULATIVE(sum_f32, 4, 4, Operator)
