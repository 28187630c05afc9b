#include "choose_values.cuh"

CHOOSE(8, u64, 4)
