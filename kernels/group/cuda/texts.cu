// Strings of few bytes as numbers: see texts.go.
//
// Each position has a range of bytes, found by one pass over all rows, and is a digit with that
// many values. The length is the highest digit. So two strings are equal if their numbers are,
// and the number gives the string back.
#include "strings.cuh"
#include "scan.cuh"

static constexpr u32 most_text_bytes = 16, text_threads = 256; // column.BoundedBytes

// Bounds are greatest values, and zero stands for no value: for each position a byte and 1, and 256 less a
// byte, then a length and 1, and most_length + 1 less a length.
static constexpr u32 least_bytes = most_text_bytes, longest = 2 * most_text_bytes, shortest = longest + 1, text_bounds = shortest + 1;
static constexpr u32 most_length = 0x7fffffff;

struct Two {
    u64 word[2];
};

// aligned_word returns the word of eight bytes at an aligned address, with zeros for bytes outside of the
// data.
DEVICE u64 aligned_word(const Strings &s, const u8 *at) {
    if (at >= s.data && at + 8 <= s.data + s.extent)
        return *(const u64 *)at;
    u64 word = 0;
#pragma unroll 1
    for (u32 i = 0; i < 8; i++)
        if (at + i >= s.data && at + i < s.data + s.extent)
            word |= (u64)at[i] << 8 * i;
    return word;
}

// bytes_of returns up to 16 bytes of a row. Those behind its end have any value.
DEVICE Two bytes_of(const Strings &s, const Row &row) {
    const u32 before = (u64)row.begin & 7, shift = 8 * before;
    const u8 *const at = row.begin - before;
    const u64 end = before + row.length;
    const u64 first = row.length != 0 ? aligned_word(s, at) : 0, second = end > 8 ? aligned_word(s, at + 8) : 0;
    const u64 third = end > 16 && row.length > 8 ? aligned_word(s, at + 16) : 0;
    if (shift == 0)
        return {{first, second}};
    return {{first >> shift | second << 64 - shift, second >> shift | third << 64 - shift}};
}

DEVICE u32 byte_of(const Two &bytes, u32 i) { return (u32)(bytes.word[i / 8] >> 8 * (i % 8)) & 0xff; }

// bound_bytes adds eight positions from begin on to the bounds.
template <u32 begin> DEVICE void bound_bytes(const Two &bytes, u32 length, u32 (&found)[text_bounds]) {
#pragma unroll
    for (u32 i = begin; i < begin + 8; i++) {
        const u32 byte = byte_of(bytes, i), high = i < length ? byte + 1 : 0, low = i < length ? 256 - byte : 0;
        found[i] = found[i] > high ? found[i] : high;
        found[least_bytes + i] = found[least_bytes + i] > low ? found[least_bytes + i] : low;
    }
}

// bound_texts finds the bounds. They are zero before.
KERNEL LAUNCH_BOUNDS(text_threads) bound_texts(const Strings s, u32 *bounds) {
    __shared__ u32 shared[text_bounds];
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    for (u32 i = thread_in_block(); i < text_bounds; i += text_threads)
        shared[i] = 0;
    u32 found[text_bounds];
#pragma unroll
    for (u32 i = 0; i < text_bounds; i++)
        found[i] = 0;
    for (u64 i = thread_in_grid(); i < rows; i += step) {
        const Row row = row_of(s, rows, i);
        if (!row.valid)
            continue;
        const u32 length = row.length < most_length ? (u32)row.length : most_length - 1;
        found[longest] = found[longest] > length + 1 ? found[longest] : length + 1;
        found[shortest] = found[shortest] > most_length + 1 - length ? found[shortest] : most_length + 1 - length;
        if (length > most_text_bytes)
            continue;
        const Two bytes = bytes_of(s, row);
        bound_bytes<0>(bytes, length, found);
        if (length > 8)
            bound_bytes<8>(bytes, length, found);
    }
    synchronize_block();
#pragma unroll
    for (u32 i = 0; i < text_bounds; i++) {
        const u32 most = warp_fold(found[i], Most<u32>());
        if (lane_in_warp() == 0 && most != 0)
            __nvvm_atom_max_gen_ui(&shared[i], most);
    }
    synchronize_block();
    for (u32 i = thread_in_block(); i < text_bounds; i += text_threads)
        if (shared[i] > *(volatile u32 *)&bounds[i])
            __nvvm_atom_max_gen_ui(&bounds[i], shared[i]);
}

