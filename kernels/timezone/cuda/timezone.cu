// Conversion between instants and wall clocks: see table.go.
#include "bitrow.cuh"

struct Table {
    const i64 *starts, *offsets;
    u64 count;
    i64 cycle_end, cycle;
};

struct Offset {
    i64 offset, start, end;
};

static constexpr i64 greatest = (i64)~(1ull << 63);

// wrapped is a sum that wraps around, as on the host.
DEVICE i64 wrapped(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }

DEVICE Offset offset_of(const Table &t, i64 second) {
    const i64 ahead = second >= t.cycle_end ? ((second - t.cycle_end) / t.cycle + 1) * t.cycle : 0;
    u64 low = 0, high = t.count;
    while (high - low > 1) {
        const u64 middle = low + (high - low) / 2;
        if (t.starts[middle] <= second - ahead)
            low = middle;
        else
            high = middle;
    }
    return {t.offsets[low], low == 0 ? t.starts[0] : wrapped(t.starts[low], ahead), low + 1 == t.count ? greatest : wrapped(t.starts[low + 1], ahead)};
}

DEVICE i64 shift_of(const Table &t, i64 second, bool to_instant) {
    const Offset found = offset_of(t, second);
    if (!to_instant)
        return found.offset;
    const i64 instant = wrapped(second, -found.offset);
    if (instant < found.start || instant >= found.end)
        return -offset_of(t, instant).offset;
    return -found.offset;
}

// convert_times adds the offsets to timestamps of a number of units in a second. A result
// that exceeds 64 bits is null.
KERNEL LAUNCH_BOUNDS(256) convert_times(i64 *out, u32 *out_valid, const i64 *in, const u8 *valid, u64 bit, const i64 *counted, i64 rows, u64 capacity,
                                        i64 unit, u32 to_instant, Table table) {
    const u64 n = device_rows(counted, rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (capacity + 63) / 64 * 64; i += step) {
        bool ok = i < n && (valid == nullptr || (valid[(bit + i) / 8] >> ((bit + i) % 8) & 1) != 0);
        i64 result = 0;
        if (ok) {
            const i64 time = in[i];
            const i64 second = time / unit - (time % unit < 0);
            const i64 shift = shift_of(table, second, to_instant != 0) * unit;
            ok = !__builtin_add_overflow(time, shift, &result);
        }
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < capacity)
            out[i] = ok ? result : 0;
    }
}
