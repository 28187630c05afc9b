#include "choose_values.cuh"

CHOOSE(16, Pair, 2)
