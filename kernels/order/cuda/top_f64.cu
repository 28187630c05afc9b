#include "top.cuh"

typedef FloatKey<u64, ordered_f64, is_nan_f64> Key;
TOP(f64, Key)
