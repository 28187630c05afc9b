// Concatenates columns.
#include "copy_bits.cuh"
#include "rebase.cuh"
