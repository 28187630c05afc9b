// Texts of fields.
#pragma once
#include "values.cuh"

static constexpr u32 long_text = 64;

DEVICE void store_offset(const Column &column, u64 row, u32 place) {
    if (column.bytes == 8)
        store<u64>(column.values + 8 * row, place);
    else
        store<u32>(column.values + 4 * row, place);
}

// copy_tile writes the texts of the rows of a tile and their offsets. Cells finds them and copies those with characters
// that are left out or replaced.
template <u32 tile_rows, u32 threads, typename Cells> DEVICE void copy_tile(const Column *columns, u32 count, u32 all, const Rows &rows, const Cells &cells) {
    constexpr u32 groups = tile_rows / warp_threads;
    const u32 lane = lane_in_warp();
    for (u32 item = thread_in_block() / warp_threads; item < count * groups; item += threads / warp_threads) {
        const u32 own = item % groups * warp_threads + lane;
        const Column column = columns[item / groups];
        if (own - lane >= rows.count || column.form != text_form)
            continue;
        const u64 row = (u64)rows.first + own;
        Field field = {nullptr, 0, false};
        u32 length = 0;
        if (own < rows.count && column.place != none) {
            const Cell cell = cells.cell(column, item / groups, rows.first + own);
            if (cell.valid) {
                field = cell.field;
                length = cells.length(field);
            }
        }
        const u32 scanned = warp_scan(length, Sum<u32>());
        const u32 place = load<u32>(column.lengths + row / 32 * 4) + scanned - length;
        if (own < rows.count)
            store_offset(column, row, place);
        if (row + 1 == all)
            store_offset(column, row + 1, place + length);
        const bool plain = length == field.length;
        const u32 together = ballot(length >= long_text && plain);
        if ((together >> lane & 1) == 0) {
            if (plain)
                field.quoted = false;
            cells.copy(column.texts + place, field);
        }
        for (u32 left = together; left != 0; left &= left - 1) {
            const u32 other = __builtin_ctz(left), bytes = shuffle_value(length, other);
            const u8 *const from = (const u8 *)shuffle_value((u64)field.at, other);
            const u64 to = column.texts + shuffle_value(place, other);
            for (u32 i = lane; i < bytes; i += warp_threads)
                store<u8>(to + i, from[i]);
        }
    }
}
