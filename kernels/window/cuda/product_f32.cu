#include "operators.cuh"

typedef Rounding<f32, Product> Operator;
CUMULATIVE(product_f32, false, 8, Operator)
