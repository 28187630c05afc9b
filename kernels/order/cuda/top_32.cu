#include "top.cuh"

typedef WholeKey<u32> Key;
TOP(32, Key)
