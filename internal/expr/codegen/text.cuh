#pragma once
#include "date.cuh"
#include "strings.cuh"

// gpuframe_text_word returns 1 to 8 bytes of a string.
FUNCTION u64 gpuframe_text_word(u64 address, u64 bytes, u64 begin, u64 end) {
    return text_word(address, bytes < 8 ? bytes : 8, {begin, end});
}

// gpuframe_text_equal compares the bytes of two strings of one length.
FUNCTION u64 gpuframe_text_equal(u64 a, u64 b, u64 bytes, u64 a_begin, u64 a_end, u64 b_begin, u64 b_end) {
    bytes = bounded(bytes, {a_begin, a_end});
#pragma nounroll
    for (u64 i = 0; i < bytes; i += 8) {
        const u64 left = bytes - i < 8 ? bytes - i : 8;
        if (text_word(a + i, left, {a_begin, a_end}) != text_word(b + i, left, {b_begin, b_end}))
            return 0;
    }
    return 1;
}

// first_before compares two words by their first different byte in memory: -1 or 1.
DEVICE i64 first_before(u64 x, u64 y) { return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1; }

// gpuframe_text_word_order returns -1 or 1 as the bytes of one word are less or greater
// than those of a different one.
FUNCTION i64 gpuframe_text_word_order(u64 x, u64 y) { return first_before(x, y); }

// gpuframe_text_order compares two strings byte by byte, a prefix first: -1, 0 or 1.
FUNCTION i64 gpuframe_text_order(u64 a, u64 a_bytes, u64 b, u64 b_bytes, u64 a_begin, u64 a_end, u64 b_begin, u64 b_end) {
    a_bytes = bounded(a_bytes, {a_begin, a_end});
    b_bytes = bounded(b_bytes, {b_begin, b_end});
    const u64 shorter = a_bytes < b_bytes ? a_bytes : b_bytes;
#pragma nounroll
    for (u64 i = 0; i < shorter; i += 8) {
        const u64 left = shorter - i;
        const u64 x = gpuframe_text_word(a + i, left, a_begin, a_end), y = gpuframe_text_word(b + i, left, b_begin, b_end);
        if (x != y)
            return first_before(x, y);
    }
    return (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

// Prefix is up to four bytes of a literal, each in all bytes of a word, and words of the
// bytes that are compared.
struct Prefix {
    u32 bytes[4], used[4];
};

// prefix_of returns the first bytes of a literal of wanted bytes.
DEVICE Prefix prefix_of(u64 first, u64 wanted) {
    Prefix prefix;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        prefix.bytes[k] = __nvvm_prmt((u32)first, 0, 0x1111 * k);
        prefix.used[k] = wanted > k ? ~0u : 0;
        asm("" : "+r"(prefix.used[k])); // a mask, which one instruction applies, and no condition
    }
    return prefix;
}

// beginnings marks the bytes of a word at which a prefix begins, by their highest bit.
// next is the word after it.
DEVICE u32 beginnings(const Prefix &prefix, u32 word, u32 next) {
    u32 differ = word ^ prefix.bytes[0];
    differ |= (__nvvm_prmt(word, next, 0x4321) ^ prefix.bytes[1]) & prefix.used[1];
    differ |= (__nvvm_prmt(word, next, 0x5432) ^ prefix.bytes[2]) & prefix.used[2];
    differ |= (__nvvm_prmt(word, next, 0x6543) ^ prefix.bytes[3]) & prefix.used[3];
    return ~((differ & 0x7f7f7f7f) + 0x7f7f7f7f | differ | 0x7f7f7f7f);
}

// gpuframe_text_seek returns the first position from a given one on at which the next
// bytes are those of a literal, or -1. first has the first eight bytes of the literal,
// of which there are wanted; only these are compared. The first four bytes decide about
// most positions, for eight of them at a time. Words are those of aligned addresses, so
// the first one may have bytes before the position.
FUNCTION i64 gpuframe_text_seek(u64 address, u64 bytes, u64 from, u64 first, u64 wanted, u64 begin, u64 end) {
    const Buffer buffer = {begin, end};
    bytes = bounded(bytes, buffer);
    if (wanted > bytes || from > bytes - wanted || address < begin) // also for a negative from, and unsound offsets
        return -1;
    if (wanted == 0)
        return (i64)from;
    const u64 last = address + bytes - wanted, mask = wanted < 8 ? (1ull << 8 * wanted) - 1 : ~0ull;
    const Prefix prefix = prefix_of(first, wanted);
    u64 at = (address + from) & ~7ull;
    u64 low = gpuframe_text_word(at, 8, begin, end);
#pragma nounroll
    for (; at <= last; at += 8) {
        const u64 high = at + 16 <= end ? *(const u64 *)(at + 8) : aligned_word(at + 8, buffer);
        u64 found = beginnings(prefix, (u32)low, (u32)(low >> 32)) | (u64)beginnings(prefix, (u32)(low >> 32), (u32)high) << 32;
#pragma nounroll
        for (; found != 0; found &= found - 1) {
            const u32 k = (u32)__builtin_ctzll(found) & 0x38;
            const u64 window = k ? low >> k | high << (64 - k) : low, place = at + k / 8;
            if (((window ^ first) & mask) == 0 && place >= address + from)
                return place <= last ? (i64)(place - address) : -1;
        }
        low = high;
    }
    return -1;
}

// continuations marks the bytes of a word that do not begin a character: 0x80 to 0xBF.
DEVICE u64 continuations(u64 word) { return word >> 7 & ~(word >> 6) & 0x0101010101010101ull; }

// gpuframe_text_chars counts the characters of a string.
FUNCTION i64 gpuframe_text_chars(u64 address, u64 bytes, u64 begin, u64 end) {
    bytes = bounded(bytes, {begin, end});
    u64 others = 0;
#pragma nounroll
    for (u64 i = 0; i < bytes; i += 8)
        others += (u64)__builtin_popcountll(continuations(gpuframe_text_word(address + i, bytes - i, begin, end)));
    return (i64)(bytes - others);
}

// gpuframe_text_char_offset is CharOffset of package exprtree.
FUNCTION i64 gpuframe_text_char_offset(u64 address, u64 bytes, i64 n, u64 begin, u64 end) {
    bytes = bounded(bytes, {begin, end});
    if (n < 0)
        n += gpuframe_text_chars(address, bytes, begin, end);
    n = n < 0 ? 0 : n;
#pragma nounroll
    for (u64 i = 0; i < bytes; i += 8) {
        const u64 word = gpuframe_text_word(address + i, bytes - i, begin, end);
        u64 starts = ~continuations(word) & 0x0101010101010101ull;
        if (bytes - i < 8)
            starts &= (1ull << 8 * (bytes - i)) - 1;
        const i64 here = __builtin_popcountll(starts);
        if (n < here) {
#pragma nounroll
            for (; n > 0; n--)
                starts &= starts - 1;
            return (i64)(i + (u64)__builtin_ctzll(starts) / 8);
        }
        n -= here;
    }
    return (i64)bytes;
}

// Parsed is a value, and 1 if the string has one.
struct Parsed {
    u64 value, ok;
};

// gpuframe_text_parse_integer is ParseInteger of package exprtree.
FUNCTION Parsed gpuframe_text_parse_integer(u64 address, u64 bytes, u64 is_signed, u64 begin, u64 end) {
    bytes = bounded(bytes, {begin, end});
    u64 i = 0, value = 0, most = ~0ull;
    bool negative = false;
    if (is_signed) {
        const u32 sign = bytes ? (u32)gpuframe_text_word(address, 1, begin, end) : 0;
        negative = sign == '-';
        i = sign == '-' || sign == '+';
        most = (1ull << 63) - !negative;
    }
    bool ok = i < bytes;
#pragma nounroll
    for (; ok && i < bytes; i++) {
        const u64 digit = gpuframe_text_word(address + i, 1, begin, end) - '0';
        ok = digit < 10 && value <= (most - digit) / 10;
        value = value * 10 + digit;
    }
    return {negative ? 0 - value : value, ok};
}

// gpuframe_text_parse_date is ParseDate of package exprtree.
FUNCTION Parsed gpuframe_text_parse_date(u64 address, u64 bytes, u64 begin, u64 end) {
    if (bytes != 10)
        return {0, 0};
    const u64 first = gpuframe_text_word(address, 8, begin, end), last = gpuframe_text_word(address + 8, 2, begin, end);
    u32 digits[8];
    bool ok = true;
    u32 at = 0;
#pragma unroll
    for (u32 i = 0; i < 10; i++) {
        const u32 byte = (u32)((i < 8 ? first >> 8 * i : last >> 8 * (i - 8)) & 0xff);
        if (i == 4 || i == 7) {
            ok &= byte == '-';
            continue;
        }
        digits[at] = byte - '0';
        ok &= digits[at] < 10;
        at++;
    }
    const u32 year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3];
    const u32 month = digits[4] * 10 + digits[5], day = digits[6] * 10 + digits[7];
    if (!ok || month - 1 > 11 || day == 0)
        return {0, 0};
    // The day is missing if the last day up to it has another number.
    const i64 months = (i64)year * 12 + month - 1, days = day_of(months, day);
    return {(u64)days, days - day_of(months, 1) + 1 == day};
}

