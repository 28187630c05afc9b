#include "choose_values.cuh"

CHOOSE(1, u8, 8)
