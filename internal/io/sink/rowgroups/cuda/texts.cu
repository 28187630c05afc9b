// Distinct texts of a row group: see device.go.
#include "values.cuh"

// Texts are those of the rows.
//go:layout textsLayout any
struct Texts {
    const u8 *offsets; // of the first row and those behind it
    const u8 *data;    // the bytes of offset 0
    u32 wide;          // whether offsets have 64 bits

    METHOD u64 offset(u64 row) const { return wide != 0 ? load<u64>((u64)offsets + row * 8) : load<u32>((u64)offsets + row * 4); }
};

// Totals has the totals of the rows.
//go:layout totalsLayout
struct Totals {
    u32 count;    // of distinct texts
    u32 overflow; // whether they are too many, or too long
    u64 bytes;    // of the distinct texts, each with its length
    u64 all;      // bytes of all texts, unless there is an overflow
};

// Entry is a distinct text: its slot, and its place among the bytes of the list.
//go:layout entryLayout
struct Entry {
    u32 slot, length;
    u64 at;
};

DEVICE u64 hash_text(u64 from, u64 length) {
    u64 hash = length * 0x9e3779b97f4a7c15ull;
#pragma nounroll
    for (u64 i = 0; i < length; i++)
        hash = (hash ^ load<u8>(from + i)) * 0x100000001b3ull;
    hash ^= hash >> 32;
    return hash * 0xbf58476d1ce4e5b9ull;
}

DEVICE bool same_text(u64 a, u64 b, u64 length) {
#pragma nounroll
    for (u64 i = 0; i < length; i++)
        if (load<u8>(a + i) != load<u8>(b + i))
            return false;
    return true;
}

// number_texts writes the slot of each valid row's text. It has a block for each block of rows. slots has
// 2^slot_bits zeros; an occupied one has the number of a row plus one. The list has room for most texts of
// most_bytes with their lengths.
KERNEL LAUNCH_BOUNDS(block_threads) number_texts(Rows rows, Texts texts, u64 slots, u32 slot_bits, u64 ids, u64 totals, u64 entries, u64 bytes, u32 most, u32 most_bytes) {
    const u32 row = block_in_grid() * block_threads + thread_in_block();
    u64 place;
    const bool valid = rows.place(row, place);
    Totals *const result = (Totals *)totals;
    const u64 begin = valid ? texts.offset(row) : 0, length = valid ? texts.offset((u64)row + 1) - begin : 0, from = (u64)texts.data + begin;
    const u64 all = warp_fold(length, Sum<u64>());
    if (lane_in_warp() == 0)
        __atomic_fetch_add(&result->all, all, __ATOMIC_RELAXED);
    if (!valid || *(volatile u32 *)&result->overflow != 0)
        return;
    if (length + 4 > most_bytes) {
        or_word((u64)&result->overflow, 1);
        return;
    }
    const u32 mask = (1u << slot_bits) - 1;
    u32 slot = (u32)(hash_text(from, length) >> (64 - slot_bits));
    for (u32 tries = 0; tries <= mask; tries++, slot = slot + 1 & mask) {
        u32 *const address = (u32 *)(slots + (u64)slot * 4);
        u32 owner = *(volatile u32 *)address;
        if (owner == 0) {
            __atomic_compare_exchange_n(address, &owner, row + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
            if (owner == 0) {
                const u32 number = __atomic_fetch_add(&result->count, 1u, __ATOMIC_RELAXED);
                const u64 at = __atomic_fetch_add(&result->bytes, length + 4, __ATOMIC_RELAXED);
                if (number >= most || at + length + 4 > most_bytes) {
                    or_word((u64)&result->overflow, 1);
                    return;
                }
                Entry *const entry = (Entry *)entries + number;
                entry->slot = slot, entry->length = (u32)length, entry->at = at;
#pragma nounroll
                for (u64 i = 0; i < length; i++)
                    store<u8>(bytes + at + i, load<u8>(from + i));
                store<u32>(ids + place * 4, slot);
                return;
            }
        }
        const u64 other = texts.offset(owner - 1);
        if (texts.offset(owner) - other == length && same_text(from, (u64)texts.data + other, length)) {
            store<u32>(ids + place * 4, slot);
            return;
        }
    }
    or_word((u64)&result->overflow, 1);
}
