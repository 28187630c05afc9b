// Numbers and timestamps of strings: see parse.go.
#include "float.cuh"
#include "strings.cuh"
#include "times.cuh"

// parse_floats writes the numbers of strings, as strconv.ParseFloat. mantissa is the bits of
// the mantissa with the leading one, 53 or 24.
KERNEL LAUNCH_BOUNDS(256) parse_floats(void *out, u32 *out_valid, Strings s, Powers powers, u32 mantissa) {
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (s.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(s, rows, i);
        Float made = {0, false};
        if (row.valid)
            made = parse_float(row.begin, row.length, powers, mantissa);
        const u32 word = ballot(made.ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < s.capacity) {
            if (mantissa == 53)
                ((u64 *)out)[i] = made.ok ? made.bits : 0;
            else
                ((u32 *)out)[i] = made.ok ? made.bits : 0;
        }
    }
}

// parse_timestamps writes the timestamps of strings.
KERNEL LAUNCH_BOUNDS(256) parse_timestamps(i64 *out, u32 *out_valid, Strings s, i64 unit) {
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (s.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(s, rows, i);
        Instant made = {0, false, false};
        if (row.valid)
            made = timestamp(row.begin, row.length, unit);
        const u32 word = ballot(made.ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < s.capacity)
            out[i] = made.ok ? made.value : 0;
    }
}
