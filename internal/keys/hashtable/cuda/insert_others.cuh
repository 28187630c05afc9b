// Keys of 16 bytes, and booleans, which are bits.
#pragma once

#include "insert.cuh"

struct Booleans {
    const u8 *bits;
    u64 first;

    __device__ u32 key(u64 row) const { return bits[first + row >> 3] >> (first + row & 7) & 1; }
    __device__ bool exists(u32) const { return true; }
    __device__ u64 hash(const Table &table, u32 key) const { return table.hash(0, key); }
    __device__ bool same(u32 key, u32 row) const { return this->key(row) == key; }
};

struct alignas(8) Pair {
    u64 low, high;
};

// Pairs are keys of 16 bytes: decimals and intervals.
struct Pairs {
    const Pair *values;

    __device__ Pair key(u64 row) const { return values[row]; }
    __device__ bool exists(Pair) const { return true; }
    __device__ u64 hash(const Table &table, Pair key) const { return table.hash(table.hash(0, key.high), key.low); }
    __device__ bool same(Pair key, u32 row) const {
        const Pair there = values[row];
        return there.low == key.low && there.high == key.high;
    }
};

KERNEL insert_16(Table table, const Pair *values, u64, u32 *slot_of) { insert(table, Pairs{values}, slot_of); }
KERNEL insert_bool(Table table, const u8 *bits, u64 first, u32 *slot_of) { insert(table, Booleans{bits, first}, slot_of); }
