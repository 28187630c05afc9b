// Pages of column chunks, as the host describes them: page.go.
#pragma once

#include "scan.cuh"

// Form is the conversion of a value of the file into one of the column.
enum Form : u32 { copied4, copied8, narrowed1, narrowed2, decimal32, decimal64, decimal_bytes, instant, boolean, code, text, copied2, copied16 };

// Strings that share their beginnings have two pages: the one of the lengths that they share (delta_prefixes) and that of the
// other lengths and of the column (delta_strings), each of which names the other one in place of a dictionary.
enum Encoding : u32 { plain, indexed, rle, split, delta, delta_lengths, delta_strings, delta_prefixes };

// Damage is the kind of damage of a page: bits of its status.
enum Damage : u32 { cut = 1, bad_level = 2, bad_index = 4, bad_width = 8, bad_length = 16, too_long = 32, bad_delta = 64, bad_compression = 128, bad_prefix = 256, bad_checksum = 512 };

// Optional is the kind of levels of a page: none, definition levels up to 1, or those of a part of a list or a struct.
enum Optional : u32 { no_levels, flat_levels, nested_levels };

static constexpr u32 none = 0xffffffff;
static constexpr u64 whole_word = 0xffffffffffffffff;

struct Page {
    u64 bytes;      // address of the page without compression; without the levels of a DataPageV2
    u64 levels;     // address of the levels of a DataPageV2
    u64 to;         // address of the column's values
    u64 bitmap;     // address of the column's validity bitmap, or 0
    u64 ranks;      // address of the number of valid rows before each word of the bitmap, from a multiple of counted_words words of the page on
    u64 counts;     // address of the number of valid rows of the page before each counted_words words
    u64 dense;      // address of indices or differences that are decoded without the nulls
    u64 places;     // address of the places of the page's strings behind each other; of delta_strings of one length their bytes
    u64 packed;     // address of the status of the page's decompression, or 0
    u64 marks;      // address of marks of a stream of the page: segments.cuh
    u64 sums;       // address of a sum for each mark
    u64 row;        // of the column: the first one of the page
    u32 rows;       // nulls included; of a dictionary its values
    u32 length;     // of bytes
    u32 level_bytes; // of levels of a DataPageV2, or none: they follow their length in bytes
    u32 optional;   // kind of levels
    u32 form, encoding;
    u32 width;      // of a value in the file; of an instant the units of a second
    u32 dictionary; // number of the page of the dictionary, or none
    u32 base;       // of a code: the values in the dictionaries before; of prefixes: the strings of the chunk before
    u32 before;     // of prefixes: number of the page of those before, or none
};

// Outcome is the result of the kernels for a page, without its values.
struct Outcome {
    u32 status; // bits of Damage
    u32 valid;  // rows with a value
    u32 absent; // of them, those with a value that the type does not hold
    u32 begin;  // place of the values in the page's bytes
    u32 data;   // place of the bytes of strings behind their lengths
    u32 packed; // status of the decompression
    u64 bytes;  // of strings; after damage the checksum by the header, and in the lower word that of the bytes
};

// Tile is a part of a page's rows.
struct Tile {
    u32 page, first;
};

template <typename T> using Global = __attribute__((address_space(1))) T;

// load and store access global memory at an address that is aligned to T.
template <typename T> DEVICE T load(u64 address) { return *(const Global<T> *)address; }
template <typename T> DEVICE void store(u64 address, T value) { *(Global<T> *)address = value; }

// load_bytes returns eight bytes from any address on. It reads whole words: up to 15 bytes more,
// which the host has behind all pages.
DEVICE u64 load_bytes(u64 address) {
    const u64 at = address & ~7ull;
    const u32 shift = (u32)(address & 7) * 8;
    const u64 low = load<u64>(at), high = load<u64>(at + 8); // without a branch, so that loads overlap
    return low >> shift | high << 1 << (63 - shift);
}

// load_word is load_bytes for four bytes.
DEVICE u32 load_word(u64 address) {
    const u64 at = address & ~3ull;
    const u32 low = load<u32>(at), high = load<u32>(at + 4);
    return (u32)(((u64)high << 32 | low) >> (address & 3) * 8);
}

DEVICE void damage(Outcome *outcome, u32 kind) { __atomic_fetch_or(&outcome->status, kind, __ATOMIC_RELAXED); }

DEVICE void or_word(u64 address, u32 bits) { __atomic_fetch_or((u32 *)address, bits, __ATOMIC_RELAXED); }

DEVICE u32 minimum(u32 a, u32 b) { return a < b ? a : b; }

// read_varint reads an unsigned number of seven bits a byte, and moves the address behind it. It returns
// false if the number ends behind the end or has more than 64 bits.
DEVICE bool read_varint(u64 &at, u64 end, u64 &value) {
    value = 0;
#pragma nounroll
    for (u32 shift = 0; shift < 70; shift += 7) {
        if (at >= end)
            return false;
        const u64 byte = load<u8>(at++);
        if (shift == 63 && byte > 1)
            return false;
        value |= (byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

// value_bytes is the length of a value in the file.
DEVICE u32 value_bytes(const Page &page) {
    switch (page.form) {
    case copied8:
    case decimal64:
        return 8;
    case copied2:
        return 2;
    case copied16:
        return 16;
    case decimal_bytes:
        return page.width;
    case instant:
        return 12;
    }
    return 4;
}

// is_direct_delta reports whether the differences of a page are decoded into the values of the column.
DEVICE bool is_direct_delta(const Page &page, u32 valid) {
    return page.encoding == delta && valid == page.rows && (page.form == copied4 || page.form == copied8);
}

struct Wide {
    u64 low, high;
};
