// Keeps the rows that a mask selects.
#include "compact_bits.cuh"
#include "compact_small.cuh"
#include "compact_values.cuh"

COMPACT(1, u8, COMPACT_BOUNDS)
COMPACT(2, u16, COMPACT_BOUNDS)
COMPACT(4, u32, COMPACT_BOUNDS)
COMPACT(8, u64, COMPACT_BOUNDS)
COMPACT(16, Words16, WIDE_BOUNDS)

// compact_small keeps the rows that a mask selects. One block; capacity is at most
// small_rows.
KERNEL SMALL_BOUNDS compact_small(Mask mask, i64 *kept, Parts parts) {
    __shared__ Few few;
    const u32 n = rows_of(mask.rows, mask.capacity);
    compact_few(few, n, mask.capacity, kept, parts, [&](u32 word) {
        return keep_bits(mask, 32 * word, n - 32 * word < 32 ? n - 32 * word : 32);
    });
}
