// Rows of delimited text, as blocks have them in tiles.
#pragma once

#include "delimited.cuh"

// most_staged is the number of bytes of a tile's text that are in shared memory.
static constexpr u32 most_staged = 24576;

typedef Vector<u32, 4> Piece;

// Rows are those that a block has.
struct Rows {
    const u8 *bytes; // of the text: in shared memory, if they are few
    u32 origin;      // the place of the first one
    const u32 *ends; // of the fields
    u32 width, first, count;

    // at returns the byte at a place. Shared memory has no addresses before it: a pointer to the byte at place 0 would
    // be undefined.
    METHOD const u8 *at(u32 place) const { return bytes + (place - origin); }

    // begin_of returns the place of the first byte of a row. Lines without contents are before it.
    METHOD u32 begin_of(u32 row) const {
        return row == 0 ? 0 : ends[(u64)row * width - 1] + 1;
    }
};

// Field is a value of a row.
struct Field {
    const u8 *at;
    u32 length;
    bool quoted;
};

// stage returns the rows of the block. It copies their bytes to shared memory if they fit.
template <u32 tile_rows, u32 threads> DEVICE Rows stage(Piece *shared, const Text &text, const u32 *ends) {
    Rows rows = {text.bytes, 0, ends, text.width, block_in_grid() * tile_rows, 0};
    const u32 left = text.rows - rows.first;
    rows.count = left < tile_rows ? left : tile_rows;
    constexpr u32 size = sizeof(Piece);
    const u32 begin = rows.begin_of(rows.first) / size * size, end = ends[(u64)(rows.first + rows.count) * text.width - 1] + 1;
    if (end - begin > most_staged)
        return rows;
    const Piece *const from = (const Piece *)(text.bytes + begin);
    for (u32 i = thread_in_block(); i * size < end - begin; i += threads)
        shared[i] = from[i];
    synchronize_block();
    rows.bytes = (const u8 *)shared, rows.origin = begin;
    return rows;
}
