#include "compact_values.cuh"

KERNEL COMPACT_BOUNDS compact_8(Mask mask, Where where, Columns columns) { compact_values<u64>(mask, where, columns); }
