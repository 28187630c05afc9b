#include "operators.cuh"

typedef RoundingHalf<Product> Operator;
CUMULATIVE(product_f16, 2, 4, Operator)
