#include "operators.cuh"

typedef Wrapping<u32, u32, Product> Operator;
CUMULATIVE(product_32, false, 8, Operator)
