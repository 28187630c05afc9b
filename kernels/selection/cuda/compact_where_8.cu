#include "compact_where.cuh"

KERNEL COMPACT_BOUNDS compact_where_8(void *state, const i64 *rows, i64 capacity, i64 *kept, Found found, Fused fused, Arguments) {
    compact_where<u64>(state, rows, capacity, kept, found, fused);
}
