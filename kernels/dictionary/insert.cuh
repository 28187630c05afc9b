// A hash table of rows: each slot holds the first row of one key.
//
// Open addressing with linear probing. A slot holds a row, not a key, so that keys
// of every type and length make the same table; any row of the key stands for it,
// and the least one that came by stays. Slots begin as no_row and are changed by
// atomic operations only, so no order between threads is needed: whatever row is
// read from a slot is one of the key that the slot will always be of.
#pragma once

#include "gpuframe.cuh"

static constexpr u32 no_row = 0xffffffff;

// Table is what the launch passes. slots has mask + 2 words, a power of two and
// one more at the end, which is that of the nulls.
struct Table {
    u32 *slots;
    u64 mask;
    // valid is the bitmap, or null where no row is; bit is that of row 0.
    const u8 *valid;
    u64 bit;
    const i64 *rows;
    u64 capacity;
};

DEVICE u64 count(const Table &table) {
    if (table.rows == nullptr)
        return table.capacity;
    const i64 rows = *table.rows;
    return rows <= 0 ? 0 : (u64)rows < table.capacity ? (u64)rows : table.capacity;
}

DEVICE bool is_valid(const Table &table, u64 row) {
    const u64 bit = table.bit + row;
    return table.valid == nullptr || (table.valid[bit >> 3] >> (bit & 7) & 1) != 0;
}

DEVICE u32 swap_if(u32 *slot, u32 expected, u32 row) {
    u32 found;
    asm volatile("atom.relaxed.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(found) : "l"(slot), "r"(expected), "r"(row) : "memory");
    return found;
}

DEVICE void lower(u32 *slot, u32 row) {
    asm volatile("red.relaxed.gpu.min.u32 [%0], %1;" ::"l"(slot), "r"(row) : "memory");
}

DEVICE u32 look(const u32 *slot) {
    u32 row;
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(row) : "l"(slot) : "memory");
    return row;
}

// mixed spreads the bits of a word over all of it: MurmurHash3's finaliser for 64
// bits (Appleby).
DEVICE u64 mixed(u64 word) {
    word = (word ^ word >> 33) * 0xff51afd7ed558ccdull;
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53ull;
    return word ^ word >> 33;
}

// insert puts every row into the table and writes the slot that it is in to
// slot_of. Keys has key(row), hash(key) and same(key, row).
template <typename Keys> DEVICE void insert(const Table &table, const Keys &keys, u32 *slot_of) {
    const u64 n = count(table), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 row = (u32)i;
        u64 slot = table.mask + 1;
        if (!is_valid(table, i)) {
            if (row < look(&table.slots[slot]))
                lower(&table.slots[slot], row);
            slot_of[i] = (u32)slot;
            continue;
        }
        const auto key = keys.key(i);
        slot = keys.hash(key) & table.mask;
        while (true) {
            u32 there = look(&table.slots[slot]);
            if (there == no_row) {
                there = swap_if(&table.slots[slot], no_row, row);
                if (there == no_row)
                    break;
            }
            if (keys.same(key, there)) {
                if (row < there)
                    lower(&table.slots[slot], row);
                break;
            }
            slot = slot + 1 & table.mask;
        }
        slot_of[i] = (u32)slot;
    }
}
