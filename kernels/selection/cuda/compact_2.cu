#include "compact_values.cuh"

KERNEL COMPACT_BOUNDS compact_2(Mask mask, Where where, Columns columns) { compact_values<u16>(mask, where, columns); }
