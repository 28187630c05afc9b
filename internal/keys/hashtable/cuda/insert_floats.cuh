// Keys that are floats.
#pragma once

#include "insert.cuh"
#include "keys.cuh"

// Floats are keys by value: every NaN is one key, and so are both zeros.
template <typename T, typename Bits> struct Floats {
    const T *values;
    Bits nan;

    __device__ Bits key(u64 row) const {
        const T value = values[row];
        if (value != value)
            return nan;
        if (value == 0)
            return 0;
        Bits bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    __device__ bool exists(Bits) const { return true; }
    __device__ u64 hash(const Table &table, Bits key) const { return table.hash(0, key); }
    __device__ bool same(Bits key, u32 row) const { return this->key(row) == key; }
};

// Halves are floats of 16 bits, compared by their bits without arithmetic.
struct Halves {
    const u16 *values;

    __device__ u32 key(u64 row) const {
        const u32 bits = values[row];
        if (is_nan_f16(bits))
            return nan_f16;
        return (bits & 0x7fff) == 0 ? 0 : bits;
    }
    __device__ bool exists(u32) const { return true; }
    __device__ u64 hash(const Table &table, u32 key) const { return table.hash(0, key); }
    __device__ bool same(u32 key, u32 row) const { return this->key(row) == key; }
};

KERNEL insert_f16(Table table, const u16 *values, u64, u32 *slot_of) { insert(table, Halves{values}, slot_of); }
KERNEL insert_f32(Table table, const f32 *values, u64, u32 *slot_of) { insert(table, Floats<f32, u32>{values, 0x7fc00000}, slot_of); }
KERNEL insert_f64(Table table, const f64 *values, u64, u32 *slot_of) { insert(table, Floats<f64, u64>{values, 0x7ff8ull << 48}, slot_of); }
