// A hash table of rows: each slot holds the first row of one key.
//
// Open addressing with linear probing. A slot holds a row, not a key, so keys of
// every type and length make the same table. Slots begin as no_row and change by
// atomic operations only. A slot never changes its key: any row that is read from it
// is a row of that key, so the order of the threads does not matter, and the least
// row of each key stays.
//
// Hashes depend on two random words that the host draws for each table, so that keys
// chosen to collide do not. The results do not depend on them.
#pragma once

#include "gpuframe.cuh"

static constexpr u32 no_row = 0xffffffff;

// Table is the argument of the kernels. It has size slots for keys and one more, the
// last, for the nulls; size is at most 2^32 - 2, so every slot has a number of 32 bits.
//go:layout tableLayout any
struct Table {
    u32 *slots;
    u64 size;
    // seed and factor are random; factor is odd.
    u64 seed, factor;
    // valid is the bitmap, or null if no row is null; bit is the bit of row 0.
    const u8 *valid;
    u64 bit;
    const i64 *rows;
    u64 capacity;

    // hash continues a hash, which begins as 0, with a word of the key. The secret
    // factor comes before the mixing, which is public.
    __device__ u64 hash(u64 state, u64 word) const;
    // home returns the first slot to look at for a hash: the high half of a product
    // maps it to any size, not only to powers of two.
    __device__ u64 home(u64 hash) const;
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

__device__ inline u64 Table::hash(u64 state, u64 word) const { return mixed((state ^ word ^ seed) * factor); }
__device__ inline u64 Table::home(u64 hash) const { return __nvvm_mulhi_ull(hash, size); }

// insert_null puts a row into the slot of nulls.
DEVICE void insert_null(const Table &table, u32 row, u32 *slot_of) {
    u32 *const slot = &table.slots[table.size];
    if (row < look(slot))
        lower(slot, row);
    if (slot_of != nullptr)
        slot_of[row] = (u32)table.size;
}

// insert puts every row into the table and writes the slot that it is in to
// slot_of, unless that is null. Keys has key(row), hash(table, key), same(key, row) and
// exists(key), which is false for keys that are treated like nulls.
template <typename Keys> DEVICE void insert(const Table &table, const Keys &keys, u32 *slot_of) {
    const u64 n = count(table), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u32 row = (u32)i;
        if (!is_valid(table, i)) {
            insert_null(table, row, slot_of);
            continue;
        }
        const auto key = keys.key(i);
        if (!keys.exists(key)) {
            insert_null(table, row, slot_of);
            continue;
        }
        u64 slot = table.home(keys.hash(table, key));
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
            slot = slot + 1 == table.size ? 0 : slot + 1;
        }
        if (slot_of != nullptr)
            slot_of[i] = (u32)slot;
    }
}
