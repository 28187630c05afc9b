#include "operators.cuh"

typedef Rounding<f64, Product> Operator;
CUMULATIVE(product_f64, true, 8, Operator)
