// The offsets and the bitmap of strings that a kernel makes: see maker.go.
#include "bitrow.cuh"

// string_offsets writes offsets from the places behind the strings, and the bitmap of a
// column with the same nulls.
KERNEL LAUNCH_BOUNDS(256) string_offsets(void *offsets, u32 width, u32 *out_valid, const i64 *ends, const u8 *valid, u64 bit, const i64 *counted,
                                         i64 rows, u64 capacity) {
    const u64 n = device_rows(counted, rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (capacity + 64) / 64 * 64; i += step) {
        const bool ok = i < n && (valid == nullptr || (valid[(bit + i) / 8] >> ((bit + i) % 8) & 1) != 0);
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0 && out_valid != nullptr && i < (capacity + 63) / 64 * 64)
            out_valid[i / warp_threads] = word;
        if (i > capacity)
            continue;
        const i64 end = i == 0 ? 0 : ends[i - 1];
        if (width == 4)
            ((i32 *)offsets)[i] = end;
        else
            ((i64 *)offsets)[i] = end;
    }
}
