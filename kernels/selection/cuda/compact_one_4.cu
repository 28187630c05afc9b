#include "compact_one.cuh"

KERNEL ONE_BOUNDS compact_one_4(void *state, const i64 *rows, i64 capacity, i64 *kept, Found found, One one, Arguments) {
    compact_one<u32>(state, rows, capacity, kept, found, one);
}
