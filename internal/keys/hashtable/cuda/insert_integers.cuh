// Keys of 1 to 8 bytes that are compared by their bits.
#pragma once

#include "insert.cuh"

// Keys above last are treated like nulls: the codes of a dictionary must not outnumber
// the slots.
template <typename T> struct Numbers {
    const T *values;
    u64 last;

    __device__ bool exists(T key) const { return key <= last; }
    __device__ T key(u64 row) const { return values[row]; }
    __device__ u64 hash(const Table &table, T key) const { return table.hash(0, key); }
    __device__ bool same(T key, u32 row) const { return values[row] == key; }
};

KERNEL insert_1(Table table, const u8 *values, u64 last, u32 *slot_of) { insert(table, Numbers<u8>{values, last}, slot_of); }
KERNEL insert_2(Table table, const u16 *values, u64 last, u32 *slot_of) { insert(table, Numbers<u16>{values, last}, slot_of); }
KERNEL insert_4(Table table, const u32 *values, u64 last, u32 *slot_of) { insert(table, Numbers<u32>{values, last}, slot_of); }
KERNEL insert_8(Table table, const u64 *values, u64 last, u32 *slot_of) { insert(table, Numbers<u64>{values, last}, slot_of); }