// Digit is a position with more than one byte.
//go:layout textDigitLayout
struct Digit {
    u32 position, least;
    u64 places, factor;
};

// Digits are the positions with more than one byte, and the length with its factor. The number of
// null is numbers. pattern has the bytes of the other positions.
//go:layout textDigitsLayout
struct Digits {
    u32 count, shortest;
    u64 length_factor, numbers;
    u64 pattern[2];
    Digit digit[most_text_bytes];
};

// number_rows is the number of rows that a thread loads at once.
static constexpr u32 number_rows = 4;

// words_inside returns up to 16 bytes of a row whose words all are inside of the data.
DEVICE Two words_inside(const Row &row) {
    const u32 before = (u64)row.begin & 7, shift = 8 * before;
    const u64 *const at = (const u64 *)(row.begin - before);
    const u64 end = before + row.length;
    const u64 first = row.length != 0 ? at[0] : 0, second = end > 8 ? at[1] : 0, third = end > 16 ? at[2] : 0;
    const u64 above = shift == 0 ? 0 : ~0ull; // a shift by 64 is none
    return {{first >> shift | second << (64 - shift & 63) & above, second >> shift | third << (64 - shift & 63) & above}};
}

template <typename Number> DEVICE void number_all(const Strings &s, const Digits &d, Number *numbers) {
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    const u8 *const low = (const u8 *)((u64)s.data + 7 & ~7ull), *const high = s.data + s.extent - 24;
    for (u64 first = thread_in_grid(); first < rows; first += number_rows * step) {
        Row row[number_rows];
        Two bytes[number_rows];
        Number number[number_rows];
        bool inside = s.extent >= 24;
#pragma unroll
        for (u32 i = 0; i < number_rows; i++)
            row[i] = row_of(s, rows, first + i * step);
#pragma unroll
        for (u32 i = 0; i < number_rows; i++)
            inside &= row[i].begin >= low && row[i].begin <= high && row[i].length <= most_text_bytes || row[i].length == 0;
        if (inside)
#pragma unroll
            for (u32 i = 0; i < number_rows; i++)
                bytes[i] = words_inside(row[i]);
        else
#pragma unroll
            for (u32 i = 0; i < number_rows; i++)
                bytes[i] = bytes_of(s, row[i]);
#pragma unroll
        for (u32 i = 0; i < number_rows; i++)
            number[i] = (Number)(row[i].length - d.shortest) * (Number)d.length_factor;
#pragma unroll 1
        for (u32 j = 0; j < d.count; j++) {
            const Digit &digit = d.digit[j];
            const u32 position = digit.position, least = digit.least, shift = 8 * (position & 7);
            const Number factor = (Number)digit.factor;
#pragma unroll
            for (u32 i = 0; i < number_rows; i++) {
                const u32 byte = (u32)((position < 8 ? bytes[i].word[0] : bytes[i].word[1]) >> shift) & 0xff;
                number[i] += position < row[i].length ? (Number)(byte - least) * factor : 0;
            }
        }
#pragma unroll
        for (u32 i = 0; i < number_rows; i++)
            if (first + i * step < rows)
                numbers[first + i * step] = row[i].valid ? number[i] : (Number)d.numbers;
    }
}

