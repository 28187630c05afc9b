// Makes the results of aggregates of their states.
#include "finish.cuh"

// finish writes the results of groups up to capacity, and their validity if valid is not
// null. Both are written in whole words.
KERNEL finish(u8 *values, u32 *valid, u64 capacity, const Finishing f) {
    const u64 padded = (capacity + 63) / 64 * 64, step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        Value v = Value{0, 0, false};
        if (i < capacity)
            v = value_of(f, i);
        write_value(values, valid, f.form, capacity, i, v);
    }
}
