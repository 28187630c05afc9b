// Keys that are runs of bytes: strings and binary values, of 32-bit or 64-bit
// offsets or of one length.
#pragma once

#include "insert.cuh"

struct Run {
    const u8 *bytes;
    u64 length;
};

// Bytes has in Derived what run a row is.
template <typename Derived> struct Bytes {
    __device__ Run key(u64 row) const { return static_cast<const Derived *>(this)->run(row); }

    __device__ bool exists(Run) const { return true; }
    __device__ u64 hash(const Table &table, Run key) const {
        u64 state = table.hash(0, key.length), word = 0;
        for (u64 i = 0; i < key.length; i++) {
            word = word << 8 | key.bytes[i];
            if ((i & 7) == 7) {
                state = table.hash(state, word);
                word = 0;
            }
        }
        return table.hash(state, word);
    }

    __device__ bool same(Run key, u32 row) const {
        const Run there = this->key(row);
        if (there.length != key.length)
            return false;
        if (there.bytes == key.bytes)
            return true;
        for (u64 i = 0; i < key.length; i++)
            if (there.bytes[i] != key.bytes[i])
                return false;
        return true;
    }
};

// Strings reads nothing outside the bytes: an offset that is negative or beyond them
// counts as their end.
template <typename Offset> struct Strings : Bytes<Strings<Offset>> {
    const Offset *offsets;
    const u8 *bytes;
    u64 length;

    __device__ Strings(const Offset *offsets, const u8 *bytes, u64 length) : offsets(offsets), bytes(bytes), length(length) {}
    __device__ u64 position(u64 row) const {
        const u64 offset = (u64)(i64)offsets[row];
        return offset < length ? offset : length;
    }
    __device__ Run run(u64 row) const {
        const u64 begin = position(row), end = position(row + 1);
        return {bytes + begin, end < begin ? 0 : end - begin};
    }
};

struct FixedBytes : Bytes<FixedBytes> {
    const u8 *bytes;
    u64 width;

    __device__ FixedBytes(const u8 *bytes, u64 width) : bytes(bytes), width(width) {}
    __device__ Run run(u64 row) const { return {bytes + row * width, width}; }
};

KERNEL insert_offsets_32(Table table, const i32 *offsets, const u8 *bytes, u64 length, u32 *slot_of) {
    insert(table, Strings<i32>(offsets, bytes, length), slot_of);
}
KERNEL insert_offsets_64(Table table, const i64 *offsets, const u8 *bytes, u64 length, u32 *slot_of) {
    insert(table, Strings<i64>(offsets, bytes, length), slot_of);
}
KERNEL insert_width(Table table, const u8 *bytes, u64 width, u32 *slot_of) { insert(table, FixedBytes(bytes, width), slot_of); }
