#include "compact_values.cuh"

KERNEL COMPACT_BOUNDS compact_4(Mask mask, Where where, Columns columns) { compact_values<u32>(mask, where, columns); }
