// The functions that generated kernels call. Each is cut out of the PTX when a kernel
// needs it: see library.go.
#include "date.cuh"
#include "decimal.cuh"
#include "exponential.cuh"
#include "hash.cuh"
#include "logarithm.cuh"
#include "power.cuh"
#include "remainder.cuh"
#include "text.cuh"
#include "trigonometry.cuh"
