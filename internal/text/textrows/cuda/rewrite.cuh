// Functions of one string with results of other bytes: the case, the order of characters,
// and replaced literals. measure counts the bytes of a result, rewrite writes them.
#pragma once
#include "cases.cuh"
#include "text.cuh"

// Kind is the change of the bytes. Only Copied takes several parts, which follow one another in
// each row.
//go:layout Kind
enum Kind : u32 {
    copied, upper, lower, reversed, replaced,
    // Formatted and FormattedSigned write integers, which are the places.
    formatted, formatted_signed,
};

// decimal writes the digits of an integer, the place of its row, or counts them if out is
// null.
DEVICE u64 decimal(u8 *out, u64 value, u64 length, bool is_signed) {
    const bool negative = is_signed && (i64)value < 0;
    u64 rest = negative ? 0 - value : value, count = 0;
#pragma nounroll
    do {
        count++;
        if (out != nullptr)
            out[length - count] = (u8)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (negative && out != nullptr)
        out[0] = '-';
    return count + negative;
}

// length_in is the length of the operand; an integer has none.
DEVICE u64 length_in(const Text &text, const Layout &layout, u32 kind, u64 row) { return kind < formatted ? length_of(text, layout, 0, row) : 0; }

// Input is one string.
struct Input {
    const Text &text;
    const Layout &layout;
    u64 place, length;

    inline __device__ __attribute__((always_inline)) u64 word(u64 at) const {
        return at < length ? bytes_at(text, layout, place, at, length - at < 8 ? length - at : 8) : 0;
    }
};

// Rune is a character and its bytes in UTF-8. Bytes that are no UTF-8 have width 1 and no
// character.
struct Rune {
    u32 value, width;
    bool valid;
};

// decode reads the character that a word begins with; bytes after the string are zero.
static __device__ __attribute__((noinline)) Rune decode(u64 word) {
    const u32 a = word & 0xff, b = word >> 8 & 0xff, c = word >> 16 & 0xff, d = word >> 24 & 0xff;
    if (a < 0x80)
        return {a, 1, true};
    const bool second = (b & 0xc0) == 0x80, third = (c & 0xc0) == 0x80, fourth = (d & 0xc0) == 0x80;
    if (a >= 0xc2 && a <= 0xdf && second)
        return {(a & 0x1f) << 6 | (b & 0x3f), 2, true};
    if (a >= 0xe0 && a <= 0xef && second && third && !(a == 0xe0 && b < 0xa0) && !(a == 0xed && b > 0x9f))
        return {(a & 0x0f) << 12 | (b & 0x3f) << 6 | (c & 0x3f), 3, true};
    if (a >= 0xf0 && a <= 0xf4 && second && third && fourth && !(a == 0xf0 && b < 0x90) && !(a == 0xf4 && b > 0x8f))
        return {(a & 0x07) << 18 | (b & 0x3f) << 12 | (c & 0x3f) << 6 | (d & 0x3f), 4, true};
    return {a, 1, false};
}

DEVICE u32 width_of(u32 rune) { return rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4; }

// encode returns the bytes of a character.
DEVICE u32 encode(u32 rune, u32 width) {
    if (width == 1)
        return rune;
    const u32 last = 0x80 | (rune & 0x3f), before = 0x80 | (rune >> 6 & 0x3f);
    if (width == 2)
        return 0xc0 | rune >> 6 | last << 8;
    if (width == 3)
        return 0xe0 | rune >> 12 | before << 8 | last << 16;
    return 0xf0 | rune >> 18 | (0x80 | (rune >> 12 & 0x3f)) << 8 | before << 16 | last << 24;
}

// cased changes the case of a character, as Go's unicode.To with the same table.
static __device__ __attribute__((noinline)) u32 cased(u32 rune, bool to_upper) {
    if (rune < 0x80) {
        const u32 letter = rune - (to_upper ? 'a' : 'A');
        return letter < 26 ? rune ^ 0x20 : rune;
    }
    u32 low = 0, high = case_ranges;
#pragma nounroll
    while (low < high) {
        const u32 middle = (low + high) / 2;
        const CaseRange range = cases[middle];
        if (rune < range.low)
            high = middle;
        else if (rune > range.high)
            low = middle + 1;
        else {
            const i32 delta = to_upper ? range.upper : range.lower;
            // In alternating ranges every second character is of the other case.
            if (delta > 0x10ffff)
                return range.low + (((rune - range.low) & ~1u) | (to_upper ? 0 : 1));
            return rune + delta;
        }
    }
    return rune;
}

static constexpr u64 each_byte = 0x0101010101010101, high_bits = 0x8080808080808080;

// cased_word changes the case of eight characters below 128.
DEVICE u64 cased_word(u64 word, bool to_upper) {
    const u64 first = to_upper ? 'a' : 'A';
    const u64 letters = (word + (0x80 - first) * each_byte) & ~(word + (0x80 - first - 26) * each_byte) & high_bits;
    return word ^ letters >> 2;
}

// occurs reports whether a literal occurs at a position.
DEVICE bool occurs(const Input &in, u64 at, u64 old, u64 length) {
    if (at + length > in.length)
        return false;
#pragma nounroll
    for (u64 i = 0; i < length; i += 8) {
        const u64 count = length - i < 8 ? length - i : 8;
        if (bytes_at(in.text, in.layout, in.place, at + i, count) != bytes_at(in.text, in.layout, old, i, count))
            return false;
    }
    return true;
}

// seek returns the first occurrence of a literal from a position on, or the end. It
// compares at the positions of the literal's first byte.
DEVICE u64 seek(const Input &in, u64 at, u64 old, u64 length) {
    const u64 count = length < 8 ? length : 8, mask = ~0ull >> (64 - 8 * count);
    const u64 first = bytes_at(in.text, in.layout, old, 0, count), byte = (first & 0xff) * each_byte;
    u64 word = in.word(at);
#pragma nounroll
    for (; at + length <= in.length; at += 8) {
        const u64 next = in.word(at + 8), differs = word ^ byte;
#pragma nounroll
        for (u64 equal = (differs - each_byte) & ~differs & high_bits; equal != 0; equal &= equal - 1) {
            const u32 shift = __builtin_ctzll(equal) & ~7u;
            const u64 window = shift == 0 ? word : word >> shift | next << (64 - shift);
            const u64 found = at + shift / 8;
            if (((window ^ first) & mask) == 0 && found + length <= in.length && (length <= 8 || occurs(in, found, old, length)))
                return found;
        }
        word = next;
    }
    return in.length;
}

// Literals are the old and the new text of a replacement, as places.
//go:layout literalsLayout
struct Literals {
    u64 old, old_length, with, with_length;
};

// measure returns the length of a result.
DEVICE u64 measure(const Input &in, u32 kind, const Literals &literals) {
    if (kind >= formatted)
        return decimal(nullptr, in.place, 0, kind == formatted_signed);
    if (kind == copied || kind == reversed || kind == replaced && literals.old_length == 0)
        return in.length;
    u64 size = 0;
    if (kind == replaced) {
        size = in.length;
#pragma nounroll
        for (u64 at = 0;; at += literals.old_length) {
            at = seek(in, at, literals.old, literals.old_length);
            if (at >= in.length)
                return size;
            size += literals.with_length - literals.old_length;
        }
    }
#pragma nounroll
    for (u64 at = 0; at < in.length;) {
        const u64 word = in.word(at);
        if ((word & high_bits) == 0) {
            size += in.length - at < 8 ? in.length - at : 8;
            at += 8;
            continue;
        }
        const Rune rune = decode(word);
        size += rune.valid ? width_of(cased(rune.value, kind == upper)) : 1;
        at += rune.width;
    }
    return size;
}

// store_part writes the bytes of an aligned word from one of them to before another.
static __device__ __attribute__((noinline)) void store_part(u8 *to, u64 word, u32 from, u32 end) {
    if ((from & 1) != 0 && from < end) {
        to[from] = (u8)(word >> 8 * from);
        from++;
    }
    if ((from & 2) != 0 && from + 2 <= end) {
        *(u16 *)(to + from) = (u16)(word >> 8 * from);
        from += 2;
    }
    if (end - from >= 4) {
        *(u32 *)(to + from) = (u32)(word >> 8 * from);
        from += 4;
    }
    if (end - from >= 2) {
        *(u16 *)(to + from) = (u16)(word >> 8 * from);
        from += 2;
    }
    if (from < end)
        to[from] = (u8)(word >> 8 * from);
}

// Writer writes consecutive bytes, in aligned words. The bytes of a word at either
// end of the row that belong to another row are not written.
struct Writer {
    u8 *word; // the address of pending
    u64 pending;
    u32 count, before; // the bytes of pending, and those of them that belong to the row before

    inline __device__ __attribute__((always_inline)) explicit Writer(u8 *out) : word(out - ((u64)out & 7)), pending(0), count((u64)out & 7), before(count) {}

    // put writes up to eight bytes. The others of the word are zero.
    inline __device__ __attribute__((always_inline)) void put(u64 bytes, u32 n) {
        pending |= bytes << 8 * count;
        const u32 filled = count + n;
        if (filled < 8) {
            count = filled;
            return;
        }
        if (before == 0)
            *(u64 *)word = pending;
        else
            store_part(word, pending, before, 8);
        before = 0, word += 8;
        pending = count == 0 ? 0 : bytes >> (64 - 8 * count);
        count = filled - 8;
    }

    // copy writes the bytes of a place from one position to before another.
    inline __device__ __attribute__((always_inline)) void copy(const Input &in, u64 place, u64 from, u64 to) {
#pragma nounroll
        for (; from < to; from += 8) {
            const u64 left = to - from < 8 ? to - from : 8;
            put(bytes_at(in.text, in.layout, place, from, left), (u32)left);
        }
    }

    inline __device__ __attribute__((always_inline)) void finish() { store_part(word, pending, before, count); }
};

// reverse writes the characters in the opposite order.
DEVICE void reverse(Writer &to, const Input &in) {
#pragma nounroll
    for (u64 end = in.length; end > 0;) {
        u64 at = end - 1;
        if (end >= 8) {
            const u64 word = in.word(end - 8);
            if ((word & high_bits) == 0) {
                to.put(__builtin_bswap64(word), 8);
                end -= 8;
                continue;
            }
        }
#pragma nounroll
        while (at > 0 && ((u32)in.word(at) & 0xc0) == 0x80)
            at--;
        to.copy(in, in.place, at, end);
        end = at;
    }
}

// rewrite writes a result of a length.
DEVICE void rewrite(u8 *out, u64 length, const Input &in, u32 kind, const Literals &literals) {
    if (kind >= formatted) {
        decimal(out, in.place, length, kind == formatted_signed);
        return;
    }
    Writer to(out);
    if (kind == reversed)
        reverse(to, in);
#pragma nounroll
    for (u64 at = kind == reversed ? in.length : 0; at < in.length;) {
        if (kind == replaced) {
            const u64 found = literals.old_length == 0 ? in.length : seek(in, at, literals.old, literals.old_length);
            to.copy(in, in.place, at, found);
            if (found < in.length)
                to.copy(in, literals.with, 0, literals.with_length);
            at = found + literals.old_length;
            continue;
        }
        const u64 word = in.word(at);
        if ((word & high_bits) == 0) {
            to.put(cased_word(word, kind == upper), in.length - at < 8 ? (u32)(in.length - at) : 8);
            at += 8;
            continue;
        }
        const Rune rune = decode(word);
        at += rune.width;
        const u32 value = rune.valid ? cased(rune.value, kind == upper) : rune.value, width = rune.valid ? width_of(value) : 1;
        to.put(rune.valid ? encode(value, width) : value, width);
    }
    to.finish();
}
