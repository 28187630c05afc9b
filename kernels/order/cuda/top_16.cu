#include "top.cuh"

typedef WholeKey<u16> Key;
TOP(16, Key)
