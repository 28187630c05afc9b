// A sort of keys of 32 bits by digits of 7 bits.
#define RADIX_DIGIT_BITS 7
#include "../../cuda/kernels.cuh"

RADIX_HISTOGRAM(32, u32)
RADIX_PLAN
RADIX_PASS(32_digits, u32, nothing, 24, 2)