// fixed_all numbers strings of one length, without nulls: rows follow each other without a look at
// their offsets.
template <typename Number> DEVICE void fixed_all(const Strings &s, const Digits &d, Number *numbers) {
    const u64 rows = device_rows(s.counted, s.rows), step = threads_per_grid();
    if (rows == 0)
        return;
    const u8 *const low = (const u8 *)((u64)s.data + 7 & ~7ull), *const high = s.data + s.extent - 24;
    const u8 *const begin = row_of(s, rows, 0).begin;
    const bool large = s.extent >= 24;
    for (u64 first = thread_in_grid(); first < rows; first += number_rows * step) {
        Two bytes[number_rows];
        Number number[number_rows] = {};
#pragma unroll
        for (u32 i = 0; i < number_rows; i++) {
            const u64 at = first + i * step < rows ? first + i * step : first;
            const Row row = {begin + at * d.shortest, d.shortest, true};
            bytes[i] = large && row.begin >= low && row.begin <= high ? words_inside(row) : bytes_of(s, row);
        }
#pragma unroll 1
        for (u32 j = 0; j < d.count; j++) {
            const Digit &digit = d.digit[j];
            const u32 position = digit.position, least = digit.least, shift = 8 * (position & 7);
            const Number factor = (Number)digit.factor;
#pragma unroll
            for (u32 i = 0; i < number_rows; i++) {
                const u32 byte = (u32)((position < 8 ? bytes[i].word[0] : bytes[i].word[1]) >> shift) & 0xff;
                number[i] += (Number)(byte - least) * factor;
            }
        }
#pragma unroll
        for (u32 i = 0; i < number_rows; i++)
            if (first + i * step < rows)
                numbers[first + i * step] = number[i];
    }
}

KERNEL LAUNCH_BOUNDS(text_threads) number_texts_8(const Strings s, const Digits d, u8 *numbers) { number_all(s, d, numbers); }
KERNEL LAUNCH_BOUNDS(text_threads) number_texts_32(const Strings s, const Digits d, u32 *numbers) { number_all(s, d, numbers); }
KERNEL LAUNCH_BOUNDS(text_threads) number_texts_64(const Strings s, const Digits d, u64 *numbers) { number_all(s, d, numbers); }
KERNEL LAUNCH_BOUNDS(text_threads) number_fixed_8(const Strings s, const Digits d, u8 *numbers) { fixed_all(s, d, numbers); }
KERNEL LAUNCH_BOUNDS(text_threads) number_fixed_32(const Strings s, const Digits d, u32 *numbers) { fixed_all(s, d, numbers); }
KERNEL LAUNCH_BOUNDS(text_threads) number_fixed_64(const Strings s, const Digits d, u64 *numbers) { fixed_all(s, d, numbers); }

DEVICE u64 number_at(const void *numbers, u32 width, u64 i) {
    switch (width) {
    case 1: return ((const u8 *)numbers)[i];
    case 4: return ((const u32 *)numbers)[i];
    }
    return ((const u64 *)numbers)[i];
}

// lengths_of_numbers writes the lengths of strings, and whether they are not null, in whole words
// of 64 bits, if valid is not null.
KERNEL LAUNCH_BOUNDS(text_threads)
lengths_of_numbers(const void *numbers, u32 width, const Digits d, i64 *lengths, u32 *valid, const i64 *counted, i64 capacity) {
    const u64 rows = device_rows(counted, capacity), padded = ((u64)capacity + 63) / 64 * 64, step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < padded; i += step) {
        const u64 number = i < rows ? number_at(numbers, width, i) : d.numbers;
        const bool there = number < d.numbers;
        const u32 word = ballot(there);
        if (valid != nullptr && lane_in_warp() == 0)
            valid[i / warp_threads] = word;
        if (i < (u64)capacity)
            lengths[i] = there ? (i64)(d.shortest + (d.length_factor != 0 ? number / d.length_factor : 0)) : 0;
    }
}

// texts_of_numbers writes the bytes of strings.
KERNEL LAUNCH_BOUNDS(text_threads)
texts_of_numbers(const void *numbers, u32 width, const Digits d, const u32 *offsets, u8 *bytes, const i64 *counted, i64 capacity) {
    const u64 rows = device_rows(counted, capacity), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < rows; i += step) {
        const u64 number = number_at(numbers, width, i);
        u64 word[2] = {d.pattern[0], d.pattern[1]};
#pragma unroll 1
        for (u32 j = 0; j < d.count; j++) {
            const Digit &digit = d.digit[j];
            const u64 byte = digit.least + number / digit.factor % digit.places;
            const u64 set = byte << 8 * (digit.position & 7);
            word[0] |= digit.position < 8 ? set : 0;
            word[1] |= digit.position < 8 ? 0 : set;
        }
        const u32 begin = offsets[i], length = offsets[i + 1] - begin;
        for (u32 j = 0; j < length; j++)
            bytes[begin + j] = (u8)((j < 8 ? word[0] : word[1]) >> 8 * (j & 7));
    }
}
