#include "top.cuh"

typedef WholeKey<u64> Key;
TOP(64, Key)
