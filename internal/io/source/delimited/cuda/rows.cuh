// Rows of delimited text, as blocks have them in tiles.
#pragma once

#include "delimited.cuh"

static constexpr u32 tile_rows = 128, row_threads = 256, row_warps = row_threads / warp_threads, tile_groups = tile_rows / warp_threads;

// most_staged is the number of bytes of a tile's text that are in shared memory.
static constexpr u32 most_staged = 24576;

typedef Vector<u32, 4> Piece;

// Rows are those that a block has.
struct Rows {
    const u8 *bytes; // of the text: in shared memory, if they are few
    const u32 *ends; // of the fields
    u32 width, first, count;

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

DEVICE Field field_of(const Rows &rows, u32 row, u32 place) {
    u32 begin = rows.begin_of(row), end = rows.ends[(u64)row * rows.width + place];
    if (place > 0) {
        begin = rows.ends[(u64)row * rows.width + place - 1] + 1;
    } else if (rows.width > 1) {
        while (rows.bytes[begin] == '\n' || rows.bytes[begin] == '\r' && rows.bytes[begin + 1] == '\n')
            begin++;
    }
    if (place + 1 == rows.width && end > begin && rows.bytes[end - 1] == '\r')
        end--;
    if (end - begin >= 2 && rows.bytes[begin] == '"')
        return {rows.bytes + begin + 1, end - begin - 2, true};
    return {rows.bytes + begin, end - begin, false};
}

// Nulls are the texts that stand for null: each behind its length, which is less than 64.
//go:layout nullsLayout
struct Nulls {
    u64 lengths;     // a bit for each length
    const u8 *texts; // in one piece
    u32 count;
};

DEVICE bool is_null(const Nulls &nulls, const Field &field, bool text) {
    if (field.quoted && (text || field.length > 0) || field.length > 63 || (nulls.lengths >> field.length & 1) == 0)
        return false;
    if (field.length == 0)
        return true;
    const u8 *at = nulls.texts;
    for (u32 i = 0; i < nulls.count; i++) {
        const u32 length = *at++;
        bool equal = length == field.length;
        for (u32 k = 0; equal && k < length; k++)
            equal = at[k] == field.at[k];
        if (equal)
            return true;
        at += length;
    }
    return false;
}

// text_length returns the length of a text without its doubled quotes.
DEVICE u32 text_length(const Field &field) {
    u32 length = field.length;
    if (field.quoted)
        for (u32 i = 0; i < field.length; i++)
            if (field.at[i] == '"') {
                length--;
                i++;
            }
    return length;
}

// stage returns the rows of the block. It copies their bytes to shared memory if they fit.
DEVICE Rows stage(Piece *shared, const Text &text, const u32 *ends) {
    Rows rows = {text.bytes, ends, text.width, block_in_grid() * tile_rows, 0};
    const u32 left = text.rows - rows.first;
    rows.count = left < tile_rows ? left : tile_rows;
    constexpr u32 size = sizeof(Piece);
    const u32 begin = rows.begin_of(rows.first) / size * size, end = ends[(u64)(rows.first + rows.count) * text.width - 1] + 1;
    if (end - begin > most_staged)
        return rows;
    const Piece *const from = (const Piece *)(text.bytes + begin);
    for (u32 i = thread_in_block(); i * size < end - begin; i += row_threads)
        shared[i] = from[i];
    synchronize_block();
    rows.bytes = (const u8 *)shared - begin;
    return rows;
}
