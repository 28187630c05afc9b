#include "operators.cuh"

typedef Wrapping<u64, u64, Product> Operator;
CUMULATIVE(product_64, true, 8, Operator)
