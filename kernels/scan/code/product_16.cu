#include "operators.cuh"

typedef Wrapping<u16, u32, Product> Operator;
CUMULATIVE(product_16, 4, 3, Operator)
