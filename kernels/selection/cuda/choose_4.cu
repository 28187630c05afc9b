#include "choose_values.cuh"

CHOOSE(4, u32, 8)
