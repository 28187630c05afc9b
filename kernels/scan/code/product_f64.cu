#include "operators.cuh"

typedef Rounding<f64, Product> Operator;
CUMULATIVE(product_f64, 8, 4, Operator)
