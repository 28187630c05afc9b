#include "take_wide.cuh"

typedef Vector<u64, 2> Pair;

TAKE_WIDE(16, Pair)
