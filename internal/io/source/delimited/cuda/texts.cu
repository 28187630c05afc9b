// The texts of delimited text.
#include "rows.cuh"

static constexpr u32 scan_threads = 1024, scan_warps = scan_threads / warp_threads;

// scan_lengths replaces the lengths of the texts of each 32 rows by the sum of those before, a block for each column.
KERNEL LAUNCH_BOUNDS(1024) scan_lengths(const Column *columns, Result *results, const Outcome *outcome, u32 rows) {
    __shared__ u32 sums[scan_warps];
    const Column column = columns[block_in_grid()];
    if (column.form != text_form || outcome->faults != 0)
        return;
    const u32 groups = (rows + warp_threads - 1) / warp_threads;
    u32 before = 0;
    for (u32 first = 0; first < groups; first += scan_threads) {
        const u32 i = first + thread_in_block();
        const u64 at = column.lengths + 4 * (u64)i;
        const u32 value = i < groups ? load<u32>(at) : 0;
        const u32 scanned = warp_scan(value, Sum<u32>());
        u32 total;
        const u32 place = before + block_fold_before<scan_warps>(shuffle_value(scanned, warp_threads - 1), sums, total, Sum<u32>()) + scanned - value;
        if (i < groups)
            store<u32>(at, place);
        before += total;
    }
    if (thread_in_block() == 0)
        results[block_in_grid()].bytes = before;
}

// copy_text copies a text without its doubled quotes.
DEVICE void copy_text(u64 to, const Field &field, bool doubled) {
    for (u32 i = 0; i < field.length; i++) {
        const u8 c = field.at[i];
        store<u8>(to++, c);
        i += doubled && c == '"';
    }
}

static constexpr u32 long_text = 64;

DEVICE void store_offset(const Column &column, u64 row, u32 place) {
    if (column.bytes == 8)
        store<u64>(column.values + 8 * row, place);
    else
        store<u32>(column.values + 4 * row, place);
}

// write_texts writes the texts of rows and their offsets, a block for each tile.
KERNEL LAUNCH_BOUNDS(256) write_texts(const Column *columns, u32 count, const u32 *ends, Text text, Nulls nulls) {
    __shared__ Piece shared[most_staged / sizeof(Piece)];
    const Rows rows = stage(shared, text, ends);
    const u32 lane = lane_in_warp();
    for (u32 item = thread_in_block() / warp_threads; item < count * tile_groups; item += row_warps) {
        const u32 own = item % tile_groups * warp_threads + lane;
        const Column column = columns[item / tile_groups];
        if (own - lane >= rows.count || column.form != text_form)
            continue;
        const u64 row = (u64)block_in_grid() * tile_rows + own;
        Field field = {nullptr, 0, false};
        u32 length = 0;
        if (own < rows.count && column.place != none) {
            field = field_of(rows, rows.first + own, column.place);
            if (is_null(nulls, field, true))
                field.length = 0;
            length = text_length(field);
        }
        const u32 scanned = warp_scan(length, Sum<u32>());
        const u32 place = load<u32>(column.lengths + row / 32 * 4) + scanned - length;
        if (own < rows.count)
            store_offset(column, row, place);
        if (row + 1 == text.rows)
            store_offset(column, row + 1, place + length);
        const bool doubled = length != field.length;
        const u32 together = ballot(length >= long_text && !doubled);
        if ((together >> lane & 1) == 0)
            copy_text(column.texts + place, field, doubled);
        for (u32 left = together; left != 0; left &= left - 1) {
            const u32 other = __builtin_ctz(left), bytes = shuffle_value(length, other);
            const u8 *const from = (const u8 *)shuffle_value((u64)field.at, other);
            const u64 to = column.texts + shuffle_value(place, other);
            for (u32 i = lane; i < bytes; i += warp_threads)
                store<u8>(to + i, from[i]);
        }
    }
}
