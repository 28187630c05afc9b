#include "operators.cuh"

typedef Wrapping<u16, u32, Product> Operator;
CUMULATIVE(product_16, false, 4, Operator)
