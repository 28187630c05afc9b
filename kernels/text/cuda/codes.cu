// Texts of bytes, hex and base64, and the edit distance of strings: see codes.go and
// distance.go.
#include "strings.cuh"

// Kind is a code and its direction.
//go:layout codeKind
enum Kind : u32 { to_hex, from_hex, to_base64, from_base64 };

// value_of is the value of a digit of a code, or -1.
DEVICE i32 value_of(u32 kind, u32 c) {
    const u32 lower = c | 0x20;
    if (kind == from_hex)
        return c - '0' < 10 ? (i32)(c - '0') : lower - 'a' < 6 ? (i32)(lower - 'a' + 10) : -1;
    if (c - '0' < 10)
        return (i32)(c - '0' + 52);
    if (lower - 'a' < 26)
        return (i32)(lower - 'a' + (c < 'a' ? 0 : 26));
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

DEVICE u8 digit_of(u32 kind, u32 value) {
    if (kind == to_hex)
        return (u8)(value < 10 ? '0' + value : 'a' + value - 10);
    return (u8)(value < 26 ? 'A' + value : value < 52 ? 'a' + value - 26 : value < 62 ? '0' + value - 52 : value == 62 ? '+' : '/');
}

// code_measure writes the lengths of results, and the bitmap of those that exist.
KERNEL LAUNCH_BOUNDS(256) code_measure(u64 *lengths, u32 *out_valid, Strings in, u32 kind) {
    const u64 n = device_rows(in.counted, in.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < (in.capacity + 63) / 64 * 64; i += step) {
        const Row row = row_of(in, n, i);
        bool ok = row.valid;
        u64 length = 0;
        if (kind == to_hex)
            length = 2 * row.length;
        else if (kind == to_base64)
            length = (row.length + 2) / 3 * 4;
        else if (ok) {
            u64 digits = row.length;
            ok = digits % (kind == from_hex ? 2 : 4) == 0;
            if (kind == from_base64 && ok && digits > 0)
                digits -= row.begin[digits - 1] != '=' ? 0 : row.begin[digits - 2] != '=' ? 1 : 2;
#pragma nounroll
            for (u64 k = 0; k < digits && ok; k++)
                ok = value_of(kind, row.begin[k]) >= 0;
            length = kind == from_hex ? digits / 2 : digits * 3 / 4;
        }
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < in.capacity)
            lengths[i] = ok ? length : 0;
    }
}

// code_write writes the results.
KERNEL LAUNCH_BOUNDS(256) code_write(u8 *out, const i64 *ends, Strings in, u32 kind) {
    const u64 n = device_rows(in.counted, in.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < n; i += step) {
        const u64 begin = i == 0 ? 0 : (u64)ends[i - 1], length = (u64)ends[i] - begin;
        const Row row = row_of(in, n, i);
        u8 *const to = out + begin;
        const u32 bits = kind == to_hex || kind == from_hex ? 4 : 6;
        u32 word = 0, held = 0;
        u64 at = 0;
#pragma nounroll
        for (u64 k = 0; at < length && k < row.length; k++) {
            if (kind == from_hex || kind == from_base64) {
                word = word << bits | (u32)value_of(kind, row.begin[k]);
                held += bits;
                if (held >= 8) {
                    held -= 8;
                    to[at++] = (u8)(word >> held);
                }
                continue;
            }
            word = word << 8 | row.begin[k];
            for (held += 8; held >= bits; held -= bits)
                to[at++] = digit_of(kind, word >> (held - bits) & ((1u << bits) - 1));
        }
        if (kind == to_base64) {
            if (held > 0)
                to[at++] = digit_of(kind, word << (bits - held) & 63);
            while (at < length)
                to[at++] = '=';
        }
    }
}

static constexpr u32 most_characters = 256; // of the shorter string: see distance.go

// edit_distance computes one row of the matrix of Wagner and Fischer after the other, in
// memory of the thread.
KERNEL LAUNCH_BOUNDS(256) edit_distance(i64 *out, u32 *out_valid, Strings a, Strings b) {
    const u64 n = device_rows(a.counted, a.rows), step = threads_per_grid();
    u32 shorter[most_characters];
    u16 distance[most_characters + 1];
    for (u64 i = thread_in_grid(); i < (a.capacity + 63) / 64 * 64; i += step) {
        Row x = row_of(a, n, i), y = row_of(b, n, i);
        bool ok = x.valid && y.valid;
        u64 result = 0;
        u32 count = 0;
        if (ok) {
            u64 characters[2] = {0, 0};
#pragma nounroll
            for (u32 k = 0; k < 2; k++) {
                const Row row = k == 0 ? x : y;
#pragma nounroll
                for (u64 at = 0; at < row.length; characters[k]++)
                    at += decode(row.begin + at, row.length - at).width;
            }
            if (characters[1] < characters[0]) {
                const Row other = x;
                x = y, y = other;
            }
            ok = characters[0] <= most_characters || characters[1] <= most_characters;
            ok = ok && characters[0] < 65536 && characters[1] < 65536;
        }
        if (ok) {
#pragma nounroll
            for (u64 at = 0; at < x.length; count++) {
                const Character c = decode(x.begin + at, x.length - at);
                shorter[count] = c.value == 0xfffd && c.width == 1 ? 0x110000 + x.begin[at] : c.value;
                distance[count] = (u16)count;
                at += c.width;
            }
            distance[count] = (u16)count;
            u32 row = 0;
#pragma nounroll
            for (u64 at = 0; at < y.length;) {
                const Character c = decode(y.begin + at, y.length - at);
                const u32 value = c.value == 0xfffd && c.width == 1 ? 0x110000 + y.begin[at] : c.value;
                at += c.width;
                u32 diagonal = distance[0], left = ++row;
                distance[0] = (u16)left;
#pragma nounroll
                for (u32 k = 0; k < count; k++) {
                    const u32 above = distance[k + 1], changed = diagonal + (shorter[k] != value);
                    const u32 other = (above < left ? above : left) + 1;
                    left = changed < other ? changed : other;
                    distance[k + 1] = (u16)left;
                    diagonal = above;
                }
            }
            result = distance[count];
        }
        const u32 word = ballot(ok);
        if (lane_in_warp() == 0)
            out_valid[i / warp_threads] = word;
        if (i < a.capacity)
            out[i] = (i64)result;
    }
}
