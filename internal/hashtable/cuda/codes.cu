// The steps after all rows are in the table: mark the first row of each key, and compute
// the code of each row from the ranks of the first rows.
#include "insert.cuh"

// mark_firsts sets the bit of each row that a slot holds: the first rows of all keys.
// Nulls are a key if with_null. The bits are zero before.
KERNEL mark_firsts(Table table, u32 *bits, u32 with_null) {
    const u64 slots = table.size + (with_null != 0), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < slots; i += step)
        if (const u32 row = table.slots[i]; row != no_row)
            asm volatile("red.relaxed.gpu.or.b32 [%0], %1;" ::"l"(bits + row / 32), "r"(1u << row % 32) : "memory");
}

// first_rows replaces the slot of each row by the first row of its key. It writes
// 1 to is_first for a row that is the first of its key and 0 for all others up to
// capacity, and the same as bits, of whole words. Nulls are a key if with_null.
KERNEL first_rows(Table table, u32 *slot_of, i32 *is_first, u32 *bits, u32 with_null) {
    const u64 n = count(table), step = threads_per_grid();
    // Whole warps, since each makes a word.
    const u64 padded = (table.capacity + warp_threads - 1) / warp_threads * warp_threads;
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        bool first = false;
        if (i < n) {
            const u32 slot = slot_of[i], row = table.slots[slot];
            slot_of[i] = row;
            first = row == (u32)i && (with_null != 0 || slot < table.size);
        }
        if (i < table.capacity)
            is_first[i] = first;
        const u32 word = ballot(first);
        if (lane_in_warp() == 0)
            bits[i / warp_threads] = word;
    }
}

// codes_of replaces the first row of each row's key by the code of the key: the number of
// keys before it. A rank is the number of first rows up to and including a row. Nulls
// without a code, and the elements beyond the rows, get 0.
KERNEL codes_of(Table table, u32 *first_row, const i32 *ranks, u32 with_null) {
    const u64 n = count(table), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < table.capacity; i += step)
        first_row[i] = i < n && (with_null != 0 || is_valid(table, i)) ? (u32)(ranks[first_row[i]] - 1) : 0;
}

// count_codes adds 1 to the count of each row's code. The lanes of a warp with the same
// code add once.
KERNEL count_codes(Table table, const u32 *codes, u64 *counts) {
    const u64 n = count(table), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 code = codes[i];
        u32 active, same;
        asm volatile("activemask.b32 %0;" : "=r"(active));
        asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(code), "r"(active));
        if (lane_in_warp() == (u32)__builtin_ctz(same))
            asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(counts + code), "l"((u64)__builtin_popcount(same)) : "memory");
    }
}
