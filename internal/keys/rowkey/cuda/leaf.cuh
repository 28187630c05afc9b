// The values of a source, as kernels read them: leaf in host.go.
#pragma once

#include "bitrow.cuh"
#include "keys.cuh"
#include "scan.cuh"

// Content is the meaning of the bits of a [Piece].
//go:layout Content
enum Content : u64 {
    // content_nulls is one bit: whether a row is null, inverted by Flip.
    content_nulls,
    // content_truth is a boolean.
    content_truth,
    // content_natural is an unsigned integer.
    content_natural,
    // content_integer is a signed integer with its sign bit inverted.
    content_integer,
    // content_real is a float: NaN as the value NaN, −0 as 0, then the sign bit inverted, or all
    // bits of a negative number.
    content_real,
    // content_real_bits is Real without the exceptions for NaN and −0.
    content_real_bits,
    // content_limb is word number Word of a decimal, counted from the low end. The sign bit of
    // the highest one is inverted.
    content_limb,
    // content_rank is the rank of a dictionary's value.
    content_rank,
    // content_prefix is the first Bits bits of a string or list: see [Tail].
    content_prefix,
};

// Fixed holds values of a fixed width. All buffers begin with the first row.
//go:layout fixedLayout words
struct Fixed {
    const u8 *values;
    const u32 *ranks; // of the values of a dictionary
    const u8 *valid;  // null if no row is null
    u64 value_bit;    // of booleans: the first row's bit
    u64 valid_bit;    // the first row's bit
    u64 rank_count;
    u64 width;

    METHOD bool is_valid(u64 row) const { return valid == nullptr || (valid[valid_bit + row >> 3] >> (valid_bit + row & 7) & 1) != 0; }

    // number returns a value as an unsigned integer.
    METHOD u64 number(u64 row) const {
        switch (width) {
        case 1:
            return values[row];
        case 2:
            return ((const u16 *)values)[row];
        case 4:
            return ((const u32 *)values)[row];
        }
        return ((const u64 *)values)[row];
    }

    // rank returns 0 for a null, and for an index out of bounds.
    METHOD u32 rank(u64 row) const {
        const u64 index = number(row);
        return index < rank_count ? ranks[index] : 0;
    }
};

// Piece is rowkey.Piece, shifted left into a word, or right if left is negative.
//go:layout pieceLayout words
struct Piece {
    Fixed from;
    Content content;
    u64 bits, word;
    i64 left;
    u64 subtract, flip, nan;

    METHOD u64 real(u64 x, bool every_bit) const {
        const u32 length = 8 * from.width;
        const u64 sign = 1ull << length - 1, all = ~0ull >> 64 - length;
        if (!every_bit) {
            const u64 infinity = length == 16 ? nan_f16 & 0x7c00 : length == 32 ? 0x7f800000 : 0x7ff0000000000000;
            if ((x & ~sign) > infinity)
                return nan;
            if (x == sign)
                x = 0;
        }
        return (x & sign) == 0 ? x | sign : ~x & all;
    }

    // load reads values of one type. All loads are issued before the first result is used.
    template <typename T, u32 count> METHOD void load(const u64 (&row)[count], u64 (&value)[count]) const {
        const auto *const values = (const __attribute__((address_space(1))) T *)from.values;
#pragma unroll
        for (u32 i = 0; i < count; i++)
            value[i] = values[row[i]];
    }

    template <u32 count> METHOD void numbers(const u64 (&row)[count], u64 (&value)[count]) const {
        switch (from.width) {
        case 1:
            return load<u8>(row, value);
        case 2:
            return load<u16>(row, value);
        case 4:
            return load<u32>(row, value);
        }
        load<u64>(row, value);
    }

    // add adds the bits of rows to their words. It decides by type once for all rows.
    template <u32 count> METHOD void add(const u64 (&row)[count], u64 (&to)[count]) const {
        u64 value[count];
        bool there[count];
#pragma unroll
        for (u32 i = 0; i < count; i++)
            there[i] = true;
        if (from.valid != nullptr)
#pragma unroll
            for (u32 i = 0; i < count; i++)
                there[i] = from.is_valid(row[i]);
        switch (content) {
        case content_nulls:
#pragma unroll
            for (u32 i = 0; i < count; i++)
                to[i] |= place(flip ^ !(there[i] && (from.ranks == nullptr || from.rank(row[i]) != 0)));
            return;
        case content_truth:
#pragma unroll
            for (u32 i = 0; i < count; i++)
                value[i] = from.values[from.value_bit + row[i] >> 3] >> (from.value_bit + row[i] & 7) & 1;
            break;
        case content_limb: {
            const u32 limbs = from.width / 8;
#pragma unroll
            for (u32 i = 0; i < count; i++)
                value[i] = ((const u64 *)from.values)[row[i] * limbs + word] ^ (word == limbs - 1 ? 1ull << 63 : 0);
            break;
        }
        case content_rank:
#pragma unroll
            for (u32 i = 0; i < count; i++) {
                value[i] = from.rank(row[i]);
                there[i] &= value[i] != 0 || nan == 0; // nan is 1 if rows can be null
            }
            break;
        case content_natural:
            numbers(row, value);
            break;
        case content_integer:
            numbers(row, value);
#pragma unroll
            for (u32 i = 0; i < count; i++)
                value[i] ^= 1ull << 8 * from.width - 1;
            break;
        default:
            numbers(row, value);
#pragma unroll
            for (u32 i = 0; i < count; i++)
                value[i] = real(value[i], content == content_real_bits);
            break;
        }
        const u64 mask = ~0ull >> 64 - bits;
#pragma unroll
        for (u32 i = 0; i < count; i++)
            if (there[i])
                to[i] |= place((value[i] - subtract ^ flip) & mask);
    }

