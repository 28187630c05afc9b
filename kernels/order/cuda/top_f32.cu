#include "top.cuh"

typedef FloatKey<u32, ordered_f32, is_nan_f32> Key;
TOP(f32, Key)
