// The shortest decimal texts of floats: see formatfloat.go. The digits are those of the
// algorithm Schubfach of Raffaello Giulietti, "The Schubfach way to render doubles" (2020).
#include "bitrow.cuh"

// Floats is a column of floats.
//go:layout floatsLayout any
struct Floats {
    const void *values;
    const u8 *valid;
    u64 bit;
    const i64 *counted;
    i64 rows;
    u64 capacity;
    u32 width; // 4 or 8
    const u64 *powers; // the leading 128 bits of powers of five, from least_power on
};

static constexpr i32 least_power = -400;

// Decimal is digits · 10^exponent.
struct Decimal {
    u64 digits;
    i32 exponent;
};

DEVICE u64 high_product(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }

// scaled is the product of a number and a power in units of a quarter, rounded to odd.
DEVICE u64 scaled(u64 high, u64 low, u64 x) {
    const u64 z = (high * x >> 1) + high_product(low, x), mask = ~0ull >> 1;
    return high_product(high, x) + (z >> 63) | ((z & mask) + mask) >> 63;
}

// shortest returns the shortest decimal that is read as c · 2^q, the nearest of these.
static __device__ __attribute__((noinline)) Decimal shortest(u64 c, i32 q, u64 c_min, i32 q_min, const u64 *powers) {
    const u64 out = c & 1, middle = c << 2, above = middle + 2;
    const bool irregular = c == c_min && q != q_min;
    const u64 below = irregular ? middle - 1 : middle - 2;
    const i32 k = (i32)((i64)q * 661971961083ll - (irregular ? 274743187321ll : 0) >> 41);
    const i32 h = q + (i32)((i64)-k * 913124641741ll >> 38) + 2;
    const u64 *const power = powers + 2 * (-k - least_power);
    // The power has 126 bits, rounded up: the highest 63 and the others.
    const u64 low126 = power[0] << 62 | power[1] >> 2, high126 = power[0] >> 2;
    const u64 rounded = low126 + 1, carried = high126 + (rounded == 0);
    const u64 high = carried << 1 | rounded >> 63, low = rounded & (~0ull >> 1);
    const u64 v = scaled(high, low, middle << h), lowest = scaled(high, low, below << h), highest = scaled(high, low, above << h);
    const u64 s = v >> 2, t = s + 1;
    if (s >= 10) {
        const u64 tens = s / 10 * 10;
        const bool lower = lowest + out <= tens << 2, upper = (tens + 10 << 2) + out <= highest;
        if (lower != upper)
            return {lower ? tens : tens + 10, k};
    }
    const bool lower = lowest + out <= s << 2, upper = (t << 2) + out <= highest;
    if (lower != upper)
        return {lower ? s : t, k};
    const i64 order = (i64)(v - (s + t << 1));
    return {order < 0 || order == 0 && (s & 1) == 0 ? s : t, k};
}

struct Writer {
    u8 *out;
    u32 count;

    inline __device__ __attribute__((always_inline)) void put(u8 c) {
        if (out != nullptr)
            out[count] = c;
        count++;
    }
};

DEVICE void write_word(Writer &to, u32 word, u32 bytes) {
#pragma nounroll
    for (u32 i = 0; i < bytes; i++)
        to.put((u8)(word >> 8 * i));
}

DEVICE void write_float(Writer &to, const Floats &floats, u64 row) {
    const bool wide = floats.width == 8;
    const u64 bits = wide ? ((const u64 *)floats.values)[row] : ((const u32 *)floats.values)[row];
    const u32 mantissa = wide ? 52 : 23, special = wide ? 0x7ff : 0xff, encoded = (u32)(bits >> mantissa) & special;
    const u64 rest = bits & ((1ull << mantissa) - 1);
    const bool negative = bits >> (wide ? 63 : 31) != 0;
    if (encoded == special) {
        if (rest == 0)
            to.put(negative ? '-' : '+');
        write_word(to, rest != 0 ? 'N' | 'a' << 8 | 'N' << 16 : 'I' | 'n' << 8 | 'f' << 16, 3);
        return;
    }
    if (negative)
        to.put('-');
    if (encoded == 0 && rest == 0) {
        to.put('0');
        return;
    }
    const i32 least = wide ? -1074 : -149;
    Decimal d = shortest(encoded ? rest | 1ull << mantissa : rest, encoded ? least + (i32)encoded - 1 : least, 1ull << mantissa, least, floats.powers);
#pragma nounroll
    while (d.digits % 10 == 0)
        d.digits /= 10, d.exponent++;
    u64 unit = 1; // the place of the first digit
    i32 count = 1;
#pragma nounroll
    for (; d.digits / unit >= 10; count++)
        unit *= 10;
    const i32 point = count + d.exponent, exponent = point - 1;
    const bool scientific = exponent < -4 || exponent >= 6;
    if (!scientific && point <= 0) {
        to.put('0');
        to.put('.');
#pragma nounroll
        for (i32 i = point; i < 0; i++)
            to.put('0');
    }
#pragma nounroll
    for (i32 i = 0; i < count || !scientific && i < point; i++) {
        if (i > 0 && i == (scientific ? 1 : point))
            to.put('.');
        to.put(i < count ? (u8)('0' + d.digits / unit % 10) : '0');
        unit = i + 1 < count ? unit / 10 : unit;
    }
    if (!scientific)
        return;
    to.put('e');
    to.put(exponent < 0 ? '-' : '+');
    const u32 magnitude = exponent < 0 ? -exponent : exponent;
    if (magnitude >= 100)
        to.put((u8)('0' + magnitude / 100));
    to.put((u8)('0' + magnitude / 10 % 10));
    to.put((u8)('0' + magnitude % 10));
}

// format_floats writes the texts, or if out is null their lengths.
KERNEL LAUNCH_BOUNDS(256) format_floats(u8 *out, const i64 *ends, u64 *lengths, Floats floats) {
    const u64 n = device_rows(floats.counted, floats.rows), step = threads_per_grid();
    for (u64 i = thread_in_grid(); i < floats.capacity; i += step) {
        const bool ok = i < n && (floats.valid == nullptr || (floats.valid[(floats.bit + i) / 8] >> ((floats.bit + i) % 8) & 1) != 0);
        Writer to = {nullptr, 0};
        if (ok) {
            if (out != nullptr)
                to.out = out + (i == 0 ? 0 : ends[i - 1]);
            write_float(to, floats, i);
        }
        if (out == nullptr)
            lengths[i] = to.count;
    }
}
