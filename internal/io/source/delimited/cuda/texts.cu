// The texts of delimited text.
#include "fields.cuh"
#include "texts.cuh"

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

// write_texts writes the texts of rows and their offsets, a block for each tile.
KERNEL LAUNCH_BOUNDS(256) write_texts(const Column *columns, u32 count, const u32 *ends, Text text, Nulls nulls) {
    __shared__ Piece shared[most_staged / sizeof(Piece)];
    const Rows rows = stage<tile_rows, row_threads>(shared, text, ends);
    copy_tile<tile_rows, row_threads>(columns, count, text.rows, rows, Fields{rows, nulls});
}
