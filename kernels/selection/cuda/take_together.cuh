// Takes values of several columns in one kernel, for few rows: a launch for each column would
// take longer than to move the values.
#pragma once

#include "take.cuh"

// most_together is the most columns of one launch.
//go:layout
static constexpr u32 most_together = 12;

// Taken is a column, as the arguments of take_*.
//go:layout takenLayout words
struct Taken {
    void *out;
    u32 *out_valid;
    const u8 *values;
    const u8 *valid;
    u64 valid_at;
    u64 width; // 1, 2, 4, 8 or 16 bytes
};

// Together are the columns, one for each block in the second dimension of the grid.
//go:layout togetherLayout words
struct Together {
    Taken column[most_together];
};

template <typename T, u32 items> DEVICE void take_one(const Taken &t, const Any &source) {
    take<T, items>((T *)t.out, t.out_valid, (const T *)t.values, t.valid, t.valid_at, filled<T>(0), source);
}

KERNEL LAUNCH_BOUNDS(block_threads) take_together(Together columns, ANY_SOURCE) {
    const Any source = any(GIVEN_ANY);
    const Taken &t = columns.column[__nvvm_read_ptx_sreg_ctaid_y()];
    switch (t.width) {
    case 1:
        return take_one<u8, 8>(t, source);
    case 2:
        return take_one<u16, 8>(t, source);
    case 4:
        return take_one<u32, 8>(t, source);
    case 8:
        return take_one<u64, 8>(t, source);
    }
    take_one<Pair, 4>(t, source);
}