    METHOD u64 place(u64 value) const { return left >= 0 ? value << left : value >> -left; }
};

// Span is the bytes or ranks of a row.
struct Span {
    const u8 *from, *end; // end is that of the buffer
    u64 length;
};

// most_views is the most buffers of a column of views.
//go:layout
static constexpr u32 most_views = 8;

// Texts holds strings or lists. All buffers but data begin with the first row.
//go:layout textsLayout words
struct Texts {
    const u8 *starts; // offsets, views, or nothing if the length is fixed
    const u8 *sizes;  // of list views
    const u8 *data;   // bytes, or the ranks of elements
    const u8 *valid;  // null if no row is null
    u64 valid_bit, limit; // limit is the length of data
    i64 fixed;        // the length of every value, or −1
    u64 first;        // number of values before the first row, if the length is fixed
    u64 width;        // of offsets
    u64 symbols;      // 1 if data has ranks
    u64 views;        // 1 if starts has views
    u64 view_count;
    const u8 *view_data[most_views];
    u64 view_limit[most_views];

    METHOD bool is_valid(u64 row) const { return valid == nullptr || (valid[valid_bit + row >> 3] >> (valid_bit + row & 7) & 1) != 0; }

    METHOD i64 offset(const u8 *from, u64 i) const { return width == 4 ? ((const i32 *)from)[i] : ((const i64 *)from)[i]; }
    METHOD static u64 clamp(i64 x, u64 low, u64 high) { return x < (i64)low ? low : (u64)x > high ? high : x; }

    // span returns no bytes for a null.
    METHOD Span span(u64 row) const {
        if (!is_valid(row))
            return {nullptr, nullptr, 0};
        if (views)
            return view(row);
        u64 begin, end;
        if (fixed >= 0) {
            begin = clamp((first + row) * fixed, 0, limit);
            end = clamp((first + row + 1) * fixed, 0, limit);
        } else {
            begin = clamp(offset(starts, row), 0, limit);
            end = sizes != nullptr ? begin + clamp(offset(sizes, row), 0, limit - begin) : clamp(offset(starts, row + 1), begin, limit);
        }
        const u32 unit = symbols ? 4 : 1;
        return {data + unit * begin, data + unit * limit, end - begin};
    }

    METHOD Span view(u64 row) const {
        const u32 *const words = (const u32 *)starts + 4 * row;
        const i32 bytes = (i32)words[0];
        if (bytes <= 12)
            return {(const u8 *)(words + 1), (const u8 *)(words + 4), bytes < 0 ? 0 : (u64)bytes};
        const u32 number = words[2];
        if (number >= view_count)
            return {nullptr, nullptr, 0};
        const u64 begin = clamp((i32)words[3], 0, view_limit[number]), left = view_limit[number] - begin;
        return {view_data[number] + begin, view_data[number] + view_limit[number], (u64)bytes < left ? (u64)bytes : left};
    }

    METHOD u32 units() const { return symbols ? 2 : 8; }

    // word returns eight bytes or two ranks from a position on, padded with zeros.
    METHOD u64 word(const Span &span, u64 at) const {
        if (at >= span.length)
            return 0;
        if (symbols) {
            const u32 *const ranks = (const u32 *)span.from + at;
            return (u64)ranks[0] << 32 | (at + 1 < span.length ? ranks[1] : 0);
        }
        const u8 *const from = span.from + at;
        const u64 left = span.length - at;
        // The eight bytes lie in one or two aligned words, which the buffer may not hold
        // whole.
        const u64 *const words = (const u64 *)((u64)from & ~7ull);
        const u32 skip = ((u64)from & 7) * 8;
        if (left >= 8 && (u64)(words + (skip != 0 ? 2 : 1)) <= (u64)span.end) {
            u64 little = words[0] >> skip;
            if (skip != 0)
                little |= words[1] << 64 - skip;
            return swapped(little);
        }
        u64 big = 0;
        for (u32 i = 0; i < 8 && i < left; i++)
            big |= (u64)from[i] << 56 - 8 * i;
        return big;
    }

    METHOD static u64 swapped(u64 x) {
        const u32 low = __nvvm_prmt((u32)x, 0, 0x0123), high = __nvvm_prmt((u32)(x >> 32), 0, 0x0123);
        return (u64)low << 32 | high;
    }
};

// Rows is the rows that a kernel encodes: listed ones, or those from first on.
//go:layout rowsLayout any
struct Rows {
    const u32 *listed;
    const i64 *counted;
    i64 capacity;
    u64 first; // of rows that are not listed
    METHOD u64 count() const { return device_rows(counted, capacity); }
    METHOD u64 operator[](u64 i) const { return listed != nullptr ? listed[i] : first + i; }
};

// compare returns −1, 0 or 1: the order of two strings or lists. Both are null, or neither. They are equal before from.
DEVICE i32 compare(const Texts &texts, u64 a, const Texts &others, u64 b, u64 from = 0) {
    const Span x = texts.span(a), y = others.span(b);
    const u64 end = x.length < y.length ? x.length : y.length;
    for (u64 at = from; at < end; at += texts.units()) {
        const u64 one = texts.word(x, at), other = others.word(y, at);
        if (one != other)
            return one < other ? -1 : 1;
    }
    return x.length < y.length ? -1 : x.length > y.length;
}
