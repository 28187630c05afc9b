#include "compact_values.cuh"

// Two words move in one instruction, and take twice the registers of one.
typedef u64 Words16 __attribute__((ext_vector_type(2)));

KERNEL __attribute__((launch_bounds(compact_threads, 2))) compact_16(Mask mask, Where where, Columns columns) {
    compact_values<Words16>(mask, where, columns);
}
