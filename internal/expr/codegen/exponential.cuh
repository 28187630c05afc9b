#pragma once
#include "math.cuh"

// gpuframe_exp returns e^x, to less than an ulp.
FUNCTION f64 gpuframe_exp(f64 x) { return exponential(x, 0); }
