#include "top.cuh"

typedef HalfKey Key;
TOP(f16, Key)
