// Keeps the rows for which a predicate is true. Each kernel is a template with holes.
#include "compact_one.cuh"
#include "compact_small.cuh"
#include "compact_where.cuh"

COMPACT_WHERE(4, u32)
COMPACT_WHERE(8, u64)

COMPACT_ONE(4, u32)
COMPACT_ONE(8, u64)

// compact_small_where keeps the rows for which a predicate is true. codegen.Splice
// replaces the marked line with the predicate. One block; capacity is at most
// small_rows.
KERNEL SMALL_BOUNDS compact_small_where(const i64 *rows, i64 capacity, i64 *kept, Parts parts, Arguments) {
    __shared__ Few few;
    const u32 n = rows_of(rows, capacity);
    compact_few(few, n, capacity, kept, parts, [&](u32 word) {
        const u32 row = 32 * word + lane_in_warp();
        const u64 number = row < n ? row : n - 1;
        u32 keep;
        asm volatile("//@predicate %0 %1" : "=r"(keep) : "l"(number));
        return ballot(keep != 0 && row < n);
    });
}
