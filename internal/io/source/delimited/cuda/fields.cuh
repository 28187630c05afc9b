// Fields of delimited text.
#pragma once
#include "values.cuh"

static constexpr u32 tile_rows = 128, row_threads = 256;

DEVICE Field field_of(const Rows &rows, u32 row, u32 place) {
    u32 begin = rows.begin_of(row), end = rows.ends[(u64)row * rows.width + place];
    if (place > 0) {
        begin = rows.ends[(u64)row * rows.width + place - 1] + 1;
    } else if (rows.width > 1) {
        while (*rows.at(begin) == '\n' || *rows.at(begin) == '\r' && *rows.at(begin + 1) == '\n')
            begin++;
    }
    if (place + 1 == rows.width && end > begin && *rows.at(end - 1) == '\r')
        end--;
    if (end - begin >= 2 && *rows.at(begin) == '"')
        return {rows.at(begin + 1), end - begin - 2, true};
    return {rows.at(begin), end - begin, false};
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

// copy_text copies a text without its doubled quotes.
DEVICE void copy_text(u64 to, const Field &field) {
    for (u32 i = 0; i < field.length; i++) {
        const u8 c = field.at[i];
        store<u8>(to++, c);
        i += field.quoted && c == '"';
    }
}

// Fields finds the cells of a tile.
struct Fields {
    const Rows &rows;
    const Nulls &nulls;

    METHOD Cell cell(const Column &column, u32, u32 row) const {
        const Field field = field_of(rows, row, column.place);
        return {field, !is_null(nulls, field, column.form == text_form), false, false};
    }
    METHOD u32 length(const Field &field) const { return text_length(field); }
    METHOD void copy(u64 to, const Field &field) const { copy_text(to, field); }
};
