#include "choose_values.cuh"

CHOOSE(2, u16, 8)
