// Keys that are runs of bytes: strings and binary values, of 32-bit or 64-bit
// offsets or of one length.
#pragma once

#include "insert.cuh"
#include "pieces.cuh"

struct Run {
    u64 begin, length; // begin is an address
};

// Bytes has in Derived what run a row is, and the data of all rows.
template <typename Derived> struct Bytes {
    __device__ const Derived &derived() const { return *static_cast<const Derived *>(this); }
    __device__ Run key(u64 row) const { return derived().run(row); }

    // piece reads up to 16 bytes of a run. Bytes beyond its end are 0.
    __device__ Piece piece(Run key, u64 at) const {
        const u64 rest = key.length - at;
        return piece_of(derived().data(), key.begin + at, rest < 16 ? rest : 16);
    }

    __device__ bool exists(Run) const { return true; }
    __device__ u64 hash(const Table &table, Run key) const {
        u64 state = table.hash(0, key.length);
        for (u64 at = 0; at < key.length; at += 16) {
            const Piece piece = this->piece(key, at);
            state = table.hash(state, piece.low);
            if (key.length - at > 8)
                state = table.hash(state, piece.high);
        }
        return state;
    }

    __device__ bool same(Run key, u32 row) const { return equals(row, *this, key); }
    // equals compares a row with a run of other bytes.
    __device__ bool equals(u32 row, const Bytes &others, Run key) const {
        const Run there = this->key(row);
        if (there.length != key.length)
            return false;
        if (there.begin == key.begin)
            return true;
        for (u64 at = 0; at < key.length; at += 16) {
            const Piece a = others.piece(key, at), b = piece(there, at);
            if (a.low != b.low || a.high != b.high)
                return false;
        }
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
        return {(u64)bytes + begin, end < begin ? 0 : end - begin};
    }
    __device__ Data data() const { return {bytes, bytes + length}; }
};

struct FixedBytes : Bytes<FixedBytes> {
    const u8 *bytes;
    u64 width, rows;

    __device__ FixedBytes(const u8 *bytes, u64 width, u64 rows) : bytes(bytes), width(width), rows(rows) {}
    __device__ Run run(u64 row) const { return {(u64)bytes + row * width, width}; }
    __device__ Data data() const { return {bytes, bytes + rows * width}; }
};

KERNEL insert_offsets_32(Table table, const i32 *offsets, const u8 *bytes, u64 length, u32 *slot_of) {
    insert(table, Strings<i32>(offsets, bytes, length), slot_of);
}
KERNEL insert_offsets_64(Table table, const i64 *offsets, const u8 *bytes, u64 length, u32 *slot_of) {
    insert(table, Strings<i64>(offsets, bytes, length), slot_of);
}
KERNEL insert_width(Table table, const u8 *bytes, u64 width, u32 *slot_of) { insert(table, FixedBytes(bytes, width, table.capacity), slot_of); }
