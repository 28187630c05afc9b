#include "operators.cuh"

typedef Wrapping<u8, u32, Product> Operator;
CUMULATIVE(product_8, false, 2, Operator)