// space returns the number of bytes of the white space that a word begins with, or 0.
DEVICE u32 space(u32 word) {
    const u32 one = word & 0xff, two = word & 0xffff, three = word & 0xffffff;
    if (one == ' ' || one - 9 < 5)
        return 1;
    if (two == 0x85c2 || two == 0xa0c2)
        return 2;
    if (two == 0x80e2) {
        const u32 last = three >> 16;
        return last - 0x80 <= 10 || last == 0xa8 || last == 0xa9 || last == 0xaf ? 3 : 0;
    }
    return three == 0x809ae1 || three == 0x9f81e2 || three == 0x8080e3 ? 3 : 0;
}

// gpuframe_text_space_start and gpuframe_text_space_end are SpaceStart and SpaceEnd of
// package exprtree.
FUNCTION i64 gpuframe_text_space_start(u64 address, u64 bytes, u64 begin, u64 end) {
    bytes = bounded(bytes, {begin, end});
    u64 i = 0;
#pragma nounroll
    while (i < bytes) {
        const u32 width = space((u32)gpuframe_text_word(address + i, bytes - i, begin, end));
        if (width == 0)
            break;
        i += width;
    }
    return (i64)i;
}

FUNCTION i64 gpuframe_text_space_end(u64 address, u64 bytes, u64 begin, u64 end) {
    bytes = bounded(bytes, {begin, end});
#pragma nounroll
    while (bytes > 0) {
        const u64 ahead = bytes < 3 ? bytes : 3;
        // The last byte is bits 16 to 23.
        const u32 word = (u32)gpuframe_text_word(address + bytes - ahead, ahead, begin, end) << (24 - 8 * ahead);
        if (space(word >> 16) == 1)
            bytes -= 1;
        else if (ahead >= 2 && space(word >> 8) == 2)
            bytes -= 2;
        else if (ahead == 3 && space(word) == 3)
            bytes -= 3;
        else
            break;
    }
    return (i64)bytes;
}
