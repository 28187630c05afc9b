#include "compact_values.cuh"

KERNEL COMPACT_BOUNDS compact_1(Mask mask, Where where, Columns columns) { compact_values<u8>(mask, where, columns); }
