#include "compact_small.cuh"

// compact_small keeps the rows that a mask selects. One block; capacity is at most
// small_rows.
KERNEL SMALL_BOUNDS compact_small(Mask mask, i64 *kept, Parts parts) {
    __shared__ Few few;
    const u32 n = rows_of(mask.rows, mask.capacity);
    compact_few(few, n, mask.capacity, kept, parts, [&](u32 word) {
        return keep_bits(mask, 32 * word, n - 32 * word < 32 ? n - 32 * word : 32);
    });
}
