#include "operators.cuh"

typedef RoundingHalf<Product> Operator;
CUMULATIVE(product_f16, false, 4, Operator)
