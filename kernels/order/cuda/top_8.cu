#include "top.cuh"

typedef WholeKey<u8> Key;
TOP(8, Key)
