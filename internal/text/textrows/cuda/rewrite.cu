// Makes columns of strings that have other bytes than their operand.
#include "rewrite.cuh"
#include "sizes.cuh"

// text_measure is text_sizes for the results of a function.
KERNEL LAUNCH_BOUNDS(block_threads) text_measure(u64 *lengths, u64 *sums, u32 *out_valid, const u32 *valid, const i64 *rows, u64 capacity, u32 kind,
                                                 Layout layout, Literals literals, Text text) {
    write_sizes(lengths, sums, out_valid, valid, rows, capacity, [&](u64 row) {
        return measure({text, layout, place_in(text, 0, row), length_in(text, layout, kind, row)}, kind, literals);
    });
}

// text_rewrite assigns a row to each thread. The offsets are of 4 or 8 bytes.
KERNEL LAUNCH_BOUNDS(block_threads) text_rewrite(u8 *out, const void *offsets, u32 wide, const u64 *lengths, u64 rows, u32 kind, Layout layout,
                                                 Literals literals, Text text) {
    const u64 row = thread_in_grid();
    if (row >= rows || lengths[row] == 0) // also a null
        return;
    const u64 begin = wide ? ((const u64 *)offsets)[row] : ((const u32 *)offsets)[row];
    rewrite(out + begin, lengths[row], {text, layout, place_in(text, 0, row), length_in(text, layout, kind, row)}, kind, literals);
}
